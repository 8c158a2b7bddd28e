//! The matrix files of a repository, with the recipes and compatibility tables that they use.
//!
//! Input: paths of matrix files, [directories](DataDirectories) of tables and recipes, and the
//! facts of a machine for `gfx: [host]` and `rocm: [host]`. Output: a [`Workspace`] and its plan,
//! or the [jobs](JobSelection) that a command line selects.
//!
//! Each step returns its value with warnings, or all errors and warnings as [`Diagnostics`]:
//!
//! 1. [`DataDirectories::discover`] finds the user's tables and recipes, and
//!    [`DataDirectories::load_compat`] combines the tables with the built-in ones.
//! 2. [`WorkspaceOptions`] borrows this data and adds overrides.
//! 3. [`Workspace::load`] reads matrix files, and [`Workspace::plan`] plans their jobs. Both steps
//!    are part of [`JobSelection::load`], for commands that work on jobs.
//!
//! ```
//! use rock_compat::Compat;
//! use rock_plan::workspace::{DataDirectories, Workspace, WorkspaceOptions};
//! use rock_plan::{JobView, PlanInputs};
//! use rock_sys::Environment;
//!
//! let repository = tempfile::tempdir()?;
//! let file = repository.path().join("flash-attn.yaml");
//! std::fs::write(
//!     &file,
//!     "
//! version: 1
//! distribution: flash-attn
//! recipe: flash-attn
//! axes:
//!   flash-attn: ['2.8.3']
//!   torch: ['2.6.0']
//!   rocm: ['6.2.4']
//!   python: ['3.12']
//!   backend: [ck]
//! gfx: [gfx942]
//! ",
//! )?;
//!
//! let directories = DataDirectories::discover(repository.path());
//! let compat = directories.load_compat()?.unwrap_or_else(Compat::embedded);
//! let environment = Environment::default();
//! let options = WorkspaceOptions::new(&compat, &directories, &environment);
//!
//! let (workspace, _) = Workspace::load(&[file], &options)?;
//! let (plan, _) = workspace.plan(&PlanInputs::default())?;
//! let ids: Vec<String> = plan.jobs().map(JobView::id).collect();
//! assert_eq!(ids, ["flash-attn-2.8.3-rocm6.2.4-torch2.6.0-py3.12-ck"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Invariant:** every file is read once, and every error in it is reported in one run; the
//! machine is inspected only if a matrix file has `[host]`.

mod compat_directory;
mod data_directories;
mod document;
mod host_probe;
mod job_options;
mod job_selection;
mod options;
mod recipe_directory;

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use data_directories::DataDirectories;
pub use document::{is_stdin, read_document, read_text};
pub use job_options::{check_docker_arguments, check_fact_names};
pub use job_selection::{JobSelection, ReadyJob, is_job_file};
pub use options::WorkspaceOptions;

use crate::codes::{matrix as codes, plan as plan_codes};
use crate::config::recipe::{RecipeDocument, RecipeSet};
use crate::config::{
    self, GfxSelection, Lookups, MatrixConfig, ParsedFile, Platform, RecipeProfile,
};
use crate::{AxisFilter, Plan, PlanInputs, plan};
use host_probe::{HostProbe, no_gpu};
use rock_compat::Compat;
use rock_diagnostic::{
    Diagnostic, Diagnostics, ExitClass, Location, Sink, SourceText, shell_line, shell_quoted,
};
use rock_sys as sys;

/// Maximum size in bytes of a matrix file or a recipe. A matrix of ten thousand explicit rows takes
/// about 1 MiB.
const MAX_DOCUMENT_BYTES: u64 = 16 << 20;

/// A valid matrix file with its recipe.
#[derive(Debug)]
pub struct MatrixFile {
    config: MatrixConfig,
    recipe: Arc<RecipeDocument>,
}

impl MatrixFile {
    /// Returns the content of the file.
    pub fn config(&self) -> &MatrixConfig {
        &self.config
    }

