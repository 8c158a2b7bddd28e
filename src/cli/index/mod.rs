//! `index`: writes a static package index of a directory of wheels or of published releases, and
//! yanks files of it.

mod args;
mod document;
mod input;

use std::path::{Path, PathBuf};

use super::{Exit, Shell, load};
use crate::compat::Compat;
use crate::diagnostic::Sink;
use crate::plan::workspace::Workspace;
use crate::publish::{IndexAction, IndexUpdate, YankRuleSet};
use crate::sys;

use args::{BuildArgs, IndexArgs, UnyankArgs, YankArgs};
use document::{Document, preview};

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

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let mut sink = Sink::new();
    let made = match &args.command {
        IndexCommand::Build(args) => build(args, shell, &mut sink),
        IndexCommand::Yank(args) => yank(args, shell, &mut sink),
        IndexCommand::Unyank(args) => unyank(args, shell, &mut sink),
    };
    let exit = made.unwrap_or_else(|exit| exit);
    match shell.report(&sink.finish()) {
        Exit::Fault if exit == Exit::Done => Exit::Fault,
        _ => exit,
    }
}

fn build(args: &BuildArgs, shell: &Shell, sink: &mut Sink) -> Result<Exit, Exit> {
    let compat = load::compat(shell)?;
    let mut rules = YankRuleSet::default();
    add_matrix_rules(&mut rules, &args.rules, compat, shell, sink)?;
    let folder = args.folder.as_deref();
    let action = IndexAction::Build;
    update(folder, &args.index, &rules, action, compat, shell, sink)
}

fn yank(args: &YankArgs, shell: &Shell, sink: &mut Sink) -> Result<Exit, Exit> {
    let (folder, selections) = args.split()?;
    args.index
        .check_wheels(&args.words, "yank")
        .map_err(|error| Exit::collect(error.into(), sink))?;
    let compat = load::compat(shell)?;
    let mut rules = YankRuleSet::default();
    for text in selections {
        sink.extend(rules.add_yank(&args.with_reason(text)).err());
    }
    if let Some(age) = args.older_than {
        rules.add_nightly(age, args.keep);
    }
    add_matrix_rules(&mut rules, &args.rules, compat, shell, sink)?;
    let action = args.apply.action();
    update(folder, &args.index, &rules, action, compat, shell, sink)
}

fn unyank(args: &UnyankArgs, shell: &Shell, sink: &mut Sink) -> Result<Exit, Exit> {
    let (folder, selections) = args.split()?;
    args.index
        .check_wheels(&args.words, "unyank")
        .map_err(|error| Exit::collect(error.into(), sink))?;
    let compat = load::compat(shell)?;
    let mut rules = YankRuleSet::default();
    for text in selections {
        sink.extend(rules.add_unyank(text).err());
    }
    let action = args.apply.action();
    update(folder, &args.index, &rules, action, compat, shell, sink)
}

/// Adds the rules of matrix files.
fn add_matrix_rules(
    rules: &mut YankRuleSet,
    files: &[PathBuf],
    compat: &Compat,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<(), Exit> {
    if files.is_empty() {
        return Ok(());
    }
    let options = load::workspace_options(shell, compat);
    let (workspace, found) =
        Workspace::load_valid(files, &options).map_err(|errors| Exit::collect(errors, sink))?;
    sink.extend(found.finish());
    for matrix in workspace.matrices() {
        if !rules.add_matrix(matrix.config()) {
            shell.say(&format!(
                "{} has no rules: `release` has neither `yank` nor `yank-older-than`",
                matrix.path()
            ));
        }
    }
    Ok(())
}

/// Writes the index of a directory or of published releases, or lists the files that the rules
/// would yank and unyank.
fn update(
    folder: Option<&Path>,
    args: &IndexArgs,
    rules: &YankRuleSet,
    action: IndexAction,
    compat: &Compat,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<Exit, Exit> {
    let options = args.options(folder, action, shell, sink);
    let input = match folder {
        Some(folder) => input::read_directory(args, folder, &options, compat, shell, sink)?,
        None => input::read_published(args, &options, compat, shell, sink)?,
    };
    // `IndexUpdate::open` checks it, too; here it is reported with the errors of the input.
    options
        .check_target()
        .map_err(|errors| Exit::collect(errors, sink))?;
    if sink.has_errors() {
        return Err(Exit::Fault);
    }
    let unmatched = input
        .check_rules(rules)
        .map_err(|errors| Exit::collect(errors, sink))?;
    sink.extend(unmatched);
    let on_wait = || shell.say("another run is writing this index; waiting for it to end");
    let mut update = IndexUpdate::open(input, &options, compat, on_wait)
        .map_err(|errors| Exit::collect(errors, sink))?;
    let (report, notes) = update.yank(rules, sys::now_s());
    for note in &notes {
        shell.say(note);
    }
    sink.extend(update.warnings());
    let written = update
        .write()
        .map_err(|errors| Exit::collect(errors, sink))?;
    let Some(written) = written else {
        return Ok(shell.print(&preview(&report, args.format.get())));
    };
    let document = Document {
        version: 1,
        index: options.out.display().to_string(),
        pages: written.page_count,
        metadata_count: written.metadata_count,
        removed_metadata_count: written.removed_metadata_count,
        has_base_url: options.base_url.is_some(),
        changed: written.is_changed,
        report,
        indexes: written.indexes,
    };
    Ok(shell.print(&document.text(args.format.get())))
}
