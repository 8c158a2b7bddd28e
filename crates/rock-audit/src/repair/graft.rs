//! Libraries that come along.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Digests, Fingerprint, Graft};
use crate::codes::{elf, rocm, wheel as codes};
use crate::inspect::FileFacts;
use crate::tree::{Excludes, Found, MachineLibrary, is_libpython};
use crate::verdict::Verdict;
use rock_diagnostic::{Diagnostic, Location};
use rock_elf::{ElfEdits, SearchPathEdit};
use rock_names::WheelName;

/// What comes along: for each file that leads to libraries from elsewhere, by its number, these
/// libraries by the names that they are needed under. Under one name, two files may find two
/// libraries.
pub(super) type Needs = BTreeMap<usize, BTreeMap<String, Arc<MachineLibrary>>>;

/// For each file, by its number, the names in the wheel of what comes along for it, by the names it
/// is needed under.
pub(super) type NewNames = BTreeMap<usize, BTreeMap<String, String>>;

pub(super) fn needs(
    name: &WheelName,
    files: &[FileFacts],
    verdict: &Verdict<'_>,
    policy: &str,
) -> Result<Needs, Vec<Diagnostic>> {
    let mut needs = Needs::new();
    let mut missing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (number, references) in &verdict.by_file {
        for (needed, found) in references
            .iter()
            .filter(|one| one.policy.name() == policy)
            .flat_map(|one| &one.libraries)
        {
            match found {
                Found::Machine(library) => {
                    needs
                        .entry(*number)
                        .or_default()
                        .insert(needed.clone(), Arc::clone(library));
                }
                Found::Nowhere if is_libpython(needed) => {}
                Found::Nowhere => {
                    missing
                        .entry(needed)
                        .or_default()
                        .insert(&files[*number].path);
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
            .at(Location::File(name.to_string().into()), "")
            .help("say where it lies with `--ldpaths` or `--sysroot`, or leave it out with `--exclude`")
    });
    Err(faults.collect())
}

/// The name of a library in the wheel: the start of its SHA-256 keeps it apart from others of its
/// name.
pub fn grafted_name(file_name: &str, digest: &str) -> String {
    let (base, ending) = file_name.split_at(file_name.find('.').unwrap_or(file_name.len()));
    let short = digest.get(..8).unwrap_or(digest);
    if base.ends_with(&format!("-{short}")) {
        return file_name.to_owned();
    }
    format!("{base}-{short}{ending}")
}

/// The libraries, each once, and under which names the files find them.
pub(super) fn grafts(
    needs: &Needs,
    digests: &mut Digests<'_>,
) -> Result<(Vec<Graft>, NewNames), Vec<Diagnostic>> {
    let mut grafts: BTreeMap<String, Graft> = BTreeMap::new();
    // The names in the wheel, by the files that they are taken from.
    let mut named: BTreeMap<&str, String> = BTreeMap::new();
    let mut new_names = NewNames::new();
    let mut faults = Vec::new();
    let libraries: BTreeMap<&str, &Arc<MachineLibrary>> = needs
        .values()
        .flat_map(BTreeMap::values)
        .map(|library| (library.real_path.as_str(), library))
        .collect();
    for (path, library) in libraries {
        let Fingerprint { digest, size_bytes } = match digests(library) {
            Ok(fingerprint) => fingerprint,
            Err(fault) => {
                faults.push(fault);
                continue;
            }
        };
        let name = grafted_name(path.rsplit('/').next().unwrap_or(path), &digest);
        named.insert(path, name.clone());
        let graft = grafts.entry(name.clone()).or_insert_with(|| Graft {
            library: Arc::clone(library),
            sources: BTreeSet::new(),
            needed_as: BTreeSet::new(),
            name,
            digest,
            size_bytes,
            edits: ElfEdits::default(),
        });
        graft.sources.insert(path.to_owned());
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    for (number, libraries) in needs {
        for (needed, library) in libraries {
            let Some(name) = named.get(library.real_path.as_str()) else {
                continue;
            };
            new_names
                .entry(*number)
                .or_default()
                .insert(needed.clone(), name.clone());
            if let Some(graft) = grafts.get_mut(name) {
                graft.needed_as.insert(needed.clone());
            }
        }
    }
    Ok((grafts.into_values().collect(), new_names))
}

/// A library of ROCm that comes along: beside the one that torch brings, it makes two runtimes in
/// one process.
pub(super) fn of_rocm(
    name: &WheelName,
    graft: &Graft,
    is_of_rocm: &Excludes,
) -> Option<Diagnostic> {
    let needed = graft
        .needed_as
        .iter()
        .find(|needed| is_of_rocm.has(needed))?;
    let message = format!("`{needed}` is a library of ROCm, and comes along into the wheel");
    let finding = Diagnostic::new(&rocm::VENDORED_ROCM, message)
        .at(Location::File(name.to_string().into()), "");
    Some(
        finding.help(
            "leave it to ROCm itself: repair without `--exclude-preset`, or name `rocm` there",
        ),
    )
}

/// What the libraries that come along need of each other: for each, the new names by the old ones.
///
/// # Errors
/// A library that comes along once cannot lead to one library for one file and to another for
/// another. Each is told.
pub(super) fn among(
    name: &WheelName,
    files: &[FileFacts],
    grafts: &[Graft],
    new_names: &NewNames,
) -> Result<BTreeMap<String, BTreeMap<String, String>>, Vec<Diagnostic>> {
    let by_name: BTreeMap<&str, &Graft> = grafts
        .iter()
        .map(|graft| (graft.name.as_str(), graft))
        .collect();
    // With the file that leads there.
    let mut found: BTreeMap<(&str, &str), (&str, usize)> = BTreeMap::new();
    let mut faults: BTreeMap<(&str, &str), Diagnostic> = BTreeMap::new();
    for (number, own) in new_names {
        for graft in own.values().filter_map(|name| by_name.get(name.as_str())) {
            for needed in &graft.library.library.needed {
                let Some(new) = own.get(needed) else { continue };
                let (first, user) = *found.entry((&graft.name, needed)).or_insert((new, *number));
                if first == new {
                    continue;
                }
                faults.entry((&graft.name, needed)).or_insert_with(|| {
                    let source = |name: &str| by_name.get(name).map_or("", |graft| graft.library.real_path.as_str());
                    let (path, first, second) = (&graft.library.real_path, source(first), source(new));
                    let (one, other) = (&files[user].path, &files[*number].path);
                    let message = format!(
                        "`{path}` would come along once, and needs two libraries as `{needed}`: `{first}` for {one}, `{second}` for {other}"
                    );
                    Diagnostic::new(&codes::AMBIGUOUS_GRAFT, message)
                        .at(Location::File(name.to_string().into()), "")
                        .help(format!("let both files search the same folders, or leave `{needed}` out with `--exclude`"))
                });
            }
        }
    }
    if !faults.is_empty() {
        return Err(faults.into_values().collect());
    }
    let mut among: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for ((graft, needed), (new, _)) in found {
        among
            .entry(graft.to_owned())
            .or_default()
            .insert(needed.to_owned(), new.to_owned());
    }
    Ok(among)
}

/// The libraries with what changes in them: their own names, the names of those that come along,
/// and the search path.
pub(super) fn with_edits(
    grafts: Vec<Graft>,
    mut among: BTreeMap<String, BTreeMap<String, String>>,
) -> Vec<Graft> {
    let with = |mut graft: Graft| {
        let rename_needed = among.remove(&graft.name).unwrap_or_default();
        let needs_neighbours = !rename_needed.is_empty();
        graft.edits = ElfEdits {
            soname: Some(graft.name.clone()),
            rename_needed,
            remove_needed: BTreeSet::new(),
            rpath: if needs_neighbours {
                SearchPathEdit::Rpath("$ORIGIN".to_owned())
            } else {
                SearchPathEdit::Remove
            },
        };
        graft
    };
    grafts.into_iter().map(with).collect()
}

/// A member of the wheel that lies where a library comes along, and is another file.
pub(super) fn replaced(name: &WheelName, path: &str) -> Diagnostic {
    let place = Location::Member {
        wheel: name.to_string(),
        member: path.to_owned(),
    };
    let message =
        "the library that comes along under this name has other bytes, and takes its place";
    let finding = Diagnostic::new(&codes::GRAFT_REPLACES_MEMBER, message).at(place, "");
    finding.help("repair the wheel as it was built, or put what comes along into another folder with `--lib-sdir`")
}

pub(super) fn libpython_removed(name: &WheelName, path: &str, needed: &str) -> Diagnostic {
    let place = Location::Member {
        wheel: name.to_string(),
        member: path.to_owned(),
    };
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
        assert_eq!(
            grafted_name("libelf-0.188.so", digest),
            "libelf-0-1a2b3c4d.188.so"
        );
        assert_eq!(
            grafted_name("libdrm.so.2.4.0", digest),
            "libdrm-1a2b3c4d.so.2.4.0"
        );
        assert_eq!(
            grafted_name("plainbar", digest),
            "plainbar-1a2b3c4d",
            "nothing stands behind no dot"
        );
        assert_eq!(
            grafted_name("libdrm-1a2b3c4d.so.2.4.0", digest),
            "libdrm-1a2b3c4d.so.2.4.0"
        );
    }
}
