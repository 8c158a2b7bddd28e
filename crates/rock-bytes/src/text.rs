//! Texts out of streams that may be longer than they should be.

use std::io::{self, ErrorKind, Read};

/// Reads a text of at most `limit_bytes`. A longer one is an error, and is not cut.
///
/// # Errors
/// When it cannot be read, is longer, or is not UTF-8.
pub fn text_within(content: impl Read, limit_bytes: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    content.take(limit_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit_bytes {
        return Err(io::Error::new(
            ErrorKind::InvalidData,
            format!("the text is longer than {limit_bytes} bytes"),
        ));
    }
    String::from_utf8(bytes).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use super::text_within;

    #[test]
    fn a_text_past_its_limit_is_refused_and_not_cut() {
        assert_eq!(text_within(&b"12345"[..], 5).unwrap(), "12345");
        let told = text_within(&b"123456"[..], 5).unwrap_err().to_string();
        assert_eq!(told, "the text is longer than 5 bytes");
        assert!(
            text_within(std::io::repeat(b'x'), 1 << 20).is_err(),
            "a stream without end is read no further"
        );
        assert!(text_within(&b"\xff"[..], 5).is_err());
    }
}
