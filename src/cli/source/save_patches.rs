//! `source save-patches`: saves the commits on top of upstream as a patch set.

use std::path::{Path, PathBuf};

use super::checkout::PATCHES;
use super::{Exit, Format, OutputFormat, Shell, Tree, failed};
use crate::checkout::{self, PatchFileChange, PatchTarget};
use crate::codes::checkout as codes;
use crate::diagnostic::{Diagnostic, Location, counted};
use crate::source::{CheckoutState, patch_sets};
use crate::sys;

/// Save the commits on top of a checkout as patches
#[derive(Debug, clap::Args)]
#[command(
    after_help = "\
Examples:
  rock-matrix source save-patches torch          update the patch set that was applied
  rock-matrix source save-patches torch --check  list differences without writing anything",
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
    let (folder, signals) = match args.tree.taken(shell) {
        Ok(taken) => taken,
        Err(exit) => return exit,
    };
    let mut target = PathBuf::new();
    let unsaved = checkout::patches(
        &folder,
        |state| {
            let found = args.target(state, shell)?;
            target.clone_from(&found.folder);
            Ok(found)
        },
        &shell.environment,
        &signals,
    );
    let saved = match unsaved {
        Ok(unsaved) if args.check => Ok(unsaved.saved),
        Ok(unsaved) => unsaved.write(),
        Err(fault) => Err(fault),
    };
    let saved = match saved {
        Ok(saved) => saved,
        Err(fault) => return failed(fault, shell),
    };
    shell.report(&saved.warnings);
    let printed = shell.print(&told(&saved, &target, args));
    if args.check && !saved.changes.is_empty() {
        let count = saved.changes.len();
        let differ = if count == 1 { "differs" } else { "differ" };
        let message = format!(
            "{} in `{}` {differ} from the commits",
            counted(count, "file"),
            target.display()
        );
        let place = Location::File(target.display().to_string().into());
        let told = Diagnostic::new(&codes::PATCHES_DIFFER, message).at(place, "");
        return shell.report(&[told.help("run the same command without `--check`")]);
    }
    printed
}

impl Args {
    /// Returns the patch set to write.
    fn target(&self, state: &CheckoutState, shell: &Shell) -> Result<PatchTarget, Diagnostic> {
        let name = self.repo_name.clone().unwrap_or_else(|| state.name.clone());
        let applied = state.patches.as_ref();
        if let Some(applied) =
            applied.filter(|_| self.patch_dir.is_none() && self.patchset.is_none())
        {
            return Ok(PatchTarget {
                folder: applied.folder.clone().into(),
                name,
            });
        }
        let set = self
            .patchset
            .clone()
            .or_else(|| applied.map(|applied| applied.set.clone()));
        let set = set.unwrap_or_else(|| state.reference.clone());
        patch_sets::check(&set)?;
        let root = self
            .patch_dir
            .clone()
            .unwrap_or_else(|| Path::new(PATCHES).join(&name));
        Ok(PatchTarget {
            folder: sys::real_path(&shell.environment.current_dir.join(root).join(set)),
            name,
        })
    }
}

fn told(saved: &checkout::SavedPatches, target: &Path, args: &Args) -> String {
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
            "folder": target,
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
        (true, _) => format!("up to date: {count} in {}\n", target.display()),
        (false, true) => lines,
        (false, false) => format!("{lines}saved: {count} in {}\n", target.display()),
    }
}
