//! `source checkout`: makes a folder the source tree that is wanted.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::by_manifest::{ByManifest, Tree};
use super::choices::Choices;
use super::progress::Progress;
use super::{Exit, Format, Shell, failed, listen, load};
use crate::checkout::{self, CheckoutResult};
use crate::codes::sources as codes;
use crate::diagnostic::render::redact_urls;
use crate::diagnostic::{Diagnostic, Sink};
use crate::source::patch_sets::{self, PatchSetSelection, SelectedPatchSet};
use crate::source::{
    CheckoutSpec, CheckoutState, CheckoutStep, CommandPlace, DiscardPolicy, ExplicitSelection,
    HipifyMode, PatchSet, ProjectQuery, SourceRef, resolve,
};
use crate::sys::{self, Signals};

/// Where patch sets are looked for without another word, below the working folder.
pub(super) const PATCHES: &str = "patches";

/// Check out a source tree with submodules and patches, and hipify it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
What a person changed or committed is never lost without a flag. A second run with nothing to do
says `up to date`. A run that was ended at any moment is gone on from by the same command.

Examples:
  rock-matrix source checkout torch --ref v2.7.0
  rock-matrix source checkout torch --ref 3e2aa4b0e3e971a81f665a9a6d803683452c022d --patchset main
  rock-matrix source checkout torch --origin https://github.com/ROCm/pytorch.git --ref release/2.7 \\
    --patchset rocm_2.7 --checkout-dir pytorch
  rock-matrix source checkout --origin ../audio --ref v2.7.0 --checkout-dir audio --dry-run
  rock-matrix source checkout --manifest manifest.json --checkout-root trees")]
pub(super) struct Args {
    /// The project by name, folder or wheel; without one name an origin, a ref and a folder
    #[arg(value_name = "PROJECT")]
    project: Option<String>,
    /// Put the tree here [default: the folder of the project, in the working folder]
    #[arg(long, visible_alias = "repo", value_name = "DIR", required_unless_present_any = ["project", "manifest", "manifest_url"])]
    checkout_dir: Option<PathBuf>,
    #[command(flatten)]
    choices: Choices,
    #[command(flatten)]
    by_manifest: ByManifest,
    /// The branch, tag or whole commit hash
    #[arg(
        long = "ref",
        visible_alias = "repo-hashtag",
        value_name = "REF",
        required_unless_present_any = ["project", "manifest", "manifest_url"],
        help_heading = "Sources"
    )]
    reference: Option<String>,
    /// Where it is fetched from
    #[arg(
        long,
        visible_alias = "gitrepo-origin",
        value_name = "URL",
        required_unless_present_any = ["project", "manifest", "manifest_url"],
        help_heading = "Sources"
    )]
    origin: Option<String>,
    /// Leave submodules out
    #[arg(long, overrides_with = "submodules", help_heading = "Sources")]
    no_submodules: bool,
    /// Check out submodules, and theirs, which is the default
    #[arg(long, overrides_with = "no_submodules", help_heading = "Sources")]
    submodules: bool,
    /// Fetch so many commits of history [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Sources")]
    depth: Option<u32>,
    /// Fetch so many things at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Sources")]
    jobs: Option<u32>,
    /// Look for patch sets in this folder [default: patches/NAME, where it is there]
    #[arg(long, value_name = "DIR", help_heading = "Patches")]
    patch_dir: Option<PathBuf>,
    /// The patch set by name [default: the one that fits the ref]
    #[arg(long, value_name = "NAME", help_heading = "Patches")]
    patchset: Option<String>,
    /// Go on without patches where the named set has no folder
    #[arg(long, help_heading = "Patches")]
    allow_empty_patchset: bool,
    /// The folder of the outer repository inside a patch set [default: the folder of the project,
    /// or of the tree]
    #[arg(long, value_name = "NAME", help_heading = "Patches")]
    repo_name: Option<String>,
    /// Apply no patches
    #[arg(long, overrides_with = "patch", help_heading = "Patches")]
    no_patch: bool,
    /// Apply patches, which is the default
    #[arg(long, overrides_with = "no_patch", help_heading = "Patches")]
    patch: bool,
    /// Run hipify
    #[arg(long, overrides_with = "no_hipify", help_heading = "Hipify")]
    hipify: bool,
    /// Do not run hipify, and apply no patches that need it
    #[arg(long, overrides_with = "hipify", help_heading = "Hipify")]
    no_hipify: bool,
    /// Commit what hipify changes, which is the default
    #[arg(long, overrides_with = "no_commit_hipify", help_heading = "Hipify")]
    commit_hipify: bool,
    /// Leave what hipify changes without a commit
    #[arg(long, overrides_with = "commit_hipify", help_heading = "Hipify")]
    no_commit_hipify: bool,
    /// The Python that hipify runs with
    #[arg(
        long,
        value_name = "PROGRAM",
        default_value = "python3",
        help_heading = "Hipify"
    )]
    python: String,
    /// Lose changes that are not committed
    #[arg(long, help_heading = "Work that is there")]
    discard_changes: bool,
    /// Leave commits above what was checked out to the reflog
    #[arg(long, help_heading = "Work that is there")]
    discard_commits: bool,
    /// Print the commands, and run none that changes anything
    #[arg(long)]
    dry_run: bool,
    /// What to print: a line, or one JSON object
    #[arg(long, value_enum, default_value = "human", value_name = "FORMAT")]
    format: Format,
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
    // torch comes first, and what fails ends the rest.
    let exits = wanted
        .iter()
        .map(|wanted| one(args, wanted, shell, &signals));
    exits
        .into_iter()
        .find(|exit| *exit != Exit::Done)
        .unwrap_or(Exit::Done)
}

/// Makes one tree, or shows how.
fn one(args: &Args, wanted: &CheckoutSpec, shell: &Shell, signals: &Signals) -> Exit {
    if args.dry_run {
        return match checkout::plan(wanted, &shell.environment, signals) {
            Ok(steps) => shell.print(&redact_urls(&planned(&steps, args.format))),
            Err(fault) => failed(fault, shell),
        };
    }
    let mut progress = Progress::new(shell);
    let made = checkout::check_out(wanted, &shell.environment, signals, &mut |event| {
        progress.tell(event);
    });
    progress.finish();
    match made {
        Ok(made) => shell.print(&redact_urls(&told(&made, wanted, args.format))),
        Err(fault) => failed(fault, shell),
    }
}

/// Where a tree comes from, as far as it is not the same for all.
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

    /// A tree of a manifest, with the patches that it was locked with.
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
            "the patches of {} are not those that the manifest names",
            row.project
        );
        sink.push(
            Diagnostic::new(&codes::OTHER_PATCHES, message)
                .help("name the folder that has them with `--patch-dir`, or go on without any with `--no-patch`"),
        );
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
                    "the commit of `{project}` stands in torch's `{file}`, and torch is not there"
                );
                sink.push(
                    Diagnostic::new(&codes::NO_PIN, message)
                        .help("check out torch first and name its folder with `--torch-dir`, or name the `--ref`"),
                );
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

    /// The patches of the set that is wanted, or that fits.
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

/// A path that was given from the working folder, as one from everywhere; anything else as it is.
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

/// The commands of the steps.
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

/// What was made.
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

/// What a tree is, in a line.
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
