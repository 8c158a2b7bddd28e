//! Text made safe for a segment of an address.

/// Percent-encodes one segment of a URL path: all but the unreserved characters of RFC 3986 section 2.3. `+` becomes
/// `%2B`, because some clients decode a plain one as a space.
pub fn percent_encode(segment: impl AsRef<[u8]>) -> String {
    let segment = segment.as_ref();
    let mut encoded = String::with_capacity(segment.len() + 8);
    for &byte in segment {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::percent_encode;

    #[test]
    fn a_plus_in_a_name_is_percent_encoded_in_links() {
        assert_eq!(percent_encode("a-1+rocm6.2_x y.whl"), "a-1%2Brocm6.2_x%20y.whl");
        assert_eq!(percent_encode("é#?/"), "%C3%A9%23%3F%2F");
        assert_eq!(percent_encode(b"rel\xff"), "rel%FF", "a file's name is bytes");
    }
}
