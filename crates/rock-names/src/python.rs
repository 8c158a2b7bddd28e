//! Python versions: `3.12`, and `3.13t` for the free-threaded build.

use std::fmt;
use std::str::FromStr;

/// A minor version of `CPython`, with or without the global interpreter lock (PEP 703).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PythonVersion {
    major: u8,
    minor: u8,
    free_threaded: bool,
}

/// The error of parsing a [`PythonVersion`]; holds the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a Python version: write major and minor such as `3.12`, or `3.13t` for free-threaded"
)]
pub struct PythonVersionError(pub String);

impl PythonVersion {
    /// Returns the major and minor number.
    pub fn numbers(self) -> (u8, u8) {
        (self.major, self.minor)
    }

    /// Returns whether this is the free-threaded build.
    pub fn is_free_threaded(self) -> bool {
        self.free_threaded
    }

    /// Returns the version without the suffix `t`: `3.13` for both `3.13` and `3.13t`.
    pub fn plain(self) -> String {
        format!("{}.{}", self.major, self.minor)
    }

    /// Returns the Python tag, `cp313` (also for `3.13t`).
    pub fn python_tag(self) -> String {
        format!("cp{}{}", self.major, self.minor)
    }

    /// Returns the ABI tag, `cp313` or `cp313t`.
    pub fn abi_tag(self) -> String {
        format!(
            "{}{}",
            self.python_tag(),
            if self.free_threaded { "t" } else { "" }
        )
    }

    /// Returns both tags, `cp313-cp313t`, as in wheel names and in the interpreter directories of
    /// manylinux images.
    pub fn cp_tag(self) -> String {
        format!("{}-{}", self.python_tag(), self.abi_tag())
    }
}

impl FromStr for PythonVersion {
    type Err = PythonVersionError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fault = || PythonVersionError(text.to_owned());
        let number = |s: &str| match s.as_bytes() {
            [b'0'..=b'9'] | [b'1'..=b'9', b'0'..=b'9'] => s.parse::<u8>().map_err(|_| fault()),
            _ => Err(fault()),
        };
        let (plain, free_threaded) = text.strip_suffix('t').map_or((text, false), |p| (p, true));
        let (major, minor) = plain.split_once('.').ok_or_else(fault)?;
        if !matches!(major.as_bytes(), [b'1'..=b'9']) {
            return Err(fault());
        }
        Ok(Self {
            major: number(major)?,
            minor: number(minor)?,
            free_threaded,
        })
    }
}

impl fmt::Display for PythonVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}.{}{}",
            self.major,
            self.minor,
            if self.free_threaded { "t" } else { "" }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::PythonVersion;

    #[test]
    fn free_threaded_builds_have_their_own_abi_tag() {
        let tag = |text: &str| text.parse::<PythonVersion>().map(PythonVersion::cp_tag);
        assert_eq!(
            (tag("3.12"), tag("3.13t")),
            (Ok("cp312-cp312".to_owned()), Ok("cp313-cp313t".to_owned()))
        );
        assert!(tag("3.08").is_err() && tag("4").is_err());
        assert_eq!(
            "3.13t".parse::<PythonVersion>().unwrap().to_string(),
            "3.13t"
        );
    }

    #[test]
    fn ten_is_later_than_nine_and_patches_are_refused() {
        assert!("3.10".parse::<PythonVersion>().unwrap() > "3.9".parse().unwrap());
        for text in ["3", "3.10.1", "cp310", "3.x", "3.010", "0.9", "10.1", ""] {
            assert!(text.parse::<PythonVersion>().is_err(), "{text}");
        }
    }
}
