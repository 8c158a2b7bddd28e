//! `source`: plans, checks out, locks and patches the source trees that torch's wheels are built
//! from.

mod checkout;
mod lock;
mod manifest_args;
mod pins;
mod plan;
mod save_patches;
mod selection_args;
mod status;

use std::path::PathBuf;

use super::{Exit, Format, OutputFormat, Shell, load};
use crate::checkout::CheckoutError;
use crate::source::projects;
use crate::sys::{self, Signals};

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  rock-matrix source plan            show the repository and ref of every project
  rock-matrix source checkout torch  check out torch, apply patches and run hipify")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Checkout(Box<checkout::Args>),
    Lock(lock::Args),
    Pins(pins::Args),
    Plan(Box<plan::Args>),
    SavePatches(save_patches::Args),
    Status(status::Args),
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    match &args.command {
        Command::Checkout(args) => checkout::run(args, shell),
        Command::Lock(args) => lock::run(args, shell),
        Command::Pins(args) => pins::run(args, shell),
        Command::Plan(args) => plan::run(args, shell),
        Command::SavePatches(args) => save_patches::run(args, shell),
        Command::Status(args) => status::run(args, shell),
    }
}

// The source tree that a command reads. Like all groups of options that are flattened into a
// command, it has no doc comment: clap would show that as the description of the command.
#[derive(Debug, clap::Args)]
struct Tree {
    /// Project by name, directory or wheel, such as audio, pytorch_audio or torchaudio
    #[arg(value_name = "PROJECT")]
    project: Option<String>,
    /// Directory of the tree [default: the project's directory]
    ///
    /// The project's directory is relative to the working directory.
    #[arg(
        long,
        alias = "repo",
        value_name = "DIR",
        required_unless_present = "project"
    )]
    checkout_dir: Option<PathBuf>,
}

impl Tree {
    /// Returns the absolute directory of the tree.
    fn directory(&self, shell: &Shell) -> Result<PathBuf, Exit> {
        let directory = match (&self.checkout_dir, &self.project) {
            (Some(directory), _) => directory.clone(),
            (None, project) => {
                let compat = load::compat(shell)?;
                let row = projects::find(compat, project.as_deref().unwrap_or_default(), "linux");
                row.map_err(|error| shell.report(&[error]))?
                    .folder
                    .clone()
                    .into()
            }
        };
        Ok(sys::real_path(
            &shell.environment.current_dir.join(directory),
        ))
    }

    /// Returns the absolute directory of the tree, and starts to catch signals.
    fn open(&self, shell: &Shell) -> Result<(PathBuf, Signals), Exit> {
        Ok((self.directory(shell)?, listen(shell)?))
    }
}

/// Starts to catch signals.
fn listen(shell: &Shell) -> Result<Signals, Exit> {
    Signals::listen().map_err(|error| {
        shell.report(&[crate::exec::no_signals(&error)]);
        Exit::Machine
    })
}

/// Reports why a checkout failed, and returns the exit code.
fn failed(error: CheckoutError, shell: &Shell) -> Exit {
    let exit = match &error {
        CheckoutError::Stopped(signal) => (*signal).into(),
        error if error.is_of_input() => Exit::Fault,
        _ => Exit::Machine,
    };
    shell.report(&error.diagnostics());
    exit
}
