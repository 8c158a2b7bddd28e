//! Text from streams of unknown size.

use std::io::{self, ErrorKind, Read};
use std::string::FromUtf8Error;

/// The error inside of the [`io::Error`] that [`read_to_string_limited`] returns.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LimitedTextError {
    /// The text is longer than the limit.
    #[error("the text is longer than {limit_bytes} bytes")]
    TooLong {
        /// The limit in bytes.
        limit_bytes: u64,
    },
    /// The text is not UTF-8.
    #[error(transparent)]
    Utf8(#[from] FromUtf8Error),
}

impl From<LimitedTextError> for io::Error {
    fn from(error: LimitedTextError) -> Self {
        Self::new(ErrorKind::InvalidData, error)
    }
}

/// Reads a text of at most `limit_bytes`. A longer text is an error and is not truncated.
///
/// # Errors
/// If the stream cannot be read; with a [`LimitedTextError`] inside if the text is too long or not
/// UTF-8.
pub fn read_to_string_limited(content: impl Read, limit_bytes: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    content.take(limit_bytes + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit_bytes {
        return Err(LimitedTextError::TooLong { limit_bytes }.into());
    }
    String::from_utf8(bytes).map_err(|error| LimitedTextError::from(error).into())
}

#[cfg(test)]
mod tests {
    use super::read_to_string_limited;

    /// A stream without end is not read further than the limit.
    #[test]
    fn text_beyond_the_limit_is_an_error() {
        assert_eq!(read_to_string_limited(&b"12345"[..], 5).unwrap(), "12345");
        let error = read_to_string_limited(&b"123456"[..], 5).unwrap_err();
        assert_eq!(error.to_string(), "the text is longer than 5 bytes");
        assert!(read_to_string_limited(std::io::repeat(b'x'), 1 << 20).is_err());
        assert!(read_to_string_limited(&b"\xff"[..], 5).is_err());
    }
}
