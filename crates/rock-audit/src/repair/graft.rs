//! Selection, naming and edits of grafted libraries.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{DigestLibrary, Graft, LibraryDigest};
use crate::codes::{elf, rocm, wheel as codes};
use crate::compliance::Compliance;
use crate::inspect::InspectedFile;
use crate::pattern::LibraryPatterns;
use crate::provider::SystemLibrary;
use crate::resolve::{ResolvedLibrary, is_libpython};
use rock_diagnostic::{Diagnostic, Location};
use rock_elf::{ElfEdits, SearchPathEdit};
use rock_names::WheelName;

/// The libraries to graft for each file, by its index, and by the name they are needed under. Two
/// files may find different libraries under one name.
pub(super) type GraftNeeds = BTreeMap<usize, BTreeMap<String, Arc<SystemLibrary>>>;

/// The file names of grafted libraries for each file, by its index, and by the name they are needed
/// under.
pub(super) type GraftNames = BTreeMap<usize, BTreeMap<String, String>>;

pub(super) fn needs(
    name: &WheelName,
    files: &[InspectedFile],
    compliance: &Compliance,
    policy: &str,
) -> Result<GraftNeeds, Vec<Diagnostic>> {
    let mut needs = GraftNeeds::new();
    let mut missing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (number, references) in &compliance.gaps_by_file {
        for (needed, found) in references
            .iter()
            .filter(|one| compliance.policy(one.policy).name() == policy)
            .flat_map(|one| &one.libraries)
        {
            match found {
                ResolvedLibrary::System(library) => {
                    needs
                        .entry(*number)
                        .or_default()
                        .insert(needed.clone(), Arc::clone(library));
                }
                ResolvedLibrary::Missing if is_libpython(needed) => {}
                ResolvedLibrary::Missing => {
                    missing
                        .entry(needed)
                        .or_default()
                        .insert(&files[*number].path);
                }
                ResolvedLibrary::Wheel(_) | ResolvedLibrary::Permitted => {}
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

/// Returns the file name of a grafted library: the start of its SHA-256 digest distinguishes it
/// from others.
pub(super) fn graft_name(file_name: &str, digest: &str) -> String {
    let (base, ending) = file_name.split_at(file_name.find('.').unwrap_or(file_name.len()));
    let short = digest.get(..8).unwrap_or(digest);
    if base.ends_with(&format!("-{short}")) {
        return file_name.to_owned();
    }
    format!("{base}-{short}{ending}")
}

/// Returns the grafted libraries, each once, and the names that replace the needed ones.
pub(super) fn grafts(
    needs: &GraftNeeds,
    digests: &mut DigestLibrary<'_>,
) -> Result<(Vec<Graft>, GraftNames), Vec<Diagnostic>> {
    let mut grafts: BTreeMap<String, Graft> = BTreeMap::new();
    // File names in the wheel, by the path of the original.
    let mut named: BTreeMap<&str, String> = BTreeMap::new();
    let mut new_names = GraftNames::new();
    let mut faults = Vec::new();
    let libraries: BTreeMap<&str, &Arc<SystemLibrary>> = needs
        .values()
        .flat_map(BTreeMap::values)
        .map(|library| (library.real_path.as_str(), library))
        .collect();
    for (path, library) in libraries {
        let LibraryDigest { digest, size_bytes } = match digests(library) {
            Ok(fingerprint) => fingerprint,
            Err(fault) => {
                faults.push(fault);
                continue;
            }
        };
        let name = graft_name(path.rsplit('/').next().unwrap_or(path), &digest);
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

/// Reports a grafted library of ROCm: with the one that torch provides, a process loads two
/// runtimes.
pub(super) fn grafted_rocm_library(
    name: &WheelName,
    graft: &Graft,
    is_of_rocm: &LibraryPatterns,
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

/// Returns the names by which grafted libraries need each other: for each library, the new names by
/// the old ones.
///
/// # Errors
/// Returns an error for each library that would need one library for one file, and another under
/// the same name for another file.
pub(super) fn graft_dependencies(
    name: &WheelName,
    files: &[InspectedFile],
    grafts: &[Graft],
    new_names: &GraftNames,
) -> Result<BTreeMap<String, BTreeMap<String, String>>, Vec<Diagnostic>> {
    let by_name: BTreeMap<&str, &Graft> = grafts
        .iter()
        .map(|graft| (graft.name.as_str(), graft))
        .collect();
    // With the index of the file that needs it.
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

/// Sets the edits of grafted libraries: SONAME, needed names and search path.
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

/// Reports a member of the wheel that has the path of a grafted library and other bytes.
pub(super) fn replaced_member(name: &WheelName, path: &str) -> Diagnostic {
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
    use super::graft_name;

    #[test]
    fn a_hash_stands_before_the_first_dot_and_only_once() {
        let digest = "1a2b3c4d5e";
        assert_eq!(
            graft_name("libelf-0.188.so", digest),
            "libelf-0-1a2b3c4d.188.so"
        );
        assert_eq!(
            graft_name("libdrm.so.2.4.0", digest),
            "libdrm-1a2b3c4d.so.2.4.0"
        );
        assert_eq!(
            graft_name("plainbar", digest),
            "plainbar-1a2b3c4d",
            "nothing stands behind no dot"
        );
        assert_eq!(
            graft_name("libdrm-1a2b3c4d.so.2.4.0", digest),
            "libdrm-1a2b3c4d.so.2.4.0"
        );
    }
}
