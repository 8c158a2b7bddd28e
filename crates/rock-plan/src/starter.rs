//! Starter matrix files: for the Python project of a directory, a package on PyPI, a recipe of the
//! user, a shipped recipe, or flash-attn with Triton kernels.
//!
//! Input: texts of the project's files and the compatibility data. Output: the text of a matrix
//! file.
//!
//! **Invariant:** versions of torch, ROCm and flash-attn come from the compatibility data, except
//! in the starters of other shipped recipes; this module reads and writes no files.

mod flash_attn;
mod own_recipe;
mod package;
mod project_fields;
mod shipped;

use std::fmt;
use std::sync::Arc;

use itertools::Itertools as _;
use serde::Serialize;

use self::project_fields::{
    cfg_field, describes_a_project, py_argument, required_torch, torch_requirements,
};
use crate::codes::plan as codes;
use crate::config::package_version;
use crate::config::recipe::{RecipeDocument, embedded_names};
use rock_compat::rows::{Confidence, TorchRow};
use rock_compat::{Compat, Support};
use rock_diagnostic::Diagnostic;
use rock_names::{
    DistributionName, PackageVersion, PythonVersion, Requirement, RocmVersion, Version,
    VersionSpecifiers,
};
use rock_template::{TemplateError, render};

/// Targets of a starter matrix, if torch for the ROCm version contains code for them.
const TARGETS: [&str; 3] = ["gfx90a", "gfx942", "gfx1100"];

/// Texts of the files that describe a Python project, if they exist.
#[derive(Debug, Clone, Default)]
pub struct ProjectFiles {
    /// `pyproject.toml`.
    pub pyproject: Option<String>,
    /// `setup.cfg`.
    pub setup_cfg: Option<String>,
    /// `setup.py`.
    pub setup_py: Option<String>,
    /// Names of top-level modules and packages, in the directory and in `src`.
    pub modules: Vec<String>,
}

/// A Python project that can be built as a wheel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonProject {
    /// Its name.
    pub name: DistributionName,
    /// Its version.
    pub version: PackageVersion,
    /// The file that states its name, `pyproject.toml`.
    pub read_from: &'static str,
    /// Whether it is compiled against torch.
    pub needs_torch: bool,
    /// The requirements on torch of its build and of the project itself, by `pyproject.toml`.
    pub torch: Vec<Requirement>,
    /// Python versions that it supports (`requires-python`), if its files state them.
    pub python: Option<VersionSpecifiers>,
    /// The module that it installs, if one has the project's name.
    pub module: Option<String>,
}

/// An error in the project of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProjectError {
    /// A file cannot be parsed.
    Syntax(String),
    /// No file contains the name as a literal.
    NoName,
    /// The name is not a valid distribution name.
    BadName(String),
    /// No file contains the version as a literal: it is computed when the project is built.
    NoVersion(String),
    /// A matrix file cannot have the version, for this reason.
    BadVersion(String),
}

impl fmt::Display for ProjectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(reason) => write!(f, "cannot read `pyproject.toml`: {reason}"),
            Self::NoName => f.write_str(
                "the name of the project cannot be read from its files without running code",
            ),
            Self::BadName(name) => write!(f, "`{name}` is not a valid distribution name"),
            Self::NoVersion(name) => {
                write!(
                    f,
                    "the version of `{name}` is computed during the build, so it cannot be read \
                     from its files"
                )
            }
            Self::BadVersion(reason) => f.write_str(reason),
        }
    }
}

/// Values that replace those in the project's files.
#[derive(Debug, Clone, Default)]
pub struct ProjectOverrides {
    /// The name.
    pub name: Option<DistributionName>,
    /// The version.
    pub version: Option<String>,
}

impl ProjectFiles {
    /// Whether there is a project at all.
    pub fn is_project(&self) -> bool {
        self.pyproject.as_deref().is_some_and(describes_a_project) || self.setup_py.is_some()
    }

