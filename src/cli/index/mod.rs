//! `index`: writes a static package index of a directory of wheels or of published releases, and
//! yanks files of it.

mod document;
mod input;
mod yank_request;

use std::path::{Path, PathBuf};

use super::published::{self, Prereleases, ReadOptions};
use super::whole_number::{Unit, whole_number};
use super::{Exit, OutputFormat, Shell, load, publish};
use crate::diagnostic::Sink;
use crate::index::FileLinks;
use crate::names::{Age, RepoName, YankedFiles};
use crate::publish::{
    INDEX, IndexDirectory, IndexUpdate, check_index_target, lock_for_replacement, relative_steps,
};
use crate::sys;

use document::{Document, preview};
use input::Input;
use yank_request::{YankRequest, check_matches};

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  rock-matrix index build dist                               index the wheels of a directory
  rock-matrix index build --published OWNER/REPO --out site  index all releases on GitHub
  rock-matrix index yank dist 'flash-attn<2.6: superseded'   show what would be yanked
  rock-matrix index unyank dist 'flash-attn<2.6' --apply     unyank it")]
pub(super) struct Args {
    #[command(subcommand)]
    command: IndexCommand,
}

#[derive(Debug, clap::Subcommand)]
enum IndexCommand {
    Build(Box<BuildArgs>),
    Yank(Box<YankArgs>),
    Unyank(Box<UnyankArgs>),
}

/// Build an index of a directory of wheels or of published releases
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "rock-matrix index build [OPTIONS] <DIR>\n       \
        rock-matrix index build [OPTIONS] --published <SOURCE> --out <DIR>",
    after_long_help = "\
Writes static files, one package index for each ROCm and torch. The directory of the pages is
replaced as a whole; a run that changes nothing writes nothing. The METADATA of each wheel in DIR is
written next to it as WHEEL.metadata, so that installers can read it without downloading the wheel.
Wheels that are listed in a rock-manifest.json next to them, and not newer than it, are not read
again. Files that `index yank` yanked stay yanked.

Examples:
  rock-matrix index build dist             pages in dist/simple, with relative links
  rock-matrix index build --published OWNER/REPO --out site
                                           index all releases on GitHub
  rock-matrix index build dist --out site  pages in site, with links to ../dist
  rock-matrix index build dist --no-metadata --repo OWNER/REPO --tag v1
                                           wheels are served by a GitHub release
  rock-matrix index build --published releases.json --published rock-manifest.json --out site
  pip install flash-attn==2.7.4.post1+rocm62torch2.5triton \\
      --extra-index-url file://$PWD/dist/simple/rocm6.2-torch2.5/"
)]
struct BuildArgs {
    /// Directory with wheels and sdists
    #[arg(
        value_name = "DIR",
        required_unless_present = "published",
        conflicts_with = "published"
    )]
    folder: Option<PathBuf>,
    #[command(flatten)]
    index: IndexOptions,
    /// Yank the files that `release` in this matrix file selects
    ///
    /// A rule of the matrix file that matches no file is a warning.
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    rules: Vec<PathBuf>,
}

/// Yank files of an index, so that installers skip them
///
/// Installers still install a yanked file if its version is pinned (PEP 592). Yanked files stay
/// yanked in later runs of `index build` and `publish`. A new reason replaces that of files that
/// are already yanked. Without --apply, nothing is written.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "rock-matrix index yank [OPTIONS] <DIR> <FILES[: REASON]>...\n       \
        rock-matrix index yank [OPTIONS] --published <SOURCE> --out <DIR> <FILES[: REASON]>...",
    after_long_help = "\
Examples:
  rock-matrix index yank dist 'flash-attn<2.6: superseded'            show what would be yanked
  rock-matrix index yank dist --older-than 30d --keep 3 --apply       yank old nightly builds"
)]
struct YankArgs {
    /// Directory with the wheels, then the files to yank, such as 'flash-attn<2.6: superseded'
    ///
    /// A selection is a project with a version specifier, or a filename. The text after the colon
    /// is the reason. With --published, there is no directory.
    #[arg(value_name = "DIR|FILES")]
    words: Vec<String>,
    /// Yank nightly builds older than this, such as 30d or 4w
    ///
    /// Nightly builds are `.dev` versions and the files of releases named `nightly…`.
    #[arg(
        long,
        alias = "yank-older-than",
        value_name = "AGE",
        help_heading = "Selection"
    )]
    older_than: Option<Age>,
    /// With --older-than: keep the N newest versions of each project in each index
    #[arg(
        long,
        value_name = "N",
        default_value_t = 3,
        value_parser = whole_number::<usize>(Unit::One, 0..=u64::MAX),
        requires = "older_than",
        help_heading = "Selection"
    )]
    keep: usize,
    /// Yank the files that `release` in this matrix file selects
    ///
    /// A rule of the matrix file that matches no file is a warning.
    #[arg(long, value_name = "FILE", help_heading = "Selection")]
    rules: Vec<PathBuf>,
    #[command(flatten)]
    apply: ApplyOption,
    #[command(flatten)]
    index: IndexOptions,
}

