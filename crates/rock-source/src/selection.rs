//! Selection of projects, and of the files that pin their commits.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rock_compat::Compat;
use rock_compat::rows::{ProjectRow, TorchSourceRow};
use rock_diagnostic::{Diagnostic, Diagnostics, Location, Sink, SourceText};
use rock_sys::FileError;

use crate::codes::sources as codes;
use crate::limits::LARGEST_PIN_FILE_BYTES;
use crate::related::{RelatedCommits, RowStrictness};
use crate::{ExplicitSelection, PinFiles, projects, reads_related};

/// The default operating system whose rows of `related_commits` are preferred.
pub const DEFAULT_RELATED_OS: &str = "ubuntu";

/// Selects projects of a platform, and the files that pin their commits.
#[derive(Debug, Clone)]
pub struct ProjectSelection {
    /// The platform of the projects, `linux` or `windows`.
    pub platform: String,
    /// The preset with the repositories and refs of the projects: the name of a row of the table
    /// `torch-sources`.
    pub preset: Option<String>,
    /// The torch checkout with the pins; `None` for torch's directory in the table `projects`, if
    /// it exists.
    pub torch_dir: Option<PathBuf>,
    /// The operating system whose rows of `related_commits` are preferred.
    pub related_os: String,
    /// The treatment of invalid rows of `related_commits`.
    pub strictness: RowStrictness,
}

/// The rows of the compatibility tables that were selected.
#[derive(Debug, Clone)]
pub struct SelectedProjects<'a> {
    /// The preset.
    pub preset: Option<&'a TorchSourceRow>,
    /// The projects, in build order.
    pub rows: Vec<&'a ProjectRow>,
}

impl ProjectSelection {
    /// Selects the projects of a platform, without a preset.
    pub fn new(platform: &str) -> Self {
        Self {
            platform: platform.to_owned(),
            preset: None,
            torch_dir: None,
            related_os: DEFAULT_RELATED_OS.to_owned(),
            strictness: RowStrictness::Strict,
        }
    }

    /// Returns the preset and the named projects; without names, the projects of the preset, or
    /// else all projects of the platform.
    ///
    /// # Errors
    /// When the preset or a project is unknown, or not built on the platform.
    pub fn select<'a>(
        &self,
        compat: &'a Compat,
        names: &[String],
    ) -> Result<SelectedProjects<'a>, Diagnostics> {
        let preset = self
            .preset
            .as_deref()
            .map(|name| projects::preset(compat, name))
            .transpose()?;
        let all = match preset {
            Some(preset) => projects::of_preset(compat, preset, &self.platform)?,
            None => projects::on(compat, &self.platform),
        };
        if names.is_empty() {
            return Ok(SelectedProjects { preset, rows: all });
        }
        let mut rows: Vec<&ProjectRow> = Vec::new();
        let mut errors = Vec::new();
        for name in names {
            match projects::find(compat, name, &self.platform) {
                Ok(row) => rows.push(row),
                Err(error) => errors.push(error),
            }
        }
        Diagnostics::check(errors)?;
        let build_order = &compat.source_tables().projects;
        rows.sort_by_key(|row| build_order.iter().position(|other| other == *row));
        rows.dedup();
        Ok(SelectedProjects { preset, rows })
    }

    /// Reads the files with the pins of these projects, and returns them with the warnings about
    /// them. Files that do not exist are left out. Relative paths are below `current_dir`.
    ///
    /// # Errors
    /// When there is no torch checkout in [`torch_dir`](Self::torch_dir), or a file cannot be read
    /// or is invalid.
    pub fn read_pins(
        &self,
        compat: &Compat,
        selected: &SelectedProjects<'_>,
        explicit: &ExplicitSelection,
        current_dir: &Path,
    ) -> Result<(PinFiles, Vec<Diagnostic>), Diagnostics> {
        let torch_dir = self.find_torch(compat, current_dir)?;
        let mut sink = Sink::new();
        let pins = &compat.source_tables().pins;
        let of = |beside: &'static str| {
            pins.iter()
                .filter(move |row| row.beside == beside)
                .map(|row| row.file.as_str())
        };
        let torch = torch_dir
            .map(|directory| read_pin_files(current_dir, &directory, of("torch"), &mut sink));
        let project = read_pin_files(current_dir, Path::new(""), of("project"), &mut sink);
        let is_read = selected
            .rows
            .iter()
            .any(|row| reads_related(row, explicit, selected.preset));
        let related_file = pins
            .iter()
            .find(|row| row.format == "related-commits")
            .map(|row| &row.file);
        let related = torch
            .as_ref()
            .zip(related_file)
            .filter(|_| is_read)
            .and_then(|(files, file)| files.get(file))
            .map(|source| RelatedCommits::parse(source, self.strictness, &mut sink));
        if sink.has_errors() {
            return Err(sink.finish().into());
        }
        let files = PinFiles {
            torch,
            project,
            related,
        };
        Ok((files, sink.finish()))
    }

    /// Returns the torch checkout; `None` if none was selected and there is none at the default
    /// path.
    fn find_torch(
        &self,
        compat: &Compat,
        current_dir: &Path,
    ) -> Result<Option<PathBuf>, Diagnostic> {
        let is_directory = |directory: &Path| rock_sys::is_directory(&current_dir.join(directory));
        let Some(directory) = &self.torch_dir else {
            let torch = compat.source_tables().projects.first();
            return Ok(torch
                .map(|row| PathBuf::from(&row.folder))
                .filter(|directory| is_directory(directory)));
        };
        if is_directory(directory) {
            return Ok(Some(directory.clone()));
        }
        let shown = directory.display().to_string();
        Err(no_torch(&shown).help("check out torch first: `rock-matrix source checkout torch`"))
    }
}

