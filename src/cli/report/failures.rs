//! `report failures`: which jobs of a run failed and why, where nothing was published.

use std::path::PathBuf;

use super::input;
use super::output::Output;
use crate::cli::{Exit, Shell, load};
use crate::diagnostic::{Diagnostic, Place, Sink, are, counted, registry::host};
use crate::publish::{ListedAsset, ListedRelease};
use crate::render::actions::table;
use crate::report::{self, Beside, Failed, Wheels};
use crate::sys;

/// Write which jobs of a run built no wheel or archive, or failed its test, and why
#[derive(Debug, clap::Args)]
#[command(after_help = "\
For a run that published nothing: there is no release to write notes of, and nothing to install. A
wheel that is built and whose job left a bad result did not pass its test.

Examples:
  rock-matrix report failures --plan plan.json --built dist --results .rock
  rock-matrix report failures --plan plan.json --built dist --results results --out failures.md")]
pub(super) struct Args {
    /// A plan saved with `plan --format json`, or matrix files; can be repeated
    #[arg(long, required = true, value_name = "FILE", help_heading = "Input")]
    plan: Vec<PathBuf>,
    /// The folder with the wheels and archives that were built
    #[arg(long, value_name = "DIR", help_heading = "Input")]
    built: PathBuf,
    #[arg(long, required = true, value_name = "FILE|DIR", help_heading = "Input", help = input::RESULTS)]
    results: Vec<PathBuf>,
    #[command(flatten)]
    output: Output,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell, sink: &mut Sink) -> Result<Exit, Exit> {
    args.output.spare(args.plan.iter().chain(&args.results).map(PathBuf::as_path), shell)?;
    let compat = load::compat(shell)?;
    let expected = input::expected(&args.plan, compat, shell, sink)?;
    let outcomes = input::outcomes(&args.results, &expected, shell, sink)?;
    if !args.built.is_dir() {
        let message = format!("there is no folder `{}`", args.built.display());
        let fault = Diagnostic::new(&host::CANNOT_READ_FILE, message).at(Place::Argument("--built".to_owned()), "");
        sink.push(fault.help("check the name; make the folder if no wheel was built"));
        return Err(Exit::Fault);
    }
    let files =
        sys::files_with_extension(&args.built, &["whl", "gz"]).map_err(|error| shell.report(&[error.into()]))?;
    let name = |file: &PathBuf| Some(file.file_name()?.to_str()?.to_owned());
    let assets = files.iter().filter_map(name).map(|name| ListedAsset { name, ..ListedAsset::default() }).collect();
    let run = ListedRelease { assets, ..ListedRelease::default() };
    let known_rocm = compat.rocm_versions();
    let built = Wheels::of([&run], Beside { known_rocm: &known_rocm, ..Beside::default() });
    built.report(&args.built.display().to_string(), sink);
    // Two tables and what stands before them are the summary of one step.
    let room = (compat.most("step-summary") / 2).saturating_sub(1024);
    Ok(args.output.deliver(&text(&report::failures(&expected, &built, &outcomes), room), shell))
}

fn text(found: &report::Failures, room: usize) -> String {
    let (absent, untested, noun) = (found.absent.len(), found.untested.len(), found.noun);
    let of_failed = [
        (
            &found.absent,
            format!("{absent} of the {} {} missing:", counted(found.planned, &format!("planned {noun}")), are(absent)),
        ),
        (&found.untested, format!("{} {} built and did not pass the test:", counted(untested, noun), are(untested))),
    ];
    let line = |cells: &[&str]| format!("| {} |\n", cells.join(" | "));
    let head = line(&Failed::head(noun)) + &line(&["---"; 3]);
    let row = |failed: &Failed| line(&failed.cells().each_ref().map(String::as_str));
    let tables: Vec<String> = of_failed
        .into_iter()
        .filter(|(failed, _)| !failed.is_empty())
        .map(|(failed, title)| table(&format!("{title}\n\n{head}"), failed.iter().map(row), noun, room))
        .collect();
    if tables.is_empty() {
        return "No job left a result that says what failed: see the logs of the run.\n".to_owned();
    }
    tables.join("\n")
}
