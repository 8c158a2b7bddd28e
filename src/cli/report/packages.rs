//! `report packages`: the table of all published wheels.

use super::input;
use super::output::Output;
use crate::cli::published::{Prereleases, ReadOptions};
use crate::cli::yanked_in_options::YankedInOptions;
use crate::cli::{Exit, Format, OutputFormat, Shell, load};
use crate::diagnostic::Sink;
use crate::publish::ManifestSelection;
use crate::report;

/// Write a table of all published wheels, with links
///
/// Wheels are sorted by platform, distribution and version.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  rock-matrix report packages --published OWNER/REPO --out docs/packages.md
  rock-matrix report packages --published releases --base-url https://example.org/wheels --json")]
pub(super) struct Args {
    #[command(flatten)]
    listed: input::PublishedArgs,
    #[command(flatten)]
    prereleases: Prereleases,
    #[command(flatten)]
    yanked_in: YankedInOptions,
    #[command(flatten)]
    read_options: ReadOptions,
    #[command(flatten, next_help_heading = "Output")]
    format: OutputFormat,
    #[command(flatten)]
    output: Output,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell, sink: &mut Sink) -> Result<Exit, Exit> {
    args.output.spare(args.listed.paths(), shell)?;
    let compat = load::compat(shell)?;
    // Manifests have data that names lack, such as gfx targets.
    let manifests = ManifestSelection::Newest(args.read_options.most_manifests);
    let mut inventory = args.listed.read_with_yanked(
        &args.yanked_in,
        &args.read_options.connection,
        manifests,
        shell,
        sink,
    )?;
    args.prereleases
        .leave_out(std::iter::once(&mut inventory.listing), shell);
    let wheels = inventory.newest_wheels(compat, sink);
    let text = match args.format.get() {
        Format::Human => report::packages(&wheels),
        Format::Json => report::packages_json(&wheels),
    };
    Ok(args.output.deliver(&text, shell))
}
