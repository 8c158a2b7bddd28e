//! `wheel`: inspect, check, repair, retag and label built wheels.

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

pub(super) use repair::{graft_lines, repair_note_line, unchanged_line};

use super::{Exit, Format, OutputFormat, Shell};
use crate::diagnostic::{Diagnostic, Diagnostics};

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  rock-matrix wheel show built.whl      where it can be installed, and what limits that
  rock-matrix wheel repair dist/*.whl   graft the libraries that the wheels need")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Show(show::Args),
    Gfx(gfx::Args),
    Check(Box<check::Args>),
    Verify(verify::Args),
    Repair(Box<repair::Args>),
    Retag(retag::Args),
    Label(label::Args),
    Embed(embed::Args),
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    match &args.command {
        Command::Show(args) => show::run(args, shell),
        Command::Gfx(args) => gfx::run(args, shell),
        Command::Check(args) => check::run(args, shell),
        Command::Verify(args) => verify::run(args, shell),
        Command::Repair(args) => repair::run(args, shell),
        Command::Retag(args) => retag::run(args, shell),
        Command::Label(args) => label::run(args, shell),
        Command::Embed(args) => embed::run(args, shell),
    }
}

/// Prints findings and returns the exit code of the most severe one.
pub(in crate::cli) fn report(shell: &Shell, found: Vec<Diagnostic>) -> Exit {
    fail(shell, &found.into())
}

/// Prints the errors of a command and returns its exit code.
pub(in crate::cli) fn fail(shell: &Shell, errors: &Diagnostics) -> Exit {
    match shell.report(errors.as_slice()) {
        Exit::Fault => errors.exit_class().into(),
        exit => exit,
    }
}
