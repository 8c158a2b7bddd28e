//! `release preflight`: checks before a build that a tag can be published.

use std::path::{Path, PathBuf};

use crate::cli::publish::Connection;
use crate::cli::{Exit, Format, OutputFormat, Shell, load};
use crate::config::Attest;
use crate::diagnostic::Sink;
use crate::diagnostic::render::escape_block;
use crate::github::ObservationRequest;
use crate::names::RepoName;
use crate::plan;
use crate::publish::{
    ObservedRepository, PreflightCheck, PreflightReport, PreflightRequest, ReleaseListing,
    invalid_listing, planned_files, preflight,
};

/// Default time limit in minutes.
const MINUTES: u64 = 5;

/// Check before a build that a tag can be published
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "rock-matrix release preflight [OPTIONS] --tag <TAG> \
        <--repo <OWNER/REPO>|--state <FILE>>",
    after_long_help = "\
Checks the tag (valid, exists, at the right commit, allowed by rulesets), its release (published,
immutable, full), drafts of the tag, names and number of the plan's files, and the repository
(archived, permissions, immutable releases, attestations, rules of the environment). Reports all
problems in one run and writes nothing. A check is `unknown`, which is not an error, if the token
does not give access to the data or an option is missing.

GitHub reveals only on publishing that an immutable release once had the tag and was deleted.

Exit codes: 0 no check failed, 1 a check failed, 3 GitHub could not be reached.

Examples:
  rock-matrix release preflight --repo OWNER/REPO --tag v1      check a tag before building
  rock-matrix release preflight --tag v1 --state releases.json  check it with a saved listing
  rock-matrix release preflight --repo OWNER/REPO --tag v1 --target COMMIT --plan plan.json
                                                                check the commit and the plan too"
)]
pub(super) struct Args {
    /// GitHub repository of the release; required without --state
    #[arg(
        long,
        value_name = "OWNER/REPO",
        required_unless_present = "state",
        help_heading = "Target"
    )]
    repo: Option<RepoName>,
    /// Tag of the release
    #[arg(long, value_name = "TAG", help_heading = "Target")]
    tag: String,
    /// Commit or branch that the tag must point to, or will be created at
    #[arg(long, value_name = "COMMIT", help_heading = "Target")]
    target: Option<String>,
    /// Plan saved with `plan --format json`, whose filenames are checked
    #[arg(long, value_name = "FILE", help_heading = "Checks")]
    plan: Option<PathBuf>,
    /// Allow a finding: G101
    ///
    /// G101 (release-is-published) accepts a published release that is not immutable, as `publish
    /// --allow G101` does.
    #[arg(
        long,
        value_name = "CODE",
        value_delimiter = ',',
        value_parser = ["G101", "release-is-published"],
        hide_possible_values = true,
        help_heading = "Checks"
    )]
    allow: Vec<String>,
    // The former spelling of `--allow G101`.
    #[arg(long, hide = true)]
    allow_published: bool,
    /// Accept more files than GitHub accepts per hour, as `publish --slow` does
    #[arg(long, help_heading = "Checks")]
    slow: bool,
    /// Accept empty drafts of the tag, as `publish --clean-duplicates` does
    #[arg(long, help_heading = "Checks")]
    clean_duplicates: bool,
    /// Use of attestations, as set by `release.attest` in the matrix file
    ///
    /// With `auto`, files are attested unless the repository is private.
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        value_parser = ["auto", "on", "off"],
        help_heading = "Checks"
    )]
    attest: String,
    /// Environment of the publishing job, whose rules must allow the tag
    #[arg(long, value_name = "NAME", help_heading = "Checks")]
    environment: Option<String>,
    /// Accept a read-only token, because another job publishes
    #[arg(long, help_heading = "Checks")]
    read_only: bool,
    /// Read releases from this JSON file instead of GitHub
    ///
    /// The file is the output of `report listing`, or of `gh api` for releases.
    #[arg(
        long,
        value_name = "FILE",
        hide_short_help = true,
        help_heading = "GitHub"
    )]
    state: Option<PathBuf>,
    #[command(flatten)]
    connection: Connection,
    #[command(flatten, next_help_heading = "Output")]
    format: OutputFormat,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let mut sink = Sink::new();
    let done = check(args, shell, &mut sink);
    let report_exit = shell.report(&sink.finish());
    match done {
        Err(exit) => exit,
        Ok(Exit::Done) => report_exit,
        Ok(exit) => exit,
    }
}

fn check(args: &Args, shell: &Shell, sink: &mut Sink) -> Result<Exit, Exit> {
    let expected = match &args.plan {
        Some(path) => expected_files(path, sink)?,
        None => Vec::new(),
    };
    let environment = &shell.environment;
    let compat = load::compat(shell)?;
    let in_workflow = environment.get("GITHUB_ACTIONS") == Some("true");
    let request = PreflightRequest {
        tag: &args.tag,
        // No other finding can be allowed.
        allow_published: args.allow_published || !args.allow.is_empty(),
        clean_duplicates: args.clean_duplicates,
        attest: Attest::from_word(&args.attest).unwrap_or_default(),
        read_only: args.read_only,
        server: environment.get("GITHUB_SERVER_URL").filter(|_| in_workflow),
        environment: args.environment.as_deref(),
        files: expected.iter().map(String::as_str).collect(),
        slow: args.slow,
        files_per_hour: compat.uploads_per_hour(),
        most_assets: compat.limit_value("release-assets"),
    };
    let (observed, connected) = match (&args.state, &args.repo) {
        (Some(path), _) => (read_saved(path, sink)?, Ok(())),
        (None, Some(repo)) => {
            let opened = args
                .connection
                .open(&repo.to_string(), MINUTES, compat, shell, sink)?;
            let (observed, error) = opened.client.observe(&ObservationRequest {
                tag: &args.tag,
                target: args.target.as_deref(),
                environment: args.environment.as_deref(),
            });
            let connected = match error {
                None => Ok(()),
                Some(error) => Err(crate::cli::publish::failed(error, &opened, sink)),
            };
            (observed, connected)
        }
        (None, None) => return Err(Exit::Usage),
    };
    let report = preflight(&request, &observed);
    let text = if args.format.get() == Format::Json {
        let repository = args.repo.as_ref().map(ToString::to_string);
        report.json(repository, &args.tag, connected.is_ok())
    } else {
        human(&report)
    };
    let printed = shell.print(&text);
    sink.extend(report.faults);
    connected.map(|()| printed)
}

/// Reads a plan and returns the names of its files.
fn expected_files(path: &Path, sink: &mut Sink) -> Result<Vec<String>, Exit> {
    let source = load::read_source(path, sink)?;
    let jobs = plan::read_json(&source, sink).ok_or(Exit::Fault)?;
    Ok(planned_files(&jobs))
}

/// Reads the releases of a saved listing.
fn read_saved(path: &Path, sink: &mut Sink) -> Result<ObservedRepository, Exit> {
    let source = load::read_source(path, sink)?;
    let listing = ReleaseListing::from_json(&source.text).map_err(|error| {
        sink.push(invalid_listing(&source, &error));
        Exit::Fault
    })?;
    Ok(ObservedRepository {
        is_offline: true,
        releases: Some(listing.releases),
        ..ObservedRepository::default()
    })
}

fn human(report: &PreflightReport) -> String {
    let row = |check: &PreflightCheck| {
        format!("{:7}  {:18}  {}\n", check.outcome, check.name, check.detail)
    };
    escape_block(&report.checks.iter().map(row).collect::<String>())
}
