//! `wheel label`: set the local version label.

use std::path::PathBuf;

use super::Printing;
use super::output::{self, Destination, first};
use crate::audit::{InspectionDepth, check_under_name};
use crate::cli::{Exit, Shell, load};
use crate::codes::rocm as codes;
use crate::names::LocalLabel;
use crate::wheel::{ExistingLabel, LabelCheck, relabel};

/// Set the local version label of a wheel, in its name and inside
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The wheel itself stays as it is; a new one is written under the new name, and its path printed.
Compressed members are copied as they are. SOURCE_DATE_EPOCH sets the time of all members.

Examples:
  rock-matrix wheel label dist/flash_attn-2.8.3-py3-none-any.whl --local rocm62torch2.5triton
  rock-matrix wheel label built.whl --local rocm62torch2.5 -w wheelhouse
  rock-matrix wheel label built.whl --local rocm6.2torch2.5 --replace
                                                                  another label
  rock-matrix wheel label built.whl --local gfx942 --append       after the one it has
  rock-matrix wheel label built.whl --local rocm62 --check-label  only where its libraries agree")]
pub(super) struct Args {
    /// The wheel
    wheel: PathBuf,
    /// The label: letters and digits in segments joined with dots
    #[arg(long, value_name = "LABEL")]
    local: LocalLabel,
    /// Put it in the place of another label
    #[arg(long, conflicts_with = "append")]
    replace: bool,
    /// Put it behind the label that is there
    #[arg(long)]
    append: bool,
    /// Refuse a label that the libraries of the wheel contradict
    #[arg(long)]
    check_label: bool,
    #[command(flatten)]
    destination: Destination,
    #[command(flatten)]
    printing: Printing,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let existing = match (args.replace, args.append) {
        (true, _) => ExistingLabel::Replace,
        (_, true) => ExistingLabel::Append,
        _ => ExistingLabel::Refuse,
    };
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    output::change(
        &args.wheel,
        &args.destination,
        &args.printing,
        shell,
        LabelCheck::Ignore,
        |wheel, file| {
            let changed = relabel(wheel, &file.name, &args.local, existing)
                .map_err(|error| error.diagnostic(&file.file_name))?;
            if args.check_label {
                let found =
                    check_under_name(&changed.name, &file.file, InspectionDepth::Tables, compat)
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
