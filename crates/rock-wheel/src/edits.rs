//! What changes in a wheel.

use std::collections::{BTreeMap, BTreeSet};

use super::Content;
use super::zip::NewMember;

/// What changes in a wheel; names are those in the old one, also the folders of added members.
#[derive(Debug, Clone, Default)]
pub struct Edits<'c> {
    /// New names of top-level folders.
    pub renamed_folders: BTreeMap<String, String>,
    /// New names of single members, which the folders' new names do not touch.
    pub renamed: BTreeMap<String, String>,
    /// New contents of members.
    pub replaced: BTreeMap<String, Content<'c>>,
    /// Members left out.
    pub removed: BTreeSet<String>,
    /// Members whose old content was held against RECORD by [`Vouching`](super::Vouching): it is
    /// not read for that again.
    pub vouched: BTreeSet<String>,
    /// Members that were not there.
    pub added: BTreeMap<String, Added<'c>>,
}

/// A member that was not there.
#[derive(Debug, Clone)]
pub struct Added<'c> {
    /// What it holds.
    pub content: Content<'c>,
    /// Type and permission bits of Unix.
    pub unix_mode: u32,
}

impl<'c> Added<'c> {
    /// A text or another file that nobody runs.
    pub fn plain(content: impl Into<Content<'c>>) -> Self {
        Self {
            content: content.into(),
            unix_mode: NewMember::PLAIN_MODE,
        }
    }

    /// A library or a program.
    pub fn executable(content: impl Into<Content<'c>>) -> Self {
        Self {
            content: content.into(),
            unix_mode: NewMember::EXECUTABLE_MODE,
        }
    }
}

impl Edits<'_> {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.renamed_folders.is_empty()
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
            .unwrap_or_else(|| self.in_new_folder(name))
    }

    /// A name in the new wheel of what lies in this folder of the old one.
    pub(super) fn in_new_folder(&self, name: &str) -> String {
        let renamed = name
            .split_once('/')
            .and_then(|(top, rest)| Some((self.renamed_folders.get(top)?, rest)));
        renamed.map_or_else(|| name.to_owned(), |(top, rest)| format!("{top}/{rest}"))
    }

    /// Names that must be members of the old wheel.
    pub(super) fn expected(&self) -> impl Iterator<Item = &String> {
        self.renamed
            .keys()
            .chain(self.replaced.keys())
            .chain(&self.removed)
    }
}
