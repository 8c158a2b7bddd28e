//! `init`: creates a matrix file and its workflow.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::error::ErrorKind;

use super::completed_value::{self, CompletedValue};
use super::wheel::fail;
use super::{Exit, Shell, load, misused};
use crate::codes::plan as codes;
use crate::compat::Compat;
use crate::config::Leaves;
use crate::config::recipe::{RecipeDocument, embedded_names};
use crate::config::syntax::is_name;
use crate::diagnostic::{Diagnostic, Sink, SourceText, shell_quoted};
use crate::names::{DistributionName, DistributionNameError};
use crate::plan::PlanInputs;
use crate::plan::starter::{
    self, MAX_PROJECT_FILE_BYTES, ProjectFiles, StarterMatrix, StarterRequest,
};
use crate::plan::workspace::{DataDirectories, MatrixFile, Workspace, WorkspaceOptions};
use crate::{render, sys};

/// The path of the workflow.
const WORKFLOW_PATH: &str = ".github/workflows/wheels.yml";
/// The directory of tables that commands use without an option.
const COMPAT_PATH: &str = "matrices/compat";
/// The directory of recipes that commands use without an option.
const RECIPES_PATH: &str = "matrices/recipes";

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Starts from the Python project in the directory (pyproject.toml or setup.py) or, without one, from
flash-attn with Triton kernels, which builds in minutes. Distributions of built-in recipes, such as
torch, are built from source. Another package on PyPI, given by name and version, gets a recipe that
builds its source distribution. Shows the choice and its reason. `recipe new NAME` writes a recipe
for a package of your own, which --recipe selects.

Never overwrites existing files.

Examples:
  rock-matrix init                      start from the project in this directory
  rock-matrix init --recipe flash-attn  build flash-attn, even if there is another project
  rock-matrix init --recipe torch       build torch from source
  rock-matrix init --recipe my-kernels  use the recipe matrices/recipes/my-kernels.yaml
  rock-matrix init --distribution my-kernels==1.2
                                        build the source distribution of a package on PyPI
  rock-matrix init my-wheels            use another directory, created if missing
  rock-matrix init --set version=1.2    set the version of a project that computes it")]
pub(super) struct Args {
    /// Root directory of the repository, created if missing
    #[arg(default_value = ".")]
    dir: PathBuf,
    /// Project to build, such as my-kernels or my-kernels==1.2 [default: that of the directory]
    #[arg(long, value_name = "NAME", value_parser = requested_distribution)]
    distribution: Option<RequestedDistribution>,
    /// Recipe to build it with: a built-in one (`recipe list`), or one in `matrices/recipes`
    #[arg(
        long,
        value_name = "NAME",
        value_parser = CompletedValue(completed_value::recipes),
        hide_possible_values = true
    )]
    recipe: Option<String>,
    /// Set the version of a package, or of a project whose files do not state it: `version=1.2`
    #[arg(long, value_name = "NAME=VALUE", value_parser = version_setting)]
    set: Option<String>,
}

impl Args {
    fn distribution(&self) -> Option<&DistributionName> {
        self.distribution.as_ref().map(|requested| &requested.name)
    }

    /// Returns the version of the project, if one is given.
    ///
    /// # Errors
    /// The exit code of the command, after reporting that it is given twice.
    fn version(&self) -> Result<Option<String>, Exit> {
        let requested = self.distribution.as_ref();
        match (requested.and_then(|one| one.version.clone()), &self.set) {
            (Some(_), Some(_)) => Err(misused(
                &["init"],
                ErrorKind::ArgumentConflict,
                "the version is given twice: in `--distribution` and with `--set`",
            )),
            (version, set) => Ok(version.or_else(|| set.clone())),
        }
    }
}

/// A distribution, or one version of it: `my-kernels` or `my-kernels==1.2`.
#[derive(Debug, Clone)]
struct RequestedDistribution {
    name: DistributionName,
    version: Option<String>,
}

/// Reads `NAME` or `NAME==VERSION`.
fn requested_distribution(text: &str) -> Result<RequestedDistribution, DistributionNameError> {
    let (name, version) = match text.split_once("==") {
        Some((name, version)) if !version.is_empty() => (name, Some(version.to_owned())),
        _ => (text, None),
    };
    Ok(RequestedDistribution {
        name: name.parse()?,
        version,
    })
}

/// Reads `version=VERSION`.
fn version_setting(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some(("version", version)) if !version.is_empty() => Ok(version.to_owned()),
        _ => Err(
            "only the version can be set, as `version=1.2`; edit other values in the matrix file"
                .to_owned(),
        ),
    }
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    ended(args, shell).unwrap_or_else(|exit| exit)
}