    /// Returns the recipe, merged with the recipes that it uses.
    pub fn recipe(&self) -> &Arc<RecipeDocument> {
        &self.recipe
    }

    /// Returns the path of the file as it was passed.
    pub fn path(&self) -> &str {
        &self.config.locations.source().path
    }
}

/// The jobs of a plan that a filter keeps.
#[derive(Debug)]
pub struct SelectedPlan {
    /// The plan of these jobs.
    pub plan: Plan,
    /// Number of errors that concern only other jobs and were not reported.
    pub hidden_errors: usize,
}

/// Matrix files, and the data that they are planned with.
#[derive(Debug)]
pub struct Workspace<'c> {
    compat: &'c Compat,
    host: HostProbe<'c>,
    recipes: Arc<RecipeSet>,
    matrices: Vec<MatrixFile>,
    file_count: usize,
    /// The command that shows the reasons for excluded cells; `None` for a matrix file that is not
    /// on disk.
    explain_command: Option<String>,
}

impl<'c> Workspace<'c> {
    /// Loads matrix files; by default (without `files`) those in `matrices/`. A directory stands
    /// for the files in it, and the path `-` for standard input. Recipe files among `files` are
    /// checked, and the matrix files can use them. Returns warnings about the files too.
    ///
    /// # Errors
    /// If there is no file, or if a file or directory cannot be read or has errors.
    pub fn load(
        files: &[PathBuf],
        options: &WorkspaceOptions<'c>,
    ) -> Result<(Self, Vec<Diagnostic>), Diagnostics> {
        let (workspace, sink) = Self::load_valid(files, options)?;
        Ok((workspace, into_warnings(sink)?))
    }

    /// Loads those files that are valid, like [`Self::load`], so that a caller can check them even
    /// if others have errors. Returns the errors and warnings about all files too.
    ///
    /// # Errors
    /// If there is no file, or if a directory cannot be read.
    pub fn load_valid(
        files: &[PathBuf],
        options: &WorkspaceOptions<'c>,
    ) -> Result<(Self, Sink), Diagnostics> {
        let mut sink = Sink::new();
        match Self::read(files, None, options, &mut sink) {
            Ok(workspace) => Ok((workspace, sink)),
            Err(errors) => Err(with_sink(errors, sink)),
        }
    }

    /// Creates a workspace with one matrix file, whose text the program created or changed, and
    /// recipes that are not on disk. Returns warnings about them too.
    ///
    /// # Errors
    /// If the text has errors, or if a recipe cannot be read or has errors.
    pub fn from_matrix(
        source: &SourceText,
        recipes: &[SourceText],
        options: &WorkspaceOptions<'c>,
    ) -> Result<(Self, Vec<Diagnostic>), Diagnostics> {
        let mut sink = Sink::new();
        let recipes: Vec<ParsedFile> = recipes
            .iter()
            .map(|recipe| ParsedFile::parse_recipe(recipe.clone(), &mut sink))
            .collect();
        match options.directories().read_recipes(&recipes, &mut sink) {
            Ok(recipes) => {
                let file = ParsedFile::parse(source.clone(), &mut sink);
                let workspace = Self::with_recipes(recipes, vec![file], options, &mut sink);
                Ok((workspace, into_warnings(sink)?))
            }
            Err(errors) => Err(with_sink(errors, sink)),
        }
    }

