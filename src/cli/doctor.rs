//! `doctor`: what this machine has, and what stands in the way of building and running wheels.

use std::path::PathBuf;

use super::{Exit, Format, Shell};
use crate::diagnostic::Diagnostic;
use crate::diagnostic::registry::host as codes;
use crate::sys::{self, HostRoots};
use crate::{doctor, host};

/// Show GPUs, devices, engines, limits and disk of this machine, and what is wrong with them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Exits with 0, or with 3 when something is wrong with the machine. Builds need no GPU, so having none
is not wrong.

Examples:
  rock-matrix doctor                             what this machine has
  rock-matrix doctor --format json               the same for programs
  rock-matrix doctor --sysfs-root saved-machine  GPUs of a machine whose /sys/class/kfd was copied")]
pub(super) struct Args {
    /// Read the GPUs from DIR/sys instead of /sys
    #[arg(long, value_name = "DIR")]
    sysfs_root: Option<PathBuf>,
    /// What to print
    #[arg(long, value_enum, default_value = "human", value_name = "FORMAT")]
    format: Format,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    if let Some(folder) = args.sysfs_root.as_ref().filter(|folder| !folder.join("sys").is_dir()) {
        let missing = format!("`{}` holds no `sys` folder", folder.display());
        return shell.report(&[Diagnostic::new(&codes::NO_SUCH_TREE, missing).help("give the folder above `sys`")]);
    }
    let facts = facts(args, shell);
    let findings = doctor::findings(&facts);
    let printed = shell.print(&match args.format {
        Format::Human => doctor::human(&facts),
        Format::Json => doctor::json(&facts, &findings),
    });
    match shell.report(&findings) {
        Exit::Fault => Exit::Machine,
        _ => printed,
    }
}

fn facts(args: &Args, shell: &Shell) -> host::HostFacts {
    let roots = HostRoots { sysfs: args.sysfs_root.clone(), ..HostRoots::default() };
    let temporary = PathBuf::from(shell.environment.get("TMPDIR").unwrap_or("/tmp"));
    let folders = [shell.environment.current_dir.clone(), temporary];
    sys::with_programs(sys::host_facts(&roots, &shell.environment, &folders), &shell.environment)
}
