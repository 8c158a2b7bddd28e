//! A built tree of AOTriton installed into an environment: all of it, or nothing.

use std::path::PathBuf;
use std::process::{Command, Output};

use crate::support::Project;

const TREE: &str = ".rock/tree";
const LIBRARY: &str = "libaotriton_v2.so";

/// A tree as AOTriton's build installs it, and an environment with an older one in torch.
struct Place {
    project: Project,
    argv: Vec<String>,
}

impl Place {
    fn new() -> Self {
        Self::with("site", "")
    }

    fn with(site: &str, vars: &str) -> Self {
        let project = Project::new();
        let into = project.path(site);
        let matrix = format!(
            "version: 1\ndistribution: aotriton\nrecipe: aotriton\naxes: {{aotriton: [\"0.13.0\"], rocm: [\"7.14.0\"]}}\nunknown: lenient\n\
             torch-from: host\npython-from: host\ngfx: [gfx942]\nvars: {{install-to: \"{}\"{vars}}}\n",
            into.display()
        );
        let lib = |name: &str| format!("{TREE}/install_dir/lib/{name}");
        let project = project
            .file("m.yaml", &matrix)
            .file(&lib("libaotriton_v2.so.0.13.0"), "library 0.13")
            .file(
                &lib("pyaotriton.cpython-312-x86_64-linux-gnu.so"),
                "bindings 0.13",
            )
            .file(
                &lib("aotriton.images/amd-gfx942/flash/attn_fwd.zip"),
                "kernel 0.13",
            )
            .file(&format!("{site}/torch/__init__.py"), "")
            .file(&format!("{site}/torch/lib/libtorch.so"), "torch")
            .file(
                &format!("{site}/torch/lib/libaotriton_v2.so.0.12.0"),
                "library 0.12",
            )
            .file(
                &format!("{site}/torch/lib/aotriton.images/amd-gfx90a/flash/stale.zip"),
                "kernel 0.12",
            );
        std::os::unix::fs::symlink("libaotriton_v2.so.0.13.0", project.path(&lib(LIBRARY)))
            .unwrap();
        std::os::unix::fs::symlink(
            "libaotriton_v2.so.0.12.0",
            project.path(site).join("torch/lib").join(LIBRARY),
        )
        .unwrap();
        let stdout = project
            .run(&["render", "recipe", "m.yaml", "--engine", "local"])
            .exits(0)
            .stdout;
        let whole: serde_json::Value = serde_yaml::from_str(&stdout.replace("[ROOT]", "")).unwrap();
        let steps = whole["steps"].as_array().unwrap();
        let place = steps.iter().find(|step| step["stage"] == "place").unwrap();
        let mut argv: Vec<String> = place["argv"]
            .as_array()
            .unwrap()
            .iter()
            .map(|word| word.as_str().unwrap().to_owned())
            .collect();
        into.to_str().unwrap().clone_into(&mut argv[3]);
        Self { project, argv }
    }

    fn site(&self, path: &str) -> PathBuf {
        PathBuf::from(&self.argv[3]).join(path)
    }

    /// Runs it; `more` is a program that Python starts with.
    fn run(&self, more: &str) -> Output {
        let hook = self.project.path("hook");
        std::fs::create_dir_all(&hook).unwrap();
        std::fs::write(hook.join("sitecustomize.py"), more).unwrap();
        let mut place = Command::new(&self.argv[0]);
        place
            .args(&self.argv[1..])
            .current_dir(self.project.path(TREE))
            .env("PYTHONPATH", hook);
        place.output().unwrap()
    }

    /// Runs it to a good end, and gives what it printed.
    #[track_caller]
    fn place(&self) -> String {
        let output = self.run("");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// What it says when it fails with 1.
    #[track_caller]
    fn fails(&self) -> String {
        let output = self.run("");
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    }

    /// Every file and link of the environment with its content.
    fn state(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.site("")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path
                    .strip_prefix(self.site(""))
                    .unwrap()
                    .display()
                    .to_string();
                if let Ok(target) = std::fs::read_link(&path) {
                    found.push(format!("{name} -> {}", target.display()));
                } else if path.is_dir() {
                    folders.push(path);
                } else {
                    found.push(format!(
                        "{name}: {}",
                        std::fs::read_to_string(&path).unwrap()
                    ));
                }
            }
        }
        found.sort();
        found
    }
}

const PLACED: [&str; 7] = [
    "pyaotriton.cpython-312-x86_64-linux-gnu.so: bindings 0.13",
    "torch/__init__.py: ",
    "torch/lib/aotriton.images/amd-gfx942/flash/attn_fwd.zip: kernel 0.13",
    "torch/lib/libaotriton_v2.so -> libaotriton_v2.so.0.13.0",
    "torch/lib/libaotriton_v2.so.0.13.0: library 0.13",
    "torch/lib/libtorch.so: torch",
    "torch/lib/pyaotriton.cpython-312-x86_64-linux-gnu.so: bindings 0.13",
];

