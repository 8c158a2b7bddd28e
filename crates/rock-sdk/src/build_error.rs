//! The error of a build of packages.

use rock_diagnostic::{Diagnostic, Diagnostics};
use rock_sys::{FileError, StopSignal};

/// The reason for which packages were not written.
#[derive(Debug, thiserror::Error)]
pub enum SdkBuildError {
    /// Errors of artifacts, options or files.
    #[error(transparent)]
    Diagnostics(Diagnostics),
    /// A signal was received.
    #[error("stopped by {0:?}")]
    Stopped(StopSignal),
}

impl From<Diagnostics> for SdkBuildError {
    fn from(diagnostics: Diagnostics) -> Self {
        Self::Diagnostics(diagnostics)
    }
}

impl From<Vec<Diagnostic>> for SdkBuildError {
    fn from(diagnostics: Vec<Diagnostic>) -> Self {
        Self::Diagnostics(diagnostics.into())
    }
}

impl From<Diagnostic> for SdkBuildError {
    fn from(diagnostic: Diagnostic) -> Self {
        Self::Diagnostics(diagnostic.into())
    }
}

impl From<FileError> for SdkBuildError {
    fn from(error: FileError) -> Self {
        Self::Diagnostics(error.into())
    }
}
