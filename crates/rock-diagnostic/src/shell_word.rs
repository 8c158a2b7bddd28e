//! Words of a command that people copy into a shell.

use std::ffi::OsStr;

use super::render::is_invisible;

/// Returns a word as a shell reads it, on one line and without a character that changes how a
/// terminal shows it. It is quoted only where it holds a character that `shlex.quote` of Python
/// quotes; control characters and bytes that are no UTF-8 are escaped within `$'…'`, as bash, zsh
/// and ksh read it (POSIX.1-2024, "Dollar-Single-Quotes").
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
                    escape(c.encode_utf8(&mut [0; 4]).as_bytes(), &mut quoted);
                }
                c => quoted.push(c),
            }
        }
        escape(chunk.invalid(), &mut quoted);
    }
    quoted.push('\'');
    quoted
}

/// Returns words as one line for a shell, each quoted as [`shell_quoted`] does.
pub fn shell_line(words: impl IntoIterator<Item = impl AsRef<OsStr>>) -> String {
    words
        .into_iter()
        .map(shell_quoted)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Each byte as three octal digits, which no digit after them can change.
fn escape(bytes: &[u8], to: &mut String) {
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
    fn what_is_no_text_of_one_line_is_escaped() {
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
