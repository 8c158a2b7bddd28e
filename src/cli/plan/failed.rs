//! `plan --only-failed`: the jobs that failed in a run of the workflow.

use std::path::Path;

use crate::cli::{Exit, Shell, load};
use crate::codes::plan as codes;
use crate::diagnostic::{Diagnostic, Location, Severity, Sink, counted, is_or_are};
use crate::plan::{self, JobView, Plan};

/// Leaves out of a plan what did not fail in a run, and tells of jobs that failed there and are
/// none of the plan.
///
/// # Errors
/// The exit of the command where the file lists no jobs of a run.
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
            "{} {} none of this plan: {}",
            counted(count, "failed job"),
            is_or_are(count),
            names.join(", ")
        );
        sink.push(
            Diagnostic::new(&codes::BAD_RUN_FILE, message)
                .severity(Severity::Warning)
                .at(place(), "")
                .help("plan the matrix files of that run; what is published since is not planned again"),
        );
    }
    Ok(())
}

/// A plan that has no jobs because none of them failed.
pub(super) fn none(run: &Path) -> Diagnostic {
    let message = format!(
        "the plan has no jobs: none of them failed in `{}`",
        run.display()
    );
    Diagnostic::new(&codes::EMPTY_PLAN, message)
        .help("plan without `--only-failed` to build all of them again")
}