    /// Reads matrix and recipe files. `stdin` is the text of standard input if that was read
    /// before. Errors in the files go to the sink, and invalid files are left out.
    ///
    /// # Errors
    /// If there is no file, or if a directory cannot be read.
    fn read(
        files: &[PathBuf],
        stdin: Option<&SourceText>,
        options: &WorkspaceOptions<'c>,
        sink: &mut Sink,
    ) -> Result<Self, Diagnostics> {
        let explain_command = explain_command(files, options.directories());
        let files = files_or_default(files)?;
        let directories = options.directories();
        let (mut recipes, mut matrices) = (Vec::new(), Vec::new());
        for path in &files {
            let source = match stdin {
                Some(source) if is_stdin(path) => Ok(source.clone()),
                _ => read_document(path),
            };
            let source = match source {
                Ok(source) => source,
                Err(error) => {
                    sink.push(error);
                    continue;
                }
            };
            // Without a tree, such as in an empty file, the directory decides.
            let is_among_recipes = directories.is_recipe_path(path);
            let file = if is_among_recipes {
                ParsedFile::parse_recipe(source, sink)
            } else {
                ParsedFile::parse(source, sink)
            };
            if file.is_recipe().unwrap_or(is_among_recipes) {
                recipes.push(file);
            } else {
                matrices.push(file);
            }
        }
        let recipes = directories.read_recipes(&recipes, sink)?;
        Ok(Self {
            file_count: files.len(),
            explain_command: (!files.iter().any(|path| is_stdin(path))).then_some(explain_command),
            ..Self::with_recipes(recipes, matrices, options, sink)
        })
    }

    /// Reads matrix files that use these recipes. Errors in the matrix files and in
    /// the recipes go to the sink, and invalid matrix files are left out.
    fn with_recipes(
        recipes: Arc<RecipeSet>,
        files: Vec<ParsedFile>,
        options: &WorkspaceOptions<'c>,
        sink: &mut Sink,
    ) -> Self {
        let (compat, host) = (options.compat(), options.host().clone());
        let mut lookups = Lookups::new(compat, Arc::clone(&recipes));
        lookups.overrides = options.overrides().clone();
        lookups.host_rocm = host.rocm(compat);
        let file_count = files.len();
        let mut matrices = Vec::new();
        for file in files {
            let Some(config) = config::read_parsed(file, &lookups, sink) else {
                continue;
            };
            // `config::read` reported unknown recipes.
            if let Some(recipe) = recipes.known(&config.recipe) {
                matrices.push(MatrixFile { config, recipe });
            }
        }
        sink.extend(recipes.faults());
        Self {
            compat,
            host,
            recipes,
            matrices,
            file_count,
            explain_command: None,
        }
    }

    /// Returns the matrix files, in the given order.
    pub fn matrices(&self) -> &[MatrixFile] {
        &self.matrices
    }

    /// Returns the number of files that were read, including recipes and invalid files.
    pub fn file_count(&self) -> usize {
        self.file_count
    }

    /// Returns the paths of the matrix files.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.matrices.iter().map(|matrix| Path::new(matrix.path()))
    }

    /// Removes the matrix files for a platform, and returns them.
    pub fn remove_platform(&mut self, platform: Platform) -> Vec<MatrixFile> {
        self.matrices
            .extract_if(.., |matrix| matrix.config.platform == platform)
            .collect()
    }

    /// Plans the jobs of the matrix files, for the GPUs of the machine if a file has `gfx: [host]`.
    /// Returns warnings too. The group of each matrix file has the index of the file in
    /// [`Self::matrices`].
    ///
    /// # Errors
    /// If the matrix files contradict each other, the compatibility data or their recipes, or if
    /// the machine has no GPU and a file with `gfx: [host]` has no `gfx-fallback`.
    pub fn plan(&self, inputs: &PlanInputs) -> Result<(Plan, Vec<Diagnostic>), Diagnostics> {
        let with_hint;
        let inputs = match (&inputs.explain_hint, &self.explain_command) {
            (None, Some(command)) => {
                with_hint = PlanInputs {
                    explain_hint: Some(format!("see the reasons with `{command}`")),
                    ..inputs.clone()
                };
                &with_hint
            }
            _ => inputs,
        };
        let mut sink = Sink::new();
        let plan = self
            .with_host_targets(&mut sink)
            .and_then(|files| plan(files, self.compat, inputs, &mut sink));
        match plan {
            Some(plan) if !sink.has_errors() => Ok((plan, sink.finish())),
            _ => Err(Diagnostics::from(sink.finish()).exits_with(ExitClass::Input)),
        }
    }

    /// Returns the matrix files with the targets of the machine in place of `gfx: [host]`, and the
    /// planning parts of their recipes. Returns `None` if the machine has no GPU and there is no
    /// fallback, which is an error in the sink.
    fn with_host_targets(&self, sink: &mut Sink) -> Option<Vec<(MatrixConfig, RecipeProfile)>> {
        let mut host_targets = None;
        let mut files = Vec::new();
        for matrix in &self.matrices {
            let mut config = matrix.config.clone();
            if config.gfx == GfxSelection::Host {
                let found = host_targets.get_or_insert_with(|| self.host.gfx_targets());
                let targets = if found.is_empty() {
                    let diagnostic = no_gpu(&config);
                    let is_error = diagnostic.is_error();
                    sink.push(diagnostic);
                    if is_error {
                        return None;
                    }
                    &config.gfx_fallback
                } else {
                    &*found
                };
                (config.families, config.gfx) = (
                    targets.iter().map(ToString::to_string).collect(),
                    GfxSelection::Targets(targets.clone()),
                );
            }
            let profile = matrix
                .recipe
                .profile(&matrix.config.distribution.normalized());
            files.push((config, profile));
        }
        Some(files)
    }
}

