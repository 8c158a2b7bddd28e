//! A build that has run, and its outcome.

use super::job_directory::LockedDirectory;
use super::prepared_build::PreparedBuild;
use super::record::{BuildOutcome, BuildRecord};
use super::session::FinishedBuild;
use super::step_failure::StagesOutcome;
use rock_diagnostic::Diagnostic;
use rock_recipe::measurements::{BuildMeasurements, MEASURED_FILE};
use rock_sys::{self as sys, StopSignal};

/// A build that has run.
#[derive(Debug)]
pub struct BuildReport {
    /// The build record, which is also on disk.
    pub record: BuildRecord,
    /// The outcome of the stages.
    pub end: StagesOutcome,
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

impl BuildReport {
    /// Returns the outcome of the build. It is the recorded one, unless that could not be written.
    pub fn outcome(&self) -> BuildOutcome {
        let is_recorded =
            self.record_error.is_none() && !matches!(self.end, StagesOutcome::File(_));
        if is_recorded {
            self.record.outcome
        } else {
            BuildOutcome::Machine
        }
    }

    /// Returns the signal that stopped the stages.
    pub fn stop_signal(&self) -> Option<StopSignal> {
        match self.end {
            StagesOutcome::Stopped(signal, _) => Some(signal),
            _ => None,
        }
    }

    /// Returns the build whose stages have run, before wheels are delivered.
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
