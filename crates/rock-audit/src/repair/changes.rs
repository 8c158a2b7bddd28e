//! The changes of a repair.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::graft;
use super::tags::PlatformChoice;
use crate::provider::SystemLibrary;
use crate::redundant_copies::RedundantCopy;
use rock_diagnostic::Diagnostic;
use rock_elf::ElfEdits;
use rock_names::PlatformTags;

/// A library that is grafted.
#[derive(Debug, Clone)]
pub struct Graft {
    /// The library of the system.
    pub library: Arc<SystemLibrary>,
    /// All paths of the library; several ones have the same bytes.
    pub sources: BTreeSet<String>,
    /// The names it is needed under.
    pub needed_as: BTreeSet<String>,
    /// The file name in the wheel.
    pub name: String,
    /// The SHA-256 digest in hexadecimal; the file name contains the first 8 digits.
    pub digest: String,
    /// The size of the original file in bytes.
    pub size_bytes: u64,
    /// The edits of its SONAME, needed names and search path.
    pub edits: ElfEdits,
}

/// The changes that make a wheel comply with a platform.
#[derive(Debug, Clone)]
pub struct RepairChanges {
    /// The platform of the new name.
    pub platform: PlatformChoice,
    /// The directory of the grafted libraries; empty if only tags change.
    pub library_dir: String,
    /// The grafted libraries, sorted by file name.
    pub grafts: Vec<Graft>,
    /// The edits of files of the wheel, by path.
    pub edits: BTreeMap<String, ElfEdits>,
    /// Programs that are moved out of the scripts directory, by old path, with the new one.
    pub moved: BTreeMap<String, String>,
    /// Redundant copies that are removed, by path, with the path of the copy that stays.
    pub dropped: BTreeMap<String, String>,
    /// Paths of grafted libraries that the wheel already contains with the same bytes.
    pub present: BTreeSet<String>,
    /// Paths of grafted libraries that replace members with other bytes.
    pub replaced: BTreeSet<String>,
    /// Findings about the changes.
    pub findings: Vec<Diagnostic>,
}

impl RepairChanges {
    /// Creates changes without any file.
    pub(super) fn new(platform: PlatformChoice, library_dir: String) -> Self {
        Self {
            platform,
            library_dir,
            grafts: Vec::new(),
            edits: BTreeMap::new(),
            moved: BTreeMap::new(),
            dropped: BTreeMap::new(),
            present: BTreeSet::new(),
            replaced: BTreeSet::new(),
            findings: Vec::new(),
        }
    }

    /// Creates changes that only set the platform tags.
    pub(super) fn tags_only(tags: PlatformTags) -> Self {
        Self::new(PlatformChoice { policy: None, tags }, String::new())
    }

    /// Returns whether no file changes.
    pub fn keeps_files(&self) -> bool {
        self.grafts.is_empty()
            && self.edits.is_empty()
            && self.moved.is_empty()
            && self.dropped.is_empty()
    }

    /// Returns the path of a grafted library in the wheel.
    pub fn path_of(&self, graft: &Graft) -> String {
        format!("{}/{}", self.library_dir, graft.name)
    }

    /// Returns the paths of the grafted libraries in the wheel.
    pub fn graft_paths(&self) -> BTreeSet<String> {
        self.grafts
            .iter()
            .map(|graft| self.path_of(graft))
            .collect()
    }

    /// Records the members that have the paths of grafted libraries: those with the same bytes
    /// stay, and others are replaced. The name of such a member contains the start of the SHA-256
    /// digest of the library, so it is the same library, edited by another program, with other
    /// options, or by hand; files linked against one can load the other. auditwheel keeps the
    /// existing member, whatever its contents are.
    pub(super) fn record_existing_grafts(
        &mut self,
        file_name: &str,
        same: BTreeSet<String>,
        others: BTreeSet<String>,
    ) {
        for path in same.iter().chain(&others) {
            self.edits.remove(path);
            self.dropped.remove(path);
        }
        self.findings.extend(
            others
                .iter()
                .map(|path| graft::replaced_member(file_name, path)),
        );
        (self.present, self.replaced) = (same, others);
    }

    /// Removes redundant copies.
    pub(super) fn drop_copies(&mut self, copies: Vec<RedundantCopy>) {
        for copy in copies {
            self.edits.remove(&copy.path);
            self.dropped.insert(copy.path, copy.same_as);
        }
    }
}
