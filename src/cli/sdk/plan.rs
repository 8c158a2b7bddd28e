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
use crate::sdk::{
    self, DevelKind, DropReason, EntryKind, FileContent, FileOrigin, ResolvedLayout, stub,
};
use crate::sys::ScratchSpace;

/// Show which files go into each package, and why others are left out
#[derive(Debug, clap::Args)]
#[command(
    after_help = "\
Examples:
  rock-matrix sdk plan --artifact-dir artifacts           list packages and the files left out
  rock-matrix sdk plan --artifact-dir artifacts --json    list every file",
    after_long_help = "\
Nothing is written. The table lists the packages and the files that are left out; with --json, every
path is listed with its package and what happens to it.

Examples:
  rock-matrix sdk plan --artifact-dir artifacts           list packages and the files left out
  rock-matrix sdk plan --artifact-dir artifacts --json    list every file
  rock-matrix sdk plan --artifact-dir artifacts --runtime-alias 'lib/libhsa-runtime64.so'"
)]
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
    let options = args.layout.layout_options("", BTreeSet::new());
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

/// A path of a package.
struct Line<'l> {
    package: &'l str,
    path: &'l str,
    action: &'static str,
    reason: String,
    from: Option<FileOrigin>,
}

fn lines(resolved: &ResolvedLayout) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    for package in &resolved.layout.packages {
        let line = |path, action, reason, from| Line {
            package: &package.distribution,
            path,
            action,
            reason,
            from,
        };
        for (path, placed) in &package.files {
            let (action, reason) = match &placed.content {
                FileContent::Copy(bytes) if placed.from != *bytes => (
                    "copy",
                    format!(
                        "the target of a link, {}",
                        sdk::shown(&resolved.artifacts.artifacts, *bytes)
                    ),
                ),
                FileContent::Copy(_) => ("copy", String::new()),
                FileContent::Searching(_, search) => ("search", format!("RPATH {search}")),
                FileContent::Alias(alias) => {
                    ("alias", format!("a library that opens {}", alias.soname))
                }
                FileContent::Stub { text, .. } => ("stub", format!("a program that runs {text}")),
            };
            lines.push(line(path, action, reason, Some(placed.from)));
        }
        for (path, (why, from)) in &package.dropped {
            lines.push(line(path, "drop", reason(why), Some(*from)));
        }
    }
    for tree in &resolved.devel {
        let package = tree.distribution.as_str();
        for entry in &tree.entries {
            let (action, reason, from) = match &entry.kind {
                DevelKind::Folder => continue,
                DevelKind::Owned(text) => ("link", format!("to a runtime package, {text}"), None),
                DevelKind::Link(text) => ("link", format!("to {text}"), None),
                DevelKind::File {
                    bytes,
                    search: Some(search),
                    ..
                } => ("search", format!("RPATH {search}"), Some(*bytes)),
                DevelKind::File {
                    bytes,
                    search: None,
                    ..
                } => ("copy", String::new(), Some(*bytes)),
            };
            lines.push(Line {
                package,
                path: &entry.path,
                action,
                reason,
                from,
            });
        }
        for (path, (why, from)) in &tree.dropped {
            lines.push(Line {
                package,
                path,
                action: "drop",
                reason: reason(why),
                from: Some(*from),
            });
        }
    }
    lines
}

/// Returns the reason for which a path is left out.
fn reason(why: &DropReason) -> String {
    match why {
        DropReason::Alias(soname) => format!("another name of {soname}, which is included"),
        DropReason::Dangling => "a link whose target is not in its artifact".to_owned(),
        DropReason::ToFolder => "a link to a folder".to_owned(),
        DropReason::Outside => "a link that leads out of its artifact".to_owned(),
        DropReason::Loop => "a link that leads to itself".to_owned(),
        DropReason::ProgramLink => {
            "a link to a program, which Windows packages cannot contain".to_owned()
        }
        DropReason::NoStub(machine) => {
            format!("a link to a program for processor {machine}, which no stub program supports")
        }
    }
}

fn document(resolved: &ResolvedLayout) -> Value {
    let files: Vec<Value> = lines(resolved)
        .into_iter()
        .map(|line| {
            let from = line.from.map(|origin| sdk::shown(&resolved.artifacts.artifacts, origin));
            json!({"package": line.package, "path": line.path, "action": line.action, "reason": line.reason, "from": from})
        })
        .collect();
    json!({"version": 1, "mode": resolved.mode.word(), "files": files})
}

fn table(resolved: &ResolvedLayout) -> String {
    let mut text = format!("mode {}\n", resolved.mode.word());
    for package in &resolved.layout.packages {
        let bytes: u64 = package
            .files
            .values()
            .map(|placed| size_bytes(resolved, &placed.content))
            .sum();
        let _ = writeln!(
            text,
            "{}: {}, {}",
            package.distribution,
            counted(package.files.len(), "file"),
            format_size(bytes)
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
    let dropped: Vec<Line<'_>> = lines(resolved)
        .into_iter()
        .filter(|line| line.action == "drop")
        .collect();
    if !dropped.is_empty() {
        let _ = writeln!(text, "\nleft out");
    }
    for line in dropped {
        let _ = writeln!(text, "  {} of {}: {}", line.path, line.package, line.reason);
    }
    text
}

/// Returns the size of a file in bytes before its search path is changed.
fn size_bytes(resolved: &ResolvedLayout, content: &FileContent) -> u64 {
    let of = |origin: &FileOrigin| match &resolved.artifacts.artifacts[origin.artifact].entries
        [origin.entry]
        .kind
    {
        EntryKind::File(facts) => facts.size_bytes,
        EntryKind::Folder | EntryKind::Link(_) => 0,
    };
    match content {
        FileContent::Copy(origin) | FileContent::Searching(origin, _) => of(origin),
        FileContent::Alias(alias) => alias.bytes().len() as u64,
        FileContent::Stub { machine, text } => {
            stub::stub(*machine, text).map_or(0, |stub| stub.len() as u64)
        }
    }
}
