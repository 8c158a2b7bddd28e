//! What stands before a recipe's own steps: tools, Python, torch, each from where the matrix file says.

use super::context::Site;
use super::step::Step;
use crate::compat::Compat;
use crate::config::recipe::RecipeDocument;
use crate::config::{PythonFrom, TorchFrom};
use crate::names::{RocmVersion, Version};
use crate::plan::Job;

/// The official index of torch wheels; `{rocm}` is the suffix of its path. Source: pytorch.org, "Start locally".
const TORCH_INDEX: &str = "https://download.pytorch.org/whl/rocm{rocm}";
/// The same for nightly builds (`nightly/rocm6.2` in the path).
const TORCH_NIGHTLY_INDEX: &str = "https://download.pytorch.org/whl/nightly/rocm{rocm}";
/// AMD's index. Source: rocm.docs.amd.com, "Install PyTorch via pip".
const AMD_INDEX: &str = "https://repo.radeon.com/rocm/manylinux/rocm-rel-{rocm}/";

/// The interpreter that every later step calls.
pub fn interpreter(job: &Job, document: &RecipeDocument, site: &Site) -> String {
    let default = document.vars.get("python").map_or("python3", String::as_str);
    let named = job.settings.vars.get("python").map_or(default, String::as_str);
    match (site, job.settings.python_from) {
        (Site::Host { .. }, _) | (_, PythonFrom::Image | PythonFrom::Host) => named.to_owned(),
        (Site::Container, _) => format!("{}/venv/bin/python", site.folder()),
    }
}

/// The steps that make tools, Python and torch ready.
pub(super) fn steps(job: &Job, document: &RecipeDocument, compat: &Compat, site: &Site) -> Vec<Step> {
    let python = interpreter(job, document, site);
    let mut steps = Vec::new();
    if *site == Site::Container && job.settings.python_from != PythonFrom::Host {
        steps.push(tools(job));
        steps.extend(python_steps(job));
    }
    if let Some(torch) = &job.torch {
        steps.extend(torch_step(job, torch, &python, compat));
    }
    steps
}

fn step(stage: &str, argv: &[&str]) -> Step {
    Step { stage: stage.to_owned(), argv: argv.iter().map(|word| (*word).to_owned()).collect(), ..Step::default() }
}

/// git, ninja, patchelf, ccache, time and the release tool: images do not have them all.
fn tools(job: &Job) -> Step {
    const PROGRAM: &str = r#"set -eu
missing=()
for pair in git:git ninja:ninja-build patchelf:patchelf ccache:ccache time:time gh:gh curl:curl; do
  command -v "${pair%%:*}" >/dev/null 2>&1 || missing+=("${pair##*:}")
done
[ "${#missing[@]}" -gt 0 ] || exit 0
echo "installing ${missing[*]}"
if command -v apt-get >/dev/null 2>&1; then
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  for package in "${missing[@]}"; do
    apt-get install -y -qq --no-install-recommends "$package" || echo "without $package: this image's archive has none"
  done
elif command -v dnf >/dev/null 2>&1; then
  for package in "${missing[@]}"; do
    dnf install -y -q "$package" || echo "without $package: this image's archive has none"
  done
else
  echo "without ${missing[*]}: the image has neither apt-get nor dnf"
fi"#;
    let _ = job;
    step("tools", &["bash", "-c", PROGRAM])
}

fn python_steps(job: &Job) -> Vec<Step> {
    let Some(python) = job.python else { return Vec::new() };
    let venv = format!("{}/venv", super::container::MOUNT);
    let free_threaded = if python.is_free_threaded() { "-nogil" } else { "" };
    let steps = match job.settings.python_from {
        PythonFrom::Uv => vec![
            step("uv", &["python3", "-m", "pip", "install", "--quiet", "--break-system-packages", "uv"]),
            step("python", &["python3", "-m", "uv", "venv", "--seed", "--python", &python.to_string(), &venv]),
        ],
        PythonFrom::Deadsnakes => {
            let program = format!(
                "set -eu\nexport DEBIAN_FRONTEND=noninteractive\napt-get install -y -qq software-properties-common\n\
                 add-apt-repository -y ppa:deadsnakes/ppa\napt-get update -qq\n\
                 apt-get install -y -qq python{0}{free_threaded} python{0}-dev python{0}-venv\n\
                 python{python} -m venv {venv}",
                python.plain()
            );
            vec![step("python", &["bash", "-c", &program])]
        }
        PythonFrom::Manylinux => {
            let path = format!("/opt/python/{}-{}/bin/python", python.python_tag(), python.abi_tag());
            vec![step("python", &[&path, "-m", "venv", &venv])]
        }
        PythonFrom::Image | PythonFrom::Host => return Vec::new(),
    };
    let tools = ["-m", "pip", "install", "--quiet", "setuptools", "wheel", "packaging", "ninja"];
    let python = format!("{venv}/bin/python");
    let mut argv = vec![python.as_str()];
    argv.extend(tools);
    steps.into_iter().chain([step("build-tools", &argv)]).collect()
}

fn torch_step(job: &Job, torch: &Version, python: &str, compat: &Compat) -> Option<Step> {
    let rocm = job.rocm.as_ref()?;
    let requirement = format!("torch=={torch}");
    let mut argv = vec![python.to_owned(), "-m".into(), "pip".into(), "install".into()];
    match job.settings.torch_from {
        TorchFrom::Image | TorchFrom::Host => return None,
        TorchFrom::PytorchIndex => {
            let nightly = torch.is_pre();
            let template = match job.settings.indexes.get("torch") {
                Some(template) => template.as_str(),
                None if nightly => TORCH_NIGHTLY_INDEX,
                None => TORCH_INDEX,
            };
            if nightly {
                argv.push("--pre".to_owned());
            }
            let suffix = index_suffix(torch, rocm, compat);
            argv.extend([requirement, "--index-url".to_owned(), template.replace("{rocm}", &suffix)]);
        }
        TorchFrom::AmdIndex => {
            let template = job.settings.indexes.get("rocm").map_or(AMD_INDEX, String::as_str);
            argv.extend([requirement, "--find-links".to_owned(), template.replace("{rocm}", rocm.as_str())]);
        }
    }
    Some(Step { stage: "torch".to_owned(), argv, ..Step::default() })
}

/// The literal suffix of the index path for a torch and a ROCm: that of the facts which serves this ROCm, so `6.2.4`
/// keeps its patch for torch 2.6.0, and `7.1` serves 7.1.1. Without a row, the version as written.
pub fn index_suffix(torch: &Version, rocm: &RocmVersion, compat: &Compat) -> String {
    let listed = compat.torch(torch).map(|row| row.rocm_index.as_slice()).unwrap_or_default();
    let exact = listed.iter().find(|suffix| suffix.parse::<RocmVersion>().is_ok_and(|listed| listed == *rocm));
    let minor = rocm.minor();
    let by_minor = || listed.iter().find(|suffix| suffix.as_str() == minor.as_str());
    exact.or_else(by_minor).cloned().unwrap_or_else(|| rocm.to_string())
}