/// Unyank files of an index
///
/// Without --apply, nothing is written.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "rock-matrix index unyank [OPTIONS] <DIR> <FILES>...\n       \
        rock-matrix index unyank [OPTIONS] --published <SOURCE> --out <DIR> <FILES>...",
    after_long_help = "\
Examples:
  rock-matrix index unyank dist 'flash-attn<2.6'          show what would be unyanked
  rock-matrix index unyank dist 'flash-attn<2.6' --apply  unyank it"
)]
struct UnyankArgs {
    /// Directory with the wheels, then the files to unyank, such as 'flash-attn<2.6'
    ///
    /// A selection is a project with a version specifier, or a filename. With --published, there is
    /// no directory.
    #[arg(value_name = "DIR|FILES")]
    words: Vec<String>,
    #[command(flatten)]
    apply: ApplyOption,
    #[command(flatten)]
    index: IndexOptions,
}

// Whether a command changes the index.
#[derive(Debug, clap::Args)]
struct ApplyOption {
    /// Change the index instead of listing the files
    #[arg(long)]
    apply: bool,
    // Listing is the default.
    #[arg(short = 'n', long, hide = true, conflicts_with = "apply")]
    dry_run: bool,
}

// The files of an index, and how it is written.
#[derive(Debug, clap::Args)]
struct IndexOptions {
    #[arg(
        long,
        value_name = "FILE|DIR|OWNER/REPO",
        requires = "out",
        help_heading = "Input",
        help = published::HELP,
        long_help = published::LONG_HELP
    )]
    published: Vec<PathBuf>,
    #[command(flatten, next_help_heading = "Input")]
    prereleases: Prereleases,
    /// Trust the digests in this rock-manifest.json or SHA256SUMS
    ///
    /// Files with a recorded digest are not read again.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "published",
        hide_short_help = true,
        help_heading = "Input"
    )]
    known: Vec<PathBuf>,
    /// Read every file, even if a rock-manifest.json next to it records its digest
    #[arg(
        long,
        conflicts_with_all = ["known", "published"],
        hide_short_help = true,
        help_heading = "Input"
    )]
    read_all: bool,
    /// Directory of the pages [default: DIR/simple]
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,
    /// Base URL of the files [default: relative links]
    #[arg(long, value_name = "URL", help_heading = "Output")]
    base_url: Option<String>,
    /// GitHub repository whose release serves the files, instead of --base-url
    #[arg(
        long,
        value_name = "OWNER/REPO",
        requires = "tag",
        conflicts_with_all = ["base_url", "published"],
        help_heading = "Output"
    )]
    repo: Option<RepoName>,
    /// Tag of that release
    #[arg(long, value_name = "TAG", requires = "repo", help_heading = "Output")]
    tag: Option<String>,
    /// Neither write nor link .metadata files
    ///
    /// For hosts that serve only the wheels.
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    no_metadata: bool,
    #[command(flatten, next_help_heading = "Output")]
    format: OutputFormat,
    #[command(flatten)]
    read_options: ReadOptions,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let mut sink = Sink::new();
    let exit = match &args.command {
        IndexCommand::Build(args) => {
            let request = YankRequest {
                rules: &args.rules,
                is_applied: true,
                ..YankRequest::default()
            };
            build(
                args.folder.as_deref(),
                &args.index,
                &request,
                shell,
                &mut sink,
            )
        }
        IndexCommand::Yank(args) => {
            let has_rule = args.older_than.is_some() || !args.rules.is_empty();
            let (folder, selections) = match split(&args.words, &args.index, has_rule, "yank") {
                Ok(split) => split,
                Err(exit) => return exit,
            };
            let request = YankRequest {
                yank: selections,
                older_than: args.older_than,
                keep: args.keep,
                rules: &args.rules,
                is_applied: args.apply.apply,
                is_edit: true,
                ..YankRequest::default()
            };
            build(folder, &args.index, &request, shell, &mut sink)
        }
        IndexCommand::Unyank(args) => {
            let (folder, selections) = match split(&args.words, &args.index, false, "unyank") {
                Ok(split) => split,
                Err(exit) => return exit,
            };
            let request = YankRequest {
                unyank: selections,
                is_applied: args.apply.apply,
                is_edit: true,
                ..YankRequest::default()
            };
            build(folder, &args.index, &request, shell, &mut sink)
        }
    };
    let exit = exit.unwrap_or_else(|exit| exit);
    match shell.report(&sink.finish()) {
        Exit::Fault if exit == Exit::Done => Exit::Fault,
        _ => exit,
    }
}

