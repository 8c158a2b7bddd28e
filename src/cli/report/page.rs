//! `report page`: the wheel finder, a web page that finds a wheel and shows its install command.

use std::path::PathBuf;

use super::output::Output;
use crate::cli::published::{self, Manifests, Prereleases, Reading};
use crate::cli::withdrawals::Withdrawals;
use crate::cli::{Exit, Shell, load, publish};
use crate::codes::release as codes;
use crate::diagnostic::{Diagnostic, Severity, Sink, counted};
use crate::finder;
use crate::pick::{self, MatchRules, PrereleaseMode, WheelCandidate};
use crate::publish::rebuilt_warning;

/// Write the wheel finder, a web page that finds the published wheel for a machine
///
/// The page is a single file that makes no network requests. It works from a local directory and
/// from any static server.
///
/// A saved list of releases is a file that `report listing` wrote, or the output of
/// `gh api --paginate --slurp repos/OWNER/REPO/releases`. The latter does not contain GPU targets:
/// add the release's rock-manifest.json with a second `--published`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
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
    withdrawals: Withdrawals,
    #[command(flatten)]
    reading: Reading,
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
    let manifests = Manifests::Newest(args.reading.most_manifests);
    let mut published = published::read(
        &args.published,
        &args.reading.connection,
        manifests,
        shell,
        sink,
    )?;
    args.prereleases.leave_out(published.listings_mut(), shell);
    let reasons = args.withdrawals.read(&published, sink)?;
    let mut offers = published.all_offers(base.as_ref(), sink);
    // Yanked wheels are not recommended.
    offers
        .rebuilt
        .retain(|one| reasons.reason(&one.name, one.offered.digest).is_none());
    sink.extend(rebuilt_warning(&offers.rebuilt));
    let repository = offers.repository.take();
    let offers = offers.into_wheels();
    published::tell_unread(&offers, compat, sink);
    let (wheels, withdrawn) = pick::split(
        pick::candidates(offers, compat, PrereleaseMode::IfNecessary),
        &reasons,
    );
    tell_local(&wheels, sink);
    if wheels.is_empty() {
        let none = published.no_wheels().severity(Severity::Warning);
        sink.push(if withdrawn.is_empty() {
            none
        } else {
            none.note("all published wheels are yanked")
        });
    }
    let choices = finder::choices(&wheels, compat);
    let data = finder::data(
        &wheels,
        &MatchRules::of(compat),
        &choices,
        repository.as_deref(),
        withdrawn.len(),
    );
    let text = finder::page(&finder::FinderPage {
        title: &args.title,
        data: &data,
    })
    .map_err(|error| {
        sink.push(Diagnostic::new(&codes::CANNOT_INDEX, error.to_string()));
        Exit::Fault
    })?;
    if args.output.out.is_some() {
        let left_out = if withdrawn.is_empty() {
            String::new()
        } else {
            format!(", {} yanked", withdrawn.len())
        };
        shell.say(&format!(
            "{} on the page{left_out}",
            counted(wheels.len(), "wheel")
        ));
    }
    Ok(args.output.deliver(&text, shell))
}

/// Warns about links to local files, which are dead on a deployed page.
fn tell_local(wheels: &[WheelCandidate], sink: &mut Sink) {
    let local = || {
        wheels
            .iter()
            .map(|wheel| &wheel.offer)
            .filter(|offer| offer.url.starts_with("file:"))
    };
    let Some(first) = local().next() else { return };
    let count = counted(local().count(), "wheel");
    sink.push(
        Diagnostic::new(
            &codes::ADDRESS_OF_THIS_MACHINE,
            format!("the page links to {count} on this machine only"),
        )
        .note(format!("the first is `{}`", first.url))
        .help("set the URL that the files will be served from with `--base-url`"),
    );
}
