//! Quoting of commands that people copy into a shell.

use std::ffi::OsStr;

use super::render::is_invisible;

/// Quotes a word for a POSIX shell, if it needs quotes.
///
/// The result is one line that a terminal shows as it is. Words are quoted where Python's
/// `shlex.quote` quotes them. Control characters, invisible characters and bytes that are not UTF-8
/// are escaped in `$'…'`, which bash, zsh and ksh understand (POSIX.1-2024,
/// "Dollar-Single-Quotes").
///
/// ```
/// assert_eq!(rock_diagnostic::shell_quoted("It's 1"), r"'It'\''s 1'");
/// ```
pub fn shell_quoted(word: impl AsRef<OsStr>) -> String {
    let bytes = word.as_ref().as_encoded_bytes();
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"@%+=:,./-_".contains(byte);
    if !bytes.is_empty() && bytes.iter().all(is_plain) {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let visible = std::str::from_utf8(bytes)
        .ok()
        .filter(|text| !text.chars().any(|c| c.is_control() || is_invisible(c)));
    if let Some(text) = visible {
        return format!("'{}'", text.replace('\'', r"'\''"));
    }
    let mut quoted = "$'".to_owned();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' => quoted.push_str("\\n"),
                '\t' => quoted.push_str("\\t"),
                '\\' | '\'' => quoted.extend(['\\', c]),
                c if c.is_control() || is_invisible(c) => {
                    push_octal(c.encode_utf8(&mut [0; 4]).as_bytes(), &mut quoted);
                }
                c => quoted.push(c),
            }
        }
        push_octal(chunk.invalid(), &mut quoted);
    }
    quoted.push('\'');
    quoted
}

/// Joins words into a command line, each quoted by [`shell_quoted`].
pub fn shell_line(words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> String {
    words
        .into_iter()
        .map(shell_quoted)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Appends each byte as an escape of three octal digits, the maximum, so that a digit after it is
/// not part of the escape.
fn push_octal(bytes: &[u8], to: &mut String) {
    for byte in bytes {
        to.push_str(&format!("\\{byte:03o}"));
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use super::shell_quoted;

    #[test]
    fn a_plain_word_stays_and_a_space_is_quoted() {
        assert_eq!(shell_quoted("dist/a-1.whl"), "dist/a-1.whl");
        assert_eq!(shell_quoted("It's 1"), r"'It'\''s 1'");
        assert_eq!(shell_quoted(""), "''");
    }

    #[test]
    fn control_characters_and_invalid_utf8_are_escaped() {
        let words: [(&[u8], &str); 5] = [
            (b"a\nb", r"$'a\nb'"),
            (b"\x1b[31mred\x070", r"$'\033[31mred\0070'"),
            (b"it's\\\t", r"$'it\'s\\\t'"),
            (b"\xff1", r"$'\3771'"),
            ("\u{202e}1é".as_bytes(), r"$'\342\200\2561é'"),
        ];
        for (word, expect) in words {
            assert_eq!(shell_quoted(OsStr::from_bytes(word)), expect);
        }
    }
}
