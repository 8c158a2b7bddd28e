//! `wheel embed`: embed the ROCm runtime in wheels.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::OutputFormat;
use super::output::{self, ChangedWheel, DestinationArgs, WheelWriter};
use crate::audit::WheelFile;
use crate::audit::embed::{RocmEmbedding, RocmRequirement};
use crate::cli::{Exit, Shell, load};
use crate::compat::Compat;
use crate::diagnostic::Diagnostics;
use crate::wheel::{LabelCheck, Wheel};

/// Embed the ROCm runtime in wheels, so that they need no ROCm packages
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
For torch wheels for Windows; support for Linux is experimental. The local version label gets the
prefix `rocm.`, and the requirement of ROCm packages is removed. The input is not modified: the new
wheel is written under its new name, and its path is printed. A wheel that already contains ROCm
does not change. The compatibility data defines which files are embedded and where:
`rock-matrix compat list embeddings`. SOURCE_DATE_EPOCH sets the time of all members. --json prints
one document for each wheel, on one line.

Examples:
  rock-matrix wheel embed torch-2.9.0+rocm7.10.0-cp312-cp312-win_amd64.whl --rocm build/dist/rocm
  rock-matrix wheel embed torch-2.9.0-cp312-cp312-win_amd64.whl --rocm rocm --out fat")]
pub(super) struct Args {
    /// Wheels to embed ROCm in, or directories with wheels; the files are not modified
    #[arg(required = true, value_name = "WHEEL|DIR")]
    wheels: Vec<PathBuf>,
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
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    output::change_each(
        &args.wheels,
        args.destination.destination(),
        &args.format,
        shell,
        // Only the write of a result tells whether another wheel has it.
        |_| BTreeMap::new(),
        |path, writer| embed(path, args, writer, compat),
    )
}

fn embed(
    path: &Path,
    args: &Args,
    writer: &mut WheelWriter<'_>,
    compat: &Compat,
) -> Result<ChangedWheel, Diagnostics> {
    let input = WheelFile::open(path)?;
    let wheel = Wheel::open(&input.file).map_err(|error| error.diagnostic(&input.file_name))?;
    output::check_copied(&wheel, &input, LabelCheck::Ignore)?;
    let requirements = if args.keep_requires {
        RocmRequirement::Kept
    } else {
        RocmRequirement::Dropped
    };
    let embedding = RocmEmbedding::new(&wheel, &input, &args.rocm, requirements, compat)?;
    writer
        .save(path, &wheel, embedding.plan())
        .map_err(Diagnostics::from)
}
