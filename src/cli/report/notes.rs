//! `report notes`: the notes of a release, and its section in a history.

use std::path::PathBuf;

use super::input;
use super::output::{Output, worse};
use crate::cli::publish::{self, Connection};
use crate::cli::yanked_in_options::YankedInOptions;
use crate::cli::{Exit, Shell, load};
use crate::diagnostic::Sink;
use crate::publish::{ListedRelease, ManifestSelection};
use crate::report::{self, ReleaseNotes};

/// Write release notes with wheels, install commands, checksums and missing wheels
///
/// With a plan and job results, the notes list the wheels that are missing, and why. A release with
/// more files than GitHub allows continues in TAG-2, TAG-3 and so on; the notes cover all of these.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  rock-matrix report notes --tag v1 --published OWNER/REPO --out notes.md
  rock-matrix report notes --tag v1 --published releases.json --plan plan.json --results .rock")]
pub(super) struct Args {
    /// Tag of the release
    #[arg(long, value_name = "TAG", help_heading = "Input")]
    tag: String,
    #[command(flatten)]
    listed: input::PublishedArgs,
    #[command(flatten)]
    yanked_in: YankedInOptions,
    #[command(flatten)]
    connection: Connection,
    /// Plan saved with `plan --format json`, or matrix files; can be repeated
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    plan: Vec<PathBuf>,
    #[arg(
        long,
        value_name = "FILE|DIR",
        requires = "plan",
        help_heading = "Input",
        help = input::RESULTS
    )]
    results: Vec<PathBuf>,
    /// URL of the directory with the package indexes, for the install commands
    #[arg(long, value_name = "URL", help_heading = "Input")]
    index_url: Option<String>,
    /// Whether the workflow attests the files [default: unknown]
    ///
    /// If it is unknown, the notes show how to verify attestations if there are any.
    #[arg(long, value_name = "WHEN", value_parser = ["on", "off"], help_heading = "Input")]
    attest: Option<String>,
    #[command(flatten)]
    output: Output,
    /// Insert a section for this release below `## History` in this document
    ///
    /// It replaces a section with the same heading, such as `### v1`, or becomes the first one.
    #[arg(long, value_name = "FILE", group = "files", help_heading = "Output")]
    history: Option<PathBuf>,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell, sink: &mut Sink) -> Result<Exit, Exit> {
    let inputs = args
        .listed
        .paths()
        .chain(args.plan.iter().map(PathBuf::as_path));
    let results = args.results.iter().map(PathBuf::as_path);
    args.output
        .spare(inputs.chain(results).chain(args.history.as_deref()), shell)?;
    let compat = load::compat(shell)?;
    let index = publish::address(args.index_url.as_deref(), "--index-url", sink);
    let mut inventory = args.listed.read_with_yanked(
        &args.yanked_in,
        &args.connection,
        ManifestSelection::OfTag(&args.tag),
        shell,
        sink,
    )?;
    let address = args.listed.release_address(&args.tag, shell, sink);
    let most_assets = compat.limit_value("release-assets");
    let releases = inventory
        .take_release(&args.tag, most_assets, address.as_ref())
        .map_err(|error| {
            sink.push(error);
            Exit::Fault
        })?;
    let wheels = inventory.wheels_of(&releases, compat, sink);
    let expected = input::expected(&args.plan, compat, shell, sink)?;
    let outcomes = input::outcomes(&args.results, &expected, shell, sink)?;
    let repository = releases
        .first()
        .and_then(|release| inventory.repository_of(release));
    let parts: Vec<&ListedRelease> = releases.iter().collect();
    let notes = ReleaseNotes {
        tag: &args.tag,
        releases: &parts,
        wheels: &wheels,
        expected: &expected,
        outcomes: &outcomes,
        index: index.as_ref(),
        compat,
        repository: repository.as_ref(),
        has_manifest: inventory.has_manifest_of(&args.tag),
        attested: args.attest.as_deref().map(|when| when == "on"),
        most_bytes: compat.limit_value("release-text") as u64,
    };
    let mut exit = Exit::Done;
    if let Some(history) = &args.history {
        let section = report::history_section(&notes);
        exit = args.output.change(history, shell, sink, |text| {
            report::with_section(text, &section)
        })?;
        if args.output.out.is_none() {
            return Ok(exit);
        }
    }
    let text = report::notes(&notes).map_err(|error| {
        shell.tell(&format!("template {}: {}", error.name, error.reason));
        Exit::Machine
    })?;
    Ok(worse(exit, args.output.deliver(&text, shell)))
}
