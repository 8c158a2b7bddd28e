//! Artifacts that the legs of a workflow pass to the job that publishes.
//!
//! A leg stores its files in the artifact `wheel-ID`, with a `SHA256SUMS` of them. Through a job
//! output, which the code that it builds cannot write, it reports its job, the ID of that artifact
//! and the digest of that `SHA256SUMS`. Names of artifacts are never trusted: any code with the
//! token of the run can store another artifact under the same name.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::{Asset, SUMS, WheelCell, read_sums};
use crate::codes::handover as codes;
use rock_diagnostic::{Diagnostic, Diagnostics, Location, Severity, Sink};
use rock_names::{Digest, ExpectedWheel, is_tree_archive};
use rock_plan::Job;

/// The largest `SHA256SUMS` of an artifact that is read. A leg has only a few files.
pub(crate) const LARGEST_SUMS_BYTES: u64 = 1 << 20;

/// The report of one leg of a workflow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LegReport {
    /// The ID of the job that it built.
    pub job: String,
    /// The ID of its artifact.
    pub artifact: u64,
    /// The digest of the `SHA256SUMS` in that artifact.
    pub digest: Digest,
}

/// The error for a text that does not contain reports of legs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LegReportError {
    /// The text is not in the format of job outputs.
    #[error("it is not a JSON object of strings: {0}")]
    NotOutputs(String),
    /// An output that is not from a leg.
    #[error("`{0}` is not an output of a leg, `leg_NUMBER`")]
    OtherOutput(String),
    /// An invalid report.
    #[error("the output `{output}` is not a report: {reason}")]
    NotAReport {
        /// The name of the output.
        output: String,
        /// The reason.
        reason: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReportDocument {
    job: String,
    artifact: String,
    digest: String,
}

/// Parses the outputs of a job with a matrix, in the format of `${{ toJSON(needs.JOB.outputs) }}`:
/// one output per leg, which is empty if the leg stored nothing. The outputs of a skipped job are
/// `null`.
///
/// # Errors
/// If the text has another format.
pub fn read_leg_reports(text: &str) -> Result<Vec<LegReport>, LegReportError> {
    let outputs: Option<BTreeMap<String, String>> = serde_json::from_str(text)
        .map_err(|error| LegReportError::NotOutputs(error.to_string()))?;
    let outputs = outputs.unwrap_or_default();
    outputs
        .iter()
        .filter(|(_, report)| !report.is_empty())
        .map(|(name, report)| leg_report(name, report))
        .collect()
}

fn leg_report(output: &str, text: &str) -> Result<LegReport, LegReportError> {
    if output
        .strip_prefix("leg_")
        .and_then(number::<u16>)
        .is_none()
    {
        return Err(LegReportError::OtherOutput(output.to_owned()));
    }
    let fault = |reason: String| LegReportError::NotAReport {
        output: output.to_owned(),
        reason,
    };
    let document: ReportDocument =
        serde_json::from_str(text).map_err(|error| fault(error.to_string()))?;
    let artifact = number(&document.artifact).filter(|id| *id > 0);
    Ok(LegReport {
        artifact: artifact.ok_or_else(|| {
            fault(format!(
                "`{}` is not the ID of an artifact",
                document.artifact
            ))
        })?,
        digest: document
            .digest
            .parse()
            .map_err(|error| fault(format!("{error}")))?,
        job: document.job,
    })
}

/// Parses a number that consists of digits only; `str::parse` also accepts a sign.
fn number<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| text.parse().ok())
        .flatten()
}

/// Parses the reports of legs in environment variables and checks them against the jobs of the plan.
/// `variables` are names and values; `None` is a variable that is not set.
///
/// # Errors
/// If a variable has another format, or the reports contradict each other or the plan.
pub fn leg_reports_of_variables<'v>(
    variables: impl IntoIterator<Item = (&'v str, Option<&'v str>)>,
    jobs: &[Job],
) -> Result<Vec<LegReport>, Diagnostics> {
    let (mut reports, mut sink) = (Vec::new(), Sink::new());
    for (name, value) in variables {
        let read = match value {
            None => Err("it is not set".to_owned()),
            Some(text) => read_leg_reports(text).map_err(|error| error.to_string()),
        };
        match read {
            Ok(read) => reports.extend(read),
            Err(reason) => sink.push(invalid_variable(name, &reason)),
        }
    }
    check_leg_reports(&reports, jobs, &mut sink);
    Diagnostics::check(sink.finish()).map(|()| reports)
}

