//! `sdk`: the Python packages of the ROCm SDK, built from the artifacts of a ROCm build.

mod build;
mod fetch;
mod layout_args;
mod plan;
mod rpath;
mod targets;
mod verify;
mod version;

use super::{Exit, Format, OutputFormat, Shell};

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  rock-matrix sdk build --artifact-dir artifacts --out out    build all packages, in out/dist
  rock-matrix sdk verify out/dist                             check them before publishing
  rock-matrix sdk fetch --run-id 18456789012                  download the artifacts of a CI run
  rock-matrix sdk plan --artifact-dir artifacts               show which files go where")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Build(Box<build::Args>),
    Fetch(Box<fetch::Args>),
    Plan(plan::Args),
    Rpath(rpath::Args),
    Targets(targets::Args),
    Verify(verify::Args),
    Version(version::Args),
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    match &args.command {
        Command::Build(args) => build::run(args, shell),
        Command::Fetch(args) => fetch::run(args, shell),
        Command::Plan(args) => plan::run(args, shell),
        Command::Rpath(args) => rpath::run(args, shell),
        Command::Targets(args) => targets::run(args, shell),
        Command::Verify(args) => verify::run(args, shell),
        Command::Version(args) => version::run(args, shell),
    }
}
