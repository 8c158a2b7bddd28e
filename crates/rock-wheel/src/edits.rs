//! Edits of a wheel.

use std::collections::{BTreeMap, BTreeSet};

use super::MemberContent;
use super::zip::MemberOptions;

/// Edits of a wheel. All names are those of the old wheel; added members are in its old
/// directories.
#[derive(Debug, Clone, Default)]
pub struct WheelEdits<'c> {
    /// New names of top-level directories, by old name.
    pub renamed_dirs: BTreeMap<String, String>,
    /// New names of single members, by old name; not affected by `renamed_dirs`.
    pub renamed: BTreeMap<String, String>,
    /// New contents of members, by name.
    pub replaced: BTreeMap<String, MemberContent<'c>>,
    /// Members to remove.
    pub removed: BTreeSet<String>,
    /// Members whose old content was verified by a [`RecordVerifier`](super::RecordVerifier), and
    /// is not read again.
    pub verified: BTreeSet<String>,
    /// New members, by name.
    pub added: BTreeMap<String, AddedMember<'c>>,
}

/// A member that the old wheel does not have.
#[derive(Debug, Clone)]
pub struct AddedMember<'c> {
    /// Its content.
    pub content: MemberContent<'c>,
    /// Unix file type and permissions.
    pub unix_mode: u32,
}

impl<'c> AddedMember<'c> {
    /// Creates a member that is not executable.
    pub fn plain(content: impl Into<MemberContent<'c>>) -> Self {
        Self {
            content: content.into(),
            unix_mode: MemberOptions::PLAIN_MODE,
        }
    }

    /// Creates an executable member: a program or library.
    pub fn executable(content: impl Into<MemberContent<'c>>) -> Self {
        Self {
            content: content.into(),
            unix_mode: MemberOptions::EXECUTABLE_MODE,
        }
    }
}

impl WheelEdits<'_> {
    /// Returns whether there are no edits.
    pub fn is_empty(&self) -> bool {
        self.renamed_dirs.is_empty()
            && self.renamed.is_empty()
            && self.replaced.is_empty()
            && self.removed.is_empty()
            && self.added.is_empty()
    }

    /// Returns the name of a member in the new wheel.
    pub fn new_name(&self, name: &str) -> String {
        self.renamed
            .get(name)
            .cloned()
            .unwrap_or_else(|| self.renamed_path(name))
    }

    /// Returns a name with its top-level directory renamed.
    pub(super) fn renamed_path(&self, name: &str) -> String {
        let renamed = name
            .split_once('/')
            .and_then(|(top, rest)| Some((self.renamed_dirs.get(top)?, rest)));
        renamed.map_or_else(|| name.to_owned(), |(top, rest)| format!("{top}/{rest}"))
    }

    /// Returns the names that must exist in the old wheel.
    pub(super) fn edited_names(&self) -> impl Iterator<Item = &String> {
        self.renamed
            .keys()
            .chain(self.replaced.keys())
            .chain(&self.removed)
    }
}
