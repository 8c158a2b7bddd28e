//! Names of ROCm's build artifacts.

use std::fmt;
use std::str::FromStr;

/// A part of what a project installs. The order is that in which they claim files: what `lib` has,
/// `run` has not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Component {
    /// Shared libraries.
    Lib,
    /// What running needs beside them.
    Run,
    /// Debug information.
    Dbg,
    /// Headers, static libraries, CMake packages.
    Dev,
    /// Documents.
    Doc,
    /// Tests.
    Test,
}

impl Component {
    /// All of them, in their order.
    pub const ALL: [Self; 6] = [
        Self::Lib,
        Self::Run,
        Self::Dbg,
        Self::Dev,
        Self::Doc,
        Self::Test,
    ];

    /// The word in names.
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

impl FromStr for Component {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL
            .into_iter()
            .find(|component| component.word() == text)
            .ok_or(())
    }
}

impl fmt::Display for Component {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// The name of an artifact, `blas_lib_gfx942`: a project's name, a component, and the GPUs that it
/// is for.
///
/// The GPUs are `generic` (any), a family such as `gfx94X-dcgpu`, or one target, perhaps with
/// features: `gfx942:xnack+`. Source: ROCm/TheRock, `build_tools/_therock_utils/artifacts.py`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ArtifactName {
    name: String,
    component: Component,
    made_for: String,
}

/// Not the name of an artifact.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArtifactNameError {
    /// It is not of three words.
    #[error("`{0}` is not named `NAME_COMPONENT_GPUS`")]
    NotThree(String),
    /// It is, but they cannot be right.
    #[error("`{name}` is named like an artifact, but {reason}")]
    Word {
        /// The name.
        name: String,
        /// What is wrong with which word.
        reason: String,
    },
}

impl ArtifactName {
    /// What artifacts for any GPU have in place of a family.
    pub const GENERIC: &str = "generic";

    /// The project, `blas`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The component.
    pub fn component(&self) -> Component {
        self.component
    }

    /// The GPUs as written, `gfx942:xnack+`.
    pub fn made_for(&self) -> &str {
        &self.made_for
    }

    /// The family or target without features; `None` for any GPU.
    pub fn base(&self) -> Option<&str> {
        let base = self.made_for.split(':').next().unwrap_or_default();
        (base != Self::GENERIC).then_some(base)
    }
}

impl FromStr for ArtifactName {
    type Err = ArtifactNameError;
    fn from_str(text: &str) -> Result<Self, ArtifactNameError> {
        let words: Vec<&str> = text.split('_').collect();
        let [name, component, made_for] = words[..] else {
            return Err(ArtifactNameError::NotThree(text.to_owned()));
        };
        let fault = |reason: String| ArtifactNameError::Word {
            name: text.to_owned(),
            reason,
        };
        if [name, component, made_for].contains(&"") {
            return Err(ArtifactNameError::NotThree(text.to_owned()));
        }
        let is_of = |word: &str, more: &str| {
            word.chars()
                .all(|c| c.is_ascii_alphanumeric() || more.contains(c))
        };
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !is_of(name, "-") {
            return Err(fault(format!(
                "`{name}` is not a letter with letters, digits and `-`"
            )));
        }
        let component = component.parse().map_err(|()| {
            let known = Component::ALL.map(Component::word).join(", ");
            fault(format!("`{component}` is none of the components {known}"))
        })?;
        // It becomes part of file names, of metadata and of Python sources.
        if !made_for.starts_with(|c: char| c.is_ascii_alphabetic()) || !is_of(made_for, "-:+") {
            return Err(fault(format!(
                "`{made_for}` is no family and no gfx target"
            )));
        }
        Ok(Self {
            name: name.to_owned(),
            component,
            made_for: made_for.to_owned(),
        })
    }
}

impl fmt::Display for ArtifactName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}_{}_{}", self.name, self.component, self.made_for)
    }
}

#[cfg(test)]
mod tests {
    use super::{ArtifactName, ArtifactNameError, Component};

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
        assert!(Component::Lib < Component::Run && Component::Doc < Component::Test);
    }

    #[test]
    fn what_only_looks_like_an_artifact_is_told_from_what_does_not() {
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
                    Err(ArtifactNameError::NotThree(_))
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
                    Err(ArtifactNameError::Word { .. })
                ),
                "{text}"
            );
        }
    }
}
