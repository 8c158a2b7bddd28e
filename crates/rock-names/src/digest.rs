//! SHA-256 digests.

use std::fmt;
use std::str::FromStr;

/// A SHA-256 digest, printed as `sha256:<64 hex digits>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// The error of parsing a [`Digest`]; holds the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a digest: `sha256:` with 64 hex digits")]
pub struct DigestError(pub String);

impl Digest {
    /// Creates a digest from its 32 bytes.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the 64 lower-case hex digits without a prefix.
    pub fn to_hex(self) -> String {
        let digit = |nibble: u8| b"0123456789abcdef"[usize::from(nibble)];
        let mut hex = [0; 64];
        for (pair, byte) in hex.as_chunks_mut().0.iter_mut().zip(self.0) {
            *pair = [digit(byte >> 4), digit(byte & 15)];
        }
        String::from_utf8(hex.to_vec()).expect("hex digits are ASCII")
    }

    /// Returns the digest in URL-safe base64 without padding, as written in RECORD after `sha256=`.
    pub fn to_base64(self) -> String {
        to_base64(&self.0)
    }
}

/// Encodes bytes in URL-safe base64 without padding (RFC 4648 section 5).
pub fn to_base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group
            .iter()
            .fold(0, |bits, byte| bits << 8 | u32::from(*byte))
            << (8 * (3 - group.len()));
        for place in 0..=group.len() {
            text.push(char::from(
                ALPHABET[(bits >> (18 - 6 * place) & 63) as usize],
            ));
        }
    }
    text
}

impl FromStr for Digest {
    type Err = DigestError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fault = || DigestError(text.to_owned());
        let hex = text.strip_prefix("sha256:").unwrap_or(text).as_bytes();
        if hex.len() != 64 {
            return Err(fault());
        }
        let mut bytes = [0; 32];
        let mut seen = 0;
        for (byte, [high, low]) in bytes.iter_mut().zip(hex.as_chunks().0) {
            let (high, low) = (
                HEX_VALUES[usize::from(*high)],
                HEX_VALUES[usize::from(*low)],
            );
            seen |= high | low;
            *byte = high << 4 | (low & 15);
        }
        if seen & NOT_HEX != 0 {
            return Err(fault());
        }
        Ok(Self(bytes))
    }
}

/// Marks bytes in [`HEX_VALUES`] that are no hex digits.
const NOT_HEX: u8 = 0x80;

/// The values of hex digits by byte. An index reads thousands of digests.
const HEX_VALUES: [u8; 256] = {
    let mut values = [NOT_HEX; 256];
    let mut value: u8 = 0;
    while value < 16 {
        values[b"0123456789abcdef"[value as usize] as usize] = value;
        values[b"0123456789ABCDEF"[value as usize] as usize] = value;
        value += 1;
    }
    values
};

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.to_hex())
    }
}

#[cfg(test)]
mod tests {
    use super::Digest;

    #[test]
    fn a_digest_round_trips_with_and_without_prefix() {
        let text = format!("sha256:{}", "0f".repeat(32));
        let digest: Digest = text.parse().unwrap();
        assert_eq!(digest.to_string(), text);
        assert_eq!(digest.to_hex().parse::<Digest>().unwrap(), digest);
        assert_eq!("0F".repeat(32).parse::<Digest>().unwrap(), digest);
        assert!("sha256:xyz".parse::<Digest>().is_err());
        for other in ["0g", "g0", "é", "/0", ":0"] {
            let text = format!("{}{other}", "0f".repeat(31));
            assert!(text.parse::<Digest>().is_err(), "{text}");
        }
    }

    #[test]
    fn base64_is_as_record_writes_it() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
            .parse::<Digest>()
            .unwrap();
        assert_eq!(
            empty.to_base64(),
            "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"
        );
    }
}
