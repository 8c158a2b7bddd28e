//! The embedding of an installed ROCm in one wheel.

use std::collections::BTreeSet;
use std::path::Path;

use super::{
    EmbeddedFile, RocmRequirement, embedded_search_path, embedding_rule, is_embedded, plan_rename,
    select_embedded_files,
};
use crate::codes::{elf as elf_codes, wheel as codes};
use crate::edited_file::{EditedFile, FileChanges, StripMode};
use crate::library::ElfLibrary;
use crate::system::RocmDirectory;
use crate::wheel_file::WheelFile;
use rock_compat::Compat;
use rock_compat::rows::EmbeddingRow;
use rock_diagnostic::{Diagnostic, Diagnostics, Location};
use rock_elf::{Elf, ElfEdits, ElfError, SearchPathEdit};
use rock_sys::ReopenedFile;
use rock_wheel::{
    AddedMember, MemberContent, MemberView, RenamePlan, Wheel, WheelEdits, ZipMember,
};

/// The files of an installed ROCm and the changes of a wheel that embed them.
///
/// It owns what its [`plan`](Self::plan) refers to.
#[derive(Debug)]
pub struct RocmEmbedding<'w> {
    wheel: &'w Wheel<'w>,
    row: &'w EmbeddingRow,
    /// The new name and the changes of dist-info and modules.
    rename: RenamePlan<'static>,
    files: Vec<(EmbeddedFile, ReopenedFile)>,
    /// The libraries of the wheel that need embedded ones, by path.
    libraries: Vec<(String, EditedFile<'w>)>,
}

impl<'w> RocmEmbedding<'w> {
    /// Selects files of the ROCm in a directory and computes the changes of a wheel. A wheel that
    /// already contains ROCm does not change.
    ///
    /// # Errors
    /// When no embedding rule is recorded for the wheel, the directory has entries that a wheel
    /// cannot contain or nothing to embed, or the wheel cannot be changed by the rule.
    pub fn new(
        wheel: &'w Wheel<'w>,
        file: &WheelFile,
        rocm_dir: &Path,
        requirements: RocmRequirement,
        compat: &'w Compat,
    ) -> Result<Self, Diagnostics> {
        let row = embedding_rule(&file.name, compat)?;
        if is_embedded(wheel, row) {
            return Ok(Self {
                wheel,
                row,
                rename: unchanged(file, row),
                files: Vec::new(),
                libraries: Vec::new(),
            });
        }
        let directory = RocmDirectory::new(rocm_dir);
        let soname = |path: &str| directory.soname(path);
        let shown = rocm_dir.display().to_string();
        let (selected, findings) =
            select_embedded_files(&shown, &directory.entries()?, row, &soname)?;
        let files = selected
            .into_iter()
            .map(|file| {
                let source = directory.open(&file.path)?;
                Ok((file, source))
            })
            .collect::<Result<Vec<_>, Diagnostic>>()?;
        let mut rename = plan_rename(wheel, &file.name, row, requirements)?;
        rename.findings.extend(findings);
        let libraries = change_search_paths(wheel, &file.file_name, row, &files)?;
        Ok(Self {
            wheel,
            row,
            rename,
            files,
            libraries,
        })
    }

    /// Returns the plan of the new wheel.
    pub fn plan(&self) -> RenamePlan<'_> {
        let mut plan: RenamePlan<'_> = self.rename.clone();
        for (file, source) in &self.files {
            let content = MemberContent::Source(source);
            let member = if file.is_executable {
                AddedMember::executable(content)
            } else {
                AddedMember::plain(content)
            };
            let path = format!("{}/{}", self.row.into, file.name);
            plan.edits.added.insert(path, member);
        }
        let archive = self.wheel.archive();
        for (path, library) in &self.libraries {
            if let Some(member) = archive.member(path) {
                let content = library.content(archive, member);
                plan.edits.replaced.insert(path.clone(), content);
            }
        }
        plan
    }
}

/// Returns the plan for a wheel that already contains ROCm.
fn unchanged(file: &WheelFile, row: &EmbeddingRow) -> RenamePlan<'static> {
    let place = Location::Member {
        wheel: file.file_name.clone(),
        member: row.into.clone(),
    };
    let finding = Diagnostic::new(&codes::EMBEDDED_ALREADY, "the wheel already contains ROCm");
    RenamePlan {
        name: file.name.clone(),
        edits: WheelEdits::default(),
        findings: vec![finding.at(place, "")],
    }
}

