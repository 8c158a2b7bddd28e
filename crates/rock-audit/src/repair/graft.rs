//! Selection, naming and edits of grafted libraries.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::Graft;
use crate::codes::{elf, rocm, wheel as codes};
use crate::compliance::Compliance;
use crate::inspect::InspectedFile;
use crate::locations::{in_member, in_wheel};
use crate::pattern::LibraryPatterns;
use crate::provider::SystemLibrary;
use crate::resolve::{ResolvedLibrary, is_libpython};
use rock_bytes::{ReadAt, for_each_chunk};
use rock_compat::policy::PlatformPolicy;
use rock_diagnostic::{Diagnostic, Diagnostics};
use rock_elf::{ElfEdits, SearchPathEdit};
use rock_names::Digest;
use rock_sys::FileError;

/// The libraries to graft for each file, by its index, and by the name they are needed under. Two
/// files may find different libraries under one name.
pub(super) type GraftNeeds = BTreeMap<usize, BTreeMap<String, Arc<SystemLibrary>>>;

/// The file names of grafted libraries for each file, by its index, and by the name they are needed
/// under.
pub(super) type GraftNames = BTreeMap<usize, BTreeMap<String, String>>;

/// The size and digest of a library.
pub(super) struct LibraryDigest {
    /// SHA-256 in hexadecimal.
    pub(super) digest: String,
    /// The size in bytes.
    pub(super) size_bytes: u64,
}

/// Returns the external libraries of each file beyond the policy.
///
/// # Errors
/// Returns an error for each library that was not found, naming the files that need it.
pub(super) fn libraries_to_graft(
    file_name: &str,
    files: &[InspectedFile],
    compliance: &Compliance,
    policy: PlatformPolicy<'_>,
) -> Result<GraftNeeds, Diagnostics> {
    let mut needs = GraftNeeds::new();
    let mut missing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for file_index in compliance.violations_by_file.keys().copied() {
        let violations = compliance.file_violations(file_index, policy);
        for (needed, library) in violations.into_iter().flat_map(|found| &found.libraries) {
            match library {
                ResolvedLibrary::System(library) => {
                    needs
                        .entry(file_index)
                        .or_default()
                        .insert(needed.clone(), Arc::clone(library));
                }
                ResolvedLibrary::Missing if is_libpython(needed) => {}
                ResolvedLibrary::Missing => {
                    missing
                        .entry(needed)
                        .or_default()
                        .insert(&files[file_index].path);
                }
                ResolvedLibrary::Wheel(_) | ResolvedLibrary::Permitted => {}
            }
        }
    }
    let errors = missing
        .into_iter()
        .map(|(needed, users)| library_not_found(file_name, needed, &users))
        .collect();
    Diagnostics::check(errors)?;
    Ok(needs)
}

