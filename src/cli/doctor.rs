//! `doctor`: what this machine has, and what stands in the way of building and running wheels.

mod attention;

use std::path::PathBuf;

use super::{Exit, Format, Shell, load};
use crate::codes::host as codes;
use crate::compat::Compat;
use crate::diagnostic::Diagnostic;
use crate::doctor::BuildMachine;
use crate::sys::{self, HostRoots};
use crate::{doctor, host};

#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Exits with 0, or with 3 when something is wrong with the machine. Builds need no GPU, so having none
is not wrong.

Examples:
  rock-matrix doctor                             what this machine has
  rock-matrix doctor --format json               the same for programs
  rock-matrix doctor --sysfs-root saved-machine  GPUs of a machine whose /sys/class/kfd was copied
  rock-matrix doctor attention --arch gfx1151    the attention library that torch takes on a GPU
  rock-matrix doctor --platform windows --folder C:/b/pytorch --ninja 1.12.1
                                                 what keeps another machine from building torch"
)]
pub(super) struct Args {
    #[command(subcommand)]
    command: Option<Command>,
    /// Read the GPUs from DIR/sys instead of /sys
    #[arg(long, value_name = "DIR")]
    sysfs_root: Option<PathBuf>,
    /// The system that torch is built on; of another than this machine's only what is given is
    /// judged
    #[arg(long, value_name = "SYSTEM", default_value = "linux", value_parser = ["linux", "windows"], help_heading = "Builds")]
    platform: String,
    /// The path of the Python that builds [default: python3 of the PATH]
    #[arg(long, value_name = "PATH", help_heading = "Builds")]
    python: Option<String>,
    /// The folder that torch is built in [default: this one]
    #[arg(long, value_name = "PATH", help_heading = "Builds")]
    folder: Option<String>,
    /// The version of ninja [default: what ninja of the PATH says]
    #[arg(long, value_name = "VERSION", help_heading = "Builds")]
    ninja: Option<String>,
    /// What to print
    #[arg(long, value_enum, default_value = "human", value_name = "FORMAT")]
    format: Format,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Attention(attention::Args),
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    if let Some(Command::Attention(args)) = &args.command {
        return attention::run(args, shell);
    }
    if let Some(folder) = args
        .sysfs_root
        .as_ref()
        .filter(|folder| !folder.join("sys").is_dir())
    {
        let missing = format!("`{}` holds no `sys` folder", folder.display());
        return shell.report(&[
            Diagnostic::new(&codes::NO_SUCH_TREE, missing).help("give the folder above `sys`")
        ]);
    }
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    let facts = facts(args, shell);
    let mut findings = doctor::findings(&facts);
    findings.extend(for_builds(args, &facts, compat, shell));
    let printed = shell.print(&match args.format {
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

/// What stands in the way of building torch: here, or on a machine of another system of which only
/// this much is known.
fn for_builds(
    args: &Args,
    facts: &host::HostFacts,
    compat: &Compat,
    shell: &Shell,
) -> Vec<Diagnostic> {
    let is_here = args.platform == "linux";
    let here = shell.environment.current_dir.display().to_string();
    let python = facts.python.as_ref().map(|python| python.program.as_str());
    doctor::build_findings(
        compat,
        &BuildMachine {
            platform: &args.platform,
            python: args.python.as_deref().or(python.filter(|_| is_here)),
            folder: args
                .folder
                .as_deref()
                .or(Some(here.as_str()).filter(|_| is_here)),
            ninja: args
                .ninja
                .as_deref()
                .or(facts.ninja_version.as_deref().filter(|_| is_here)),
        },
    )
}
