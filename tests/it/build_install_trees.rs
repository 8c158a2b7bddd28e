//! AOTriton and Composable Kernel built by their recipes as real processes, with stand-ins for
//! cmake and ninja that note how they were called and leave a tree. `tests/real/install-tree.sh`
//! does the same with the real two.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::support::toy::wait_until;
use crate::support::{Project, sdk};

const JOB: &str = "aotriton-0.13.0-rocm7.14.0-gfx942";
const COMMIT: &str = "6e00ef3e335b45dfb49065259533b59c68995bfe";
const ARCHIVE: &str = "aotriton-0.13.0+rocm7.14-gfx942-linux_x86_64-tree.tar.gz";

/// Notes its words and its environment in the job's folder, and keeps the prefix for ninja.
const CMAKE: &str = "#!/bin/bash
[ \"$1\" = --version ] && exec echo cmake version 3.30.0
case $1 in
  --build) exec ninja -C \"$2\" all ;;
  --install) exec ninja -C \"$2\" install ;;
esac
printf '%s\\n' \"$@\" >cmake.words
env | sort >cmake.env
mkdir -p build
for word; do
  case $word in
    -DCMAKE_INSTALL_PREFIX=*) echo \"${word#*=}\" >build/prefix ;;
    -DAOTRITON_NAME_SUFFIX=*) echo \"${word#*=}\" >build/suffix ;;
  esac
done
";