fn ended(args: &Args, shell: &Shell) -> Result<Exit, Exit> {
    let version = args.version()?;
    let directories = data_directories(args, shell);
    let compat = load::compat_in(&directories, shell)?;
    if let Some(error) = recipe_as_directory(args, shell) {
        return Err(shell.report(&[error]));
    }
    let is_new = !sys::exists(&args.dir);
    let files = project_files(&args.dir).map_err(|error| machine(shell, error))?;
    let request = StarterRequest {
        distribution: args.distribution().cloned(),
        recipe: args.recipe.clone(),
        own_recipe: own_recipe(args, &files, &directories, shell)?,
        version,
        directory: (args.dir != Path::new(".")).then(|| args.dir.display().to_string()),
    };
    let starter =
        starter::choose(&files, &request, compat).map_err(|fault| shell.report(&[fault]))?;
    let path = format!("matrices/{}.yaml", starter.distribution);
    let workflow = workflow(&path, &starter, compat, &directories, shell)?;
    let has_choice = args.recipe.is_some() || args.distribution.is_some();
    let new_name = args.dir.to_str().filter(|name| is_new && is_name(name));
    if let (false, Some(name)) = (has_choice, new_name) {
        shell.say(&format!(
            "`{name}` is a new directory; to start a package of your own, run `rock-matrix recipe \
             new {name}`, then `rock-matrix init --recipe {name} --set version=0.1.0` in it; \
             `rock-matrix init --distribution {name} --set version=VERSION` starts with the \
             package of this name on PyPI"
        ));
    }
    // An existing matrix file is kept, and may have other values.
    if !sys::exists(&args.dir.join(&path)) {
        shell.say(&starter.why);
    }
    let options: String = load::data_options(shell)
        .iter()
        .map(|word| format!(" {}", shell_quoted(word)))
        .collect();
    let mut written = 0_usize;
    if let Some(text) = &starter.recipe {
        let path = recipe_path(args, &starter.distribution, shell);
        written += usize::from(write(&path, &path.display().to_string(), text, shell)?);
    }
    let workflow = workflow.as_ref().map(|text| (WORKFLOW_PATH, text));
    for (path, text) in [(path.as_str(), &starter.matrix)]
        .into_iter()
        .chain(workflow)
    {
        if path == WORKFLOW_PATH
            && !sys::exists(&args.dir.join(path))
            && !is_alone(&args.dir, &starter)
        {
            shell.say(&format!(
                "create the workflow of your matrix files with {}",
                written_by(&options)
            ));
            continue;
        }
        let shown = shown(&args.dir, path);
        written += usize::from(write(&args.dir.join(path), &shown, text, shell)?);
    }
    if written > 0 {
        let is_here = args.dir == Path::new(".");
        let enter = if is_here {
            String::new()
        } else {
            format!("`cd {}`, ", shell_quoted(&args.dir))
        };
        shell.say(&format!(
            "next: {enter}edit {path}, then `rock-matrix check{options}`, \
             `rock-matrix plan{options}` and"
        ));
        shell.say(&match workflow {
            Some(_) => written_by(&options),
            None => format!("`rock-matrix build --all{options}`"),
        });
    }
    Ok(Exit::Done)
}

fn machine(shell: &Shell, error: sys::FileError) -> Exit {
    shell.report(&[error.into()]);
    Exit::Machine
}

/// Returns the error for the name of a recipe in place of the directory.
fn recipe_as_directory(args: &Args, shell: &Shell) -> Option<Diagnostic> {
    let name = args.dir.to_str().filter(|name| is_name(name))?;
    let is_own = sys::exists(&shell.directories.recipe_path(name));
    let is_recipe = is_own || embedded_names().any(|known| known == name);
    if !is_recipe || sys::exists(&args.dir) {
        return None;
    }
    let start = if is_own || starter::is_starter_recipe(name) {
        format!("`rock-matrix init --recipe {name}` starts with it in this directory")
    } else {
        format!("`rock-matrix recipe show {name}` describes it")
    };
    let message =
        format!("`{name}` is the name of a recipe, and there is no directory of this name");
    Some(Diagnostic::new(&codes::NO_STARTER, message).help(format!(
        "{start}; `rock-matrix init ./{name}` creates the directory"
    )))
}

/// Returns the path of a new recipe: in the directory of `--recipes`, otherwise in
/// `matrices/recipes` of the project.
fn recipe_path(args: &Args, name: &str, shell: &Shell) -> PathBuf {
    match shell.directories.named_recipes() {
        Some(directory) => directory.join(format!("{name}.yaml")),
        None if args.dir == Path::new(".") => shell.directories.recipe_path(name),
        None => args.dir.join(RECIPES_PATH).join(format!("{name}.yaml")),
    }
}

/// Returns the directories of data that commands use in the directory of the project: the named
/// ones, and its overlays.
fn data_directories(args: &Args, shell: &Shell) -> DataDirectories {
    if args.dir == Path::new(".") {
        return shell.directories.clone();
    }
    let mut directories = DataDirectories::discover(&args.dir);
    if let Some(compat) = shell.directories.named_compat() {
        directories = directories.with_compat(compat.to_owned());
    }
    if let Some(recipes) = shell.directories.named_recipes() {
        directories = directories.with_recipes(recipes.to_owned());
    }
    directories
}

