//! Names of members.

use super::super::WheelError;
use super::FLAG_UTF8;

/// Reads and checks the name of a member.
pub(super) fn member_name(bytes: &[u8], flags: u16) -> Result<String, WheelError> {
    let refuse = |reason| {
        Err(WheelError::UnsafeName { member: String::from_utf8_lossy(bytes).escape_default().to_string(), reason })
    };
    let name = if flags & FLAG_UTF8 != 0 || bytes.is_ascii() {
        match std::str::from_utf8(bytes) {
            Ok(name) => name.to_owned(),
            Err(_) => return refuse("it is marked as UTF-8 and is none"),
        }
    } else {
        bytes.iter().map(|byte| from_cp437(*byte)).collect()
    };
    let path = name.strip_suffix('/').unwrap_or(&name);
    if name.contains('\0') {
        refuse("it contains a NUL")
    } else if name.contains('\\') {
        refuse("it contains a backslash; folders are separated by `/`")
    } else if name.starts_with('/')
        || (path.as_bytes().get(1) == Some(&b':') && path.as_bytes()[0].is_ascii_alphabetic())
    {
        refuse("it is absolute")
    } else if path.split('/').any(|part| part == "..") {
        refuse("it leads out of its folder with `..`")
    } else if path.split('/').any(|part| part.is_empty() || part == ".") {
        refuse("it has an empty part")
    } else {
        Ok(name)
    }
}

/// Checks the name of a new member.
pub(in super::super) fn check_name(name: &str) -> Result<(), WheelError> {
    member_name(name.as_bytes(), FLAG_UTF8).map(drop)
}

/// The upper half of code page 437, the code of names without the UTF-8 mark (APPNOTE, appendix D).
const UPPER_HALF: &str = "\
ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";

fn from_cp437(byte: u8) -> char {
    match byte.checked_sub(128) {
        None => char::from(byte),
        Some(place) => UPPER_HALF.chars().nth(usize::from(place)).unwrap_or(char::REPLACEMENT_CHARACTER),
    }
}

#[cfg(test)]
mod tests {
    use super::{FLAG_UTF8, member_name};

    #[test]
    fn names_that_leave_the_folder_or_mean_two_things_are_refused() {
        for name in ["", "/", "/etc/x", "a/../b", "..", "a//b", "./a", "a/.", "a\\b", "C:/x", "a\0b"] {
            assert!(member_name(name.as_bytes(), 0).is_err(), "{name:?}");
        }
        for name in ["a", "a/", "a/b.so", "..a/b..", "a b", "ab:c"] {
            assert_eq!(member_name(name.as_bytes(), 0).unwrap(), name);
        }
    }

    #[test]
    fn names_are_utf_8_where_marked_and_code_page_437_elsewhere() {
        assert_eq!(member_name("ü/é".as_bytes(), FLAG_UTF8).unwrap(), "ü/é");
        assert_eq!(member_name(b"\x81/\xff", 0).unwrap(), "ü/\u{a0}");
        assert!(member_name(b"\x81", FLAG_UTF8).is_err());
    }
}
