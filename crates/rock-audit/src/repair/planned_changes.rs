//! Plans the changes of a wheel to which policies apply: the platform, the grafts, and the edits of
//! files.

use std::collections::BTreeMap;
use std::path::Path;

use super::graft::{self, LibraryDigest, sha256};
use super::planner::{RepairPlanner, unless_errors};
use super::tags::PlatformRequest;
use super::{RepairChanges, rpath};
use crate::codes::wheel as codes;
use crate::compliance::Compliance;
use crate::inspect::InspectedKind;
use crate::library::ElfLibrary;
use crate::locations::in_wheel;
use crate::pattern::LibraryPatterns;
use crate::provider::SystemLibrary;
use crate::redundant_copies::{RedundantCopy, redundant_copies};
use crate::resolve::is_libpython;
use rock_diagnostic::{Diagnostic, Diagnostics};
use rock_elf::{ElfEdits, SearchPathEdit};
use rock_sys::FileError;

impl RepairPlanner<'_> {
    /// Plans the changes of the wheel.
    ///
    /// # Errors
    /// Returns the reasons why the platform cannot be complied with, naming files and symbols, and
    /// the libraries that are not found, naming the files that need them. If there are none,
    /// returns an error if a grafted library would need two libraries under one name, or if grafts
    /// are needed and forbidden.
    pub(super) fn graft_and_edit(
        &self,
        compliance: &Compliance,
    ) -> Result<RepairChanges, Diagnostics> {
        let mut changes = self.plan_changes(compliance)?;
        let copies = match &self.options.remove_copies_except {
            Some(kept) => self.redundant_copies(kept).map_err(Diagnostics::from),
            None => Ok(Vec::new()),
        };
        let forbidden = (!self.options.allow_grafts && !changes.grafts.is_empty())
            .then(|| self.grafts_forbidden(&changes));
        changes.drop_copies(unless_errors(forbidden.into_iter().collect(), copies)?);
        Ok(changes)
    }

    /// Plans the changes without the removal of redundant copies.
    pub(super) fn plan_changes(
        &self,
        compliance: &Compliance,
    ) -> Result<RepairChanges, Diagnostics> {
        let (name, files) = (&self.audited.name, &self.audited.files);
        let file_name = self.audited.file_name.as_str();
        let request = PlatformRequest {
            file_name,
            name,
            files,
            compliance,
            platform: self.audited.auditor.options().requested_platform.as_deref(),
            options: &self.options,
        };
        let mut choice = request.choose_policies()?;
        let violations = std::mem::take(&mut choice.violations);
        let needs = unless_errors(
            violations,
            graft::libraries_to_graft(file_name, files, compliance, choice.graft_policy()),
        )?;
        let (platform, mut findings) = request.choose_tags(&choice)?;
        let (mut grafts, graft_names) = graft::grafts(&needs, &|library| self.digest(library))?;
        let renames_by_graft = graft::graft_renames(file_name, files, &grafts, &graft_names)?;
        for graft in &mut grafts {
            graft.edits = graft::graft_edits(graft, &renames_by_graft);
        }
        let rocm_libraries = self.preset_libraries("rocm");
        let torch_libraries = self.preset_libraries("torch");
        findings.extend(
            grafts
                .iter()
                .filter_map(|graft| graft::grafted_rocm_library(file_name, graft, &rocm_libraries)),
        );
        let library_dir = format!("{}{}", name.distribution(), self.options.library_dir_suffix);
        let (mut edits, mut moved) = (BTreeMap::new(), BTreeMap::new());
        let mut lost: BTreeMap<_, Vec<&str>> = BTreeMap::new();
        for (file_index, file) in files.iter().enumerate() {
            let InspectedKind::Library(library) = &file.kind else {
                continue;
            };
            let Some(tree) = compliance.trees.get(&file_index) else {
                continue;
            };
            if library.extension.is_some() {
                let removed = library.needed.iter().filter(|needed| is_libpython(needed));
                findings.extend(
                    removed.map(|needed| graft::libpython_removed(file_name, &file.path, needed)),
                );
            }
            let mut file_edits = needed_edits(library, graft_names.get(&file_index));
            if graft_names.contains_key(&file_index) {
                let new_path = self.moved_program_path(&file.path);
                file_edits.rpath = self.graft_search_path(
                    library,
                    new_path.as_deref().unwrap_or(&file.path),
                    &library_dir,
                );
                moved.extend(new_path.map(|new_path| (file.path.clone(), new_path)));
            } else if self.options.fix_rpaths {
                file_edits.rpath = rpath::fixed_search_path(library, self.allowed_rpaths());
            }
            let outside: Vec<&str> = library
                .needed
                .iter()
                .filter(|needed| tree.excluded.contains(*needed) && rocm_libraries.has(needed))
                .map(String::as_str)
                .collect();
            // torch loads the libraries of ROCm before a library that needs torch.
            let needs_torch = library
                .needed
                .iter()
                .any(|needed| torch_libraries.has(needed));
            if !outside.is_empty() && !needs_torch {
                let dropped =
                    rpath::dropped_entries(library, &file.path, &file_edits.rpath, &library_dir);
                if !dropped.is_empty() {
                    lost.entry((dropped, outside)).or_default().push(&file.path);
                }
            }
            if file_edits != ElfEdits::default() {
                edits.insert(file.path.clone(), file_edits);
            }
        }
        findings.extend(lost.iter().map(|((entries, needed), paths)| {
            rpath::lost_search_path(file_name, entries, needed, paths)
        }));
        Ok(RepairChanges {
            grafts,
            edits,
            moved,
            findings,
            ..RepairChanges::new(platform, library_dir)
        })
    }

    fn allowed_rpaths(&self) -> &LibraryPatterns {
        &self.audited.auditor.options().allowed_rpaths
    }

    /// Returns the path to which a program that needs grafted libraries is moved, if it is.
    fn moved_program_path(&self, path: &str) -> Option<String> {
        let archive = self.audited.wheel.archive();
        let new_path = rpath::moved_program_path(path, &self.audited.name)?;
        Some(rpath::unused_path(new_path, |path| {
            archive.member(path).is_some()
        }))
    }

    /// Returns the search path of a file at `path` that needs grafted libraries.
    fn graft_search_path(
        &self,
        library: &ElfLibrary,
        path: &str,
        library_dir: &str,
    ) -> SearchPathEdit {
        // RPATH, and never RUNPATH, which does not apply to the dependencies of dependencies.
        SearchPathEdit::Rpath(rpath::with_directory(
            library,
            path,
            library_dir,
            self.allowed_rpaths(),
        ))
    }

    /// Returns the patterns of the libraries of a preset, such as those of ROCm, of which a process
    /// must load only one copy.
    fn preset_libraries(&self, name: &str) -> LibraryPatterns {
        let patterns = self
            .audited
            .auditor
            .compat()
            .preset(name)
            .into_iter()
            .flat_map(|preset| preset.patterns.iter().map(String::as_str));
        LibraryPatterns::new(patterns).unwrap_or_default()
    }

    fn redundant_copies(&self, kept: &LibraryPatterns) -> Result<Vec<RedundantCopy>, Diagnostic> {
        let file_name = &self.audited.file_name;
        let progress = self.audited.auditor.progress().start(file_name);
        redundant_copies(
            self.audited.wheel.archive(),
            &self.audited.files,
            kept,
            progress.as_ref(),
        )
        .map_err(|error| error.diagnostic(file_name))
    }

    fn grafts_forbidden(&self, changes: &RepairChanges) -> Diagnostic {
        let names: Vec<&str> = changes
            .grafts
            .iter()
            .flat_map(|graft| &graft.needed_as)
            .map(String::as_str)
            .collect();
        let noun = if changes.grafts.len() == 1 {
            "library"
        } else {
            "libraries"
        };
        let message = format!(
            "{} {noun} would be grafted: {}",
            changes.grafts.len(),
            names.join(", ")
        );
        Diagnostic::new(&codes::GRAFTS_FORBIDDEN, message)
            .at(in_wheel(&self.audited.file_name), "")
            .help("exclude them with `--exclude` or `--exclude-preset`")
    }

    /// Returns the size and digest of a library of the system.
    fn digest(&self, library: &SystemLibrary) -> Result<LibraryDigest, FileError> {
        self.audited
            .auditor
            .libraries()
            .open(&library.real_path)
            .and_then(|source| {
                Ok(LibraryDigest {
                    digest: sha256(source.as_ref())?,
                    size_bytes: source.size_bytes(),
                })
            })
            .map_err(|error| FileError::new("read", Path::new(&library.real_path), error))
    }
}

/// Returns the edits of the needed names of a library. `graft_names` are the names of the grafts
/// that it leads to, by the name they are needed under; `None` if it leads to none.
fn needed_edits(library: &ElfLibrary, graft_names: Option<&BTreeMap<String, String>>) -> ElfEdits {
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
    edits
}
