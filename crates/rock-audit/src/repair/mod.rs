//! Repairs of wheels: the platform, the grafts and the changes of files.

mod deviations;
mod graft;
mod library_dir_suffix;
mod new_errors;
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
use super::library::ElfLibrary;
use super::pattern::LibraryPatterns;
use super::provider::SystemLibrary;
use super::redundant_copies::RedundantCopy;
use super::resolve::is_libpython;
use rock_diagnostic::Diagnostic;
use rock_elf::{ElfEdits, SearchPathEdit};
use rock_names::{TagSet, WheelName};

use graft::GraftNeeds;
pub use library_dir_suffix::{LibraryDirSuffix, LibraryDirSuffixError};
pub use options::RepairOptions;
pub use plan::{RepairError, RepairNote, RepairPlan};
pub use tags::PlatformChoice;
use tags::PlatformTarget;
pub use write::{RepairDestination, RepairOutcome, RepairedWheel};

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
    pub library_dir_suffix: LibraryDirSuffix,
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
    /// Creates changes that only set the platform tags.
    fn tags_only(tags: TagSet) -> Self {
        Self {
            platform: PlatformChoice { policy: None, tags },
            library_dir: String::new(),
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
    fn record_existing_grafts(
        &mut self,
        name: &WheelName,
        same: BTreeSet<String>,
        others: BTreeSet<String>,
    ) {
        for path in same.iter().chain(&others) {
            self.edits.remove(path);
            self.dropped.remove(path);
        }
        self.findings
            .extend(others.iter().map(|path| graft::replaced_member(name, path)));
        (self.present, self.replaced) = (same, others);
    }

    /// Removes redundant copies.
    fn drop_copies(&mut self, copies: Vec<RedundantCopy>) {
        for copy in copies {
            self.edits.remove(&copy.path);
            self.dropped.insert(copy.path, copy.same_as);
        }
    }
}

/// A function that returns the size and digest of a library of the system.
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
    let (platform, mut findings) = tags::choose_platform(name, files, compliance, options)?;
    let needs = match platform.policy {
        Some(policy) => {
            graft::libraries_to_graft(name, files, compliance, compliance.policy(policy))?
        }
        None => GraftNeeds::new(),
    };
    let (mut grafts, graft_names) = graft::grafts(&needs, digests)?;
    let renames_by_graft = graft::graft_renames(name, files, &grafts, &graft_names)?;
    for graft in &mut grafts {
        graft.edits = graft::graft_edits(graft, &renames_by_graft);
    }
    findings.extend(
        grafts
            .iter()
            .filter_map(|graft| graft::grafted_rocm_library(name, graft, &options.rocm_libraries)),
    );
    let planner = FilePlanner {
        name,
        library_dir: format!("{}{}", name.distribution(), options.library_dir_suffix),
        options,
    };
    let (mut edits, mut moved) = (BTreeMap::new(), BTreeMap::new());
    for (file_index, file) in files.iter().enumerate() {
        let InspectedKind::Library(library) = &file.kind else {
            continue;
        };
        if !compliance.trees.contains_key(&file_index) {
            continue;
        }
        if library.extension.is_some() {
            let removed = library.needed.iter().filter(|needed| is_libpython(needed));
            findings
                .extend(removed.map(|needed| graft::libpython_removed(name, &file.path, needed)));
        }
        let file_grafts = graft_names.get(&file_index);
        let (file_edits, new_path) = planner.plan(&file.path, library, file_grafts);
        moved.extend(new_path.map(|new_path| (file.path.clone(), new_path)));
        if file_edits != ElfEdits::default() {
            edits.insert(file.path.clone(), file_edits);
        }
    }
    Ok(RepairChanges {
        platform,
        library_dir: planner.library_dir,
        grafts,
        edits,
        moved,
        dropped: BTreeMap::new(),
        present: BTreeSet::new(),
        replaced: BTreeSet::new(),
        findings,
    })
}

/// The options that the changes of each file depend on.
struct FilePlanner<'o> {
    name: &'o WheelName,
    /// The directory of the grafted libraries.
    library_dir: String,
    options: &'o PlanOptions,
}

impl FilePlanner<'_> {
    /// Returns the edits of a library of the wheel, and its new path if it is moved. `graft_names`
    /// are the names of the grafts that it leads to, by the name they are needed under; `None` if it
    /// leads to none.
    fn plan(
        &self,
        path: &str,
        library: &ElfLibrary,
        graft_names: Option<&BTreeMap<String, String>>,
    ) -> (ElfEdits, Option<String>) {
        let mut edits = ElfEdits::default();
        for needed in &library.needed {
            let new_name = graft_names.and_then(|names| names.get(needed));
            if let Some(new_name) = new_name.filter(|new_name| *new_name != needed) {
                edits.rename_needed.insert(needed.clone(), new_name.clone());
            }
            if library.extension.is_some() && is_libpython(needed) {
                edits.remove_needed.insert(needed.clone());
            }
        }
        if graft_names.is_none() {
            if self.options.fixes_rpaths {
                edits.rpath = rpath::fixed_search_path(library, &self.options.allowed_rpaths);
            }
            return (edits, None);
        }
        let new_path = rpath::moved_program_path(path, self.name)
            .map(|path| rpath::unused_path(path, &self.options.existing_paths));
        // RPATH, and never RUNPATH, which does not apply to the dependencies of dependencies.
        edits.rpath = SearchPathEdit::Rpath(rpath::with_directory(
            library,
            new_path.as_deref().unwrap_or(path),
            &self.library_dir,
            &self.options.allowed_rpaths,
        ));
        (edits, new_path)
    }
}
