//! The arguments of `index`.

use std::path::{Path, PathBuf};

use clap::error::ErrorKind;

use crate::cli::published::{self, Prereleases, ReadOptions};
use crate::cli::whole_number::{Unit, whole_number};
use crate::cli::{Exit, OutputFormat, Shell, misused, output_path, publish};
use crate::diagnostic::{Diagnostic, Sink, shell_line};
use crate::names::{Age, RepoName, Version, YankSelection};
use crate::publish::{
    INDEX, IndexAction, IndexOptions, MANIFEST, find_files, no_files_in, pages_help,
};
use crate::sys;

/// Build an index of a directory of wheels or of published releases
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "rock-matrix index build [OPTIONS] <DIR>\n       \
        rock-matrix index build [OPTIONS] --published <SOURCE> --out <DIR>",
    after_long_help = "\
Writes static files, one package index for each ROCm and torch. The directory of the pages is
replaced as a whole; a run that changes nothing writes nothing. If the pages are in DIR, as by
default, the METADATA of each wheel is written next to it as WHEEL.metadata, so that installers can
read it without downloading the wheel. With another --out, nothing is written to DIR, and the pages
announce only METADATA that is there. Wheels that are listed in a rock-manifest.json next to them,
and not newer than it, are not read again. Files that `index yank` yanked stay yanked.

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
pub(super) struct BuildArgs {
    /// Directory with wheels and sdists
    #[arg(
        value_name = "DIR",
        required_unless_present = "published",
        conflicts_with = "published"
    )]
    pub(super) folder: Option<PathBuf>,
    #[command(flatten)]
    pub(super) index: IndexArgs,
    /// Yank the files that `release` in this matrix file selects
    ///
    /// A rule of the matrix file that matches no file is a warning.
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    pub(super) rules: Vec<PathBuf>,
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
pub(super) struct YankArgs {
    /// Directory with the wheels, then the files to yank, such as 'flash-attn<2.6: superseded'
    ///
    /// A selection is a project with a version specifier, or a filename. The text after the colon
    /// is the reason. With --published, there is no directory.
    #[arg(value_name = "DIR|FILES")]
    pub(super) words: Vec<String>,
    /// Reason for all FILES that have none after a colon
    #[arg(long, value_name = "TEXT", help_heading = "Selection")]
    reason: Option<String>,
    /// Yank nightly builds older than this, such as 30d or 4w
    ///
    /// Nightly builds are `.dev` versions and the files of releases named `nightly…`.
    #[arg(
        long,
        alias = "yank-older-than",
        value_name = "AGE",
        help_heading = "Selection"
    )]
    pub(super) older_than: Option<Age>,
    /// With --older-than: keep the N newest versions of each project in each index
    #[arg(
        long,
        value_name = "N",
        default_value_t = 3,
        value_parser = whole_number::<usize>(Unit::One, 0..=u64::MAX),
        requires = "older_than",
        help_heading = "Selection"
    )]
    pub(super) keep: usize,
    /// Yank the files that `release` in this matrix file selects
    ///
    /// A rule of the matrix file that matches no file is a warning.
    #[arg(long, value_name = "FILE", help_heading = "Selection")]
    pub(super) rules: Vec<PathBuf>,
    #[command(flatten)]
    pub(super) apply: ApplyArgs,
    #[command(flatten)]
    pub(super) index: IndexArgs,
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
pub(super) struct UnyankArgs {
    /// Directory with the wheels, then the files to unyank, such as 'flash-attn<2.6'
    ///
    /// A selection is a project with a version specifier, or a filename. With --published, there is
    /// no directory.
    #[arg(value_name = "DIR|FILES")]
    pub(super) words: Vec<String>,
    #[command(flatten)]
    pub(super) apply: ApplyArgs,
    #[command(flatten)]
    pub(super) index: IndexArgs,
}

// Whether a command changes the index.
#[derive(Debug, clap::Args)]
pub(super) struct ApplyArgs {
    /// Change the index instead of listing the files
    #[arg(long)]
    apply: bool,
    // Listing is the default.
    #[arg(short = 'n', long, hide = true, conflicts_with = "apply")]
    dry_run: bool,
}

