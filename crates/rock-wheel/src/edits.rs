//! What changes in a wheel.

use std::collections::{BTreeMap, BTreeSet};

use super::MemberContent;
use super::zip::MemberOptions;

/// What changes in a wheel; names are those in the old one, also the folders of added members.
#[derive(Debug, Clone, Default)]
pub struct WheelEdits<'c> {
    /// New names of top-level folders.
    pub renamed_dirs: BTreeMap<String, String>,
    /// New names of single members, which the folders' new names do not touch.
    pub renamed: BTreeMap<String, String>,
    /// New contents of members.
    pub replaced: BTreeMap<String, MemberContent<'c>>,
    /// Members left out.
    pub removed: BTreeSet<String>,
    /// Members whose old content was held against RECORD by [`Vouching`](super::Vouching): it is
    /// not read for that again.
    pub verified: BTreeSet<String>,
    /// Members that were not there.
    pub added: BTreeMap<String, AddedMember<'c>>,
}

/// A member that was not there.
#[derive(Debug, Clone)]
pub struct AddedMember<'c> {
    /// What it holds.
    pub content: MemberContent<'c>,
    /// Type and permission bits of Unix.
    pub unix_mode: u32,
}

impl<'c> AddedMember<'c> {
    /// A text or another file that nobody runs.
    pub fn plain(content: impl Into<MemberContent<'c>>) -> Self {
        Self {
            content: content.into(),
            unix_mode: MemberOptions::PLAIN_MODE,
        }
    }

    /// A library or a program.
    pub fn executable(content: impl Into<MemberContent<'c>>) -> Self {
        Self {
            content: content.into(),
            unix_mode: MemberOptions::EXECUTABLE_MODE,
        }
    }
}

impl WheelEdits<'_> {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.renamed_dirs.is_empty()
            && self.renamed.is_empty()
            && self.replaced.is_empty()
            && self.removed.is_empty()
            && self.added.is_empty()
    }

    /// The name of a member in the new wheel.
    pub fn new_name(&self, name: &str) -> String {
        self.renamed
            .get(name)
            .cloned()
            .unwrap_or_else(|| self.renamed_path(name))
    }

    /// A name in the new wheel of what lies in this folder of the old one.
    pub(super) fn renamed_path(&self, name: &str) -> String {
        let renamed = name
            .split_once('/')
            .and_then(|(top, rest)| Some((self.renamed_dirs.get(top)?, rest)));
        renamed.map_or_else(|| name.to_owned(), |(top, rest)| format!("{top}/{rest}"))
    }

    /// Names that must be members of the old wheel.
    pub(super) fn edited_names(&self) -> impl Iterator<Item = &String> {
        self.renamed
            .keys()
            .chain(self.replaced.keys())
            .chain(&self.removed)
    }
}