fn invalid_variable(name: &str, reason: &str) -> Diagnostic {
    Diagnostic::new(
        &codes::BAD_LEG_REPORT,
        format!("the variable `{name}` does not hold leg reports: {reason}"),
    )
    .at(Location::Argument(format!("--legs-env {name}")), "")
    .help(format!(
        "set it with `env: {{{name}: \"${{{{ toJSON(needs.build.outputs) }}}}\"}}`"
    ))
}

/// Reports legs that contradict each other or the plan.
fn check_leg_reports(reports: &[LegReport], jobs: &[Job], sink: &mut Sink) {
    let planned: BTreeSet<&str> = jobs.iter().map(|job| job.id.as_str()).collect();
    let (mut legs, mut artifacts) = (BTreeSet::new(), BTreeMap::new());
    for report in reports {
        let wrong = |message: String| {
            let fault = Diagnostic::new(&codes::BAD_LEG_REPORT, message);
            fault.help("render the workflow again, and run all of its jobs")
        };
        if !planned.contains(report.job.as_str()) {
            sink.push(wrong(format!(
                "a leg reports the job `{}`, which is not in the plan",
                report.job
            )));
        }
        if !legs.insert(report.job.as_str()) {
            sink.push(wrong(format!("two legs report the job `{}`", report.job)));
        }
        if let Some(other) = artifacts.insert(report.artifact, &report.job) {
            let message = format!(
                "the jobs `{other}` and `{}` report the same artifact, {}",
                report.job, report.artifact
            );
            sink.push(wrong(message));
        }
    }
}

/// Reports planned jobs without a report of a leg.
pub fn check_all_reported(reports: &[LegReport], jobs: &[Job], sink: &mut Sink) {
    let reported: BTreeSet<&str> = reports.iter().map(|report| report.job.as_str()).collect();
    for job in jobs
        .iter()
        .filter(|job| !reported.contains(job.id.as_str()))
    {
        sink.push(
            Diagnostic::new(
                &codes::LEG_NOT_REPORTED,
                format!("no leg reports the job `{}`", job.id),
            )
            .help("re-run the failed jobs; if none failed, re-run all jobs"),
        );
    }
}

/// Compares the digest of the plan with the one that the job `plan` reported.
///
/// # Errors
/// The diagnostic, if the digests differ.
pub fn check_plan_digest(shown: &str, found: Digest, reported: Digest) -> Result<(), Diagnostic> {
    if found == reported {
        return Ok(());
    }
    Err(Diagnostic::new(
        &codes::PLAN_REPLACED,
        format!("`{shown}` is not the plan that the job `plan` created"),
    )
    .at(Location::File(shown.into()), "")
    .note(format!("its digest is {found}"))
    .note(format!("the job `plan` reported {reported}"))
    .help("find out which job of the run wrote the artifact `plan`; publish nothing from this run"))
}

/// The downloaded artifact of a leg.
#[derive(Debug, Clone)]
pub(crate) struct LegArtifact {
    /// The path of its directory as the user gave it.
    pub(crate) shown: String,
    /// Its `SHA256SUMS`; `None` if it has none.
    pub(crate) sums: Option<ArtifactSums>,
    /// The other files by path relative to the directory; the digest is `None` if the file has
    /// another error that is reported elsewhere.
    pub(crate) files: BTreeMap<String, Option<Digest>>,
    /// Names of entries that are neither files nor directories.
    pub(crate) others: Vec<String>,
}

/// The `SHA256SUMS` of an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArtifactSums {
    /// The digest of the checksum file itself.
    pub(crate) digest: Digest,
    /// Its content; empty if it is larger than [`LARGEST_SUMS_BYTES`].
    pub(crate) bytes: Vec<u8>,
    pub(crate) size_bytes: u64,
}

impl ArtifactSums {
    /// Returns the listed files, or the reason why the checksum file cannot be used.
    fn files(&self) -> Result<BTreeMap<String, Digest>, String> {
        if self.size_bytes > LARGEST_SUMS_BYTES {
            return Err(format!(
                "it has {} bytes, more than {LARGEST_SUMS_BYTES}",
                self.size_bytes
            ));
        }
        let text = std::str::from_utf8(&self.bytes)
            .map_err(|error| format!("it is not UTF-8: {error}"))?;
        if text.trim().is_empty() {
            return Err("it lists no files".to_owned());
        }
        read_sums(text).map_err(|error| error.to_string())
    }
}

