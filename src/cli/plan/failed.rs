//! `plan --only-failed`: the jobs that failed in a workflow run.

use std::path::Path;

use crate::cli::{Exit, Shell, load};
use crate::codes::plan as codes;
use crate::diagnostic::{Diagnostic, Location, Severity, Sink, counted, is_or_are};
use crate::plan::{self, JobView, Plan};

/// Removes jobs from a plan that did not fail in a run, and warns about failed jobs that the plan
/// does not have.
///
/// # Errors
/// The exit code of the command, if the file does not list the jobs of a run.
pub(super) fn keep(
    plan: &mut Plan,
    run: &Path,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<(), Exit> {
    let source = load::source(shell, run)?;
    let place = || Location::File(source.path.clone());
    let mut failed = plan::failed_jobs(&source.text).map_err(|error| {
        let fault = Diagnostic::new(&codes::BAD_RUN_FILE, format!("`{}`: {error}", source.path))
            .at(place(), "");
        sink.push(fault.help(
            "save it with `gh api repos/OWNER/REPO/actions/runs/ID/jobs --paginate > run.json`",
        ));
        Exit::Fault
    })?;
    plan.keep_failed(&failed);
    plan.jobs().map(JobView::id).for_each(|id| {
        failed.remove(&id);
    });
    if !failed.is_empty() {
        let names: Vec<String> = failed.iter().map(|name| format!("`{name}`")).collect();
        let count = failed.len();
        let message = format!(
            "{} {} not in this plan: {}",
            counted(count, "failed job"),
            is_or_are(count),
            names.join(", ")
        );
        sink.push(
            Diagnostic::new(&codes::BAD_RUN_FILE, message)
                .severity(Severity::Warning)
                .at(place(), "")
                .help("plan the matrix files of that run; wheels published since then are not planned again"),
        );
    }
    Ok(())
}

/// Returns the warning about a plan without jobs because none of them failed.
pub(super) fn none(run: &Path) -> Diagnostic {
    let message = format!(
        "the plan has no jobs: none of them failed in `{}`",
        run.display()
    );
    Diagnostic::new(&codes::EMPTY_PLAN, message)
        .help("plan without `--only-failed` to build all of them again")
}
