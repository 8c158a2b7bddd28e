//! The steps before a recipe's own: tools, Python and torch, each from the source that the matrix
//! file names.

use itertools::Itertools as _;

use super::context::BuildSite;
use super::step::Step;
use rock_compat::Compat;
use rock_compat::rows::TorchIndexRow;
use rock_names::{PythonVersion, RocmVersion, Version};
use rock_plan::Job;
use rock_plan::config::recipe::RecipeDocument;
use rock_plan::config::{Platform, PythonFrom, TorchFrom};

const TOOLS: &str = include_str!("../templates/recipe/tools.sh");
const UV: &str = include_str!("../templates/recipe/uv.sh");
const DEADSNAKES: &str = include_str!("../templates/recipe/deadsnakes.sh");

/// Returns the interpreter that every later step calls: the one of the job's virtual environment if
/// it has one, else the one that the matrix file or the recipe names.
pub(super) fn interpreter(job: &Job, document: &RecipeDocument, site: &BuildSite) -> String {
    if has_own_python(job, document) {
        format!("{}/{}", site.folder(), python_in_venv(job))
    } else {
        named(job, document)
    }
}

/// Returns the directory of the programs that are installed next to the job's own Python, if it has
/// one.
pub(super) fn programs(job: &Job, document: &RecipeDocument, site: &BuildSite) -> Option<String> {
    let (folder, _) = python_in_venv(job).rsplit_once('/')?;
    has_own_python(job, document).then(|| format!("{}/{folder}", site.folder()))
}

fn python_in_venv(job: &Job) -> &'static str {
    match job.settings.platform {
        Platform::Linux => "venv/bin/python",
        Platform::Windows => "venv/Scripts/python.exe",
    }
}

/// Returns the interpreter that the matrix file or the recipe names. On Windows, `python` replaces
/// `python3`, which does not exist there.
pub fn named(job: &Job, document: &RecipeDocument) -> String {
    let named = job
        .settings
        .vars
        .get("python")
        .or_else(|| document.vars.get("python"));
    let named = named.map_or("python3", String::as_str);
    let is_windows = job.settings.platform == Platform::Windows;
    if is_windows && named == "python3" {
        "python".to_owned()
    } else {
        named.to_owned()
    }
}

/// Whether the job gets a virtual environment: nothing is installed into the Python of a machine or
/// an image.
pub(super) fn has_own_python(job: &Job, document: &RecipeDocument) -> bool {
    let settings = &job.settings;
    let found = matches!(settings.python_from, PythonFrom::Image | PythonFrom::Host);
    let installs_torch = matches!(
        settings.torch_from,
        TorchFrom::PytorchIndex | TorchFrom::AmdIndex
    );
    !found || (installs_torch && document.installed_torch(job).is_some())
}

/// Returns the steps that prepare tools, Python and torch.
pub(super) fn steps(
    job: &Job,
    document: &RecipeDocument,
    compat: &Compat,
    site: &BuildSite,
) -> Vec<Step> {
    let mut steps = Vec::new();
    if *site == BuildSite::Container && job.settings.python_from != PythonFrom::Host {
        steps.push(step("tools", &["bash", "-c", TOOLS]));
    }
    if has_own_python(job, document) {
        steps.extend(python_steps(job, document, site));
    }
    if let Some(torch) = document.installed_torch(job) {
        steps.extend(torch_steps(
            job,
            torch,
            &interpreter(job, document, site),
            compat,
        ));
    }
    steps
}

fn step(stage: &str, argv: &[&str]) -> Step {
    Step {
        stage: stage.to_owned(),
        argv: argv.iter().map(|word| (*word).to_owned()).collect(),
        ..Step::default()
    }
}

/// Returns the steps that create a virtual environment in the job directory and install the tools
/// that wheels are built with. Values reach the programs as arguments.
fn python_steps(job: &Job, document: &RecipeDocument, site: &BuildSite) -> Vec<Step> {
    let venv = format!("{}/venv", site.folder());
    let version = job
        .python
        .map(|python| python.to_string())
        .unwrap_or_default();
    let from_path = format!("python{version}");
    let mut make = match (job.settings.python_from, job.python) {
        (PythonFrom::Uv, _) if job.settings.platform == Platform::Windows => step(
            "python",
            &["uv", "venv", "--seed", "--python", &version, &venv],
        ),
        (PythonFrom::Uv, _) => step("python", &["bash", "-c", UV, "uv.sh", &version, &venv]),
        (PythonFrom::Deadsnakes, Some(python)) if *site == BuildSite::Container => {
            let package = format!("python{}", python.plain());
            let free_threaded = if python.is_free_threaded() {
                "-nogil"
            } else {
                ""
            };
            step(
                "python",
                &[
                    "bash",
                    "-c",
                    DEADSNAKES,
                    "deadsnakes.sh",
                    &package,
                    free_threaded,
                    &from_path,
                    &venv,
                ],
            )
        }
        (PythonFrom::Deadsnakes, _) => step("python", &[&from_path, "-m", "venv", &venv]),
        (PythonFrom::Manylinux, python) => {
            let path = python.map(manylinux_python).unwrap_or_default();
            step("python", &[&path, "-m", "venv", &venv])
        }
        // The packages of this Python stay visible, such as an image's torch.
        (PythonFrom::Image | PythonFrom::Host, _) => step(
            "python",
            &[
                &named(job, document),
                "-m",
                "venv",
                "--system-site-packages",
                &venv,
            ],
        ),
    };
    make.clean = vec!["venv".to_owned()];
    let python = interpreter(job, document, site);
    let mut tools = step(
        "build-tools",
        &[
            &python,
            "-m",
            "pip",
            "install",
            "--quiet",
            "setuptools",
            "wheel",
            "packaging",
            "ninja",
            "psutil",
        ],
    );
    tools.retries = 2;
    vec![make, tools]
}