    /// Reads name and version from `pyproject.toml`, then `setup.cfg`, then `setup.py`.
    ///
    /// # Errors
    /// If `pyproject.toml` cannot be parsed, if the name or version is not given and no file states
    /// it, or if one of them is invalid.
    pub fn project(&self, given: &ProjectOverrides) -> Result<PythonProject, ProjectError> {
        let pyproject: toml::Table = match &self.pyproject {
            Some(text) => text.parse().map_err(|error: toml::de::Error| {
                ProjectError::Syntax(error.message().to_owned())
            })?,
            None => toml::Table::new(),
        };
        let field = |key: &str| -> Option<(String, &'static str)> {
            let poetry = || pyproject.get("tool")?.get("poetry")?.get(key)?.as_str();
            let toml = pyproject
                .get("project")
                .and_then(|project| project.get(key)?.as_str())
                .or_else(poetry);
            let from_toml = toml.map(|text| (text.to_owned(), "pyproject.toml"));
            let from_cfg = || Some((cfg_field(self.setup_cfg.as_deref()?, key)?, "setup.cfg"));
            let from_py = || Some((py_argument(self.setup_py.as_deref()?, key)?, "setup.py"));
            from_toml.or_else(from_cfg).or_else(from_py)
        };
        let file = if self.pyproject.is_some() {
            "pyproject.toml"
        } else {
            "setup.py"
        };
        let (name, read_from) = match &given.name {
            Some(name) => (name.clone(), file),
            None => {
                let (text, read_from) = field("name").ok_or(ProjectError::NoName)?;
                (
                    text.parse().map_err(|_| ProjectError::BadName(text))?,
                    read_from,
                )
            }
        };
        let version = match &given.version {
            Some(version) => version.clone(),
            None => {
                field("version")
                    .ok_or_else(|| ProjectError::NoVersion(name.normalized()))?
                    .0
            }
        };
        let python = ["requires-python", "python_requires"]
            .into_iter()
            .find_map(field);
        let module = name.escaped();
        Ok(PythonProject {
            python: python.and_then(|(text, _)| text.parse().ok()),
            version: package_version(&version)
                .map_err(|(reason, _)| ProjectError::BadVersion(reason))?,
            read_from,
            needs_torch: self.needs_torch(&pyproject),
            torch: required_torch(&pyproject),
            module: self
                .modules
                .iter()
                .find(|found| found.eq_ignore_ascii_case(&module))
                .cloned(),
            name,
        })
    }

    /// Whether torch is one of the build requirements, or `setup.py` compiles a torch extension.
    fn needs_torch(&self, pyproject: &toml::Table) -> bool {
        !torch_requirements(pyproject, "build-system", "requires").is_empty()
            || self
                .setup_py
                .as_deref()
                .is_some_and(|text| text.contains("torch.utils.cpp_extension"))
    }
}

/// Options of the command line.
#[derive(Debug, Clone, Default)]
pub struct StarterRequest {
    /// The project to build.
    pub distribution: Option<DistributionName>,
    /// The recipe to build it with.
    pub recipe: Option<String>,
    /// The recipe of this name, if the user wrote it.
    pub own_recipe: Option<Arc<RecipeDocument>>,
    /// The project's version.
    pub version: Option<String>,
    /// The directory of the project; `None` for the current one.
    pub directory: Option<String>,
}

impl StarterRequest {
    /// Returns the directory as in messages.
    fn place(&self) -> String {
        match &self.directory {
            Some(directory) => format!("`{directory}`"),
            None => "this directory".to_owned(),
        }
    }
}

/// A starter matrix file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StarterMatrix {
    /// The normalized name of the project, `flash-attn`.
    pub distribution: String,
    /// The text of the matrix file.
    pub matrix: String,
    /// The text of the recipe that the matrix file uses, if it is a new one.
    pub recipe: Option<String>,
    /// The reason for choosing it.
    pub why: String,
}

/// Maximum size of a file of a project that is read, such as `pyproject.toml`, in bytes.
pub const MAX_PROJECT_FILE_BYTES: u64 = 1 << 20;

/// The recipe for any project whose build produces a wheel.
const PROJECT_RECIPE: &str = "hip-extension";
/// The recipe and the distribution of the default starter.
const FLASH_ATTN: &str = "flash-attn";

/// Whether there is a starter for this shipped recipe.
pub fn is_starter_recipe(name: &str) -> bool {
    [PROJECT_RECIPE, FLASH_ATTN].contains(&name) || shipped::by_recipe(name).is_some()
}

