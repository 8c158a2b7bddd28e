//! `report listing`: a saved list of published releases, for documents that have to agree.

use std::path::PathBuf;

use super::output::Output;
use crate::cli::published::{self, ReadOptions};
use crate::cli::{Exit, Shell};
use crate::diagnostic::Sink;
use crate::publish::ManifestSelection;

/// Save the published releases and their manifests to a file for `--published`
///
/// GitHub is queried once, and all documents generated from the file describe the same releases.
/// The file contains the output of `gh api --paginate --slurp repos/OWNER/REPO/releases` and the
/// rock-manifest.json of each release, which has data that filenames lack, such as gfx targets and
/// Requires-Python.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  rock-matrix report listing --published OWNER/REPO --out releases.json
  rock-matrix report packages --published releases.json --out docs/packages.md")]
pub(super) struct Args {
    /// Repository on GitHub, or a saved list of its releases; can be repeated
    #[arg(
        long,
        value_name = "OWNER/REPO|FILE",
        required = true,
        help_heading = "Input"
    )]
    published: Vec<PathBuf>,
    #[command(flatten)]
    read_options: ReadOptions,
    #[command(flatten)]
    output: Output,
}

/// Runs the command.
///
/// # Errors
/// The exit of the command; the reason was reported or is in the sink.
pub(super) fn run(args: &Args, shell: &Shell, sink: &mut Sink) -> Result<Exit, Exit> {
    args.output
        .spare(args.published.iter().map(PathBuf::as_path), shell)?;
    let manifests = ManifestSelection::Newest(args.read_options.most_manifests);
    let published = published::read(
        &args.published,
        &args.read_options.connection,
        manifests,
        shell,
        sink,
    )?;
    let text = published.to_saved().map_err(|error| {
        sink.push(error);
        Exit::Fault
    })?;
    Ok(args.output.deliver(&text, shell))
}
