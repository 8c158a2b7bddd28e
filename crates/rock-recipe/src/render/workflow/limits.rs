//! Checks a workflow against the limits of GitHub before anything is written.

use crate::codes::plan as codes;
use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Severity, Sink, counted, shell_line};
use rock_plan::config::{Attest, HostValue, Leaves, Platform, Switch};
use rock_plan::{self as plan, Plan, PlanGroup};

/// Checks that the matrices fit in the outputs of a job, that a job can download the artifacts with
/// wheels, and that one attestation can cover all files.
pub(super) fn check_jobs(plan: &Plan, attest: Attest, compat: &Compat, sink: &mut Sink) {
    let (jobs, most) = (plan.job_count(), compat.limit_value("job-artifacts"));
    if jobs > most {
        let message = format!(
            "the workflow would have {jobs} artifacts with wheels, but a job can download at most \
             {most}"
        );
        let fault = Diagnostic::new(&codes::TOO_MANY_ARTIFACTS, message)
            .note(format!(
                "one run has a matrix for each {} jobs, and publishes all its wheels together",
                plan::JOBS_PER_MATRIX
            ))
            .help("give each workflow fewer matrix files, or list fewer values");
        sink.push(fault);
        return;
    }
    // The release's own documents are generated from the files, and not attested.
    let (files, most) = (
        plan.file_count(),
        compat.limit_value("attestation-subjects"),
    );
    if attest != Attest::Off && files > most {
        let message = format!(
            "the workflow would attest {files} files, but one attestation covers at most {most}"
        );
        let fault = Diagnostic::new(&codes::TOO_MANY_SUBJECTS, message);
        sink.push(
            fault.help(
                "give each workflow fewer matrix files, or set `attest: off` under `release`",
            ),
        );
    }
    for group in plan
        .groups
        .iter()
        .filter(|group| group.profile.leaves == Leaves::Tree && group.job_count() > 0)
    {
        let name = &group.profile.name;
        let message = format!(
            "the recipe `{name}` installs a tree on its runner and produces nothing to publish"
        );
        let fault = Diagnostic::new(&codes::TREE_ON_A_RUNNER, message)
            .at(group.config.locations.of("recipe"), "");
        sink.push(fault.help(
            "remove this file from the workflow, and build it on the machine that needs the tree",
        ));
    }
    plan::check_fit(plan, compat, Severity::Error, sink);
    plan::check_images(plan, sink);
    plan::github(plan, sink);
    if jobs == 0 {
        let empty = Diagnostic::new(
            &rock_plan::codes::plan::EMPTY_PLAN,
            "the plan has no jobs, so the workflow would build nothing",
        );
        let files = plan
            .groups
            .iter()
            .map(|group| group.config.locations.source().path.to_string());
        let explain = ["rock-matrix", "plan", "--explain"]
            .map(str::to_owned)
            .into_iter();
        sink.push(empty.help(format!(
            "see every reason with `{}`",
            shell_line(explain.chain(files))
        )));
    }
}

/// Warns of values that come from the machine that makes the plan: the runner of the first job has
/// none of them.
pub(super) fn warn_of_host_values(plan: &Plan, sink: &mut Sink) {
    for config in plan.groups.iter().map(|group| &group.config) {
        for value in &config.host_values {
            let (key, has_not, help) = match value {
                HostValue::Gfx => (
                    "gfx",
                    "a GPU",
                    "list the targets, or list those to build without a GPU under `gfx-fallback`",
                ),
                HostValue::Rocm { .. } => ("rocm", "ROCm", "write the version"),
            };
            let message = format!(
                "`{key}: [host]` fails in the workflow: the runner that makes its plan does not \
                 have {has_not}"
            );
            let warning = Diagnostic::new(&codes::HOST_VALUE_IN_WORKFLOW, message);
            sink.push(
                warning
                    .at(config.locations.of(&value.path()), "")
                    .help(help),
            );
        }
    }
}

/// Warns of builds that need several attempts but start over each time, because their compiler
/// cache is not kept, in the groups for which `is_relevant` returns true. No workflow builds for
/// Windows.
pub fn warn_of_attempts(plan: &Plan, is_relevant: impl Fn(&PlanGroup) -> bool, sink: &mut Sink) {
    let groups = plan.groups.iter().enumerate();
    let groups = groups.filter(|(_, group)| is_relevant(group));
    sink.extend(groups.filter_map(|(number, group)| attempts_warning(number, group)));
}

fn attempts_warning(number: usize, group: &PlanGroup) -> Option<Diagnostic> {
    let is_kept = group.config.workflow.cache == Switch::On;
    if is_kept || group.config.platform == Platform::Windows {
        return None;
    }
    let long = group
        .jobs(number)
        .filter_map(|job| job.estimate().filter(|estimate| estimate.attempts > 1));
    let (count, worst) = long.fold((0_usize, None), |(count, worst), estimate| {
        let attempts = |one: Option<&plan::BuildEstimate>| one.map_or(0, |one| one.attempts);
        (
            count + 1,
            if estimate.attempts > attempts(worst) {
                Some(estimate)
            } else {
                worst
            },
        )
    });
    let worst = worst?;
    let need = if count == 1 {
        "takes longer than its"
    } else {
        "take longer than their"
    };
    let message = format!("{} {need} runner allows", counted(count as u64, "build"));
    Some(
        Diagnostic::new(&codes::BUILDS_WITHOUT_CACHE, message)
            .at(group.config.locations.of("workflow.cache"), "")
            .note(format!("the longest has {}", worst.verdict))
            .help(
                "set `workflow: {cache: on}`, so that each attempt continues the previous one, or \
                 use a larger runner",
            ),
    )
}

/// Returns the file unless it is larger than GitHub reads; warns if it is larger than half of that.
pub(super) fn check_text(text: String, compat: &Compat, sink: &mut Sink) -> Option<String> {
    let (bytes, most) = (text.len(), compat.limit_value("workflow-file"));
    let too_large = |message: String| {
        Diagnostic::new(&codes::WORKFLOW_TOO_LARGE, message)
            .help("give each workflow fewer matrix files")
    };
    if bytes > most {
        sink.push(too_large(format!(
            "the workflow has {bytes} bytes, but GitHub reads files of at most {most}"
        )));
        return None;
    }
    if bytes > most / 2 {
        let message =
            format!("the workflow has {bytes} bytes, more than half of what GitHub reads ({most})");
        sink.push(too_large(message).severity(Severity::Warning));
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::check_text;
    use rock_compat::Compat;
    use rock_diagnostic::Sink;

    /// Returns whether a file of this size is accepted, and the diagnostics about it.
    fn check(bytes: usize) -> (bool, String) {
        let mut sink = Sink::new();
        let kept = check_text("x".repeat(bytes), &Compat::embedded(), &mut sink).is_some();
        let findings: Vec<String> = sink
            .finish()
            .iter()
            .map(|one| format!("{:?} {}", one.severity, one.code))
            .collect();
        (kept, findings.join("\n"))
    }

    #[test]
    fn workflow_too_large_is_a_warning_from_half_the_limit_and_a_fault_beyond_it() {
        assert_eq!(check(256_000), (true, String::new()));
        assert_eq!(
            check(256_001),
            (true, "Warning P044 workflow-too-large".to_owned())
        );
        assert_eq!(
            check(512_000),
            (true, "Warning P044 workflow-too-large".to_owned())
        );
        assert_eq!(
            check(512_001),
            (false, "Error P044 workflow-too-large".to_owned())
        );
    }
}
