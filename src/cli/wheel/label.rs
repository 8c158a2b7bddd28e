//! `wheel label`: set the local version label.

use std::path::PathBuf;

use super::OutputFormat;
use super::output::{self, Destination, OutputFolder, first};
use crate::audit::{Inspection, check_under_name};
use crate::cli::{Exit, Shell, load};
use crate::codes::rocm as codes;
use crate::names::LocalLabel;
use crate::wheel::{ExistingLabel, LabelCheck, relabel};

/// Set the local version label of wheels, in their filenames and metadata
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
The input is not modified: the new wheel is written under its new name, and its path is printed.
Compressed members are copied without recompressing them. SOURCE_DATE_EPOCH sets the time of all
members. --json prints one document for each wheel, on one line.

Examples:
  rock-matrix wheel label built.whl rocm62torch2.5                    next to built.whl
  rock-matrix wheel label built.whl rocm6.2torch2.5 --replace         change the label
  rock-matrix wheel label built.whl gfx942 --append                   extend the label
  rock-matrix wheel label dist rocm62 --out wheelhouse                all wheels in a directory
  rock-matrix wheel label built.whl rocm62 --check-label              fail if contradicted")]
pub(super) struct Args {
    /// Wheel to label, or a directory with wheels; the files are not modified
    #[arg(value_name = "WHEEL|DIR")]
    wheel: PathBuf,
    // clap does not require it next to `--local`, which excludes it.
    /// Label to set: letters and digits, in segments separated by dots
    #[arg(value_name = "LABEL", required = true)]
    label: Option<LocalLabel>,
    /// Label to set; same as the argument
    #[arg(
        long,
        value_name = "LABEL",
        alias = "label",
        conflicts_with = "label",
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

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let existing = match (args.append, args.replace) {
        (true, _) => ExistingLabel::Append,
        (false, true) => ExistingLabel::Replace,
        (false, false) => ExistingLabel::Refuse,
    };
    let label = args.label.as_ref().or(args.local.as_ref());
    let label = label.expect("clap requires a label");
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    let destination = Destination {
        folder: &args.folder,
        overwrite: args.replace || args.force,
    };
    output::rename_each(
        std::slice::from_ref(&args.wheel),
        destination,
        &args.format,
        shell,
        LabelCheck::Ignore,
        |wheel, file| {
            let changed = relabel(wheel, &file.name, label, existing)
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
