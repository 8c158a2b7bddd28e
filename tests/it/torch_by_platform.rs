//! The recipes of torch and Triton by platform: what their steps get, which libraries torch loads
//! first, and how a finished wheel is tried on GPUs.

use std::process::Command;

use serde_json::Value;

use crate::support::{Project, Wheel, assert_file, need_pip};
use crate::torch_recipe::{project, stages, words};

const WINDOWS: &str = "platform: windows\nrunner: windows-2022\n";

/// What a stage does to the environment, a line each.
fn environment(step: &Value) -> String {
    let entries = |key: &str| step[key].as_object().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut lines: Vec<String> = Vec::new();
    for (name, value) in entries("env") {
        lines.push(if value.is_null() {
            format!("-{name}")
        } else {
            format!("{name}={}", text(&value))
        });
    }
    for (name, more) in entries("extend-env") {
        let (before, after, between) = (
            text(&more["prepend"]),
            text(&more["append"]),
            text(&more["sep"]),
        );
        lines.push(format!("{name}={before}[{between}]{after}"));
    }
    for (name, only) in entries("env-where") {
        lines.push(format!(
            "{name}={} with {}",
            text(&only["value"]),
            text(&only["fact"])
        ));
    }
    if let Some(jobs) = step["jobs"].as_object() {
        lines.push(format!(
            "{}={} GiB each",
            text(&jobs["variable"]),
            text(&jobs["gib-per-job"])
        ));
    }
    lines.sort();
    lines.iter().map(|line| format!("  {line}\n")).collect()
}

#[test]
fn each_step_gets_the_variables_of_its_platform() {
    for (platform, lines) in [("linux", ""), ("windows", WINDOWS)] {
        let all = stages(&format!("gfx: [gfx942, gfx1151]\n{lines}"), "");
        let names = ["triton", "torch", "audio", "vision", "apex"]
            .into_iter()
            .filter(|name| !all[*name].is_null());
        let text: String = names
            .map(|name| format!("{name}\n{}", environment(&all[name])))
            .collect();
        assert_file(&format!("tests/it/torch_by_platform/{platform}.txt"), &text);
    }
    let all = stages(WINDOWS, "");
    for stage in ["triton", "apex", "torch-sysdeps"] {
        assert!(all[stage].is_null(), "{stage} is for Linux");
    }
    assert!(
        words(&all["torch"])
            .contains(" --skip-dependency-check ${ROCK_FACT_force_init} ${ROCK_FACT_force_omp} ")
    );
    assert!(
        words(&all["torch-requirements"]).ends_with(" torch ninja"),
        "the system's ninja is wanted there"
    );
}

/// A matrix of Triton alone on Windows.
fn triton(vars: &str) -> Project {
    let lines = "version: 1\ndistribution: triton\nrecipe: triton\naxes: {python: [\"3.12\"], rocm: [\"7.14.0\"]}\n\
                 unknown: lenient\ntorch-from: host\npython-from: host\ngfx: [gfx1151]\n";
    Project::new().file("m.yaml", &format!("{lines}{WINDOWS}vars: {{{vars}}}\n"))
}

