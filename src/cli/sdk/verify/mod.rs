//! `sdk verify`: whether finished packages keep what they promise each other.

mod table;

use std::path::PathBuf;

use super::{Exit, Format, Shell};
use crate::cli::load;
use crate::cli::wheel::Watchers;
use crate::sdk::verify::VerifiedPackages;

/// Prove finished packages before anyone installs them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The wheels and the source distribution of a folder are opened as they are, without pip and without
unpacking them: every member against RECORD, every path against those of the other packages, every
library against where it searches. Exits with 1 when an error was found.

Examples:
  rock-matrix sdk verify out/dist
  rock-matrix sdk verify out/dist --format json")]
pub(super) struct Args {
    #[arg(
        help = "The folder of packages, dist of what sdk build wrote",
        value_name = "DIST_DIR"
    )]
    dist_dir: PathBuf,
    /// How to print the result
    #[arg(long, value_enum, default_value = "human", value_name = "FORMAT")]
    format: Format,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    let verified = match VerifiedPackages::verify(&args.dist_dir, compat, &Watchers::of(shell)) {
        Ok(verified) => verified,
        Err(error) => return shell.report(&[error]),
    };
    let text = match args.format {
        Format::Human => table::human(&verified),
        Format::Json => table::json(&verified),
    };
    match shell.print(&text) {
        Exit::Done => shell.report(&verified.findings),
        exit => exit,
    }
}
