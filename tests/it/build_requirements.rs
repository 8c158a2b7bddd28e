//! The build requirements of a project that the recipe hip-extension builds against torch, which
//! the real pip installs into the virtual environment of the job, without a network.

use crate::support::bundle::hip_bundle;
use crate::support::{Family, Wheel};

/// A torch for ROCm, as its index has it.
const TORCH: &str = "class version:\n    hip = '7.0'\n\n\n__version__ = '2.10.0+rocm7.0'\n";

/// A build backend in the project.
const BACKEND: &str = r#"import helper
from standin import *


def get_requires_for_build_wheel(config_settings=None):
    return ["triton>=3.7", "backend-need"]
"#;

/// The backend that pip uses if `pyproject.toml` names none. It has a requirement, like that of a
/// setup.py with `setup_requires`.
const LEGACY_BACKEND: &str = r#"import os
import sys

sys.path.insert(0, os.getcwd())
import standin


class __legacy__:
    build_wheel = staticmethod(standin.build_wheel)
    prepare_metadata_for_build_wheel = staticmethod(standin.prepare_metadata_for_build_wheel)

    @staticmethod
    def get_requires_for_build_wheel(config_settings=None):
        return ["need"]
"#;

/// Adds to the wheelhouse: torch and the triton that it needs, both also as on PyPI, build
/// requirements, and the tools of the stage `build-tools`.
fn fill_wheelhouse(family: &Family) {
    let tools = ["wheel", "ninja", "psutil"];
    let tools = tools.map(|tool| Wheel::named(&format!("{tool}-99.0-py3-none-any.whl")));
    let wheels = [
        Wheel::named("torch-2.10.0+rocm7.0-py3-none-any.whl")
            .file("torch/__init__.py", TORCH)
            .requires("pytorch-triton-rocm==3.6.0"),
        Wheel::named("pytorch_triton_rocm-3.6.0-py3-none-any.whl").file("triton/__init__.py", ""),
        Wheel::named("torch-2.11.0-py3-none-any.whl"),
        Wheel::named("triton-3.7.0-py3-none-any.whl"),
        Wheel::named("helper-1.0-py3-none-any.whl").requires("torch"),
        Wheel::named("helper-2.0-py3-none-any.whl").requires("torch>=2.11"),
        Wheel::named("backend_need-1.0-py3-none-any.whl"),
        Wheel::named("setuptools-99.0-py3-none-any.whl")
            .file("setuptools/build_meta.py", LEGACY_BACKEND),
        // pip contains the real one.
        Wheel::named("packaging-99.0-py3-none-any.whl")
            .file(
                "packaging/requirements.py",
                "from pip._vendor.packaging.requirements import *\n",
            )
            .file(
                "packaging/utils.py",
                "from pip._vendor.packaging.utils import *\n",
            ),
    ];
    for wheel in wheels.into_iter().chain(tools) {
        family.write(&format!("wheelhouse/{}", wheel.name()), wheel.bytes());
    }
}

/// Requirements of `build-system.requires` and of the backend are installed, but nothing replaces
/// the torch of the job and its triton.
#[test]
fn build_requirements_do_not_replace_torch() {
    let family = Family::new();
    fill_wheelhouse(&family);
    let python = family.path("venv/bin/python").display().to_string();
    let matrix = format!(
        "version: 1\ndistribution: ext\nrecipe: hip-extension\nunknown: lenient\n\
         axes: {{ext: [\"1.0\"], python: [\"{}\"], rocm: [\"7.0\"], torch: [\"2.10.0\"]}}\n\
         torch-from: pytorch-index\npython-from: host\ngfx: [gfx942]\n\
         vars: {{python: {python}, source: extension, module: ext}}\n",
        family.python
    );
    family.write("m.yaml", matrix);
    let what = serde_json::json!({"name": "ext", "module": "ext", "version": "1.0"});
    let kernels = hip_bundle(&[("gfx942", 0x4c)], 512);
    family.tree("extension", &what, &[("kernels.hipfb", &kernels)]);
    family.write(
        "extension/pyproject.toml",
        "[build-system]\nrequires = [\"torch==2.11.*\", \"Triton\", \"helper\"]\n\
         build-backend = \"own_backend\"\nbackend-path = [\"backend\", \".\"]\n",
    );
    family.write("extension/backend/own_backend.py", BACKEND);
    // A folder of the project is not the requirement of the same name.
    family.write("extension/backend_need/notes.txt", "");
    let is_installed = |name: &str| {
        let site = format!("venv/lib/python{}/site-packages", family.python);
        family.job(&format!("{site}/{name}.dist-info")).exists()
    };

    family.build(0, &[]);
    let log = std::fs::read_to_string(family.job("logs/build.log")).unwrap();
    let left_out: Vec<&str> = log
        .lines()
        .filter(|line| line.contains(" is left out: "))
        .collect();
    assert_eq!(
        left_out,
        [
            "the build requirement torch==2.11.* is left out: the job has torch 2.10.0+rocm7.0",
            "the build requirement Triton is left out: the job has triton of another distribution",
            "the build requirement triton>=3.7 is left out: the job has triton of another distribution",
        ]
    );
    for name in [
        "torch-2.10.0+rocm7.0",
        "pytorch_triton_rocm-3.6.0",
        "helper-1.0",
        "backend_need-1.0",
    ] {
        assert!(is_installed(name), "{name}\n{log}");
    }
    assert!(!is_installed("triton-3.7.0"), "{log}");
    let wheel = format!(
        "ext-1.0+rocm70torch2.10-cp{0}-cp{0}-linux_x86_64.whl",
        family.python.replace('.', "")
    );
    assert_eq!(family.wheels().into_keys().collect::<Vec<_>>(), [wheel]);

    // Without `build-backend`, the requirements of the default backend are installed.
    assert!(!is_installed("need-1.0"), "{log}");
    family.write(
        "extension/pyproject.toml",
        "[build-system]\nrequires = [\"setuptools>=99\"]\n",
    );
    family.build(0, &["--resume=fetch-extension"]);
    assert!(is_installed("need-1.0"));
}
