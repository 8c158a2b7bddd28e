//! `publish`: wheels to a release, in a folder or on GitHub.

mod artifacts;
mod connect;
mod contents;
mod folder;
mod github;
mod outcome;
mod planned;
mod progress;
mod prune;
mod subjects;

use std::path::PathBuf;

use super::assets::{self, Gathered};
use super::known::{Known, Texts};
use super::legs;
use super::told::Told;
use super::{Exit, Format, Shell, load, release_folder};
use crate::codes::release as codes;
use crate::diagnostic::{Code, Diagnostic, Location, Sink};
use crate::index::{BaseUrl, FileLinks};
use crate::names::{RepoName, WheelName};
use crate::publish::{GitTag, LeftOut};

pub(super) use connect::{Connection, Opened};
pub(super) use github::failed;

/// GitHub's own server.
const GITHUB: &str = "https://github.com";

#[derive(Debug, clap::Args)]
#[command(after_help = "\
In a folder, the release is DIR, or DIR/TAG with --tag. It holds the wheels, SHA256SUMS,
rock-manifest.json, and in simple/ one package index for each ROCm and torch.

On GitHub, the release is a draft until every file is there under its name with its size and digest.
What does not fit into one release of 1,000 files goes on in TAG-2. A run that was ended in any way
goes on where it was when it is run again; a run that finds everything in place writes nothing. The
token is read from GITHUB_TOKEN, GH_TOKEN or a file.

Exit code: 0 published or nothing to do, 1 the wheels or the release are at fault and nothing was
written, 3 the machine, the network or the credentials are at fault or it stopped part-way, 130 and
143 stopped by a signal.

Examples:
  rock-matrix publish --to release dist/                     every wheel of dist/
  rock-matrix publish --to releases --tag v1 dist/ more.whl  into releases/v1
  rock-matrix publish --to release dist/ --plan plan.json    refuse when a planned wheel is missing
  rock-matrix publish --to release dist/ --dry-run           only say what would change
  rock-matrix publish --repo OWNER/REPO --tag v1 --dist dist/
                                                             as the release v1 on GitHub
  rock-matrix publish --repo OWNER/REPO --tag v1 --dist dist/ --dry-run
                                                             the calls that would be made
  rock-matrix publish --dist dist/ --subjects subjects.txt   only the digests, for actions/attest
  rock-matrix publish --repo OWNER/REPO --prune --tag-glob 'nightly-*' --keep 7 --older-than 30d
                                                             which old releases a rule lets go
  pip install flash-attn==2.7.4.post1+rocm62torch2.5triton \\
      --extra-index-url file://$PWD/release/simple/rocm6.2-torch2.5/")]
