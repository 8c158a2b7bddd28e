//! `publish`: publishes wheels as a release, in a directory or on GitHub.

mod built_torch;
mod connect;
mod directory;
mod github;
mod outcome;

use std::path::PathBuf;

use super::leg_options::LegOptions;
use super::{Exit, Format, OutputFormat, Shell, load, output_path};
use crate::codes::release as codes;
use crate::compat::Compat;
use crate::diagnostic::{Code, Diagnostic, Location, Sink};
use crate::index::{BaseUrl, FileLinks};
use crate::names::RepoName;
use crate::plan::LARGEST_PLAN_BYTES;
use crate::publish::{
    AllowedDifferences, DigestCache, GitTag, LocalAsset, MetadataBody, REFUSED_CODES, ReleasePlan,
    audit_errors, unique_by_name, without_paths,
};

pub(super) use connect::{Connection, Opened};
pub(super) use github::{failed, saved_listing};

/// GitHub's own server.
const GITHUB: &str = "https://github.com";

#[derive(Debug, clap::Args)]
#[command(
    override_usage = "rock-matrix publish [OPTIONS] <FILES...|--dist <DIR>> --out <DIR>\n       \
        rock-matrix publish [OPTIONS] <FILES...|--dist <DIR>> --repo <OWNER/REPO> --tag <TAG>",
    after_long_help = "\
A release in a directory contains the wheels, SHA256SUMS, rock-manifest.json, and in simple/ one
package index for each ROCm and torch.

Every wheel is verified as by `wheel verify`: its archive, RECORD and METADATA. Its tags and label
are compared with its libraries and GPU code as by `wheel check`. Search paths and needs of other
packages are not checked: `wheel check` reports them.

A release on GitHub stays a draft until every file has been uploaded and has its name, size and
digest. Files beyond the limit of 1,000 are uploaded to the releases TAG-2, TAG-3, and so on. To
resume an interrupted run, run the same command again; if everything is in place, nothing is
written. The token is read from GITHUB_TOKEN, GH_TOKEN or the file of --token-file.

Exit codes: 0 published or nothing to do, 1 the wheels or the release are invalid and nothing was
written, 3 error of the machine, network or credentials, or the run is incomplete, 130 and 143
stopped by a signal.