/// Triton on Windows
#[test]
fn triton_takes_the_llvm_that_it_names_from_an_archive_of_the_user() {
    let stderr = triton("")
        .run(&["render", "recipe", "m.yaml"])
        .exits(1)
        .stderr;
    assert!(
        stderr.contains("Triton's build does not download LLVM on Windows")
            && stderr.contains("set `llvm-archive`"),
        "{stderr}"
    );
    let archive = "llvm-archive: 'llvm-{hash}-windows-x64.tar.gz'";
    let stdout = triton(archive)
        .run(&["render", "recipe", "m.yaml"])
        .exits(0)
        .stdout;
    let recipe: Value = serde_yaml::from_str(&stdout).unwrap();
    let step = |name: &str| {
        recipe["steps"]
            .as_array()
            .unwrap()
            .iter()
            .find(|step| step["stage"] == name)
            .unwrap()
            .clone()
    };
    for line in [
        "LLVM_SYSPATH=${ROCK_FOLDER}/llvm\n",
        "TRITON_BUILD_PROTON=OFF\n",
        "TRITON_WHEEL_NAME=triton\n",
    ] {
        assert!(environment(&step("triton")).contains(line), "{line}");
    }
    let argv: Vec<String> = serde_json::from_value(step("triton-llvm")["argv"].clone()).unwrap();
    let project = Project::new();
    let python = |words: &[&str]| {
        let output = Command::new("python3")
            .args(words)
            .current_dir(project.root())
            .output()
            .unwrap();
        (
            output.status.success(),
            String::from_utf8([output.stdout, output.stderr].concat()).unwrap(),
        )
    };
    let make = "import io, sys, tarfile; tar = tarfile.open(sys.argv[1], 'w:gz'); one = tarfile.TarInfo('llvm-x/bin/clang'); one.size = 3; \
                tar.addfile(one, io.BytesIO(b'abc')); tar.close()";
    assert!(python(&["-c", make, "llvm-0123abcd-windows-x64.tar.gz"]).0);
    let fetch = |commit: &str, digest: &str| python(&["-c", &argv[2], commit, &argv[4], digest]);
    let commit = "0123abcd".repeat(5);
    assert_eq!(argv[3], "${ROCK_FACT_llvm_hash}");
    let (done, stdout) = fetch(&commit, &"0".repeat(64));
    assert!(!done && stdout.contains("its SHA-256 is"), "{stdout}");
    let (done, stdout) = fetch(&commit, &argv[5]);
    assert!(done, "{stdout}");
    assert_eq!(
        (
            project.read("llvm/bin/clang"),
            project.read("llvm/rock-llvm-hash.txt")
        ),
        ("abc".into(), commit.clone())
    );
    assert_eq!(
        fetch(&commit, "none"),
        (true, format!("LLVM {commit} is there\n"))
    );
    // Python of Debian 12 has no extraction filters.
    let old = "import tarfile\nplain = tarfile.TarFile.extractall\ntarfile.TarFile.extractall = lambda tar, path: plain(tar, path)\n\
        vars(tarfile).pop('data_filter', None)\n";
    let fetch_by_old = |name: &str| {
        std::fs::remove_dir_all(project.path("llvm")).unwrap_or_default();
        assert!(
            python(&[
                "-c",
                &make.replace("llvm-x/bin/clang", name),
                "llvm-0123abcd-windows-x64.tar.gz"
            ])
            .0
        );
        python(&[
            "-c",
            &format!("{old}{}", argv[2]),
            &commit,
            &argv[4],
            "none",
        ])
    };
    let (done, stdout) = fetch_by_old("llvm-x/bin/clang");
    assert!(done && project.has("llvm/bin/clang"), "{stdout}");
    for name in ["llvm-x/../../evil", "/evil", "c:/evil"] {
        let (done, stdout) = fetch_by_old(name);
        assert!(
            !done && stdout.contains("may be unpacked elsewhere"),
            "{name}: {stdout}"
        );
    }
    let (done, stdout) = fetch(&"ffff0000".repeat(5), "none");
    assert!(
        !done && stdout.contains("llvm-ffff0000-windows-x64.tar.gz"),
        "{stdout}"
    );
}

/// A pin that does not work on Windows, and one that does.
const BAD: &str = "c11b5b886a10aaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const GOOD: &str = "0123456789abcdef0123456789abcdef01234567";

/// What a Windows build of torch finds about flash attention, and what it says.
fn found(gfx: &str, vars: &str, pin: &str, variable: &str) -> (String, String) {
    let all = stages(&format!("gfx: [{gfx}]\n{WINDOWS}"), vars);
    assert_eq!(
        all["torch"]["env"]["USE_FLASH_ATTENTION"],
        "${ROCK_FACT_attention_of_pin}"
    );
    let cmake = format!(
        "  # set(__AOTRITON_CI_COMMIT \"{GOOD}\")\n  set(__AOTRITON_CI_COMMIT \"{pin}\")\n"
    );
    let project = Project::new().file("src/torch/cmake/External/aotriton.cmake", &cmake);
    let mut text = String::new();
    for stage in ["facts-of-torch-sdk", "facts-of-torch-libraries"] {
        let argv: Vec<String> = serde_json::from_value(all[stage]["argv"].clone()).unwrap();
        let pinned =
            std::fs::read_to_string(project.path("facts/aotriton_pinned")).unwrap_or_default();
        let words = argv[1..].iter().map(|word| match word.as_str() {
            "python" => "python3".to_owned(),
            word => word.replace("${ROCK_FACT_aotriton_pinned}", &pinned),
        });
        let mut command = Command::new("python3");
        command
            .args(words)
            .current_dir(project.root())
            .env_remove("PYTORCH_AOTRITON_COMMIT");
        if !variable.is_empty() {
            command.env("PYTORCH_AOTRITON_COMMIT", variable);
        }
        let output = command.output().unwrap();
        text += &String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{text}");
    }
    (project.read("facts/attention_of_pin"), text)
}