/// Chooses the starter: that of the given recipe, the directory's project if there is one, otherwise
/// that of the given distribution or package on PyPI, or flash-attn.
///
/// # Errors
/// If there is no starter for these options, or if the project's files do not state its name and
/// version.
pub fn choose(
    files: &ProjectFiles,
    request: &StarterRequest,
    compat: &Compat,
) -> Result<StarterMatrix, Diagnostic> {
    if let Some(recipe) = &request.own_recipe {
        return own_recipe::own_recipe_starter(files, request, recipe, compat);
    }
    let distribution = request
        .distribution
        .as_ref()
        .map(DistributionName::normalized);
    let recipe = match (request.recipe.as_deref(), distribution.as_deref()) {
        (Some(recipe), _) => recipe,
        (None, Some(FLASH_ATTN)) => FLASH_ATTN,
        (None, None) if !files.is_project() => FLASH_ATTN,
        (None, Some(name)) if !files.is_project() => match shipped::by_distribution(name) {
            Some(starter) => starter.recipe,
            // A recipe with this name would replace the shipped one.
            None if embedded_names().any(|one| one == name) => name,
            None => return package::package_starter(name, request, compat),
        },
        (None, _) => PROJECT_RECIPE,
    };
    let builds = match recipe {
        PROJECT_RECIPE => return project_starter(files, request, compat),
        FLASH_ATTN => FLASH_ATTN,
        _ => match shipped::by_recipe(recipe) {
            Some(starter) => starter.distribution,
            None => return Err(shipped::no_starter(recipe)),
        },
    };
    let is_other = |name: &str| name != builds && name != recipe;
    if distribution.as_deref().is_some_and(is_other) {
        return Err(shipped::other_distribution(recipe, builds));
    }
    match shipped::by_recipe(recipe) {
        Some(starter) => starter.matrix(request.version.as_deref(), compat),
        None => flash_attn::flash_attn_starter(request, compat),
    }
}

/// Returns the starter for the project of a directory.
fn project_starter(
    files: &ProjectFiles,
    request: &StarterRequest,
    compat: &Compat,
) -> Result<StarterMatrix, Diagnostic> {
    if !files.is_project() {
        return Err(no_project(request));
    }
    let overrides = ProjectOverrides {
        name: request.distribution.clone(),
        version: request.version.clone(),
    };
    let project = files
        .project(&overrides)
        .map_err(|error| project_fault(&error))?;
    let with_torch = if project.needs_torch {
        ", against torch, because its build needs it"
    } else {
        ""
    };
    Ok(StarterMatrix {
        distribution: project.name.normalized(),
        matrix: project_matrix(&project, compat).map_err(|error| starter_fault(&error))?,
        recipe: None,
        why: format!(
            "{} describes {} {}, so this starts with that project: pip builds it (recipe \
             {PROJECT_RECIPE}){with_torch}",
            project.read_from,
            project.name.normalized(),
            project.version,
        ),
    })
}

/// Returns the error for the recipe of projects in a directory without one.
fn no_project(request: &StarterRequest) -> Diagnostic {
    let name = request.distribution.as_ref();
    let name = name.map(DistributionName::normalized);
    let help = match &name {
        Some(name) if name == FLASH_ATTN || shipped::by_distribution(name).is_some() => format!(
            "run it in the project's directory, or leave out `--recipe {PROJECT_RECIPE}`: \
             `--distribution {name}` starts with the recipe that builds {name} from its sources"
        ),
        Some(name) if name != PROJECT_RECIPE => format!(
            "run it in the project's directory, or leave out `--recipe {PROJECT_RECIPE}`: \
             `--distribution {name} --set version=VERSION` starts with the package on PyPI, and \
             `rock-matrix recipe new {name}` starts a package of your own"
        ),
        _ => {
            "run it in the project's directory; `rock-matrix recipe new NAME` starts a package of \
              your own, `--distribution NAME --set version=VERSION` a package on PyPI, and no \
              option flash-attn"
                .to_owned()
        }
    };
    fault(format!(
        "there is no pyproject.toml or setup.py in {}",
        request.place()
    ))
    .help(help)
}

fn fault(message: String) -> Diagnostic {
    Diagnostic::new(&codes::NO_STARTER, message)
}

fn starter_fault(error: &StarterError) -> Diagnostic {
    fault(error.to_string()).help("see `rock-matrix compat list torch`")
}

