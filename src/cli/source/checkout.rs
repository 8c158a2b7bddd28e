//! `source checkout`: brings a directory to the desired source tree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::by_manifest::{ByManifest, Tree};
use super::choices::Choices;
use super::{Exit, Format, OutputFormat, Shell, failed, listen, load};
use crate::checkout::{self, CheckoutResult};
use crate::cli::reporters::CheckoutReporter;
use crate::codes::sources as codes;
use crate::diagnostic::render::redact_urls;
use crate::diagnostic::{Diagnostic, Sink};
use crate::source::patch_sets::{self, PatchSetSelection, SelectedPatchSet};
use crate::source::{
    CheckoutSpec, CheckoutState, CheckoutStep, CommandPlace, DiscardPolicy, ExplicitSelection,
    HipifyMode, PatchSet, ProjectQuery, SourceRef, resolve,
};
use crate::sys::{self, Signals};

/// The default directory of patch sets, relative to the working directory.
pub(super) const PATCHES: &str = "patches";

/// Check out a source tree with submodules, apply patches and run hipify
#[derive(Debug, clap::Args)]
#[command(
    after_help = "\
Examples:
  rock-matrix source checkout torch --ref v2.7.0        check out torch in `pytorch`
  rock-matrix source checkout --manifest manifest.json  check out all projects of a manifest",
    after_long_help = "\
Local changes and commits are kept unless an option discards them. If there is nothing to do, the
command prints `up to date`. Rerun the same command to resume after a failure, an interrupt or a
kill.

