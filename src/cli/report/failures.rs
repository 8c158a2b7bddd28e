//! `report failures`: the failed jobs of a run that published nothing, with the reasons.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::input;
use super::output::Output;
use crate::cli::leg_options::LegOptions;
use crate::cli::{Exit, Shell, load};
use crate::codes::host;
use crate::diagnostic::{Diagnostic, Location, Sink};
use crate::plan;
use crate::publish::sha256;
use crate::report::{self, WheelListing};
use crate::sys;

/// List the jobs of a run that built no wheel or archive, or failed its test, and why
///
/// For a run that published nothing, so that there is no release to write notes for. A wheel that
/// was built by a job with a failed outcome did not pass its test.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "rock-matrix report failures [OPTIONS] --plan <FILE> --results <FILE|DIR> \
        <--built <DIR>|--legs-env <NAME>>",
    after_long_help = "\
Examples:
  rock-matrix report failures --plan plan.json --built dist --results .rock
  rock-matrix report failures --plan plan.json --legs-env LEGS --results results  in a workflow"
)]
pub(super) struct Args {
    /// Plan saved with `plan --format json`, or matrix files; can be repeated
    #[arg(long, required = true, value_name = "FILE", help_heading = "Input")]
    plan: Vec<PathBuf>,
    /// Directory with the wheels and archives that were built
    #[arg(
        long,
        value_name = "DIR",
        required_unless_present = "legs_env",
        help_heading = "Input"
    )]
    built: Option<PathBuf>,
    #[command(flatten)]
    legs: LegOptions,
    #[arg(
        long,
        required = true,
        value_name = "FILE|DIR",
        help_heading = "Input",
        help = input::RESULTS
    )]
    results: Vec<PathBuf>,
    #[command(flatten)]
    output: Output,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell, sink: &mut Sink) -> Result<Exit, Exit> {
    args.output.spare(
        args.plan.iter().chain(&args.results).map(PathBuf::as_path),
        shell,
    )?;
    let compat = load::compat(shell)?;
    let expected = input::expected(&args.plan, compat, shell, sink)?;
    let outcomes = input::outcomes(&args.results, &expected, shell, sink)?;
    let reported = reported(args, shell, sink)?;
    let files = args
        .built
        .iter()
        .map(|folder| files(folder, shell, sink))
        .collect::<Result<Vec<_>, Exit>>()?;
    let names = files
        .iter()
        .flatten()
        .filter_map(|file| Some(file.file_name()?.to_str()?.to_owned()));
    let built = WheelListing::of_files(names, compat);
    if let Some(folder) = &args.built {
        built.report(&folder.display().to_string(), sink);
    }
    let failures = report::failures(&expected, &built, &reported, &outcomes);
    let text = failures.text(compat.limit_value("step-summary"));
    Ok(args.output.deliver(&text, shell))
}

/// Returns the IDs of the jobs that reported an artifact.
fn reported(args: &Args, shell: &Shell, sink: &mut Sink) -> Result<BTreeSet<String>, Exit> {
    if !args.legs.is_given() {
        return Ok(BTreeSet::new());
    }
    let mut jobs = Vec::new();
    for path in &args.plan {
        let source = load::read_source(path, sink)?;
        args.legs
            .check_plan(Some(path), Some(sha256(source.text.as_bytes())), sink);
        jobs.extend(plan::read_json(&source, sink).ok_or(Exit::Fault)?);
    }
    let reports = args.legs.reports(&jobs, shell, sink)?;
    Ok(reports.into_iter().map(|report| report.job).collect())
}

/// Returns the wheels and archives of a directory.
fn files(folder: &Path, shell: &Shell, sink: &mut Sink) -> Result<Vec<PathBuf>, Exit> {
    if !folder.is_dir() {
        let message = format!("there is no directory `{}`", folder.display());
        let fault = Diagnostic::new(&host::CANNOT_READ_FILE, message)
            .at(Location::Argument("--built".to_owned()), "");
        sink.push(fault.help("check the name; create the directory if no wheel was built"));
        return Err(Exit::Fault);
    }
    sys::files_with_extension(folder, &["whl", "gz"]).map_err(|error| shell.report(&[error.into()]))
}
