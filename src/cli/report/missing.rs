//! `report missing`: the wheels of a plan that are not published.

use std::path::PathBuf;

use super::input;
use super::output::Output;
use crate::cli::publish::Connection;
use crate::cli::{Exit, Format, Shell, load, published};
use crate::diagnostic::Sink;
use crate::publish::ManifestSelection;
use crate::report::{self, MissingReport};

/// Show the wheels of a plan that are not published; exit with 1 if there are any
///
/// Prints a grid for each platform and version, with a row for each Python and a column for each
/// torch and ROCm: `yes`, `MISSING`, or `-` for cells that the plan excludes. A stable-ABI wheel
/// covers every later Python except free-threaded ones, a py3-none wheel covers all.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  rock-matrix report missing --plan plan.json --published releases.json
  rock-matrix report missing --plan matrices/flash-attn.yaml --published OWNER/REPO --list")]
pub(super) struct Args {
    #[command(flatten)]
    listed: input::PublishedArgs,
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

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell, sink: &mut Sink) -> Result<Exit, Exit> {
    args.output.spare(
        args.listed
            .paths()
            .chain(args.plan.iter().map(PathBuf::as_path)),
        shell,
    )?;
    let compat = load::compat(shell)?;
    let selection = ManifestSelection::None;
    let (mut inventory, mut published) =
        args.listed
            .read_all(&args.connection, selection, shell, sink)?;
    let mut wheels = inventory.wheels(compat, sink);
    let expected = input::expected(&args.plan, compat, shell, sink)?;
    let unread = report::unread_targets(&report::matched(&expected, &wheels));
    if published::add_manifests(&mut published, &unread, &args.connection, shell, sink)? {
        inventory.set_manifests(published.manifests());
        // The names were reported before.
        wheels = inventory.wheels(compat, &mut Sink::new());
    }
    let found = report::matched(&expected, &wheels);
    sink.extend(report::target_shortfalls(&found, compat));
    let missing = MissingReport::new(&expected, &found, &wheels);
    let text = match args.format {
        Format::Json => missing.json(&wheels),
        Format::Human if args.list => missing.list(),
        Format::Human => missing.text(),
    };
    let delivered = args.output.deliver(&text, shell);
    match missing.summary() {
        Some(summary) if delivered == Exit::Done => {
            shell.say(&summary);
            Ok(Exit::Fault)
        }
        _ => Ok(delivered),
    }
}
