//! `init`: a matrix file and the workflow of it to begin with.

use std::path::{Path, PathBuf};

use super::{Exit, Shell, documents, load};
use crate::compat::Compat;
use crate::diagnostic::{Sink, SourceText, shell_quoted};
use crate::names::DistributionName;
use crate::plan::PlanInputs;
use crate::plan::starter::{self, ProjectFiles, StarterMatrix, StarterRequest};
use crate::{render, sys};

/// Where the workflow is written.
const WORKFLOW_PATH: &str = ".github/workflows/wheels.yml";
/// Size limit of a project's file.
const MOST_BYTES: u64 = 1 << 20;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Starts from the Python project of the folder (pyproject.toml or setup.py), where there is one, else
from flash-attn with Triton's kernels, which builds in minutes. Says which, and why.

Nothing is overwritten: a file that is there already stays as it is.

Examples:
  rock-matrix init                           in this folder
  rock-matrix init my-wheels                 in another one, made if it is missing
  rock-matrix init --recipe flash-attn       flash-attn, whatever is in the folder
  rock-matrix init --set version=1.2         for a project whose version is computed")]
pub(super) struct Args {
    /// The repository's folder
    #[arg(default_value = ".")]
    dir: PathBuf,
    /// The project to build [default: that of the folder, else flash-attn]
    #[arg(long, value_name = "NAME")]
    distribution: Option<DistributionName>,
    /// The recipe to build it with: hip-extension or flash-attn
    #[arg(long, value_name = "NAME")]
    recipe: Option<String>,
    /// Set the version of a project whose files do not state it, such as version=1.2
    #[arg(long, value_name = "NAME=VALUE", value_parser = version_setting)]
    set: Option<String>,
}

/// Reads `version=VERSION`.
fn version_setting(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some(("version", version)) if !version.is_empty() => Ok(version.to_owned()),
        _ => Err("only the version can be set: `version=1.2`".to_owned()),
    }
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    ended(args, shell).unwrap_or_else(|exit| exit)
}

fn ended(args: &Args, shell: &Shell) -> Result<Exit, Exit> {
    let compat = load::compat(shell)?;
    let files = project_files(&args.dir).map_err(|error| machine(shell, error))?;
    let request = StarterRequest {
        distribution: args.distribution.clone(),
        recipe: args.recipe.clone(),
        version: args.set.clone(),
    };
    let starter =
        starter::choose(&files, &request, compat).map_err(|fault| shell.report(&[fault]))?;
    let path = format!("matrices/{}.yaml", starter.distribution);
    let workflow = workflow(&path, &starter, compat, shell)?;
    shell.say(&starter.why);
    let mut written = 0;
    for (path, text) in [(path.as_str(), &starter.matrix), (WORKFLOW_PATH, &workflow)] {
        if path == WORKFLOW_PATH
            && !sys::exists(&args.dir.join(path))
            && !is_alone(&args.dir, &starter)
        {
            shell.say(&format!(
                "the workflow of your matrix files is written by {}",
                written_by()
            ));
            continue;
        }
        if write(&args.dir.join(path), text).map_err(|error| machine(shell, error))? {
            written += 1;
            shell.say(&format!("wrote {}", shown(&args.dir, path)));
        } else {
            shell.say(&format!(
                "kept {}, which is there already",
                shown(&args.dir, path)
            ));
        }
    }
    if written > 0 {
        let is_here = args.dir == Path::new(".");
        let enter = if is_here {
            String::new()
        } else {
            format!("`cd {}`, ", shell_quoted(&args.dir))
        };
        shell.say(&format!(
            "next: {enter}edit {path}, then `rock-matrix check`, `rock-matrix plan` and"
        ));
        shell.say(&written_by());
    }
    Ok(Exit::Done)
}

fn machine(shell: &Shell, error: sys::FileError) -> Exit {
    shell.report(&[error.into()]);
    Exit::Machine
}

/// Reads the files that describe a Python project, where the folder has them.
fn project_files(dir: &Path) -> Result<ProjectFiles, sys::FileError> {
    let text = |name: &str| {
        let path = dir.join(name);
        sys::exists(&path)
            .then(|| sys::read_text(&path, MOST_BYTES))
            .transpose()
    };
    let mut modules = Vec::new();
    for folder in [dir.to_owned(), dir.join("src")] {
        for entry in sys::read_entries(&folder)? {
            let (path, name) = (
                &entry.path,
                entry
                    .path
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned(),
            );
            match name.strip_suffix(".py") {
                Some(module) => modules.push(module.to_owned()),
                None if sys::exists(&path.join("__init__.py")) => modules.push(name),
                None => {}
            }
        }
    }
    Ok(ProjectFiles {
        pyproject: text("pyproject.toml")?,
        setup_cfg: text("setup.cfg")?,
        setup_py: text("setup.py")?,
        modules,
    })
}

/// Whether the matrix files are the one that is written here.
fn is_alone(dir: &Path, starter: &StarterMatrix) -> bool {
    let files = sys::files_with_extension(&dir.join(crate::config::MATRICES), &["yaml", "yml"])
        .unwrap_or_default();
    let own = dir
        .join(crate::config::MATRICES)
        .join(format!("{}.yaml", starter.distribution));
    files.len() == 1 && sys::read_text(&own, MOST_BYTES).is_ok_and(|text| text == starter.matrix)
}

/// The command that writes the workflow again.
fn written_by() -> String {
    format!("`rock-matrix render workflow --out {WORKFLOW_PATH}`")
}

/// What `render workflow` writes for the matrix file; why it cannot is told.
fn workflow(
    path: &str,
    starter: &StarterMatrix,
    compat: &Compat,
    shell: &Shell,
) -> Result<String, Exit> {
    let mut sink = Sink::new();
    let rendered = rendered(path, starter, compat, shell, &mut sink);
    // What is only worth knowing is told where the workflow is rendered again.
    if sink.has_errors() || rendered.is_err() {
        shell.report(&sink.finish());
        return Err(Exit::Fault);
    }
    rendered
}

fn rendered(
    path: &str,
    starter: &StarterMatrix,
    compat: &Compat,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<String, Exit> {
    let source = SourceText::new(path, &*starter.matrix);
    let matrix = documents::matrix(shell, compat, &source, sink)?.ok_or(Exit::Fault)?;
    let matrices = [matrix];
    let plan =
        load::plan(shell, &matrices, compat, &PlanInputs::default(), sink).ok_or(Exit::Fault)?;
    let text = |path: &PathBuf| path.display().to_string();
    let (facts, recipes) = (
        shell.folders.compat.as_ref().map(text),
        shell.folders.recipes.as_ref().map(text),
    );
    let sources = super::render::sources(&plan, &matrices, compat);
    let words = render::WorkflowOverrides {
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
    if dir == Path::new(".") {
        path.to_owned()
    } else {
        dir.join(path).display().to_string()
    }
}