Examples:
  rock-matrix source checkout torch --ref v2.7.0        check out torch in `pytorch`
  rock-matrix source checkout --manifest manifest.json  check out all projects of a manifest
  rock-matrix source checkout torch --ref 3e2aa4b0e3e971a81f665a9a6d803683452c022d --patchset main
  rock-matrix source checkout torch --origin https://github.com/ROCm/pytorch.git \\
    --ref release/2.7 --patchset rocm_2.7 --checkout-dir pytorch
  rock-matrix source checkout --origin ../audio --ref v2.7.0 --checkout-dir audio --dry-run"
)]
pub(super) struct Args {
    /// Project by name, directory or wheel, such as audio, pytorch_audio or torchaudio
    ///
    /// Without a project, --origin, --ref and --checkout-dir select another repository.
    #[arg(value_name = "PROJECT")]
    project: Option<String>,
    /// Directory of the tree [default: the project's directory]
    ///
    /// The project's directory is relative to the working directory.
    #[arg(
        long,
        alias = "repo",
        value_name = "DIR",
        required_unless_present_any = ["project", "manifest", "manifest_url"]
    )]
    checkout_dir: Option<PathBuf>,
    #[command(flatten)]
    choices: Choices,
    #[command(flatten)]
    by_manifest: ByManifest,
    /// Branch, tag or commit hash [default: set by preset, pins or project]
    ///
    /// A commit hash must be complete.
    #[arg(
        long = "ref",
        alias = "repo-hashtag",
        value_name = "REF",
        required_unless_present_any = ["project", "manifest", "manifest_url"],
        help_heading = "Sources"
    )]
    reference: Option<String>,
    /// Repository to fetch from [default: set by preset, pins or project]
    ///
    /// A URL or a path.
    #[arg(
        long,
        alias = "gitrepo-origin",
        value_name = "URL",
        required_unless_present_any = ["project", "manifest", "manifest_url"],
        help_heading = "Sources"
    )]
    origin: Option<String>,
    /// Do not check out submodules
    #[arg(
        long,
        overrides_with = "submodules",
        help_heading = "Sources",
        hide_short_help = true
    )]
    no_submodules: bool,
    /// Check out submodules recursively (default)
    #[arg(
        long,
        overrides_with = "no_submodules",
        help_heading = "Sources",
        hide_short_help = true
    )]
    submodules: bool,
    /// Fetch only the last N commits [default: full history]
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..),
        help_heading = "Sources"
    )]
    depth: Option<u32>,
    /// Number of parallel fetches [default: set by the project]
    #[arg(
        short,
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..),
        help_heading = "Sources"
    )]
    jobs: Option<u32>,
    /// Directory of patch sets [default: patches/NAME, if it exists]
    ///
    /// NAME is the value of --repo-name.
    #[arg(long, value_name = "DIR", help_heading = "Patches and Hipify")]
    patch_dir: Option<PathBuf>,
    /// Patch set to apply [default: the set named after the ref]
    ///
    /// A preset can name another default. The ref `v2.7.0-rc9` uses the set `v2.7.0-rc9`, or else
    /// `v2.7.0`, or else no patches. Pinned commits have no patch set.
    #[arg(long, value_name = "NAME", help_heading = "Patches and Hipify")]
    patchset: Option<String>,
    /// Apply no patches if the patch set does not exist
    #[arg(long, help_heading = "Patches and Hipify", hide_short_help = true)]
    allow_empty_patchset: bool,
    /// Directory of the outer repository in a patch set [default: the project's directory]
    ///
    /// Without a project, the default is the name of --checkout-dir.
    #[arg(
        long,
        value_name = "NAME",
        help_heading = "Patches and Hipify",
        hide_short_help = true
    )]
    repo_name: Option<String>,
    /// Do not apply patches
    #[arg(long, overrides_with = "patch", help_heading = "Patches and Hipify")]
    no_patch: bool,
    /// Apply patches (default)
    #[arg(
        long,
        overrides_with = "no_patch",
        help_heading = "Patches and Hipify",
        hide_short_help = true
    )]
    patch: bool,
    /// Run hipify [default: set by the project]
    #[arg(
        long,
        overrides_with = "no_hipify",
        help_heading = "Patches and Hipify",
        hide_short_help = true
    )]
    hipify: bool,
    /// Do not run hipify or apply patches of hipified sources
    #[arg(long, overrides_with = "hipify", help_heading = "Patches and Hipify")]
    no_hipify: bool,
    /// Commit the changes of hipify (default)
    #[arg(
        long,
        overrides_with = "no_commit_hipify",
        help_heading = "Patches and Hipify",
        hide_short_help = true
    )]
    commit_hipify: bool,
    /// Leave the changes of hipify uncommitted
    #[arg(
        long,
        overrides_with = "commit_hipify",
        help_heading = "Patches and Hipify",
        hide_short_help = true
    )]
    no_commit_hipify: bool,
    /// Python interpreter that runs hipify
    #[arg(
        long,
        value_name = "PROGRAM",
        default_value = "python3",
        help_heading = "Patches and Hipify",
        hide_short_help = true
    )]
    python: String,
    /// Discard uncommitted changes
    ///
    /// Also ends a rebase or a series of patches that is in progress. Files that git ignores are
    /// kept.
    #[arg(long, help_heading = "Local Changes", hide_short_help = true)]
    discard_changes: bool,
    /// Discard commits on top of the last checkout
    ///
    /// The reflog keeps them.
    #[arg(long, help_heading = "Local Changes", hide_short_help = true)]
    discard_commits: bool,
    /// Print the commands without running any that changes something
    #[arg(short = 'n', long)]
    dry_run: bool,
    #[command(flatten)]
    format: OutputFormat,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let mut sink = Sink::new();
    let wanted = match args.wanted(shell, &mut sink) {
        Ok(wanted) => wanted,
        Err(exit) => return exit,
    };
    let exit = shell.report(&sink.finish());
    if exit != Exit::Done {
        return exit;
    }
    let signals = match listen(shell) {
        Ok(signals) => signals,
        Err(exit) => return exit,
    };
    // torch comes first; a failure skips the remaining trees.
    let exits = wanted
        .iter()
        .map(|wanted| one(args, wanted, shell, &signals));
    exits
        .into_iter()
        .find(|exit| *exit != Exit::Done)
        .unwrap_or(Exit::Done)
}

