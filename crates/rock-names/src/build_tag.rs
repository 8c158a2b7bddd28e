//! Build tags of wheel names.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

/// The build tag of a wheel name: a digit, followed by letters, digits, `_` and `.`.
///
/// Prints as written. Tags are ordered by the number they begin with, then by the rest (binary
/// distribution format, "File name convention"), and last by the text. Equality and hashes are
/// those of the text: `01` precedes `1` and does not equal it, although both have the number 1.
///
/// ```
/// use rock_names::BuildTag;
/// let (second, tenth): (BuildTag, BuildTag) = ("2cmake".parse()?, "10".parse()?);
/// assert!(second < tenth);
/// # Ok::<(), rock_names::BuildTagError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct BuildTag(String);

/// The error of parsing a [`BuildTag`]; holds the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a build tag: a digit, followed by letters, digits, `_` and `.`")]
pub struct BuildTagError(pub String);

impl BuildTag {
    /// Returns the tag as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Splits the tag into the digits of its number, without leading zeros, and the rest.
    fn split(&self) -> (&str, &str) {
        let rest = self.0.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = &self.0[..self.0.len() - rest.len()];
        (digits.trim_start_matches('0'), rest)
    }
}

impl FromStr for BuildTag {
    type Err = BuildTagError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_tag_byte = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.');
        if text.starts_with(|c: char| c.is_ascii_digit()) && text.bytes().all(is_tag_byte) {
            Ok(Self(text.to_owned()))
        } else {
            Err(BuildTagError(text.to_owned()))
        }
    }
}

impl fmt::Display for BuildTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Ord for BuildTag {
    fn cmp(&self, other: &Self) -> Ordering {
        let ((digits, rest), (other_digits, other_rest)) = (self.split(), other.split());
        (digits.len(), digits, rest, &self.0).cmp(&(
            other_digits.len(),
            other_digits,
            other_rest,
            &other.0,
        ))
    }
}

impl PartialOrd for BuildTag {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use super::BuildTag;

    #[test]
    fn tags_are_ordered_by_their_number_then_by_the_rest() {
        let ordered = [
            "0",
            "01",
            "1",
            "1a",
            "1b",
            "02",
            "10",
            "99999999999999999999",
        ];
        let tags = ordered.iter().rev().map(|text| text.parse());
        let mut tags = tags.collect::<Result<Vec<BuildTag>, _>>().unwrap();
        tags.sort();
        let sorted: Vec<&str> = tags.iter().map(BuildTag::as_str).collect();
        assert_eq!(sorted, ordered);
    }

    #[test]
    fn a_tag_begins_with_a_digit_and_fits_into_a_filename() {
        for text in ["1", "2cmake", "0.editable", "1_a"] {
            assert_eq!(text.parse::<BuildTag>().unwrap().to_string(), text);
        }
        for text in ["", "a1", "_1", "1-a", "1/../a", "1 a", "1é"] {
            assert!(text.parse::<BuildTag>().is_err(), "{text}");
        }
    }
}
