//! `render workflow`: the GitHub workflow.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::GENERATOR;
use crate::cli::{Exit, Shell, load, output_path};
use crate::codes::plan as codes;
use crate::compat::Compat;
use crate::config::Platform;
use crate::diagnostic::{Diagnostic, Severity, Sink, shell_quoted};
use crate::plan::workspace::{MatrixFile, Workspace, expand_directories};
use crate::plan::{JobView, Plan, PlanInputs};
use crate::recipe::container::CALLER_MOUNT;
use crate::{names, recipe, render, sys};

/// The default output file.
const DEFAULT_OUT: &str = ".github/workflows/wheels.yml";
/// The name of the output file in a directory of `--out`.
const DEFAULT_NAME: &str = "wheels.yml";
/// Maximum number of lines that `--check` shows.
const SHOWN_LINES: usize = 200;
/// Maximum size of a workflow to compare with the rendered one: twice GitHub's limit.
const MAX_WORKFLOW_BYTES: u64 = 1 << 20;

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
The workflow plans, builds each job in its own workflow job, attests, and publishes when a tag is
pushed; for a pull request it only plans. It contains the given paths, so run this command in the
root of the repository. Configure it with `workflow`, `release`, `test` and `secrets` in the matrix
files. If it would exceed a limit of GitHub, an error is reported and nothing is written.

Examples:
  rock-matrix render workflow --out .github/workflows/wheels.yml
  rock-matrix render workflow --check  show how wheels.yml differs from the output
  rock-matrix render workflow matrices/flash-attn.yaml --out .github/workflows/flash-attn.yml")]
pub(super) struct Args {
    /// Matrix files, combined into one plan [default: matrices/*.yaml]
    ///
    /// A directory stands for all files in it that end in `.yaml` or `.yml`; the default is
    /// `matrices/`.
    files: Vec<PathBuf>,
    /// Write to this file instead of stdout
    ///
    /// In a directory, such as `.github/workflows`, the file is `wheels.yml`.
    #[arg(short, long, value_name = "FILE|DIR")]
    out: Option<PathBuf>,
    /// Write nothing, but show the difference and exit with 1 if the file differs
    ///
    /// The file is that of --out, or `.github/workflows/wheels.yml`.
    #[arg(long)]
    check: bool,
}

/// Renders, then writes or compares.
pub(super) fn run(args: &Args, shell: &Shell, sink: &mut Sink) -> Result<Exit, Exit> {
    let compat = load::compat(shell)?;
    // The workflow names each file, so that it starts when one of them changes.
    let files = expand_directories(&args.files).map_err(|errors| Exit::collect(errors, sink))?;
    let mut workspace = load::workspace(shell, compat, &files, sink)?;
    let file = output_path::document_file(args.out.as_deref(), args.check);
    let out = file.map_or_else(|| PathBuf::from(DEFAULT_OUT), output_file);
    load::refuse_overwriting_input(
        shell,
        file.is_some().then_some(out.as_path()),
        workspace.paths(),
    )?;
    let name = out.display().to_string();
    let rendered = rendered_text(&mut workspace, &files, &name, compat, shell, sink)?;
    if file.is_none() && !args.check {
        return Ok(shell.print_data(&rendered));
    }
    let present = if sys::exists(&out) {
        Some(
            sys::read_text(&out, MAX_WORKFLOW_BYTES)
                .map_err(|error| shell.report(&[error.into()]))?,
        )
    } else {
        None
    };
    if !is_run_by_github(&name) {
        sink.push(
            Diagnostic::new(
                &codes::WORKFLOW_ELSEWHERE,
                format!("GitHub does not run `{name}`"),
            )
            .help("write it to `.github/workflows`, with the extension `.yml` or `.yaml`"),
        );
    }
    if args.check {
        Ok(check(&out, present.as_deref(), &rendered, shell))
    } else {
        write(&out, present, &rendered, shell)
    }
}

/// Returns the file of `--out`, which may be a directory.
fn output_file(out: &Path) -> PathBuf {
    if sys::is_directory(out) || out.as_os_str().as_encoded_bytes().ends_with(b"/") {
        out.join(DEFAULT_NAME)
    } else {
        out.to_owned()
    }
}