/// Returns the diagnostic for an error in the project of a directory.
fn project_fault(error: &ProjectError) -> Diagnostic {
    let help = match error {
        ProjectError::Syntax(_) => "fix the file",
        ProjectError::NoName | ProjectError::BadName(_) => "pass it with `--distribution NAME`",
        ProjectError::NoVersion(_) | ProjectError::BadVersion(_) => {
            "pass it with `--set version=VERSION`, such as `--set version=1.2`"
        }
    };
    fault(error.to_string()).help(help)
}

/// Values of a starter matrix that come from the compatibility data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct StarterValues {
    python: String,
    torch: String,
    rocm: String,
    gfx: Vec<&'static str>,
}

/// A requirement on torch that no values of a starter matrix meet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct MissingTorch {
    /// The version specifiers.
    versions: String,
    /// The Python versions that the project supports, if only wheels for these are missing.
    python: Option<String>,
}

#[derive(Serialize)]
struct ProjectView<'a> {
    name: String,
    version: String,
    read_from: &'a str,
    module: Option<&'a str>,
    python: String,
    torch: Option<String>,
    missing_torch: Option<MissingTorch>,
    rocm: String,
    gfx: Vec<&'static str>,
}

/// The reason why no starter matrix can be created.
#[derive(Debug, thiserror::Error)]
pub enum StarterError {
    /// The compatibility data has no torch with ROCm wheels.
    #[error("the compatibility data lists no torch with ROCm wheels")]
    NoTorch,
    /// No torch with ROCm wheels supports these Python versions.
    #[error(
        "the compatibility data lists no torch with ROCm wheels for Python {0}, which the project \
         requires"
    )]
    NoPython(String),
    /// No flash-attn works with a known torch.
    #[error(
        "the compatibility data lists no flash-attn whose Triton kernels can be imported with a \
         known torch"
    )]
    NoFlashAttn,
    /// The template is invalid.
    #[error(transparent)]
    Template(#[from] TemplateError),
}

impl StarterError {
    /// Returns the error for a project that no torch with ROCm wheels fits.
    fn no_pair(project: &PythonProject) -> Self {
        match &project.python {
            Some(python) => Self::NoPython(python.to_string()),
            None => Self::NoTorch,
        }
    }
}

/// Returns the matrix file for a project.
///
/// # Errors
/// If the compatibility data has no torch for it.
fn project_matrix(project: &PythonProject, compat: &Compat) -> Result<String, StarterError> {
    let (values, missing_torch) = project_values(project, project.needs_torch, compat)?;
    let view = ProjectView {
        name: project.name.normalized(),
        version: project.version.to_string(),
        read_from: project.read_from,
        module: project.module.as_deref(),
        python: values.python,
        torch: project.needs_torch.then_some(values.torch),
        missing_torch,
        rocm: values.rocm,
        gfx: values.gfx,
    };
    Ok(render(
        "project.yaml",
        include_str!("../templates/starter/project.yaml"),
        &view,
    )?)
}

/// Returns the values for a project: the newest ones that it supports. If no known torch is one that
/// it requires, the second value describes this requirement.
///
/// # Errors
/// If the compatibility data has no torch for its Python versions.
fn project_values(
    project: &PythonProject,
    needs_torch: bool,
    compat: &Compat,
) -> Result<(StarterValues, Option<MissingTorch>), StarterError> {
    let python = project.python.as_ref();
    let required: &[Requirement] = if needs_torch { &project.torch } else { &[] };
    if let Some(values) = pairs(compat, python, required).next() {
        return Ok((values, None));
    }
    let values = pairs(compat, python, &[])
        .next()
        .ok_or_else(|| StarterError::no_pair(project))?;
    let versions = values
        .python
        .parse::<PythonVersion>()
        .map(|python| allowed_torch(required, python));
    let missing = MissingTorch {
        versions: versions.unwrap_or_default().to_string(),
        python: python
            .filter(|_| pairs(compat, None, required).next().is_some())
            .map(ToString::to_string),
    };
    Ok((values, Some(missing)))
}

/// Returns the versions of torch that requirements allow for a Python version.
fn allowed_torch(required: &[Requirement], python: PythonVersion) -> VersionSpecifiers {
    required
        .iter()
        .filter(|requirement| requirement.applies_to(python))
        .filter_map(|requirement| requirement.specifiers().ok())
        .fold(VersionSpecifiers::default(), VersionSpecifiers::and)
}