/// The pin of AOTriton that does not work on Windows
#[test]
fn a_pin_that_does_not_work_turns_the_default_off_on_windows_and_a_word_honours_it_with_a_warning()
{
    let warning = "warning: AOTriton c11b5b886a10 is known not to work on this platform";
    for (gfx, vars, pin, variable, word, why) in [
        ("gfx1151", "", GOOD, "", "ON", ""),
        ("gfx1151", "", BAD, "", "OFF", "flash attention is left out"),
        (
            "gfx1151",
            "flash-attention: \"on\"",
            BAD,
            "",
            "ON",
            "it was asked for, so it is built",
        ),
        ("gfx1151", "flash-attention: \"off\"", BAD, "", "OFF", ""),
        (
            "gfx1151",
            "",
            GOOD,
            BAD,
            "OFF",
            "flash attention is left out",
        ),
        ("gfx1151", "", BAD, GOOD, "ON", ""),
        ("gfx906", "", BAD, "", "OFF", ""),
    ] {
        let (found, stdout) = found(gfx, vars, pin, variable);
        assert_eq!(found, word, "{gfx} {vars} {pin} {variable}");
        assert!(
            if why.is_empty() {
                stdout.is_empty()
            } else {
                stdout.contains(warning) && stdout.contains(why)
            },
            "{stdout}"
        );
    }
    let linux = project("", "").env("PYTORCH_AOTRITON_COMMIT", BAD);
    let stdout = linux
        .run(&["render", "recipe", "m.yaml", "--engine", "local"])
        .exits(0)
        .stdout;
    assert!(
        stdout.contains("USE_FLASH_ATTENTION: 'ON'") && !stdout.contains("attention_of_pin"),
        "Linux has no such pin"
    );
}

#[test]
fn torch_loads_the_libraries_that_its_sdk_has_on_its_platform() {
    let stub = "import sys, types; sdk = types.ModuleType('rocm_sdk'); sys.modules['rocm_sdk'] = sdk\n\
                sdk.initialize_process = lambda preload_shortnames, check_version: print(check_version, *preload_shortnames)\n";
    let mut text = String::new();
    for (platform, lines) in [("linux", ""), ("windows", WINDOWS)] {
        for sdk in ["7.0.0", "7.10.0", "7.14.0"] {
            let project = project(lines, "");
            let matrix = project.read("m.yaml").replace("7.14.0", sdk);
            let stdout = project
                .file("m.yaml", &matrix)
                .run(&["render", "recipe", "m.yaml", "--engine", "local"])
                .exits(0)
                .stdout;
            let recipe: Value = serde_yaml::from_str(&stdout).unwrap();
            let argvs = recipe["steps"]
                .as_array()
                .unwrap()
                .iter()
                .map(|step| step["argv"].as_array().unwrap());
            let written = argvs
                .clone()
                .find(|argv| {
                    argv.iter()
                        .any(|word| word == "src/torch/torch/_rocm_init.py")
                })
                .unwrap();
            let program = format!(
                "{stub}{}\ninitialize()\n",
                written.last().unwrap().as_str().unwrap()
            );
            let ran = Command::new("python3")
                .args(["-c", &program])
                .output()
                .unwrap();
            assert!(
                ran.status.success(),
                "{program}{}",
                String::from_utf8_lossy(&ran.stderr)
            );
            text += &format!("{platform} {}", String::from_utf8(ran.stdout).unwrap());
        }
    }
    assert_file("tests/it/torch_by_platform/preloads.txt", &text);
}

#[test]
fn what_is_not_wanted_is_neither_fetched_nor_built_nor_expected() {
    let off =
        "triton: \"off\", flash-attention: \"off\", audio: \"off\", vision: \"off\", apex: \"off\"";
    let all = stages("", off);
    let names: Vec<&String> = all.as_object().unwrap().keys().collect();
    for name in [
        "triton",
        "audio",
        "vision",
        "apex",
        "torchaudio",
        "torchvision",
    ] {
        assert!(
            !names
                .iter()
                .any(|stage| **stage == name || **stage == format!("fetch-{name}")),
            "{names:?}"
        );
    }
    assert!(!all["torch"].is_null());
    let plan = project("", off)
        .run(&["plan", "m.yaml", "--format", "json"])
        .exits(0)
        .json();
    assert!(plan["jobs"][0]["wheels"].is_null(), "{plan}");
}

