//! Hints about unsupported and unknown combinations of versions.

use std::fmt;

use super::compat::join_with_and;
use rock_names::{PythonVersion, RocmVersion, Version};

/// A hint about an unsupported or unknown combination. Prints as one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// Other values to use.
    Change {
        /// The values.
        change: ValueChange,
        /// The alternative: another source of torch, with which torch and ROCm remain.
        torch_source: Option<TorchSource>,
    },
    /// Advice that is not about values of torch, ROCm and Python alone.
    Advice(String),
}

/// The values to use instead of others; values without an entry remain. Prints as `torch 2.10 with
/// ROCm 7.0 or 7.1 and Python 3.10 to 3.14`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ValueChange {
    /// The torch version.
    pub torch: Option<Version>,
    /// The ROCm versions, each of which fits.
    pub rocm: Vec<RocmVersion>,
    /// The first and the last Python version.
    pub python: Option<[PythonVersion; 2]>,
}

/// A source of torch other than the official index: a value of `torch-from` in matrix files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TorchSource {
    /// An image with both versions.
    Image,
    /// An image with the torch version and this patch version of the ROCm version.
    ImageForPatch(RocmVersion),
    /// AMD's index, whose wheels no table lists.
    AmdIndex,
}

impl From<&str> for Hint {
    fn from(text: &str) -> Self {
        Self::Advice(text.to_owned())
    }
}

impl From<String> for Hint {
    fn from(text: String) -> Self {
        Self::Advice(text)
    }
}

impl From<ValueChange> for Hint {
    fn from(change: ValueChange) -> Self {
        Self::Change {
            change,
            torch_source: None,
        }
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Change {
                change,
                torch_source,
            } => {
                write!(f, "use {change}")?;
                match torch_source {
                    Some(source) => source.fmt(f),
                    None => Ok(()),
                }
            }
            Self::Advice(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for ValueChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rocm: Vec<String> = self.rocm.iter().map(ToString::to_string).collect();
        let rocm = (!rocm.is_empty()).then(|| format!("ROCm {}", rocm.join(" or ")));
        let python = self.python.map(|[first, last]| {
            if first == last {
                format!("Python {first}")
            } else {
                format!("Python {first} to {last}")
            }
        });
        let others: Vec<String> = rocm.into_iter().chain(python).collect();
        match &self.torch {
            Some(torch) if others.is_empty() => write!(f, "torch {torch}"),
            Some(torch) => write!(f, "torch {torch} with {}", join_with_and(&others)),
            None => f.write_str(&join_with_and(&others)),
        }
    }
}

impl fmt::Display for TorchSource {
    /// Formats the end of a sentence, with the punctuation before it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Image => f.write_str(", or `torch-from: image`: an image has both"),
            Self::ImageForPatch(rocm) => write!(
                f,
                ", or `torch-from: image` with `rocm: [\"{rocm}\"]`: an image has both"
            ),
            Self::AmdIndex => f.write_str(
                "; AMD's index (`torch-from: amd-index`) may have both, but no table lists its \
                 wheels",
            ),
        }
    }
}