/// Returns the path of an interpreter in the images of the manylinux project. Source:
/// pypa/manylinux, README, "Image content".
fn manylinux_python(python: PythonVersion) -> String {
    format!("/opt/python/{}/bin/python", python.cp_tag())
}

/// Returns the address that torch is installed from, with a `{rocm}` placeholder: the one in the
/// matrix file, else the one in the compatibility data.
pub(super) fn index_of<'a>(job: &'a Job, torch: &Version, compat: &'a Compat) -> Option<&'a str> {
    let (from, indexes) = (job.settings.torch_from, &job.settings.indexes);
    let named = if from == TorchFrom::AmdIndex {
        indexes.get("rocm")
    } else {
        indexes.get("torch")
    };
    named
        .map(String::as_str)
        .or_else(|| Some(index_row(job, torch, compat)?.address.as_str()))
}

fn index_row<'a>(job: &Job, torch: &Version, compat: &'a Compat) -> Option<&'a TorchIndexRow> {
    compat.torch_index(job.settings.torch_from.word(), torch, job.rocm.as_ref()?)
}

/// Returns the requirement of torch on AMD's index: wheels for several ROCm versions differ by
/// their local version there, and device code is in separate packages, which an extra selects.
fn amd_requirement(
    job: &Job,
    torch: &Version,
    rocm: &RocmVersion,
    row: Option<&TorchIndexRow>,
) -> String {
    let has_extras = job.settings.device_extras || row.is_some_and(|row| row.device_extras);
    let extras: Vec<String> = if has_extras {
        device_extras(job)
    } else {
        Vec::new()
    };
    let extras = if extras.is_empty() {
        String::new()
    } else {
        format!("[{}]", extras.join(","))
    };
    let [major, minor, patch, _] = rocm.parts();
    let local = row
        .map(|row| {
            row.local
                .replace("{rocm}", &format!("{major}.{minor}.{patch}"))
        })
        .unwrap_or_default();
    let local = if local.is_empty() {
        local
    } else {
        format!("+{local}")
    };
    format!("torch{extras}=={torch}{local}")
}

/// Returns the extras of the packages with device code for a job's targets, `device-gfx942`.
pub(super) fn device_extras(job: &Job) -> Vec<String> {
    job.gfx
        .iter()
        .map(|target| format!("device-{}", target.processor()))
        .unique()
        .collect()
}

fn torch_steps(job: &Job, torch: &Version, python: &str, compat: &Compat) -> Vec<Step> {
    let mut argv = vec![
        python.to_owned(),
        "-m".into(),
        "pip".into(),
        "install".into(),
    ];
    let requirement = format!("torch=={torch}");
    let address = index_of(job, torch, compat).unwrap_or_default();
    match (job.settings.torch_from, &job.rocm) {
        (TorchFrom::Image | TorchFrom::Host, _) | (_, None) => return Vec::new(),
        (TorchFrom::PytorchIndex, Some(rocm)) => {
            if torch.is_prerelease() {
                argv.push("--pre".to_owned());
            }
            let index = address.replace("{rocm}", &index_suffix(torch, rocm, compat));
            argv.extend([requirement, "--index-url".to_owned(), index]);
        }
        (TorchFrom::AmdIndex, Some(rocm)) => {
            let row = index_row(job, torch, compat);
            let option = if row.is_some_and(|row| row.links) {
                "--find-links"
            } else {
                "--index-url"
            };
            let address = address.replace("{rocm}", rocm.as_str());
            argv.extend([
                amd_requirement(job, torch, rocm, row),
                option.to_owned(),
                address,
            ]);
        }
    }
    let install = Step {
        stage: "torch".to_owned(),
        argv,
        retries: 2,
        ..Step::default()
    };
    vec![install, step("torch-check", &[python, "-c", TORCH_CHECK])]
}

/// Fails early if torch was built without HIP: hours later, the result would be a build for another
/// vendor, or for none.
const TORCH_CHECK: &str = "import sys, torch; print('torch', torch.__version__, 'HIP', torch.version.hip); \
     sys.exit(None if torch.version.hip else 'this torch was not built for ROCm')";

/// Returns the literal suffix of the index path for a torch and a ROCm version: the one in the
/// compatibility data that serves this ROCm, so that `6.2.4` keeps its patch for torch 2.6.0, and
/// `7.1` serves 7.1.1. Without a row, the version as written.
pub fn index_suffix(torch: &Version, rocm: &RocmVersion, compat: &Compat) -> String {
    let listed = compat
        .torch(torch)
        .map(|row| row.rocm_index.as_slice())
        .unwrap_or_default();
    let exact = listed.iter().find(|suffix| {
        suffix
            .parse::<RocmVersion>()
            .is_ok_and(|listed| listed == *rocm)
    });
    let minor = rocm.minor();
    let by_minor = || {
        listed
            .iter()
            .find(|suffix| suffix.as_str() == minor.as_str())
    };
    exact
        .or_else(by_minor)
        .cloned()
        .unwrap_or_else(|| rocm.to_string())
}
