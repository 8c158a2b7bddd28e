//! The settings of an index: its directory, the links to its files, and the action of a run.

use std::path::{Path, PathBuf};

use rock_diagnostic::{Diagnostic, Diagnostics, shell_quoted};
use rock_index::{BaseUrl, FileLinks};

use crate::codes::release as codes;
use crate::index_directory::is_index;
use crate::{PublishedSource, check_index_target, is_below, relative_steps};

/// The settings of an index.
#[derive(Debug, Clone)]
pub struct IndexOptions {
    /// The directory of the pages.
    pub out: PathBuf,
    /// The directory of the wheels; `None` for published releases.
    pub wheels: Option<PathBuf>,
    /// The base URL of the files; `None` for relative links.
    pub base_url: Option<BaseUrl>,
    /// Whether METADATA files are neither written nor linked.
    pub omits_metadata: bool,
    /// The action of the run.
    pub action: IndexAction,
}

/// The action of a run on an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexAction {
    /// Write the index.
    Build,
    /// Yank and unyank files, and change nothing else.
    Edit,
    /// Report what [`Self::Edit`] would change, and write nothing.
    Preview,
}

impl IndexOptions {
    /// Checks the directory of the pages, which will be replaced: it is new, empty or an index of
    /// this program, and does not contain the wheels.
    ///
    /// # Errors
    /// It is not, or it cannot be read.
    pub fn check_target(&self) -> Result<(), Diagnostics> {
        match check_index_target(&self.out, self.wheels.as_deref())? {
            Some(error) => Err(error.into()),
            None => Ok(()),
        }
    }

    /// Checks that the index of a directory of wheels exists if the action is an edit. An edit may
    /// create that of published releases, with its yanks.
    ///
    /// # Errors
    /// It does not exist.
    pub(crate) fn check_edited(&self) -> Result<(), Diagnostic> {
        let Some(wheels) = &self.wheels else {
            return Ok(());
        };
        if !self.action.is_edit() || is_index(&self.out) {
            return Ok(());
        }
        Err(Diagnostic::new(
            &codes::NOT_AN_INDEX,
            format!("there is no index in `{}`", self.out.display()),
        )
        .help(format!(
            "pass the directory of its pages with `--out`, or build it with `rock-matrix index \
             build {}`",
            shell_quoted(wheels)
        )))
    }

    /// Returns the links to files without an origin.
    pub(crate) fn links(&self) -> FileLinks {
        match &self.base_url {
            Some(base) => FileLinks::Absolute(base.clone()),
            None => FileLinks::Relative(relative_steps(&self.out, self.wheel_directory())),
        }
    }

    /// Returns the directory of the wheels, by default the current one.
    pub(crate) fn wheel_directory(&self) -> &Path {
        self.wheels.as_deref().unwrap_or(Path::new("."))
    }

    /// Returns the directory of METADATA files that belong to the index: that of the wheels if the
    /// pages are below it, so that one server or upload has both. Otherwise the wheels are only
    /// read.
    pub(crate) fn metadata_directory(&self) -> Option<&Path> {
        let wheels = self.wheels.as_deref();
        wheels.filter(|wheels| is_below(&self.out, wheels))
    }

    /// Returns the links to the files of a source, which are in this directory.
    pub(crate) fn links_of<M>(&self, source: &PublishedSource<M>, directory: &Path) -> FileLinks {
        match &self.base_url {
            Some(base) => FileLinks::Absolute(base.below(source.subdirectory())),
            None => FileLinks::Relative(relative_steps(&self.out, directory)),
        }
    }
}

impl IndexAction {
    /// Whether only yanks change.
    pub(crate) fn is_edit(self) -> bool {
        match self {
            Self::Build => false,
            Self::Edit | Self::Preview => true,
        }
    }

    /// Whether the index is written.
    pub(crate) fn is_applied(self) -> bool {
        match self {
            Self::Build | Self::Edit => true,
            Self::Preview => false,
        }
    }
}
