//! `report listing`: what is published, saved, so that several documents are made of the same.

use std::path::PathBuf;

use super::output::Output;
use crate::cli::published::{self, Manifests, Reading};
use crate::cli::{Exit, Shell};
use crate::codes::release as codes;
use crate::diagnostic::{Diagnostic, Location, Sink};
use crate::publish::saved;

/// Save what is published, releases and their manifests, as one file that every `--published` reads
#[derive(Debug, clap::Args)]
#[command(after_help = "\
GitHub is asked once, and what is made of the file is about the same releases. The file has what
`gh api --paginate --slurp repos/OWNER/REPO/releases` prints and each release's rock-manifest.json,
which says what names do not: gfx targets, Requires-Python.

Examples:
  rock-matrix report listing --published OWNER/REPO --out published.json
  rock-matrix report packages --published published.json --out docs/packages.md")]
pub(super) struct Args {
    /// The repository on GitHub, or a saved list of its releases; can be repeated
    #[arg(
        long,
        value_name = "OWNER/REPO|FILE",
        required = true,
        help_heading = "Input"
    )]
    published: Vec<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    output: Output,
}

/// Runs the command.
///
/// # Errors
/// The exit of the command, after saying why.
pub(super) fn run(args: &Args, shell: &Shell, sink: &mut Sink) -> Result<Exit, Exit> {
    args.output
        .spare(args.published.iter().map(PathBuf::as_path), shell)?;
    let manifests = Manifests::Newest(args.reading.most_manifests);
    let published = published::read(
        &args.published,
        &args.reading.connection,
        manifests,
        shell,
        sink,
    )?;
    // A folder's files have no address that a file elsewhere could tell, and a manifest's lie
    // beside it.
    let is_placed =
        |part: &&published::Part| part.folder.is_some() && !part.listing.releases.is_empty();
    if let Some(folder) = published
        .parts
        .iter()
        .find(is_placed)
        .and_then(|part| part.folder.as_deref())
    {
        let message = format!(
            "what lies in `{}` has no address that could be saved",
            folder.display()
        );
        let fault = Diagnostic::new(&codes::NOT_A_LISTING, message)
            .at(Location::Argument("--published".to_owned()), "");
        sink.push(fault.help("give the folder itself where it is read"));
        return Err(Exit::Fault);
    }
    Ok(args
        .output
        .deliver(&saved(&published.listing(), &published.manifests()), shell))
}