Examples:
  rock-matrix publish dist/ --repo OWNER/REPO --tag v1   publish the release v1 on GitHub
  rock-matrix publish dist/ --out release                write a release to a directory
  rock-matrix publish dist/ --repo OWNER/REPO --tag v1 --dry-run
                                                         show the requests that would be sent
  rock-matrix publish dist/ more.whl --out releases --tag v1
                                                         write it to releases/v1
  rock-matrix publish dist/ --out release --plan plan.json
                                                         fail if a planned wheel is missing
  pip install flash-attn==2.7.4.post1+rocm62torch2.5triton \\
      --extra-index-url file://$PWD/release/simple/rocm6.2-torch2.5/"
)]
pub(super) struct Args {
    /// Wheels, sdists, and directories that contain them
    #[arg(required_unless_present_any = ["dist", "artifacts"], value_name = "FILES")]
    files: Vec<PathBuf>,
    /// Directory of the release
    ///
    /// With --tag, the release is the subdirectory TAG.
    #[arg(
        short,
        long,
        visible_alias = "to",
        value_name = "DIR",
        value_parser = output_path::several_files(),
        conflicts_with = "repo",
        help_heading = "Target"
    )]
    out: Option<PathBuf>,
    /// GitHub repository of the release
    #[arg(long, value_name = "OWNER/REPO", help_heading = "Target")]
    repo: Option<String>,
    /// Tag of the release; with --out, the name of a subdirectory
    #[arg(long, value_name = "TAG", help_heading = "Target")]
    tag: Option<String>,
    /// With --out: base URL that the release will be served from
    ///
    /// By default, the links of the index are relative.
    #[arg(
        long,
        value_name = "URL",
        conflicts_with = "repo",
        hide_short_help = true,
        help_heading = "Target"
    )]
    base_url: Option<String>,
    /// Directory that contains wheels; same as a positional argument
    #[arg(
        long,
        value_name = "DIR",
        hide_short_help = true,
        help_heading = "Input"
    )]
    dist: Vec<PathBuf>,
    /// Trust the digests in this rock-manifest.json or SHA256SUMS
    ///
    /// Files with a recorded digest are not read before they are uploaded; they are hashed during
    /// the upload.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "out",
        hide_short_help = true,
        help_heading = "Input"
    )]
    known: Vec<PathBuf>,
    /// Hash every file, even if its digest is recorded
    ///
    /// Ignores --known and a rock-manifest.json next to the files.
    #[arg(
        long,
        conflicts_with = "out",
        hide_short_help = true,
        help_heading = "Input"
    )]
    read_all: bool,
    /// Check the wheels against a plan saved with `plan --format json`
    ///
    /// A planned wheel that is missing and a wheel that is not in the plan are errors.
    #[arg(long, value_name = "FILE", help_heading = "Checks")]
    plan: Option<PathBuf>,
    /// Allow a finding, given by code or name, such as G004
    #[arg(
        long,
        value_name = "CODE",
        value_delimiter = ',',
        value_parser = allowed,
        help_heading = "Checks",
        long_help = allow_help()
    )]
    allow: Vec<&'static Code>,
    // The former spelling of `--allow G004`.
    #[arg(long, requires = "plan", hide = true)]
    allow_missing: bool,
    /// Replace files with different content, and wheels that new ones supersede
    ///
    /// A wheel supersedes another if they differ only in their platform tag for the same machine.
    #[arg(long, help_heading = "Checks")]
    replace: bool,
    #[command(flatten)]
    github: github::Options,
    /// Resume an interrupted run (default)
    ///
    /// Running the same command again resumes: files that are in place are not uploaded again.
    #[arg(long, hide_short_help = true, help_heading = "GitHub release")]
    resume: bool,
    #[command(flatten)]
    connection: Connection,
    /// Directory of the downloaded artifacts of a workflow's jobs
    ///
    /// Each artifact has its own subdirectory wheel-JOB. The files are checked against the reports
    /// of the jobs, and hard-linked instead of copied.
    #[arg(
        long,
        value_name = "DIR",
        requires = "out",
        requires = "plan",
        requires = "legs_env",
        conflicts_with_all = ["files", "dist"],
        hide_short_help = true,
        help_heading = "Workflow"
    )]
    artifacts: Option<PathBuf>,
    #[command(flatten)]
    legs: LegOptions,
    /// Show what would change without writing anything
    #[arg(short = 'n', long, help_heading = "Output")]
    dry_run: bool,
    #[command(flatten, next_help_heading = "Output")]
    format: OutputFormat,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    if args.repo.is_some() && args.tag.is_none() {
        let text = "`--repo` needs `--tag`, the tag of the release";
        return super::misused(
            &["publish"],
            clap::error::ErrorKind::MissingRequiredArgument,
            text,
        );
    }
    if args.legs.is_given() && args.artifacts.is_none() {
        let text = "`--legs-env` needs `--artifacts`, the directory of the downloaded artifacts";
        return super::misused(
            &["publish"],
            clap::error::ErrorKind::MissingRequiredArgument,
            text,
        );
    }
    if let Some(when) = args.github.stray_prerelease(&args.files) {
        let text =
            format!("`--prerelease` takes its value after a `=`: write `--prerelease={when}`");
        return super::misused(&["publish"], clap::error::ErrorKind::InvalidValue, &text);
    }
    if args.github.draft && args.allows(&codes::RELEASE_IS_PUBLISHED) {
        let text = "`--draft` cannot be used with `--allow G101`";
        return super::misused(&["publish"], clap::error::ErrorKind::ArgumentConflict, text);
    }
    if args.resume {
        shell.detail("`--resume` is the default: files that are in place are not uploaded again");
    }
    let mut sink = Sink::new();
    let made = match (&args.out, &args.repo) {
        (Some(directory), _) => directory::publish(args, directory.clone(), shell, &mut sink),
        (None, Some(repo)) => github::publish(args, repo, shell, &mut sink).inspect_err(|_| {
            if args.format.get() == Format::Json {
                let tag = args.tag.as_deref().unwrap_or_default();
                shell.print(&outcome::not_begun(repo, tag, sink.diagnostics()));
            }
        }),
        (None, None) => {
            sink.push(
                Diagnostic::new(&codes::NO_TARGET, "no publish target given")
                    .help("publish to GitHub with `--repo OWNER/REPO --tag TAG`, or to a directory with `--out DIR`, which needs no account"),
            );
            Err(Exit::Usage)
        }
    };
    let exit = made.unwrap_or_else(|exit| exit);
    match shell.report(&sink.finish()) {
        Exit::Done => exit,
        Exit::Fault if exit == Exit::Done => Exit::Fault,
        _ => exit,
    }
}

