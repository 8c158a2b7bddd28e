//! `source checkout`: brings a directory to the desired source tree.

use std::path::PathBuf;

use super::manifest_args::ManifestArgs;
use super::selection_args::SelectionArgs;
use super::{Exit, Format, OutputFormat, Shell, failed, listen, load};
use crate::checkout::{self, CheckoutResult};
use crate::cli::reporters::CheckoutReporter;
use crate::cli::whole_number::{Unit, whole_number};
use crate::diagnostic::render::redact_urls;
use crate::source::{
    CheckoutOptions, CheckoutSpec, CheckoutStep, CommandPlace, DiscardPolicy, ExplicitSelection,
    RepositoryCheckout,
};
use crate::sys::Signals;

/// Check out a source tree with submodules, apply patches and run hipify
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "rock-matrix source checkout [OPTIONS] \
        <PROJECT|--manifest <FILE>|--manifest-url <URL>>\n       \
        rock-matrix source checkout [OPTIONS] --origin <URL> --ref <REF> --checkout-dir <DIR>",
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
    selection: SelectionArgs,
    #[command(flatten)]
    manifest: ManifestArgs,
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
        value_parser = whole_number::<u32>(Unit::One, 1..=u64::from(u32::MAX)),
        help_heading = "Sources"
    )]
    depth: Option<u32>,
    /// Number of parallel fetches [default: set by the project]
    #[arg(
        short,
        long,
        value_name = "N",
        value_parser = whole_number::<u32>(Unit::One, 1..=u64::from(u32::MAX)),
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
    let specs = match args.specs(shell) {
        Ok(specs) => specs,
        Err(exit) => return exit,
    };
    let signals = match listen(shell) {
        Ok(signals) => signals,
        Err(exit) => return exit,
    };
    // torch comes first; a failure skips the remaining trees.
    specs
        .iter()
        .map(|spec| check_out(args, spec, shell, &signals))
        .find(|exit| *exit != Exit::Done)
        .unwrap_or(Exit::Done)
}

/// Checks out a tree, or prints the commands.
fn check_out(args: &Args, spec: &CheckoutSpec, shell: &Shell, signals: &Signals) -> Exit {
    let format = args.format.get();
    if args.dry_run {
        return match checkout::plan(spec, &shell.environment, signals) {
            Ok(steps) => shell.print(&redact_urls(&format_steps(&steps, format))),
            Err(error) => failed(error, shell),
        };
    }
    let mut reporter = CheckoutReporter::new(shell);
    let result = checkout::check_out(spec, &shell.environment, signals, &mut |event| {
        reporter.report(event);
    });
    reporter.finish();
    match result {
        Ok(result) => shell.print(&redact_urls(&format_result(&result, spec, format))),
        Err(error) => failed(error, shell),
    }
}

impl Args {
    /// Returns the trees to check out.
    ///
    /// # Errors
    /// The exit code of the command, after reporting the errors.
    fn specs(&self, shell: &Shell) -> Result<Vec<CheckoutSpec>, Exit> {
        let options = self.options(shell);
        let on_note = &mut |note: &str| shell.say(note);
        let resolved = if self.manifest.is_given() {
            let compat = load::compat(shell)?;
            let (text, name) = self.manifest.read(shell)?;
            let manifest = self.manifest.checkout(&self.selection.platform);
            options.resolve_manifest(&manifest, &text, &name, compat, on_note)
        } else if let Some(project) = &self.project {
            let resolved = options.resolve_project(
                project,
                self.checkout_dir.as_deref(),
                &self.selection.selection(),
                &self.explicit(),
                load::compat(shell)?,
                on_note,
            );
            resolved.map(|(spec, warnings)| {
                shell.report(&warnings);
                vec![spec]
            })
        } else {
            let resolved = options.resolve_repository(self.repository(), on_note);
            resolved.map(|spec| vec![spec])
        };
        resolved.map_err(|errors| shell.report(errors.as_slice()))
    }

    fn options(&self, shell: &Shell) -> CheckoutOptions {
        CheckoutOptions {
            repository_name: self.repo_name.clone(),
            applies_patches: !self.no_patch,
            patch_dir: self.patch_dir.clone(),
            allows_missing_patch_set: self.allow_empty_patchset,
            hipify: (self.hipify || self.no_hipify).then_some(self.hipify),
            commits_hipify: !self.no_commit_hipify,
            submodules: !self.no_submodules,
            depth: self.depth,
            jobs: self.jobs,
            python: self.python.clone(),
            discard: DiscardPolicy {
                changes: self.discard_changes,
                commits: self.discard_commits,
            },
            ..CheckoutOptions::new(&shell.environment.current_dir)
        }
    }

    fn explicit(&self) -> ExplicitSelection {
        ExplicitSelection {
            url: self.origin.clone(),
            reference: self.reference.clone(),
            patchset: self.patchset.clone(),
            hipify: (self.hipify || self.no_hipify).then_some(self.hipify),
            release: self.selection.release,
            require_related: self.selection.require_related_commit,
        }
    }

    /// Returns the repository of a command line without a project, which has all three options.
    fn repository(&self) -> RepositoryCheckout {
        RepositoryCheckout {
            url: self.origin.clone().unwrap_or_default(),
            reference: self.reference.clone().unwrap_or_default(),
            directory: self.checkout_dir.clone().unwrap_or_default(),
            patch_set: self.patchset.clone(),
        }
    }
}

#[derive(serde::Serialize)]
struct Planned {
    step: String,
    r#in: String,
    argv: Vec<String>,
}

/// Formats the commands of the steps.
fn format_steps(steps: &[CheckoutStep], format: Format) -> String {
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
fn format_result(result: &CheckoutResult, spec: &CheckoutSpec, format: Format) -> String {
    let state = &result.state;
    if format == Format::Json {
        let document = serde_json::json!({
            "version": 1,
            "outcome": if result.was_up_to_date { "up-to-date" } else { "checked-out" },
            "folder": spec.directory,
            "checkout": state,
        });
        return format!("{document}\n");
    }
    let word = if result.was_up_to_date {
        "up to date"
    } else {
        "checked out"
    };
    format!(
        "{word}: {} in {}\n",
        state.summary(),
        spec.directory.display()
    )
}
