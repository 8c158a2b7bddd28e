//! Names of distributions.

use std::fmt;
use std::str::FromStr;

/// A valid distribution name, as written (names and normalization specification, PEP 508).
///
/// Equality and order are those of the text; compare [`Self::normalized`] to compare projects.
///
/// ```
/// use rock_names::DistributionName;
/// let name: DistributionName = "Flash.Attn".parse()?;
/// assert_eq!((name.normalized(), name.escaped()), ("flash-attn".into(), "flash_attn".into()));
/// # Ok::<(), rock_names::DistributionNameError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DistributionName(String);

/// The error of parsing a [`DistributionName`]; holds the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a valid distribution name: letters, digits, `-`, `_`, `.`, starting and ending \
     with a letter or digit"
)]
pub struct DistributionNameError(pub String);

impl DistributionName {
    /// Returns whether a text is a distribution name of at most 128 bytes.
    pub fn is_valid(text: &str) -> bool {
        let edge = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_alphanumeric());
        let inside = text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
        text.len() <= 128 && inside && edge(text.bytes().next()) && edge(text.bytes().last())
    }

    /// Returns the name as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name in lower case with each run of `-`, `_` and `.` as one `-` (PEP 503).
    pub fn normalized(&self) -> String {
        self.fold('-')
    }

    /// Returns the name in lower case with each run of `-`, `_` and `.` as one `_`, as in filenames
    /// (binary distribution format).
    pub fn escaped(&self) -> String {
        self.fold('_')
    }

    /// Returns [`Self::escaped`] as a name.
    #[must_use]
    pub fn to_escaped(&self) -> Self {
        Self(self.escaped())
    }

    fn fold(&self, by: char) -> String {
        let mut folded = String::with_capacity(self.0.len());
        for c in self.0.chars() {
            if !matches!(c, '-' | '_' | '.') {
                folded.push(c.to_ascii_lowercase());
            } else if !folded.ends_with(by) {
                folded.push(by);
            }
        }
        folded
    }
}

impl FromStr for DistributionName {
    type Err = DistributionNameError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if Self::is_valid(text) {
            Ok(Self(text.to_owned()))
        } else {
            Err(DistributionNameError(text.to_owned()))
        }
    }
}

impl fmt::Display for DistributionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::DistributionName;

    #[test]
    fn both_forms_fold_runs_of_separators() {
        let name: DistributionName = "Flash-_Attn.3".parse().unwrap();
        assert_eq!(
            (name.normalized().as_str(), name.escaped().as_str()),
            ("flash-attn-3", "flash_attn_3")
        );
        assert!("-x".parse::<DistributionName>().is_err());
        assert!("a/b".parse::<DistributionName>().is_err());
    }
}
