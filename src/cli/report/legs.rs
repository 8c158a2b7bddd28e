//! `report legs`: the artifacts in the job reports of a workflow.

use std::path::PathBuf;

use crate::cli::jobs::leg_id;
use crate::cli::leg_options::LegOptions;
use crate::cli::{Exit, Shell, load};
use crate::diagnostic::Sink;
use crate::plan::{self, Job};
use crate::publish::{LegReport, check_all_reported, sha256};

/// Check the job reports of a workflow, and list the artifacts to download
///
/// Prints the artifact IDs, separated by commas, for the input `artifact-ids` of
/// actions/download-artifact. Every job of the plan must have reported an artifact.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("reports").args(["legs_env"]).required(true)), after_long_help = "\
Examples:
  rock-matrix report legs --plan plan.json --legs-env LEGS --github-output
  rock-matrix report legs --plan plan.json --legs-env LEGS --job-env ROCK_JOB  one job only")]
pub(super) struct Args {
    /// Plan of the run, saved with `plan --format json`
    #[arg(long, value_name = "FILE", help_heading = "Input")]
    plan: PathBuf,
    #[command(flatten)]
    legs: LegOptions,
    /// List only the artifact of the job in this environment variable
    ///
    /// The variable holds the workflow's matrix entry as JSON.
    #[arg(long, value_name = "NAME", help_heading = "Input")]
    job_env: Option<String>,
    /// Write the list as `artifacts` to the file that `GITHUB_OUTPUT` names
    #[arg(long, help_heading = "Output")]
    github_output: bool,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell, sink: &mut Sink) -> Result<Exit, Exit> {
    let source = load::read_source(&args.plan, sink)?;
    args.legs
        .check_plan(Some(&args.plan), Some(sha256(source.text.as_bytes())), sink);
    let jobs = plan::read_json(&source, sink).ok_or(Exit::Fault)?;
    let reports = match &args.job_env {
        None => args.legs.all_reports(&jobs, shell, sink)?,
        Some(variable) => {
            let id = leg_id(variable, shell).map_err(|fault| {
                sink.push(fault);
                Exit::Fault
            })?;
            let job: Vec<Job> = jobs.iter().filter(|job| job.id == id).cloned().collect();
            let reports = args.legs.reports(&jobs, shell, sink)?;
            let reports: Vec<LegReport> = reports
                .into_iter()
                .filter(|report| report.job == id)
                .collect();
            check_all_reported(&reports, &job, sink);
            if reports.is_empty() {
                return Err(Exit::Fault);
            }
            reports
        }
    };
    let ids: Vec<String> = reports
        .iter()
        .map(|report| report.artifact.to_string())
        .collect();
    let ids = ids.join(",");
    if args.github_output {
        shell.write_outputs(&[("artifacts".to_owned(), ids)])?;
        return Ok(Exit::Done);
    }
    Ok(shell.print(&format!("{ids}\n")))
}
