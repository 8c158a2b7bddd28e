//! Stand-ins for torch and what is built with it: source trees whose builds note how they were
//! called and make real wheels, a virtual environment, and the packages of a real SDK for pip to
//! find. Nothing of it needs a network.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::printed_commands::try_printed_commands;
use super::{Project, Wheel, need_pip, sdk};

const STANDIN: &str = include_str!("standin/standin.py");
const SETUPTOOLS: &str = include_str!("standin/setuptools.py");
const BUILD: &str = include_str!("standin/build.py");
const PIP: &str = include_str!("standin/pip.py");
/// A tree whose build back end stands in it, for pip and `python -m build`.
pub const PYPROJECT: &str =
    "[build-system]\nrequires = []\nbuild-backend = \"standin\"\nbackend-path = [\".\"]\n";
/// What `import torch` does first in a real one.
const TORCH: &str = "from . import _rocm_init\n\n_rocm_init.initialize()\n\n\nclass cuda:\n    is_available = staticmethod(lambda: False)\n\n\n\
                     __version__ = 'of the tree'\n";
/// Kills the builder once in each stage: before its work is done, or once it is done and nobody has
/// noted that.
const KILLER: &str = r#"#!/bin/bash
real=${0%/*}/venv/bin/python
[ "$(cat /proc/$PPID/comm)" = rock-matrix ] || exec "$real" "$@"
stage=$(awk -F'"' '/"stage":/ { stage = $4 } /"state": "running"/ { print stage }' "${ROCK_JOB_FOLDER:-}/build.json" 2>/dev/null)
if [ -z "$stage" ] || grep -qsx "$stage" "${0%/*}/killed"; then exec "$real" "$@"; fi
[ "$WHEN" = before ] || "$real" "$@"
echo "$stage" >>"${0%/*}/killed"
kill -KILL $PPID
"#;

/// A folder with the trees below `trees`, the environment in `venv` and wheels in `wheelhouse`.
pub struct Family {
    pub project: Project,
    /// Python's version, `3.11`.
    pub python: String,
}

/// How the build of a tree was called.
#[derive(Debug)]
pub struct Called {
    pub argv: Vec<String>,
    pub settings: serde_json::Value,
    pub cwd: String,
    pub env: BTreeMap<String, String>,
}

impl Family {
    /// All of it, with the real pip. The SDK is not installed.
    pub fn new() -> Self {
        need_pip();
        let ask = "import os, pip, sys; print(sys.executable, '%d.%d' % sys.version_info[:2], os.path.dirname(pip.__file__), sep='\\n')";
        let output = Command::new("python3").args(["-c", ask]).output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let [program, python, pip] = stdout.lines().collect::<Vec<_>>()[..] else {
            panic!("{stdout}")
        };
        let project = Project::new();
        let venv = project.path("venv");
        let made = Command::new(program)
            .args(["-m", "venv", "--without-pip"])
            .arg(&venv)
            .status();
        assert!(made.unwrap().success());
        let family = Self {
            project,
            python: python.to_owned(),
        };
        symlink(pip, family.site("pip")).unwrap();
        family.write_trees();
        family.fill_wheelhouse();
        family.write("python", KILLER);
        std::fs::set_permissions(family.path("python"), PermissionsExt::from_mode(0o755)).unwrap();
        family
    }

    fn write_trees(&self) {
        for (name, place, module, version) in [
            ("torch", "torch", "torch", "{PYTORCH_BUILD_VERSION}"),
            (
                "{TRITON_WHEEL_NAME}",
                "triton/python",
                "triton",
                "3.4.0{TRITON_WHEEL_VERSION_SUFFIX}",
            ),
            ("torchaudio", "torchaudio", "torchaudio", "{BUILD_VERSION}"),
            (
                "torchvision",
                "torchvision",
                "torchvision",
                "{BUILD_VERSION}",
            ),
            ("apex", "apex", "apex", "{BUILD_VERSION}"),
        ] {
            let what = serde_json::json!({"name": name, "module": module, "version": version});
            self.tree(&format!("trees/{place}"), &what, &[]);
            // Wheels that are smaller than any finished one are refused.
            self.write(
                &format!("trees/{place}/{module}/weights.bin"),
                vec![0; 110_000],
            );
            self.write(
                &format!("trees/{place}/setup.py"),
                "import standin\n\nstandin.setup()\n",
            );
            self.write(
                &format!("trees/{place}/version.txt"),
                if module == "torchvision" {
                    "0.24.0\n"
                } else {
                    "2.9.0\n"
                },
            );
        }
        self.write("trees/torch/torch/__init__.py", TORCH);
        self.write("trees/torch/.gitignore", "torch/_rocm_init.py\n");
        self.write("trees/torch/requirements.txt", "need==1.0\n");
        self.write("trees/triton/python/requirements.txt", "need==1.0\n");
        self.write(
            "trees/torchaudio/CMakeLists.txt",
            "find_package(Torch REQUIRED)\n",
        );
    }

    /// What pip finds: the SDK, what builds wheels, and a requirement.
    fn fill_wheelhouse(&self) {
        sdk::copy(&self.path("wheelhouse"));
        let build = Wheel::named("build-1.2-py3-none-any.whl").file("build/__main__.py", BUILD);
        let setuptools = Wheel::named("setuptools-99.0-py3-none-any.whl")
            .file(
                "setuptools/__init__.py",
                "from setuptools.build_meta import setup\n",
            )
            .file("setuptools/build_meta.py", SETUPTOOLS);
        for wheel in [build, setuptools, Wheel::named("need-1.0-py3-none-any.whl")] {
            self.write(&format!("wheelhouse/{}", wheel.name()), wheel.bytes());
        }
    }

    /// Creates a family with the SDK and build tools, as pip installs them from the wheelhouse, and
    /// with a stand-in for pip.
    pub fn with_sdk() -> Self {
        let family = Self::with_sdk_and_pip();
        family.replace_pip();
        family
    }

    /// Puts a stand-in in place of pip, for builds whose claim is not what pip does.
    pub fn replace_pip(&self) {
        let pip = self.site("pip");
        std::fs::remove_file(&pip).unwrap();
        std::fs::create_dir(&pip).unwrap();
        std::fs::write(pip.join("__init__.py"), "").unwrap();
        std::fs::write(pip.join("__main__.py"), PIP).unwrap();
    }

    /// Creates a family with the SDK and build tools, and with the real pip.
    pub fn with_sdk_and_pip() -> Self {
        let family = Self::new();
        sdk::install(&family.site(""));
        let unpack = "import sys, zipfile; zipfile.ZipFile(sys.argv[2]).extractall(sys.argv[1])";
        let mut python = Command::new(family.path("venv/bin/python"));
        python
            .args(["-c", unpack])
            .arg(family.site(""))
            .arg(family.path("wheelhouse/build-1.2-py3-none-any.whl"));
        assert!(python.status().unwrap().success());
        family
    }

    /// A tree that pip builds: what `standin.json` says, and the files of its package beside an
    /// empty module.
    pub fn tree(&self, place: &str, what: &serde_json::Value, files: &[(&str, &[u8])]) {
        let module = what["module"].as_str().unwrap();
        self.write(&format!("{place}/standin.json"), what.to_string());
        self.write(&format!("{place}/standin.py"), STANDIN);
        self.write(&format!("{place}/pyproject.toml"), PYPROJECT);
        self.write(
            &format!("{place}/{module}/__init__.py"),
            "__version__ = 'of the tree'\n",
        );
        for (name, content) in files {
            self.write(&format!("{place}/{module}/{name}"), content);
        }
    }

    /// A path below the folder.
    pub fn path(&self, path: &str) -> PathBuf {
        self.project.path(path)
    }

    /// A path among the installed packages.
    pub fn site(&self, path: &str) -> PathBuf {
        self.path(&format!("venv/lib/python{}/site-packages", self.python))
            .join(path)
    }

    /// Writes a file below the folder.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// The environment of a build: variables that restrict pip to the wheelhouse, and compiler
    /// variables of the caller.
    pub fn surroundings(&self) -> BTreeMap<&'static str, String> {
        let path = |name: &str| self.path(name).display().to_string();
        [
            ("PIP_CONFIG_FILE", "/dev/null".to_owned()),
            ("PIP_NO_INDEX", "1".to_owned()),
            ("PIP_FIND_LINKS", path("wheelhouse")),
            ("PIP_CACHE_DIR", path("cache")),
            ("PIP_DISABLE_PIP_VERSION_CHECK", "1".to_owned()),
            ("CXXFLAGS", "-outer".to_owned()),
            ("LDFLAGS", "-outer".to_owned()),
            ("LD_LIBRARY_PATH", "/outer/lib".to_owned()),
            ("PKG_CONFIG_PATH", String::new()),
            ("USE_KINETO", String::new()),
            ("PYTORCH_ROCM_ARCH", String::new()),
        ]
        .into()
    }

    /// Writes `m.yaml` for a recipe. Trees stand in for every checkout; `vars` and `more` add to
    /// it, as YAML.
    pub fn matrix(&self, recipe: &str, vars: &str, more: &str) {
        let names = ["torch", "triton", "audio", "vision", "apex"];
        let own = |name: &&str| recipe == "torch" || recipe.ends_with(*name);
        let trees = names.into_iter().filter(own).map(|name| {
            let tree = if matches!(name, "audio" | "vision") {
                format!("torch{name}")
            } else {
                name.to_owned()
            };
            format!("{name}-dir: trees/{tree}, ")
        });
        let python = self.path("venv/bin/python").display().to_string();
        let python = if vars.contains("python:") {
            String::new()
        } else {
            format!("python: {python}, ")
        };
        let gfx = if more.contains("gfx:") {
            ""
        } else {
            "gfx: [gfx942]\n"
        };
        // An axis of ROCm gives every wheel its label.
        let axis = if vars.contains("rocm-sdk-version:") {
            ""
        } else {
            ", rocm: [\"7.14.0\"]"
        };
        let distribution = if recipe == "rocm-sdk" { "rocm" } else { recipe };
        let text = format!(
            "version: 1\ndistribution: {distribution}\nrecipe: {recipe}\naxes: {{python: [\"{}\"]{axis}}}\nunknown: lenient\n\
             rocm-precision: patch\ntorch-from: host\npython-from: host\n{gfx}{more}vars: {{{python}{}{vars}}}\n",
            self.python,
            trees.collect::<String>(),
        );
        self.write("m.yaml", text);
    }

    /// The program in the folder, with `m.yaml` last.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.project.command(arguments);
        command.arg("--matrix=m.yaml").envs(self.surroundings());
        command
    }

    /// Builds the only job; gives standard output and error.
    #[track_caller]
    pub fn build(&self, code: i32, arguments: &[&str]) -> (String, String) {
        self.ended(
            code,
            self.command(&[&["build", "--all"], arguments].concat())
                .output()
                .unwrap(),
        )
    }

    /// Asserts an exit code, and returns stdout and stderr.
    #[track_caller]
    pub fn ended(&self, code: i32, output: Output) -> (String, String) {
        try_printed_commands(&String::from_utf8_lossy(&output.stderr), |words| {
            self.project.command(words)
        });
        let text = |bytes: Vec<u8>| {
            String::from_utf8(bytes)
                .unwrap()
                .replace(&self.root(), "[HERE]")
        };
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        assert_eq!(
            output.status.code(),
            Some(code),
            "--- stdout\n{stdout}\n--- stderr\n{stderr}"
        );
        (stdout, stderr)
    }

    fn root(&self) -> String {
        self.project.root().display().to_string()
    }

    /// A path in the folder of the only job.
    pub fn job(&self, path: &str) -> PathBuf {
        let folders = std::fs::read_dir(self.path(".rock"))
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let jobs: Vec<PathBuf> = folders.filter(|path| path.is_dir()).collect();
        let [job] = jobs.as_slice() else {
            panic!("{jobs:?}")
        };
        job.join(path)
    }

    /// How the build of a tree was called last, with `[SDK]` and `[JOB]` for their folders.
    #[track_caller]
    pub fn called(&self, tree: &str) -> Called {
        let text = std::fs::read_to_string(self.job(&format!("src/{tree}/ran.json"))).unwrap();
        let text = text.replace(&self.job("").display().to_string(), "[JOB]/");
        let text = text
            .replace("[JOB]//", "[JOB]/")
            .replace(&self.site("_rocm_sdk_devel").display().to_string(), "[SDK]");
        let record: serde_json::Value =
            serde_json::from_str(&text.replace(&self.root(), "[HERE]")).unwrap();
        let of = |name: &str| record[name].clone();
        Called {
            argv: serde_json::from_value(of("argv")).unwrap(),
            settings: of("settings"),
            cwd: serde_json::from_value(of("cwd")).unwrap(),
            env: serde_json::from_value(of("env")).unwrap(),
        }
    }

    /// The wheels that were delivered, by name.
    pub fn wheels(&self) -> BTreeMap<String, Vec<u8>> {
        let Ok(entries) = std::fs::read_dir(self.path("dist")) else {
            return BTreeMap::new();
        };
        let files = entries.map(|entry| entry.unwrap().path());
        let wheels = files.filter(|path| path.extension().is_some_and(|end| end == "whl"));
        wheels
            .map(|path| (file_name(&path), std::fs::read(&path).unwrap()))
            .collect()
    }

    /// The stages of the last build.
    pub fn stages(&self) -> Vec<String> {
        let record = std::fs::read_to_string(self.job("build.json")).unwrap();
        let record: serde_json::Value = serde_json::from_str(&record).unwrap();
        record["stages"]
            .as_array()
            .unwrap()
            .iter()
            .map(|stage| stage["stage"].as_str().unwrap().to_owned())
            .collect()
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

impl Called {
    /// Variables with these names, a line each.
    pub fn variables(&self, names: &[&str]) -> String {
        names
            .iter()
            .map(|name| {
                format!(
                    "{name}={}\n",
                    self.env.get(*name).map_or("(not set)", String::as_str)
                )
            })
            .collect()
    }
}
