//! Names of ROCm artifacts, `blas_lib_gfx942`.

use std::fmt;
use std::str::FromStr;

/// A part of the files that a ROCm project installs. Components claim files in this order: a file in
/// `lib` is not in `run`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ArtifactComponent {
    /// Shared libraries.
    Lib,
    /// Other files needed at run time.
    Run,
    /// Debug information.
    Dbg,
    /// Headers, static libraries, CMake packages.
    Dev,
    /// Documentation.
    Doc,
    /// Tests.
    Test,
}

impl ArtifactComponent {
    /// All components, in order.
    pub const ALL: [Self; 6] = [
        Self::Lib,
        Self::Run,
        Self::Dbg,
        Self::Dev,
        Self::Doc,
        Self::Test,
    ];

    /// Returns the spelling in artifact names.
    pub fn word(self) -> &'static str {
        match self {
            Self::Lib => "lib",
            Self::Run => "run",
            Self::Dbg => "dbg",
            Self::Dev => "dev",
            Self::Doc => "doc",
            Self::Test => "test",
        }
    }
}

impl FromStr for ArtifactComponent {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL
            .into_iter()
            .find(|component| component.word() == text)
            .ok_or(())
    }
}

impl fmt::Display for ArtifactComponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The name of a ROCm artifact, `blas_lib_gfx942`: the project, the component and the GPU target.
///
/// The GPU target is `generic` (any GPU), a family such as `gfx94X-dcgpu`, or a gfx target with
/// optional features, `gfx942:xnack+`. Source: ROCm/TheRock,
/// `build_tools/_therock_utils/artifacts.py`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArtifactName {
    name: String,
    component: ArtifactComponent,
    gpu_target: String,
}

/// The error of parsing an [`ArtifactName`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArtifactNameError {
    /// The text does not consist of three words joined with `_`.
    #[error("`{0}` is not an artifact name: expected `NAME_COMPONENT_GPUS`")]
    WordCount(String),
    /// One of the three words is invalid.
    #[error("`{name}` is not a valid artifact name: {reason}")]
    InvalidWord {
        /// The text.
        name: String,
        /// The invalid word and the reason.
        reason: String,
    },
}

impl ArtifactName {
    /// The GPU target of artifacts for any GPU.
    pub const GENERIC: &str = "generic";

    /// Returns the project, `blas`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the component.
    pub fn component(&self) -> ArtifactComponent {
        self.component
    }

    /// Returns the GPU target as written, `gfx942:xnack+`.
    pub fn gpu_target(&self) -> &str {
        &self.gpu_target
    }

    /// Returns the family or gfx target without features; `None` for any GPU.
    pub fn base(&self) -> Option<&str> {
        let base = self.gpu_target.split(':').next().unwrap_or_default();
        (base != Self::GENERIC).then_some(base)
    }
}

impl FromStr for ArtifactName {
    type Err = ArtifactNameError;
    fn from_str(text: &str) -> Result<Self, ArtifactNameError> {
        let words: Vec<&str> = text.split('_').collect();
        let [name, component, gpu_target] = words[..] else {
            return Err(ArtifactNameError::WordCount(text.to_owned()));
        };
        let fault = |reason: String| ArtifactNameError::InvalidWord {
            name: text.to_owned(),
            reason,
        };
        if [name, component, gpu_target].contains(&"") {
            return Err(ArtifactNameError::WordCount(text.to_owned()));
        }
        let is_of = |word: &str, more: &str| {
            word.chars()
                .all(|c| c.is_ascii_alphanumeric() || more.contains(c))
        };
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !is_of(name, "-") {
            return Err(fault(format!(
                "`{name}` must start with a letter and contain only letters, digits and `-`"
            )));
        }
        let component = component.parse().map_err(|()| {
            let known = ArtifactComponent::ALL
                .map(ArtifactComponent::word)
                .join(", ");
            fault(format!(
                "`{component}` is not one of the components {known}"
            ))
        })?;
        // The GPU target is written into filenames, metadata and Python sources.
        if !gpu_target.starts_with(|c: char| c.is_ascii_alphabetic()) || !is_of(gpu_target, "-:+") {
            return Err(fault(format!(
                "`{gpu_target}` is neither a family nor a gfx target"
            )));
        }
        Ok(Self {
            name: name.to_owned(),
            component,
            gpu_target: gpu_target.to_owned(),
        })
    }
}

impl fmt::Display for ArtifactName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}_{}", self.name, self.component, self.gpu_target)
    }
}

#[cfg(test)]
mod tests {
    use super::{ArtifactComponent, ArtifactName, ArtifactNameError};

    #[test]
    fn names_of_artifacts_round_trip_and_know_their_base() {
        for (text, base) in [
            ("blas_lib_gfx942", Some("gfx942")),
            ("blas_lib_gfx942:xnack+", Some("gfx942")),
            ("amd-llvm_dev_generic", None),
            ("fft_test_gfx94X-dcgpu", Some("gfx94X-dcgpu")),
        ] {
            let name: ArtifactName = text.parse().unwrap();
            assert_eq!((name.to_string().as_str(), name.base()), (text, base));
        }
        assert!(
            ArtifactComponent::Lib < ArtifactComponent::Run
                && ArtifactComponent::Doc < ArtifactComponent::Test
        );
    }

    #[test]
    fn a_wrong_number_of_words_differs_from_an_invalid_word() {
        for text in [
            "artifacts-unsplit",
            "blas_lib",
            "blas_lib_gfx942.fprint_x",
            "_lib_generic",
            ".flatten-x.stamp",
        ] {
            assert!(
                matches!(
                    text.parse::<ArtifactName>(),
                    Err(ArtifactNameError::WordCount(_))
                ),
                "{text}"
            );
        }
        for text in [
            "blas_libs_generic",
            "9blas_lib_generic",
            "x_lib_gfx9');import os#",
        ] {
            assert!(
                matches!(
                    text.parse::<ArtifactName>(),
                    Err(ArtifactNameError::InvalidWord { .. })
                ),
                "{text}"
            );
        }
    }
}