impl LegArtifact {
    fn fault(
        &self,
        code: &'static rock_diagnostic::Code,
        message: String,
        file: Option<&str>,
    ) -> Diagnostic {
        let place = file.map_or_else(
            || self.shown.clone(),
            |file| format!("{}/{file}", self.shown),
        );
        Diagnostic::new(code, message)
            .at(Location::File(place.into()), "")
            .help(
                "find out which job of the run wrote this artifact; publish nothing from this run",
            )
    }
}

/// Reports files of an artifact that its leg did not report, that differ from the report or are
/// missing, and that belong to another job. `assets` are the wheels and archives in the artifact,
/// by name.
pub(crate) fn check_artifact(
    report: &LegReport,
    job: &Job,
    artifact: &LegArtifact,
    assets: &BTreeMap<&str, &Asset>,
    sink: &mut Sink,
) {
    let name = format!("wheel-{}", report.job);
    let listed = match &artifact.sums {
        None => {
            let message = format!("the artifact `{name}` has no `{SUMS}`");
            return sink.push(artifact.fault(&codes::ARTIFACT_REPLACED, message, None));
        }
        Some(sums) if sums.digest != report.digest => {
            let message = format!(
                "the `{SUMS}` of the artifact `{name}` is not the one that its leg reported"
            );
            let fault = artifact.fault(&codes::ARTIFACT_REPLACED, message, Some(SUMS));
            let fault = fault.note(format!("its digest is {}", sums.digest));
            return sink.push(fault.note(format!("the leg reported {}", report.digest)));
        }
        Some(sums) => match sums.files() {
            Ok(listed) => listed,
            Err(reason) => {
                let message =
                    format!("the `{SUMS}` of the artifact `{name}` cannot be used: {reason}");
                return sink.push(artifact.fault(&codes::ARTIFACT_REPLACED, message, Some(SUMS)));
            }
        },
    };
    for file in artifact.others.iter().chain(
        artifact
            .files
            .keys()
            .filter(|file| !listed.contains_key(*file)),
    ) {
        let message =
            format!("the artifact `{name}` contains `{file}`, which its leg did not report");
        sink.push(artifact.fault(&codes::UNREPORTED_FILE, message, Some(file)));
    }
    for (file, reported) in &listed {
        match artifact.files.get(file) {
            None => {
                let message =
                    format!("the artifact `{name}` lacks `{file}`, which its leg reported");
                sink.push(artifact.fault(&codes::ARTIFACT_REPLACED, message, None));
            }
            Some(Some(found)) if found != reported => {
                let message = format!(
                    "`{file}` of the artifact `{name}` is not the file that its leg reported"
                );
                let fault = artifact.fault(&codes::ARTIFACT_REPLACED, message, Some(file));
                sink.push(
                    fault
                        .note(format!("its digest is {found}"))
                        .note(format!("the leg reported {reported}")),
                );
            }
            Some(_) => {}
        }
    }
    let expected: Vec<ExpectedWheel> = job
        .wheels()
        .filter_map(|wheel| wheel.parse().ok())
        .collect();
    let cells: BTreeSet<WheelCell> = expected.iter().map(WheelCell::expected).collect();
    for (file, asset) in assets {
        let is_of_job = match asset.wheel() {
            Some(wheel) => WheelCell::as_planned(wheel)
                .iter()
                .any(|cell| cells.contains(cell)),
            None if is_tree_archive(file) => job.archive() == Some(file),
            None => job.sdist() == Some(file),
        };
        if !is_of_job {
            let message = format!(
                "the artifact `{name}` contains `{file}`, which the job `{}` does not build",
                job.id
            );
            let of_job: Vec<String> = job.files().map(|file| format!("`{file}`")).collect();
            let fault = artifact.fault(&codes::FILE_OF_ANOTHER_JOB, message, Some(file));
            sink.push(fault.note(format!("the job builds {}", of_job.join(", "))));
        }
    }
}

