//! The files of a working directory: matrix files with their recipes, compatibility tables, and the
//! jobs that a command line selects.
//!
//! Input: paths, overrides and names of jobs as typed, [directories](DataDirectories) of tables and recipes,
//! and the [facts](HostProbe) of a machine for `gfx: [host]` and `rocm: [host]`. Output: a
//! [`Workspace`] and its plan, or the [jobs](JobLookup) that are selected.
//!
//! **Invariant:** every file is read once, and every error in it is reported in one run; the machine
//! is inspected only if a matrix file asks for its GPUs or its ROCm.

mod compat_directory;
mod data_directories;
mod document;
mod host_probe;
mod job_lookup;
mod job_options;
mod recipe_directory;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use compat_directory::load_compat;
pub use data_directories::DataDirectories;
pub use document::{is_stdin, read_document, read_plan_text, read_text};
pub use host_probe::HostProbe;
pub use job_lookup::{JobLookup, JobSelection, ReadyJob, is_job_file, list_jobs};
pub use job_options::check_job_options;
pub use recipe_directory::load_recipes;

use crate::codes::matrix as codes;
use crate::config::recipe::{RecipeDocument, RecipeSet};
use crate::config::{self, AxisOverrides, GfxSelection, Lookups, MatrixConfig};
use crate::{Plan, PlanInputs, plan};
use host_probe::no_gpu;
use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Diagnostics, Sink, SourceText};
use rock_sys as sys;
use rock_yaml as yaml;

/// Maximum size in bytes of a matrix file or a recipe. A matrix of ten thousand explicit rows takes
/// about 1 MiB.
const MAX_DOCUMENT_BYTES: u64 = 16 << 20;

/// The data that matrix files are read and planned with.
#[derive(Debug, Clone)]
pub struct WorkspaceData<'c> {
    /// The compatibility data.
    pub compat: &'c Compat,
    /// The directories of the user's recipes.
    pub directories: &'c DataDirectories,
    /// The machine whose GPUs and ROCm `[host]` stands for.
    pub host: HostProbe<'c>,
}

/// A valid matrix file with its recipe.
#[derive(Debug)]
pub struct MatrixFile {
    /// The matrix file.
    pub config: MatrixConfig,
    /// Its recipe.
    pub recipe: Arc<RecipeDocument>,
}

/// The valid matrix files among those that were read.
#[derive(Debug)]
pub struct Workspace<'c> {
    data: WorkspaceData<'c>,
    matrices: Vec<MatrixFile>,
    file_count: usize,
}

impl<'c> Workspace<'c> {
    /// Reads matrix and recipe files; by default the matrix files in `matrices/`. The path `-` is
    /// standard input. A recipe file is checked, and the matrix files can use it. `overrides`
    /// replace values of every matrix file. Errors in the files go to the sink, and invalid files
    /// are left out.
    ///
    /// # Errors
    /// If there is no file to read, or if a directory cannot be read.
    pub fn load(
        data: WorkspaceData<'c>,
        files: &[PathBuf],
        overrides: &AxisOverrides,
        sink: &mut Sink,
    ) -> Result<Self, Diagnostics> {
        Self::load_with_stdin(data, files, None, overrides, sink)
    }

    /// Reads files like [`Self::load`]; `stdin` is the text of standard input if that was read
    /// before.
    fn load_with_stdin(
        data: WorkspaceData<'c>,
        files: &[PathBuf],
        stdin: Option<&SourceText>,
        overrides: &AxisOverrides,
        sink: &mut Sink,
    ) -> Result<Self, Diagnostics> {
        let files = files_or_default(files)?;
        let mut sources = Vec::new();
        for path in &files {
            let source = match stdin {
                Some(source) if is_stdin(path) => Ok(source.clone()),
                _ => read_document(path),
            };
            match source {
                Ok(source) => sources.push(source),
                Err(error) => sink.push(error),
            }
        }
        let workspace = Self::from_sources(data, &sources, overrides, sink)?;
        Ok(Self {
            file_count: files.len(),
            ..workspace
        })
    }

    /// Reads the texts of matrix and recipe files, like [`Self::load`].
    ///
    /// # Errors
    /// If the directory of recipes cannot be read.
    pub fn from_sources(
        data: WorkspaceData<'c>,
        sources: &[SourceText],
        overrides: &AxisOverrides,
        sink: &mut Sink,
    ) -> Result<Self, Diagnostics> {
        let (recipes, matrices): (Vec<&SourceText>, Vec<&SourceText>) =
            sources.iter().partition(|source| is_recipe(source));
        let recipes = load_recipes(data.directories, recipes, sink)?;
        let matrices = read_matrices(&data, &recipes, matrices, overrides, sink);
        Ok(Self {
            data,
            matrices,
            file_count: sources.len(),
        })
    }

