//! `publish --prune`: releases that newer ones have taken the place of are deleted, by rule.

use serde::Serialize;

use super::{Args, Exit, Shell};
use crate::audit::format_size;
use crate::cli::publish::connect::Opened;
use crate::cli::publish::github::saved_listing;
use crate::cli::{Format, load, misused};
use crate::diagnostic::render::visible_lines;
use crate::diagnostic::{Sink, counted};
use crate::github::GithubError;
use crate::names::Age;
use crate::publish::{PruneDecision, PruneFate, PruneRule, ReleaseListing, TagGlob, prune};
use crate::sys;

/// Minutes that pruning may take.
const MINUTES: u64 = 45;

// Options for pruning.
#[derive(Debug, Clone, clap::Args)]
pub(super) struct Pruning {
    #[arg(
        help = "Instead of publishing, tell which releases of the repository a rule lets go; --apply deletes them",
        long,
        conflicts_with_all = ["files", "dist", "to", "tag", "plan", "replace"],
        help_heading = "Pruning"
    )]
    pub(super) prune: bool,
    /// The tags of releases that may go, such as `nightly-*`
    #[arg(
        long,
        value_name = "GLOB",
        requires = "prune",
        help_heading = "Pruning"
    )]
    tag_glob: Option<TagGlob>,
    /// So many of the newest of these stay
    #[arg(
        long,
        value_name = "COUNT",
        requires = "prune",
        help_heading = "Pruning"
    )]
    keep: Option<usize>,
    /// What is no older than this stays, such as 36h, 30d or 4w; drafts go by this alone
    #[arg(long, value_name = "AGE", requires = "prune", help_heading = "Pruning")]
    older_than: Option<Age>,
    /// Delete them
    #[arg(
        long,
        requires = "prune",
        conflicts_with = "dry_run",
        help_heading = "Pruning"
    )]
    apply: bool,
    /// Delete their tags as well
    #[arg(long, requires = "apply", help_heading = "Pruning")]
    delete_tags: bool,
}

impl Pruning {
    /// Whether a part of a rule was given and pruning was not. clap asks for nothing that the files
    /// given forbid.
    pub(super) fn is_stray(&self) -> bool {
        let has_rule = self.tag_glob.is_some() || self.keep.is_some() || self.older_than.is_some();
        !self.prune && (has_rule || self.apply)
    }
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
    /// `None` where that is not known.
    deleted: Option<bool>,
    because: String,
}

/// What was deleted.
#[derive(Default)]
struct Deleted {
    done: Vec<u64>,
    /// Its deletion was under way at the end.
    open: Option<u64>,
}

impl Deleted {
    /// Whether a release is gone, `None` where that is not known.
    fn has(&self, release: u64) -> Option<bool> {
        if self.open == Some(release) {
            None
        } else {
            Some(self.done.contains(&release))
        }
    }
}