/// Returns the requested recipe from the project's directory of recipes, if it is there. Without a
/// project, the recipe of a package has its name.
fn own_recipe(
    args: &Args,
    files: &ProjectFiles,
    directories: &DataDirectories,
    shell: &Shell,
) -> Result<Option<Arc<RecipeDocument>>, Exit> {
    let is_own = |name: &&str| sys::exists(&recipe_path(args, name, shell));
    let package = args.distribution().filter(|_| !files.is_project());
    let package = package.map(DistributionName::normalized);
    let requested = args.recipe.as_deref().or(package.as_deref());
    let Some(name) = requested.filter(is_own) else {
        return Ok(None);
    };
    let (recipes, _) = directories
        .load_recipes()
        .map_err(|errors| fail(shell, &errors))?;
    recipes
        .whole(name)
        .transpose()
        .map_err(|fault| shell.report(&[fault]))
}

/// Reads the files that describe a Python project, if the directory has them.
pub(super) fn project_files(dir: &Path) -> Result<ProjectFiles, sys::FileError> {
    let text = |name: &str| {
        let path = dir.join(name);
        sys::exists(&path)
            .then(|| sys::read_text(&path, MAX_PROJECT_FILE_BYTES))
            .transpose()
    };
    let mut modules = Vec::new();
    for directory in [dir.to_owned(), dir.join("src")] {
        for entry in sys::read_entries(&directory)? {
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

/// Whether the directory's only matrix file is the generated one.
fn is_alone(dir: &Path, starter: &StarterMatrix) -> bool {
    let files = sys::files_with_extension(&dir.join(crate::config::MATRICES), &["yaml", "yml"])
        .unwrap_or_default();
    let own = dir
        .join(crate::config::MATRICES)
        .join(format!("{}.yaml", starter.distribution));
    files.len() == 1
        && sys::read_text(&own, MAX_PROJECT_FILE_BYTES).is_ok_and(|text| text == starter.matrix)
}

/// Returns the command that generates the workflow.
fn written_by(options: &str) -> String {
    format!("`rock-matrix render workflow --out {WORKFLOW_PATH}{options}`")
}

/// Returns the workflow that `render workflow` generates for the matrix file, or reports why it
/// cannot. `None` for a recipe that installs a tree, which no workflow builds.
fn workflow(
    path: &str,
    starter: &StarterMatrix,
    compat: &Compat,
    directories: &DataDirectories,
    shell: &Shell,
) -> Result<Option<String>, Exit> {
    let mut sink = Sink::new();
    let rendered = rendered(path, starter, compat, directories, shell, &mut sink);
    // Warnings are left to later runs of `render workflow`.
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
    directories: &DataDirectories,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<Option<String>, Exit> {
    let source = SourceText::new(path, &*starter.matrix);
    let new_recipes: Vec<SourceText> = starter
        .recipe
        .iter()
        .map(|text| SourceText::new(format!("{}.yaml", starter.distribution), text.as_str()))
        .collect();
    let options = WorkspaceOptions::new(compat, directories, &shell.environment);
    let workspace = load::collected(
        Workspace::from_matrix(&source, &new_recipes, &options),
        sink,
    )?;
    let plan = load::plan(&workspace, &PlanInputs::default(), sink)?;
    let is_tree = |matrix: &MatrixFile| matrix.recipe().leaves == Leaves::Tree;
    if workspace.matrices().iter().all(is_tree) {
        return Ok(None);
    }
    let text = |path: &Path| path.display().to_string();
    let (facts, recipes) = (
        directories.named_compat().map(text),
        directories.named_recipes().map(text),
    );
    let has_compat_overlay = directories.compat_overlay().is_some();
    let is_new_overlay = starter.recipe.is_some() && recipes.is_none();
    let has_recipe_overlay = is_new_overlay || directories.recipe_overlay().is_some();
    let sources = super::render::sources(&plan, workspace.matrices(), compat);
    let words = render::WorkflowOverrides {
        sources: &sources,
        generator: super::render::GENERATOR,
        files: &[],
        out: WORKFLOW_PATH,
        compat: facts.as_deref(),
        recipes: recipes.as_deref(),
        compat_overlay: has_compat_overlay.then_some(COMPAT_PATH),
        recipe_overlay: has_recipe_overlay.then_some(RECIPES_PATH),
    };
    let workflow = render::workflow(&plan, compat, &words, sink);
    workflow.map(Some).ok_or(Exit::Fault)
}

/// Writes a file unless it exists, and prints its path; returns whether it was written.
///
/// # Errors
/// The exit code of the command, after reporting the error.
fn write(path: &Path, shown: &str, text: &str, shell: &Shell) -> Result<bool, Exit> {
    if sys::exists(path) {
        shell.say(&format!("kept {shown}, which already exists"));
        return Ok(false);
    }
    sys::write_atomic(path, text.as_bytes()).map_err(|error| machine(shell, error))?;
    shell.say(&format!("wrote {shown}"));
    Ok(true)
}

fn shown(dir: &Path, path: &str) -> String {
    if dir == Path::new(".") {
        path.to_owned()
    } else {
        dir.join(path).display().to_string()
    }
}
