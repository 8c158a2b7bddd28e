//! `report failures`: the failed jobs of a run that published nothing, with the reasons.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::input;
use super::output::Output;
use crate::cli::legs::LegOptions;
use crate::cli::release_folder::digest;
use crate::cli::{Exit, Shell, load};
use crate::codes::host;
use crate::diagnostic::{Diagnostic, Location, Sink, counted, is_or_are};
use crate::plan;
use crate::publish::{ListedAsset, ListedRelease};
use crate::render::actions::table;
use crate::report::{self, ListingContext, MissingFile, WheelListing};
use crate::sys;

/// List the jobs of a run that built no wheel or archive, or failed its test, and why
///
/// For a run that published nothing, so that there is no release to write notes for. A wheel that
/// was built by a job with a failed outcome did not pass its test.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rock-matrix report failures --plan plan.json --built dist --results .rock
  rock-matrix report failures --plan plan.json --legs-env LEGS --results results  in a workflow")]
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
    let name = |file: &PathBuf| Some(file.file_name()?.to_str()?.to_owned());
    let names = files.iter().flatten().filter_map(name);
    let assets = names
        .map(|name| ListedAsset {
            name,
            ..ListedAsset::default()
        })
        .collect();
    let run = ListedRelease {
        assets,
        ..ListedRelease::default()
    };
    let known_rocm = compat.rocm_versions();
    let built = WheelListing::of(
        [&run],
        ListingContext {
            known_rocm: &known_rocm,
            ..ListingContext::default()
        },
    );
    if let Some(folder) = &args.built {
        built.report(&folder.display().to_string(), sink);
    }
    // Both tables and the text above them have to fit in the summary of one step.
    let room = (compat.limit_value("step-summary") / 2).saturating_sub(1024);
    Ok(args.output.deliver(
        &text(
            &report::failures(&expected, &built, &reported, &outcomes),
            room,
        ),
        shell,
    ))
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
            .check_plan(Some(path), Some(digest(source.text.as_bytes())), sink);
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

fn text(found: &report::RunFailures, room: usize) -> String {
    let (absent, untested, noun) = (found.absent.len(), found.untested.len(), found.noun);
    let of_failed = [
        (
            &found.absent,
            format!(
                "{absent} of the {} {} missing:",
                counted(found.planned, &format!("planned {noun}")),
                is_or_are(absent)
            ),
        ),
        (
            &found.untested,
            format!(
                "{} {} built and did not pass the test:",
                counted(untested, noun),
                is_or_are(untested)
            ),
        ),
    ];
    let line = |cells: &[&str]| format!("| {} |\n", cells.join(" | "));
    let head = line(&MissingFile::head(noun)) + &line(&["---"; 3]);
    let row = |failed: &MissingFile| line(&failed.cells().each_ref().map(String::as_str));
    let tables: Vec<String> = of_failed
        .into_iter()
        .filter(|(failed, _)| !failed.is_empty())
        .map(|(failed, title)| {
            table(
                &format!("{title}\n\n{head}"),
                failed.iter().map(row),
                noun,
                room,
            )
        })
        .collect();
    if tables.is_empty() {
        return "No job recorded what failed: see the logs of the run.\n".to_owned();
    }
    tables.join("\n")
}
