//! `release subjects`: the subjects of an attestation, which are the files to publish and their
//! digests.

use std::path::PathBuf;

use crate::cli::publish::digest_cache;
use crate::cli::{Exit, Shell, load, output_path};
use crate::diagnostic::Sink;
use crate::names::Digest;
use crate::publish::{
    CheckDepth, MetadataBody, as_github_release, expand_paths, left_out, read_assets,
    unique_by_name, without_paths, write_subjects,
};

/// Write the digests of files for actions/attest
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  rock-matrix release subjects dist/ --out subjects.txt
  rock-matrix release subjects dist/ --known dist/SHA256SUMS --out subjects.txt")]
pub(super) struct Args {
    /// Wheels, sdists, and directories that contain them
    #[arg(value_name = "FILES", required = true)]
    files: Vec<PathBuf>,
    /// File that is written, in the format of `sha256sum`
    ///
    /// A file has at most 1,024 digests; the others are written to FILE-2, FILE-3, and so on.
    #[arg(short, long, value_name = "FILE", value_parser = output_path::several_files())]
    out: PathBuf,
    /// Trust the digests in this rock-manifest.json or SHA256SUMS
    #[arg(long, value_name = "FILE")]
    known: Vec<PathBuf>,
    /// Hash every file, even if its digest is recorded
    #[arg(long, conflicts_with = "known")]
    read_all: bool,
}

/// Runs the command: writes the subjects, split into files of limited length, and prints the paths
/// of these files. Removes further files of an earlier run, whose subjects are outdated.
pub(super) fn run(args: &Args, shell: &Shell, sink: &mut Sink) -> Result<Exit, Exit> {
    let compat = load::compat(shell)?;
    let files = expand_paths(&args.files, sink);
    let cache = digest_cache(
        &args.known,
        args.read_all,
        &files,
        MetadataBody::Skip,
        shell,
        sink,
    )?;
    let offered = read_assets(&files, CheckDepth::Verify, &cache, compat, sink);
    as_github_release(&without_paths(&offered), &left_out(&files, &offered), sink);
    if sink.has_errors() {
        return Err(Exit::Fault);
    }
    let offered = unique_by_name(offered);
    let files: Vec<(&str, Digest)> = offered
        .iter()
        .map(|file| (file.name(), file.asset.digest))
        .collect();
    let limit = compat.limit_value("attestation-subjects");
    let paths = write_subjects(&args.out, &files, limit).map_err(|error| {
        sink.push(error.into());
        Exit::Machine
    })?;
    let paths = paths.iter().map(|path| format!("{}\n", path.display()));
    Ok(shell.print(&paths.collect::<String>()))
}
