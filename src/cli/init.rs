//! `init`: a matrix file and a workflow to begin with.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{Exit, Shell};
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, registry::facts as codes};
use crate::{sys, template};

/// The matrix file that is written: the one that this project builds from itself.
const MATRIX: &str = include_str!("../../matrices/flash-attn.yaml");
/// The workflow that is written, with the pinned actions to be filled in.
const WORKFLOW: &str = include_str!("../../templates/init/wheels.yml");

/// Write a matrix file and a workflow to begin with
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Nothing is overwritten: a file that is there already stays as it is.

Examples:
  rock-matrix init            in this folder
  rock-matrix init my-wheels  in another one, made if it is missing")]
pub(super) struct Args {
    /// The repository's folder
    #[arg(default_value = ".")]
    dir: PathBuf,
}

#[derive(Serialize)]
struct Pins<'a> {
    checkout: Pin<'a>,
}

#[derive(Serialize)]
struct Pin<'a> {
    sha: &'a str,
    version: &'a str,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let compat = match super::load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    let Some(workflow) = workflow(&compat) else {
        let text = "the facts pin no `actions/checkout`, so no workflow can be written";
        let help = "leave out `--compat`, or add the action to the folder's tables";
        return shell.report(&[Diagnostic::new(&codes::NO_TABLES, text).help(help)]);
    };
    let mut written = 0;
    for (path, text) in [("matrices/flash-attn.yaml", MATRIX), (".github/workflows/wheels.yml", &workflow)] {
        match write(&args.dir.join(path), text) {
            Ok(true) => {
                written += 1;
                shell.say(&format!("wrote {}", shown(&args.dir, path)));
            }
            Ok(false) => shell.say(&format!("kept {}, which is there already", shown(&args.dir, path))),
            Err(error) => {
                shell.report(&[error.into()]);
                return Exit::Machine;
            }
        }
    }
    if written > 0 {
        shell.say("next: edit matrices/flash-attn.yaml, then `rock-matrix check` and `rock-matrix plan`");
        shell.say(
            "note: the workflow uses org/rock-action@v1, which is coming; until then it runs only when started by hand",
        );
    }
    Exit::Done
}

/// Writes a file that is not there; tells whether it did.
fn write(path: &Path, text: &str) -> Result<bool, sys::FileError> {
    if sys::exists(path) {
        return Ok(false);
    }
    sys::write_atomic(path, text.as_bytes()).map(|()| true)
}

fn shown(dir: &Path, path: &str) -> String {
    if dir == Path::new(".") { path.to_owned() } else { dir.join(path).display().to_string() }
}

fn workflow(compat: &Compat) -> Option<String> {
    let row = compat.tables().actions.iter().find(|row| row.name == "actions/checkout")?;
    let pins = Pins { checkout: Pin { sha: &row.sha, version: &row.version } };
    template::render("templates/init/wheels.yml", WORKFLOW, &pins).ok()
}
