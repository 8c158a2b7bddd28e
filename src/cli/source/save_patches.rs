//! `source save-patches`: saves the commits on top of upstream as a patch set.

use std::path::PathBuf;

use super::{Exit, Format, OutputFormat, Shell, Tree, failed};
use crate::checkout::{self, PatchFileChange, PatchTargetOptions, SavedPatches};

/// Save the commits on top of a checkout as patches
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "rock-matrix source save-patches [OPTIONS] <PROJECT|--checkout-dir <DIR>>",
    after_long_help = "\
In each repository, commits before the commit of hipify are saved in the directory base, and later
ones in hipified. The whole set is replaced at once. Files of repositories that the tree does not
contain are kept.

Examples:
  rock-matrix source save-patches torch          update the patch set that was applied
  rock-matrix source save-patches torch --check  list differences without writing anything
  rock-matrix source save-patches --checkout-dir audio --patch-dir patches/audio --patchset v2.7.0"
)]
pub(super) struct Args {
    #[command(flatten)]
    tree: Tree,
    /// Directory of patch sets [default: as applied, or patches/NAME]
    ///
    /// NAME is the value of --repo-name.
    #[arg(long, value_name = "DIR")]
    patch_dir: Option<PathBuf>,
    /// Patch set to write [default: the applied set, or the ref]
    #[arg(long, value_name = "NAME")]
    patchset: Option<String>,
    /// Directory of the outer repository in the set [default: as checked out]
    #[arg(long, value_name = "NAME")]
    repo_name: Option<String>,
    /// Fail if the patch set differs from the commits, without writing anything
    ///
    /// Lists the files that would change.
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    format: OutputFormat,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let (directory, signals) = match args.tree.open(shell) {
        Ok(opened) => opened,
        Err(exit) => return exit,
    };
    let target = PatchTargetOptions {
        patch_dir: args.patch_dir.clone(),
        patch_set: args.patchset.clone(),
        repository_name: args.repo_name.clone(),
    };
    let pending = checkout::create_patches(&directory, &target, &shell.environment, &signals);
    let saved = match pending {
        Ok(pending) if args.check => Ok(pending.saved),
        Ok(pending) => pending.write(),
        Err(error) => Err(error),
    };
    let saved = match saved {
        Ok(saved) => saved,
        Err(error) => return failed(error, shell),
    };
    shell.report(&saved.warnings);
    let printed = shell.print(&format_result(&saved, args));
    if args.check
        && let Err(error) = saved.check_unchanged()
    {
        return shell.report(&[error]);
    }
    printed
}

fn format_result(saved: &SavedPatches, args: &Args) -> String {
    if args.format.get() == Format::Json {
        let word = |change: PatchFileChange| match change {
            PatchFileChange::Added => "added",
            PatchFileChange::Changed => "changed",
            PatchFileChange::Removed => "removed",
        };
        let changes: serde_json::Map<String, serde_json::Value> = saved
            .changes
            .iter()
            .map(|(path, change)| (path.clone(), word(*change).into()))
            .collect();
        let document = serde_json::json!({
            "version": 1,
            "folder": saved.directory,
            "check": args.check,
            "patches": saved.patches,
            "changes": changes,
        });
        return format!("{document}\n");
    }
    let sign = |change: PatchFileChange| match change {
        PatchFileChange::Added => '+',
        PatchFileChange::Changed => '~',
        PatchFileChange::Removed => '-',
    };
    let lines: String = saved
        .changes
        .iter()
        .map(|(path, change)| format!("{} {path}\n", sign(*change)))
        .collect();
    let count = match saved.patches {
        1 => "1 patch".to_owned(),
        count => format!("{count} patches"),
    };
    match (saved.changes.is_empty(), args.check) {
        (true, _) => format!("up to date: {count} in {}\n", saved.directory.display()),
        (false, true) => lines,
        (false, false) => format!("{lines}saved: {count} in {}\n", saved.directory.display()),
    }
}
