//! `completions`: completion scripts for shells.

use super::{Exit, Shell};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rock-matrix completions bash > ~/.local/share/bash-completion/completions/rock-matrix
  rock-matrix completions zsh > ~/.zfunc/_rock-matrix")]
pub(super) struct Args {
    /// Shell to generate the script for
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(
        args.shell,
        &mut <super::Cli as clap::CommandFactory>::command(),
        "rock-matrix",
        &mut script,
    );
    let script = String::from_utf8_lossy(&script);
    // clap_complete 4.6 escapes the hyphen of the program's name in two ways, so that no branch of
    // its own script would match.
    shell.print_data(&script.replace("rock__subcmd__matrix", "rock__matrix"))
}
