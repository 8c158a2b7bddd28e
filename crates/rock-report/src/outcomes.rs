//! The outcomes of jobs, read from results files.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::ExpectedCells;
use crate::codes::release as codes;
use rock_diagnostic::nearest::nearest;
use rock_diagnostic::{Diagnostic, Location, Severity, SourceText};

/// The outcomes of jobs, by job ID.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JobOutcomes(BTreeMap<String, JobOutcome>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct JobOutcome {
    is_good: bool,
    why: String,
}

/// An error in a results file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OutcomesError {
    /// The text is not JSON.
    #[error("it is not JSON: {0}")]
    Malformed(String),
    /// The JSON value is not a job result.
    #[error(
        "it contains no results: expected objects with `job` and `outcome`, as in `build.json`"
    )]
    OtherForm,
}

impl JobOutcomes {
    /// Adds a `build.json`, a list of them, or one JSON object per line, and returns the IDs of the
    /// jobs in it. If a job has several results, the last one is kept.
    ///
    /// # Errors
    /// When the text is not JSON, or a value is not an object with the strings `job` and `outcome`.
    pub fn add_json(&mut self, text: &str) -> Result<BTreeSet<String>, OutcomesError> {
        let mut jobs = BTreeSet::new();
        for value in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
            self.add(
                &value.map_err(|error| OutcomesError::Malformed(error.to_string()))?,
                &mut jobs,
            )?;
        }
        Ok(jobs)
    }

    /// Adds a results file like [`Self::add_json`]. Returns an error for a file that cannot be read,
    /// or a warning for each result whose job is not in the plan, because it would have no effect.
    pub fn add_source(&mut self, source: &SourceText, expected: &ExpectedCells) -> Vec<Diagnostic> {
        let jobs = match self.add_json(&source.text) {
            Ok(jobs) => jobs,
            Err(error) => {
                let message = format!("`{}` cannot be read: {error}", source.path);
                return vec![bad_results(source, message).help(
                    "give the `build.json` of a job, or lines such as `{\"job\": \"JOB\", \
                     \"outcome\": \"failed\"}`",
                )];
            }
        };
        let planned: BTreeSet<&str> = expected
            .cells
            .iter()
            .filter_map(|cell| cell.job.as_deref())
            .collect();
        jobs.iter()
            .filter(|job| !planned.contains(job.as_str()))
            .map(|job| {
                let warning = bad_results(source, format!("the plan has no job `{job}`"))
                    .severity(Severity::Warning);
                warning.help(match nearest(job, planned.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "give the plan that the results belong to".to_owned(),
                })
            })
            .collect()
    }

    fn add(&mut self, value: &Value, jobs: &mut BTreeSet<String>) -> Result<(), OutcomesError> {
        if let Value::Array(items) = value {
            return items.iter().try_for_each(|item| self.add(item, jobs));
        }
        let text = |name: &str| value.get(name).and_then(Value::as_str);
        let (Some(job), Some(outcome)) = (text("job"), text("outcome")) else {
            return Err(OutcomesError::OtherForm);
        };
        let why = why(
            outcome,
            text("reason").map(str::to_owned).or_else(|| stage(value)),
        );
        self.0.insert(
            job.to_owned(),
            JobOutcome {
                is_good: matches!(outcome, "done" | "success" | "skipped"),
                why,
            },
        );
        jobs.insert(job.to_owned());
        Ok(())
    }

    /// Returns the one-line reason why a job left no wheel; `None` if no result of the job is
    /// known.
    pub fn why(&self, job: &str) -> Option<&str> {
        self.0.get(job).map(|outcome| outcome.why.as_str())
    }

    /// Returns the one-line failure of a job that left a wheel; `None` if the job succeeded or no
    /// result is known.
    pub fn fault(&self, job: &str) -> Option<&str> {
        self.0
            .get(job)
            .filter(|outcome| !outcome.is_good)
            .map(|outcome| outcome.why.as_str())
    }
}

fn bad_results(source: &SourceText, message: String) -> Diagnostic {
    Diagnostic::new(&codes::BAD_RESULTS, message).at(Location::File(source.path.clone()), "")
}

/// Describes an outcome of `build.json` or of a GitHub job in words.
fn why(outcome: &str, reason: Option<String>) -> String {
    let words = match outcome {
        "done" | "success" => "built, but missing",
        "failed" | "failure" => "failed",
        "refused" => "built, but rejected by its checks",
        "capped" => "stopped at its time limit",
        "stopped" | "cancelled" => "stopped",
        "skipped" => "skipped",
        "running" => "ended without a result",
        "machine" => "the machine or the engine failed",
        other => other,
    };
    reason.map_or_else(|| words.to_owned(), |reason| format!("{words}: {reason}"))
}

/// Describes the first stage of a `build.json` that failed or was stopped.
fn stage(value: &Value) -> Option<String> {
    let stages = value.get("stages")?.as_array()?;
    let text =
        |stage: &Value, name: &str| stage.get(name).and_then(Value::as_str).map(str::to_owned);
    let is_bad =
        |stage: &&Value| matches!(text(stage, "state").as_deref(), Some("failed" | "stopped"));
    let bad = stages.iter().find(is_bad)?;
    let name = text(bad, "stage")?;
    Some(text(bad, "ended").map_or_else(
        || format!("stage `{name}`"),
        |ended| format!("stage `{name}`, {ended}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::{JobOutcomes, OutcomesError};
    use crate::ExpectedCells;
    use rock_diagnostic::{Severity, SourceText};

    fn of(text: &str) -> JobOutcomes {
        let mut outcomes = JobOutcomes::default();
        outcomes.add_json(text).unwrap();
        outcomes
    }

    #[test]
    fn a_build_record_has_the_failed_stage_and_a_result_its_reason() {
        let record = r#"{"job": "j", "outcome": "failed", "stages": [{"stage": "source", "state": "done"},
            {"stage": "compile", "state": "failed", "ended": "exit 1"}]}"#;
        assert_eq!(of(record).why("j"), Some("failed: stage `compile`, exit 1"));
        let lines = "{\"job\": \"a\", \"outcome\": \"failure\", \"reason\": \"no space\"}\n{\"job\": \"b\", \"outcome\": \"cancelled\"}\n";
        assert_eq!(
            (of(lines).why("a"), of(lines).why("b")),
            (Some("failed: no space"), Some("stopped"))
        );
        assert_eq!(of("[]").why("a"), None);
        assert_eq!(
            (of(record).fault("j"), of(record).fault("other")),
            (of(record).why("j"), None)
        );
    }

    #[test]
    fn results_of_other_plans_are_warnings_and_other_files_errors() {
        let severity = |text: &str| {
            let source = SourceText::new("build.json", text);
            let found = JobOutcomes::default().add_source(&source, &ExpectedCells::default());
            found[0].severity
        };
        assert_eq!(
            severity(r#"{"job": "j", "outcome": "done"}"#),
            Severity::Warning
        );
        assert_eq!(severity("{"), Severity::Error);
    }

    #[test]
    fn the_later_result_counts_and_other_json_is_refused() {
        let twice = r#"[{"job": "j", "outcome": "capped"}, {"job": "j", "outcome": "done"}]"#;
        assert!(of(twice).why("j").unwrap().starts_with("built"));
        assert_eq!(of(twice).fault("j"), None, "a second attempt succeeded");
        assert_eq!(
            JobOutcomes::default().add_json("7"),
            Err(OutcomesError::OtherForm)
        );
        assert!(matches!(
            JobOutcomes::default().add_json("{"),
            Err(OutcomesError::Malformed(_))
        ));
    }
}
