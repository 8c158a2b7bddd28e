//! What builds of torch change in its sources: each edit is made once, whatever runs again, and
//! nothing is guessed.

use std::process::{Command, Output};

use crate::support::Project;

/// Sources with what each edit looks for, as the files of 2025 have it.
const SOURCES: [(&str, &str); 9] = [
    (
        "torch/cmake/External/aotriton.cmake",
        "if(DEFINED ENV{AOTRITON_INSTALLED_PREFIX})\n  install(DIRECTORY $ENV{AOTRITON_INSTALLED_PREFIX}/lib DESTINATION torch)\n  \
         set(__AOTRITON_INSTALL_DIR \"$ENV{AOTRITON_INSTALLED_PREFIX}\")\n  message(STATUS \"preinstalled\")\nendif()\n",
    ),
    (
        "torch/cmake/Dependencies.cmake",
        "set(_rpath_portable_origin $ORIGIN)\nset(CMAKE_INSTALL_RPATH \"${_rpath_portable_origin}\")\n\
         # the rpath (per library?)\nset(CMAKE_INSTALL_RPATH_USE_LINK_PATH TRUE)\n",
    ),
    (
        "torchaudio/cmake/LoadHIP.cmake",
        "if(ROCM)\n  file(READ \"${ROCM_PATH}/.info/version-dev\" ROCM_VERSION_DEV_RAW)\n  message(\"read\")\nendif()\n",
    ),
    (
        "torchaudio/CMakeLists.txt",
        "project(torchaudio)\nfind_package(Torch REQUIRED)\ninclude(utils)\n",
    ),
    (
        "torch/third_party/gloo/gloo/types.h",
        "#pragma once\n\n#include <iostream>\n\nnamespace gloo {\nuint16_t x;\n}\n",
    ),
    (
        "torch/torch/csrc/distributed/c10d/symm_mem/intra_node_comm.cpp",
        "#include <vector>\n\n#if defined(USE_ROCM)\n#include <rocm_smi/rocm_smi.h>\n#endif\n\nstatic NvlMesh getNvlMesh() {\n\
         #if !defined(USE_ROCM)\n  return ask();\n#else\n  NvlMesh nvlMesh = {};\n  const auto worldSize = ranks.size();\n  \
         rsmi_is_P2P_accessible();\n  return nvlMesh;\n#endif\n}\n\nbool rendezvous() {\n#if defined(USE_ROCM)\n  auto ret = \
         rsmi_init(0);\n#endif\n}\n",
    ),
    (
        "torch/aten/src/ATen/native/hip/Blas.cpp",
        "#ifdef USE_FBGEMM_GENAI\n#include <fbgemm_gpu/torch_ops.h>\n#endif\n\nvoid f() {\n#ifdef USE_FBGEMM_GENAI\n  grouped();\n#endif\n}\n",
    ),
    (
        "torch/aten/src/ATen/native/cuda/Blas.cpp",
        "#ifdef USE_FBGEMM_GENAI\n#include <fbgemm_gpu/torch_ops.h>\n#endif\n",
    ),
    (
        "torch/CMakeLists.txt",
        "option(USE_FBGEMM \"Use FBGEMM\" ON)\ncmake_dependent_option(\n  USE_FBGEMM_GENAI \"Use FBGEMM GenAI kernels.\" ON\n  \"USE_ROCM\" \
         OFF)\nmessage(\"USE_FBGEMM_GENAI ON\")\n",
    ),
];

/// A job of torch with these targets and variables; and the edits that it makes, one command each.
struct Sources {
    project: Project,
    edits: Vec<Vec<String>>,
}

impl Sources {
    fn new(gfx: &str, vars: &str) -> Self {
        let matrix = format!(
            "version: 1\ndistribution: torch\nrecipe: torch\naxes: {{python: [\"3.12\"], torch-ref: [release/2.12], rocm: [\"7.14.0\"]}}\n\
             unknown: lenient\ntorch-from: host\npython-from: host\ngfx: [{gfx}]\nvars: {{{vars}}}\n"
        );
        let mut project = Project::new().file("m.yaml", &matrix);
        for (path, text) in SOURCES {
            project = project.file(&format!("src/{path}"), text);
        }
        let stdout = project
            .run(&["render", "recipe", "m.yaml", "--engine", "local"])
            .exits(0)
            .stdout;
        let whole: serde_json::Value = serde_yaml::from_str(&stdout).unwrap();
        let words = |step: &serde_json::Value| {
            step["argv"]
                .as_array()
                .unwrap()
                .iter()
                .map(|word| word.as_str().unwrap().to_owned())
                .collect()
        };
        let steps = whole["steps"].as_array().unwrap().iter();
        let edits = steps
            .filter(|step| step["stage"].as_str().unwrap().starts_with("edit-"))
            .map(words);
        Self {
            edits: edits.collect(),
            project,
        }
    }

