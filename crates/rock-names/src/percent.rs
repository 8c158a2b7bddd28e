//! Percent-encoding of URL path segments (RFC 3986).

use std::borrow::Cow;

/// Percent-encodes a segment of a URL path: all but the unreserved characters of RFC 3986 section
/// 2.3. `+` becomes `%2B`, because some clients decode a plain one as a space.
pub fn percent_encode(segment: impl AsRef<[u8]>) -> String {
    let mut encoded = String::with_capacity(segment.as_ref().len() + 8);
    push_percent_encoded(&mut encoded, segment.as_ref());
    encoded
}

/// Appends a percent-encoded segment to a text.
pub fn push_percent_encoded(encoded: &mut String, segment: &[u8]) {
    let is_unreserved =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
    let digit = |nibble: u8| char::from(b"0123456789ABCDEF"[usize::from(nibble)]);
    let push_plain = |encoded: &mut String, plain: &[u8]| {
        encoded.push_str(std::str::from_utf8(plain).expect("unreserved characters are ASCII"));
    };
    let mut done = 0;
    for (at, byte) in segment
        .iter()
        .enumerate()
        .filter(|(_, byte)| !is_unreserved(**byte))
    {
        push_plain(encoded, &segment[done..at]);
        encoded.extend(['%', digit(byte >> 4), digit(byte & 15)]);
        done = at + 1;
    }
    push_plain(encoded, &segment[done..]);
}

/// Decodes percent-encoding. Returns `None` for a `%` without two hex digits, and for bytes that are
/// not UTF-8.
pub fn percent_decode(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains('%') {
        return Some(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let mut digit = || char::from(rest.next()?).to_digit(16);
            bytes.push(u8::try_from(digit()? << 4 | digit()?).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::{percent_decode, percent_encode};

    #[test]
    fn what_was_encoded_is_had_again() {
        for text in ["a-1+rocm6.2_x y.whl", "é#?/%", ""] {
            assert_eq!(percent_decode(&percent_encode(text)).as_deref(), Some(text));
        }
        for bad in ["%2", "%zz", "%+f", "%ff"] {
            assert_eq!(percent_decode(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_plus_in_a_name_is_percent_encoded_in_links() {
        assert_eq!(
            percent_encode("a-1+rocm6.2_x y.whl"),
            "a-1%2Brocm6.2_x%20y.whl"
        );
        assert_eq!(percent_encode("é#?/"), "%C3%A9%23%3F%2F");
        assert_eq!(
            percent_encode(b"rel\xff"),
            "rel%FF",
            "a file's name is bytes"
        );
    }
}
