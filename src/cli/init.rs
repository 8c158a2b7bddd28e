//! `init`: a matrix file and the workflow of it to begin with.

use std::path::{Path, PathBuf};

use super::{Exit, Shell, documents, load};
use crate::compat::Compat;
use crate::diagnostic::{Sink, Source};
use crate::plan::Options;
use crate::{render, sys};

/// The matrix file that this project builds from itself.
const OWN: &str = include_str!("../../matrices/flash-attn.yaml");
/// What begins the line after which nothing is for other repositories.
const OWN_ALONE: &str = "  # From here on for this repository alone";
/// Where it is written.
const MATRIX_PATH: &str = "matrices/flash-attn.yaml";
/// Where its workflow is written.
const WORKFLOW_PATH: &str = ".github/workflows/wheels.yml";

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

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let workflow = match workflow(shell) {
        Ok(workflow) => workflow,
        Err(exit) => return exit,
    };
    let mut written = 0;
    for (path, text) in [(MATRIX_PATH, matrix()), (WORKFLOW_PATH, &workflow)] {
        if path == WORKFLOW_PATH && !sys::exists(&args.dir.join(path)) && !is_alone(&args.dir) {
            shell.say(&format!("the workflow of your matrix files is written by {}", written_by()));
            continue;
        }
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
        shell.say(&format!("next: edit {MATRIX_PATH}, then `rock-matrix check`, `rock-matrix plan` and"));
        shell.say(&written_by());
    }
    Exit::Done
}

/// The matrix file that is written: this project's, without what is for its own repository.
fn matrix() -> &'static str {
    OWN.split(OWN_ALONE).next().unwrap_or(OWN)
}

/// Whether the matrix files are the one that is written here.
fn is_alone(dir: &Path) -> bool {
    let files = sys::files_with_extension(&dir.join("matrices"), &["yaml", "yml"]).unwrap_or_default();
    files.len() == 1 && sys::read_text(&dir.join(MATRIX_PATH), 1 << 20).is_ok_and(|text| text == matrix())
}

/// The command that writes the workflow again.
fn written_by() -> String {
    format!("`rock-matrix render workflow --out {WORKFLOW_PATH}`")
}

/// What `render workflow` writes for the matrix file; why it cannot is told.
fn workflow(shell: &Shell) -> Result<String, Exit> {
    let compat = load::compat(shell)?;
    let mut sink = Sink::new();
    let rendered = rendered(compat, shell, &mut sink);
    // What is only worth knowing is told where the workflow is rendered again.
    if sink.has_errors() || rendered.is_err() {
        shell.report(&sink.finish());
        return Err(Exit::Fault);
    }
    rendered
}

fn rendered(compat: &Compat, shell: &Shell, sink: &mut Sink) -> Result<String, Exit> {
    let source = Source::new(MATRIX_PATH, matrix());
    let matrix = documents::matrix(shell, compat, &source, sink)?.ok_or(Exit::Fault)?;
    let matrices = [matrix];
    let plan = load::plan(shell, &matrices, compat, &Options::default(), sink).ok_or(Exit::Fault)?;
    let text = |path: &PathBuf| path.display().to_string();
    let (facts, recipes) = (shell.folders.compat.as_ref().map(text), shell.folders.recipes.as_ref().map(text));
    let sources = super::render::sources(&plan, &matrices, compat);
    let words = render::Words {
        sources: &sources,
        generator: super::render::GENERATOR,
        files: &[],
        out: WORKFLOW_PATH,
        compat: facts.as_deref(),
        recipes: recipes.as_deref(),
    };
    render::workflow(&plan, compat, &words, sink).ok_or(Exit::Fault)
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
