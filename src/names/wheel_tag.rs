//! Wheel tags: compressed sets of Python, ABI and platform tags.

use std::fmt;

/// One of the three tag fields of a wheel name: one or more tags joined with dots.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TagSet(Vec<String>);

/// Not a tag set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a set of wheel tags")]
pub struct TagSetError(pub String);

impl TagSet {
    /// The tags in the order written.
    pub fn tags(&self) -> &[String] {
        &self.0
    }
}

impl std::str::FromStr for TagSet {
    type Err = TagSetError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let tags: Vec<String> = text.split('.').map(str::to_owned).collect();
        let fits = |t: &String| !t.is_empty() && t.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if tags.iter().all(fits) { Ok(Self(tags)) } else { Err(TagSetError(text.to_owned())) }
    }
}

impl fmt::Display for TagSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("."))
    }
}
