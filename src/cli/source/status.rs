//! `source status`: the last checkout of a source tree, and the changes since.

use std::fmt::Write as _;

use super::{Exit, Format, OutputFormat, Shell, Tree, failed};
use crate::checkout::{self, CheckoutRecord};
use crate::diagnostic::render::redact_urls;
use crate::source::{CheckoutOutcome, FoundRepository};

/// Show what is checked out, with local changes and commits
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "rock-matrix source status [OPTIONS] <PROJECT|--checkout-dir <DIR>>",
    after_long_help = "\
Nothing is fetched or changed.

Examples:
  rock-matrix source status torch                        show the tree in `pytorch`
  rock-matrix source status --checkout-dir audio --json  show the tree in `audio` as JSON"
)]
pub(super) struct Args {
    #[command(flatten)]
    tree: Tree,
    #[command(flatten)]
    format: OutputFormat,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let (directory, signals) = match args.tree.open(shell) {
        Ok(opened) => opened,
        Err(exit) => return exit,
    };
    match checkout::read_record(&directory, &shell.environment, &signals) {
        Ok(record) if args.format.get() == Format::Json => {
            shell.print(&redact_urls(&json(&record)))
        }
        Ok(record) => shell.print(&redact_urls(&human(&record))),
        Err(error) => failed(error, shell),
    }
}

fn json(record: &CheckoutRecord) -> String {
    let repository = |found: &FoundRepository| {
        let above: Vec<_> = found
            .above
            .iter()
            .map(|above| serde_json::json!({"commit": above.hash, "subject": above.subject}))
            .collect();
        serde_json::json!({
            "path": found.path,
            "head": found.status.head,
            "branch": found.status.branch,
            "changed": found.changes,
            "above": above,
            "under_way": found.session.map(crate::source::GitOperation::word),
        })
    };
    let repositories: Vec<_> = record.repositories.iter().map(repository).collect();
    let document =
        serde_json::json!({"version": 1, "checkout": record.state, "repositories": repositories});
    format!("{document}\n")
}

fn human(record: &CheckoutRecord) -> String {
    let state = &record.state;
    let mut text = format!("{}\n", state.summary());
    let hipified = match (state.hipify, state.commit_hipify) {
        (false, _) => "no",
        (true, true) => "yes",
        (true, false) => "yes, without a commit",
    };
    let patches = state.patches.as_ref().map_or_else(
        || "none".to_owned(),
        |patches| format!("{} of set {}", patches.files.len(), patches.set),
    );
    let how = match state.outcome {
        CheckoutOutcome::Done => "done",
        CheckoutOutcome::Begun | CheckoutOutcome::Incomplete => {
            "incomplete: run the checkout again"
        }
    };
    let count = record.repositories.len().to_string();
    for (name, value) in [
        ("checkout", how),
        ("origin", &state.origin),
        ("patches", &patches),
        ("hipified", hipified),
        ("repositories", &count),
    ] {
        let _ = writeln!(text, "  {name:12} {value}");
    }
    for found in &record.repositories {
        let place = if found.path.is_empty() {
            "."
        } else {
            &found.path
        };
        if let Some(session) = found.session {
            let _ = writeln!(text, "  {:12} {place}: {}", "in progress", session.word());
        }
        for change in &found.changes {
            let _ = writeln!(text, "  {:12} {place}: {change}", "changed");
        }
        for above in &found.above {
            let _ = writeln!(
                text,
                "  {:12} {place}: {} {}",
                "above", above.hash, above.subject
            );
        }
    }
    text
}
