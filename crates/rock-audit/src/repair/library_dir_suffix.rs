//! The suffix of the directory of grafted libraries.

use std::fmt;
use std::str::FromStr;

/// The suffix that makes the directory of grafted libraries from the distribution name, `.libs`.
///
/// A suffix with slashes names a directory inside another one. The directory is always inside the
/// wheel.
///
/// ```
/// use rock_audit::LibraryDirSuffix;
///
/// assert!("/lib".parse::<LibraryDirSuffix>().is_ok());
/// assert!("/../lib".parse::<LibraryDirSuffix>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LibraryDirSuffix(String);

/// The error for a suffix with which the directory could be outside of the wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "it is appended to the name of the wheel, like `.libs` or `/lib`, and must not contain `..`"
)]
pub struct LibraryDirSuffixError;

impl FromStr for LibraryDirSuffix {
    type Err = LibraryDirSuffixError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let path = text.strip_prefix('/').unwrap_or(text);
        if path.split('/').any(is_unsafe_name)
            || text.contains('\\')
            || text.chars().any(char::is_control)
        {
            return Err(LibraryDirSuffixError);
        }
        Ok(Self(text.to_owned()))
    }
}

/// Returns whether a component of a path does not name a directory below the one before it.
fn is_unsafe_name(name: &str) -> bool {
    name.is_empty() || name == "." || name.starts_with("..")
}

impl Default for LibraryDirSuffix {
    fn default() -> Self {
        Self(".libs".to_owned())
    }
}

impl fmt::Display for LibraryDirSuffix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::LibraryDirSuffix;

    #[test]
    fn directories_stay_in_the_wheel() {
        for suffix in [".libs", "/lib", "_x/lib", ".a/.b"] {
            assert!(suffix.parse::<LibraryDirSuffix>().is_ok(), "{suffix}");
        }
        for suffix in ["", "/", "//lib", "/.", "/../lib", "lib/", "a\\b", "a\nb"] {
            assert!(suffix.parse::<LibraryDirSuffix>().is_err(), "{suffix:?}");
        }
    }
}