/// Returns the error for a directory without a torch checkout.
pub(crate) fn no_torch(shown: &str) -> Diagnostic {
    Diagnostic::new(
        &codes::NO_PIN,
        format!("there is no checkout of torch at `{shown}`"),
    )
    .at(Location::Argument(shown.to_owned()), "")
}

/// Reads those of the files that exist, and returns them by path. Errors go to the sink; names in
/// messages are relative to `current_dir`.
pub(crate) fn read_pin_files<'a>(
    current_dir: &Path,
    directory: &Path,
    paths: impl Iterator<Item = &'a str>,
    sink: &mut Sink,
) -> BTreeMap<String, SourceText> {
    let mut found = BTreeMap::new();
    for path in paths {
        let shown = directory.join(path);
        let file = current_dir.join(&shown);
        if !rock_sys::is_file(&file) {
            continue;
        }
        match rock_sys::read_text(&file, LARGEST_PIN_FILE_BYTES) {
            Ok(text) => {
                let source = SourceText::new(shown.display().to_string(), text);
                found.insert(path.to_owned(), source);
            }
            Err(error) => sink.push(
                FileError {
                    path: shown,
                    ..error
                }
                .into(),
            ),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::ProjectSelection;
    use crate::ExplicitSelection;
    use rock_compat::Compat;

    #[test]
    fn projects_are_selected_by_any_name_in_build_order() {
        let compat = Compat::embedded();
        let selection = ProjectSelection::new("linux");
        let select = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            selection.select(&compat, &names).map(|selected| {
                let projects = selected.rows.iter().map(|row| row.project.clone());
                projects.collect::<Vec<_>>()
            })
        };
        assert_eq!(
            select(&["torchaudio", "torch", "pytorch_audio"]).unwrap(),
            ["torch", "audio"]
        );
        let errors = select(&["torsh", "torch", "visoin"]).unwrap_err();
        assert_eq!(errors.as_slice().len(), 2);
    }

    #[test]
    fn a_selected_torch_checkout_must_exist_and_the_default_one_need_not() {
        let compat = Compat::embedded();
        let directory = tempfile::tempdir().unwrap();
        let mut selection = ProjectSelection::new("linux");
        let read = |selection: &ProjectSelection| {
            let selected = selection.select(&compat, &[]).unwrap();
            let explicit = ExplicitSelection::default();
            selection.read_pins(&compat, &selected, &explicit, directory.path())
        };
        let (files, warnings) = read(&selection).unwrap();
        assert!(files.torch.is_none() && warnings.is_empty());
        selection.torch_dir = Some("torch".into());
        assert_eq!(
            read(&selection).unwrap_err().to_string(),
            "there is no checkout of torch at `torch`"
        );
        rock_sys::create_directory(&directory.path().join("torch")).unwrap();
        assert!(read(&selection).unwrap().0.torch.is_some());
    }
}
