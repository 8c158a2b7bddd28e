//! ROCm versions: two to four numbers joined with dots.

use std::fmt;
use std::str::FromStr;

/// A ROCm version such as `6.2`, `6.2.4`, `7.14` or `10.1`.
///
/// Keeps the text as written. Equality and order are those of the numbers, with missing ones as
/// zero: `7.14` is later than `7.2`, and `7.2` equals `7.2.0`.
#[derive(Debug, Clone)]
pub struct RocmVersion {
    text: String,
    parts: [u32; 4],
}

/// The error of parsing a [`RocmVersion`]; holds the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a ROCm version: two to four numbers with dots, such as `6.2` or `7.1.1`")]
pub struct RocmVersionError(pub String);

impl RocmVersion {
    /// Parses up to three numbers at the start of a text: `6.4.1` of `6.4.1.git123`, `6.4` of
    /// `6.4.43482-0f2d60242`.
    pub fn from_leading_numbers(text: &str) -> Option<Self> {
        let is_number =
            |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        text.split('.')
            .take_while(is_number)
            .take(3)
            .collect::<Vec<_>>()
            .join(".")
            .parse()
            .ok()
    }

    /// Returns the text as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the major number.
    pub fn major(&self) -> u32 {
        self.parts[0]
    }

    /// Returns the numbers, with missing ones as zero.
    pub fn parts(&self) -> [u32; 4] {
        self.parts
    }

    /// Returns the version of major and minor only, `6.2` for `6.2.4`.
    #[must_use]
    pub fn minor(&self) -> Self {
        Self {
            text: format!("{}.{}", self.parts[0], self.parts[1]),
            parts: [self.parts[0], self.parts[1], 0, 0],
        }
    }

    /// Returns the numbers without dots, `624`.
    pub fn compact(&self) -> String {
        self.text.replace('.', "")
    }
}

impl FromStr for RocmVersion {
    type Err = RocmVersionError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut parts = [0; 4];
        let mut count = 0;
        for part in text.split('.') {
            let digits =
                !part.is_empty() && part.len() <= 5 && part.bytes().all(|b| b.is_ascii_digit());
            if count == 4 || !digits || (part.len() > 1 && part.starts_with('0')) {
                return Err(RocmVersionError(text.to_owned()));
            }
            parts[count] = part
                .parse()
                .map_err(|_| RocmVersionError(text.to_owned()))?;
            count += 1;
        }
        if count < 2 {
            return Err(RocmVersionError(text.to_owned()));
        }
        Ok(Self {
            text: text.to_owned(),
            parts,
        })
    }
}

impl fmt::Display for RocmVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for RocmVersion {
    fn eq(&self, other: &Self) -> bool {
        self.parts == other.parts
    }
}
impl Eq for RocmVersion {}
impl PartialOrd for RocmVersion {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for RocmVersion {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.parts.cmp(&other.parts)
    }
}

#[cfg(test)]
mod tests {
    use super::RocmVersion;

    #[test]
    fn fourteen_is_later_than_two_and_unlike_one_dot_four() {
        let v = |s: &str| s.parse::<RocmVersion>().unwrap();
        assert!(v("7.14") > v("7.2"));
        assert_ne!(v("7.14"), v("7.1.4"));
        assert_eq!(v("7.14").compact(), v("7.1.4").compact());
        assert_eq!(v("6.2.4").minor().as_str(), "6.2");
    }

    #[test]
    fn words_and_single_numbers_are_refused() {
        for text in ["6", "6.", "a.b", "6.2.4.1.0", "06.2", "6.2-rc1", ""] {
            assert!(text.parse::<RocmVersion>().is_err(), "{text}");
        }
    }
}