/// Returns the long help of `--allow`.
fn allow_help() -> String {
    let [others @ .., last] = REFUSED_CODES.map(|code| code.id);
    format!(
        "Allow a finding, given by code or name, such as G004\n\n\
        G004 (missing-wheel) publishes without wheels that the plan contains, with a warning. \
        G023 (planned-target-missing) allows wheels without code for GPU targets of the plan. \
        G101 (release-is-published) writes to a release that is already published. \
        G130 (built-with-other-torch) allows wheels that were built with another torch than their \
        label names. {} and {last} (errors of `wheel check`) allow wheels that fail where their \
        names say that they work. G023, G130 and these errors become notes.",
        others.join(", ")
    )
}

/// Parses a value of `--allow`.
fn allowed(text: &str) -> Result<&'static Code, String> {
    const CODES: [&Code; 4] = [
        &codes::MISSING_WHEEL,
        &codes::PLANNED_TARGET_MISSING,
        &codes::RELEASE_IS_PUBLISHED,
        &codes::BUILT_WITH_OTHER_TORCH,
    ];
    let allowable = CODES.into_iter().chain(REFUSED_CODES);
    let found = allowable
        .clone()
        .find(|code| [code.id, code.name].contains(&text));
    found.ok_or_else(|| {
        let ids: Vec<&str> = allowable.map(|code| code.id).collect();
        format!("only {} can be allowed here", ids.join(", "))
    })
}

impl Args {
    /// Whether a finding is allowed.
    fn allows(&self, code: &Code) -> bool {
        let has_former_option = (self.allow_missing && code.id == codes::MISSING_WHEEL.id)
            || (self.github.allow_published && code.id == codes::RELEASE_IS_PUBLISHED.id);
        has_former_option || self.allow.iter().any(|allowed| allowed.id == code.id)
    }

    /// Returns the differences from the plan that are not errors.
    fn allowed_differences(&self) -> AllowedDifferences {
        AllowedDifferences {
            missing_files: self.allows(&codes::MISSING_WHEEL),
            missing_targets: self.allows(&codes::PLANNED_TARGET_MISSING),
        }
    }
}

