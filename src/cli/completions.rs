//! `completions`: scripts that let a shell complete our command line.

use super::{Exit, Shell};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rock-matrix completions bash > ~/.local/share/bash-completion/completions/rock-matrix
  rock-matrix completions zsh > ~/.zfunc/_rock-matrix
  rock-matrix completions fish > ~/.config/fish/completions/rock-matrix.fish")]
pub(super) struct Args {
    /// The shell
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
    // clap_complete 4.6 writes the hyphen of the program's name in two ways, so that no branch of
    // its own script is taken.
    shell.print_data(&script.replace("rock__subcmd__matrix", "rock__matrix"))
}
