//! `sdk verify`: whether finished packages keep what they promise each other.

mod folder;
mod open;
mod payload;
mod split;
mod table;

pub(in crate::cli) use open::alone;

use std::path::PathBuf;

use super::{Exit, Format, Shell};
use crate::audit;
use crate::cli::load;
use crate::cli::wheel::Watchers;
use crate::diagnostic::Severity;
use crate::sdk::verify;

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
    let facts = compat.sdk_tables();
    let read = match folder::read(&args.dist_dir, compat, Watchers::of(shell)) {
        Ok(read) => read,
        Err(fault) => return shell.report(&[fault]),
    };
    let mut found = read.findings;
    found.extend(read.packages.iter().filter_map(|package| {
        let told = audit::check_size(&package.path, package.size_bytes, None, compat)?;
        told.is_error().then(|| told.severity(Severity::Warning))
    }));
    // What a package that cannot be read would have is not missing.
    if read.is_whole {
        found.extend(verify::verify(&read.opened, facts));
        found.extend(split::findings(&read.opened, &read.splits));
    } else {
        found.extend(
            read.opened
                .wheels
                .iter()
                .flat_map(|wheel| verify::alone(wheel, facts)),
        );
    }
    let text = match args.format {
        Format::Human => table::human(&read.packages, &found),
        Format::Json => table::json(&read.packages, &found),
    };
    match shell.print(&text) {
        Exit::Done => shell.report(&found),
        exit => exit,
    }
}
