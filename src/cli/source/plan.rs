//! `source plan`: the repository and ref of each project with their origin. Nothing is fetched.

use std::fmt::Write as _;
use std::path::PathBuf;

use super::selection_args::SelectionArgs;
use super::{Exit, Format, OutputFormat, Shell, load};
use crate::diagnostic::render::redact_urls;
use crate::source::{ExplicitSelection, PlannedValue, SourcePlan};

/// Show the repository, ref and patches of each project, and where they are set
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Options override presets, presets override pins, and pins override the table `projects`.
Nothing is fetched. If torch is not checked out, the output names the files that will pin commits.

Examples:
  rock-matrix source plan --preset rocm-2.13          show the sources of a preset
  rock-matrix source plan triton --torch-dir pytorch  show the triton commit that torch pins
  rock-matrix source plan --platform windows          show the projects on Windows
  rock-matrix source plan torch --ref v2.7.0-rc9 --patch-dir patches/pytorch
                                                      show which patch set fits a ref")]
pub(super) struct Args {
    /// Projects by name, directory or wheel [default: all of the preset or platform]
    #[arg(value_name = "PROJECT")]
    projects: Vec<String>,
    #[command(flatten)]
    selection: SelectionArgs,
    /// Branch, tag or commit of the project (for a single project)
    #[arg(
        long = "ref",
        alias = "repo-hashtag",
        value_name = "REF",
        requires = "projects",
        help_heading = "Sources"
    )]
    reference: Option<String>,
    /// Repository URL of the project (for a single project)
    #[arg(
        long,
        alias = "gitrepo-origin",
        value_name = "URL",
        requires = "projects",
        help_heading = "Sources"
    )]
    origin: Option<String>,
    /// Patch set to use [default: the set named after the ref]
    ///
    /// A preset can name another default. The ref `v2.7.0-rc9` uses the set `v2.7.0-rc9`, or else
    /// `v2.7.0`, or else no patches. Pinned commits have no patch set.
    #[arg(long, value_name = "NAME", help_heading = "Patches and Hipify")]
    patchset: Option<String>,
    /// Directory to look for patch sets in
    ///
    /// Without this option, the output has the name of the patch set, whether it exists or not.
    #[arg(long, value_name = "DIR", help_heading = "Patches and Hipify")]
    patch_dir: Option<PathBuf>,
    /// Run hipify [default: set by the project]
    #[arg(
        long,
        overrides_with = "no_hipify",
        help_heading = "Patches and Hipify"
    )]
    hipify: bool,
    /// Do not run hipify
    #[arg(long, help_heading = "Patches and Hipify")]
    no_hipify: bool,
    #[command(flatten)]
    format: OutputFormat,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    if args.projects.len() > 1 && (args.reference.is_some() || args.origin.is_some()) {
        let text = "`--ref` and `--origin` need exactly one project";
        return crate::cli::misused(&["source"], clap::error::ErrorKind::ArgumentConflict, text);
    }
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    let resolved = SourcePlan::resolve(
        &args.selection.selection(),
        &args.projects,
        &args.explicit(),
        args.patch_dir.as_deref(),
        compat,
        &shell.environment.current_dir,
    );
    let (plan, warnings) = match resolved {
        Ok(resolved) => resolved,
        Err(errors) => return shell.report(errors.as_slice()),
    };
    shell.report(&warnings);
    let text = match args.format.get() {
        Format::Human => human(&plan),
        Format::Json => plan.to_json(),
    };
    shell.print(&redact_urls(&text))
}

impl Args {
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
}

/// Formats the plan for people: a block for each project, with each value and its origin.
fn human(plan: &SourcePlan) -> String {
    let mut text = String::new();
    for project in plan.projects() {
        let _ = writeln!(text, "{} ({})", project.project, project.directory);
        let hipify = PlannedValue {
            value: Some(if project.hipify { "on" } else { "off" }.to_owned()),
            from: project.hipify_from.clone(),
        };
        for (name, value) in [
            ("origin", &project.origin),
            ("ref", &project.reference),
            ("patches", &project.patchset),
            ("hipify", &hipify),
        ] {
            let shown =
                value
                    .value
                    .as_deref()
                    .unwrap_or(if name == "patches" { "none" } else { "a pin" });
            let _ = writeln!(text, "  {name:8} {shown:44} {}", value.from);
        }
    }
    for (name, value) in plan.build_environment() {
        let _ = writeln!(text, "build environment: {name}={value}");
    }
    text
}
