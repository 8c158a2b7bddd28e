//! PEP 440 versions, and versions of packages by release or commit.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

use pep440_rs::LocalSegment;

use super::{LocalLabel, VersionSpecifiers};

/// A PEP 440 version that keeps the text as written.
///
/// Order, equality and hashes follow PEP 440, so `2.5` equals `2.5.0`.
///
/// ```
/// use rock_names::Version;
/// let version: Version = "2.8.3.POST1+ROCm6.2".parse()?;
/// assert_eq!(version.normalized(), "2.8.3.post1+rocm6.2");
/// assert_eq!(version.public().as_str(), "2.8.3.POST1");
/// # Ok::<(), rock_names::VersionError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Version {
    text: Arc<str>,
    parsed: pep440_rs::Version,
}

/// The error of parsing a version or version specifiers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a version: {reason}")]
pub struct VersionError {
    /// The text.
    pub text: String,
    /// The reason.
    pub reason: String,
}

impl Version {
    /// Returns the text as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the release numbers, `[2, 5, 1]`.
    pub fn release(&self) -> &[u64] {
        self.parsed.release()
    }

    /// Returns major and minor, `2.10`; a missing minor is 0.
    pub fn minor(&self) -> String {
        let [major, minor] = self.minor_numbers();
        format!("{major}.{minor}")
    }

    fn minor_numbers(&self) -> [u64; 2] {
        [0, 1].map(|i| self.release().get(i).copied().unwrap_or(0))
    }

    /// Returns [`Self::minor`] as a version.
    #[must_use]
    pub fn to_minor(&self) -> Self {
        Self {
            text: self.minor().into(),
            parsed: pep440_rs::Version::new(self.minor_numbers()),
        }
    }

    /// Returns whether this is a prerelease: alpha, beta, release candidate or development release.
    pub fn is_prerelease(&self) -> bool {
        self.parsed.any_prerelease()
    }

    /// Returns whether this is a development release, such as a nightly.
    pub fn is_dev(&self) -> bool {
        self.parsed.is_dev()
    }

    /// Returns the prerelease and development segments in normal form without separators: `a0`,
    /// `rc1`, `dev20261101`, or empty.
    pub fn prerelease_suffix(&self) -> String {
        let mut tail = String::new();
        if let Some(pre) = self.parsed.pre() {
            tail.push_str(&pre.to_string());
        }
        if let Some(dev) = self.parsed.dev() {
            tail.push_str(&format!("dev{dev}"));
        }
        tail
    }

    /// Returns the local version label as written, if there is one.
    pub fn local(&self) -> Option<&str> {
        self.text.split_once('+').map(|(_, local)| local)
    }

    /// Returns the public version: this version without its local version label.
    #[must_use]
    pub fn public(&self) -> Self {
        let text = self.text.split('+').next().unwrap_or_default().into();
        Self {
            text,
            parsed: self.parsed.clone().without_local(),
        }
    }

    /// Returns this version with another local version label.
    #[must_use]
    pub fn with_label(&self, label: &LocalLabel) -> Self {
        let public = self.public();
        let segments = label.as_str().split('.');
        Self {
            text: format!("{public}+{label}").into(),
            parsed: public.parsed.with_local(
                segments
                    .map(|segment| {
                        segment.parse().map_or_else(
                            |_| LocalSegment::String(segment.to_owned()),
                            LocalSegment::Number,
                        )
                    })
                    .collect(),
            ),
        }
    }

    /// Returns whether PEP 440 specifiers such as `>=2.7,<3` allow this version
    /// ([`VersionSpecifiers`]).
    ///
    /// # Errors
    /// If the specifiers are invalid.
    pub fn satisfies(&self, specifiers: &str) -> Result<bool, VersionError> {
        Ok(specifiers.parse::<VersionSpecifiers>()?.contains(self))
    }

    /// Returns the parsed version.
    pub(super) fn parsed(&self) -> &pep440_rs::Version {
        &self.parsed
    }

    /// Makes this version share the memory of another one if the texts of both are equal. The
    /// version itself does not change.
    pub fn share(&mut self, other: &Self) {
        if self.text == other.text {
            self.clone_from(other);
        }
    }

