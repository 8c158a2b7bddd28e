//! ROCm versions: two to four numbers joined with dots, and prereleases of them.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use super::Version;

/// A ROCm version such as `6.2`, `6.2.4`, `7.14` or `10.1`.
///
/// Keeps the text as written. Equality and order are those of the numbers, with missing ones as
/// zero: `7.14` is later than `7.2`, and `7.2` equals `7.2.0`. A [prerelease](Self::parse_prerelease)
/// precedes its release.
#[derive(Debug, Clone)]
pub struct RocmVersion {
    text: String,
    parts: [u32; 4],
    /// The whole version by PEP 440, if it is a prerelease.
    prerelease: Option<Version>,
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

    /// Parses a version of which nightly builds and release candidates are made, such as
    /// `7.14.0a20260520` or `7.9.0rc20251008` (ROCm/TheRock, `compute_rocm_package_version.py`). A
    /// release is parsed too.
    ///
    /// [`FromStr`] parses releases only: compatibility data and matrix files have no others.
    ///
    /// # Errors
    /// If the text is neither a release nor a prerelease by PEP 440 of two to four numbers.
    pub fn parse_prerelease(text: &str) -> Result<Self, RocmVersionError> {
        let fault = || RocmVersionError(text.to_owned());
        let end = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        let release: Self = text[..end]
            .trim_end_matches('.')
            .parse()
            .map_err(|_| fault())?;
        if release.text == text {
            return Ok(release);
        }
        let whole: Version = text.parse().map_err(|_| fault())?;
        if !whole.is_prerelease() || whole.local().is_some() {
            return Err(fault());
        }
        Ok(Self {
            text: text.to_owned(),
            prerelease: Some(whole),
            ..release
        })
    }

    /// Returns whether this is a prerelease.
    pub fn is_prerelease(&self) -> bool {
        self.prerelease.is_some()
    }

    /// Returns the release of a prerelease, `7.14.0` for `7.14.0a20260520`, and a release as it is.
    #[must_use]
    pub fn release(&self) -> Self {
        let numbers = |c: char| c.is_ascii_digit() || c == '.';
        let end = self.text.find(|c| !numbers(c)).unwrap_or(self.text.len());
        Self {
            text: self.text[..end].trim_end_matches('.').to_owned(),
            parts: self.parts,
            prerelease: None,
        }
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
            prerelease: None,
        }
    }

    /// Returns whether major and minor are those of another version.
    pub fn has_same_minor(&self, other: &Self) -> bool {
        self.parts[..2] == other.parts[..2]
    }

    /// Returns the text without dots, `624`.
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
            prerelease: None,
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
        self.cmp(other).is_eq()
    }
}
impl Eq for RocmVersion {}
impl PartialOrd for RocmVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for RocmVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_prerelease = || match (&self.prerelease, &other.prerelease) {
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some(own), Some(other)) => own.cmp(other),
        };
        self.parts.cmp(&other.parts).then_with(by_prerelease)
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
    fn a_prerelease_precedes_its_release() {
        let v = |text: &str| RocmVersion::parse_prerelease(text).unwrap();
        let order = [
            "7.13",
            "7.14.0.dev0",
            "7.14.0a20260519",
            "7.14.0a20260520",
            "7.14.0rc1",
            "7.14",
            "7.14.1",
        ];
        assert!(order.windows(2).all(|pair| v(pair[0]) < v(pair[1])));
        assert_eq!(v("7.14a1"), v("7.14.0a1"));
        let nightly = v("7.14.0a20260520");
        assert!(nightly.is_prerelease() && !nightly.release().is_prerelease());
        assert_eq!(nightly.to_string(), "7.14.0a20260520");
        assert_eq!(nightly.release().as_str(), "7.14.0");
        assert_eq!(v("7.14.0.dev0").release().as_str(), "7.14.0");
        assert_eq!(nightly.minor().as_str(), "7.14");
        assert_eq!(v("6.2.4"), "6.2.4".parse().unwrap());
        for text in [
            "7a1",
            "7.14.0x",
            "7.14.0.post1",
            "7.14a1+b",
            "7.14.",
            "a1",
            "",
        ] {
            assert!(RocmVersion::parse_prerelease(text).is_err(), "{text}");
        }
        assert!("7.14.0a20260520".parse::<RocmVersion>().is_err());
    }

    #[test]
    fn words_and_single_numbers_are_refused() {
        for text in ["6", "6.", "a.b", "6.2.4.1.0", "06.2", "6.2-rc1", ""] {
            assert!(text.parse::<RocmVersion>().is_err(), "{text}");
        }
    }
}