/// Installs a tree, once nobody holds it.
const NINJA: &str = "#!/bin/bash
[ \"$1\" = --version ] && exec echo 1.12.1
echo \"$@\" >>ninja.words
[ \"$3\" = all ] && exit 0
touch at-install
while [ -e \"$HOLD\" ]; do sleep 0.02; done
prefix=$(cat build/prefix)
mkdir -p \"$prefix\" || { echo \"cmake_install.cmake:46 (file): file INSTALL cannot make directory $prefix: Permission denied\" >&2; exit 1; }
mkdir -p \"$prefix/lib/aotriton.images/amd-gfx942/flash\" \"$prefix/include/aotriton\"
name=libaotriton$(cat build/suffix 2>/dev/null)_v2.so
echo library >\"$prefix/lib/$name.0.13.0\"
ln -sf $name.0.13.0 \"$prefix/lib/$name\"
echo bindings >\"$prefix/lib/pyaotriton.cpython-39-x86_64-linux-gnu.so\"
echo \"${MODULE-import torch}\" >\"$prefix/lib/pyaotriton.py\"
echo kernel >\"$prefix/lib/aotriton.images/amd-gfx942/flash/attn_fwd.zip\"
echo '#pragma once' >\"$prefix/include/aotriton/flash.h\"
";

/// Hides what is installed for Python, such as a torch.
const WITHOUT_INSTALLED_MODULES: &str = "import sys\n\nsys.path = [path for path in sys.path if not path.endswith((\"dist-packages\", \"site-packages\"))]\n";

struct Stand {
    project: Project,
}

impl Stand {
    fn new(recipe: &str, vars: &str) -> Self {
        let (distribution, axes) = match recipe {
            "ck" => ("composable-kernel", ""),
            _ => ("aotriton", "aotriton: [\"0.13.0\"], "),
        };
        let matrix = format!(
            "version: 1\ndistribution: {distribution}\nrecipe: {recipe}\naxes: {{{axes}rocm: [\"7.14.0\"]}}\nunknown: lenient\n\
             torch-from: host\npython-from: host\ngfx: [gfx942]\nvars: {{{vars}}}\n"
        );
        let project = Project::new()
            .file("m.yaml", &matrix)
            .file("triton.whl", "")
            .file("sources/CMakeLists.txt", &sources_of([0, 13, 0]))
            .file("bin/cmake", CMAKE)
            .file("bin/ninja", NINJA)
            .file("modules/torch/__init__.py", "")
            .file("modules/pybind11/__init__.py", "")
            .file("modules/sitecustomize.py", WITHOUT_INSTALLED_MODULES)
            .file("site/torch/__init__.py", "")
            .file("site/torch/lib/libtorch.so", "torch");
        for program in ["bin/cmake", "bin/ninja"] {
            std::fs::set_permissions(project.path(program), PermissionsExt::from_mode(0o755))
                .unwrap();
        }
        sdk::install(&project.path("modules"));
        Self { project }
    }

    fn aotriton() -> Self {
        Self::of_aotriton("aotriton-commit: COMMIT, triton-wheel: triton.whl, install-to: site")
    }

    /// AOTriton's recipe with these variables, in which `COMMIT` stands for that of its sources.
    fn of_aotriton(vars: &str) -> Self {
        let vars = format!(
            "aotriton-dir: sources, rocm-from: installed, {}",
            vars.replace("COMMIT", COMMIT)
        );
        Self::new("aotriton", &vars)
    }

    /// Another version than 0.13.0, planned and in the sources.
    fn of_version(self, planned: &str, version: [u32; 3]) -> Self {
        let matrix = self
            .project
            .read("m.yaml")
            .replace("[\"0.13.0\"]", &format!("[\"{planned}\"]"));
        Self {
            project: self
                .project
                .file("m.yaml", &matrix)
                .file("sources/CMakeLists.txt", &sources_of(version)),
        }
    }

    /// Makes the sources a repository, and returns the commit and its tree.
    fn commit_sources(&self) -> [String; 2] {
        let git = |words: &[&str]| {
            let mut command = Command::new("git");
            command
                .args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
                .args(words);
            let output = command
                .current_dir(self.project.path("sources"))
                .output()
                .unwrap();
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        git(&["init", "--quiet"]);
        git(&["add", "."]);
        git(&["commit", "--quiet", "--message=sources"]);
        ["HEAD", "HEAD^{tree}"].map(|reference| git(&["rev-parse", reference]))
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.project.command(arguments);
        let path = format!(
            "{}:{}",
            self.project.path("bin").display(),
            std::env::var("PATH").unwrap()
        );
        command
            .env("PATH", path)
            .env("PYTHONPATH", self.project.path("modules"));
        command.env("HOLD", self.project.path("hold"));
        command
    }

    #[track_caller]
    fn build(&self, code: i32, arguments: &[&str]) -> (String, String) {
        let arguments: Vec<&str> = ["build", "--all", "--matrix", "m.yaml"]
            .iter()
            .chain(arguments)
            .copied()
            .collect();
        let Output {
            status,
            stdout,
            stderr,
        } = self.command(&arguments).output().unwrap();
        let (stdout, stderr) = (
            String::from_utf8(stdout).unwrap(),
            String::from_utf8(stderr).unwrap(),
        );
        assert_eq!(status.code(), Some(code), "{stdout}\n{stderr}");
        (stdout, stderr)
    }

    fn job(&self, path: &str) -> PathBuf {
        self.project.path(".rock").join(JOB).join(path)
    }

    fn text(&self, path: &str) -> String {
        std::fs::read_to_string(self.job(path)).unwrap_or_default()
    }

    /// What an archive of `dist` holds, sorted.
    fn members(&self) -> Vec<String> {
        let tar = Command::new("tar")
            .arg("-tzf")
            .arg(self.project.path("dist").join(ARCHIVE))
            .output()
            .unwrap();
        assert!(
            tar.status.success(),
            "{}",
            String::from_utf8_lossy(&tar.stderr)
        );
        let stdout = String::from_utf8(tar.stdout).unwrap();
        let mut members: Vec<String> = stdout
            .lines()
            .filter(|line| !line.ends_with('/'))
            .map(str::to_owned)
            .collect();
        members.sort();
        members
    }
}

const MEMBERS: [&str; 7] = [
    "aotriton/include/aotriton/flash.h",
    "aotriton/lib/aotriton.images/amd-gfx942/flash/attn_fwd.zip",
    "aotriton/lib/libaotriton_v2.so",
    "aotriton/lib/libaotriton_v2.so.0.13.0",
    "aotriton/lib/pyaotriton.cpython-39-x86_64-linux-gnu.so",
    "aotriton/lib/pyaotriton.py",
    "aotriton/share/aotriton/commit",
];

#[test]
fn an_archive_of_the_same_tree_has_the_same_bytes() {
    let archive = |time: Option<&str>, mask: &str| {
        let stand = Stand::aotriton();
        let mut build = Command::new("bash");
        let program = stand.command(&["build", "--all", "--matrix", "m.yaml"]);
        build
            .args(["-c", &format!("umask {mask}; exec \"$0\" \"$@\"")])
            .arg(program.get_program());
        build
            .args(program.get_args())
            .current_dir(program.get_current_dir().unwrap());
        for (name, value) in program.get_envs() {
            match value {
                Some(value) => build.env(name, value),
                None => build.env_remove(name),
            };
        }
        build.envs(time.map(|time| ("SOURCE_DATE_EPOCH", time)));
        let output = build.output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let path = stand.project.path("dist").join(ARCHIVE);
        let mut list = Command::new("tar");
        list.args(["--list", "--verbose", "--utc", "--file"])
            .arg(&path);
        let listed = String::from_utf8(list.output().unwrap().stdout).unwrap();
        (std::fs::read(&path).unwrap(), listed)
    };
    let ((one, listed), (other, _)) = (archive(None, "022"), archive(None, "077"));
    assert!(one == other, "{listed}");
    assert!(
        listed
            .lines()
            .all(|line| line.contains(" root/root ") && line.contains(" 1980-01-01 00:00 ")),
        "{listed}"
    );
    let names: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split(" 00:00 ").nth(1))
        .collect();
    assert!(
        names.is_sorted() && names.len() > MEMBERS.len(),
        "{names:?}"
    );
    let (dated, listed) = archive(Some("1700000000"), "022");
    assert!(
        dated != one
            && listed
                .lines()
                .all(|line| line.contains(" 2023-11-14 22:13 ")),
        "{listed}"
    );
}

#[test]
fn aotriton_is_configured_installed_packed_and_placed() {
    let stand = Stand::aotriton();
    let (stdout, stderr) = stand.build(0, &[]);
    assert!(
        stdout.starts_with(&format!("dist/{ARCHIVE}  sha256:")),
        "{stdout}"
    );
    assert!(
        stderr.contains("used cmake cmake version 3.30.0, ninja 1.12.1"),
        "{stderr}"
    );
    assert_eq!(stand.members(), MEMBERS);
    let words = stand.text("cmake.words");
    let install = format!(
        "-DCMAKE_INSTALL_PREFIX={}",
        stand.job("install_dir").display()
    );
    for word in [
        "-DAOTRITON_TARGET_ARCH=gfx942",
        "-DAOTRITON_GPU_BUILD_TIMEOUT=0",
        "src/aotriton",
        install.as_str(),
    ] {
        assert!(words.lines().any(|found| found == word), "{word}: {words}");
    }
    let root = stand
        .project
        .path("modules/_rocm_sdk_devel")
        .display()
        .to_string();
    assert!(
        stand
            .text("cmake.env")
            .contains(&format!("ROCM_PATH={root}\n")),
        "{}",
        stand.text("cmake.env")
    );
    assert_eq!(
        stand.text("ninja.words"),
        "-C build install\n",
        "ninja alone would build everything twice"
    );
    let lib = stand.project.path("site/torch/lib");
    assert_eq!(
        std::fs::read_link(lib.join("libaotriton_v2.so"))
            .unwrap()
            .to_str(),
        Some("libaotriton_v2.so.0.13.0")
    );
    assert!(
        lib.join("aotriton.images/amd-gfx942/flash/attn_fwd.zip")
            .exists()
    );
    assert!(
        stand
            .project
            .has("site/pyaotriton.cpython-39-x86_64-linux-gnu.so")
    );
    let record: serde_json::Value = serde_json::from_str(&stand.text("build.json")).unwrap();
    assert_eq!(
        (&record["outcome"], &record["wheels"][0]["name"]),
        (&"done".into(), &ARCHIVE.into())
    );
    assert!(stand.project.has(&format!(
        "dist/{}",
        ARCHIVE.replace(".tar.gz", ".build.json")
    )));
}

#[test]
fn a_build_of_aotriton_that_is_killed_continues_where_it_was() {
    let stand = Stand::aotriton();
    std::fs::write(stand.project.path("hold"), "").unwrap();
    let mut build = stand.command(&["build", "--all", "--matrix", "m.yaml"]);
    let mut child = build
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until(|| stand.job("at-install").exists(), "the stage `install`");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        !stand.project.has(&format!("dist/{ARCHIVE}"))
            && !stand.project.has("site/torch/lib/libaotriton_v2.so")
    );
    std::fs::remove_file(stand.project.path("hold")).unwrap();
    let before = std::fs::metadata(stand.job("cmake.words"))
        .unwrap()
        .modified()
        .unwrap();
    stand.build(0, &["--continue", "auto"]);
    assert_eq!(stand.members(), MEMBERS);
    assert_eq!(
        std::fs::metadata(stand.job("cmake.words"))
            .unwrap()
            .modified()
            .unwrap(),
        before,
        "configured once"
    );
    assert!(stand.project.has("site/torch/lib/libaotriton_v2.so"));
    std::fs::remove_dir_all(stand.project.path("site/torch/lib/aotriton.images")).unwrap();
    stand.build(0, &["--continue", "place"]);
    assert!(
        stand
            .project
            .has("site/torch/lib/aotriton.images/amd-gfx942/flash/attn_fwd.zip"),
        "installed again without a build"
    );
}

/// The version as the sources of three versions say it; what was before them does not, and is taken
/// for what is planned.
fn sources_of(version: [u32; 3]) -> String {
    let parts = ["MAJOR", "MINOR", "PATCH"].iter().zip(version);
    let set: String = parts
        .map(|(part, number)| format!("set(AOTRITON_VERSION_{part}_INT {number})\n"))
        .collect();
    format!(
        "project(AOTriton CXX C ASM)\n\n# Version numbers\n{set}\
         set(AOTRITON_VERSION_MINOR \"${{AOTRITON_VERSION_MINOR_INT}}u\")\n"
    )
}

/// The version is read out of the sources, whose CMake says it the same way from 0.8 on.
#[test]
fn the_sources_of_each_version_are_configured_by_its_variable() {
    for (planned, version, word) in [
        ("0.9.2", [0, 9, 2], "-DTARGET_GPUS=MI300X"),
        ("0.10", [0, 10, 0], "-DAOTRITON_TARGET_ARCH=gfx942"),
        ("0.13.0", [0, 13, 0], "-DAOTRITON_TARGET_ARCH=gfx942"),
    ] {
        let wheel = if planned == "0.13.0" {
            "triton-wheel: triton.whl"
        } else {
            "strip: \"off\""
        };
        let stand = Stand::of_aotriton(&format!("aotriton-commit: COMMIT, {wheel}"))
            .of_version(planned, version);
        stand.build(0, &[]);
        let job = stand
            .project
            .path(".rock")
            .join(format!("aotriton-{planned}-rocm7.14.0-gfx942"));
        let words = std::fs::read_to_string(job.join("cmake.words")).unwrap();
        assert!(words.lines().any(|found| found == word), "{word}: {words}");
        let content = std::fs::read_to_string(job.join("facts/source_version")).unwrap();
        assert_eq!(content, version.map(|number| number.to_string()).join("."));
    }
}

/// A version that the sources are not is found before hours of building.
#[test]
fn sources_of_another_version_than_the_plans_end_the_build() {
    let stand = Stand::aotriton();
    std::fs::write(
        stand.project.path("sources/CMakeLists.txt"),
        sources_of([0, 12, 0]),
    )
    .unwrap();
    let (_, stderr) = stand.build(4, &[]);
    assert!(
        stderr.contains("stage `aotriton-version` failed"),
        "{stderr}"
    );
    assert!(
        stderr.contains("the sources are AOTriton 0.12.0, the plan says 0.13.0"),
        "{stderr}"
    );
    let help = "help: write 0.12.0 under the axis `aotriton`, or take sources of 0.13.0 by `aotriton-ref` or `aotriton-dir`";
    assert!(stderr.contains(help), "{stderr}");
    assert!(!stand.job("cmake.words").exists());
}

/// What the Python module of AOTriton is built with is looked for in the Python that builds, and
/// cmake gets it from there.
#[test]
fn the_python_module_of_aotriton_needs_torch_and_pybind11() {
    let stand = Stand::aotriton();
    stand.build(0, &[]);
    let words = stand.text("cmake.words");
    let torch = format!(
        "-DCMAKE_PREFIX_PATH={}",
        stand.project.path("modules/torch").display()
    );
    assert!(words.lines().any(|word| word == torch), "{torch}: {words}");
    assert!(
        words
            .lines()
            .any(|word| word.starts_with("-DPython3_EXECUTABLE=/")),
        "{words}"
    );
    for name in ["torch", "pybind11"] {
        let stand = Stand::aotriton();
        std::fs::remove_dir_all(stand.project.path("modules").join(name)).unwrap();
        let (_, stderr) = stand.build(4, &[]);
        assert!(stderr.contains("stage `bindings` failed"), "{stderr}");
        assert!(stderr.contains(&format!(" has no {name}")), "{stderr}");
        let help =
            format!("help: install {name} there, or set `bindings: \"off\"` for the library alone");
        assert!(stderr.contains(&help), "{stderr}");
        assert!(!stand.job("cmake.words").exists());
    }
    let without =
        Stand::of_aotriton("aotriton-commit: COMMIT, triton-wheel: triton.whl, bindings: \"off\"");
    std::fs::remove_dir_all(without.project.path("modules/torch")).unwrap();
    without.build(0, &[]);
    let words = without.text("cmake.words");
    assert!(
        words.contains("-DAOTRITON_NO_PYTHON=ON") && !words.contains("CMAKE_PREFIX_PATH"),
        "{words}"
    );
    assert!(
        words
            .lines()
            .any(|word| word.starts_with("-DPython3_EXECUTABLE=/")),
        "Triton's wheel is for it: {words}"
    );
}

/// The library alone, for which no Triton is needed.
const LIBRARY: &str = "bindings: \"off\", images: \"off\"";

#[test]
fn sources_of_no_checkout_need_the_name_of_their_commit() {
    let stand = Stand::of_aotriton(LIBRARY);
    let (_, stderr) = stand.build(4, &[]);
    assert!(
        stderr.contains("stage `aotriton-commit` failed"),
        "{stderr}"
    );
    assert!(
        stderr.contains("the sources are no checkout of git, and AOTriton asks for their commit"),
        "{stderr}"
    );
    assert!(
        stderr.contains("help: name it in the variable `aotriton-commit`"),
        "{stderr}"
    );
    let named = Stand::of_aotriton(&format!("{LIBRARY}, aotriton-commit: COMMIT"));
    named.build(0, &[]);
    let variables = named.text("cmake.env");
    for name in ["AOTRITON_CI_SUPPLIED_SHA1", "AOTRITON_GIT_TREESHA1"] {
        assert!(
            variables.contains(&format!("{name}={COMMIT}\n")),
            "{name}: {variables}"
        );
    }
    let (_, stderr) =
        Stand::of_aotriton(&format!("{LIBRARY}, aotriton-commit: 6e00ef3e")).build(4, &[]);
    assert!(
        stderr.contains("`aotriton-commit` is 6e00ef3e, which is no whole commit"),
        "{stderr}"
    );
}

#[test]
fn a_checkout_gives_the_commit_and_the_tree() {
    let stand = Stand::of_aotriton(LIBRARY);
    let [commit, tree] = stand.commit_sources();
    stand.build(0, &[]);
    let variables = stand.text("cmake.env");
    for (name, value) in [
        ("AOTRITON_CI_SUPPLIED_SHA1", &commit),
        ("AOTRITON_GIT_TREESHA1", &tree),
    ] {
        assert!(
            variables.contains(&format!("{name}={value}\n")),
            "{name}={value}: {variables}"
        );
    }
    assert_eq!(stand.text("install_dir/share/aotriton/commit"), commit);
    let stand = Stand::of_aotriton(&format!("{LIBRARY}, aotriton-commit: COMMIT"));
    let [commit, _] = stand.commit_sources();
    let (_, stderr) = stand.build(4, &[]);
    let reason = format!("the sources are of {commit}, and `aotriton-commit` is {COMMIT}");
    assert!(
        stderr.contains(&reason) && stderr.contains("help: take `aotriton-commit` out"),
        "{stderr}"
    );
}

/// The two variables came with 0.11 and 0.12; versions before are told neither.
#[test]
fn each_version_of_aotriton_gets_what_it_needs() {
    for (planned, version, commit, tree) in [
        ("0.10", [0, 10, 0], false, false),
        ("0.11.2", [0, 11, 2], true, false),
        ("0.12", [0, 12, 0], true, true),
        ("0.13.0", [0, 13, 0], true, true),
    ] {
        let stand = Stand::of_aotriton(LIBRARY).of_version(planned, version);
        stand.commit_sources();
        stand.build(0, &[]);
        let job = stand
            .project
            .path(".rock")
            .join(format!("aotriton-{planned}-rocm7.14.0-gfx942"));
        let variables = std::fs::read_to_string(job.join("cmake.env")).unwrap();
        assert_eq!(
            variables.contains("AOTRITON_CI_SUPPLIED_SHA1="),
            commit,
            "{planned}: {variables}"
        );
        assert_eq!(
            variables.contains("AOTRITON_GIT_TREESHA1="),
            tree,
            "{planned}: {variables}"
        );
    }
}

#[test]
fn a_cmake_that_is_too_old_for_aotriton_ends_the_build() {
    for (planned, version, found, code) in [
        ("0.13.0", [0, 13, 0], "3.25.1", 4),
        ("0.13.0", [0, 13, 0], "3.26.0", 0),
        ("0.8.2", [0, 8, 2], "3.18.4", 0),
        ("0.9.2", [0, 9, 2], "3.18.4", 4),
    ] {
        let stand = Stand::of_aotriton(&format!("{LIBRARY}, aotriton-commit: COMMIT"))
            .of_version(planned, version);
        std::fs::write(
            stand.project.path("bin/cmake"),
            CMAKE.replace("3.30.0", found),
        )
        .unwrap();
        let (_, stderr) = stand.build(code, &[]);
        assert_eq!(
            stderr.contains(&format!("cmake is {found}, and AOTriton needs 3.26\n")),
            code == 4,
            "{stderr}"
        );
        assert_eq!(
            stderr.contains("help: install a later one, such as that of PyPI"),
            code == 4,
            "{stderr}"
        );
    }
}

/// The steps and the options that Triton's wheel has in a recipe with these variables.
fn triton_of(planned: &str, version: [u32; 3], vars: &str) -> (bool, bool) {
    let stand = Stand::of_aotriton(vars).of_version(planned, version);
    let stdout = stand
        .project
        .run(&["render", "recipe", "m.yaml", "--engine", "local"])
        .exits(0)
        .stdout;
    (
        stdout.contains("stage: triton-wheel\n"),
        stdout.contains("${ROCK_FACT_triton_option}"),
    )
}

#[test]
fn triton_is_built_before_aotriton_since_0_12() {
    assert_eq!(
        triton_of("0.10", [0, 10, 0], "strip: \"on\""),
        (false, false)
    );
    assert_eq!(
        triton_of("0.11.2", [0, 11, 2], "strip: \"on\""),
        (false, true)
    );
    assert_eq!(triton_of("0.12", [0, 12, 0], "strip: \"on\""), (true, true));
    assert_eq!(
        triton_of("0.13.0", [0, 13, 0], "strip: \"on\""),
        (true, true)
    );
    assert_eq!(triton_of("0.13.0", [0, 13, 0], LIBRARY), (false, false));
    assert_eq!(
        triton_of("0.13.0", [0, 13, 0], "triton-wheel: triton.whl"),
        (false, true)
    );
}

#[test]
fn a_wheel_of_triton_is_passed_to_cmake_or_refused() {
    let stand = Stand::aotriton();
    stand.build(0, &[]);
    let option = format!(
        "-DAOTRITON_USE_LOCAL_TRITON_WHEEL={}",
        stand.project.path("triton.whl").display()
    );
    let words = stand.text("cmake.words");
    assert!(
        words.lines().any(|word| word == option),
        "{option}: {words}"
    );
    std::fs::remove_file(stand.project.path("triton.whl")).unwrap();
    let (_, stderr) = stand.build(1, &[]);
    assert!(
        stderr.contains("triton.whl`, which does not exist"),
        "{stderr}"
    );
    let refused = |stand: Stand| stand.project.run(&["check", "m.yaml"]).exits(1).stderr;
    let stderr = refused(Stand::of_aotriton(
        "triton-wheel: triton.whl, images: \"off\"",
    ));
    assert!(
        stderr.contains("has no effect without the kernels, which are all that Triton compiles"),
        "{stderr}"
    );
    let stderr =
        refused(Stand::of_aotriton("triton-wheel: triton.whl").of_version("0.10", [0, 10, 0]));
    assert!(
        stderr.contains("AOTriton 0.10 builds Triton itself and cannot use a wheel"),
        "{stderr}"
    );
}

/// AOTriton's CMake puts the suffix before `_v2`.
#[test]
fn a_library_of_aotriton_with_a_suffix_is_placed_by_its_name() {
    let stand = Stand::of_aotriton(&format!(
        "{LIBRARY}, aotriton-commit: COMMIT, name-suffix: _mine, install-to: site"
    ));
    stand.build(0, &[]);
    let link =
        std::fs::read_link(stand.project.path("site/torch/lib/libaotriton_mine_v2.so")).unwrap();
    assert_eq!(link.to_str(), Some("libaotriton_mine_v2.so.0.13.0"));
    assert!(
        stand
            .members()
            .contains(&"aotriton/lib/libaotriton_mine_v2.so.0.13.0".to_owned()),
        "{:?}",
        stand.members()
    );
}

#[test]
fn the_python_that_builds_loads_the_module_of_aotriton() {
    let stand = Stand::aotriton();
    stand.build(0, &[]);
    let log = stand.text("logs/build.log");
    let loaded = stand.job("install_dir/lib/pyaotriton.py");
    assert!(
        log.contains(&format!(
            "pyaotriton 0.13.0 is loaded from {}\n",
            loaded.display()
        )),
        "{log}"
    );
    let stand = Stand::aotriton();
    let mut build = stand.command(&["build", "--all", "--matrix", "m.yaml"]);
    let output = build
        .env("MODULE", "raise ImportError('undefined symbol')")
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(4), "{stderr}");
    assert!(
        stderr.contains("stage `test` failed") && stderr.contains("undefined symbol"),
        "{stderr}"
    );
    assert!(!stand.project.has(&format!("dist/{ARCHIVE}")));
}

#[test]
fn composable_kernel_comes_from_its_folder_of_rocm_libraries() {
    let matrix = "version: 1\ndistribution: composable-kernel\nrecipe: ck\naxes: {rocm: [\"7.14.0\"]}\npython-from: host\n\
                  torch-from: host\nunknown: lenient\ngfx: [gfx942]\n";
    let script = Project::new()
        .file("m.yaml", matrix)
        .run(&["render", "script", "m.yaml"])
        .exits(0)
        .stdout;
    for words in [
        "git clone --no-checkout --filter=blob:none --branch=develop -- https://github.com/ROCm/rocm-libraries src/ck",
        "git -C src/ck sparse-checkout set --cone projects/composablekernel",
        "git -C src/ck checkout --detach HEAD",
        "-S src/ck/projects/composablekernel",
    ] {
        assert!(script.contains(words), "{words}: {script}");
    }
}

/// The tree is in the prefix, and nothing is delivered beside it.
#[test]
fn ck_is_installed_into_its_prefix_and_nowhere_else() {
    let stand = Stand::new("ck", "ck-dir: sources");
    let prefix = stand.project.path("rocm");
    let mut command = stand.command(&["build", "--all", "--matrix", "m.yaml"]);
    let output = command.env("CK_INSTALL_PREFIX", &prefix).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert_eq!(output.stdout, b"");
    assert!(prefix.join("include/aotriton/flash.h").exists());
    assert!(
        !stand.project.has("dist/x")
            && std::fs::read_dir(stand.project.path("dist")).map_or(0, Iterator::count) == 0
    );
}

/// Nobody is asked for more rights; what keeps the tree from its prefix is said before
/// anything is compiled.
#[test]
fn an_unwritable_prefix_of_ck_is_reported_before_the_build() {
    let stand = Stand::new("ck", "ck-dir: sources, prefix: /proc/rocm");
    let (_, stderr) = stand.build(4, &[]);
    assert!(stderr.contains("stage `ck-prefix` failed"), "{stderr}");
    assert!(stderr.contains("/proc/rocm cannot be written"), "{stderr}");
    assert!(stderr.contains("set `prefix`"), "{stderr}");
    assert!(
        !stand
            .project
            .path(".rock")
            .join("rocm7.14.0-gfx942")
            .join("cmake.words")
            .exists()
    );
}
