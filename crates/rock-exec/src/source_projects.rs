//! Compares jobs with the Python projects that they are built from.
//!
//! **Invariant:** only literals of `pyproject.toml` are read, and no code of a project runs.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::codes::build as codes;
use crate::missing_sources::source_paths;
use rock_compat::Compat;
use rock_diagnostic::Diagnostic;
use rock_names::{DistributionName, PackageVersion, Version, VersionSpecifiers};
use rock_plan::config::recipe::RecipeDocument;
use rock_plan::starter::{MAX_PROJECT_FILE_BYTES, ProjectFiles, ProjectOverrides, PythonProject};
use rock_plan::{Job, JobView};
use rock_recipe::{Build, BuildSite};
use rock_sys as sys;

/// The Python projects in the source trees of jobs. The file of each is read once.
#[derive(Debug, Default)]
pub struct SourceProjects {
    projects: RefCell<BTreeMap<PathBuf, Option<SourceProject>>>,
}

/// The fields of a project that jobs have, too.
#[derive(Debug, Clone)]
struct SourceProject {
    name: DistributionName,
    /// The version; `None` if it is computed during the build.
    version: Option<Version>,
    /// The Python versions that the project supports.
    python: Option<VersionSpecifiers>,
}

impl SourceProjects {
    /// Returns the warnings about jobs of a matrix file, each once.
    pub fn warnings_of_jobs<'p>(
        &self,
        jobs: impl Iterator<Item = JobView<'p>>,
        recipe: &RecipeDocument,
        compat: &Compat,
        caller: &Path,
    ) -> Vec<Diagnostic> {
        if !recipe.has_sources_of_this_machine() {
            return Vec::new();
        }
        let (site, facts) = (BuildSite::Container, BTreeMap::new());
        let mut found: Vec<Diagnostic> = Vec::new();
        for job in jobs.map(JobView::to_job) {
            // Errors of recipes are reported elsewhere.
            let Ok(build) = rock_recipe::build(&job, recipe, compat, &site, &facts) else {
                continue;
            };
            for warning in self.warnings(&job, &build, caller) {
                if !found.contains(&warning) {
                    found.push(warning);
                }
            }
        }
        found
    }

    /// Returns warnings about a Python that the project of the job's distribution does not support,
    /// and about another version. Relative paths start at `caller`, the directory of the command
    /// line.
    pub fn warnings(&self, job: &Job, build: &Build, caller: &Path) -> Vec<Diagnostic> {
        let mut warnings = Vec::new();
        for (_, path) in source_paths(build, caller) {
            let file = path.join("pyproject.toml");
            let project = self
                .project(&file)
                .filter(|project| project.name.normalized() == job.distribution.normalized());
            let Some(project) = project else {
                continue;
            };
            let shown = file.strip_prefix(caller).unwrap_or(&file).display();
            if let (Some(python), Some(supported)) = (job.python, &project.python)
                && !supported.allows_minor(python.numbers())
            {
                let message = format!(
                    "`{shown}` requires Python {supported}, which excludes Python {python}"
                );
                warnings.push(
                    Diagnostic::new(&codes::PYTHON_NOT_OF_PROJECT, message)
                        .help("remove the version from `python`, or change `requires-python`"),
                );
            }
            if let (Some(wanted), Some(stated)) = (&job.version, &project.version)
                && wanted.public() != stated.public()
            {
                let message =
                    format!("`{shown}` has version {stated}, and the matrix file builds {wanted}");
                let axis = job.distribution.normalized();
                warnings.push(
                    Diagnostic::new(&codes::VERSION_NOT_OF_PROJECT, message).help(format!(
                        "write `{axis}: [\"{stated}\"]`, or change the version of the project"
                    )),
                );
            }
        }
        warnings
    }

    /// Returns the project of a `pyproject.toml`; `None` if there is no such file, or if it states
    /// no name.
    fn project(&self, file: &Path) -> Option<SourceProject> {
        let mut projects = self.projects.borrow_mut();
        if let Some(known) = projects.get(file) {
            return known.clone();
        }
        let project = read_project(file);
        projects.insert(file.to_owned(), project.clone());
        project
    }
}

fn read_project(file: &Path) -> Option<SourceProject> {
    if !sys::is_file(file) {
        return None;
    }
    let files = ProjectFiles {
        pyproject: Some(sys::read_text(file, MAX_PROJECT_FILE_BYTES).ok()?),
        ..ProjectFiles::default()
    };
    match files.project(&ProjectOverrides::default()) {
        Ok(PythonProject {
            name,
            version,
            python,
            ..
        }) => Some(SourceProject {
            name,
            version: match version {
                PackageVersion::Released(version) => Some(version),
                PackageVersion::Commit { .. } => None,
            },
            python,
        }),
        // The version may be computed by a build, or not be one that a matrix file can have.
        Err(_) => {
            let overrides = ProjectOverrides {
                version: Some("0".to_owned()),
                ..ProjectOverrides::default()
            };
            let project = files.project(&overrides).ok()?;
            Some(SourceProject {
                name: project.name,
                version: None,
                python: project.python,
            })
        }
    }
}
