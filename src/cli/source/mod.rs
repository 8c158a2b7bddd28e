//! `source`: the sources that torch's wheels are built from.

mod choices;
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
    Plan(Box<plan::Args>),
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    match &args.command {
        Command::Plan(args) => plan::run(args, shell),
    }
}
