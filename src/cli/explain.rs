//! `explain`: what a diagnostic code means and what to do.

use super::{Exit, Shell};
use crate::diagnostic::{Code, nearest::nearest, registry};

/// Show what a diagnostic code means and what to do
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rock-matrix explain M001             by number
  rock-matrix explain duplicate-key    by name
  rock-matrix explain                  every code there is")]
pub(super) struct Args {
    /// A code such as M001, or its name
    code: Option<String>,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let Some(word) = &args.code else {
        let lines: String =
            registry::all().map(|code| format!("{}  {:<8} {}\n", code.id, code.severity, code.name)).collect();
        return shell.print(&lines);
    };
    // People paste the whole of `error[M001 duplicate-key]`.
    let word = word.trim_matches(|c: char| "[]: ".contains(c)).split(['[', ' ']).find(|part| registry::find(part).is_some()).unwrap_or(word);
    if let Some(code) = registry::find(word) {
        return shell.print(&page(code));
    }
    shell.tell(&format!("error: there is no code `{word}`"));
    let words = registry::all().flat_map(|code| [code.id, code.name]);
    match nearest(word, words) {
        Some(near) => shell.tell(&format!("help: did you mean `{near}`?")),
        None => shell.tell("help: `rock-matrix explain` lists them all"),
    }
    Exit::Usage
}

fn page(code: &Code) -> String {
    format!("{} {} ({})\n\n{}\n", code.id, code.name, code.severity, code.explanation)
}
