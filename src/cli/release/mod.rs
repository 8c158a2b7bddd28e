//! `release`: checks, lists and deletes releases on GitHub.

mod preflight;
mod prune;
mod subjects;

use super::{Exit, Shell};
use crate::diagnostic::Sink;

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  rock-matrix release preflight --repo OWNER/REPO --tag v1  check a tag before building
  rock-matrix release prune --repo OWNER/REPO --tag-glob 'nightly-*' --keep 7
                                                            list old releases to delete
  rock-matrix release subjects dist/ --out subjects.txt     write digests for actions/attest")]
pub(super) struct Args {
    #[command(subcommand)]
    command: ReleaseCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ReleaseCommand {
    Preflight(Box<preflight::Args>),
    Prune(Box<prune::Args>),
    Subjects(subjects::Args),
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let mut sink = Sink::new();
    let result = match &args.command {
        ReleaseCommand::Preflight(args) => return preflight::run(args, shell),
        ReleaseCommand::Prune(args) => prune::run(args, shell, &mut sink),
        ReleaseCommand::Subjects(args) => subjects::run(args, shell, &mut sink),
    };
    let exit = result.unwrap_or_else(|exit| exit);
    match shell.report(&sink.finish()) {
        Exit::Fault if exit == Exit::Done => Exit::Fault,
        _ => exit,
    }
}
