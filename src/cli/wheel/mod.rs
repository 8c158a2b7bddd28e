//! `wheel`: look at built wheels, and give them another label or other tags.

mod bar;
mod check;
mod embed;
mod expected;
mod gfx;
mod label;
mod options;
mod output;
mod repair;
mod retag;
mod show;
mod verify;

pub(super) use bar::Watchers;
pub(super) use output::source_date_s;
pub(super) use repair::{BuildLibraries, BuildRepair, repair_built};

use super::{Exit, Format, Shell};
use crate::diagnostic::{Diagnostic, Diagnostics};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rock-matrix wheel show built.whl     where it can be installed, and what keeps it from more
  rock-matrix wheel repair built.whl   with the libraries that it needs
  rock-matrix wheel check dist/*.whl   all gates in one go")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Check(Box<check::Args>),
    Embed(embed::Args),
    Gfx(gfx::Args),
    Label(label::Args),
    Repair(Box<repair::Args>),
    Retag(retag::Args),
    Show(show::Args),
    Verify(verify::Args),
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    match &args.command {
        Command::Check(args) => check::run(args, shell),
        Command::Embed(args) => embed::run(args, shell),
        Command::Gfx(args) => gfx::run(args, shell),
        Command::Label(args) => label::run(args, shell),
        Command::Repair(args) => repair::run(args, shell),
        Command::Retag(args) => retag::run(args, shell),
        Command::Show(args) => show::run(args, shell),
        Command::Verify(args) => verify::run(args, shell),
    }
}

/// How the result is printed.
#[derive(Debug, Default, clap::Args)]
struct Printing {
    /// How to print the result
    #[arg(long, value_enum, default_value = "human", value_name = "FORMAT")]
    format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl Printing {
    fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

/// Prints findings, and returns the exit of their strongest class.
pub(in crate::cli) fn report(shell: &Shell, found: Vec<Diagnostic>) -> Exit {
    fail(shell, &found.into())
}

/// Prints the errors of a command, and returns its exit.
pub(in crate::cli) fn fail(shell: &Shell, errors: &Diagnostics) -> Exit {
    match shell.report(errors.as_slice()) {
        Exit::Fault => errors.exit_class().into(),
        exit => exit,
    }
}
