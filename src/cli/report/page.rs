//! `report page`: the wheel finder, a web page that finds a wheel and shows its install command.

use std::path::PathBuf;

use super::output::Output;
use crate::cli::published::{self, Prereleases, ReadOptions};
use crate::cli::yanked_in_options::YankedInOptions;
use crate::cli::{Exit, Shell, load, publish};
use crate::codes::release as codes;
use crate::diagnostic::{Diagnostic, Sink, counted};
use crate::finder::FinderWheels;
use crate::publish::ManifestSelection;

/// Write the wheel finder, a web page that finds the published wheel for a machine
///
/// The page is a single file that makes no network requests. It works from a local directory and
/// from any static server.
///
/// A saved list of releases is a file that `report listing` wrote, or the output of
/// `gh api --paginate --slurp repos/OWNER/REPO/releases`. The latter does not contain GPU targets:
/// add the release's rock-manifest.json with a second `--published`.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  rock-matrix report page --published OWNER/REPO --out site/index.html
  rock-matrix report page --published release/ --base-url https://example.org/release -o page.html")]
pub(super) struct Args {
    #[arg(
        long,
        value_name = "FILE|DIR|OWNER/REPO",
        required = true,
        help_heading = "Input",
        help = published::HELP,
        long_help = published::LONG_HELP
    )]
    published: Vec<PathBuf>,
    #[command(flatten)]
    prereleases: Prereleases,
    #[command(flatten)]
    yanked_in: YankedInOptions,
    #[command(flatten)]
    read_options: ReadOptions,
    /// Base URL of the files of a manifest or directory
    ///
    /// By default the page links to them where they are: next to the manifest, or in the directory.
    #[arg(long, value_name = "URL", help_heading = "Input")]
    base_url: Option<String>,
    /// Heading of the page
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "Wheel finder",
        help_heading = "Output"
    )]
    title: String,
    #[command(flatten)]
    output: Output,
}

/// Runs the command.
///
/// # Errors
/// The exit of the command; the reason was reported or is in the sink.
pub(super) fn run(args: &Args, shell: &Shell, sink: &mut Sink) -> Result<Exit, Exit> {
    let base = publish::address(args.base_url.as_deref(), "--base-url", sink);
    if sink.has_errors() {
        return Err(Exit::Fault);
    }
    args.output
        .spare(args.published.iter().map(PathBuf::as_path), shell)?;
    let compat = load::compat(shell)?;
    let manifests = ManifestSelection::Newest(args.read_options.most_manifests);
    let mut published = published::read(
        &args.published,
        &args.read_options.connection,
        manifests,
        shell,
        sink,
    )?;
    args.prereleases.leave_out(published.listings_mut(), shell);
    let yanked = args.yanked_in.read(&published, sink)?;
    let wheels = FinderWheels::new(&published, base.as_ref(), &yanked, compat);
    sink.extend(wheels.warnings().iter().cloned());
    let page = wheels.page(&args.title, compat).map_err(|error| {
        sink.push(Diagnostic::new(&codes::CANNOT_INDEX, error.to_string()));
        Exit::Fault
    })?;
    if args.output.out.is_some() {
        let yanked = match page.yanked_count {
            0 => String::new(),
            count => format!(", {count} yanked"),
        };
        shell.say(&format!(
            "{} on the page{yanked}",
            counted(page.wheel_count, "wheel")
        ));
    }
    Ok(args.output.deliver(&page.html, shell))
}
