//! Repairs of wheels: the platform, the grafts and the changes of files.

mod deviations;
mod graft;
mod options;
mod plan;
mod planner;
mod rpath;
mod tags;
mod write;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::compliance::Compliance;
use super::inspect::{InspectedFile, InspectedKind};
use super::pattern::LibraryPatterns;
use super::provider::SystemLibrary;
use super::redundant_copies::RedundantCopy;
use super::resolve::is_libpython;
use rock_diagnostic::Diagnostic;
use rock_elf::{ElfEdits, SearchPathEdit};
use rock_names::{TagSet, WheelName};

pub use options::RepairOptions;
pub use plan::{RepairError, RepairNote, RepairPlan};
pub use tags::PlatformChoice;
use tags::PlatformTarget;
pub use write::{RepairDestination, RepairedWheel};

/// Options of [`plan_changes`], and facts about the wheel.
#[derive(Debug, Clone)]
pub(crate) struct PlanOptions {
    /// The platform to comply with.
    pub target: PlatformTarget,
    /// Whether a better platform with which the wheel also complies is left out of the name.
    pub only_target: bool,
    /// Whether tags of the name that the symbols contradict stay.
    pub keeps_claims: bool,
    /// Whether the platform tags stay.
    pub keeps_tags: bool,
    /// Appended to the distribution name for the directory of grafted libraries, `.libs`.
    pub library_dir_suffix: String,
    /// Whether RPATH entries of files that need no graft are fixed, too.
    pub fixes_rpaths: bool,
    /// Absolute RPATH entries that stay.
    pub allowed_rpaths: LibraryPatterns,
    /// Libraries of ROCm, of which a process must load only one copy.
    pub rocm_libraries: LibraryPatterns,
    /// Paths of all members.
    pub existing_paths: BTreeSet<String>,
}

/// The size and digest of a library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LibraryDigest {
    /// SHA-256 in hexadecimal.
    pub digest: String,
    /// The size in bytes.
    pub size_bytes: u64,
}

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
    /// The edits.
    pub edits: ElfEdits,
}

/// The changes that make a wheel comply with a platform.
#[derive(Debug, Clone)]
pub struct RepairChanges {
    /// The platform of the new name.
    pub platform: PlatformChoice,
    /// The directory of the grafted libraries.
    pub folder: String,
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
    /// Creates changes that only set the platform tags.
    pub fn of_tags(tags: TagSet) -> Self {
        Self {
            platform: PlatformChoice {
                policy: String::new(),
                tags,
                findings: Vec::new(),
            },
            folder: String::new(),
            grafts: Vec::new(),
            edits: BTreeMap::new(),
            moved: BTreeMap::new(),
            dropped: BTreeMap::new(),
            present: BTreeSet::new(),
            replaced: BTreeSet::new(),
            findings: Vec::new(),
        }
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
        format!("{}/{}", self.folder, graft.name)
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
    pub fn settle(&mut self, name: &WheelName, same: BTreeSet<String>, others: BTreeSet<String>) {
        for path in same.iter().chain(&others) {
            self.edits.remove(path);
            self.dropped.remove(path);
        }
        self.findings
            .extend(others.iter().map(|path| graft::replaced_member(name, path)));
        (self.present, self.replaced) = (same, others);
    }

    /// Removes redundant copies.
    pub fn drop_copies(&mut self, copies: Vec<RedundantCopy>) {
        for copy in copies {
            self.edits.remove(&copy.path);
            self.dropped.insert(copy.path, copy.same_as);
        }
    }
}

/// Returns the size and digest of a library of the system.
pub(crate) type DigestLibrary<'a> =
    dyn FnMut(&SystemLibrary) -> Result<LibraryDigest, Diagnostic> + 'a;

/// Plans the changes of a wheel.
///
/// # Errors
/// Returns an error if the platform cannot be complied with, naming the file and symbol; if a
/// library is not found, naming the files that need it; and if a grafted library would need two
/// libraries under one name.
pub(crate) fn plan_changes(
    name: &WheelName,
    files: &[InspectedFile],
    compliance: &Compliance,
    options: &PlanOptions,
    digests: &mut DigestLibrary<'_>,
) -> Result<RepairChanges, Vec<Diagnostic>> {
    let platform = tags::choose_platform(name, files, compliance, options)?;
    let folder = format!("{}{}", name.distribution(), options.library_dir_suffix);
    let mut findings = platform.findings.clone();
    let needs = graft::needs(name, files, compliance, &platform.policy)?;
    let (grafts, new_names) = graft::grafts(&needs, digests)?;
    let among = graft::graft_dependencies(name, files, &grafts, &new_names)?;
    findings.extend(
        grafts
            .iter()
            .filter_map(|graft| graft::grafted_rocm_library(name, graft, &options.rocm_libraries)),
    );
    let along =
        |number: usize, needed: &String| new_names.get(&number).and_then(|own| own.get(needed));
    let (mut edits, mut moved) = (BTreeMap::new(), BTreeMap::new());
    for (number, file) in files.iter().enumerate() {
        let InspectedKind::Library(library) = &file.kind else {
            continue;
        };
        if !compliance.trees.contains_key(&number) {
            continue;
        }
        let mut own = ElfEdits::default();
        for needed in &library.needed {
            if let Some(new) = along(number, needed).filter(|new| *new != needed) {
                own.rename_needed.insert(needed.clone(), new.clone());
            }
            if library.extension.is_some() && is_libpython(needed) {
                own.remove_needed.insert(needed.clone());
                findings.push(graft::libpython_removed(name, &file.path, needed));
            }
        }
        let leads_out = needs.contains_key(&number);
        let installed = match rpath::moved_program_path(&file.path, name) {
            Some(new) if leads_out => {
                let new = rpath::unused_path(new, &options.existing_paths);
                moved.insert(file.path.clone(), new.clone());
                new
            }
            _ => file.path.clone(),
        };
        own.rpath = match (leads_out, options.fixes_rpaths) {
            (true, _) => SearchPathEdit::Rpath(rpath::with_directory(
                library,
                &installed,
                &folder,
                &options.allowed_rpaths,
            )),
            (false, true) => rpath::fixed_search_path(library, &options.allowed_rpaths),
            (false, false) => SearchPathEdit::Keep,
        };
        if own != ElfEdits::default() {
            edits.insert(file.path.clone(), own);
        }
    }
    let grafts = graft::with_edits(grafts, among);
    let tags = platform.tags.clone();
    Ok(RepairChanges {
        platform,
        folder,
        grafts,
        edits,
        moved,
        findings,
        ..RepairChanges::of_tags(tags)
    })
}
