//! `release prune`: deletes old releases by a rule.

use std::path::PathBuf;

use crate::audit::format_size;
use crate::cli::publish::{Connection, failed, saved_listing};
use crate::cli::whole_number::{Unit, whole_number};
use crate::cli::{Exit, Format, OutputFormat, Shell, load};
use crate::diagnostic::render::escape_block;
use crate::diagnostic::{Sink, counted};
use crate::github::GithubError;
use crate::names::Age;
use crate::publish::{
    ListedRelease, PruneDecision, PruneFate, PruneOutcome, PruneRule, ReleaseListing, TagGlob,
    prune,
};
use crate::sys;

/// Default time limit in minutes.
const MINUTES: u64 = 45;

/// List or delete old releases by a rule
///
/// Selects the releases whose tag matches --tag-glob, except the newest --keep and any younger than
/// --older-than. Nothing is deleted without --apply. Releases in a directory are subdirectories,
/// which you can delete.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "rock-matrix release prune [OPTIONS] --tag-glob <GLOB> \
        <--keep <N>|--older-than <AGE>> <--repo <OWNER/REPO>|--state <FILE>>",
    after_long_help = "\
Examples:
  rock-matrix release prune --repo OWNER/REPO --tag-glob 'nightly-*' --keep 7 --older-than 30d
  rock-matrix release prune --repo OWNER/REPO --tag-glob 'nightly-*' --keep 7 --apply"
)]
pub(super) struct Args {
    /// GitHub repository of the releases; required without --state
    #[arg(long, value_name = "OWNER/REPO", required_unless_present = "state")]
    repo: Option<String>,
    /// Tags of the releases that may be deleted, such as `nightly-*`
    #[arg(long, value_name = "GLOB")]
    tag_glob: TagGlob,
    /// Keep the N newest matching releases
    #[arg(
        long,
        value_name = "N",
        value_parser = whole_number::<usize>(Unit::One, 0..=u64::MAX),
        required_unless_present = "older_than"
    )]
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
        let none = PruneOutcome::default();
        return Ok(shell.print(&text(args, &decisions, &listing, repo, &none)));
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
    let (outcome, result) = if args.apply {
        let on_delete =
            |release: &ListedRelease| shell.detail(&format!("deleting {}", release.tag_name));
        opened
            .client
            .delete_releases(&decisions, args.delete_tags, &on_delete)
    } else {
        (PruneOutcome::default(), Ok(()))
    };
    let printed = shell.print(&text(args, &decisions, &listing, repo, &outcome));
    result.map_or_else(|error| Err(failed(error, sink)), |()| Ok(printed))
}

/// Formats the decisions.
fn text(
    args: &Args,
    decisions: &[PruneDecision<'_>],
    listing: &ReleaseListing,
    repo: &str,
    outcome: &PruneOutcome,
) -> String {
    match args.format.get() {
        Format::Human => escape_block(&human_text(args, decisions, listing, outcome)),
        Format::Json => outcome.json(decisions, repo, args.apply),
    }
}

fn human_text(
    args: &Args,
    decisions: &[PruneDecision<'_>],
    listing: &ReleaseListing,
    outcome: &PruneOutcome,
) -> String {
    let mut text = String::new();
    let (mut count, mut bytes) = (0_usize, 0);
    for decision in decisions {
        let release = decision.release;
        let size = release.size_bytes();
        let files = counted(release.assets.len(), "file");
        let line = match decision.fate {
            PruneFate::Delete(reason) => {
                let is_deleted = outcome.is_deleted(release.id);
                if is_deleted == Some(true) || !args.apply {
                    (count, bytes) = (count + 1, bytes + size);
                }
                let verb = match (args.apply, is_deleted) {
                    (true, Some(true)) => "deleted",
                    (true, Some(false)) => "not yet deleted",
                    (true, None) => "possibly deleted",
                    (false, _) => "would delete",
                };
                let tag = if outcome.keeps_tag(release.id) {
                    "; its tag was not deleted"
                } else {
                    ""
                };
                format!(
                    "{verb} {}: {files}, {}; {reason}{tag}\n",
                    release.tag_name,
                    format_size(size)
                )
            }
            PruneFate::Keep(reason) => format!("keep {}: {reason}\n", release.tag_name),
        };
        text.push_str(&line);
    }
    let others = listing.releases.len() - decisions.len();
    if others > 0 {
        text.push_str(&format!(
            "{} with other tags than `{}`\n",
            counted(others, "release"),
            args.tag_glob
        ));
    }
    let (releases, size) = (counted(count, "release"), format_size(bytes));
    text.push_str(&match (args.apply, count) {
        (false, 0) => "nothing to delete\n".to_owned(),
        (true, 0) => "nothing was deleted\n".to_owned(),
        (false, _) => format!("{releases} with {size} would be deleted; add `--apply` to delete\n"),
        (true, _) => format!("{releases} with {size} deleted\n"),
    });
    text
}
