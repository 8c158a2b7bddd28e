//! The edits of one file.

use std::collections::{BTreeMap, BTreeSet};

use super::super::ElfError;

/// Changes to the dynamic section of one file, applied together by [`edit`](super::edit).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ElfEdits {
    /// New SONAME; `None` keeps the current one.
    pub soname: Option<String>,
    /// New names of NEEDED libraries, keyed by the current name. Version needs are renamed, too.
    pub rename_needed: BTreeMap<String, String>,
    /// NEEDED libraries to remove. This takes precedence over
    /// [`rename_needed`](Self::rename_needed).
    pub remove_needed: BTreeSet<String>,
    /// Change of RPATH and RUNPATH.
    pub rpath: SearchPathEdit,
}

/// A change of the search path.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum SearchPathEdit {
    /// Keep RPATH and RUNPATH.
    #[default]
    Keep,
    /// Remove RPATH and RUNPATH.
    Remove,
    /// Set RPATH and remove RUNPATH; `LD_LIBRARY_PATH` cannot override it.
    Rpath(String),
    /// Set RUNPATH and remove RPATH.
    Runpath(String),
}

impl SearchPathEdit {
    /// Returns the new search path, if one is set.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Keep | Self::Remove => None,
            Self::Rpath(text) | Self::Runpath(text) => Some(text),
        }
    }
}

impl ElfEdits {
    /// Rejects strings that are empty or contain a zero byte.
    pub(super) fn check(&self) -> Result<(), ElfError> {
        let texts = self
            .soname
            .iter()
            .chain(self.rename_needed.values())
            .map(String::as_str);
        for text in texts.chain(self.rpath.text()) {
            if text.is_empty() || text.contains('\0') {
                return Err(ElfError::not_editable(format!(
                    "{text:?} is not a valid name or search path"
                )));
            }
        }
        Ok(())
    }
}