/// Returns the recorded digests of the files: those of the `documents`, and of a manifest next to
/// the files. Uploads hash the files in any case.
pub(super) fn digest_cache(
    documents: &[PathBuf],
    is_ignored: bool,
    files: &[PathBuf],
    metadata_body: MetadataBody,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<DigestCache, Exit> {
    if is_ignored {
        return Ok(DigestCache::empty());
    }
    let (mut cache, notes) = DigestCache::of_directories(files, metadata_body);
    for note in &notes {
        shell.detail(note);
    }
    for path in documents {
        let document = load::read_source(path, sink)?;
        cache
            .add(&document)
            .map_err(|errors| Exit::collect(errors, sink))?;
    }
    Ok(cache)
}

/// Reads the plan of `--plan`, which is empty without that option, and checks its digest.
fn read_plan(args: &Args, sink: &mut Sink) -> Result<ReleasePlan, Exit> {
    let plan = match &args.plan {
        Some(path) => {
            let source = load::read_limited(path, LARGEST_PLAN_BYTES, sink)?;
            ReleasePlan::parse(&source, sink).ok_or(Exit::Fault)?
        }
        None => ReleasePlan::default(),
    };
    args.legs
        .check_plan(args.plan.as_deref(), plan.digest, sink);
    Ok(plan)
}

/// Reports the errors of an audit of the files that could be read, so that one run reports those of
/// all files.
fn report_audit_errors(
    plan: &ReleasePlan,
    offered: Vec<LocalAsset>,
    args: &Args,
    compat: &Compat,
    sink: &mut Sink,
) {
    let offered = unique_by_name(offered);
    let details = plan.details(None, &offered, &[], compat);
    sink.extend(audit_errors(
        &without_paths(&offered),
        &details,
        &args.allow,
    ));
}

/// Returns the files and directories of the command line.
fn named(args: &Args) -> Vec<PathBuf> {
    args.files.iter().chain(&args.dist).cloned().collect()
}

/// Returns links below `--base-url`, or relative ones; `None` after reporting an invalid URL.
fn links(base_url: Option<&str>, steps: Vec<String>, sink: &mut Sink) -> Option<FileLinks> {
    match base_url {
        None => Some(FileLinks::Relative(steps)),
        Some(_) => address(base_url, "--base-url", sink).map(FileLinks::Absolute),
    }
}

/// Parses the base URL that an option sets, to which names can be appended; `None` after reporting
/// an invalid one.
pub(super) fn address(text: Option<&str>, option: &str, sink: &mut Sink) -> Option<BaseUrl> {
    let help = "pass the URL of the directory, such as `https://example.org/wheels`";
    parsed(text, &codes::BAD_BASE_URL, option, help, sink)
}

/// Returns the base URL of the files of a release on GitHub, or on the server of the workflow that
/// runs this; `None` after reporting an invalid tag or server.
pub(super) fn release_address(
    repo: &RepoName,
    tag: &str,
    shell: &Shell,
    sink: &mut Sink,
) -> Option<BaseUrl> {
    let tag: GitTag = parse_tag(Some(tag), GIT_TAG_HELP, sink)?;
    let server = shell
        .environment
        .get("GITHUB_SERVER_URL")
        .filter(|server| !server.is_empty());
    BaseUrl::of_release(server.unwrap_or(GITHUB), repo, &tag.to_string())
        .map_err(|error| {
            let place = Location::Argument("GITHUB_SERVER_URL".to_owned());
            sink.push(Diagnostic::new(&codes::BAD_BASE_URL, error.to_string()).at(place, ""));
        })
        .ok()
}

/// The help for a text that is not a valid tag.
const GIT_TAG_HELP: &str = "write it like `v1` or `nightly-20261101`";

/// Parses the value of `--tag`; `None` without one, or after reporting an invalid one.
fn parse_tag<T: std::str::FromStr<Err: std::fmt::Display>>(
    text: Option<&str>,
    help: &str,
    sink: &mut Sink,
) -> Option<T> {
    parsed(text, &codes::BAD_TAG, "--tag", help, sink)
}

fn parsed<T: std::str::FromStr<Err: std::fmt::Display>>(
    text: Option<&str>,
    code: &'static crate::diagnostic::Code,
    argument: &str,
    help: &str,
    sink: &mut Sink,
) -> Option<T> {
    text?
        .parse()
        .map_err(|error: T::Err| {
            let fault = Diagnostic::new(code, error.to_string())
                .at(Location::Argument(argument.to_owned()), "");
            sink.push(fault.help(help));
        })
        .ok()
}
