//! Options for the reports of a workflow's jobs.

use std::path::Path;

use super::{Exit, Shell};
use crate::diagnostic::Sink;
use crate::names::Digest;
use crate::plan::Job;
use crate::publish::{LegReport, check_all_reported, check_plan_digest, leg_reports_of_variables};

// Options for the reports of a workflow's build jobs (legs).
#[derive(Debug, Clone, Default, clap::Args)]
pub(super) struct LegOptions {
    /// Read the reports of build jobs from this environment variable; can be repeated
    ///
    /// Set the variable to `${{ toJSON(needs.build.outputs) }}`.
    #[arg(
        long,
        value_name = "NAME",
        requires = "plan",
        hide_short_help = true,
        help_heading = "Workflow"
    )]
    legs_env: Vec<String>,
    /// Require this SHA-256 digest of the plan, as reported by the job that made it
    #[arg(
        long,
        value_name = "SHA256",
        requires = "plan",
        hide_short_help = true,
        help_heading = "Workflow"
    )]
    plan_sha256: Option<Digest>,
}

impl LegOptions {
    /// Reports a plan file with another digest than `--plan-sha256`.
    pub(super) fn check_plan(&self, path: Option<&Path>, found: Option<Digest>, sink: &mut Sink) {
        if let (Some(path), Some(found), Some(reported)) = (path, found, self.plan_sha256) {
            sink.extend(check_plan_digest(&path.display().to_string(), found, reported).err());
        }
    }

    /// Returns the reports of the legs after checking them against the plan.
    ///
    /// # Errors
    /// Fails if they cannot be read or contradict the plan; the errors are in the sink.
    pub(super) fn reports(
        &self,
        jobs: &[Job],
        shell: &Shell,
        sink: &mut Sink,
    ) -> Result<Vec<LegReport>, Exit> {
        let variables = self
            .legs_env
            .iter()
            .map(|name| (name.as_str(), shell.environment.get(name)));
        let reports = leg_reports_of_variables(variables, jobs).map_err(|errors| {
            sink.extend(errors);
            Exit::Fault
        })?;
        if sink.has_errors() {
            Err(Exit::Fault)
        } else {
            Ok(reports)
        }
    }

    /// Returns the reports of all jobs of the plan.
    ///
    /// # Errors
    /// As for [`Self::reports`], and if a job has no report.
    pub(super) fn all_reports(
        &self,
        jobs: &[Job],
        shell: &Shell,
        sink: &mut Sink,
    ) -> Result<Vec<LegReport>, Exit> {
        let reports = self.reports(jobs, shell, sink)?;
        check_all_reported(&reports, jobs, sink);
        if sink.has_errors() {
            Err(Exit::Fault)
        } else {
            Ok(reports)
        }
    }

    /// Whether reports were given.
    pub(super) fn is_given(&self) -> bool {
        !self.legs_env.is_empty()
    }
}
