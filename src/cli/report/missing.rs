//! `report missing`: the wheels of a plan that are not published.

use std::path::PathBuf;

use serde::Serialize;

use super::input::{self, UnreadDocument, json};
use super::output::Output;
use crate::cli::publish::Connection;
use crate::cli::published::Manifests;
use crate::cli::{Exit, Format, Shell, load};
use crate::diagnostic::{Sink, counted, is_or_are};
use crate::report::{self, CoverageShare, MissingGrid, WheelListing};

/// Show the wheels of a plan that are not published; exit with 1 if there are any
///
/// Prints a grid for each platform and version, with a row for each Python and a column for each
/// torch and ROCm: `yes`, `MISSING`, or `-` for cells that the plan excludes. A stable-ABI wheel
/// covers every later Python except free-threaded ones, a py3-none wheel covers all.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rock-matrix report missing --plan plan.json --published releases.json
  rock-matrix report missing --plan matrices/flash-attn.yaml --published OWNER/REPO --list")]
pub(super) struct Args {
    #[command(flatten)]
    listed: input::Listed,
    #[command(flatten)]
    connection: Connection,
    /// Plan saved with `plan --format json`, or matrix files; can be repeated
    #[arg(long, required = true, value_name = "FILE", help_heading = "Input")]
    plan: Vec<PathBuf>,
    /// Print only the names of the missing wheels, one per line
    #[arg(long, help_heading = "Output")]
    list: bool,
    /// Output format
    #[arg(
        long,
        value_enum,
        default_value = "human",
        default_value_if("json", "true", "json"),
        value_name = "FORMAT",
        conflicts_with = "list",
        help_heading = "Output"
    )]
    format: Format,
    /// Same as --format json
    #[arg(
        long,
        conflicts_with_all = ["format", "list"],
        help_heading = "Output"
    )]
    json: bool,
    #[command(flatten)]
    output: Output,
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    present: u64,
    missing: u64,
    grids: Vec<GridDocument<'a>>,
    wheels: Vec<String>,
    unread: Vec<UnreadDocument<'a>>,
}

#[derive(Serialize)]
struct GridDocument<'a> {
    platform: &'a str,
    distribution: &'a str,
    version: &'a str,
    columns: Vec<ColumnDocument<'a>>,
    rows: Vec<RowDocument<'a>>,
}

#[derive(Serialize)]
struct ColumnDocument<'a> {
    torch: Option<&'a str>,
    accelerator: Option<&'a str>,
    backend: Option<&'a str>,
}

#[derive(Serialize)]
struct RowDocument<'a> {
    python: Option<String>,
    cells: Vec<CellDocument<'a>>,
}

#[derive(Serialize)]
struct CellDocument<'a> {
    state: &'static str,
    wheel: Option<&'a str>,
    job: Option<&'a str>,
    reason: Option<&'a str>,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell, sink: &mut Sink) -> Result<Exit, Exit> {
    args.output.spare(
        args.listed
            .paths()
            .chain(args.plan.iter().map(PathBuf::as_path)),
        shell,
    )?;
    let compat = load::compat(shell)?;
    let (mut read, mut published) =
        args.listed
            .read_all(&args.connection, Manifests::None, shell, sink)?;
    let mut wheels = read.wheels(compat, sink);
    let expected = input::expected(&args.plan, compat, shell, sink)?;
    let unread = report::unread_targets(&report::matched(&expected, &wheels));
    if published.add_manifests(&unread, &args.connection, shell, sink)? {
        read.take_manifests(&published);
        wheels = read.wheels(compat, &mut Sink::new());
    }
    let found = report::matched(&expected, &wheels);
    sink.extend(report::target_shortfalls(&found, compat));
    let grids = report::grids(&expected, &found);
    let mut missing = report::listed(&found);
    let mut share = grids.iter().fold(CoverageShare::default(), |share, grid| {
        share.plus(grid.share)
    });
    let archives = report::matched_archives(&expected, &wheels);
    for found in &archives {
        share.count(found.is_there);
    }
    let noun = report::called(
        missing.len(),
        archives.iter().filter(|found| !found.is_there).count(),
    );
    missing.extend(
        archives
            .iter()
            .filter(|found| !found.is_there)
            .map(|found| found.archive.name.text.clone()),
    );
    let text = match args.format {
        Format::Json => json(&document(&grids, share, missing.clone(), &wheels)),
        Format::Human if args.list => missing.iter().map(|wheel| format!("{wheel}\n")).collect(),
        Format::Human => report::missing_text(&grids) + &report::archives_text(&archives),
    };
    let delivered = args.output.deliver(&text, shell);
    if delivered != Exit::Done {
        return Ok(delivered);
    }
    if share.missing == 0 {
        return Ok(Exit::Done);
    }
    let (cells, are, files) = (
        counted(share.total(), "cell"),
        is_or_are(share.missing),
        counted(missing.len(), noun),
    );
    shell.say(&format!(
        "{} of {cells} {are} missing, in {files}",
        share.missing
    ));
    Ok(Exit::Fault)
}

fn document<'a>(
    grids: &'a [MissingGrid],
    share: CoverageShare,
    missing: Vec<String>,
    wheels: &'a WheelListing,
) -> Document<'a> {
    Document {
        version: 1,
        present: share.present,
        missing: share.missing,
        grids: grids.iter().map(grid).collect(),
        wheels: missing,
        unread: input::unread(wheels),
    }
}

fn grid(grid: &MissingGrid) -> GridDocument<'_> {
    GridDocument {
        platform: grid.machine.as_str(),
        distribution: &grid.distribution,
        version: &grid.version,
        columns: grid
            .columns
            .iter()
            .map(|column| ColumnDocument {
                torch: column.torch.as_deref(),
                accelerator: column.accelerator.as_deref(),
                backend: column.backend.as_deref(),
            })
            .collect(),
        rows: grid
            .rows
            .iter()
            .map(|row| RowDocument {
                python: row.python.map(|python| python.to_string()),
                cells: row
                    .cells
                    .iter()
                    .map(|cell| CellDocument {
                        state: cell.state.word(),
                        wheel: cell.wheel.as_deref(),
                        job: cell.job.as_deref(),
                        reason: cell.reason.as_deref(),
                    })
                    .collect(),
            })
            .collect(),
    }
}