impl Workspace<'_> {
    /// Plans the matrix files and keeps the jobs that the filter selects. If the plan of all jobs
    /// has errors, only the selected cells are planned, so that errors of other jobs are only
    /// counted. Returns warnings too; with a filter, not those about values that no job has.
    ///
    /// # Errors
    /// If the selected jobs cannot be planned, or if the matrix files do not have an axis or a value
    /// of the filter.
    pub fn plan_selected(
        &self,
        inputs: &PlanInputs,
        filter: &AxisFilter,
    ) -> Result<(SelectedPlan, Vec<Diagnostic>), Diagnostics> {
        let (mut selected, mut warnings) = self.plan_cells(inputs, filter)?;
        if !filter.is_empty() {
            let of_files = plan_codes::VALUE_WITHOUT_JOB.id;
            warnings.retain(|warning| warning.code.id != of_files);
        }
        match filter.apply(&mut selected.plan) {
            Ok(()) => Ok((selected, warnings)),
            Err(errors) => {
                let exit_class = errors.exit_class();
                let mut diagnostics = warnings;
                diagnostics.extend(errors);
                Err(Diagnostics::from(diagnostics).exits_with(exit_class))
            }
        }
    }

    /// Plans all cells or, if these have errors, the selected ones.
    fn plan_cells(
        &self,
        inputs: &PlanInputs,
        filter: &AxisFilter,
    ) -> Result<(SelectedPlan, Vec<Diagnostic>), Diagnostics> {
        let all_errors = match self.plan(inputs) {
            Ok((plan, warnings)) => {
                let hidden_errors = 0;
                return Ok((
                    SelectedPlan {
                        plan,
                        hidden_errors,
                    },
                    warnings,
                ));
            }
            Err(errors) if filter.is_empty() => return Err(errors),
            Err(errors) => errors,
        };
        let inputs = PlanInputs {
            selection: filter.cells(),
            ..inputs.clone()
        };
        let (plan, warnings) = self.plan(&inputs)?;
        let errors = all_errors.into_iter().filter(Diagnostic::is_error);
        Ok((
            SelectedPlan {
                plan,
                hidden_errors: errors.count(),
            },
            warnings,
        ))
    }
}

/// Returns the command that shows the reasons for excluded cells of these files, with the
/// directories that they are read with.
fn explain_command(files: &[PathBuf], directories: &DataDirectories) -> String {
    let mut words = ["rock-matrix", "plan", "--explain"]
        .map(OsStr::new)
        .to_vec();
    words.extend(files.iter().map(|path| path.as_os_str()));
    let options = [
        ("--compat", directories.named_compat()),
        ("--recipes", directories.named_recipes()),
    ];
    for (option, directory) in options {
        if let Some(directory) = directory {
            words.extend([OsStr::new(option), directory.as_os_str()]);
        }
    }
    shell_line(words)
}