    fn run(&self, edit: &[String]) -> Output {
        Command::new(&edit[0])
            .args(&edit[1..])
            .current_dir(self.project.root())
            .output()
            .unwrap()
    }

    /// Makes every edit, and gives what they said.
    #[track_caller]
    fn edit(&self) -> String {
        let mut messages = String::new();
        for edit in &self.edits {
            let output = self.run(edit);
            messages += &String::from_utf8(output.stdout).unwrap();
            assert!(
                output.status.success(),
                "{messages}{}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        messages
    }

    fn text(&self, path: &str) -> String {
        self.project.read(&format!("src/{path}"))
    }

    fn all(&self) -> Vec<String> {
        SOURCES.iter().map(|(path, _)| self.text(path)).collect()
    }
}

/// The variables under which every edit is made.
const ALL: &str = "rocm-smi: \"off\", distributed: gloo, aotriton: /opt/aotriton";

/// (a) to (h), each where it belongs, and a second time none.
#[test]
fn every_edit_is_made_once_and_a_second_run_changes_nothing() {
    let sources = Sources::new("gfx1151", ALL);
    sources.edit();
    let has = |path: &str, text: &str| {
        assert!(
            sources.text(path).contains(text),
            "{path}:\n{}",
            sources.text(path)
        );
    };
    has(
        "torch/cmake/External/aotriton.cmake",
        "  set(__AOTRITON_INSTALL_DIR \"$ENV{AOTRITON_INSTALLED_PREFIX}\")\n  \
         set(AOTRITON_LIB \"${__AOTRITON_INSTALL_DIR}/lib/libaotriton_v2.so\")\n  message",
    );
    has(
        "torchaudio/cmake/LoadHIP.cmake",
        "  if(EXISTS \"${ROCM_PATH}/.info/version-dev\")  # rock-matrix: version-dev\n",
    );
    has(
        "torch/cmake/Dependencies.cmake",
        "set(CMAKE_INSTALL_RPATH \"${_rpath_portable_origin};$ORIGIN/../../_rocm_sdk_core/lib;\
         $ORIGIN/../../_rocm_sdk_core/lib/rocm_sysdeps/lib;$ORIGIN/../../_rocm_sdk_core/lib/host-math/lib;\
         $ORIGIN/../../_rocm_sdk_libraries/lib\")\n",
    );
    has(
        "torch/cmake/Dependencies.cmake",
        "set(CMAKE_INSTALL_RPATH_USE_LINK_PATH FALSE)  # rock-matrix: rpath\n",
    );
    has(
        "torchaudio/CMakeLists.txt",
        "if(NOT TARGET kineto)  # rock-matrix: kineto\n",
    );
    has(
        "torch/third_party/gloo/gloo/types.h",
        "#include <cstdint>\n#include <iostream>\n",
    );
    let node = "torch/torch/csrc/distributed/c10d/symm_mem/intra_node_comm.cpp";
    has(
        node,
        "#if 0  // rock-matrix: rocm-smi header\n#include <rocm_smi/rocm_smi.h>\n#endif\n",
    );
    has(
        node,
        "  return ask();\n#elif 1  // rock-matrix: rocm-smi mesh\n  return {};\n#else\n  NvlMesh",
    );
    has(
        node,
        "#if 0  // rock-matrix: rocm-smi start\n  auto ret = rsmi_init(0);\n#endif\n",
    );
    for folder in ["hip", "cuda"] {
        let text = sources.text(&format!("torch/aten/src/ATen/native/{folder}/Blas.cpp"));
        let guard = "#if defined(USE_FBGEMM_GENAI) && __has_include(<fbgemm_gpu/torch_ops.h>)  // rock-matrix: genai\n";
        assert!(
            text.starts_with(guard) && !text.contains("#ifdef"),
            "{text}"
        );
    }
    let options = sources.text("torch/CMakeLists.txt");
    assert!(
        options.contains("GenAI kernels.\" OFF  # rock-matrix: genai\n "),
        "{options}"
    );
    assert!(
        options.contains("\"Use FBGEMM\" ON)")
            && options.ends_with("message(\"USE_FBGEMM_GENAI ON\")\n"),
        "{options}"
    );
    let once = sources.all();
    let output = sources.edit();
    assert_eq!(sources.all(), once);
    assert!(!output.contains(": applied, "), "{output}");
    let already = output
        .lines()
        .filter(|line| line.contains(": applied already, it has '"))
        .count();
    assert_eq!(
        already,
        sources.edits.len() - 1,
        "each but the file that is written: {output}"
    );
}

/// (b) to (h) are for sources that have what they mend; of newer ones they say why they do not
/// apply.
#[test]
fn an_edit_that_does_not_apply_has_a_reason() {
    let sources = Sources::new("gfx1151", ALL);
    for (path, _) in &SOURCES[1..] {
        std::fs::write(
            sources.project.path(&format!("src/{path}")),
            "written anew\n",
        )
        .unwrap();
    }
    std::fs::remove_file(sources.project.path("src/torchaudio/cmake/LoadHIP.cmake")).unwrap();
    let output = sources.edit();
    for line in [
        "src/torch/cmake/External/aotriton.cmake: applied, 1 place",
        "src/torchaudio/cmake/LoadHIP.cmake: does not apply, there is no such file",
        "src/torchaudio/CMakeLists.txt: does not apply, nothing in it says 'find_package(Torch'",
        "src/torch/third_party/gloo/gloo/types.h: does not apply, nothing in it says 'uint16_t'",
        "src/torch/aten/src/ATen/native/hip/Blas.cpp: does not apply, nothing in it says 'USE_FBGEMM_GENAI'",
        "src/torch/CMakeLists.txt: does not apply, nothing in it says 'USE_FBGEMM_GENAI \"'",
    ] {
        assert!(
            output.lines().any(|found| found == line),
            "{line}: {output}"
        );
    }
    assert_eq!(
        output.matches("rsmi_").count() + output.matches("rocm_smi.h").count(),
        3,
        "{output}"
    );
}

/// What an edit mends is there, and not where it looks for it.
#[test]
fn every_edit_is_required_of_the_sources_that_it_is_for() {
    let sources = Sources::new("gfx1151", ALL);
    for (path, text) in [
        (
            "torch/cmake/Dependencies.cmake",
            "set(CMAKE_INSTALL_RPATH ${_rpath_portable_origin})\n  set(CMAKE_INSTALL_RPATH_USE_LINK_PATH TRUE)\n",
        ),
        ("torch/third_party/gloo/gloo/types.h", "uint16_t x;\n"),
        (
            "torch/torch/csrc/distributed/c10d/symm_mem/intra_node_comm.cpp",
            "rocm_smi/rocm_smi.h rsmi_init rsmi_is_P2P_accessible\n",
        ),
        (
            "torch/aten/src/ATen/native/hip/Blas.cpp",
            "#if defined(USE_FBGEMM_GENAI)\n",
        ),
        (
            "torch/aten/src/ATen/native/cuda/Blas.cpp",
            "#if defined(USE_FBGEMM_GENAI)\n",
        ),
        ("torch/CMakeLists.txt", "set(USE_FBGEMM_GENAI \"x\")\n"),
        ("torchaudio/cmake/LoadHIP.cmake", "# .info/version-dev\n"),
        (
            "torchaudio/CMakeLists.txt",
            "find_package(Torch 2 REQUIRED)\n",
        ),
    ] {
        let path = format!("src/{path}");
        std::fs::write(sources.project.path(&path), text).unwrap();
        for edit in sources.edits.iter().filter(|edit| edit.contains(&path)) {
            let output = sources.run(edit);
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{stderr}");
            assert!(
                stderr.starts_with(&format!("{path}: nothing matches ")),
                "{stderr}"
            );
        }
    }
}

/// Sources that are not what an edit was written for end the build there.
#[test]
fn an_edit_without_its_place_names_the_file_and_exits_with_1() {
    let sources = Sources::new("gfx942", "aotriton: /opt/aotriton");
    let path = "src/torch/cmake/External/aotriton.cmake";
    std::fs::write(sources.project.path(path), "message(\"written anew\")\n").unwrap();
    let edit = sources
        .edits
        .iter()
        .find(|edit| edit.iter().any(|word| word == path))
        .unwrap();
    let output = sources.run(edit);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(
        stderr.starts_with(&format!("{path}: nothing matches ")),
        "{stderr}"
    );
}

#[test]
fn genai_kernels_are_off_for_gfx1151_and_as_they_are_for_gfx942() {
    let set = |gfx: &str| {
        let sources = Sources::new(gfx, "");
        sources.edit();
        let stdout = sources
            .project
            .run(&["render", "recipe", "m.yaml", "--engine", "local"])
            .exits(0)
            .stdout;
        let whole: serde_json::Value = serde_yaml::from_str(&stdout).unwrap();
        let steps = whole["steps"].as_array().unwrap();
        let torch = steps.iter().find(|step| step["stage"] == "torch").unwrap();
        let is_unchanged = |path| SOURCES.contains(&(path, sources.text(path).as_str()));
        (
            torch["env"]["USE_FBGEMM_GENAI"].clone(),
            is_unchanged("torch/aten/src/ATen/native/hip/Blas.cpp"),
            is_unchanged("torch/CMakeLists.txt"),
        )
    };
    assert_eq!(set("gfx1151"), ("OFF".into(), false, false));
    assert_eq!(set("gfx942"), (serde_json::Value::Null, true, true));
    assert_eq!(
        set("gfx942, gfx1151"),
        (serde_json::Value::Null, true, true)
    );
}

/// The environment of torch's stage, and what is put behind inherited values.
fn environment(gfx: &str, vars: &str) -> (serde_json::Value, serde_json::Value) {
    let stdout = Sources::new(gfx, vars)
        .project
        .run(&["render", "recipe", "m.yaml", "--engine", "local"])
        .exits(0)
        .stdout;
    let whole: serde_json::Value = serde_yaml::from_str(&stdout).unwrap();
    let steps = whole["steps"].as_array().unwrap();
    let torch = steps.iter().find(|step| step["stage"] == "torch").unwrap();
    (torch["env"].clone(), torch["extend-env"].clone())
}

#[test]
fn a_torch_for_gfx1151_is_distributed_by_gloo_alone_and_without_smi() {
    let (env, extend) = environment("gfx1151", "rocm-smi: \"off\", distributed: gloo");
    let expected = [
        ("PYTORCH_ROCM_ARCH", "gfx1151"),
        ("USE_FLASH_ATTENTION", "ON"),
        ("USE_MEM_EFF_ATTENTION", "ON"),
        ("TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL", "1"),
        ("USE_DISTRIBUTED", "ON"),
        ("USE_GLOO", "ON"),
        ("USE_RCCL", "OFF"),
        ("USE_NCCL", "OFF"),
        ("USE_IBVERBS", "OFF"),
        ("USE_FBGEMM_GPU", "OFF"),
        ("USE_FBGEMM_GENAI", "OFF"),
        ("USE_ROCM_SMI", "OFF"),
        ("USE_CUDA", "OFF"),
        ("BUILD_TEST", "0"),
    ];
    for (name, value) in expected {
        assert_eq!(env[name], value, "{name}");
    }
    assert_eq!(
        extend["CMAKE_ARGS"]["append"],
        "-DUSE_FBGEMM_GENAI=OFF -DUSE_FBGEMM_GPU=OFF -DUSE_ROCM_SMI=OFF"
    );
    assert_eq!(extend["CFLAGS"]["append"], "-DUSE_ROCM_SMI=0");
    assert!(
        env["CXXFLAGS"]
            .as_str()
            .unwrap()
            .ends_with("/include/roctracer -DUSE_ROCM_SMI=0")
    );
    let (plain, extend) = environment("gfx942", "");
    for name in [
        "USE_DISTRIBUTED",
        "USE_RCCL",
        "USE_ROCM_SMI",
        "BUILD_TEST",
        "TORCH_ROCM_AOTRITON_ENABLE_EXPERIMENTAL",
    ] {
        assert_eq!(plain[name], serde_json::Value::Null, "{name}");
    }
    assert_eq!(extend["CMAKE_ARGS"], serde_json::Value::Null);
}

/// A build reads the pin as `source pins` does, from each generation of the file and where it
/// is in doubt.
#[test]
fn a_build_reads_the_same_pin_as_source_pins() {
    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
    const OTHER: &str = "76543210fedcba9876543210fedcba9876543210";
    let (cmake, lines) = (
        "cmake/External/aotriton.cmake",
        ".ci/docker/aotriton_version.txt",
    );
    let set = |value: &str| format!("set(__AOTRITON_CI_COMMIT \"{value}\")\n");
    let both = format!(
        "if(DEFINED ENV{{PYTORCH_AOTRITON_COMMIT}})\n  {}else()\n  {}endif()\n",
        set("$ENV{PYTORCH_AOTRITON_COMMIT}"),
        set(COMMIT)
    );
    let conflict = format!(
        "<<<<<<< HEAD\n{}=======\n{}>>>>>>> theirs\n",
        set(COMMIT),
        set(COMMIT)
    );
    let of_lines = format!("0.7b\nmanylinux_2_17\nrocm6.1\n{COMMIT}\nabc\ngz\n");
    let cases = [
        (cmake, set(COMMIT), "", COMMIT),
        (cmake, both.clone(), "", COMMIT),
        (cmake, both, OTHER, OTHER),
        (
            cmake,
            format!("# {}{}", set(OTHER), set(COMMIT)),
            "",
            COMMIT,
        ),
        (
            cmake,
            format!("message(\"# {{\") {}", set(COMMIT)),
            "",
            COMMIT,
        ),
        (cmake, set(COMMIT) + &set(COMMIT), "", COMMIT),
        (cmake, set(COMMIT) + &set(OTHER), "", ""),
        (cmake, set("main"), "", ""),
        (cmake, conflict, "", ""),
        (cmake, set(COMMIT), "main", ""),
        (lines, of_lines, "", COMMIT),
        ("other", String::new(), "", ""),
    ];
    for (path, text, variable, expected) in cases {
        let project =
            Project::new().file("m.yaml", &Sources::new("gfx942", "").project.read("m.yaml"));
        let mut project = project.file(&format!("src/torch/{path}"), &text);
        if !variable.is_empty() {
            project = project.env("PYTORCH_AOTRITON_COMMIT", variable);
        }
        let code = i32::from(expected.is_empty());
        let document = project
            .run(&["source", "pins", "src/torch", "--format", "json"])
            .exits(code)
            .json();
        assert_eq!(
            document["aotriton"]["commit"].as_str().unwrap_or_default(),
            expected,
            "source pins, {path}: {text}"
        );
        let fact = format!("aotriton_pin={variable}");
        let render = [
            "render", "recipe", "m.yaml", "--engine", "local", "--fact", &fact,
        ];
        let stdout = project.run(&render).exits(0).stdout;
        let whole: serde_json::Value = serde_yaml::from_str(&stdout).unwrap();
        let asks = whole["steps"]
            .as_array()
            .unwrap()
            .iter()
            .find(|step| step["stage"] == "facts-of-torch-sdk")
            .unwrap();
        let argv: Vec<&str> = asks["argv"]
            .as_array()
            .unwrap()
            .iter()
            .map(|word| word.as_str().unwrap())
            .collect();
        let output = Command::new(argv[0])
            .args(&argv[1..])
            .current_dir(project.root())
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert_eq!(
            project.read("facts/aotriton_pinned"),
            expected,
            "the build, {path}: {text}"
        );
    }
}

/// The tree around the module pyaotriton is taken where nothing else is named, a module alone
/// is not.
#[test]
fn torch_takes_the_tree_of_the_module_that_python_finds() {
    let recipe = std::fs::read_to_string("matrices/recipes/torch.yaml").unwrap();
    let recipe: serde_json::Value = serde_yaml::from_str(&recipe).unwrap();
    let program = recipe["facts"]["module_aotriton"]["command"][2]
        .as_str()
        .unwrap();
    let project = Sources::new("gfx942", "").project;
    let project = project
        .file("tree/lib/libaotriton_v2.so", "")
        .file("tree/lib/pyaotriton.py", "");
    let project = project.file("site/pyaotriton.py", "").file("none/x", "");
    let found = |modules: &str| {
        let modules = project.path(modules);
        let output = Command::new("python3")
            .args(["-c", program])
            .env("PYTHONPATH", modules)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let tree = project.path("tree").display().to_string();
    assert_eq!(
        [found("tree/lib"), found("site"), found("none")],
        [tree.as_str(), "", ""]
    );
    let copied = |more: &[(&str, &str)]| {
        let facts: Vec<String> = more
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let facts = facts.iter().flat_map(|fact| ["--fact", fact]);
        let render = ["render", "recipe", "m.yaml", "--engine", "local"]
            .into_iter()
            .chain(facts);
        let stdout = project.run(&render.collect::<Vec<_>>()).exits(0).stdout;
        let whole: serde_json::Value = serde_yaml::from_str(&stdout).unwrap();
        let fetch = whole["steps"]
            .as_array()
            .unwrap()
            .iter()
            .find(|step| step["stage"] == "fetch-aotriton")
            .cloned();
        fetch.map(|step| {
            step["argv"].as_array().unwrap()[3]
                .as_str()
                .unwrap()
                .to_owned()
        })
    };
    let (installed, local) = ("/opt/installed", "/opt/aotriton/build/install_dir");
    let module = ("module_aotriton", "/opt/of-module");
    let library = format!("{local}/lib/libaotriton_v2.so");
    assert_eq!(copied(&[module]), Some("/opt/of-module".into()));
    assert_eq!(
        copied(&[module, ("local_aotriton", &library)]),
        Some(local.into())
    );
    let named = ("inherited_aotriton", installed);
    assert_eq!(
        copied(&[module, ("local_aotriton", &library), named]),
        Some(installed.into())
    );
    assert_eq!(copied(&[]), None);
}

/// A tree or an archive that is named is taken in the place of what torch's build would
/// download.
#[test]
fn torch_takes_the_aotriton_that_is_there() {
    let prefix = |vars: &str| {
        let (env, _) = environment("gfx942", vars);
        let text = |name: &str| env[name].as_str().unwrap_or("none").to_owned();
        let prefix = text("AOTRITON_INSTALLED_PREFIX");
        let tail = prefix
            .rsplit_once("/src/")
            .map_or(prefix.clone(), |(_, tail)| tail.to_owned());
        (tail, text("AOTRITON_INSTALL_FROM_SOURCE"))
    };
    assert_eq!(prefix(""), ("none".into(), "none".into()));
    assert_eq!(
        prefix("aotriton: /opt/aotriton"),
        ("aotriton".into(), "none".into())
    );
    assert_eq!(
        prefix("aotriton: dist/a-tree.tar.gz"),
        ("aotriton-archive".into(), "none".into())
    );
    assert_eq!(prefix("aotriton: source"), ("none".into(), "1".into()));
    let sources = Sources::new("gfx906", "");
    let stderr = Project::new()
        .file(
            "m.yaml",
            &sources
                .project
                .read("m.yaml")
                .replace("vars: {}", "vars: {aotriton: source}"),
        )
        .run(&["render", "recipe", "m.yaml"])
        .exits(1)
        .stderr;
    assert!(
        stderr.contains("`aotriton: source` has no effect without flash attention"),
        "{stderr}"
    );
}

/// A build of another commit is taken all the same, with a warning that names both.
#[test]
fn another_commit_of_aotriton_than_torch_pins_is_warned_of() {
    let project = Sources::new("gfx942", "aotriton: /opt/aotriton").project;
    let stdout = project
        .run(&["render", "recipe", "m.yaml", "--engine", "local"])
        .exits(0)
        .stdout;
    let whole: serde_json::Value = serde_yaml::from_str(&stdout).unwrap();
    let steps = whole["steps"].as_array().unwrap();
    let words = steps
        .iter()
        .find(|step| step["stage"] == "aotriton-pin")
        .unwrap()["argv"]
        .as_array()
        .unwrap();
    assert_eq!(words[3], "pinned=${ROCK_FACT_aotriton_pinned}");
    let comparison = |pinned: &str, taken: &str| {
        let program = [words[1].as_str().unwrap(), words[2].as_str().unwrap()];
        let both = [format!("pinned={pinned}"), format!("taken={taken}")];
        let output = Command::new(words[0].as_str().unwrap())
            .args(program)
            .args(both)
            .output()
            .unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(
        comparison("1f9a", "6e00"),
        "warning: torch pins AOTriton 1f9a, and what is taken is 6e00\n"
    );
    assert_eq!(comparison("1f9a", "1f9a"), "AOTriton 1f9a\n");
    assert_eq!(comparison("1f9a", ""), "AOTriton 1f9a\n");
}