/// Reports directories and files that do not belong to a reported artifact.
pub(crate) fn check_strays(strays: &[String], sink: &mut Sink) {
    for stray in strays {
        sink.push(
            Diagnostic::new(
                &codes::UNREPORTED_FILE,
                format!("`{stray}` does not belong to an artifact that a leg reported"),
            )
            .severity(Severity::Error)
            .at(Location::File(stray.as_str().into()), "")
            .help("download the artifacts that `report legs` names into an empty directory"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(job: &str, artifact: u64) -> LegReport {
        LegReport {
            job: job.to_owned(),
            artifact,
            digest: Digest::new([7; 32]),
        }
    }

    #[test]
    fn reports_of_legs_round_trip_through_job_outputs() {
        let value = format!(
            r#"{{"job":"a-1","artifact":"12","digest":"{}"}}"#,
            "07".repeat(32)
        );
        let text = serde_json::json!({"leg_0": "", "leg_7": value}).to_string();
        assert_eq!(read_leg_reports(&text).unwrap(), [report("a-1", 12)]);
        assert_eq!(read_leg_reports("{}").unwrap(), []);
        assert_eq!(read_leg_reports("null").unwrap(), []);
    }

    #[test]
    fn bad_leg_reports_name_the_output_and_the_reason() {
        let digest = "07".repeat(32);
        let value =
            |report: &str| serde_json::json!({"leg_3": report.replace("HEX", &digest)}).to_string();
        let texts = [
            "[]".to_owned(),
            r#"{"leg_0": {}}"#.to_owned(),
            r#"{"matrix_0": "x"}"#.to_owned(),
            serde_json::json!({"leg_+7": "x"}).to_string(),
            serde_json::json!({"leg_": "x"}).to_string(),
            value("nonsense"),
            value(r#"{"job":"a","artifact":"12"}"#),
            value(r#"{"job":"a","artifact":"12","digest":"HEX","more":"1"}"#),
            value(r#"{"job":"a","artifact":"","digest":"HEX"}"#),
            value(r#"{"job":"a","artifact":"0","digest":"HEX"}"#),
            value(r#"{"job":"a","artifact":"12,13","digest":"HEX"}"#),
            value(r#"{"job":"a","artifact":"+12","digest":"HEX"}"#),
            value(r#"{"job":"a","artifact":"12","digest":"07"}"#),
        ];
        let errors: Vec<String> = texts
            .iter()
            .map(|text| read_leg_reports(text).unwrap_err().to_string())
            .collect();
        insta::assert_snapshot!(errors.join("\n"), @r"
        it is not a JSON object of strings: invalid type: sequence, expected a map at line 1 column 0
        it is not a JSON object of strings: invalid type: map, expected a string at line 1 column 10
        `matrix_0` is not an output of a leg, `leg_NUMBER`
        `leg_+7` is not an output of a leg, `leg_NUMBER`
        `leg_` is not an output of a leg, `leg_NUMBER`
        the output `leg_3` is not a report: expected ident at line 1 column 2
        the output `leg_3` is not a report: missing field `digest` at line 1 column 27
        the output `leg_3` is not a report: unknown field `more`, expected one of `job`, `artifact`, `digest` at line 1 column 109
        the output `leg_3` is not a report: `` is not the ID of an artifact
        the output `leg_3` is not a report: `0` is not the ID of an artifact
        the output `leg_3` is not a report: `12,13` is not the ID of an artifact
        the output `leg_3` is not a report: `+12` is not the ID of an artifact
        the output `leg_3` is not a report: `07` is not a digest: `sha256:` with 64 hex digits
        ");
    }

    #[test]
    fn a_leg_reports_once_and_has_its_own_artifact() {
        let mut sink = Sink::new();
        check_leg_reports(
            &[report("a", 1), report("a", 2), report("b", 1)],
            &[],
            &mut sink,
        );
        let messages: Vec<String> = sink.finish().into_iter().map(|one| one.message).collect();
        insta::assert_snapshot!(messages.join("\n"), @r"
        a leg reports the job `a`, which is not in the plan
        a leg reports the job `b`, which is not in the plan
        the jobs `a` and `b` report the same artifact, 1
        two legs report the job `a`
        ");
    }

    #[test]
    fn a_variable_that_is_not_set_is_named() {
        let errors = leg_reports_of_variables([("LEGS", None), ("MORE", Some("{}"))], &[]);
        let errors = errors.unwrap_err();
        assert_eq!(errors.as_slice().len(), 1);
        assert!(errors.to_string().contains("`LEGS`"), "{errors}");
        assert_eq!(
            leg_reports_of_variables([("LEGS", Some("null"))], &[]).unwrap(),
            []
        );
    }
}
