//! `completions`: completion scripts for shells.

use std::fmt::Write as _;

use clap::{Command, CommandFactory as _};
use clap_complete::Shell as ShellKind;

use super::completed_value::JOB_IDS;
use super::{Exit, Shell};

/// The command in scripts that prints the IDs of the jobs in `matrices/`.
const LIST_JOBS: &str = "rock-matrix plan --format ids 2>/dev/null";

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
There is no script for other shells, such as tcsh; `rock-matrix help --all` lists all commands.

Examples:
  rock-matrix completions bash > ~/.local/share/bash-completion/completions/rock-matrix
  rock-matrix completions zsh > ~/.zfunc/_rock-matrix")]
pub(super) struct Args {
    /// Shell to generate the script for
    #[arg(value_enum)]
    shell: ShellKind,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let mut script = Vec::new();
    let mut command = super::Cli::command();
    clap_complete::generate(args.shell, &mut command, "rock-matrix", &mut script);
    let script = String::from_utf8_lossy(&script);
    // clap_complete 4.6 escapes the hyphen of the program's name in two ways, so that no branch of
    // its own script would match.
    let script = script.replace("rock__subcmd__matrix", "rock__matrix");
    shell.print_data(&with_job_ids(script, args.shell, &command))
}

/// Makes a script list the jobs of the directory in which it completes.
fn with_job_ids(script: String, shell: ShellKind, command: &Command) -> String {
    match shell {
        ShellKind::Bash => script.replace(
            JOB_IDS,
            &format!("$([[ ${{cur}} == -* ]] || {LIST_JOBS})"),
        ),
        ShellKind::Zsh => script.replace(
            &format!("({JOB_IDS})"),
            &format!("{{compadd -- $({LIST_JOBS}); _files}}"),
        ),
        // The generator for fish leaves out positional arguments.
        ShellKind::Fish => {
            paths_with_jobs(command, &[])
                .iter()
                .fold(script, |mut script, path| {
                    let condition = path.join("; and __fish_seen_subcommand_from ");
                    let _ = writeln!(
                        script,
                        "complete -c rock-matrix -n \"__fish_rock_matrix_using_subcommand {condition}\" -a \"({LIST_JOBS})\""
                    );
                    script
                })
        }
        _ => script,
    }
}

/// Returns the commands with a positional argument that takes IDs of jobs.
fn paths_with_jobs(command: &Command, path: &[String]) -> Vec<Vec<String>> {
    let takes_jobs = command.get_positionals().any(|argument| {
        let values = argument.get_possible_values();
        values.iter().any(|value| value.get_name() == JOB_IDS)
    });
    let mut paths = Vec::new();
    if takes_jobs {
        paths.push(path.to_vec());
    }
    for inner in command.get_subcommands() {
        let path = [path, &[inner.get_name().to_owned()]].concat();
        paths.extend(paths_with_jobs(inner, &path));
    }
    paths
}
