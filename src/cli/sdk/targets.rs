//! `sdk targets`: GPU families and their targets.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::{Exit, Format, OutputFormat, Shell};
use crate::cli::load;
use crate::compat::Compat;
use crate::compat::rows::FamilyRow;
use crate::diagnostic::Diagnostic;
use crate::sdk::{self, TargetList};
use crate::sys;

/// List GPU families and their targets, or the GPUs of this machine
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  rock-matrix sdk targets --gfx gfx94X-dcgpu,gfx110X-dgpu    targets of two families
  rock-matrix sdk targets --detect                           GPUs of this machine
  rock-matrix sdk targets                                    all families and their targets
  rock-matrix sdk targets --targets-file TheRock/cmake/therock_amdgpu_targets.cmake")]
pub(super) struct Args {
    /// Families or targets to list, separated by commas or semicolons
    #[arg(long, aliases = ["gpu", "family"], value_name = "LIST")]
    gfx: Option<String>,
    /// Detect the GPUs of this machine
    ///
    /// They are read from the kernel.
    #[arg(long, conflicts_with_all = ["gfx", "targets_file"])]
    detect: bool,
    #[command(flatten)]
    families: FamiliesFrom,
    #[command(flatten)]
    format: OutputFormat,
}

// The source of GPU families. A doc comment would become the description of the command.
#[derive(Debug, clap::Args)]
pub(super) struct FamiliesFrom {
    /// Read GPU families from this file instead of the built-in table
    ///
    /// The file is `cmake/therock_amdgpu_targets.cmake` of a ROCm/TheRock checkout. Use it for GPUs
    /// that the built-in table does not have yet.
    #[arg(long, value_name = "FILE")]
    targets_file: Option<PathBuf>,
}

impl FamiliesFrom {
    /// Returns the families.
    ///
    /// # Errors
    /// If the file cannot be read, or declares no targets.
    pub(super) fn read<'c>(&self, compat: &'c Compat) -> Result<Cow<'c, [FamilyRow]>, Diagnostic> {
        match &self.targets_file {
            Some(path) => sdk::read_families(path).map(Cow::Owned),
            None => Ok(Cow::Borrowed(&compat.tables().families)),
        }
    }
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    let rows = match args.families.read(compat) {
        Ok(rows) => rows,
        Err(error) => return shell.report(&[error]),
    };
    let families: Vec<(String, Vec<String>)> = match &args.gfx {
        _ if args.detect => {
            let found = sys::read_topology(Path::new("/")).gpus;
            vec![(
                "here".to_owned(),
                found.iter().map(|gpu| gpu.target.to_string()).collect(),
            )]
        }
        None => rows
            .iter()
            .map(|row| (row.family.clone(), row.members.clone()))
            .collect(),
        Some(list) => match TargetList::new(list).as_family(&rows) {
            Ok(family) => vec![family],
            Err(error) => return shell.report(&[error]),
        },
    };
    match args.format.get() {
        Format::Human => {
            let line = |(family, targets): &(String, Vec<String>)| {
                format!("{family}: {}\n", targets.join(" "))
            };
            shell.print(&families.iter().map(line).collect::<String>())
        }
        Format::Json => {
            let listed: serde_json::Map<_, _> = families
                .into_iter()
                .map(|(family, targets)| (family, json!(targets)))
                .collect();
            shell.print(&format!(
                "{:#}\n",
                json!({"version": 1, "families": listed})
            ))
        }
    }
}