#[test]
fn a_missing_source_directory_is_reported_before_any_step() {
    let project = project(
        "",
        "torch-dir: nowhere, audio-dir: audio, vision: \"off\", apex: \"off\"",
    )
    .file("audio/version.txt", "1");
    let build = ["build", "--all", "--matrix", "m.yaml"];
    let stderr = project.run(&build).exits(1).stderr;
    assert!(
        stderr.contains(
            "error[B077 missing-source]: the source `torch` should be taken from `nowhere`, which \
             does not exist"
        ),
        "{stderr}"
    );
    assert!(
        stderr.contains("help: create it, or correct `torch-dir` in `vars`"),
        "{stderr}"
    );
    assert_eq!(stderr.matches("error[").count(), 1, "{stderr}");
    assert!(
        !project.files().iter().any(|file| file.contains("/logs/")),
        "{:?}",
        project.files()
    );
    let _ = project.run(&[&build[..], &["--dry-run"]].concat()).exits(0);
}

#[test]
fn the_kind_of_release_is_known_to_the_recipe() {
    let version = |project: &Project| {
        let recipe: Value = serde_yaml::from_str(
            &project
                .run(&["render", "recipe", "m.yaml", "--engine", "local"])
                .exits(0)
                .stdout,
        )
        .unwrap();
        let steps = recipe["steps"].as_array().unwrap().iter();
        words(
            steps
                .clone()
                .find(|step| step["stage"] == "facts-of-torch")
                .unwrap(),
        )
    };
    assert!(version(&project("release-type: dev\n", "")).contains(" src/torch rocm7.14 dev "));
    assert!(
        version(&project("release-type: dev\n", "release-type: ci"))
            .contains(" src/torch rocm7.14 ci "),
        "what is written counts"
    );
    let plan = |kind: &str| {
        project("", "release-type: ci")
            .run(&["plan", "m.yaml", "--release-type", kind, "--format", "json"])
            .exits(0)
            .json()
    };
    assert_eq!(
        plan("dev")["matrices"][0]["vars"]["release-type"],
        "dev",
        "what the command line says counts more"
    );
}

#[test]
fn a_gpu_leg_starts_a_container_with_the_gpus_and_pytest_in_it() {
    let lines = "gfx: [gfx94X-dcgpu, gfx1151]\ngpu: required\ndocker: {groups: [video, \"992\", \"110\"], args: [--env-file=isolation.env]}\n";
    let shown = project(lines, "")
        .run(&[
            "render",
            "docker",
            "m.yaml",
            "--image",
            "example.org/test:1",
        ])
        .exits(0)
        .stdout;
    for flag in [
        "--device=/dev/kfd",
        "--device=/dev/dri",
        "--group-add video",
        "--group-add 992",
        "--group-add 110",
        "--cap-add=SYS_PTRACE",
        "--ipc=host",
        "--env-file=isolation.env",
    ] {
        assert!(shown.contains(&format!("  {flag} \\\n")), "{flag}: {shown}");
    }
    let step = stages(
        "gfx: [gfx94X-dcgpu, gfx1151]\n",
        "pytest-args: \"-x --durations=3\"",
    )["smoke-test"]
        .clone();
    assert_eq!(
        environment(&step),
        "  OPENBLAS_NUM_THREADS=1\n  PYTORCH_NUM_PYTEST_RERUNS=2\n"
    );
    let argv: Vec<String> = serde_json::from_value(step["argv"].clone()).unwrap();
    assert_eq!(
        argv[8..],
        ["gfx942;gfx1151", "pytest", "-v", "-x", "--durations=3"]
    );
    let project = project("", "");
    let _ = project
        .run(&["plan", "m.yaml", "--format", "json", "--out", "plan.json"])
        .exits(0);
    let dry = project
        .run(&[
            "test",
            "--all",
            "--plan",
            "plan.json",
            "--dist",
            "dist",
            "--dry-run",
        ])
        .exits(0)
        .stdout;
    let stages: Vec<&str> = dry
        .lines()
        .filter_map(|line| line.trim().split_once('/')?.1.split_once(' '))
        .filter(|(n, _)| n.parse::<u8>().is_ok())
        .map(|(_, stage)| stage)
        .collect();
    assert_eq!(stages, ["rocm", "test-requirements", "smoke-test"], "{dry}");
}

