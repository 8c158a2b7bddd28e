//! Wheel file names.

use std::fmt;
use std::str::FromStr;

use super::{TagSet, Version};

/// A wheel's file name: `{name}-{version}(-{build})?-{python}-{abi}-{platform}.whl`
/// (binary distribution format, "File name convention").
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WheelName {
    /// The distribution as spelled in the name, `flash_attn`.
    pub distribution: String,
    /// The version with its local label.
    pub version: Version,
    /// The build tag, if any; begins with a digit.
    pub build: Option<String>,
    /// Python tags.
    pub python: TagSet,
    /// ABI tags.
    pub abi: TagSet,
    /// Platform tags.
    pub platform: TagSet,
}

/// Not a wheel name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a wheel name: {reason}")]
pub struct WheelNameError {
    /// The text given.
    pub text: String,
    /// Why it is none.
    pub reason: String,
}

impl FromStr for WheelName {
    type Err = WheelNameError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fault = |reason: String| WheelNameError { text: text.to_owned(), reason };
        let stem = text.strip_suffix(".whl").ok_or_else(|| fault("it does not end in `.whl`".into()))?;
        let parts: Vec<&str> = stem.split('-').collect();
        let (name, version, build, tags) = match parts.as_slice() {
            [name, version, tags @ ..] if tags.len() == 3 => (name, version, None, tags),
            [name, version, build, tags @ ..] if tags.len() == 3 => (name, version, Some((*build).to_owned()), tags),
            _ => return Err(fault(format!("it has {} parts between hyphens, not 5 or 6", parts.len()))),
        };
        let tag = |i: usize| tags[i].parse::<TagSet>().map_err(|e| fault(e.to_string()));
        Ok(Self {
            distribution: (*name).to_owned(),
            version: version.parse().map_err(|e: super::VersionError| fault(e.to_string()))?,
            build,
            python: tag(0)?,
            abi: tag(1)?,
            platform: tag(2)?,
        })
    }
}

impl fmt::Display for WheelName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-", self.distribution, self.version)?;
        if let Some(build) = &self.build {
            write!(f, "{build}-")?;
        }
        write!(f, "{}-{}-{}.whl", self.python, self.abi, self.platform)
    }
}