// The files of an index, and how it is written.
#[derive(Debug, clap::Args)]
pub(super) struct IndexArgs {
    #[arg(
        long,
        value_name = "FILE|DIR|OWNER/REPO",
        requires = "out",
        help_heading = "Input",
        help = published::HELP,
        long_help = published::LONG_HELP
    )]
    pub(super) published: Vec<PathBuf>,
    #[command(flatten, next_help_heading = "Input")]
    pub(super) prereleases: Prereleases,
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
    pub(super) known: Vec<PathBuf>,
    /// Read every file, even if a rock-manifest.json next to it records its digest
    #[arg(
        long,
        conflicts_with_all = ["known", "published"],
        hide_short_help = true,
        help_heading = "Input"
    )]
    pub(super) read_all: bool,
    /// Directory of the pages [default: DIR/simple]
    #[arg(
        short,
        long,
        value_name = "DIR",
        value_parser = output_path::several_files(),
        help_heading = "Output"
    )]
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
    /// Neither write nor announce .metadata files
    ///
    /// For hosts that serve only the wheels.
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    no_metadata: bool,
    #[command(flatten, next_help_heading = "Output")]
    pub(super) format: OutputFormat,
    #[command(flatten)]
    pub(super) read_options: ReadOptions,
}

impl YankArgs {
    /// Returns the directory of the wheels, which `--published` replaces, and the selections.
    ///
    /// # Errors
    /// The directory is missing, or the selections are, without a rule that selects files.
    pub(super) fn split(&self) -> Result<(Option<&Path>, &[String]), Exit> {
        let has_rule = self.older_than.is_some() || !self.rules.is_empty();
        let (folder, selections) = self.index.split(&self.words, has_rule, "yank")?;
        if self.reason.is_some() && selections.is_empty() {
            return Err(misused(
                &["index", "yank"],
                ErrorKind::ArgumentConflict,
                "`--reason` is the reason for FILES: old nightly builds are yanked with their age \
                 as the reason, and `--rules` with those in the matrix file",
            ));
        }
        Ok((folder, selections))
    }

    /// Returns a selection with its reason: the text after its colon, or else that of `--reason`.
    pub(super) fn with_reason(&self, selection: &str) -> String {
        match &self.reason {
            Some(reason) if !selection.contains(':') => format!("{selection}: {reason}"),
            _ => selection.to_owned(),
        }
    }
}

impl UnyankArgs {
    /// Returns the directory of the wheels, which `--published` replaces, and the selections.
    ///
    /// # Errors
    /// The directory or the selections are missing.
    pub(super) fn split(&self) -> Result<(Option<&Path>, &[String]), Exit> {
        self.index.split(&self.words, false, "unyank")
    }
}

impl ApplyArgs {
    /// Returns the action of the run.
    pub(super) fn action(&self) -> IndexAction {
        if self.apply {
            IndexAction::Edit
        } else {
            IndexAction::Preview
        }
    }
}

impl IndexArgs {
    /// Returns the settings of the index of a directory, or of published releases. Reports an
    /// invalid base URL.
    pub(super) fn options(
        &self,
        folder: Option<&Path>,
        action: IndexAction,
        shell: &Shell,
        sink: &mut Sink,
    ) -> IndexOptions {
        let base_url = match (&self.repo, &self.tag) {
            (Some(repo), Some(tag)) => publish::release_address(repo, tag, shell, sink),
            _ => publish::address(self.base_url.as_deref(), "--base-url", sink),
        };
        let default_out = || folder.unwrap_or(Path::new(".")).join(INDEX);
        IndexOptions {
            out: self.out.clone().unwrap_or_else(default_out),
            wheels: folder.map(Path::to_owned),
            base_url,
            omits_metadata: self.no_metadata,
            action,
        }
    }

