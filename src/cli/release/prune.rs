//! `release prune`: deletes old releases by a rule.

use std::path::PathBuf;

use serde::Serialize;

use crate::audit::format_size;
use crate::cli::publish::{Connection, Opened, failed, saved_listing};
use crate::cli::{Exit, Format, OutputFormat, Shell, load};
use crate::diagnostic::render::visible_lines;
use crate::diagnostic::{Sink, counted};
use crate::github::GithubError;
use crate::names::Age;
use crate::publish::{PruneDecision, PruneFate, PruneRule, ReleaseListing, TagGlob, prune};
use crate::sys;

/// Default time limit in minutes.
const MINUTES: u64 = 45;

/// List or delete old releases by a rule
///
/// Selects the releases whose tag matches --tag-glob, except the newest --keep and any younger than
/// --older-than. Nothing is deleted without --apply.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rock-matrix release prune --repo OWNER/REPO --tag-glob 'nightly-*' --keep 7 --older-than 30d
  rock-matrix release prune --repo OWNER/REPO --tag-glob 'nightly-*' --keep 7 --apply")]
pub(super) struct Args {
    /// GitHub repository of the releases; required without --state
    #[arg(long, value_name = "OWNER/REPO", required_unless_present = "state")]
    repo: Option<String>,
    /// Tags of the releases that may be deleted, such as `nightly-*`
    #[arg(long, value_name = "GLOB")]
    tag_glob: TagGlob,
    /// Keep the N newest matching releases
    #[arg(long, value_name = "N", required_unless_present = "older_than")]
    keep: Option<usize>,
    /// Keep releases younger than this, such as 36h, 30d or 4w
    ///
    /// Drafts are kept by age only.
    #[arg(long, value_name = "AGE", required_unless_present = "keep")]
    older_than: Option<Age>,
    /// Delete the releases instead of listing them
    #[arg(long)]
    apply: bool,
    /// Also delete the tags of the releases
    #[arg(long, requires = "apply")]
    delete_tags: bool,
    // Listing is the default.
    #[arg(short = 'n', long, hide = true, conflicts_with = "apply")]
    dry_run: bool,
    /// Read releases from this JSON file instead of GitHub
    ///
    /// The file is the output of `report listing`, or of `gh api` for releases.
    #[arg(long, value_name = "FILE", conflicts_with = "apply")]
    state: Option<PathBuf>,
    #[command(flatten)]
    connection: Connection,
    #[command(flatten)]
    format: OutputFormat,
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    repository: &'a str,
    applied: bool,
    releases: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    id: u64,
    tag: &'a str,
    draft: bool,
    published_at: Option<&'a str>,
    files: usize,
    bytes: u64,
    goes: bool,
    /// `None` if unknown.
    deleted: Option<bool>,
    because: String,
}

/// The deleted releases.
#[derive(Default)]
struct Deleted {
    done: Vec<u64>,
    /// The release whose deletion was in progress at the end.
    open: Option<u64>,
    /// Deleted releases whose tags could not be deleted.
    tags_left: Vec<u64>,
}

impl Deleted {
    /// Whether a release was deleted; `None` if unknown.
    fn has(&self, release: u64) -> Option<bool> {
        if self.open == Some(release) {
            None
        } else {
            Some(self.done.contains(&release))
        }
    }
}

/// Runs the command: deletes the selected releases of a repository, or lists them.
pub(super) fn run(args: &Args, shell: &Shell, sink: &mut Sink) -> Result<Exit, Exit> {
    let rule = PruneRule {
        tags: args.tag_glob.clone(),
        keep: args.keep,
        older_than: args.older_than,
    };
    let repo = args.repo.as_deref();
    if let Some(path) = &args.state {
        let listing = saved_listing(path, sink)?;
        let decisions = prune(&listing, &rule, listing.latest(), sys::now_s());
        let repo = repo.or(listing.repository.as_deref()).unwrap_or_default();
        let none = Deleted::default();
        return Ok(shell.print(&text(args, &decisions, &listing, &rule, repo, &none)));
    }
    let repo = repo.unwrap_or_default();
    let opened = args
        .connection
        .open(repo, MINUTES, load::compat(shell)?, shell, sink)?;
    if args.apply {
        opened.need_token("deleted", sink)?;
    }
    let failed = |error: GithubError, sink: &mut Sink| failed(error, &opened, sink);
    let releases = opened
        .client
        .listing()
        .map_err(|error| failed(error, sink))?;
    let latest = opened
        .client
        .latest()
        .map_err(|error| failed(error, sink))?;
    let listing = ReleaseListing {
        repository: Some(repo.to_owned()),
        releases,
    };
    let decisions = prune(&listing, &rule, latest, sys::now_s());
    let mut deleted = Deleted::default();
    let done = if args.apply {
        delete(&decisions, args.delete_tags, &opened, shell, &mut deleted)
    } else {
        Ok(())
    };
    let printed = shell.print(&text(args, &decisions, &listing, &rule, repo, &deleted));
    done.map_or_else(|error| Err(failed(error, sink)), |()| Ok(printed))
}

