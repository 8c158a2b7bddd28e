//! `wheel label`: set the local version label.

use std::path::PathBuf;

use clap::error::ErrorKind;

use super::OutputFormat;
use super::output::{self, Destination, OutputFolder, first};
use crate::audit::{Inspection, check_under_name};
use crate::cli::{Exit, Shell, load, misused};
use crate::codes::rocm as codes;
use crate::names::{LocalLabel, has_wheel_extension, new_label};
use crate::wheel::{ExistingLabel, LabelCheck, relabel};

/// Set the local version label of wheels, in their filenames and metadata
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "rock-matrix wheel label [OPTIONS] <WHEEL|DIR>... <LABEL>\n       \
        rock-matrix wheel label [OPTIONS] --local <LABEL> <WHEEL|DIR>...",
    after_long_help = "\
A label has letters and digits, in segments separated by dots. ROCm versions are read with dots
(rocm7.1) and without them (rocm71). Prefer dots: rocm714 may be ROCm 7.14 or 7.1.4.

The input is not modified: the new wheel is written under its new name, and its path is printed.
Compressed members are copied without recompressing them. SOURCE_DATE_EPOCH sets the time of all
members. --json prints one document for each wheel, on one line.

Examples:
  rock-matrix wheel label built.whl rocm7.1torch2.9                   next to built.whl
  rock-matrix wheel label built.whl rocm7.1torch2.9 --replace         change the label
  rock-matrix wheel label built.whl gfx942 --append                   extend the label
  rock-matrix wheel label dist/*.whl rocm7.1 --out wheelhouse         several wheels
  rock-matrix wheel label dist rocm7.1 --out wheelhouse               all wheels in a directory
  rock-matrix wheel label built.whl rocm7.1 --check-label             fail if contradicted"
)]
pub(super) struct Args {
    /// Wheels to label, or directories with wheels, then the label; the files are not modified
    ///
    /// With --local, there is no label after the wheels.
    #[arg(value_name = "WHEEL|DIR|LABEL", required = true)]
    words: Vec<PathBuf>,
    /// Label to set, instead of the last argument
    #[arg(
        long,
        value_name = "LABEL",
        alias = "label",
        value_parser = new_label,
        hide_short_help = true
    )]
    local: Option<LocalLabel>,
    /// Replace a different label of the wheel, and an existing file that has different content
    ///
    /// With --append, only an existing file is replaced.
    #[arg(long)]
    replace: bool,
    /// Append to the label of the wheel
    #[arg(long)]
    append: bool,
    /// Fail if the libraries of the wheel contradict the label
    #[arg(long)]
    check_label: bool,
    #[command(flatten)]
    folder: OutputFolder,
    // The former option to replace an existing file.
    #[arg(long, alias = "overwrite", hide = true)]
    force: bool,
    #[command(flatten)]
    format: OutputFormat,
}

impl Args {
    /// Returns the wheels and the label, which is the last argument unless `--local` sets it.
    ///
    /// # Errors
    /// The exit code of the command, after reporting that there is no label or that it is invalid.
    fn wheels_and_label(&self) -> Result<(&[PathBuf], LocalLabel), Exit> {
        if let Some(label) = &self.local {
            return Ok((&self.words, label.clone()));
        }
        let (last, wheels) = self.words.split_last().expect("clap requires an argument");
        let text = last.to_string_lossy();
        if wheels.is_empty() || has_wheel_extension(&text) {
            return Err(misused(
                &["wheel", "label"],
                ErrorKind::MissingRequiredArgument,
                "the following required arguments were not provided:\n  <LABEL>",
            ));
        }
        let label = new_label(&text).map_err(|error| {
            misused(
                &["wheel", "label"],
                ErrorKind::ValueValidation,
                &format!("invalid value '{text}' for '<LABEL>': {error}"),
            )
        })?;
        Ok((wheels, label))
    }
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let existing = match (args.append, args.replace) {
        (true, _) => ExistingLabel::Append,
        (false, true) => ExistingLabel::Replace,
        (false, false) => ExistingLabel::Refuse,
    };
    let (wheels, label) = match args.wheels_and_label() {
        Ok(found) => found,
        Err(exit) => return exit,
    };
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    let destination = Destination {
        folder: &args.folder,
        overwrite: args.replace || args.force,
    };
    output::rename_each(
        wheels,
        destination,
        &args.format,
        shell,
        LabelCheck::Ignore,
        |wheel, file| {
            let changed = relabel(wheel, &file.name, &label, existing)
                .map_err(|error| error.diagnostic(&file.file_name))?;
            if args.check_label {
                let found =
                    check_under_name(&changed.name, &file.file, Inspection::GPU_TABLES, compat)
                        .map_err(|error| first(error.diagnostics()))?;
                if let Some(finding) = found
                    .into_iter()
                    .find(|one| one.is_error() && one.code == &codes::LABEL_NOT_IN_CONTENTS)
                {
                    return Err(finding);
                }
            }
            Ok(changed)
        },
    )
}