/// Returns the workflow for the files of a workspace, which `files` names if they are not those of
/// `matrices/`. `out` is the path in its header.
///
/// # Errors
/// The exit code of the command; the errors are in the sink.
fn rendered_text(
    workspace: &mut Workspace<'_>,
    files: &[PathBuf],
    out: &str,
    compat: &Compat,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<String, Exit> {
    let mut files = files.to_vec();
    if files.is_empty() {
        files = without_windows(workspace, sink);
    }
    let planned = workspace.plan(&PlanInputs::default());
    let plan = load::collected(planned.map(load::without_idle_values), sink)?;
    let text = |path: &Path| path.display().to_string();
    let files: Vec<String> = files.iter().map(|path| text(path)).collect();
    let directories = &shell.directories;
    let (facts, recipes) = (
        directories.named_compat().map(text),
        directories.named_recipes().map(text),
    );
    let (compat_overlay, recipe_overlay) = (
        directories.compat_overlay().map(text),
        directories.recipe_overlay().map(text),
    );
    let sources = sources(&plan, workspace.matrices(), compat);
    let words = render::WorkflowOverrides {
        sources: &sources,
        generator: GENERATOR,
        files: &files,
        out,
        compat: facts.as_deref(),
        recipes: recipes.as_deref(),
        compat_overlay: compat_overlay.as_deref(),
        recipe_overlay: recipe_overlay.as_deref(),
    };
    render::workflow(&plan, compat, &words, sink).ok_or(Exit::Fault)
}

/// Warns about workflows of the working directory that were rendered from all files in `matrices/`
/// and differ from what would be rendered now, apart from the version of the program. With
/// `--compat` or `--recipes` it is not known what they were rendered with.
pub(in crate::cli) fn warn_of_outdated(compat: &Compat, shell: &Shell, sink: &mut Sink) {
    if !load::data_options(shell).is_empty() {
        return;
    }
    let directory = Path::new(".github/workflows");
    for path in sys::files_with_extension(directory, &["yml", "yaml"]).unwrap_or_default() {
        let Ok(present) = sys::read_text(&path, MAX_WORKFLOW_BYTES) else {
            continue;
        };
        let name = path.display().to_string();
        let command = format!("rock-matrix render workflow --out {}", shell_quoted(&name));
        if render::rendering_command(&present) == Some(command.as_str())
            && let Some(rendered) = rendered_by_default(&name, compat, shell)
            && render::workflows_differ(&present, &rendered)
        {
            let message = format!("`{name}` does not match the matrix files");
            sink.push(
                Diagnostic::new(&codes::OUTDATED_WORKFLOW, message)
                    .help(format!("render it again with `{command}`, and commit it")),
            );
        }
    }
}

/// Returns the workflow for the files in `matrices/`; `None` if it cannot be rendered.
fn rendered_by_default(out: &str, compat: &Compat, shell: &Shell) -> Option<String> {
    let mut sink = Sink::new();
    let mut workspace = load::workspace(shell, compat, &[], &mut sink).ok()?;
    rendered_text(&mut workspace, &[], out, compat, shell, &mut sink).ok()
}

/// Returns the files and directories below the working directory that the jobs copy: the `path:`
/// sources of their recipes.
pub(in crate::cli) fn sources(
    plan: &Plan,
    matrices: &[MatrixFile],
    compat: &Compat,
) -> Vec<String> {
    let mut found = BTreeSet::new();
    let groups = plan.groups.iter().zip(matrices).enumerate();
    for (number, (group, matrix)) in
        groups.filter(|(_, (_, matrix))| matrix.recipe().has_sources_of_this_machine())
    {
        for job in group.jobs(number).map(JobView::to_job) {
            let Ok(build) = recipe::build(
                &job,
                matrix.recipe(),
                compat,
                &recipe::BuildSite::Container,
                &BTreeMap::new(),
            ) else {
                continue;
            };
            let copied = build.steps.iter().flat_map(recipe::Step::sources);
            let own = copied.filter_map(|(_, path)| path.strip_prefix(CALLER_MOUNT));
            found.extend(own.map(|path| path.trim_start_matches('/').to_owned()));
        }
    }
    found.into_iter().collect()
}

/// Removes the matrix files for Windows with a note, and returns the paths of the others. Returns
/// nothing if there are no files for Windows, or no others.
fn without_windows(workspace: &mut Workspace<'_>, sink: &mut Sink) -> Vec<PathBuf> {
    let matrices = workspace.matrices().iter();
    let mut platforms = matrices.map(|matrix| matrix.config().platform);
    if platforms.all(|platform| platform == Platform::Windows) {
        return Vec::new();
    }
    let windows = workspace.remove_platform(Platform::Windows);
    if windows.is_empty() {
        return Vec::new();
    }
    for matrix in windows {
        let message = format!(
            "`{}` is not part of the workflow: its jobs are for Windows",
            matrix.path()
        );
        sink.push(render::for_windows(matrix.config(), message).severity(Severity::Note));
    }
    workspace.paths().map(Path::to_owned).collect()
}

/// Whether GitHub reads a workflow from this path: a file with one of two extensions directly in
/// the workflow directory.
fn is_run_by_github(out: &str) -> bool {
    let path = names::without_dots(out).unwrap_or_default();
    let name = path
        .strip_prefix(".github/workflows/")
        .filter(|name| !name.contains('/'));
    name.and_then(|name| name.rsplit_once('.'))
        .is_some_and(|(_, ending)| ["yml", "yaml"].contains(&ending))
}

fn check(out: &Path, present: Option<&str>, rendered: &str, shell: &Shell) -> Exit {
    if let Some(line) = render::drift(&out.display().to_string(), present, rendered) {
        shell.tell(&line);
        shell.print_data(&render::unified(
            &out.display().to_string(),
            present.unwrap_or_default(),
            rendered,
            SHOWN_LINES,
        ));
        return Exit::Fault;
    }
    shell.say(&format!("{} is up to date", out.display()));
    Exit::Done
}

fn write(out: &Path, present: Option<String>, rendered: &str, shell: &Shell) -> Result<Exit, Exit> {
    if present.is_some_and(|text| !text.is_empty() && !text.starts_with(render::FIRST_WORDS)) {
        let message = format!(
            "`{}` was not generated by rock-matrix and would be overwritten",
            out.display()
        );
        let fault = Diagnostic::new(&codes::NOT_RENDERED, message)
            .help("choose another file, or remove this one first");
        return Err(shell.report(&[fault]));
    }
    match sys::write_if_changed(out, rendered.as_bytes()) {
        Ok(changed) => {
            shell.say(&format!(
                "{} {}",
                if changed { "wrote" } else { "unchanged:" },
                out.display()
            ));
            Ok(Exit::Done)
        }
        Err(error) => {
            shell.report(&[error.into()]);
            Err(Exit::Machine)
        }
    }
}