/// Returns pairs of torch and ROCm, the newest of each row with the confidence "verified", and the
/// newest torch first. `supported` limits the Python versions, and `required` those of torch.
fn pairs<'a>(
    compat: &'a Compat,
    supported: Option<&'a VersionSpecifiers>,
    required: &'a [Requirement],
) -> impl Iterator<Item = StarterValues> + use<'a> {
    let verified = |row: &&TorchRow| row.origin.status == Confidence::Verified;
    compat
        .tables()
        .torch
        .iter()
        .rev()
        .filter(verified)
        .filter_map(move |row| {
            let python: PythonVersion = common_python(row, compat, supported)?.parse().ok()?;
            let allowed = allowed_torch(required, python);
            let is_allowed = |(torch, rocm): &(&String, &String)| {
                let wheel = format!("{torch}+rocm{rocm}").parse::<Version>();
                wheel.is_ok_and(|wheel| allowed.contains(&wheel))
            };
            let newest_rocm = row.rocm_index.iter().rev();
            let mut newest = row.patches.iter().rev().cartesian_product(newest_rocm);
            let (torch, rocm) = newest.find(is_allowed)?;
            let (version, index): (Version, RocmVersion) =
                (torch.parse().ok()?, rocm.parse().ok()?);
            let has_wheels = matches!(
                compat.torch_rocm_support(&version, &index),
                Support::Supported { .. }
            ) && matches!(
                compat.torch_python_support(&version, python),
                Support::Supported { .. }
            );
            let in_torch = |target: &&str| {
                compat
                    .torch_gfx(&index)
                    .is_none_or(|row| row.gfx.iter().any(|gfx| gfx == *target))
            };
            let gfx = TARGETS.iter().copied().filter(in_torch).collect();
            has_wheels.then(|| StarterValues {
                python: python.to_string(),
                torch: torch.clone(),
                rocm: rocm.clone(),
                gfx,
            })
        })
}

/// Returns the Python version of a torch that most torch versions have wheels for, and the newest
/// of several. `supported` limits them to the versions that a project supports.
fn common_python<'a>(
    torch: &'a TorchRow,
    compat: &Compat,
    supported: Option<&VersionSpecifiers>,
) -> Option<&'a str> {
    let is_supported = |python: &&String| {
        supported.is_none_or(|set| {
            python
                .parse::<Version>()
                .is_ok_and(|python| set.contains(&python))
        })
    };
    let count = |python: &String| {
        compat
            .tables()
            .torch
            .iter()
            .filter(|row| row.python.contains(python))
            .count()
    };
    let newest = |python: &String| python.parse::<PythonVersion>().ok();
    torch
        .python
        .iter()
        .filter(is_supported)
        .max_by_key(|python| (count(python), newest(python)))
        .map(String::as_str)
}

#[cfg(test)]
mod tests {
    use super::flash_attn::flash_attn_matrix;
    use super::{ProjectError, ProjectFiles, ProjectOverrides, PythonProject, project_matrix};
    use rock_compat::Compat;

    fn files(
        pyproject: Option<&str>,
        setup_cfg: Option<&str>,
        setup_py: Option<&str>,
    ) -> ProjectFiles {
        let text = |text: Option<&str>| text.map(str::to_owned);
        ProjectFiles {
            pyproject: text(pyproject),
            setup_cfg: text(setup_cfg),
            setup_py: text(setup_py),
            modules: vec!["my_ops".to_owned()],
        }
    }

    fn read(files: &ProjectFiles) -> Result<PythonProject, ProjectError> {
        files.project(&ProjectOverrides::default())
    }

    #[test]
    fn name_and_version_come_from_the_first_file_that_has_them() {
        let check = |files: ProjectFiles, expect: (&str, &str, &str)| {
            let found = read(&files).unwrap();
            assert_eq!(
                (
                    &*found.name.normalized(),
                    &*found.version.to_string(),
                    found.read_from
                ),
                expect
            );
        };
        check(
            files(
                Some("[project]\nname = \"My_Ops\"\nversion = \"1.2\"\n"),
                None,
                None,
            ),
            ("my-ops", "1.2", "pyproject.toml"),
        );
        check(
            files(
                Some("[tool.poetry]\nname = 'my-ops'\nversion = '0.3'\n"),
                None,
                None,
            ),
            ("my-ops", "0.3", "pyproject.toml"),
        );
        check(
            files(
                Some("[build-system]\nrequires = []\n"),
                Some("[metadata]\nname = my-ops\nversion = 2\n[x]\n"),
                None,
            ),
            ("my-ops", "2", "setup.cfg"),
        );
        check(
            files(
                None,
                None,
                Some("setup(\n    name='my_ops',\n    version=\"3.1\",\n)\n"),
            ),
            ("my-ops", "3.1", "setup.py"),
        );
    }

