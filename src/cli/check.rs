//! `check`: reports all errors in matrix and recipe files in one run.

use std::path::PathBuf;
use std::sync::Arc;

use super::render::warn_of_outdated;
use super::wheel::fail;
use super::{Exit, Format, OutputFormat, Shell, load};
use crate::codes::plan as codes;
use crate::config::KeyLocations;
use crate::diagnostic::{Diagnostic, Location, Severity, Sink, counted, render, shell_quoted};
use crate::exec;
use crate::plan::workspace::Workspace;
use crate::plan::{
    Job, JobView, PlanGroup, PlanInputs, check_fit, check_images, first_reasons, warn_of_caches,
};
use crate::recipe;

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Reads every file, even if others have errors, and shows each problem with its location and a fix.
Exits with 1 if there are errors. `rock-matrix explain CODE` explains a problem.

Examples:
  rock-matrix check                           check the matrix files in matrices/
  rock-matrix check matrices/flash-attn.yaml  check one file
  rock-matrix check --recipes recipes         use your own recipes, and check them too
  rock-matrix check --fail-empty              also fail if every combination is excluded
  rock-matrix check --format json             print a JSON object for each problem, then the counts")]
pub(super) struct Args {
    /// Matrix and recipe files [default: matrices/*.yaml]
    ///
    /// A directory stands for all files in it that end in `.yaml` or `.yml`; the default is
    /// `matrices/`. `-` reads standard input.
    files: Vec<PathBuf>,
    /// Fail if there are no jobs
    #[arg(long)]
    fail_empty: bool,
    #[command(flatten)]
    format: OutputFormat,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let (count, mut sink) = match check(args, shell) {
        Ok(checked) => checked,
        Err(exit) => return exit,
    };
    let (errors, warnings) = sink.counts();
    let found = sink.finish();
    let exit = match args.format.get() {
        Format::Human => shell.report(&found),
        // The last line has the counts, so that a run without problems has output too.
        Format::Json => match shell.print(&format!(
            "{}{}\n",
            render::json(&found),
            serde_json::json!({"version": 1, "checked": count, "errors": errors, "warnings": warnings})
        )) {
            Exit::Done if found.iter().any(Diagnostic::is_error) => Exit::Fault,
            exit => exit,
        },
    };
    shell.say(&summary(count, errors, warnings));
    exit
}

/// Checks the files, and returns their number and the problems.
fn check(args: &Args, shell: &Shell) -> Result<(usize, Sink), Exit> {
    let compat = load::compat(shell)?;
    let (workspace, mut sink) =
        Workspace::load_valid(&args.files, &load::workspace_options(shell, compat))
            .map_err(|errors| fail(shell, &errors))?;
    // Problems between combinations and files are reported for valid files only.
    if let Ok(plan) = load::plan(&workspace, &PlanInputs::default(), &mut sink) {
        check_fit(&plan, compat, Severity::Warning, &mut sink);
        check_images(&plan, &mut sink);
        warn_of_caches(&plan, &mut sink);
        // Files without the key may be built without a workflow.
        let has_workflow = |group: &PlanGroup| group.config.locations.span("workflow").is_some();
        recipe::render::warn_of_attempts(&plan, has_workflow, &mut sink);
        if args.files.is_empty() {
            warn_of_outdated(compat, shell, &mut sink);
        }
        let is_wrong = args.fail_empty && plan.job_count() == 0;
        let mut empty: Vec<Diagnostic> = plan
            .groups
            .iter()
            .filter(|group| group.config.enabled && group.job_count() == 0)
            .map(no_jobs)
            .collect();
        if is_wrong && empty.is_empty() {
            let message = "every matrix file has `enabled: false`, so there are no jobs";
            empty.push(
                Diagnostic::new(&codes::EMPTY_PLAN, message)
                    .help("enable one, or leave out `--fail-empty`"),
            );
        }
        let severity = |fault: Diagnostic| {
            if is_wrong {
                fault.severity(Severity::Error)
            } else {
                fault
            }
        };
        sink.extend(empty.into_iter().map(severity));
        let projects = exec::SourceProjects::default();
        for (number, (group, matrix)) in plan.groups.iter().zip(workspace.matrices()).enumerate() {
            let mut found = Sink::new();
            let warnings_of_sources = |job: &Job, build: &recipe::Build| -> Vec<Diagnostic> {
                let caller = &shell.environment.current_dir;
                // An earlier step of a workflow may create the source.
                let missing = exec::missing_sources(matrix.recipe(), build, caller).into_iter();
                let missing = missing.map(|fault| fault.severity(Severity::Warning));
                missing
                    .chain(projects.warnings(job, build, caller))
                    .collect()
            };
            recipe::check(
                group.jobs(number).map(JobView::to_job),
                matrix.recipe(),
                compat,
                &warnings_of_sources,
                &mut found,
            );
            sink.extend(
                found
                    .finish()
                    .into_iter()
                    .map(|fault| placed(fault, &group.config.locations)),
            );
        }
    }
    Ok((workspace.file_count(), sink))
}

/// Locates a problem that a recipe reported without a location: at the first variable, field or
/// axis of the matrix file that its text mentions in backticks.
pub(super) fn placed(fault: Diagnostic, locations: &KeyLocations) -> Diagnostic {
    if !fault.labels.is_empty() {
        return fault;
    }
    let text = format!(
        "{} {}",
        fault.message,
        fault.help.as_deref().unwrap_or_default()
    );
    let named = text
        .split('`')
        .skip(1)
        .step_by(2)
        .filter_map(|word| word.split([':', ' ']).next());
    let paths = named.flat_map(|word| {
        [
            format!("vars.{word}"),
            word.to_owned(),
            format!("axes.{word}"),
        ]
    });
    let location = paths
        .filter(|path| locations.span(path).is_some())
        .map(|path| locations.of(&path))
        .next();
    fault.at(
        location.unwrap_or_else(|| Location::File(Arc::clone(&locations.source().path))),
        "",
    )
}

/// Returns the warning about a file with only excluded combinations.
fn no_jobs(group: &PlanGroup) -> Diagnostic {
    let config = &group.config;
    let mut diagnostic = Diagnostic::new(
        &codes::EMPTY_PLAN,
        "every combination in this file is excluded, so it has no jobs",
    )
    .at(config.locations.of("axes"), "");
    for reason in first_reasons(std::slice::from_ref(group)) {
        diagnostic = diagnostic.note(reason);
    }
    let file = shell_quoted(config.locations.source().path.as_ref());
    diagnostic.help(format!(
        "see every reason with `rock-matrix plan --explain {file}`"
    ))
}

/// Returns the counts, such as `2 files, 1 error, 3 warnings`.
fn summary(files: usize, errors: usize, warnings: usize) -> String {
    format!(
        "{}, {}, {}",
        counted(files, "file"),
        counted(errors, "error"),
        counted(warnings, "warning")
    )
}