/// Splits the positional arguments of `yank` and `unyank` into the directory, which `--published`
/// replaces, and the selections.
///
/// # Errors
/// The directory is missing, or the selections are, without a rule that selects files.
fn split<'a>(
    words: &'a [String],
    index: &IndexOptions,
    has_rule: bool,
    command: &str,
) -> Result<(Option<&'a Path>, &'a [String]), Exit> {
    let (folder, selections) = if index.published.is_empty() {
        match words.split_first() {
            Some((folder, selections)) => (Some(Path::new(folder.as_str())), selections),
            None => (None, words),
        }
    } else {
        (None, words)
    };
    let lacks_folder = folder.is_none() && index.published.is_empty();
    let missing = match (lacks_folder, selections.is_empty() && !has_rule) {
        (true, true) => "the directory with the wheels, or --published, and the files",
        (true, false) => "the directory with the wheels, or --published",
        (false, true) => "the files, such as 'flash-attn<2.6' or a filename",
        (false, false) => return Ok((folder, selections)),
    };
    Err(super::misused(
        &["index", command],
        clap::error::ErrorKind::MissingRequiredArgument,
        &format!("`index {command}` needs {missing}"),
    ))
}

/// Writes the index, or lists what the request would yank and unyank.
fn build(
    folder: Option<&Path>,
    args: &IndexOptions,
    request: &YankRequest<'_>,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<Exit, Exit> {
    let compat = load::compat(shell)?;
    let rules = request.rules(compat, shell, sink)?;
    let root = folder.unwrap_or(Path::new("."));
    let out = args.out.clone().unwrap_or_else(|| root.join(INDEX));
    let links = match (&args.repo, &args.tag) {
        (Some(repo), Some(tag)) => {
            publish::release_address(repo, tag, shell, sink).map(FileLinks::Absolute)
        }
        _ => publish::links(args.base_url.as_deref(), relative_steps(&out, root), sink),
    };
    let Input {
        mut files,
        rebuilt,
        inherited,
    } = match folder {
        Some(folder) => {
            let files = input::read_directory(args, folder, &out, compat, shell, sink)?;
            Input {
                files,
                rebuilt: Vec::new(),
                inherited: YankedFiles::default(),
            }
        }
        None => input::read_published(args, &out, links.as_ref(), compat, shell, sink)?,
    };
    let target_error =
        check_index_target(&out, folder).map_err(|errors| Exit::collect(errors, sink))?;
    sink.extend(target_error);
    let Some(links) = links.filter(|_| !sink.has_errors()) else {
        return Err(Exit::Fault);
    };
    check_matches(&rules, &files, sink)?;
    let label_notes = if request.is_edit {
        rules.label_notes(&files)
    } else {
        Vec::new()
    };
    if args.no_metadata {
        for file in &mut files {
            file.metadata = None;
        }
    }

    let on_wait = || shell.say("another run is writing this index; waiting for it to end");
    let swap = request
        .is_applied
        .then(|| lock_for_replacement(&out, on_wait))
        .transpose()
        .map_err(|errors| Exit::collect(errors, sink))?;
    let mut update = IndexDirectory::read(&out)
        .and_then(|directory| IndexUpdate::new(directory, files, &inherited))
        .map_err(|errors| Exit::collect(errors, sink))?;
    if request.is_edit {
        update
            .check_same_pages(&links, compat)
            .map_err(|errors| Exit::collect(errors, sink))?;
    }
    let (report, notes) = update.yank(&rules, request.is_applied, sys::now_s());
    let kept_note = report.kept_note().filter(|_| request.is_edit);
    for note in notes.iter().chain(&kept_note).chain(&label_notes) {
        shell.say(note);
    }
    let Some(swap) = swap else {
        return Ok(shell.print(&preview(&report, args.format.get())));
    };
    sink.extend(update.warnings(rebuilt));
    let indexes = update.summaries(compat);
    let written = update
        .write(folder, &links, swap, compat)
        .map_err(|errors| Exit::collect(errors, sink))?;
    let document = Document {
        version: 1,
        index: out.display().to_string(),
        pages: written.page_count,
        changed: written.is_changed,
        report,
        indexes,
    };
    Ok(shell.print(&document.text(args.format.get())))
}