    #[test]
    fn what_cannot_be_read_is_an_error_and_can_be_given() {
        let dynamic = files(
            Some("[project]\nname = \"my-ops\"\ndynamic = [\"version\"]\n"),
            None,
            None,
        );
        assert_eq!(
            read(&dynamic),
            Err(ProjectError::NoVersion("my-ops".to_owned()))
        );
        let given = ProjectOverrides {
            name: None,
            version: Some("4.0".to_owned()),
        };
        assert_eq!(dynamic.project(&given).unwrap().version.to_string(), "4.0");
        assert!(matches!(
            read(&files(Some("[project\n"), None, None)),
            Err(ProjectError::Syntax(_))
        ));
        assert_eq!(
            read(&files(None, None, Some("setup(**values)\n"))),
            Err(ProjectError::NoName)
        );
        let attribute = files(
            None,
            Some("[metadata]\nname = my-ops\nversion = attr: my_ops.V\n"),
            Some("setup()\n"),
        );
        assert_eq!(
            read(&attribute),
            Err(ProjectError::NoVersion("my-ops".to_owned()))
        );
        let labelled = files(
            None,
            None,
            Some("setup(name='my-ops', version='1.0+cu12')\n"),
        );
        assert_eq!(
            read(&labelled),
            Err(ProjectError::BadVersion(
                "`1.0+cu12` already has a label; the plan adds the label".to_owned()
            ))
        );
        assert!(!files(Some("[tool.ruff]\nline-length = 100\n"), None, None).is_project());
    }

    #[test]
    fn torch_and_the_module_are_found() {
        let with = "[build-system]\nrequires = ['setuptools', 'torch>=2']\n[project]\nname='my-ops'\nversion='1'\n";
        let found = read(&files(Some(with), None, None)).unwrap();
        assert!(found.needs_torch && found.module.as_deref() == Some("my_ops"));
        let without =
            "[build-system]\nrequires = ['torchtools']\n[project]\nname='other'\nversion='1'\n";
        let found = read(&files(Some(without), None, None)).unwrap();
        assert!(!found.needs_torch && found.module.is_none());
        let compat = Compat::embedded();
        assert!(!project_matrix(&found, &compat).unwrap().contains("torch:"));
        assert!(
            flash_attn_matrix(&compat)
                .unwrap()
                .contains("backend: [triton]")
        );
    }