fn library_not_found(file_name: &str, needed: &str, users: &BTreeSet<&str>) -> Diagnostic {
    let verb = if users.len() == 1 { "needs" } else { "need" };
    let users: Vec<&str> = users.iter().copied().collect();
    let message = format!(
        "`{needed}` is not found, but {} {verb} it",
        users.join(", ")
    );
    Diagnostic::new(&codes::LIBRARY_NOT_FOUND, message)
        .at(in_wheel(file_name), "")
        .help(
            "pass its directory with `--ldpaths` or `--sysroot`, or leave it out with `--exclude`",
        )
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
///
/// # Errors
/// Returns an error for each library that cannot be read.
pub(super) fn grafts(
    needs: &GraftNeeds,
    digest: &dyn Fn(&SystemLibrary) -> Result<LibraryDigest, FileError>,
) -> Result<(Vec<Graft>, GraftNames), Diagnostics> {
    let mut grafts: BTreeMap<String, Graft> = BTreeMap::new();
    // File names in the wheel, by the path of the original.
    let mut graft_names: BTreeMap<&str, String> = BTreeMap::new();
    let mut errors = Vec::new();
    let libraries: BTreeMap<&str, &Arc<SystemLibrary>> = needs
        .values()
        .flat_map(BTreeMap::values)
        .map(|library| (library.real_path.as_str(), library))
        .collect();
    for (path, library) in libraries {
        let LibraryDigest { digest, size_bytes } = match digest(library) {
            Ok(digest) => digest,
            Err(error) => {
                errors.push(error.into());
                continue;
            }
        };
        let name = graft_name(path.rsplit('/').next().unwrap_or(path), &digest);
        graft_names.insert(path, name.clone());
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
    Diagnostics::check(errors)?;
    let mut new_names = GraftNames::new();
    for (file_index, libraries) in needs {
        for (needed, library) in libraries {
            let Some(name) = graft_names.get(library.real_path.as_str()) else {
                continue;
            };
            new_names
                .entry(*file_index)
                .or_default()
                .insert(needed.clone(), name.clone());
            if let Some(graft) = grafts.get_mut(name) {
                graft.needed_as.insert(needed.clone());
            }
        }
    }
    Ok((grafts.into_values().collect(), new_names))
}

/// Reports a grafted library of ROCm: together with the one that torch provides, a process would
/// load two runtimes.
pub(super) fn grafted_rocm_library(
    file_name: &str,
    graft: &Graft,
    rocm_libraries: &LibraryPatterns,
) -> Option<Diagnostic> {
    let needed = graft
        .needed_as
        .iter()
        .find(|needed| rocm_libraries.has(needed))?;
    let message = format!("`{needed}` is a library of ROCm, and is grafted into the wheel");
    let finding = Diagnostic::new(&rocm::VENDORED_ROCM, message).at(in_wheel(file_name), "");
    Some(finding.help(
        "leave it to the packages of ROCm: repair without `--exclude-preset`, or include `rocm` in \
         it",
    ))
}

/// The new names of needed libraries by the old ones, for each grafted library by its file name.
pub(super) type GraftRenames = BTreeMap<String, BTreeMap<String, String>>;

/// Returns the names by which grafted libraries need each other.
///
/// # Errors
/// Returns an error for each library that would need one library for one file, and another under
/// the same name for another file.
pub(super) fn graft_renames(
    file_name: &str,
    files: &[InspectedFile],
    grafts: &[Graft],
    new_names: &GraftNames,
) -> Result<GraftRenames, Diagnostics> {
    let grafts_by_name: BTreeMap<&str, &Graft> = grafts
        .iter()
        .map(|graft| (graft.name.as_str(), graft))
        .collect();
    // By the names of the graft and of the library that it needs, with the index of the file that
    // leads to it.
    let mut renames: BTreeMap<(&str, &str), (&str, usize)> = BTreeMap::new();
    let mut errors: BTreeMap<(&str, &str), Diagnostic> = BTreeMap::new();
    for (file_index, file_names) in new_names {
        for graft in file_names
            .values()
            .filter_map(|name| grafts_by_name.get(name.as_str()))
        {
            for needed in &graft.library.elf.needed {
                let Some(new_name) = file_names.get(needed) else {
                    continue;
                };
                let key = (graft.name.as_str(), needed.as_str());
                let (first_name, first_file) =
                    *renames.entry(key).or_insert((new_name, *file_index));
                if first_name == new_name {
                    continue;
                }
                errors.entry(key).or_insert_with(|| {
                    let user = |graft: &str, file_index: usize| LibraryUser {
                        source: grafts_by_name
                            .get(graft)
                            .map_or("", |graft| graft.library.real_path.as_str()),
                        file: &files[file_index].path,
                    };
                    let users = [user(first_name, first_file), user(new_name, *file_index)];
                    ambiguous_graft(file_name, graft, needed, &users)
                });
            }
        }
    }
    Diagnostics::check(errors.into_values().collect())?;
    let mut renames_by_graft = GraftRenames::new();
    for ((graft, needed), (new_name, _)) in renames {
        renames_by_graft
            .entry(graft.to_owned())
            .or_default()
            .insert(needed.to_owned(), new_name.to_owned());
    }
    Ok(renames_by_graft)
}

/// A file of the wheel, and the path of the library that it finds under a name.
struct LibraryUser<'f> {
    source: &'f str,
    file: &'f str,
}

fn ambiguous_graft(
    file_name: &str,
    graft: &Graft,
    needed: &str,
    [first, second]: &[LibraryUser<'_>; 2],
) -> Diagnostic {
    let message = format!(
        "`{}` would be grafted once, but needs two different libraries as `{needed}`: `{}` for {}, \
         `{}` for {}",
        graft.library.real_path, first.source, first.file, second.source, second.file
    );
    Diagnostic::new(&codes::AMBIGUOUS_GRAFT, message)
        .at(in_wheel(file_name), "")
        .help(format!(
            "give both files the same search path, or leave `{needed}` out with `--exclude`"
        ))
}

/// Returns the edits of a grafted library: SONAME, needed names and search path.
pub(super) fn graft_edits(graft: &Graft, renames: &GraftRenames) -> ElfEdits {
    let rename_needed = renames.get(&graft.name).cloned().unwrap_or_default();
    let rpath = if rename_needed.is_empty() {
        SearchPathEdit::Remove
    } else {
        SearchPathEdit::Rpath("$ORIGIN".to_owned())
    };
    ElfEdits {
        soname: Some(graft.name.clone()),
        rename_needed,
        remove_needed: BTreeSet::new(),
        rpath,
    }
}

/// Reports a member of the wheel that has the path of a grafted library and other bytes.
pub(super) fn replaced_member(file_name: &str, path: &str) -> Diagnostic {
    let message =
        "the library that is grafted under this name has different content, and replaces it";
    let finding =
        Diagnostic::new(&codes::GRAFT_REPLACES_MEMBER, message).at(in_member(file_name, path), "");
    finding.help("repair the original wheel, or graft into another directory with `--lib-sdir`")
}

/// Reports that a needed `libpython` is removed.
pub(super) fn libpython_removed(file_name: &str, path: &str, needed: &str) -> Diagnostic {
    Diagnostic::new(
        &elf::NEEDS_LIBPYTHON,
        format!("`{needed}` is no longer needed: the interpreter provides its symbols"),
    )
    .at(in_member(file_name, path), "")
}

/// Returns the SHA-256 digest of a file in hexadecimal.
pub(super) fn sha256(source: &dyn ReadAt) -> io::Result<String> {
    let mut hasher = Sha256::new();
    for_each_chunk(source, |piece| hasher.update(piece))?;
    Ok(Digest::new(hasher.finalize().into()).to_hex())
}

#[cfg(test)]
mod tests {
    use super::graft_name;

    #[test]
    fn graft_names_have_one_hash_before_the_first_dot() {
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
            "without a dot, it is last"
        );
        assert_eq!(
            graft_name("libdrm-1a2b3c4d.so.2.4.0", digest),
            "libdrm-1a2b3c4d.so.2.4.0"
        );
    }
}