/// Returns the libraries of the wheel that need embedded ones, with a search path to these.
fn change_search_paths<'w>(
    wheel: &'w Wheel<'w>,
    file_name: &str,
    row: &EmbeddingRow,
    embedded: &[(EmbeddedFile, ReopenedFile)],
) -> Result<Vec<(String, EditedFile<'w>)>, Diagnostics> {
    if row.search.is_empty() {
        return Ok(Vec::new());
    }
    let below = format!("{}/", row.search);
    let names: BTreeSet<&str> = embedded
        .iter()
        .filter_map(|(file, _)| file.name.strip_prefix(&below))
        .collect();
    let (mut libraries, mut errors) = (Vec::new(), Vec::new());
    for member in wheel.archive().members() {
        if !is_library(member.name()) {
            continue;
        }
        match change_search_path(wheel, member, row, &names) {
            Ok(Some(library)) => libraries.push((member.name().to_owned(), library)),
            Ok(None) => {}
            Err(error) => {
                let place = Location::Member {
                    wheel: file_name.to_owned(),
                    member: member.name().to_owned(),
                };
                let message = format!("it cannot be changed safely: {error}");
                errors.push(Diagnostic::new(&elf_codes::UNEDITABLE_ELF, message).at(place, ""));
            }
        }
    }
    Diagnostics::check(errors)?;
    Ok(libraries)
}

/// Returns a library with a search path to embedded libraries; `None` if it does not change.
fn change_search_path<'w>(
    wheel: &'w Wheel<'w>,
    member: &'w ZipMember,
    row: &EmbeddingRow,
    names: &BTreeSet<&str>,
) -> Result<Option<EditedFile<'w>>, ElfError> {
    let archive = wheel.archive();
    let path = member.name();
    let file_name = path.rsplit('/').next().unwrap_or(path);
    let view = MemberView::new(archive, member, &rock_sys::allocate_scratch, None);
    let elf = Elf::read(&view)?;
    let library = ElfLibrary::read(&view, &elf, file_name, &|_| false)?;
    let rpath = embedded_search_path(path, &library, row, names);
    if rpath == SearchPathEdit::Keep {
        return Ok(None);
    }
    let edits = ElfEdits {
        rpath,
        ..ElfEdits::default()
    };
    let changes = FileChanges::new(&view, &edits, StripMode::None)?;
    if changes.is_empty() {
        return Ok(None);
    }
    let base = MemberView::forward(archive, member, &rock_sys::allocate_scratch);
    Ok(Some(EditedFile::new(Box::new(base), changes)))
}

/// Returns whether a member is named like a shared library for Linux.
fn is_library(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".so").is_some() || name.contains(".so.")
}

#[cfg(test)]
mod tests {
    use super::{RocmEmbedding, RocmRequirement};
    use crate::wheel_file::WheelFile;
    use rock_compat::Compat;
    use rock_wheel::{MemberOptions, Wheel, ZipWriter};

    /// Returns a wheel for Windows with a module that has the marker of its embedding rule.
    fn write_wheel(path: &std::path::Path, compat: &Compat) {
        let name = path.file_name().unwrap().to_str().unwrap().parse().unwrap();
        let row = super::embedding_rule(&name, compat).unwrap();
        let module = format!("import os\n{}\n", row.marker);
        let mut file = Vec::new();
        let mut archive = ZipWriter::new(&mut file);
        let metadata = "Metadata-Version: 2.1\nName: torch\nVersion: 2.9.0\n";
        let about = "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp312-cp312-win_amd64\n";
        let record = "torch-2.9.0.dist-info/RECORD,,\n";
        for (path, text) in [
            (row.module.as_str(), module.as_str()),
            ("torch-2.9.0.dist-info/METADATA", metadata),
            ("torch-2.9.0.dist-info/WHEEL", about),
            ("torch-2.9.0.dist-info/RECORD", record),
        ] {
            archive
                .add(path, text.as_bytes(), &MemberOptions::default())
                .unwrap();
        }
        archive.finish().unwrap();
        rock_sys::write_atomic(path, &file).unwrap();
    }

    #[test]
    fn the_files_of_a_directory_are_added_under_a_new_label() {
        let compat = Compat::embedded();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("torch-2.9.0-cp312-cp312-win_amd64.whl");
        write_wheel(&path, &compat);
        let rocm = folder.path().join("rocm");
        rock_sys::write_atomic(&rocm.join("bin/amdhip64_7.dll"), b"x").unwrap();
        let file = WheelFile::open(&path).unwrap();
        let wheel = Wheel::open(&file.file).unwrap();
        let embed = |rocm: &std::path::Path| {
            RocmEmbedding::new(&wheel, &file, rocm, RocmRequirement::Dropped, &compat)
        };
        let embedding = embed(&rocm).unwrap();
        let plan = embedding.plan();
        let row = super::embedding_rule(&file.name, &compat).unwrap();
        let added = format!("{}/bin/amdhip64_7.dll", row.into);
        assert!(plan.edits.added.contains_key(&added));
        assert!(plan.name.label().is_some_and(|label| label.is_embedded()));
        assert!(embed(&folder.path().join("missing")).is_err());
    }
}
