//! The result of a build.

use super::job_directory::LockedDirectory;
use super::prepared_build::PreparedBuild;
use super::record::{BuildOutcome, BuildRecord};
use super::session::FinishedBuild;
use super::step_failure::BuildEnd;
use rock_diagnostic::Diagnostic;
use rock_recipe::measurements::{BuildMeasurements, MEASURED_FILE};
use rock_sys::{self as sys, StopSignal};

/// The result of a build that has run.
#[derive(Debug)]
pub struct BuildReport {
    /// The build record, which is also on disk.
    pub record: BuildRecord,
    /// The end of the stages.
    pub end: BuildEnd,
    /// The number of stages that were skipped because they were done.
    pub skipped_stages: usize,
    /// Whether files were copied to the output directory; `record.wheels` lists them.
    pub is_delivered: bool,
    /// Warnings about the delivered wheels.
    pub warnings: Vec<Diagnostic>,
    /// The reason why the record of delivered or rejected wheels could not be written.
    pub record_error: Option<Diagnostic>,
    /// Keeps the job directory locked.
    _locked: LockedDirectory,
}

/// The result of a build, including the checks and the delivery of its wheels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildResult {
    /// All stages are done, and the wheels were accepted.
    Done,
    /// All stages are done, and a wheel was rejected.
    Rejected,
    /// A stage failed.
    StageFailed,
    /// The cap stopped it.
    Capped,
    /// A signal stopped it.
    Stopped(StopSignal),
    /// The machine or the container engine failed.
    MachineFailed,
}

impl BuildReport {
    /// Returns the result of the build.
    pub fn result(&self) -> BuildResult {
        if self.record_error.is_some() {
            return BuildResult::MachineFailed;
        }
        match &self.end {
            BuildEnd::Done => match self.record.outcome {
                BuildOutcome::Done => BuildResult::Done,
                BuildOutcome::Refused => BuildResult::Rejected,
                _ => BuildResult::MachineFailed,
            },
            BuildEnd::Failed(_) => BuildResult::StageFailed,
            BuildEnd::Capped(_) => BuildResult::Capped,
            BuildEnd::Stopped(signal, _) => BuildResult::Stopped(*signal),
            BuildEnd::Engine(_) | BuildEnd::File(_) => BuildResult::MachineFailed,
        }
    }

    /// Returns the report of stages that have run, before wheels are delivered.
    pub(super) fn new(finished: FinishedBuild) -> Self {
        Self {
            record: finished.record,
            end: finished.end,
            skipped_stages: finished.passed_over,
            is_delivered: false,
            warnings: Vec::new(),
            record_error: None,
            _locked: finished.opened,
        }
    }
}

impl PreparedBuild<'_> {
    /// Writes the measurements of a run next to its record; `exit_code` is that of the command.
    /// Also returns the error if they cannot be written.
    pub fn write_measurements(
        &self,
        report: &BuildReport,
        exit_code: u8,
    ) -> (BuildMeasurements, Option<Diagnostic>) {
        let record = &report.record;
        let measurements = BuildMeasurements {
            version: 1,
            job: record.job.clone(),
            exit: i32::from(exit_code),
            seconds: record.seconds,
            disk_before_bytes: record.disk_before_bytes.unwrap_or_default(),
            disk_after_bytes: record.disk_after_bytes.unwrap_or_default(),
            wheel_bytes: record.wheels.iter().map(|wheel| wheel.size_bytes).sum(),
        };
        let path = self.directory.path().join(MEASURED_FILE);
        let written = sys::replace_file(&path, measurements.to_json().as_bytes());
        (measurements, written.err().map(Diagnostic::from))
    }
}