/// Formats the decisions.
fn text(
    args: &Args,
    decisions: &[PruneDecision<'_>],
    listing: &ReleaseListing,
    rule: &PruneRule,
    repo: &str,
    deleted: &Deleted,
) -> String {
    let is_applied = args.apply;
    match args.format.get() {
        Format::Human => visible_lines(&human_text(decisions, listing, rule, is_applied, deleted)),
        Format::Json => json(&document(decisions, repo, is_applied, deleted)),
    }
}

/// Deletes the releases one after the other; the client waits a second between two writes. A tag
/// that cannot be deleted does not end the run, because a later one would not find its release.
///
/// # Errors
/// The first error, after the last request.
fn delete(
    decisions: &[PruneDecision<'_>],
    deletes_tags: bool,
    opened: &Opened,
    shell: &Shell,
    deleted: &mut Deleted,
) -> Result<(), GithubError> {
    let mut tag_error = None;
    for decision in decisions
        .iter()
        .filter(|decision| matches!(decision.fate, PruneFate::Goes(_)))
    {
        let release = decision.release;
        shell.detail(&format!("deleting {}", release.tag_name));
        opened
            .client
            .delete_release(release.id)
            .inspect_err(|error| {
                deleted.open = error.leaves_open().then_some(release.id);
            })?;
        deleted.done.push(release.id);
        // The tag of a draft may not exist, or belong to another release.
        if deletes_tags
            && !release.draft
            && let Err(error) = opened.client.delete_tag(&release.tag_name)
        {
            deleted.tags_left.push(release.id);
            tag_error.get_or_insert(error);
        }
    }
    tag_error.map_or(Ok(()), Err)
}

fn human_text(
    decisions: &[PruneDecision<'_>],
    listing: &ReleaseListing,
    rule: &PruneRule,
    is_applied: bool,
    deleted: &Deleted,
) -> String {
    let mut text = String::new();
    let (mut count, mut bytes) = (0_usize, 0);
    for decision in decisions {
        let release = decision.release;
        let weight: u64 = release.assets.iter().map(|asset| asset.size).sum();
        let files = counted(release.assets.len(), "file");
        let line = match decision.fate {
            PruneFate::Goes(because) => {
                let is_gone = deleted.has(release.id);
                if is_gone == Some(true) || !is_applied {
                    (count, bytes) = (count + 1, bytes + weight);
                }
                let verb = match (is_applied, is_gone) {
                    (true, Some(true)) => "deleted",
                    (true, Some(false)) => "not yet deleted",
                    (true, None) => "possibly deleted",
                    (false, _) => "would delete",
                };
                let tag = if deleted.tags_left.contains(&release.id) {
                    "; its tag was not deleted"
                } else {
                    ""
                };
                format!(
                    "{verb} {}: {files}, {}; {because}{tag}\n",
                    release.tag_name,
                    format_size(weight)
                )
            }
            PruneFate::Stays(because) => format!("keep {}: {because}\n", release.tag_name),
        };
        text.push_str(&line);
    }
    let others = listing.releases.len() - decisions.len();
    if others > 0 {
        text.push_str(&format!(
            "{} with other tags than `{}`\n",
            counted(others, "release"),
            rule.tags
        ));
    }
    let (what, weight) = (counted(count, "release"), format_size(bytes));
    text.push_str(&match (is_applied, count) {
        (false, 0) => "nothing to delete\n".to_owned(),
        (true, 0) => "nothing was deleted\n".to_owned(),
        (false, _) => format!("{what} with {weight} would be deleted; add `--apply` to delete\n"),
        (true, _) => format!("{what} with {weight} deleted\n"),
    });
    text
}

fn document<'a>(
    decisions: &[PruneDecision<'a>],
    repo: &'a str,
    is_applied: bool,
    deleted: &Deleted,
) -> Document<'a> {
    let row = |decision: &PruneDecision<'a>| {
        let (goes, because) = match decision.fate {
            PruneFate::Goes(because) => (true, because),
            PruneFate::Stays(because) => (false, because),
        };
        Row {
            id: decision.release.id,
            tag: &decision.release.tag_name,
            draft: decision.release.draft,
            published_at: decision.release.published_at.as_deref(),
            files: decision.release.assets.len(),
            bytes: decision.release.assets.iter().map(|asset| asset.size).sum(),
            goes,
            deleted: deleted.has(decision.release.id),
            because: because.to_string(),
        }
    };
    Document {
        version: 1,
        repository: repo,
        applied: is_applied,
        releases: decisions.iter().map(row).collect(),
    }
}

fn json(document: &Document<'_>) -> String {
    serde_json::to_string_pretty(document).expect("a struct of text and numbers serialises") + "\n"
}
