//! What repairing a wheel takes: which platform it then is for, which libraries come along, what
//! changes in which file.

mod graft;
mod result;
mod rpath;
mod tags;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::copies::Needless;
use super::inspect::{FileFacts, FileKind};
use super::tree::{Excludes, MachineLibrary, is_libpython};
use super::verdict::Verdict;
use rock_diagnostic::Diagnostic;
use rock_elf::{ElfEdits, SearchPathEdit};
use rock_names::{TagSet, WheelName};

pub use graft::grafted_name;
pub use result::{Made, shortfalls};
pub use tags::{Platform, Wanted, unknown_platform};

/// How a wheel is repaired.
#[derive(Debug, Clone)]
pub struct Repair {
    /// The platform to reach.
    pub wanted: Wanted,
    /// Whether a better platform that the wheel also fits is left out of the name.
    pub only_wanted: bool,
    /// Whether claims that the symbols contradict stay in the name.
    pub keeps_claims: bool,
    /// Whether the platform tags stay as they are.
    pub keeps_tags: bool,
    /// What is added to the distribution's name for the folder of libraries, `.libs`.
    pub folder_ending: String,
    /// Whether search paths of files that need nothing else are mended, too.
    pub mends_paths: bool,
    /// Search paths from the root that stay.
    pub allowed_paths: Excludes,
    /// Libraries of ROCm, of which a process must hold one copy.
    pub of_rocm: Excludes,
    /// Paths of the wheel that something has, below folders that the plan may put files into.
    pub taken: BTreeSet<String>,
}

/// What tells a file from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fingerprint {
    /// Its SHA-256, in hexadecimal.
    pub digest: String,
    /// Its size, in bytes.
    pub size_bytes: u64,
}

/// A library that comes along.
#[derive(Debug, Clone)]
pub struct Graft {
    /// Where it is taken from.
    pub library: Arc<MachineLibrary>,
    /// All files that it is: where there are several, they are the same to the byte.
    pub sources: BTreeSet<String>,
    /// The names it is needed under.
    pub needed_as: BTreeSet<String>,
    /// Its name in the wheel.
    pub name: String,
    /// The first 8 digits of its SHA-256 stand in the name; this is all of it, in hexadecimal.
    pub digest: String,
    /// How large it is where it is taken from, in bytes.
    pub size_bytes: u64,
    /// What changes in it.
    pub edits: ElfEdits,
}

/// What repairing comes down to.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The platforms of the new name.
    pub platform: Platform,
    /// The folder of the libraries that come along.
    pub folder: String,
    /// The libraries that come along, by their names in the wheel.
    pub grafts: Vec<Graft>,
    /// What changes in files of the wheel, by path.
    pub edits: BTreeMap<String, ElfEdits>,
    /// Programs that move out of the folder of scripts: old path and new.
    pub moved: BTreeMap<String, String>,
    /// Copies of libraries that are left out, by path, each with the path of the one that stays.
    pub dropped: BTreeMap<String, String>,
    /// Libraries that come along and that the wheel holds already, by their paths, the same to the
    /// byte.
    pub present: BTreeSet<String>,
    /// Libraries that come along in the place of members of the wheel, by their paths: those have
    /// other bytes.
    pub replaced: BTreeSet<String>,
    /// What a person should know.
    pub findings: Vec<Diagnostic>,
}

impl Plan {
    /// Nothing but other platform tags.
    pub fn of_tags(tags: TagSet) -> Self {
        Self {
            platform: Platform {
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

    /// Whether every file stays as it is.
    pub fn keeps_files(&self) -> bool {
        self.grafts.is_empty()
            && self.edits.is_empty()
            && self.moved.is_empty()
            && self.dropped.is_empty()
    }

    /// Where a library that comes along lies in the wheel.
    pub fn path_of(&self, graft: &Graft) -> String {
        format!("{}/{}", self.folder, graft.name)
    }

    /// The libraries that come along, by their paths in the wheel.
    pub fn graft_paths(&self) -> BTreeSet<String> {
        self.grafts
            .iter()
            .map(|graft| self.path_of(graft))
            .collect()
    }

    /// Settles what becomes of members of the wheel that lie where libraries come along: those with
    /// the same bytes stay, and the others give way. The name of such a file has the start of the
    /// SHA-256 of the library that comes along, so it is the same library, made otherwise: by
    /// another program, with other options, or by hand. What was linked against the one fits the
    /// other. auditwheel leaves the one that is there, whatever is in it.
    pub fn settle(&mut self, name: &WheelName, same: BTreeSet<String>, others: BTreeSet<String>) {
        for path in same.iter().chain(&others) {
            self.edits.remove(path);
            self.dropped.remove(path);
        }
        self.findings
            .extend(others.iter().map(|path| graft::replaced(name, path)));
        (self.present, self.replaced) = (same, others);
    }

    /// Leaves copies of libraries out.
    pub fn drop_copies(&mut self, copies: Vec<Needless>) {
        for copy in copies {
            self.edits.remove(&copy.path);
            self.dropped.insert(copy.path, copy.same_as);
        }
    }
}

/// Reads a library of the machine.
pub type Digests<'a> = dyn FnMut(&MachineLibrary) -> Result<Fingerprint, Diagnostic> + 'a;

/// Decides what repairing a wheel takes.
///
/// # Errors
/// When the wanted platform cannot be reached, with the file and symbol in the way, when a library
/// is found nowhere, with who needs it, and when one that comes along would need two libraries
/// under one name.
pub fn plan(
    name: &WheelName,
    files: &[FileFacts],
    verdict: &Verdict<'_>,
    repair: &Repair,
    digests: &mut Digests<'_>,
) -> Result<Plan, Vec<Diagnostic>> {
    let platform = tags::choose(name, files, verdict, repair)?;
    let folder = format!("{}{}", name.distribution, repair.folder_ending);
    let mut findings = platform.findings.clone();
    let needs = graft::needs(name, files, verdict, &platform.policy)?;
    let (grafts, new_names) = graft::grafts(&needs, digests)?;
    let among = graft::among(name, files, &grafts, &new_names)?;
    findings.extend(
        grafts
            .iter()
            .filter_map(|graft| graft::of_rocm(name, graft, &repair.of_rocm)),
    );
    let along =
        |number: usize, needed: &String| new_names.get(&number).and_then(|own| own.get(needed));
    let (mut edits, mut moved) = (BTreeMap::new(), BTreeMap::new());
    for (number, file) in files.iter().enumerate() {
        let FileKind::Library(library) = &file.kind else {
            continue;
        };
        if !verdict.trees.contains_key(&number) {
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
        let installed = match rpath::program_outside(&file.path, name) {
            Some(new) if leads_out => {
                let new = rpath::free(new, &repair.taken);
                moved.insert(file.path.clone(), new.clone());
                new
            }
            _ => file.path.clone(),
        };
        own.rpath = match (leads_out, repair.mends_paths) {
            (true, _) => SearchPathEdit::Rpath(rpath::with_folder(
                library,
                &installed,
                &folder,
                &repair.allowed_paths,
            )),
            (false, true) => rpath::mended(library, &repair.allowed_paths),
            (false, false) => SearchPathEdit::Keep,
        };
        if own != ElfEdits::default() {
            edits.insert(file.path.clone(), own);
        }
    }
    let grafts = graft::with_edits(grafts, among);
    let tags = platform.tags.clone();
    Ok(Plan {
        platform,
        folder,
        grafts,
        edits,
        moved,
        findings,
        ..Plan::of_tags(tags)
    })
}
