//! Options that select sources, and the files that contain pins.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Shell;
use super::limits::LARGEST_PIN_FILE_BYTES;
use crate::codes::sources as codes;
use crate::compat::Compat;
use crate::compat::rows::{ProjectRow, TorchSourceRow};
use crate::diagnostic::{Diagnostic, Location, Sink, SourceText};
use crate::source::related::{RelatedCommits, RowStrictness};
use crate::source::{ExplicitSelection, PinFiles, projects, reads_related};
use crate::sys;

/// The default operating system whose rows of `related_commits` are preferred.
const RELATED_OS: &str = "ubuntu";

// Options that select sources. They have no doc comment: clap would show it as the description of
// the command.
#[derive(Debug, clap::Args)]
pub(super) struct Choices {
    /// Target platform
    #[arg(
        long,
        default_value = "linux",
        value_parser = ["linux", "windows"],
        value_name = "PLATFORM",
        help_heading = "Sources"
    )]
    pub(super) platform: String,
    /// Use the repositories and refs of a preset, such as rocm-2.13
    ///
    /// Presets are rows of the table `torch-sources`: refs that are known to build together, and
    /// the projects to build on each platform. `rock-matrix compat list torch-sources` lists them.
    #[arg(long, value_name = "NAME", help_heading = "Sources")]
    pub(super) preset: Option<String>,
    /// Torch checkout to read pins from [default: pytorch, if it exists]
    ///
    /// The default is torch's directory in the table `projects`, relative to the working directory.
    #[arg(long, value_name = "DIR", help_heading = "Sources")]
    pub(super) torch_dir: Option<PathBuf>,
    /// Operating system whose rows of `related_commits` are preferred
    ///
    /// A project without a row for it uses a row for another system.
    #[arg(
        long,
        value_name = "OS",
        default_value = RELATED_OS,
        help_heading = "Pins",
        hide_short_help = true
    )]
    pub(super) related_os: String,
    /// Fail if `related_commits` has no row for a project
    ///
    /// Without this option, such a project uses its default ref.
    #[arg(long, help_heading = "Pins", hide_short_help = true)]
    pub(super) require_related_commit: bool,
    /// Skip invalid rows of `related_commits` with a warning
    #[arg(long, help_heading = "Pins", hide_short_help = true)]
    pub(super) lenient: bool,
    /// Use triton's release branch instead of the commit that torch pins
    ///
    /// The branch is that of the triton version that torch pins.
    #[arg(long, help_heading = "Pins", hide_short_help = true)]
    pub(super) release: bool,
}

/// The rows of the compatibility tables that the options select.
pub(super) struct Chosen<'a> {
    pub(super) preset: Option<&'a TorchSourceRow>,
    /// The projects in build order.
    pub(super) rows: Vec<&'a ProjectRow>,
}

impl Choices {
    /// Returns the options of a command that reads remote repositories, without a torch checkout.
    pub(super) fn of_remotes(platform: &str, preset: Option<String>) -> Self {
        Self {
            platform: platform.to_owned(),
            preset,
            torch_dir: None,
            related_os: RELATED_OS.to_owned(),
            require_related_commit: false,
            lenient: false,
            release: false,
        }
    }

    /// Returns the preset and the named projects; without names, the projects of the preset, or
    /// else all projects of the platform. Problems are pushed to the sink.
    pub(super) fn chosen<'a>(
        &self,
        compat: &'a Compat,
        names: &[String],
        sink: &mut Sink,
    ) -> Option<Chosen<'a>> {
        let mut told = |fault: Diagnostic| sink.push(fault);
        let preset = match self
            .preset
            .as_deref()
            .map(|name| projects::preset(compat, name))
            .transpose()
        {
            Ok(preset) => preset,
            Err(fault) => {
                told(fault);
                return None;
            }
        };
        let all = match preset {
            Some(preset) => projects::of_preset(compat, preset, &self.platform)
                .map_err(&mut told)
                .ok()?,
            None => projects::on(compat, &self.platform),
        };
        if names.is_empty() {
            return Some(Chosen { preset, rows: all });
        }
        let mut rows: Vec<&ProjectRow> = Vec::new();
        let mut is_whole = true;
        for name in names {
            match projects::find(compat, name, &self.platform) {
                Ok(row) => rows.push(row),
                Err(fault) => {
                    told(fault);
                    is_whole = false;
                }
            }
        }
        let order = |row: &&ProjectRow| {
            compat
                .source_tables()
                .projects
                .iter()
                .position(|other| other == *row)
        };
        rows.sort_by_key(order);
        rows.dedup();
        is_whole.then_some(Chosen { preset, rows })
    }

    /// Reads the files with the pins of these projects. Missing files are not an error here.
    pub(super) fn pin_files(
        &self,
        compat: &Compat,
        chosen: &Chosen<'_>,
        explicit: &ExplicitSelection,
        shell: &Shell,
        sink: &mut Sink,
    ) -> Option<PinFiles> {
        let torch_dir = match &self.torch_dir {
            Some(folder) if !shell.environment.current_dir.join(folder).is_dir() => {
                sink.push(
                    Diagnostic::new(
                        &codes::NO_PIN,
                        format!("there is no checkout of torch at `{}`", folder.display()),
                    )
                    .at(Location::Argument(folder.display().to_string()), "")
                    .help("check out torch first: `rock-matrix source checkout torch`"),
                );
                return None;
            }
            Some(folder) => Some(folder.clone()),
            None => {
                let torch = compat
                    .source_tables()
                    .projects
                    .first()
                    .map(|row| PathBuf::from(&row.folder));
                torch.filter(|folder| shell.environment.current_dir.join(folder).is_dir())
            }
        };
        let errors = sink.error_count();
        let pins = &compat.source_tables().pins;
        let of = |beside: &'static str| {
            pins.iter()
                .filter(move |row| row.beside == beside)
                .map(|row| row.file.as_str())
        };
        let torch = torch_dir.map(|folder| read_files(&folder, of("torch"), sink));
        let project = read_files(Path::new(""), of("project"), sink);
        let strictness = if self.lenient {
            RowStrictness::Lenient
        } else {
            RowStrictness::Strict
        };
        let is_read = chosen
            .rows
            .iter()
            .any(|row| reads_related(row, explicit, chosen.preset));
        let related_file = pins
            .iter()
            .find(|row| row.format == "related-commits")
            .map(|row| &row.file);
        let related = torch
            .as_ref()
            .zip(related_file)
            .filter(|_| is_read)
            .and_then(|(files, file)| files.get(file));
        let related = related.map(|source| RelatedCommits::parse(source, strictness, sink));
        (sink.error_count() == errors).then_some(PinFiles {
            torch,
            project,
            related,
        })
    }
}

/// Reads those of the files that exist, and returns them by path.
pub(super) fn read_files<'a>(
    folder: &Path,
    paths: impl Iterator<Item = &'a str>,
    sink: &mut Sink,
) -> BTreeMap<String, SourceText> {
    let mut found = BTreeMap::new();
    for path in paths {
        let file = folder.join(path);
        if !sys::is_file(&file) {
            continue;
        }
        match sys::read_text(&file, LARGEST_PIN_FILE_BYTES) {
            Ok(text) => drop(found.insert(
                path.to_owned(),
                SourceText::new(file.display().to_string(), text),
            )),
            Err(error) => sink.push(error.into()),
        }
    }
    found
}