pub(super) struct Args {
    /// Wheels, source distributions, and folders that hold some
    #[arg(required_unless_present_any = ["dist", "prune", "artifacts"], value_name = "WHEEL|DIR")]
    files: Vec<PathBuf>,
    /// A folder that holds wheels; the same as naming it
    #[arg(long, value_name = "DIR")]
    dist: Vec<PathBuf>,
    #[arg(
        long,
        value_name = "DIR",
        requires = "to",
        requires = "plan",
        requires = "legs_env",
        conflicts_with_all = ["files", "dist"],
        help_heading = "What",
        help = "Folder with the downloaded artifacts of a workflow's legs, each in its own folder wheel-JOB; they are checked against the leg reports, and hard-linked instead of copied"
    )]
    artifacts: Option<PathBuf>,
    #[command(flatten)]
    legs: legs::LegOptions,
    /// Folder of the release
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with = "repo",
        help_heading = "Where"
    )]
    to: Option<PathBuf>,
    /// The repository whose release it is
    #[arg(long, value_name = "OWNER/REPO", help_heading = "Where")]
    repo: Option<String>,
    /// Tag of the release; with --to, a folder of this name in DIR
    #[arg(long, value_name = "TAG", help_heading = "Where")]
    tag: Option<String>,
    /// Compare the wheels with a plan saved with `plan --format json`
    #[arg(long, value_name = "FILE", help_heading = "What")]
    plan: Option<PathBuf>,
    /// Publish although the plan has jobs whose wheel is missing
    #[arg(long, requires = "plan", help_heading = "What")]
    allow_missing: bool,
    /// Report this finding as a note: G130 for wheels built with another torch than their label
    /// names, G023 for wheels that lack code for targets of the plan
    #[arg(long, value_name = "CODE", value_delimiter = ',', value_parser = allowed, help_heading = "What")]
    allow: Vec<&'static Code>,
    /// Replace files of the release that have other bytes, and wheels that others take the place of
    #[arg(long, help_heading = "What")]
    replace: bool,
    /// Only write the digests of the files here, as actions/attest takes them, in further files
    /// FILE-2, … beyond 1,024
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "dry_run",
        help_heading = "What"
    )]
    subjects: Option<PathBuf>,
    /// A rock-manifest.json or SHA256SUMS that tells the digests of the files, which are then not
    /// read before they are sent
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "to",
        help_heading = "What"
    )]
    known: Vec<PathBuf>,
    /// Read every file, whatever --known or a rock-manifest.json next to it says about its digest
    #[arg(long, conflicts_with = "to", help_heading = "What")]
    read_all: bool,
    /// Address below which the release will be served; links are relative without it
    #[arg(
        long,
        value_name = "URL",
        conflicts_with = "repo",
        help_heading = "What"
    )]
    base_url: Option<String>,
    #[command(flatten)]
    github: github::Options,
    #[command(flatten)]
    pruning: prune::Pruning,
    #[command(flatten)]
    connection: Connection,
    /// Only say what would change
    #[arg(long)]
    dry_run: bool,
    /// What to print
    #[arg(long, value_enum, default_value = "human", value_name = "FORMAT")]
    format: Format,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    if args.pruning.is_stray() {
        let text = "`--tag-glob`, `--keep`, `--older-than` and `--apply` are for `--prune`";
        return super::misused("publish", clap::error::ErrorKind::ArgumentConflict, text);
    }
    if args.repo.is_some() && args.tag.is_none() && !args.pruning.prune {
        let text = "`--repo` has many releases: name the tag of this one with `--tag`";
        return super::misused(
            "publish",
            clap::error::ErrorKind::MissingRequiredArgument,
            text,
        );
    }
    if args.legs.is_given() && args.artifacts.is_none() {
        let text = "`--legs-env` is for artifacts: name their folder with `--artifacts`";
        return super::misused(
            "publish",
            clap::error::ErrorKind::MissingRequiredArgument,
            text,
        );
    }
    if let Some(when) = args.github.stray_prerelease(&args.files) {
        let text =
            format!("`--prerelease` takes its value after a `=`: write `--prerelease={when}`");
        return super::misused("publish", clap::error::ErrorKind::InvalidValue, &text);
    }
    let mut sink = Sink::new();
    let made = match (&args.to, &args.repo) {
        _ if args.subjects.is_some() => subjects::write(args, shell, &mut sink),
        (None, repo) if args.pruning.prune => {
            prune::prune_releases(args, repo.as_deref(), shell, &mut sink)
        }
        (Some(folder), _) => folder::publish(args, folder.clone(), shell, &mut sink),
        (None, Some(repo)) => github::publish(args, repo, shell, &mut sink).inspect_err(|_| {
            if args.format == Format::Json {
                let tag = args.tag.as_deref().unwrap_or_default();
                shell.print(&outcome::not_begun(repo, tag, sink.diagnostics()));
            }
        }),
        (None, None) => {
            sink.push(
                Diagnostic::new(&codes::NO_TARGET, "it is not said where the release is")
                    .help("name the repository with `--repo OWNER/REPO --tag TAG`, or a folder with `--to DIR`, which needs no account"),
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

/// A finding that `--allow` may name.
fn allowed(text: &str) -> Result<&'static Code, String> {
    const CODES: [&Code; 2] = [
        &codes::BUILT_WITH_OTHER_TORCH,
        &codes::PLANNED_TARGET_MISSING,
    ];
    let found = CODES
        .into_iter()
        .find(|code| [code.id, code.name].contains(&text));
    found.ok_or_else(|| {
        format!(
            "only {} can be allowed here",
            CODES.map(|code| code.id).join(" and ")
        )
    })
}

impl Args {
    /// Whether a finding is allowed.
    fn allows(&self, code: &Code) -> bool {
        self.allow.iter().any(|allowed| allowed.id == code.id)
    }
}

/// What is known of the files beforehand. What is sent is hashed on its way all the same.
fn known(args: &Args, files: &[PathBuf], shell: &Shell, sink: &mut Sink) -> Result<Known, Exit> {
    if args.read_all {
        return Ok(Known::nothing());
    }
    let mut known = Known::beside(files, Texts::Unwanted, shell);
    for path in &args.known {
        known.add(path, sink)?;
    }
    Ok(known)
}

/// The files and folders that were named.
fn named(args: &Args) -> Vec<PathBuf> {
    args.files.iter().chain(&args.dist).cloned().collect()
}

/// Links below `--base-url`, or relative ones; `None` after telling what is wrong with the address.
pub(super) fn links(
    base_url: Option<&str>,
    steps: Vec<String>,
    sink: &mut Sink,
) -> Option<FileLinks> {
    match base_url {
        None => Some(FileLinks::Relative(steps)),
        Some(_) => address(base_url, "--base-url", sink).map(FileLinks::Absolute),
    }
}

/// The address that an option gives, to which names can be appended; `None` after telling what is
/// wrong with it.
pub(super) fn address(text: Option<&str>, option: &str, sink: &mut Sink) -> Option<BaseUrl> {
    let help = "give the address of the folder, such as `https://example.org/wheels`";
    parsed(text, &codes::BAD_BASE_URL, option, help, sink)
}

/// The address below which the release of a tag is served by GitHub, or by the server of the
/// workflow that runs this; `None` after telling what is wrong with it.
pub(super) fn release_address(
    repo: &RepoName,
    tag: &str,
    shell: &Shell,
    sink: &mut Sink,
) -> Option<BaseUrl> {
    let help = "write it like `v1` or `nightly-20261101`";
    let tag: GitTag = parsed(Some(tag), &codes::BAD_TAG, "--tag", help, sink)?;
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

/// The files that are named as they should be and were left out all the same.
fn left_out(files: &[PathBuf], gathered: &[Gathered]) -> Vec<LeftOut> {
    let kept: std::collections::BTreeSet<&std::path::Path> =
        gathered.iter().map(|g| g.path.as_path()).collect();
    let others = files
        .iter()
        .filter(|file| !kept.contains(file.as_path()))
        .filter_map(|file| {
            let name = file.file_name()?.to_str()?;
            let can_be_read = name.ends_with(".tar.gz") || name.parse::<WheelName>().is_ok();
            can_be_read.then(|| LeftOut {
                name: name.to_owned(),
                shown: file.display().to_string(),
            })
        });
    others.collect()
}

fn cloned(gathered: &[Gathered]) -> Vec<crate::publish::Asset> {
    gathered.iter().map(|g| g.asset.clone()).collect()
}

/// Each name once; [`crate::publish::as_release`] has told of those that are not the same file.
fn once(mut gathered: Vec<Gathered>) -> Vec<Gathered> {
    let mut seen = std::collections::BTreeSet::new();
    gathered.retain(|g| seen.insert(g.asset.name().to_owned()));
    gathered
}