/// Checks out a tree, or prints the commands.
fn one(args: &Args, wanted: &CheckoutSpec, shell: &Shell, signals: &Signals) -> Exit {
    if args.dry_run {
        return match checkout::plan(wanted, &shell.environment, signals) {
            Ok(steps) => shell.print(&redact_urls(&planned(&steps, args.format.get()))),
            Err(fault) => failed(fault, shell),
        };
    }
    let mut reporter = CheckoutReporter::new(shell);
    let made = checkout::check_out(wanted, &shell.environment, signals, &mut |event| {
        reporter.report(event);
    });
    reporter.finish();
    match made {
        Ok(made) => shell.print(&redact_urls(&told(&made, wanted, args.format.get()))),
        Err(fault) => failed(fault, shell),
    }
}

/// The resolved properties of a tree that do not come from options common to all trees.
struct Origin {
    project: Option<String>,
    url: String,
    reference: String,
    name: String,
    folder: PathBuf,
    set: PatchSetSelection,
    hipify: bool,
    jobs: Option<u32>,
}

impl Args {
    fn wanted(&self, shell: &Shell, sink: &mut Sink) -> Result<Vec<CheckoutSpec>, Exit> {
        if self.by_manifest.is_given() {
            let compat = load::compat(shell)?;
            let trees = self
                .by_manifest
                .trees(compat, &self.choices.platform, shell, sink)?;
            return Ok(trees
                .into_iter()
                .filter_map(|tree| self.of_tree(tree, shell, sink))
                .collect());
        }
        let origin = match &self.project {
            Some(project) => self.of_project(project, shell, sink)?,
            None => self.of_repository(),
        };
        Ok(origin
            .and_then(|origin| self.of_origin(origin, shell, sink))
            .into_iter()
            .collect())
    }

    /// Returns the desired state of a tree of a manifest; `None` and a diagnostic if its patch set
    /// differs from the manifest.
    fn of_tree(&self, tree: Tree<'_>, shell: &Shell, sink: &mut Sink) -> Option<CheckoutSpec> {
        let Tree { row, entry, folder } = tree;
        let is_hipified = if row.hipify_is_fixed {
            row.hipify
        } else {
            row.hipify && !self.no_hipify || self.hipify
        };
        let origin = Origin {
            project: Some(row.project.clone()),
            url: entry.repo,
            reference: entry.commit,
            name: row.folder.clone(),
            folder,
            set: entry
                .patchset
                .map_or(PatchSetSelection::Pinned, PatchSetSelection::Named),
            hipify: is_hipified,
            jobs: row.fetch_jobs,
        };
        let wanted = self.of_origin(origin, shell, sink)?;
        let series = wanted.patches.iter().flat_map(|set| &set.series);
        let patches = series.flat_map(|series| &series.patches);
        let there: BTreeMap<String, String> = patches
            .map(|one| (one.path.clone(), one.digest.to_hex()))
            .collect();
        if self.no_patch || there == entry.patches {
            return Some(wanted);
        }
        let message = format!(
            "the patches of {} differ from those in the manifest",
            row.project
        );
        sink.push(Diagnostic::new(&codes::OTHER_PATCHES, message).help(
            "pass the folder of the right patches with `--patch-dir`, or apply none with \
                     `--no-patch`",
        ));
        None
    }

