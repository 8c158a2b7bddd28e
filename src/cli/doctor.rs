//! `doctor`: the properties of this machine, and problems that keep it from building or running
//! wheels.

use std::path::PathBuf;

use super::{Exit, Format, OutputFormat, Shell, load};
use crate::codes::host as codes;
use crate::diagnostic::Diagnostic;
use crate::doctor::BuildMachine;
use crate::sys::{self, HostRoots};
use crate::{doctor, host};

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Exits with 3 if the machine has a problem. A missing GPU is not a problem, because builds need none.

Examples:
  rock-matrix doctor                          check this machine
  rock-matrix doctor --format json            print the result as JSON")]
pub(super) struct Args {
    /// Read the GPUs from DIR/sys instead of /sys
    ///
    /// For example for a copy of another machine's /sys/class/kfd in DIR/sys/class/kfd.
    #[arg(long, value_name = "DIR")]
    sysfs_root: Option<PathBuf>,
    /// Operating system that torch is built on
    ///
    /// For another system than this machine's, only the properties given as options are checked.
    #[arg(
        long,
        value_name = "SYSTEM",
        default_value = "linux",
        value_parser = ["linux", "windows"],
        help_heading = "Builds"
    )]
    platform: String,
    /// Path of the Python for builds [default: python3 on PATH]
    #[arg(long, value_name = "PATH", help_heading = "Builds")]
    python: Option<String>,
    /// Directory that torch is built in [default: the working directory]
    #[arg(
        long = "directory",
        alias = "folder",
        value_name = "DIR",
        help_heading = "Builds"
    )]
    folder: Option<String>,
    /// Version of ninja [default: that of ninja on PATH]
    #[arg(long, value_name = "VERSION", help_heading = "Builds")]
    ninja: Option<String>,
    #[command(flatten)]
    format: OutputFormat,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    if let Some(folder) = args
        .sysfs_root
        .as_ref()
        .filter(|folder| !folder.join("sys").is_dir())
    {
        let missing = format!("`{}` has no directory `sys`", folder.display());
        let fault = Diagnostic::new(&codes::NO_SUCH_TREE, missing);
        return shell.report(&[fault.help("give the parent directory of `sys`")]);
    }
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    let facts = facts(args, shell);
    let mut findings = doctor::findings(&facts);
    let current_dir = shell.environment.current_dir.display().to_string();
    let machine = BuildMachine {
        platform: &args.platform,
        python: args.python.as_deref(),
        folder: args.folder.as_deref(),
        ninja: args.ninja.as_deref(),
    };
    let machine = machine.complete(&facts, &current_dir);
    findings.extend(doctor::build_findings(compat, &machine));
    let printed = shell.print(&match args.format.get() {
        Format::Human => doctor::human(&facts, compat),
        Format::Json => doctor::json(&facts, &findings),
    });
    match shell.report(&findings) {
        Exit::Fault => Exit::Machine,
        _ => printed,
    }
}

fn facts(args: &Args, shell: &Shell) -> host::HostFacts {
    let roots = HostRoots {
        sysfs: args.sysfs_root.clone(),
        ..HostRoots::default()
    };
    let temporary = PathBuf::from(shell.environment.get("TMPDIR").unwrap_or("/tmp"));
    let folders = [shell.environment.current_dir.clone(), temporary];
    sys::add_program_versions(
        sys::read_host_facts(&roots, &shell.environment, &folders),
        &shell.environment,
    )
}
