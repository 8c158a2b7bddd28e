//! What may be changed in a file.

use std::collections::{BTreeMap, BTreeSet};

use super::super::ElfError;

/// Changes to the dynamic entries of one file, collected first and made at once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ElfEdits {
    /// The name that the library is to have; `None` leaves it as it is.
    pub soname: Option<String>,
    /// Needed libraries that get another name, by the name that they have. The versions that are
    /// needed of them follow.
    pub rename_needed: BTreeMap<String, String>,
    /// Needed libraries that are needed no longer. It has precedence over a rename.
    pub remove_needed: BTreeSet<String>,
    /// What becomes of the search path.
    pub rpath: SearchPath,
}

/// What becomes of RPATH and RUNPATH.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SearchPath {
    /// Both stay as they are.
    #[default]
    Keep,
    /// The file has neither.
    Clear,
    /// The file has this RPATH and no RUNPATH; `LD_LIBRARY_PATH` cannot override it.
    Rpath(String),
    /// The file has this RUNPATH and no RPATH.
    Runpath(String),
}

impl SearchPath {
    /// The text that is set, if one is.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Keep | Self::Clear => None,
            Self::Rpath(text) | Self::Runpath(text) => Some(text),
        }
    }
}

impl ElfEdits {
    /// Refuses texts that a table of strings cannot hold: empty ones, and those with a zero byte.
    pub(super) fn check(&self) -> Result<(), ElfError> {
        let texts = self
            .soname
            .iter()
            .chain(self.rename_needed.values())
            .map(String::as_str);
        for text in texts.chain(self.rpath.text()) {
            if text.is_empty() || text.contains('\0') {
                return Err(ElfError::refused(format!(
                    "{text:?} can be no name and no search path"
                )));
            }
        }
        Ok(())
    }
}
