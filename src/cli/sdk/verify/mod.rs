//! `sdk verify`: checks finished packages, each by itself and against the others.

mod table;

use std::path::PathBuf;

use super::{Exit, Format, OutputFormat, Shell};
use crate::cli::load;
use crate::cli::reporters::WheelReporter;
use crate::sdk::verify::VerifiedPackages;

/// Check finished packages before anyone installs them
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
The wheels and the sdist are read in place, without pip and without unpacking them. Every member is
checked against RECORD, every path against those of the other packages, and every library against
its search path. Exits with 1 if there are errors.

Examples:
  rock-matrix sdk verify out/dist           one line per package, and all problems
  rock-matrix sdk verify out/dist --json    the same for programs")]
pub(super) struct Args {
    /// Directory of the packages, such as `out/dist` after `sdk build --out out`
    #[arg(value_name = "DIST_DIR")]
    dist_dir: PathBuf,
    #[command(flatten)]
    format: OutputFormat,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    let verified =
        match VerifiedPackages::verify(&args.dist_dir, compat, &WheelReporter::new(shell)) {
            Ok(verified) => verified,
            Err(error) => return shell.report(&[error]),
        };
    let text = match args.format.get() {
        Format::Human => table::human(&verified),
        Format::Json => table::json(&verified),
    };
    match shell.print(&text) {
        Exit::Done => shell.report(&verified.findings),
        exit => exit,
    }
}
