//! `explain`: what a diagnostic code means and what to do.

use super::{Exit, Shell};
use crate::diagnostic::registry::host::UNKNOWN_CODE;
use crate::diagnostic::{Code, Diagnostic, nearest::nearest, registry};

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
    let word = word
        .trim_matches(|c: char| "[]: ".contains(c))
        .split(['[', ' '])
        .find(|part| registry::find(part).is_some())
        .unwrap_or(word);
    if let Some(code) = registry::find(word) {
        return shell.print(&page(code));
    }
    let words = registry::all().flat_map(|code| [code.id, code.name]);
    let help = nearest(word, words)
        .map_or_else(|| "`rock-matrix explain` lists them all".to_owned(), |near| format!("did you mean `{near}`?"));
    shell.report(&[Diagnostic::new(&UNKNOWN_CODE, format!("there is no code `{word}`")).help(help)]);
    Exit::Usage
}

fn page(code: &Code) -> String {
    format!("{} {} ({})\n\n{}\n", code.id, code.name, code.severity, code.explanation)
}
