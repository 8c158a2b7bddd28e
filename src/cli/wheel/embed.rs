//! `wheel embed`: embed the ROCm runtime in a wheel.

use std::path::PathBuf;

use super::output::{self, DestinationArgs};
use super::{OutputFormat, fail};
use crate::audit::WheelFile;
use crate::audit::embed::{RocmEmbedding, RocmRequirement};
use crate::cli::{Exit, Shell, load};
use crate::diagnostic::Diagnostics;
use crate::wheel::{LabelCheck, Wheel};

/// Embed the ROCm runtime in a wheel, so that it needs no ROCm packages
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
For torch wheels for Windows; support for Linux is experimental. The local version label gets the
prefix `rocm.`, and the requirement of ROCm packages is removed. The input is not modified: the new
wheel is written under its new name, and its path is printed. A wheel that already contains ROCm
does not change. The compatibility data defines which files are embedded and where:
`rock-matrix compat list embeddings`. SOURCE_DATE_EPOCH sets the time of all members.

Examples:
  rock-matrix wheel embed torch-2.9.0+rocm7.10.0-cp312-cp312-win_amd64.whl --rocm build/dist/rocm
  rock-matrix wheel embed torch-2.9.0-cp312-cp312-win_amd64.whl --rocm rocm --out fat")]
pub(super) struct Args {
    /// Wheel to embed ROCm in; the file is not modified
    wheel: PathBuf,
    /// Folder of the ROCm installation
    #[arg(long, value_name = "DIR")]
    rocm: PathBuf,
    /// Keep the requirement of ROCm packages
    ///
    /// Installers then install these packages as well.
    #[arg(long)]
    keep_requires: bool,
    #[command(flatten)]
    destination: DestinationArgs,
    #[command(flatten)]
    format: OutputFormat,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    embed(args, shell).unwrap_or_else(|errors| fail(shell, &errors))
}

fn embed(args: &Args, shell: &Shell) -> Result<Exit, Diagnostics> {
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return Ok(exit),
    };
    let input = WheelFile::open(&args.wheel)?;
    let wheel = Wheel::open(&input.file).map_err(|error| error.diagnostic(&input.file_name))?;
    output::check_copied(&wheel, &input, LabelCheck::Ignore)?;
    let requirements = if args.keep_requires {
        RocmRequirement::Kept
    } else {
        RocmRequirement::Dropped
    };
    let embedding = RocmEmbedding::new(&wheel, &input, &args.rocm, requirements, compat)?;
    let change = embedding.plan();
    let destination = args.destination.destination();
    let (out, saved) = output::save(&args.wheel, &wheel, &change, destination, shell)?;
    Ok(output::tell(
        &args.wheel,
        &out,
        saved,
        change,
        &args.format,
        shell,
    ))
}