    /// Checks that the first positional argument of `yank` or `unyank` is neither a directory of
    /// releases, which `--published` names, nor the directory of the pages, which `--out` names,
    /// instead of that of the wheels. Pages in `DIR/simple` need no `--out`.
    ///
    /// # Errors
    /// It is.
    pub(super) fn check_wheels(&self, words: &[String], command: &str) -> Result<(), Diagnostic> {
        let [pages, selections @ ..] = words else {
            return Ok(());
        };
        let folder = Path::new(pages);
        if self.published.is_empty() && has_releases_only(folder) {
            let out = self.out.as_deref().unwrap_or(Path::new("DIR"));
            let out = out.display().to_string();
            let mut line = vec![
                "rock-matrix",
                "index",
                command,
                "--published",
                pages.as_str(),
            ];
            line.extend(["--out", out.as_str()]);
            if selections.is_empty() {
                line.push("FILES");
            }
            line.extend(selections.iter().map(String::as_str));
            return Err(no_files_in(&[folder.to_owned()]).help(format!(
                "it has releases: pass it with `--published`, and the pages of their index with \
                 `--out`: `{}`",
                shell_line(line)
            )));
        }
        let is_found = !self.published.is_empty() || self.out.is_some() || folder.ends_with(INDEX);
        let help = if is_found { None } else { pages_help(folder) };
        let Some(help) = help else {
            return Ok(());
        };
        if !find_files(&[folder.to_owned()], &mut Sink::new()).is_empty() {
            return Ok(());
        }
        let mut line = vec!["rock-matrix", "index", command, "DIR"];
        if selections.is_empty() {
            line.push("FILES");
        }
        line.extend(selections.iter().map(String::as_str));
        line.extend(["--out", pages.as_str()]);
        Err(no_files_in(&[folder.to_owned()]).help(format!(
            "{help}, and the pages with `--out`: `{}`",
            shell_line(line)
        )))
    }

    /// Splits the positional arguments of `yank` and `unyank` into the directory, which
    /// `--published` replaces, and the selections.
    fn split<'a>(
        &self,
        words: &'a [String],
        has_rule: bool,
        command: &str,
    ) -> Result<(Option<&'a Path>, &'a [String]), Exit> {
        let (folder, selections) = if self.published.is_empty() {
            match words.split_first() {
                Some((folder, selections)) => (Some(Path::new(folder.as_str())), selections),
                None => (None, words),
            }
        } else {
            (None, words)
        };
        if let Some(path) = folder
            && !has_rule
            && !sys::exists(path)
            && let Some(selection) = selection_of(words)
        {
            let line = shell_line(["rock-matrix", "index", command, "DIR", selection.as_str()]);
            let text = format!(
                "there is no directory `{}`; if it is a project, write the directory with the \
                 wheels before it: `{line}`",
                path.display()
            );
            return Err(misused(
                &["index", command],
                ErrorKind::MissingRequiredArgument,
                &text,
            ));
        }
        let lacks_folder = folder.is_none() && self.published.is_empty();
        let missing = match (lacks_folder, selections.is_empty() && !has_rule) {
            (true, true) => "the directory with the wheels, or --published, and the files",
            (true, false) => "the directory with the wheels, or --published",
            (false, true) => "the files, such as 'flash-attn<2.6' or a filename",
            (false, false) => return Ok((folder, selections)),
        };
        Err(misused(
            &["index", command],
            ErrorKind::MissingRequiredArgument,
            &format!("`index {command}` needs {missing}"),
        ))
    }
}

/// Returns whether a directory has no wheels, and subdirectories of it are releases.
fn has_releases_only(directory: &Path) -> bool {
    sys::subdirectories(directory).is_ok_and(|all| {
        all.iter().any(|one| sys::is_file(&one.join(MANIFEST)))
            && find_files(&[directory.to_owned()], &mut Sink::new()).is_empty()
    })
}

/// Returns the selection that arguments without a directory probably are: a selection alone, or a
/// project and a version, which may have a reason.
fn selection_of(words: &[String]) -> Option<String> {
    let selection = match words {
        [selection] => selection.clone(),
        [project, version] => {
            let (number, _) = version.split_once(':').unwrap_or((version.as_str(), ""));
            number.parse::<Version>().ok()?;
            format!("{project}=={version}")
        }
        _ => return None,
    };
    selection.parse::<YankSelection>().ok()?;
    Some(selection)
}