    /// Returns the PEP 440 normal form, `2.8.3+rocm62torch2.5`.
    pub fn normalized(&self) -> String {
        self.parsed.to_string()
    }

    /// Returns this version, written in [normal form](Self::normalized).
    #[must_use]
    pub fn to_normalized(&self) -> Self {
        Self {
            text: self.normalized().into(),
            parsed: self.parsed.clone(),
        }
    }
}

impl FromStr for Version {
    type Err = VersionError;

    /// Ignores whitespace around the version (PEP 440, "Leading and Trailing Whitespace").
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let parsed = pep440_rs::Version::from_str(text).map_err(|e| VersionError {
            text: text.to_owned(),
            reason: e.to_string(),
        })?;
        Ok(Self {
            text: text.into(),
            parsed,
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.parsed == other.parsed
    }
}
impl Eq for Version {}
impl Hash for Version {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parsed.hash(state);
    }
}
impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.parsed.cmp(&other.parsed)
    }
}

/// The version of a package to build: a release, or a commit of one of its families, `fa2:4a948e9`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum PackageVersion {
    /// A released version.
    Released(Version),
    /// A commit of a family.
    Commit {
        /// The family's short name, `fa2`.
        family: String,
        /// The commit, 7 to 40 lower-case hex digits.
        hash: String,
    },
}

impl FromStr for PackageVersion {
    type Err = VersionError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let Some((family, hash)) = text.split_once(':') else {
            return text.parse().map(Self::Released);
        };
        let fault = |reason: &str| {
            Err(VersionError {
                text: text.to_owned(),
                reason: reason.to_owned(),
            })
        };
        if family.is_empty()
            || !family
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
        {
            return fault("the part before `:` must be a short lower-case name such as `fa2`");
        }
        if !(7..=40).contains(&hash.len())
            || !hash
                .bytes()
                .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
        {
            return fault(
                "`:` must be followed by a commit of 7 to 40 lower-case hex digits, not a branch \
                 or a tag",
            );
        }
        Ok(Self::Commit {
            family: family.to_owned(),
            hash: hash.to_owned(),
        })
    }
}

impl fmt::Display for PackageVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Released(version) => version.fmt(f),
            Self::Commit { family, hash } => write!(f, "{family}:{hash}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PackageVersion, Version};

    #[test]
    fn a_version_keeps_its_text_and_compares_by_pep_440() {
        let (short, long): (Version, Version) = ("2.5".parse().unwrap(), "2.5.0".parse().unwrap());
        assert_eq!(short, long);
        assert_eq!((short.as_str(), long.as_str()), ("2.5", "2.5.0"));
        assert!("2.10".parse::<Version>().unwrap() > "2.9".parse().unwrap());
        assert_eq!("2.10.0".parse::<Version>().unwrap().minor(), "2.10");
    }

    #[test]
    fn white_space_around_a_version_is_no_part_of_it() {
        let version: Version = " 2.5.1+rocm6.2\r\n".parse().unwrap();
        assert_eq!(
            (version.as_str(), version.local()),
            ("2.5.1+rocm6.2", Some("rocm6.2"))
        );
    }

    #[test]
    fn a_nightly_keeps_its_date_in_the_tail() {
        assert_eq!(
            "2.15.0.dev20261101"
                .parse::<Version>()
                .unwrap()
                .prerelease_suffix(),
            "dev20261101"
        );
        assert_eq!(
            "2.15.0rc1".parse::<Version>().unwrap().prerelease_suffix(),
            "rc1"
        );
        assert_eq!(
            "2.15.0a0+rocm7.14"
                .parse::<Version>()
                .unwrap()
                .public()
                .as_str(),
            "2.15.0a0"
        );
    }

    #[test]
    fn a_commit_needs_seven_hex_digits_and_a_branch_name_is_refused() {
        assert!("fa2:4a948e9".parse::<PackageVersion>().is_ok());
        assert!("fa2:main".parse::<PackageVersion>().is_err());
        assert!("fa2:4a948".parse::<PackageVersion>().is_err());
        assert_eq!(
            "fa2:4a948e9".parse::<PackageVersion>().unwrap().to_string(),
            "fa2:4a948e9"
        );
    }
}