/// Each file in its place, and nothing of the version before.
#[test]
fn a_placed_tree_replaces_the_one_before_and_lists_its_files() {
    let place = Place::new();
    let stdout = place.place();
    assert_eq!(place.state(), PLACED);
    let expected = "\
pyaotriton.cpython-312-x86_64-linux-gnu.so
torch/lib/aotriton.images
torch/lib/libaotriton_v2.so -> libaotriton_v2.so.0.13.0
torch/lib/libaotriton_v2.so.0.12.0: removed
torch/lib/libaotriton_v2.so.0.13.0
torch/lib/pyaotriton.cpython-312-x86_64-linux-gnu.so
";
    assert!(stdout.starts_with(expected), "{stdout}");
    place.place();
    assert_eq!(place.state(), PLACED, "a second run ends with the same");
}

/// Nothing is touched where something is missing or not clear.
#[test]
fn an_environment_without_torch_and_a_tree_with_two_libraries_are_refused() {
    let place = Place::new();
    let before = place.state();
    let lib = format!("{TREE}/install_dir/lib");
    std::fs::write(
        place.project.path(&lib).join("libaotriton_v2.so.0.12.0"),
        "old",
    )
    .unwrap();
    let stderr = place.fails();
    assert!(
        stderr.contains(
            "install_dir/lib/libaotriton_v2.so.*: one is expected, there are install_dir/lib/libaotriton_v2.so.0.12.0, "
        ),
        "{stderr}"
    );
    std::fs::remove_file(place.project.path(&lib).join("libaotriton_v2.so.0.12.0")).unwrap();
    std::fs::remove_file(
        place
            .project
            .path(&lib)
            .join("pyaotriton.cpython-312-x86_64-linux-gnu.so"),
    )
    .unwrap();
    assert!(
        place
            .fails()
            .contains("pyaotriton*.so: some are expected, there are none")
    );
    assert_eq!(place.state(), before);
    std::fs::remove_file(place.site("torch/__init__.py")).unwrap();
    assert!(
        place
            .fails()
            .contains("torch/__init__.py is not there, so this is no place for these files")
    );
}

/// A hook that counts what changes the disk, and at one of these does something else.
fn at(number: usize, what: &str) -> String {
    format!(
        "import os, shutil\ncount = 0\ndef hooked(real):\n    def call(*words, **more):\n        global count\n        count += 1\n        \
         if count == {number}:\n            {what}\n        return real(*words, **more)\n    return call\n\
         for name in ('rename', 'replace', 'symlink', 'remove'):\n    setattr(os, name, hooked(getattr(os, name)))\n\
         shutil.copy2 = hooked(shutil.copy2)\nshutil.rmtree = hooked(shutil.rmtree)\n"
    )
}

/// Whichever change of the disk fails, the environment is as it was.
#[test]
fn a_disk_that_refuses_leaves_the_environment_as_it_was() {
    let mut refused = 0;
    for number in 1.. {
        let place = Place::new();
        let before = place.state();
        let output = place.run(&at(number, "raise OSError(28, 'no space left')"));
        if output.status.success() {
            assert_eq!(place.state(), PLACED, "{number}");
            break;
        }
        refused += 1;
        let stderr = String::from_utf8(output.stderr).unwrap();
        let state = place.state();
        if stderr.contains("nothing is changed") {
            assert_eq!(state, before, "{number}: {stderr}");
        } else {
            assert!(
                stderr.contains("what was begun is finished when it is run again"),
                "{number}: {stderr}"
            );
            place.place();
            assert_eq!(place.state(), PLACED, "{number}");
        }
    }
    assert!(refused > 10, "{refused}");
}

/// Wherever it is killed, the next run ends with the whole tree in its place.
#[test]
fn a_killed_run_is_finished_by_the_next() {
    let mut killed = 0;
    for number in 1.. {
        let place = Place::new();
        let ended_well = place.run(&at(number, "os._exit(9)")).status.success();
        place.place();
        assert_eq!(place.state(), PLACED, "{number}");
        if ended_well {
            break;
        }
        killed += 1;
    }
    assert!(killed > 15, "{killed}");
}

#[test]
fn a_dry_run_shows_what_would_be_placed_where() {
    let place = Place::new();
    let before = place.state();
    let stdout = place
        .project
        .run(&[
            "build",
            "aotriton-0.13.0-rocm7.14.0-gfx942",
            "--matrix",
            "m.yaml",
            "--dry-run",
        ])
        .exits(0)
        .stdout;
    let step = &stdout[stdout.find(" place\n").unwrap()..];
    for word in [
        "site torch/__init__.py",
        "'install_dir/lib/pyaotriton*.so' some",
        "install_dir/lib/aotriton.images",
    ] {
        assert!(step.contains(word), "{word}: {step}");
    }
    assert_eq!(place.state(), before);
}

/// A loader of Windows may not find kernels beyond its code page.
#[test]
fn names_of_windows_in_a_folder_beyond_ascii_are_warned_of() {
    let place = Place::with("größe", "");
    assert!(!place.place().contains("warning"));
    let dll = place
        .project
        .path(TREE)
        .join("install_dir/lib/pyaotriton.dll");
    std::fs::write(dll, "bindings").unwrap();
    let mut windows = Place {
        project: place.project,
        argv: place.argv,
    };
    for word in &mut windows.argv {
        *word = word.replace("pyaotriton*.so", "pyaotriton*");
    }
    assert!(windows.place().contains("has letters beyond ASCII"));
}
