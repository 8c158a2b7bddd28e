//! Edits the files of the wheel and the grafted libraries, without writing them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use super::RepairChanges;
use super::planner::RepairPlanner;
use crate::codes::elf as codes;
use crate::edited_file::{EditedFile, FileChanges, StripMode};
use crate::locations::in_member;
use rock_bytes::has_same_content;
use rock_diagnostic::{Diagnostic, Diagnostics};
use rock_sys::FileError;
use rock_wheel::MemberView;

/// Edited files by path in the original wheel.
pub(super) type EditedFiles<'w> = BTreeMap<String, EditedFile<'w>>;

impl<'w> RepairPlanner<'w> {
    /// Edits the libraries that are grafted. Returns those that cannot be edited as errors.
    pub(super) fn edit_grafts(
        &self,
        changes: &RepairChanges,
    ) -> (EditedFiles<'w>, Vec<Diagnostic>) {
        let (mut files, mut errors) = (EditedFiles::new(), Vec::new());
        for graft in &changes.grafts {
            let path = &graft.library.real_path;
            let edited = self
                .audited
                .auditor
                .libraries()
                .open(path)
                .map_err(|error| error.to_string())
                .and_then(|source| {
                    let changes =
                        FileChanges::new(source.as_ref(), &graft.edits, self.strip_mode())
                            .map_err(|error| error.to_string())?;
                    Ok(EditedFile::new(source, changes))
                });
            match edited {
                Ok(edited) => {
                    files.insert(changes.path_of(graft), edited);
                }
                Err(error) => errors.push(self.uneditable(path, &error)),
            }
        }
        (files, errors)
    }

    /// Edits and strips files of the wheel.
    ///
    /// # Errors
    /// Returns an error for each file that cannot be edited.
    pub(super) fn edit_members(
        &self,
        changes: &RepairChanges,
    ) -> Result<EditedFiles<'w>, Diagnostics> {
        let archive = self.audited.wheel.archive();
        let scratch = self.audited.auditor.scratch();
        let graft_paths = changes.graft_paths();
        let stripped = self
            .audited
            .libraries()
            .map(|(path, _)| path)
            .filter(|path| {
                self.options.strip
                    && !changes.dropped.contains_key(*path)
                    && !graft_paths.contains(*path)
            });
        let paths: BTreeSet<&str> = changes
            .edits
            .keys()
            .map(String::as_str)
            .chain(stripped)
            .collect();
        let (mut files, mut errors) = (EditedFiles::new(), Vec::new());
        for path in paths {
            let Some(member) = archive.member(path) else {
                continue;
            };
            let edits = changes.edits.get(path).cloned().unwrap_or_default();
            let view = MemberView::new(archive, member, scratch, None);
            match FileChanges::new(&view, &edits, self.strip_mode()) {
                Ok(changes) if changes.is_empty() => {}
                Ok(changes) => {
                    let base = MemberView::forward(archive, member, scratch);
                    files.insert(path.to_owned(), EditedFile::new(Box::new(base), changes));
                }
                Err(error) => errors.push(self.uneditable(path, &error)),
            }
        }
        Diagnostics::check(errors)?;
        Ok(files)
    }

    /// Compares grafted libraries with members of the wheel that have their paths: an earlier
    /// repair may have grafted the same bytes, or the member is another file.
    ///
    /// # Errors
    /// Returns an error if a member or library cannot be read.
    pub(super) fn compare_with_members(
        &self,
        changes: &mut RepairChanges,
        grafts: &EditedFiles<'_>,
    ) -> Result<(), Diagnostics> {
        let archive = self.audited.wheel.archive();
        if !changes
            .graft_paths()
            .iter()
            .any(|path| archive.member(path).is_some())
        {
            return Ok(());
        }
        let (mut same, mut others) = (BTreeSet::new(), BTreeSet::new());
        for (path, edited) in grafts {
            let Some(member) = archive.member(path) else {
                continue;
            };
            let existing = MemberView::forward(archive, member, self.audited.auditor.scratch());
            let has_same_content = has_same_content(&existing, edited)
                .map_err(|error| FileError::new("read", path.as_ref(), error))?;
            if has_same_content {
                &mut same
            } else {
                &mut others
            }
            .insert(path.clone());
        }
        changes.record_existing_grafts(&self.audited.file_name, same, others);
        Ok(())
    }

    fn strip_mode(&self) -> StripMode {
        if self.options.strip {
            StripMode::Unloaded
        } else {
            StripMode::None
        }
    }

    fn uneditable(&self, path: &str, error: &dyn Display) -> Diagnostic {
        Diagnostic::new(
            &codes::UNEDITABLE_ELF,
            format!("it cannot be changed safely: {error}"),
        )
        .at(in_member(&self.audited.file_name, path), "")
    }
}
