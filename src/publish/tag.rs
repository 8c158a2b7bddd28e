//! Tags of releases.

use std::fmt;
use std::str::FromStr;

/// A release's tag that is also a folder's name: letters, digits, `.`, `_`, `+`, `-`, not beginning with `.` or `-`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagName(String);

/// Not a tag that can be a folder.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no tag that can name a folder: letters, digits, `.`, `_`, `+` and `-`, beginning with a letter or digit"
)]
pub struct TagNameError(pub String);

impl TagName {
    /// The tag.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for TagName {
    type Err = TagNameError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let inside = text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._+-".contains(&b));
        if inside && text.len() <= 200 && text.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric) {
            Ok(Self(text.to_owned()))
        } else {
            Err(TagNameError(text.to_owned()))
        }
    }
}

impl fmt::Display for TagName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::TagName;

    #[test]
    fn a_tag_cannot_leave_its_folder() {
        for text in ["", ".", "..", "../x", "a/b", "-x", "a b", "a\0b"] {
            assert!(text.parse::<TagName>().is_err(), "{text:?}");
        }
        assert_eq!("v2.8.3+rocm".parse::<TagName>().unwrap().to_string(), "v2.8.3+rocm");
    }
}
