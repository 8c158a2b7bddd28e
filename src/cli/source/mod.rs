//! `source`: the sources that torch's wheels are built from.

mod choices;
mod lock;
mod pins;
mod plan;

use super::{Exit, Format, Shell, load};

/// Show where the sources of torch and its companions come from
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rock-matrix source plan                     address and ref of every project
  rock-matrix source plan --preset rocm-2.13  those of sources that are built together")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Lock(lock::Args),
    Pins(pins::Args),
    Plan(Box<plan::Args>),
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    match &args.command {
        Command::Lock(args) => lock::run(args, shell),
        Command::Pins(args) => pins::run(args, shell),
        Command::Plan(args) => plan::run(args, shell),
    }
}
