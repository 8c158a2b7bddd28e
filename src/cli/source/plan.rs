//! `source plan`: the repository and ref of each project with their origin. Nothing is fetched.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use super::choices::Choices;
use super::{Exit, Format, OutputFormat, Shell, load};
use crate::diagnostic::render::redact_urls;
use crate::diagnostic::{Diagnostic, Sink};
use crate::source::patch_sets::{self, PatchSetSelection, SelectedPatchSet};
use crate::source::{ExplicitSelection, ProjectQuery, ResolvedProject, SourceRef, resolve};

/// Show the repository, ref and patches of each project, and where they are set
#[derive(Debug, clap::Args)]
#[command(
    after_help = "\
Examples:
  rock-matrix source plan --preset rocm-2.13          show the sources of a preset
  rock-matrix source plan triton --torch-dir pytorch  show the triton commit that torch pins",
    after_long_help = "\
Options override presets, presets override pins, and pins override the table `projects`.
Nothing is fetched. If torch is not checked out, the output names the files that will pin commits.

Examples:
  rock-matrix source plan --preset rocm-2.13          show the sources of a preset
  rock-matrix source plan triton --torch-dir pytorch  show the triton commit that torch pins
  rock-matrix source plan --platform windows          show the projects on Windows
  rock-matrix source plan torch --ref v2.7.0-rc9 --patch-dir patches/pytorch
                                                      show which patch set fits a ref"
)]
pub(super) struct Args {
    /// Projects by name, directory or wheel [default: all of the preset or platform]
    #[arg(value_name = "PROJECT")]
    projects: Vec<String>,
    #[command(flatten)]
    choices: Choices,
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
    let mut sink = Sink::new();
    let text = planned(args, compat, shell, &mut sink);
    let exit = shell.report(&sink.finish());
    match text {
        Some(text) if exit == Exit::Done => shell.print(&redact_urls(&text)),
        _ => exit,
    }
}

fn planned(
    args: &Args,
    compat: &crate::compat::Compat,
    shell: &Shell,
    sink: &mut Sink,
) -> Option<String> {
    let explicit = ExplicitSelection {
        url: args.origin.clone(),
        reference: args.reference.clone(),
        patchset: args.patchset.clone(),
        hipify: (args.hipify || args.no_hipify).then_some(args.hipify),
        release: args.choices.release,
        require_related: args.choices.require_related_commit,
    };
    let chosen = args.choices.chosen(compat, &args.projects, sink)?;
    let files = args
        .choices
        .pin_files(compat, &chosen, &explicit, shell, sink)?;
    let mut projects = Vec::new();
    for row in &chosen.rows {
        let question = ProjectQuery {
            row,
            explicit: &explicit,
            preset: chosen.preset,
            files: &files,
            related_os: &args.choices.related_os,
        };
        let planned = resolve(&question, compat).and_then(|resolved| {
            let patches = patches(&resolved, args, shell)?;
            Ok(document(resolved, patches))
        });
        match planned {
            Ok(planned) => projects.push(planned),
            Err(fault) => sink.push(fault),
        }
    }
    let document = Document {
        version: 1,
        platform: &args.choices.platform,
        preset: chosen.preset.map(|preset| preset.name.as_str()),
        env: chosen
            .preset
            .map(|preset| &preset.env)
            .filter(|env| !env.is_empty()),
        projects,
    };
    Some(match args.format.get() {
        Format::Human => human(&document),
        Format::Json => {
            serde_json::to_string_pretty(&document)
                .expect("a struct of texts and numbers serialises")
                + "\n"
        }
    })
}

/// Returns the patch set and its origin: an existing set if a directory of sets is given, or else
/// the name that a checkout looks up.
fn patches(
    resolved: &ResolvedProject,
    args: &Args,
    shell: &Shell,
) -> Result<(Option<String>, String), Diagnostic> {
    let Some(root) = &args.patch_dir else {
        return Ok(match &resolved.patch_set.value {
            PatchSetSelection::Named(name) => {
                patch_sets::check(name)?;
                (Some(name.clone()), "named".to_owned())
            }
            PatchSetSelection::Fitting(name) => (Some(name.clone()), "if it exists".to_owned()),
            PatchSetSelection::Pinned => (None, "the commit is pinned".to_owned()),
        });
    };
    let folder = shell.environment.current_dir.join(root);
    let found = patch_sets::look_up(
        &resolved.patch_set.value,
        &root.display().to_string(),
        |name| folder.join(name).is_dir(),
    )?;
    Ok(match found {
        SelectedPatchSet::Found(name) => {
            let place = format!("in {}", root.display());
            (Some(name), place)
        }
        SelectedPatchSet::Absent(names) => (
            None,
            format!("{} has none of {}", root.display(), names.join(", ")),
        ),
        SelectedPatchSet::Pinned => (None, "the commit is pinned".to_owned()),
    })
}

#[derive(serde::Serialize)]
struct Document<'a> {
    version: u32,
    platform: &'a str,
    preset: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    env: Option<&'a BTreeMap<String, String>>,
    projects: Vec<Planned>,
}

#[derive(serde::Serialize)]
struct Planned {
    project: String,
    folder: String,
    origin: Value,
    #[serde(rename = "ref")]
    reference: Value,
    patchset: Value,
    hipify: bool,
    hipify_from: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    jobs: Option<u32>,
}

/// A value, if it is known, and its origin.
#[derive(serde::Serialize)]
struct Value {
    value: Option<String>,
    from: String,
}

fn document(resolved: ResolvedProject, (set, why): (Option<String>, String)) -> Planned {
    let reference = match resolved.reference {
        SourceRef::Known(told) => Value {
            value: Some(told.value),
            from: told.from.to_string(),
        },
        SourceRef::Later(file) => Value {
            value: None,
            from: format!("torch's {file}, once it is checked out"),
        },
    };
    Planned {
        project: resolved.project,
        folder: resolved.folder,
        origin: Value {
            value: Some(resolved.url.value),
            from: resolved.url.from.to_string(),
        },
        reference,
        patchset: Value {
            value: set,
            from: why,
        },
        hipify: resolved.hipify.value,
        hipify_from: resolved.hipify.from.to_string(),
        jobs: resolved.fetch_jobs,
    }
}

/// Formats the plan for people: a block for each project, with each value and its origin.
fn human(document: &Document<'_>) -> String {
    let mut text = String::new();
    for project in &document.projects {
        let _ = writeln!(text, "{} ({})", project.project, project.folder);
        let hipify = Value {
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
    for (name, value) in document.env.into_iter().flatten() {
        let _ = writeln!(text, "build environment: {name}={value}");
    }
    text
}
