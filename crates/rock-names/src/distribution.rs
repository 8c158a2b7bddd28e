//! Names of Python projects.

use std::fmt;
use std::str::FromStr;

/// A distribution name as written; [`Self::normalized`] and [`Self::file_form`] give the two forms
/// of PEP 503 and PEP 427.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DistributionName(String);

/// Not a distribution name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a distribution name: letters, digits, `-`, `_`, `.`, beginning and ending with a letter or digit"
)]
pub struct DistributionNameError(pub String);

impl DistributionName {
    /// Whether a text is a distribution name.
    pub fn is_one(text: &str) -> bool {
        let edge = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_alphanumeric());
        let inside = text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
        text.len() <= 128 && inside && edge(text.bytes().next()) && edge(text.bytes().last())
    }

    /// The name as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Lower case, runs of `-`, `_`, `.` as one `-` (PEP 503).
    pub fn normalized(&self) -> String {
        self.fold('-')
    }

    /// Lower case, runs of `-`, `_`, `.` as one `_` (binary distribution format, PEP 427).
    pub fn file_form(&self) -> String {
        self.fold('_')
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
        if Self::is_one(text) {
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
            (name.normalized().as_str(), name.file_form().as_str()),
            ("flash-attn-3", "flash_attn_3")
        );
        assert!("-x".parse::<DistributionName>().is_err());
        assert!("a/b".parse::<DistributionName>().is_err());
    }
}
