//! `sdk plan`: the files of each package, and those that are left out, without writing anything.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::layout_args::LayoutArgs;
use super::{Exit, Format, OutputFormat, Shell};
use crate::audit::format_size;
use crate::cli::load;
use crate::cli::wheel::fail;
use crate::diagnostic::counted;
use crate::sdk::{DevelKind, PathAction, ResolvedLayout};
use crate::sys::ScratchSpace;

/// Show which files go into each package, and why others are left out
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Nothing is written. The table lists the packages and the files that are left out; with --json, every
path is listed with its package and what happens to it.

Examples:
  rock-matrix sdk plan --artifact-dir artifacts           list packages and the files left out
  rock-matrix sdk plan --artifact-dir artifacts --json    list every file
  rock-matrix sdk plan --artifact-dir artifacts --runtime-alias 'lib/libhsa-runtime64.so'")]
pub(super) struct Args {
    #[command(flatten)]
    layout: LayoutArgs,
    #[command(flatten)]
    format: OutputFormat,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    let options = args.layout.options("", BTreeSet::new());
    let layout = match ResolvedLayout::resolve(&options, &ScratchSpace::default(), compat) {
        Ok((layout, warnings)) => {
            shell.report(&warnings);
            layout
        }
        Err(errors) => return fail(shell, &errors),
    };
    match args.format.get() {
        Format::Human => shell.print(&table(&layout)),
        Format::Json => shell.print(&format!("{:#}\n", document(&layout))),
    }
}

fn document(resolved: &ResolvedLayout) -> Value {
    let files: Vec<Value> = resolved
        .placed_paths()
        .into_iter()
        .map(|placed| {
            json!({
                "package": placed.package,
                "path": placed.path,
                "action": placed.action.word(),
                "reason": placed.reason,
                "from": placed.origin.map(|origin| resolved.entry_path(origin)),
            })
        })
        .collect();
    json!({"version": 1, "mode": resolved.mode.word(), "files": files})
}

fn table(resolved: &ResolvedLayout) -> String {
    let mut text = format!("mode {}\n", resolved.mode.word());
    for package in &resolved.packages {
        let _ = writeln!(
            text,
            "{}: {}, {}",
            package.distribution,
            counted(package.files.len(), "file"),
            format_size(resolved.package_bytes(package))
        );
    }
    for tree in &resolved.devel {
        let name = tree
            .made_for
            .as_ref()
            .map_or_else(String::new, |family| format!(" for {family}"));
        let count = |is_of: fn(&DevelKind) -> bool| {
            tree.entries
                .iter()
                .filter(|entry| is_of(&entry.kind))
                .count()
        };
        let files = count(|kind| matches!(kind, DevelKind::File { .. }));
        let links = count(|kind| matches!(kind, DevelKind::Owned(_) | DevelKind::Link(_)));
        let (files, links) = (counted(files, "file"), counted(links, "link"));
        let _ = writeln!(text, "{}{name}: {files}, {links}", tree.distribution);
    }
    let dropped: Vec<_> = resolved
        .placed_paths()
        .into_iter()
        .filter(|placed| placed.action == PathAction::Drop)
        .collect();
    if !dropped.is_empty() {
        let _ = writeln!(text, "\nleft out");
    }
    for placed in dropped {
        let _ = writeln!(
            text,
            "  {} of {}: {}",
            placed.path, placed.package, placed.reason
        );
    }
    text
}
