//! Finds the failed legs of a workflow run in GitHub's list of its jobs, and plans only those.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::codes::plan as codes;
use crate::{JobView, Plan};
use rock_diagnostic::{
    Diagnostic, Diagnostics, Location, Severity, Sink, SourceText, counted, is_or_are,
};

/// An error in a list of a run's jobs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The text is not JSON.
    #[error("it is not JSON: {0}")]
    Malformed(String),
    /// The JSON has another structure.
    #[error(
        "it does not list the jobs of a run: expected an object with `jobs`, or a list of such \
         objects"
    )]
    OtherForm,
}

/// Prefix of a leg's ID in the name of the job that tests its wheel, as in rendered workflows.
const TEST: &str = "Test ";

/// Returns the IDs of the legs with a job whose last attempt failed, and the names of other such
/// jobs.
///
/// The input is described in the REST API, "List jobs for a workflow run": `jobs` with `name`,
/// `run_attempt` and `conclusion`. Accepts one page, concatenated pages as `gh api --paginate`
/// prints them, and a list of pages as `--slurp` creates it. A job of a called workflow is named
/// `CALLER / NAME`.
///
/// # Errors
/// If the text is not such a list.
pub fn failed_jobs(text: &str) -> Result<BTreeSet<String>, RunError> {
    let mut ends: BTreeMap<String, (u64, bool)> = BTreeMap::new();
    let mut pages = 0;
    for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        pages += add(
            &value.map_err(|error| RunError::Malformed(error.to_string()))?,
            &mut ends,
        )?;
    }
    if pages == 0 {
        return Err(RunError::OtherForm);
    }
    Ok(ends
        .into_iter()
        .filter(|(_, (_, is_bad))| *is_bad)
        .map(|(name, _)| leg(&name).to_owned())
        .collect())
}

/// Drops the jobs of a plan that did not fail in a workflow run. Failed jobs that the plan does not
/// have are a warning in the sink. `run` is described at [`failed_jobs`].
///
/// # Errors
/// If `run` does not list the jobs of a run.
pub fn keep_failed_jobs(
    plan: &mut Plan,
    run: &SourceText,
    sink: &mut Sink,
) -> Result<(), Diagnostics> {
    let place = Location::File(run.path.clone());
    let mut failed = failed_jobs(&run.text).map_err(|error| {
        Diagnostic::new(&codes::BAD_RUN_FILE, format!("`{}`: {error}", run.path))
            .at(place.clone(), "")
            .help(
                "save it with `gh api repos/OWNER/REPO/actions/runs/ID/jobs --paginate > run.json`",
            )
    })?;
    plan.keep_failed(&failed);
    plan.jobs().map(JobView::id).for_each(|id| {
        failed.remove(&id);
    });
    if failed.is_empty() {
        return Ok(());
    }
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
            .at(place, "")
            .help("plan the matrix files of that run; wheels published since then are not planned again"),
    );
    Ok(())
}

/// Returns the warning about a plan without jobs because none of them failed in the run of this
/// file.
pub fn no_failed_jobs(run: &str) -> Diagnostic {
    let message = format!("the plan has no jobs: none of them failed in `{run}`");
    Diagnostic::new(&codes::EMPTY_PLAN, message)
        .help("plan without `--only-failed` to build all of them again")
}

/// Returns the ID of the leg that a job belongs to.
fn leg(name: &str) -> &str {
    let own = name.rsplit(" / ").next().unwrap_or(name);
    own.strip_prefix(TEST).unwrap_or(own)
}

/// Records the outcomes of the jobs in a value, and returns its number of pages.
fn add(value: &Value, ends: &mut BTreeMap<String, (u64, bool)>) -> Result<usize, RunError> {
    if let Value::Array(pages) = value {
        return pages.iter().map(|page| add(page, ends)).sum();
    }
    for job in value
        .get("jobs")
        .and_then(Value::as_array)
        .ok_or(RunError::OtherForm)?
    {
        let name = job
            .get("name")
            .and_then(Value::as_str)
            .ok_or(RunError::OtherForm)?;
        let attempt = job.get("run_attempt").and_then(Value::as_u64).unwrap_or(1);
        // A job without a conclusion is still running, or was lost.
        let ended = job.get("conclusion").and_then(Value::as_str);
        let is_bad = !matches!(ended, Some("success" | "skipped" | "neutral"));
        let known = ends.entry(name.to_owned()).or_insert((attempt, is_bad));
        if attempt >= known.0 {
            *known = (attempt, is_bad);
        }
    }
    Ok(1)
}

#[cfg(test)]
mod tests {
    use super::{RunError, failed_jobs};

    fn page(jobs: &[(&str, u64, &str)]) -> String {
        let jobs: Vec<_> = jobs
            .iter()
            .map(|(name, attempt, end)| serde_json::json!({"name": name, "run_attempt": attempt, "conclusion": end}))
            .collect();
        serde_json::json!({"total_count": jobs.len(), "jobs": jobs}).to_string()
    }

    fn failed(text: &str) -> Vec<String> {
        failed_jobs(text).unwrap().into_iter().collect()
    }

    #[test]
    fn pages_are_read_as_gh_prints_them_and_as_it_joins_them() {
        let pages = [
            page(&[("Plan", 1, "success"), ("a", 1, "failure")]),
            page(&[("call / b", 1, "timed_out"), ("c", 1, "skipped")]),
        ];
        assert_eq!(failed(&pages.concat()), ["a", "b"]);
        assert_eq!(failed(&format!("[{}]", pages.join(","))), ["a", "b"]);
        assert_eq!(
            failed(r#"{"jobs": [{"name": "lost", "conclusion": null}]}"#),
            ["lost"]
        );
    }

    #[test]
    fn the_last_attempt_counts_in_any_order() {
        assert_eq!(
            failed(&page(&[
                ("a", 2, "success"),
                ("a", 1, "failure"),
                ("b", 1, "success"),
                ("b", 2, "cancelled")
            ])),
            ["b"]
        );
    }

    #[test]
    fn a_leg_has_failed_when_its_build_or_its_test_has() {
        let jobs = [
            ("a", 2, "success"),
            ("Test a", 2, "failure"),
            ("call / Test b", 1, "cancelled"),
            ("Test c", 1, "success"),
        ];
        assert_eq!(failed(&page(&jobs)), ["a", "b"]);
        assert_eq!(
            failed(&page(&[
                ("one / a", 1, "failure"),
                ("two / a", 1, "success")
            ])),
            ["a"]
        );
        assert_eq!(failed(&page(&[("Publish", 1, "failure")])), ["Publish"]);
    }

    #[test]
    fn what_lists_no_jobs_is_refused() {
        for text in [
            "",
            "7",
            "{}",
            "[]",
            "[[]]",
            "[[]",
            "{\"jobs\": 1}",
            "{\"jobs\": [{}]}",
            "{\"message\": \"Not Found\"}",
        ] {
            assert!(failed_jobs(text).is_err(), "{text}");
        }
        assert_eq!(failed_jobs("{}"), Err(RunError::OtherForm));
    }
}
