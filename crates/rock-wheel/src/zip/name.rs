//! Validation of member names.

use unicode_general_category::{GeneralCategory, get_general_category};

use super::super::WheelError;
use super::FLAG_UTF8;
use super::limits::{MAX_NAME_BYTES, MAX_NAME_PART_BYTES};

/// Maximum bytes of a refused name in an error.
const SHOWN_BYTES: usize = 200;

/// Decodes and validates the name of a member.
pub(super) fn parse_member_name(bytes: &[u8], flags: u16) -> Result<String, WheelError> {
    let refuse = |reason| {
        let shown = &bytes[..bytes.len().min(SHOWN_BYTES)];
        let more = if shown.len() < bytes.len() { "…" } else { "" };
        let member = format!("{}{more}", String::from_utf8_lossy(shown).escape_default());
        Err(WheelError::UnsafeName { member, reason })
    };
    // uv: `LocalHeaderNotUtf8`, `CentralDirectoryEntryNotUtf8`; PyPI: "Filename not in central
    // directory", where it compares the bytes with what CPython reads as code page 437.
    if flags & FLAG_UTF8 == 0 && !bytes.is_ascii() {
        return refuse("it is neither ASCII nor marked as UTF-8");
    }
    let name = match std::str::from_utf8(bytes) {
        Ok(name) => name.to_owned(),
        Err(_) => return refuse("it is marked as UTF-8 but is not"),
    };
    let path = name.strip_suffix('/').unwrap_or(&name);
    if name.contains('\0') {
        refuse("it contains a NUL")
    } else if name.contains('\\') {
        refuse("it contains a backslash; directories are separated by `/`")
    } else if name.starts_with('/')
        || (path.as_bytes().get(1) == Some(&b':') && path.as_bytes()[0].is_ascii_alphabetic())
    {
        refuse("it is absolute")
    } else if path.split('/').any(|part| part == "..") {
        refuse("it leads out of its directory with `..`")
    } else if path.split('/').any(|part| part.is_empty() || part == ".") {
        refuse("it has an empty component")
    } else if name.chars().any(is_unprintable) {
        refuse("it contains a character that is not printable")
    } else if name.len() > MAX_NAME_BYTES {
        refuse("it is longer than 2048 bytes")
    } else if path.split('/').any(|part| part.len() > MAX_NAME_PART_BYTES) {
        refuse("a component is longer than 255 bytes, which no file system permits")
    } else {
        Ok(name)
    }
}

/// Returns whether uv or PyPI refuses a character in names: Unicode category C (`\p{C}` in
/// uv-extract's `validate_archive_member_name`; `UNPRINTABLE_CHARS` in PyPI's zipfiles.py).
fn is_unprintable(character: char) -> bool {
    use GeneralCategory::{Control, Format, PrivateUse, Surrogate, Unassigned};
    let is_other = || {
        matches!(
            get_general_category(character),
            Control | Format | PrivateUse | Surrogate | Unassigned
        )
    };
    character.is_ascii_control() || (!character.is_ascii() && is_other())
}

/// Validates the name of a new member.
pub(in super::super) fn check_member_name(name: &str) -> Result<(), WheelError> {
    parse_member_name(name.as_bytes(), FLAG_UTF8).map(drop)
}

#[cfg(test)]
mod tests {
    use super::{FLAG_UTF8, parse_member_name};

    #[test]
    fn unsafe_or_ambiguous_names_are_refused() {
        for name in [
            "", "/", "/etc/x", "a/../b", "..", "a//b", "./a", "a/.", "a\\b", "C:/x", "a\0b",
        ] {
            assert!(parse_member_name(name.as_bytes(), 0).is_err(), "{name:?}");
        }
        for name in ["a", "a/", "a/b.so", "..a/b..", "a b", "ab:c"] {
            assert_eq!(parse_member_name(name.as_bytes(), 0).unwrap(), name);
        }
    }

    #[test]
    fn non_ascii_names_need_the_utf_8_flag() {
        assert_eq!(
            parse_member_name("ü/é".as_bytes(), FLAG_UTF8).unwrap(),
            "ü/é"
        );
        assert!(parse_member_name(b"\x81/\xff", 0).is_err());
        assert!(parse_member_name("ü".as_bytes(), 0).is_err());
        assert!(parse_member_name(b"\x81", FLAG_UTF8).is_err());
    }

    /// Controls of ASCII and Latin-1, a direction mark, a byte order mark, private use and
    /// unassigned.
    #[test]
    fn unprintable_characters_are_refused() {
        for character in [
            "\t", "\n", "\x08", "\x1b", "\x7f", "\u{85}", "\u{202e}", "\u{feff}", "\u{e000}",
            "\u{378}",
        ] {
            assert!(
                parse_member_name(format!("a{character}b").as_bytes(), FLAG_UTF8).is_err(),
                "{character:?}"
            );
        }
        for name in ["a b", "日本語.py", "🌈.py", "e\u{301}"] {
            assert_eq!(parse_member_name(name.as_bytes(), FLAG_UTF8).unwrap(), name);
        }
    }

    #[test]
    fn names_have_at_most_2048_bytes_and_255_in_each_part() {
        let check = |name: String| parse_member_name(name.as_bytes(), FLAG_UTF8).is_ok();
        assert!(check("a".repeat(255)) && check(format!("{}/", "a".repeat(255))));
        assert!(!check("a".repeat(256)) && !check(format!("b/{}", "ü".repeat(128))));
        let parts = "abcdefg/".repeat(2048 / 8);
        assert!(check(parts.clone()) && !check(parts + "a"));
    }
}
