//! Local version labels: the part of a wheel's version after `+`.

use std::fmt;
use std::str::FromStr;

use super::{RocmVersion, Version};

/// A PEP 440 local version label in normal form: lower-case letters and digits in segments joined with dots.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalLabel(String);

/// Not a local version label.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a local version label: letters and digits in segments joined with `.`, such as `rocm62torch2.5`")]
pub struct LabelError(pub String);

impl LocalLabel {
    /// The label in normal form.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for LocalLabel {
    type Err = LabelError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let folded: String =
            text.chars().map(|c| if matches!(c, '-' | '_') { '.' } else { c.to_ascii_lowercase() }).collect();
        let well_formed =
            folded.split('.').all(|s| !s.is_empty() && s.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()));
        if well_formed { Ok(Self(folded)) } else { Err(LabelError(text.to_owned())) }
    }
}

impl fmt::Display for LocalLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How the accelerator version is printed in a label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelStyle {
    /// `rocm62`.
    Compact,
    /// `rocm6.2`.
    Dotted,
}

/// What a label is made of, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelParts {
    /// The accelerator.
    pub accelerator: Accelerator,
    /// The torch version the wheel was built against.
    pub torch: Option<Version>,
    /// The first 7 hex digits of the commit built, where it is no release.
    pub git: Option<String>,
    /// The backend's tail, `triton`; `None` for the default backend.
    pub backend: Option<String>,
    /// The C++ ABI tail, only for torch up to 2.6.
    pub cxx11abi: Option<bool>,
}

/// An accelerator runtime and its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Accelerator {
    /// ROCm.
    Rocm(RocmVersion),
    /// CUDA, digits as printed (`124`, `12`); read from other projects' wheels, never built.
    Cuda(String),
}

impl LabelParts {
    /// The label in one style.
    pub fn label(&self, style: LabelStyle) -> LocalLabel {
        let mut text = match (&self.accelerator, style) {
            (Accelerator::Rocm(rocm), LabelStyle::Compact) => format!("rocm{}", rocm.compact()),
            (Accelerator::Rocm(rocm), LabelStyle::Dotted) => format!("rocm{rocm}"),
            (Accelerator::Cuda(digits), _) => format!("cu{digits}"),
        };
        if let Some(torch) = &self.torch {
            text.push_str(&format!("torch{}{}", torch.minor(), torch.pre_tail()));
        }
        if let Some(git) = &self.git {
            text.push_str(&format!("git{git}"));
        }
        if let Some(backend) = &self.backend {
            text.push_str(backend);
        }
        LocalLabel(text)
    }
}

/// Whether the digits of a ROCm version without dots have one reading among the known versions.
pub fn is_compact_unambiguous(rocm: &RocmVersion, known: &[RocmVersion]) -> bool {
    rocm.parts().iter().all(|part| *part < 10)
        && known.iter().all(|other| other == rocm || other.compact() != rocm.compact())
}
