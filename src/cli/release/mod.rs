//! `release`: commands about releases that are not published yet or any more.

mod preflight;

use super::{Exit, Shell};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rock-matrix release preflight --repo OWNER/REPO --tag v1    check the tag before building")]
pub(super) struct Args {
    #[command(subcommand)]
    command: ReleaseCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ReleaseCommand {
    Preflight(Box<preflight::Args>),
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    match &args.command {
        ReleaseCommand::Preflight(args) => preflight::run(args, shell),
    }
}