    fn of_origin(&self, origin: Origin, shell: &Shell, sink: &mut Sink) -> Option<CheckoutSpec> {
        let here = &shell.environment.current_dir;
        let name = self.repo_name.clone().unwrap_or(origin.name);
        let patches = if self.no_patch {
            Ok(None)
        } else {
            self.patches(&origin.set, &name, shell)
        };
        let patches = match patches {
            Ok(patches) => patches,
            Err(faults) => {
                sink.extend(faults);
                return None;
            }
        };
        let hipify = match (origin.hipify, self.no_commit_hipify) {
            (false, _) => HipifyMode::Skip,
            (true, false) => HipifyMode::Commit,
            (true, true) => HipifyMode::Leave,
        };
        Some(CheckoutSpec {
            folder: sys::real_path(&here.join(&origin.folder)),
            project: origin.project,
            origin: from_here(&origin.url, here),
            reference: origin.reference,
            name,
            patches,
            hipify,
            submodules: !self.no_submodules,
            depth: self.depth,
            jobs: self.jobs.or(origin.jobs),
            python: from_here(&self.python, here),
            build_environment: BTreeMap::new(),
            discard: DiscardPolicy {
                changes: self.discard_changes,
                commits: self.discard_commits,
            },
        })
    }

    fn of_repository(&self) -> Option<Origin> {
        let (folder, reference) = (self.checkout_dir.clone()?, self.reference.clone()?);
        let name = folder
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let fitting = PatchSetSelection::Fitting(reference.clone());
        Some(Origin {
            project: None,
            url: self.origin.clone()?,
            set: self
                .patchset
                .clone()
                .map_or(fitting, PatchSetSelection::Named),
            reference,
            name,
            folder,
            hipify: !self.no_hipify,
            jobs: None,
        })
    }

    fn of_project(
        &self,
        project: &str,
        shell: &Shell,
        sink: &mut Sink,
    ) -> Result<Option<Origin>, Exit> {
        let compat = load::compat(shell)?;
        let explicit = ExplicitSelection {
            url: self.origin.clone(),
            reference: self.reference.clone(),
            patchset: self.patchset.clone(),
            hipify: (self.hipify || self.no_hipify).then_some(self.hipify),
            release: self.choices.release,
            require_related: self.choices.require_related_commit,
        };
        let mut resolved = || {
            let chosen = self.choices.chosen(compat, &[project.to_owned()], sink)?;
            let files = self
                .choices
                .pin_files(compat, &chosen, &explicit, shell, sink)?;
            let row = chosen.rows.first()?;
            let related_os = &self.choices.related_os;
            let question = ProjectQuery {
                row,
                explicit: &explicit,
                preset: chosen.preset,
                files: &files,
                related_os,
            };
            resolve(&question, compat)
                .map_err(|fault| sink.push(fault))
                .ok()
        };
        let Some(found) = resolved() else {
            return Ok(None);
        };
        let reference = match found.reference {
            SourceRef::Known(told) => told.value,
            SourceRef::Later(file) => {
                let message = format!(
                    "torch's `{file}` pins the commit of `{project}`, but torch is not checked out"
                );
                sink.push(Diagnostic::new(&codes::NO_PIN, message).help(
                    "check out torch first and pass its folder with `--torch-dir`, or pass \
                             `--ref`",
                ));
                return Ok(None);
            }
        };
        Ok(Some(Origin {
            project: Some(found.project),
            url: found.url.value,
            reference,
            folder: self
                .checkout_dir
                .clone()
                .unwrap_or_else(|| found.folder.clone().into()),
            name: found.folder,
            set: found.patch_set.value,
            hipify: found.hipify.value,
            jobs: found.fetch_jobs,
        }))
    }

