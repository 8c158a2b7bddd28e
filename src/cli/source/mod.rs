//! `source`: the sources that torch's wheels are built from, and the trees and patches that are
//! made of them.

mod by_manifest;
mod checkout;
mod choices;
mod limits;
mod lock;
mod pins;
mod plan;
mod progress;
mod save_patches;
mod status;

use std::path::PathBuf;

use super::{Exit, Format, Shell, load};
use crate::checkout::CheckoutError;
use crate::source::projects;
use crate::sys::{self, Signals};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rock-matrix source plan                       address and ref of every project
  rock-matrix source plan --preset rocm-2.13    those of sources that are built together
  rock-matrix source checkout torch             the tree, with submodules, patches and hipify
  rock-matrix source status torch               what is checked out, and what was changed since
  rock-matrix source save-patches torch         your commits as patches")]
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

/// The tree that a command is about.
#[derive(Debug, clap::Args)]
struct Tree {
    /// The project by name, folder or wheel
    #[arg(value_name = "PROJECT")]
    project: Option<String>,
    /// The folder of the tree [default: the folder of the project, in the working folder]
    #[arg(
        long,
        visible_alias = "repo",
        value_name = "DIR",
        required_unless_present = "project"
    )]
    checkout_dir: Option<PathBuf>,
}

impl Tree {
    /// Its folder, absolute.
    fn folder(&self, shell: &Shell) -> Result<PathBuf, Exit> {
        let folder = match (&self.checkout_dir, &self.project) {
            (Some(folder), _) => folder.clone(),
            (None, project) => {
                let compat = load::compat(shell)?;
                let row = projects::find(compat, project.as_deref().unwrap_or_default(), "linux");
                row.map_err(|fault| shell.report(&[fault]))?
                    .folder
                    .clone()
                    .into()
            }
        };
        Ok(sys::real_path(&shell.environment.current_dir.join(folder)))
    }

    /// Its folder, with signals caught from here on.
    fn taken(&self, shell: &Shell) -> Result<(PathBuf, Signals), Exit> {
        Ok((self.folder(shell)?, listen(shell)?))
    }
}

/// Catches signals from here on.
fn listen(shell: &Shell) -> Result<Signals, Exit> {
    Signals::listen().map_err(|error| {
        shell.report(&[crate::exec::no_signals(&error)]);
        Exit::Machine
    })
}

/// Shows why a checkout did not come to its end.
fn failed(fault: CheckoutError, shell: &Shell) -> Exit {
    let exit = match &fault {
        CheckoutError::Stopped(signal) => (*signal).into(),
        fault if fault.is_of_input() => Exit::Fault,
        _ => Exit::Machine,
    };
    shell.report(&fault.diagnostics());
    exit
}