/// Returns the only matrix file: the given one, or the only one in `matrices/`.
///
/// # Errors
/// If there is not exactly one.
pub fn single_matrix_file(files: &[PathBuf]) -> Result<PathBuf, Diagnostics> {
    let files = files_or_default(files)?;
    match files.as_slice() {
        [one] => Ok(one.clone()),
        _ => {
            let message = format!(
                "an issue selects a combination of one matrix file, and there are {}",
                files.len()
            );
            let error = Diagnostic::new(&codes::SEVERAL_MATRIX_FILES, message);
            Err(error.help("name one matrix file").into())
        }
    }
}

/// Returns the warnings in the sink.
///
/// # Errors
/// If the sink has errors: returns these and the warnings. An invalid override is an error of the
/// command line, other errors are those of the input.
fn into_warnings(sink: Sink) -> Result<Vec<Diagnostic>, Diagnostics> {
    let has_errors = sink.has_errors();
    let diagnostics = sink.finish();
    if !has_errors {
        return Ok(diagnostics);
    }
    let exit_class = if diagnostics.iter().any(is_override_error) {
        ExitClass::Usage
    } else {
        ExitClass::Input
    };
    Err(Diagnostics::from(diagnostics).exits_with(exit_class))
}

/// Whether a diagnostic is an error in a value that replaces those of a matrix file.
fn is_override_error(diagnostic: &Diagnostic) -> bool {
    let location = diagnostic.labels.first().map(|label| &label.location);
    diagnostic.is_error() && matches!(location, Some(Location::Argument(_)))
}

/// Returns errors, followed by the diagnostics in the sink.
fn with_sink(errors: Diagnostics, sink: Sink) -> Diagnostics {
    let exit_class = errors.exit_class();
    let mut diagnostics = errors.into_vec();
    diagnostics.extend(sink.finish());
    Diagnostics::from(diagnostics).exits_with(exit_class)
}

/// Returns the given files, as [`expand_directories`] does, or the matrix files in `matrices/`.
fn files_or_default(files: &[PathBuf]) -> Result<Vec<PathBuf>, Diagnostics> {
    if files.is_empty() {
        files_in(Path::new(config::MATRICES))
    } else {
        expand_directories(files)
    }
}

/// Returns the files without duplicates, with the files that end in `.yaml` or `.yml` in place of
/// their directory.
///
/// # Errors
/// If a directory cannot be read or has no such file.
pub fn expand_directories(files: &[PathBuf]) -> Result<Vec<PathBuf>, Diagnostics> {
    let (mut seen, mut expanded) = (BTreeSet::new(), Vec::new());
    for path in files {
        let found = if sys::is_directory(path) {
            files_in(path)?
        } else {
            vec![path.clone()]
        };
        expanded.extend(found.into_iter().filter(|path| seen.insert(path.clone())));
    }
    Ok(expanded)
}

/// Returns the files in a directory that end in `.yaml` or `.yml`.
fn files_in(directory: &Path) -> Result<Vec<PathBuf>, Diagnostics> {
    match sys::files_with_extension(directory, &["yaml", "yml"]) {
        Ok(files) if !files.is_empty() => Ok(files),
        Ok(_) => {
            let name = directory.display().to_string();
            let message = format!(
                "there is no matrix file in `{}/`",
                name.trim_end_matches('/')
            );
            let help = if document::has_only_wheels(directory) {
                let quoted = shell_quoted(directory);
                format!("check the wheels in it with `rock-matrix wheel check {quoted}`")
            } else {
                "name one, or create one with `rock-matrix init`".to_owned()
            };
            Err(Diagnostic::new(&codes::NO_MATRIX_FILE, message)
                .help(help)
                .into())
        }
        Err(error) => Err(Diagnostic::from(error).help("name the matrix files").into()),
    }
}