    #[test]
    fn the_torch_that_a_project_requires_is_built_for() {
        let axis = |build: &str, dependency: &str| {
            let pyproject = format!(
                "[build-system]\nrequires = ['ninja', '{build}']\n\
                 [project]\nname='my-ops'\nversion='1'\ndependencies = ['{dependency}']\n"
            );
            let found = read(&files(Some(&pyproject), None, None)).unwrap();
            let matrix = project_matrix(&found, &Compat::embedded()).unwrap();
            let lines = matrix.lines().map(str::trim);
            let lines = lines.filter(|line| {
                line.starts_with("torch:") || line.starts_with("# pyproject.toml requires")
            });
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        let newest = axis("torch", "numpy==1.26");
        assert_eq!(newest.len(), 1, "{newest:?}");
        assert_eq!(axis("torch==2.8.*", "numpy"), ["torch: [\"2.8.0\"]"]);
        assert_eq!(
            axis("torch[opt] ~= 2.9.0 ; os_name == \"posix\"", "numpy"),
            ["torch: [\"2.9.1\"]"]
        );
        assert_eq!(axis("Torch", "torch (==2.9.0)"), ["torch: [\"2.9.0\"]"]);
        assert_eq!(
            axis("torch @ https://example.org/torch.whl", "numpy"),
            newest
        );
        let missing = "# pyproject.toml requires torch ==1.4, but `rock-matrix compat list torch` has no verified ROCm wheels of it.";
        assert_eq!(axis("torch==1.4", "numpy"), [missing, newest[0].as_str()]);
    }

    /// Returns the values of torch and ROCm for a project that is built against torch, with the
    /// comment about a torch that is missing; `tables` are the rest of its `pyproject.toml`.
    fn torch_and_rocm(tables: &str) -> Vec<String> {
        let pyproject = format!("[build-system]\nrequires = ['torch']\n{tables}");
        let given = ProjectOverrides {
            name: Some("my-ops".parse().unwrap()),
            version: Some("1".to_owned()),
        };
        let project = files(Some(&pyproject), None, None).project(&given).unwrap();
        let matrix = project_matrix(&project, &Compat::embedded()).unwrap();
        let lines = matrix.lines().map(str::trim);
        let keys = ["torch:", "rocm:", "# pyproject.toml requires"];
        lines
            .filter(|line| keys.iter().any(|key| line.starts_with(key)))
            .map(str::to_owned)
            .collect()
    }

    #[test]
    fn requirements_with_labels_and_markers_choose_torch_and_rocm() {
        let depends_on = |requirements: &str| {
            torch_and_rocm(&format!("[project]\ndependencies = [{requirements}]\n"))
        };
        assert_eq!(
            depends_on("'torch==2.9.1+rocm6.4'"),
            ["torch: [\"2.9.1\"]", "rocm: [\"6.4\"]"]
        );
        assert_eq!(
            depends_on("'torch==2.9.0+rocm6.3'"),
            ["torch: [\"2.9.0\"]", "rocm: [\"6.3\"]"]
        );
        let foreign = depends_on("'torch==2.9.1+cu128'");
        assert_eq!(
            foreign[0],
            "# pyproject.toml requires torch ==2.9.1+cu128, but `rock-matrix compat list torch` has no verified ROCm wheels of it."
        );
        assert_eq!(
            depends_on(
                "\"torch==2.3; sys_platform=='darwin'\", \"torch==2.9.1; sys_platform=='linux'\""
            ),
            ["torch: [\"2.9.1\"]", "rocm: [\"6.4\"]"]
        );
        assert_eq!(
            depends_on(
                "\"torch==2.8.0; python_version<'3.12'\", \"torch==2.9.0; python_version>='3.12'\""
            ),
            ["torch: [\"2.9.0\"]", "rocm: [\"6.4\"]"]
        );
    }

    #[test]
    fn a_python_without_wheels_of_the_required_torch_is_named() {
        let found = torch_and_rocm(
            "[project]\nrequires-python = '>=3.13'\ndependencies = ['torch==2.4.*']\n",
        );
        assert_eq!(
            found[0],
            "# pyproject.toml requires torch ==2.4.*, but `rock-matrix compat list torch` has no verified ROCm wheels of it for Python >=3.13."
        );
    }

    #[test]
    fn the_torch_that_poetry_requires_is_built_for() {
        let torch = |constraint: &str| {
            let found = torch_and_rocm(&format!(
                "[tool.poetry.dependencies]\ntorch = {constraint}\n"
            ));
            found[0].clone()
        };
        let newest = torch_and_rocm("")[0].clone();
        assert_eq!(torch("'*'"), newest);
        assert_eq!(torch("'^2.8'"), newest);
        assert_eq!(torch("{git = 'https://example.org/torch'}"), newest);
        assert_eq!(torch("'2.3 || 2.5'"), newest);
        assert_eq!(torch("{version = '2.3', python = '<3.9 || >3.10'}"), newest);
        assert_eq!(torch("'~2.8'"), "torch: [\"2.8.0\"]");
        assert_eq!(torch("'2.9.0'"), "torch: [\"2.9.0\"]");
        assert_eq!(torch("'>=2.7,<2.9,!=2.8.*'"), "torch: [\"2.7.1\"]");
        let by_platform = "[{version = '2.3', platform = 'darwin'}, \
                           {version = '2.9.*', markers = \"sys_platform == 'linux'\"}]";
        assert_eq!(torch(by_platform), "torch: [\"2.9.1\"]");
        let by_python = "[{version = '2.4.0', python = '~3.11'}, \
                         {version = '2.5.0', python = '^3.12'}]";
        assert_eq!(torch(by_python), "torch: [\"2.5.0\"]");
        assert_eq!(
            torch("'^0.4.1'"),
            "# pyproject.toml requires torch >=0.4.1,<0.5, but `rock-matrix compat list torch` has no verified ROCm wheels of it."
        );
    }
}
