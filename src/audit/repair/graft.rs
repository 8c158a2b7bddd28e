//! Libraries that come along.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Digests, Fingerprint, Graft};
use crate::audit::inspect::FileFacts;
use crate::audit::tree::{Excludes, Found, MachineLibrary, is_libpython};
use crate::audit::verdict::Verdict;
use crate::diagnostic::registry::{elf, rocm, wheel as codes};
use crate::diagnostic::{Diagnostic, Place};
use crate::elf::{ElfEdits, SearchPath};
use crate::names::WheelName;

/// What comes along, and who needs it.
#[derive(Debug)]
pub(super) struct Needs {
    /// Libraries by the name they are needed under.
    libraries: BTreeMap<String, Arc<MachineLibrary>>,
    /// The numbers of the files that need one of them.
    pub(super) users: BTreeSet<usize>,
}

pub(super) fn needs(
    name: &WheelName,
    files: &[FileFacts],
    verdict: &Verdict<'_>,
    policy: &str,
) -> Result<Needs, Vec<Diagnostic>> {
    let mut needs = Needs { libraries: BTreeMap::new(), users: BTreeSet::new() };
    let mut missing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (number, references) in &verdict.by_file {
        for (needed, found) in
            references.iter().filter(|one| one.policy.name() == policy).flat_map(|one| &one.libraries)
        {
            match found {
                Found::Machine(library) => {
                    needs.libraries.insert(needed.clone(), Arc::clone(library));
                    needs.users.insert(*number);
                }
                Found::Nowhere if is_libpython(needed) => {}
                Found::Nowhere => {
                    missing.entry(needed).or_default().insert(&files[*number].path);
                }
                Found::Wheel(_) | Found::Given => {}
            }
        }
    }
    if missing.is_empty() {
        return Ok(needs);
    }
    let faults = missing.into_iter().map(|(needed, users)| {
        let users: Vec<&str> = users.into_iter().collect();
        let verb = if users.len() == 1 { "needs" } else { "need" };
        let message = format!("`{needed}` is found nowhere, and {} {verb} it", users.join(", "));
        Diagnostic::new(&codes::LIBRARY_NOT_FOUND, message)
            .at(Place::File(name.to_string().into()), "")
            .help("say where it lies with `--ldpaths` or `--sysroot`, or leave it out with `--exclude`")
    });
    Err(faults.collect())
}

/// The name of a library in the wheel: the start of its SHA-256 keeps it apart from others of its name.
pub fn grafted_name(file_name: &str, digest: &str) -> String {
    let (base, ending) = file_name.split_at(file_name.find('.').unwrap_or(file_name.len()));
    let short = digest.get(..8).unwrap_or(digest);
    if base.ends_with(&format!("-{short}")) {
        return file_name.to_owned();
    }
    format!("{base}-{short}{ending}")
}

/// The libraries, each once, under their new names.
pub(super) fn grafts(needs: &Needs, digests: &mut Digests<'_>) -> Result<Vec<Graft>, Vec<Diagnostic>> {
    let mut grafts: BTreeMap<String, Graft> = BTreeMap::new();
    let mut faults = Vec::new();
    for (needed, library) in &needs.libraries {
        let Fingerprint { digest, size_bytes } = match digests(library) {
            Ok(fingerprint) => fingerprint,
            Err(fault) => {
                faults.push(fault);
                continue;
            }
        };
        let file_name = library.real_path.rsplit('/').next().unwrap_or(&library.real_path);
        let name = grafted_name(file_name, &digest);
        let graft = grafts.entry(name.clone()).or_insert_with(|| Graft {
            library: Arc::clone(library),
            needed_as: BTreeSet::new(),
            name,
            digest,
            size_bytes,
            edits: ElfEdits::default(),
        });
        graft.needed_as.insert(needed.clone());
    }
    if faults.is_empty() { Ok(grafts.into_values().collect()) } else { Err(faults) }
}

/// A library of ROCm that comes along: beside the one that torch brings, it makes two runtimes in one process.
pub(super) fn of_rocm(name: &WheelName, graft: &Graft, is_of_rocm: &Excludes) -> Option<Diagnostic> {
    let needed = graft.needed_as.iter().find(|needed| is_of_rocm.has(needed))?;
    let message = format!("`{needed}` is a library of ROCm, and comes along into the wheel");
    let finding = Diagnostic::new(&rocm::VENDORED_ROCM, message).at(Place::File(name.to_string().into()), "");
    Some(finding.help("leave it to ROCm itself with `--exclude-preset rocm`"))
}

/// The libraries with what changes in them: their own names, the names of those that come along, and the search path.
pub(super) fn with_edits(grafts: Vec<Graft>, new_names: &BTreeMap<String, String>) -> Vec<Graft> {
    let with = |mut graft: Graft| {
        let library = &graft.library.library;
        let renamed = library.needed.iter().filter_map(|needed| Some((needed.clone(), new_names.get(needed)?.clone())));
        let rename_needed: BTreeMap<String, String> = renamed.collect();
        let needs_neighbours = !rename_needed.is_empty();
        graft.edits = ElfEdits {
            soname: Some(graft.name.clone()),
            rename_needed,
            remove_needed: BTreeSet::new(),
            rpath: if needs_neighbours { SearchPath::Rpath("$ORIGIN".to_owned()) } else { SearchPath::Clear },
        };
        graft
    };
    grafts.into_iter().map(with).collect()
}

/// A member of the wheel that lies where a library comes along, and is another file.
pub(super) fn replaced(name: &WheelName, path: &str) -> Diagnostic {
    let place = Place::Member { wheel: name.to_string(), member: path.to_owned() };
    let message = "the library that comes along under this name has other bytes, and takes its place";
    let finding = Diagnostic::new(&codes::GRAFT_REPLACES_MEMBER, message).at(place, "");
    finding.help("repair the wheel as it was built, or put what comes along into another folder with `--lib-sdir`")
}

pub(super) fn libpython_removed(name: &WheelName, path: &str, needed: &str) -> Diagnostic {
    let place = Place::Member { wheel: name.to_string(), member: path.to_owned() };
    Diagnostic::new(
        &elf::NEEDS_LIBPYTHON,
        format!("`{needed}` is needed no longer: the interpreter offers its symbols"),
    )
    .at(place, "")
}

#[cfg(test)]
mod tests {
    use super::grafted_name;

    #[test]
    fn a_hash_stands_before_the_first_dot_and_only_once() {
        let digest = "1a2b3c4d5e";
        assert_eq!(grafted_name("libelf-0.188.so", digest), "libelf-0-1a2b3c4d.188.so");
        assert_eq!(grafted_name("libdrm.so.2.4.0", digest), "libdrm-1a2b3c4d.so.2.4.0");
        assert_eq!(grafted_name("plainbar", digest), "plainbar-1a2b3c4d", "nothing stands behind no dot");
        assert_eq!(grafted_name("libdrm-1a2b3c4d.so.2.4.0", digest), "libdrm-1a2b3c4d.so.2.4.0");
    }
}
