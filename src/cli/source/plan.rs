//! `source plan`: where each project comes from, and what says so. Nothing is fetched.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use super::choices::Choices;
use super::{Exit, Format, Shell, load};
use crate::diagnostic::render::redact_urls;
use crate::diagnostic::{Diagnostic, Sink};
use crate::source::patch_sets::{self, PatchSetSelection, SelectedPatchSet};
use crate::source::{ExplicitSelection, ProjectQuery, ResolvedProject, SourceRef, resolve};

/// Show the address and ref of each project, and what says so
#[derive(Debug, clap::Args)]
#[command(after_help = "\
An option comes before a preset, a preset before a pin, and a pin before the table of projects.
Nothing is fetched: a pin in a checkout of torch that is not there yet is named with its file.

Examples:
  rock-matrix source plan                                every project on Linux
  rock-matrix source plan --platform windows             those on Windows
  rock-matrix source plan triton --torch-dir pytorch     the commit that a checkout of torch pins
  rock-matrix source plan torch --ref v2.7.0-rc9 --patch-dir patches/pytorch
                                                         with the patch set that fits
  rock-matrix source plan --preset rocm-2.13 --format json")]
pub(super) struct Args {
    /// Projects by name, folder or wheel [default: all of the preset, or of the platform]
    #[arg(value_name = "PROJECT")]
    projects: Vec<String>,
    #[command(flatten)]
    choices: Choices,
    /// The branch, tag or commit of the one project that is named
    #[arg(
        long = "ref",
        alias = "repo-hashtag",
        value_name = "REF",
        requires = "projects",
        help_heading = "Sources"
    )]
    reference: Option<String>,
    /// The address of the one project that is named
    #[arg(
        long,
        alias = "gitrepo-origin",
        value_name = "URL",
        requires = "projects",
        help_heading = "Sources"
    )]
    origin: Option<String>,
    /// The patch set by name
    #[arg(long, value_name = "NAME", help_heading = "Patches")]
    patchset: Option<String>,
    /// Look for patch sets in this folder
    #[arg(long, value_name = "DIR", help_heading = "Patches")]
    patch_dir: Option<PathBuf>,
    /// Run hipify
    #[arg(long, overrides_with = "no_hipify", help_heading = "Patches")]
    hipify: bool,
    /// Do not run hipify
    #[arg(long, help_heading = "Patches")]
    no_hipify: bool,
    /// What to print
    #[arg(long, value_enum, default_value = "human", value_name = "FORMAT")]
    format: Format,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    if args.projects.len() > 1 && (args.reference.is_some() || args.origin.is_some()) {
        let text = "`--ref` and `--origin` are for one project";
        return crate::cli::misused("source", clap::error::ErrorKind::ArgumentConflict, text);
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
    Some(match args.format {
        Format::Human => human(&document),
        Format::Json => {
            serde_json::to_string_pretty(&document)
                .expect("a struct of texts and numbers serialises")
                + "\n"
        }
    })
}

/// What is said of patches: the set, where a folder of sets was named, else the name that is looked
/// for.
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
            PatchSetSelection::Fitting(name) => {
                (Some(name.clone()), "where there is one".to_owned())
            }
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

/// A value, where it is known, and what says it.
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

/// A block a project: each value, then what says it.
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
        let _ = writeln!(text, "environment of the build: {name}={value}");
    }
    text
}