    /// Reads the text of one matrix file, which the program created or changed. Errors in it go to
    /// the sink, and the workspace is then empty.
    ///
    /// # Errors
    /// If the directory of recipes cannot be read.
    pub fn from_matrix(
        data: WorkspaceData<'c>,
        source: &SourceText,
        sink: &mut Sink,
    ) -> Result<Self, Diagnostics> {
        let recipes = load_recipes(data.directories, [], sink)?;
        let overrides = AxisOverrides::default();
        let matrices = read_matrices(&data, &recipes, vec![source], &overrides, sink);
        Ok(Self {
            data,
            matrices,
            file_count: 1,
        })
    }

    /// Returns the valid matrix files, in the given order.
    pub fn matrices(&self) -> &[MatrixFile] {
        &self.matrices
    }

    /// Returns the number of files that were read, including invalid ones and recipes.
    pub fn file_count(&self) -> usize {
        self.file_count
    }

    /// Returns the paths of the valid matrix files.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.matrices
            .iter()
            .map(|matrix| Path::new(&*matrix.config.places.source().path))
    }

    /// Removes and returns the matrix files for which `is_removed` returns true.
    pub fn remove(&mut self, is_removed: impl Fn(&MatrixFile) -> bool) -> Vec<MatrixFile> {
        self.matrices
            .extract_if(.., |matrix| is_removed(matrix))
            .collect()
    }

    /// Plans the matrix files, with the targets of the machine for `gfx: [host]`. Returns `None` if
    /// there are errors, which go to the sink.
    pub fn plan(&self, inputs: &PlanInputs, sink: &mut Sink) -> Option<Plan> {
        let errors = sink.error_count();
        let mut host_targets = None;
        let mut files = Vec::new();
        for matrix in &self.matrices {
            let mut config = matrix.config.clone();
            if config.gfx == GfxSelection::Host {
                let found = host_targets.get_or_insert_with(|| self.data.host.gfx_targets());
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
        plan(files, self.data.compat, inputs, sink).filter(|_| sink.error_count() == errors)
    }
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
                "this requires exactly one matrix file, and there are {}",
                files.len()
            );
            let error = Diagnostic::new(&codes::BAD_ISSUE, message);
            Err(error.help("name one matrix file").into())
        }
    }
}

/// Reads matrix files. Errors in them and in the recipes go to the sink.
fn read_matrices(
    data: &WorkspaceData<'_>,
    recipes: &Arc<RecipeSet>,
    sources: Vec<&SourceText>,
    overrides: &AxisOverrides,
    sink: &mut Sink,
) -> Vec<MatrixFile> {
    let mut lookups = Lookups::new(data.compat, Arc::clone(recipes));
    lookups.given = overrides.clone();
    lookups.host_rocm = data.host.rocm(data.compat);
    let mut matrices = Vec::new();
    for source in sources {
        let Some(config) = config::read(source, &lookups, sink) else {
            continue;
        };
        // `config::read` reported unknown recipes.
        if let Some(recipe) = recipes.known(&config.recipe) {
            matrices.push(MatrixFile { config, recipe });
        }
    }
    sink.extend(recipes.faults());
    matrices
}

/// Whether a file is a recipe, and not a matrix file: it has `steps`, or else a name and neither
/// `version` nor `axes`.
fn is_recipe(source: &SourceText) -> bool {
    yaml::parse(source, &mut Sink::new()).is_some_and(|root| {
        let has = |key: &str| root.get(key).is_some();
        has("steps") || (has("recipe") && has("name") && !has("version") && !has("axes"))
    })
}

/// Returns the given files without duplicates, or the matrix files in `matrices/`.
fn files_or_default(files: &[PathBuf]) -> Result<Vec<PathBuf>, Diagnostics> {
    if !files.is_empty() {
        let mut seen = BTreeSet::new();
        let distinct = files.iter().filter(|path| seen.insert(*path));
        return Ok(distinct.cloned().collect());
    }
    match sys::files_with_extension(Path::new(config::MATRICES), &["yaml", "yml"]) {
        Ok(files) if !files.is_empty() => Ok(files),
        Ok(_) => Err(Diagnostic::new(
            &codes::NO_MATRIX_FILE,
            "there is no matrix file in `matrices/`",
        )
        .help("name one, or create one with `rock-matrix init`")
        .into()),
        Err(error) => Err(Diagnostic::from(error).help("name the matrix files").into()),
    }
}