#[test]
fn each_kind_of_gpu_that_there_is_code_for_is_tried_in_a_process_of_its_own() {
    need_pip();
    let wheel = "demo-1.0-py3-none-any.whl";
    let mut project = Project::new()
        .bytes(&format!("dist/{wheel}"), &Wheel::named(wheel).bytes())
        .file("kfd", "");
    for (number, version) in [(0, 0), (1, 90402), (2, 90402), (3, 110_501), (10, 100_300)] {
        project = project.file(
            &format!("nodes/{number}/properties"),
            &format!("cpu_cores_count 8\ngfx_target_version {version}\n"),
        );
    }
    let root = project.root().display().to_string();
    let smoke = include_str!("../../templates/recipe/smoke.py");
    let smoke = smoke
        .replace("\"/dev/kfd\"", &format!("\"{root}/kfd\""))
        .replace(
            "/sys/class/kfd/kfd/topology/nodes",
            &format!("{root}/nodes"),
        );
    let gpu = "import os, sys; print('sees', os.environ['HIP_VISIBLE_DEVICES'], 'GPU_DEVICE_ORDINAL' in os.environ, flush=True); sys.exit(int(os.environ['HIP_VISIBLE_DEVICES']) + 5)";
    let run = |targets: &str| {
        let output = Command::new("python3")
            .args([
                "-c",
                &smoke,
                "dist/*.whl",
                "demo",
                "",
                "",
                gpu,
                targets,
                "program",
            ])
            .current_dir(project.root())
            .env("GPU_DEVICE_ORDINAL", "0")
            .output()
            .unwrap();
        (
            output.status.code().unwrap(),
            String::from_utf8([output.stdout, output.stderr].concat()).unwrap(),
        )
    };
    let (code, text) = run("gfx942;gfx1151;gfx90a:xnack-");
    assert!(
        text.contains("on gfx942, device 0\nsees 0 False\non gfx1151, device 2\nsees 2 False\n"),
        "{text}"
    );
    assert_eq!(code, 7, "the code of the last that failed");
    let (code, text) = run("gfx1100");
    assert!(
        code == 0 && text.contains("no GPU of this machine is one of gfx1100"),
        "{text}"
    );
    assert!(
        run("").1.contains("on gfx1030, device 3\n"),
        "without targets all are tried"
    );
}

/// AOTriton is built on Windows without its kernels, and finds them by a function that knows the
/// code page only.
#[test]
fn kernels_of_aotriton_go_next_to_torchs_libraries() {
    let step = stages(WINDOWS, "aotriton-images: images")["torch-images"].clone();
    let arguments: Vec<&str> = step["argv"]
        .as_array()
        .unwrap()
        .iter()
        .map(|word| word.as_str().unwrap())
        .collect();
    let run = |folder: &str, image: &str| {
        let project = Project::new()
            .file(image, "kernel")
            .file(&format!("{folder}/src/torch/torch/lib/torch.dll"), "");
        let output = Command::new("python3")
            .args(&arguments[1..])
            .current_dir(project.path(&format!("{folder}/src/torch")))
            .env("PYTHONUTF8", "1")
            .output()
            .unwrap();
        let kernel =
            format!("{folder}/src/torch/torch/lib/aotriton.images/amd-gfx11xx/flash/kernel.zip");
        (output, project.has(&kernel))
    };
    let (output, is_there) = run("job", "job/images/amd-gfx11xx/flash/kernel.zip");
    assert!(output.status.success() && is_there, "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    let (output, is_there) = run("jób", "jób/images/amd-gfx11xx/flash/kernel.zip");
    assert!(output.status.success() && is_there, "{output:?}");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.starts_with("warning: AOTriton cannot find its kernels below '")
            && stderr.contains("ASCII path"),
        "{stderr}"
    );
    let (output, _) = run("job", "job/images/readme.txt");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && stderr.contains("has no folders amd-*"),
        "{stderr}"
    );
    assert!(
        stages("", "")["torch-images"].is_null(),
        "AOTriton has its kernels on Linux"
    );
    let refused = project("", "aotriton-images: images")
        .run(&["check", "m.yaml"])
        .exits(1)
        .stderr;
    assert!(
        refused.contains("only affects builds on Windows with flash attention"),
        "{refused}"
    );
}