/// Prunes a repository, or tells what would go.
pub(super) fn prune_releases(
    args: &Args,
    repo: Option<&str>,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<Exit, Exit> {
    let options = &args.pruning;
    let missing = |text: &str| {
        misused(
            "publish",
            clap::error::ErrorKind::MissingRequiredArgument,
            text,
        )
    };
    let Some(tags) = options.tag_glob.clone() else {
        return Err(missing(
            "`--prune` deletes nothing without a rule: name the tags with `--tag-glob`",
        ));
    };
    if options.keep.is_none() && options.older_than.is_none() {
        return Err(missing(
            "`--prune` deletes nothing without a rule: say what stays with `--keep` or `--older-than`",
        ));
    }
    let rule = PruneRule {
        tags,
        keep: options.keep,
        older_than: options.older_than,
    };
    if let Some(path) = &args.github.state {
        // `--state` needs `--dry-run`, which `--apply` excludes.
        let listing = saved_listing(path, sink)?;
        let judged = prune(&listing, &rule, listing.latest(), sys::now_s());
        let repo = repo.or(listing.repository.as_deref()).unwrap_or_default();
        return Ok(shell.print(&text(
            args,
            &judged,
            &listing,
            &rule,
            repo,
            &Deleted::default(),
        )));
    }
    let Some(repo) = repo else {
        return Err(missing(
            "`--prune` needs the repository: name it with `--repo`, or a saved list with `--state`",
        ));
    };
    let opened = args
        .connection
        .open(repo, MINUTES, load::compat(shell)?, shell, sink)?;
    if options.apply {
        opened.need_token("deleted", sink)?;
    }
    let failed = |error: GithubError, sink: &mut Sink| super::github::failed(error, &opened, sink);
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
    let judged = prune(&listing, &rule, latest, sys::now_s());
    let mut deleted = Deleted::default();
    let done = if options.apply {
        delete(&judged, options, &opened, shell, &mut deleted)
    } else {
        Ok(())
    };
    let printed = shell.print(&text(args, &judged, &listing, &rule, repo, &deleted));
    done.map_or_else(|error| Err(failed(error, sink)), |()| Ok(printed))
}

/// Formats the verdicts as they were asked for.
fn text(
    args: &Args,
    judged: &[PruneDecision<'_>],
    listing: &ReleaseListing,
    rule: &PruneRule,
    repo: &str,
    deleted: &Deleted,
) -> String {
    let is_applied = args.pruning.apply;
    match args.format {
        Format::Human => visible_lines(&told(judged, listing, rule, is_applied, deleted)),
        Format::Json => json(&document(judged, repo, is_applied, deleted)),
    }
}

/// Deletes one after the other; the client leaves a second between two writes.
fn delete(
    judged: &[PruneDecision<'_>],
    options: &Pruning,
    opened: &Opened,
    shell: &Shell,
    deleted: &mut Deleted,
) -> Result<(), GithubError> {
    for one in judged
        .iter()
        .filter(|one| matches!(one.fate, PruneFate::Goes(_)))
    {
        let release = one.release;
        shell.detail(&format!("deleting {}", release.tag_name));
        opened
            .client
            .delete_release(release.id)
            .inspect_err(|error| {
                deleted.open = error.leaves_open().then_some(release.id);
            })?;
        deleted.done.push(release.id);
        // The tag of a draft need not exist, and another release may have it.
        if options.delete_tags && !release.draft {
            opened.client.delete_tag(&release.tag_name)?;
        }
    }
    Ok(())
}

fn told(
    judged: &[PruneDecision<'_>],
    listing: &ReleaseListing,
    rule: &PruneRule,
    is_applied: bool,
    deleted: &Deleted,
) -> String {
    let mut text = String::new();
    let (mut count, mut bytes) = (0_usize, 0);
    for one in judged {
        let release = one.release;
        let weight: u64 = release.assets.iter().map(|asset| asset.size).sum();
        let files = counted(release.assets.len(), "file");
        let line = match one.fate {
            PruneFate::Goes(because) => {
                let is_gone = deleted.has(release.id);
                if is_gone == Some(true) || !is_applied {
                    (count, bytes) = (count + 1, bytes + weight);
                }
                let verb = match (is_applied, is_gone) {
                    (true, Some(true)) => "deleted",
                    (true, Some(false)) => "not yet deleted",
                    (true, None) => "perhaps deleted",
                    (false, _) => "would delete",
                };
                format!(
                    "{verb} {}: {files}, {}; {because}\n",
                    release.tag_name,
                    format_size(weight)
                )
            }
            PruneFate::Stays(because) => format!("stays {}: {because}\n", release.tag_name),
        };
        text.push_str(&line);
    }
    let others = listing.releases.len() - judged.len();
    if others > 0 {
        text.push_str(&format!(
            "{} with other tags than `{}`\n",
            counted(others, "release"),
            rule.tags
        ));
    }
    let (what, weight) = (counted(count, "release"), format_size(bytes));
    text.push_str(&match (is_applied, count) {
        (false, 0) => "nothing would go\n".to_owned(),
        (true, 0) => "nothing was deleted\n".to_owned(),
        (false, _) => format!("{what} with {weight} would go; `--apply` deletes\n"),
        (true, _) => format!("{what} with {weight} deleted\n"),
    });
    text
}

fn document<'a>(
    judged: &[PruneDecision<'a>],
    repo: &'a str,
    is_applied: bool,
    deleted: &Deleted,
) -> Document<'a> {
    let row = |one: &PruneDecision<'a>| {
        let (goes, because) = match one.fate {
            PruneFate::Goes(because) => (true, because),
            PruneFate::Stays(because) => (false, because),
        };
        Row {
            id: one.release.id,
            tag: &one.release.tag_name,
            draft: one.release.draft,
            published_at: one.release.published_at.as_deref(),
            files: one.release.assets.len(),
            bytes: one.release.assets.iter().map(|asset| asset.size).sum(),
            goes,
            deleted: deleted.has(one.release.id),
            because: because.to_string(),
        }
    };
    Document {
        version: 1,
        repository: repo,
        applied: is_applied,
        releases: judged.iter().map(row).collect(),
    }
}

fn json(document: &Document<'_>) -> String {
    serde_json::to_string_pretty(document).expect("a struct of text and numbers serialises") + "\n"
}