    /// Returns the patches of the selected patch set, if it exists.
    fn patches(
        &self,
        choice: &PatchSetSelection,
        name: &str,
        shell: &Shell,
    ) -> Result<Option<PatchSet>, Vec<Diagnostic>> {
        let root = self
            .patch_dir
            .clone()
            .unwrap_or_else(|| Path::new(PATCHES).join(name));
        let folder = shell.environment.current_dir.join(&root);
        let has =
            |name: &str| sys::read_entries(&folder.join(name)).is_ok_and(|found| !found.is_empty());
        let found = patch_sets::look_up(choice, &root.display().to_string(), has);
        let found = match found {
            Err(fault) if self.allow_empty_patchset && fault.code == &codes::NO_PATCH_SET => {
                shell.say(&format!("no patches: {}", fault.message));
                return Ok(None);
            }
            found => found.map_err(|fault| vec![fault])?,
        };
        match found {
            SelectedPatchSet::Found(set) => {
                checkout::read_set(&set, &sys::real_path(&folder.join(&set)))
                    .map(Some)
                    .map_err(|error| vec![error.into()])
            }
            SelectedPatchSet::Absent(names) if sys::exists(&folder) => {
                shell.say(&format!(
                    "no patches: `{}` has none of {}",
                    root.display(),
                    names.join(", ")
                ));
                Ok(None)
            }
            SelectedPatchSet::Absent(_) | SelectedPatchSet::Pinned => Ok(None),
        }
    }
}

/// Makes the path of an existing file absolute; returns any other text unchanged.
fn from_here(text: &str, here: &Path) -> String {
    let path = here.join(text);
    if text.contains("://")
        || !text.contains('/') && text != "." && text != ".."
        || !sys::exists(&path)
    {
        return text.to_owned();
    }
    sys::real_path(&path).display().to_string()
}

#[derive(serde::Serialize)]
struct Planned {
    step: String,
    r#in: String,
    argv: Vec<String>,
}

/// Formats the commands of the steps.
fn planned(steps: &[CheckoutStep], format: Format) -> String {
    let all = steps
        .iter()
        .flat_map(|step| step.orders().into_iter().map(|order| (step.title(), order)));
    if format == Format::Json {
        let planned = |(step, order): (String, crate::source::CheckoutCommand)| Planned {
            step,
            r#in: order.place.to_string(),
            argv: order.argv,
        };
        let document =
            serde_json::json!({"version": 1, "commands": all.map(planned).collect::<Vec<_>>()});
        return format!("{document}\n");
    }
    if steps.is_empty() {
        return "up to date\n".to_owned();
    }
    let line = |(_, order): (String, crate::source::CheckoutCommand)| {
        let command = crate::render::command(&order.argv);
        match order.place {
            CommandPlace::Outer => format!("{command}\n"),
            place if place == CommandPlace::In(String::new()) => format!("{command}\n"),
            place => format!("{command}  # in {place}\n"),
        }
    };
    all.map(line).collect()
}

/// Formats the result of a checkout.
fn told(made: &CheckoutResult, wanted: &CheckoutSpec, format: Format) -> String {
    let state = &made.state;
    if format == Format::Json {
        let document = serde_json::json!({
            "version": 1,
            "outcome": if made.was_there { "up-to-date" } else { "checked-out" },
            "folder": wanted.folder,
            "checkout": state,
        });
        return format!("{document}\n");
    }
    let word = if made.was_there {
        "up to date"
    } else {
        "checked out"
    };
    format!("{word}: {} in {}\n", shown(state), wanted.folder.display())
}

/// Returns a one-line description of a tree: project, ref, commit and number of patches.
pub(super) fn shown(state: &CheckoutState) -> String {
    let commit = state.commit.as_deref().unwrap_or_default();
    let what = state.project.as_deref().unwrap_or(&state.name);
    let names: Vec<&str> = state
        .repositories
        .iter()
        .map(|one| one.path.as_str())
        .chain([state.name.as_str()])
        .collect();
    let is_applied = |path: &&String| {
        let repository = path.rsplitn(3, '/').nth(2).unwrap_or_default();
        names.contains(&repository)
    };
    let patches = match state
        .patches
        .iter()
        .flat_map(|patches| patches.files.keys())
        .filter(is_applied)
        .count()
    {
        0 => String::new(),
        1 => ", 1 patch".to_owned(),
        count => format!(", {count} patches"),
    };
    let short = &commit[..commit.len().min(12)];
    let is_named = !state.reference.starts_with(short);
    if is_named {
        format!("{what} {} ({short}{patches})", state.reference)
    } else {
        format!("{what} {short}{patches}")
    }
}
