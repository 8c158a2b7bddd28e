//! `source save-patches`: commits above upstream to a patch set.

use std::path::{Path, PathBuf};

use super::checkout::PATCHES;
use super::{Exit, Format, Shell, Tree, failed};
use crate::checkout::{self, PatchFileChange, PatchTarget};
use crate::codes::checkout as codes;
use crate::diagnostic::{Diagnostic, Location, counted};
use crate::source::{CheckoutState, patch_sets};
use crate::sys;

/// Save the commits above what was checked out as patches
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Of each repository, commits below that of hipify go to the folder base, those above it to hipified.
The set is written as a whole or not at all. Files of repositories that the tree has not stay.

Examples:
  rock-matrix source save-patches torch
  rock-matrix source save-patches torch --check
  rock-matrix source save-patches --checkout-dir audio --patch-dir patches/audio --patchset v2.7.0")]
pub(super) struct Args {
    #[command(flatten)]
    tree: Tree,
    /// The folder of patch sets [default: where the checkout took its patches from, else
    /// patches/NAME]
    #[arg(long, value_name = "DIR")]
    patch_dir: Option<PathBuf>,
    /// The patch set by name [default: the one that was applied, else the ref]
    #[arg(long, value_name = "NAME")]
    patchset: Option<String>,
    /// The folder of the outer repository inside a patch set [default: as it was checked out]
    #[arg(long, value_name = "NAME")]
    repo_name: Option<String>,
    /// Write nothing, say what would change, and fail where that is anything
    #[arg(long)]
    check: bool,
    /// What to print: a line a file, or one JSON object
    #[arg(long, value_enum, default_value = "human", value_name = "FORMAT")]
    format: Format,
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
        let are = crate::diagnostic::is_or_are(count);
        let message = format!(
            "{} in `{}` {are} not as the commits make them",
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
    /// Where the patches of a checkout go.
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
    if args.format == Format::Json {
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
