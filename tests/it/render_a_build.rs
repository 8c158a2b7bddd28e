//! Commands and scripts out of a matrix: what they say, and what they do when they are run.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};

use crate::support::toy::{all_gone, wait_until};
use crate::support::{Project, need_pip};

/// A recipe whose steps need nothing but bash and Python, from a source tree beside it.
const RECIPE: &str = r#"
recipe: 1
name: tiny
vars: {word: quiet, source: tree, python: python3, seconds: "0"}
sources:
  tree: {path: "{{ vars.source }}"}
edits:
  - {file: src/tree/setup.txt, find: "c\\+\\+17", replace: "c++20", unless: "c++20"}
  - {file: src/tree/setup.txt, find: "nowhere", replace: "x", only-with: "elsewhere"}
  - remove: [src/tree/cute]
steps:
  - stage: build
    cwd: src/tree
    clean: [dist]
    shell: bash
    script: |
      mkdir -p "$OUT"
      cat setup.txt
      printf '%s|%s|%s\n' "$WORD" "$JOBS" "${GONE-unset}" | tee "$OUT/tiny-1.whl"
    env:
      WORD: "{{ vars.word }}"
      OUT: "{{ folder }}/dist"
      GONE: null
      JOBS: {gib-per-job: "2.8"}
    outputs: {wheel: {glob: "dist/*.whl"}}
  - stage: after
    argv: [bash, -c, "sleep \"$0\"", "{{ vars.seconds }}"]
leaves: tree
"#;

fn tiny(word: &str) -> Project {
    let matrix = format!(
        "version: 1\ndistribution: tiny\nrecipe: tiny\naxes: {{tiny: [\"1.0\"], python: [\"3.11\"], rocm: [\"6.2\"]}}\ngfx: [gfx90a]\n\
         torch-from: host\npython-from: host\nvars:\n  word: {}\n",
        serde_json::to_string(word).unwrap()
    );
    Project::new()
        .file("recipes/tiny.yaml", RECIPE)
        .file("m.yaml", &matrix)
        .file("tree/setup.txt", "flags = -std=c++17\n")
        .file("tree/cute/kernel.py", "")
        .file("tree/build/leftover", "")
}

/// Renders the script and runs it; its exit code and both streams as one text.
fn run(project: &Project, variables: &[(&str, &str)]) -> (Option<i32>, String) {
    project
        .run(&[
            "--recipes",
            "recipes",
            "render",
            "script",
            "m.yaml",
            "--out",
            "build.sh",
        ])
        .exits(0);
    let mut command = Command::new("bash");
    command
        .arg("build.sh")
        .current_dir(project.root())
        .env_remove("MAX_JOBS")
        .envs(variables.iter().copied());
    let output = command.output().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    (output.status.code(), text)
}

const JOB: &str = "tiny-1.0-rocm6.2-py3.11-gfx90a";

fn job_file(project: &Project, path: &str) -> String {
    project.read(&format!(".rock/{JOB}/{path}"))
}

/// The script of a person does the whole build, in the folder that `build` uses too.
#[test]
fn a_rendered_script_builds() {
    let project = tiny("loud");
    let (code, text) = run(&project, &[("GONE", "here")]);
    assert_eq!(code, Some(0), "{text}");
    let built = job_file(&project, "dist/tiny-1.whl");
    let jobs: u32 = built
        .strip_prefix("loud|")
        .unwrap()
        .strip_suffix("|unset\n")
        .unwrap()
        .parse()
        .unwrap();
    assert!(jobs >= 1);
    assert!(
        !project.has(&format!(".rock/{JOB}/src/tree/build")),
        "what earlier builds left is not copied"
    );
    assert!(
        text.ends_with("== built dist/tiny-1.whl \n") || text.contains("== after"),
        "{text}"
    );
}

/// What the caller's variables hold and what the recipe adds are apart by the separator
/// alone.
#[test]
fn a_script_joins_what_the_callers_variables_hold_as_a_build_does() {
    let recipe = r#"
recipe: 1
name: tiny
steps:
  - stage: build
    env:
      LDFLAGS: {append: "-Lx", sep: " "}
      CXXFLAGS: {prepend: "-Ix -Iy", sep: " "}
      ODD: {append: "b", sep: "}$`\"\\'"}
      EMPTY: {append: "-Lx", sep: " "}
      FOLDERS: {prepend: "/a"}
    argv: [bash, -c, "printf '[%s]' \"$LDFLAGS\" \"$CXXFLAGS\" \"$ODD\" \"$EMPTY\" \"$FOLDERS\" >said"]
leaves: tree
"#;
    let project = tiny("x").file("recipes/tiny.yaml", recipe);
    let matrix = project.read("m.yaml");
    let project = project.file("m.yaml", matrix.split("vars:").next().unwrap());
    let variables = [
        ("LDFLAGS", "-O1 -g"),
        ("CXXFLAGS", "-O2"),
        ("ODD", "a"),
        ("FOLDERS", "/b"),
        ("EMPTY", ""),
    ];
    let expected = "[-O1 -g -Lx][-Ix -Iy -O2][a}$`\"\\'b][-Lx][/a:/b]";
    let (code, text) = run(&project, &variables);
    assert_eq!(
        (code, job_file(&project, "said").as_str()),
        (Some(0), expected),
        "{text}"
    );
    std::fs::remove_dir_all(project.path(".rock")).unwrap();
    let project = variables
        .into_iter()
        .fold(project, |project, (name, value)| project.env(name, value));
    project
        .run(&[
            "--recipes",
            "recipes",
            "build",
            JOB,
            "--matrix",
            "m.yaml",
            "--engine",
            "local",
        ])
        .exits(0);
    assert_eq!(job_file(&project, "said"), expected, "as a build does it");
}

#[test]
fn sources_are_rewritten_once_left_alone_when_they_are_right_and_refused_when_they_are_others() {
    let project = tiny("x");
    assert_eq!(run(&project, &[]).0, Some(0));
    assert_eq!(
        job_file(&project, "src/tree/setup.txt"),
        "flags = -std=c++20\n"
    );
    let right = tiny("x").file("tree/setup.txt", "flags = -std=c++20\n");
    let (code, text) = run(&right, &[]);
    assert_eq!(code, Some(0));
    assert!(
        text.contains("src/tree/setup.txt: applied already, it has 'c++20'"),
        "{text}"
    );
    let other = tiny("x").file("tree/setup.txt", "flags = none\n");
    let (code, text) = run(&other, &[]);
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains(
            "nothing matches 'c\\\\+\\\\+17'; the sources are not what this edit was written for"
        ),
        "{text}"
    );
    assert!(
        !other.has(&format!(".rock/{JOB}/dist")),
        "nothing was built"
    );
}

/// The arguments of one stage of the shipped recipe, as `render recipe` prints them.
fn shipped_stage(version: &str, torch: &str, stage: &str) -> Vec<String> {
    let (rocm, python) = if torch == "2.14.0" {
        ("7.2", "3.12")
    } else {
        ("6.2", "3.12")
    };
    let matrix = format!(
        "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\ngfx: [gfx942]\ntorch-from: host\npython-from: host\n\
         axes: {{flash-attn: [\"{version}\"], python: [\"{python}\"], torch: [\"{torch}\"], rocm: [\"{rocm}\"]}}\n"
    );
    let run = Project::new()
        .file("m.yaml", &matrix)
        .run(&["render", "recipe", "m.yaml", "--engine", "local"]);
    let recipe: serde_yaml::Value = serde_yaml::from_str(&run.exits(0).stdout).unwrap();
    let found = recipe["steps"]
        .as_sequence()
        .unwrap()
        .iter()
        .find(|step| step["stage"].as_str() == Some(stage));
    let argv = found
        .map(|step| step["argv"].as_sequence().unwrap().clone())
        .unwrap_or_default();
    argv.iter()
        .map(|word| word.as_str().unwrap().to_owned())
        .collect()
}

/// A stand-in for the sources of flash-attn, and one stage of the shipped recipe run on it.
fn on_sources(setup: &str, argv: &[String]) -> (Project, Option<i32>, String) {
    let project = Project::new()
        .file("src/flash-attn/setup.py", setup)
        .file("src/flash-attn/flash_attn/flash_attn_interface.py", "")
        .file("src/flash-attn/flash_attn/cute/interface.py", "");
    let output = Command::new(&argv[0])
        .args(&argv[1..])
        .current_dir(project.root())
        .output()
        .unwrap();
    (
        project,
        output.status.code(),
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned(),
    )
}

#[test]
fn the_recipe_of_flash_attn_asks_for_cpp_20_with_torch_2_14_and_aborts_on_other_sources() {
    let edit = shipped_stage("2.8.3", "2.14.0", "edit-2");
    let flags = |std: &str| {
        format!(
            "cc_flag = []\nextra_compile_args = {{\n    \"cxx\": [\"-O3\", \"{std}\"] + generator_flag,\n    \"nvcc\": [\n        \"-O3\",\n        \"{std}\",\n    ]\n}}\n"
        )
    };
    let (project, code, text) = on_sources(&flags("-std=c++17"), &edit);
    assert_eq!(
        (code, text.lines().last()),
        (Some(0), Some("src/flash-attn/setup.py: applied, 2 places"))
    );
    assert!(
        text.contains("-    \"cxx\": [\"-O3\", \"-std=c++17\"]"),
        "what changed is shown: {text}"
    );
    assert_eq!(project.read("src/flash-attn/setup.py"), flags("-std=c++20"));
    let (project, code, _) = on_sources(&flags("-std=c++20"), &edit);
    assert_eq!(
        (code, project.read("src/flash-attn/setup.py")),
        (Some(0), flags("-std=c++20")),
        "untouched"
    );
    let (project, code, text) = on_sources(&flags("-std=c++14"), &edit);
    assert_eq!(
        (code, project.read("src/flash-attn/setup.py")),
        (Some(1), flags("-std=c++14"))
    );
    assert!(
        text.contains("the sources are not what this edit was written for"),
        "{text}"
    );
    assert!(
        shipped_stage("2.8.3", "2.5.1", "edit-2").is_empty(),
        "earlier torch takes C++17"
    );
}

#[test]
fn the_recipe_of_flash_attn_keeps_flash_attention_4_out_of_the_wheel() {
    let (project, code, text) = on_sources("", &shipped_stage("2.8.3", "2.5.1", "edit-1"));
    assert_eq!(code, Some(0), "{text}");
    assert!(project.has("src/flash-attn/flash_attn/flash_attn_interface.py"));
    assert!(!project.has("src/flash-attn/flash_attn/cute"));
}

#[test]
fn a_folder_that_the_recipe_removes_is_gone() {
    let project = tiny("x");
    run(&project, &[]);
    assert!(project.has(&format!(".rock/{JOB}/src/tree/setup.txt")));
    assert!(!project.has(&format!(".rock/{JOB}/src/tree/cute")));
}

#[test]
fn a_script_looks_for_what_it_copies_before_anything_else() {
    let project = tiny("x");
    std::fs::rename(project.path("tree"), project.path("away")).unwrap();
    let (code, text) = run(&project, &[]);
    assert_eq!(code, Some(1), "{text}");
    let path = project.path("tree").display().to_string();
    assert_eq!(
        text,
        format!("== the source tree is to come from {path}, which is not there\n")
    );
    assert!(!project.has(".rock"), "{:?}", project.files());
    let later = run(&project, &[("ROCK_FROM", "after")]);
    assert_eq!(
        later.0,
        Some(0),
        "what was copied is no longer asked for: {}",
        later.1
    );
}

#[test]
fn a_number_of_jobs_from_the_environment_wins() {
    let project = tiny("x");
    assert_eq!(run(&project, &[("JOBS", "77")]).0, Some(0));
    assert_eq!(job_file(&project, "dist/tiny-1.whl"), "x|77|unset\n");
}

#[test]
fn a_plan_for_a_machine_has_the_number_of_parallel_compilers() {
    let project = Project::new().file("m.yaml", &one_cell("2.8.3", ""));
    let last = |shape| {
        let done = project.run(&["plan", "m.yaml", "--runner", shape]).exits(0);
        done.stdout.lines().last().unwrap().to_owned()
    };
    assert_eq!(
        last("16x64"),
        "note: on 16 threads with 64 GiB MAX_JOBS is 16"
    );
    assert_eq!(last("4x8"), "note: on 4 threads with 8 GiB MAX_JOBS is 2");
}

#[test]
fn an_estimate_counts_the_compilers_that_memory_holds() {
    let project = Project::new().file("m.yaml", &one_cell("2.8.3", ""));
    let hours = |shape| {
        let done = project
            .run(&["plan", "m.yaml", "--runner", shape, "--format", "json"])
            .exits(0)
            .json();
        done["jobs"][0]["estimate"]["hours"].as_f64().unwrap()
    };
    assert!(
        (hours("4x2") - hours("1x64")).abs() < 0.01,
        "2 GiB hold one compiler"
    );
    assert!(hours("4x64") < hours("4x2") / 2.0);
}

#[test]
fn a_build_ends_with_124_at_the_cap_and_continues_at_a_stage() {
    let project = tiny("x");
    let (code, text) = run(&project, &[("ROCK_CAP_S", "0")]);
    assert_eq!(code, Some(124), "{text}");
    assert_eq!(measured(&project)["exit"], 124);
    assert_eq!(run(&project, &[]).0, Some(0));
    let (code, text) = run(&project, &[("ROCK_FROM", "after")]);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("== build: done before\n== after\n"), "{text}");
    let (code, text) = run(&project, &[("ROCK_FROM", "afther")]);
    assert_eq!(
        (code, text.ends_with("== no stage is called afther\n")),
        (Some(2), true),
        "{text}"
    );
}

#[test]
fn a_stage_that_is_cut_at_the_cap_is_capped_and_one_that_ends_by_itself_has_failed() {
    let ending = |script: &str, cap: &str| {
        let project = tiny("x").file(
            "recipes/tiny.yaml",
            &RECIPE.replace("sleep \\\"$0\\\"", script),
        );
        // What comes before could take all of the time on a busy machine.
        let (code, text) = run(&project, &[("ROCK_FROM", "after"), ("ROCK_CAP_S", cap)]);
        assert_eq!(measured(&project)["exit"], code.unwrap(), "{text}");
        (code.unwrap(), text.contains("stopped at the cap"))
    };
    assert_eq!(ending("sleep 60", "3"), (124, true));
    assert_eq!(
        ending("kill -9 $$", "3000"),
        (137, false),
        "as the kernel does when memory runs out"
    );
    assert_eq!(
        ending("exit 124", "3000"),
        (1, false),
        "124 is the cap's own"
    );
}

#[test]
fn a_script_that_a_signal_ends_stops_its_stage_with_a_message() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 129)] {
        let text = RECIPE.replace("sleep \\\"$0\\\"", "echo $$ >running; sleep 60");
        let project = tiny("x").file("recipes/tiny.yaml", &text);
        project
            .run(&[
                "--recipes",
                "recipes",
                "render",
                "script",
                "m.yaml",
                "--out",
                "build.sh",
            ])
            .exits(0);
        // Whoever runs the tests in the background has them ignored, and a shell cannot trap what
        // was ignored before.
        let mut command = Command::new("env");
        command
            .args(["--default-signal", "bash", "build.sh"])
            .current_dir(project.root());
        let mut child = command.spawn().unwrap();
        let running = project.path(&format!(".rock/{JOB}/running"));
        wait_until(
            || std::fs::read_to_string(&running).is_ok_and(|text| text.ends_with('\n')),
            "the stage",
        );
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(code));
        assert_eq!(measured(&project)["exit"], code);
        let stage = std::fs::read_to_string(&running).unwrap().trim().to_owned();
        wait_until(|| all_gone(&stage), "the end of the stage");
    }
}

/// A signal that arrives while `timeout` starts its command ends `timeout` alone. The stand-in
/// always ends so.
#[test]
fn a_stage_ends_when_timeout_does_not_forward_the_signal() {
    let timeout = "#!/usr/bin/env python3
import os, subprocess, sys
os.setpgid(0, 0)
sys.exit(subprocess.call(sys.argv[3:]))
";
    let text = RECIPE.replace("sleep \\\"$0\\\"", "echo $$ >running; sleep 60");
    let project = tiny("x")
        .file("recipes/tiny.yaml", &text)
        .file("bin/timeout", timeout);
    project
        .run(&[
            "--recipes",
            "recipes",
            "render",
            "script",
            "m.yaml",
            "--out",
            "build.sh",
        ])
        .exits(0);
    std::fs::set_permissions(
        project.path("bin/timeout"),
        PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    let path = format!(
        "{}:{}",
        project.path("bin").display(),
        std::env::var("PATH").unwrap()
    );
    let mut command = Command::new("env");
    command
        .args(["--default-signal", "bash", "build.sh"])
        .current_dir(project.root())
        .env("PATH", path);
    let mut child = command.spawn().unwrap();
    let running = project.path(&format!(".rock/{JOB}/running"));
    wait_until(
        || std::fs::read_to_string(&running).is_ok_and(|text| text.ends_with('\n')),
        "the stage",
    );
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(143));
    let stage = std::fs::read_to_string(&running).unwrap();
    wait_until(|| all_gone(&stage), "the end of the stage");
}

fn measured(project: &Project) -> serde_json::Value {
    serde_json::from_str(&job_file(project, "measured.json")).unwrap()
}

#[test]
fn a_script_measures_itself_whether_it_succeeds_or_not() {
    let project = tiny("x");
    run(&project, &[]);
    let found = measured(&project);
    assert_eq!(
        (&found["version"], &found["job"], &found["exit"]),
        (&1.into(), &JOB.into(), &0.into())
    );
    assert!(
        found["disk_before_bytes"].as_u64().unwrap() > 0
            && found["disk_after_bytes"].as_u64().unwrap() > 0
    );
    let failed = tiny("x").file("tree/setup.txt", "flags = none\n");
    run(&failed, &[]);
    assert_eq!(
        (
            &measured(&failed)["exit"],
            &measured(&failed)["wheel_bytes"]
        ),
        (&1.into(), &0.into())
    );
}

#[test]
fn the_compiler_is_called_with_a_cache_where_there_is_one() {
    let recipe: serde_yaml::Value =
        serde_yaml::from_str(include_str!("../../matrices/recipes/flash-attn.yaml")).unwrap();
    let step = recipe["steps"]
        .as_sequence()
        .unwrap()
        .iter()
        .find(|step| step["stage"] == "compiler-cache")
        .unwrap();
    let program = |name: &str| format!("#!/bin/sh\necho {name} \"$@\"\n");
    let project = Project::new()
        .file("rocm/bin/hipcc", &program("hipcc"))
        .file("tools/ccache", "#!/bin/sh\necho cached\nexec \"$@\"\n");
    let bash = |script: &str, path: &str| {
        let output = Command::new("/bin/bash")
            .args(["-euo", "pipefail", "-c", script])
            .current_dir(project.root())
            .env("PATH", path)
            .env("ROCM_HOME", project.path("rocm"))
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    };
    bash("chmod +x rocm/bin/hipcc tools/ccache", "/usr/bin:/bin");
    bash(step["script"].as_str().unwrap(), "/usr/bin:/bin");
    assert_eq!(
        bash("bin/cached-hipcc -c x.hip", "/nowhere"),
        "hipcc -c x.hip\n"
    );
    let tools = project.path("tools").display().to_string();
    assert_eq!(
        bash("bin/cached-hipcc -c x.hip", &tools),
        "cached\nhipcc -c x.hip\n"
    );
}

#[test]
fn text_of_the_matrix_is_never_part_of_a_script() {
    let words = [
        "2.8.3; touch pwned",
        "$(touch pwned)`touch pwned`",
        "a'b\"c \\",
        "{{ folder }}",
    ];
    for word in words {
        let project = tiny(word);
        let (code, text) = run(&project, &[("JOBS", "1")]);
        assert_eq!(code, Some(0), "{word}: {text}");
        assert_eq!(
            job_file(&project, "dist/tiny-1.whl"),
            format!("{word}|1|unset\n")
        );
        assert!(
            !project.files().iter().any(|file| file.contains("pwned")),
            "{word}: {:?}",
            project.files()
        );
    }
}

#[test]
fn the_command_of_an_auto_job_looks_for_the_gpu_when_it_is_run() {
    let project = Project::new().file("m.yaml", &one_cell("2.8.3", "image: {digest: ignore}\n"));
    let done = project
        .run(&[
            "render",
            "docker",
            "m.yaml",
            "--image",
            "example.org/rocm:1",
        ])
        .exits(0);
    assert_eq!(
        done.stdout,
        "\
# flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl
# Write the script that it runs: rock-matrix render script m.yaml flash-attn-2.8.3-rocm6.2-torch2.5.1-py3.11 --engine docker --out .rock/flash-attn-2.8.3-rocm6.2-torch2.5.1-py3.11/build.sh
# Finish the wheel afterwards: rock-matrix wheel repair --plat auto --exclude-preset rocm,torch,cuda --sysroot .rock/flash-attn-2.8.3-rocm6.2-torch2.5.1-py3.11/libraries --out dist .rock/flash-attn-2.8.3-rocm6.2-torch2.5.1-py3.11/dist/ck/flash_attn-*.whl
# One of these runs: with a GPU, the first command, which passes its devices; without one, the second.
if [ -e /dev/kfd ] && [ -e /dev/dri ]; then
  docker run --rm \\
    --device=/dev/kfd \\
    --device=/dev/dri \\
    --group-add video \\
    --cap-add=SYS_PTRACE \\
    --security-opt seccomp=unconfined \\
    --ipc=host \\
    --shm-size 8G \\
    --env=MAX_JOBS \\
    --env=ROCK_CAP_S \\
    --env=ROCK_FROM \\
    --env=HTTPS_PROXY \\
    --env=HTTP_PROXY \\
    --env=NO_PROXY \\
    --env=ALL_PROXY \\
    --env=https_proxy \\
    --env=http_proxy \\
    --env=no_proxy \\
    --env=all_proxy \\
    --env=SOURCE_DATE_EPOCH \\
    --volume=\"$PWD\"/.rock/flash-attn-2.8.3-rocm6.2-torch2.5.1-py3.11:/rock \\
    --workdir=/rock \\
    example.org/rocm:1 bash /rock/build.sh
else
  docker run --rm \\
    --ipc=host \\
    --shm-size 8G \\
    --env=MAX_JOBS \\
    --env=ROCK_CAP_S \\
    --env=ROCK_FROM \\
    --env=HTTPS_PROXY \\
    --env=HTTP_PROXY \\
    --env=NO_PROXY \\
    --env=ALL_PROXY \\
    --env=https_proxy \\
    --env=http_proxy \\
    --env=no_proxy \\
    --env=all_proxy \\
    --env=SOURCE_DATE_EPOCH \\
    --volume=\"$PWD\"/.rock/flash-attn-2.8.3-rocm6.2-torch2.5.1-py3.11:/rock \\
    --workdir=/rock \\
    example.org/rocm:1 bash /rock/build.sh
fi
"
    );
    assert_eq!(done.stderr, "");
}

#[test]
fn the_command_of_a_job_with_a_fixed_policy_does_not_look() {
    for (policy, has) in [("none", false), ("required", true)] {
        let project =
            Project::new().file("m.yaml", &one_cell("2.8.3", &format!("gpu: {policy}\n")));
        let done = project
            .run(&[
                "render",
                "docker",
                "m.yaml",
                "--image",
                "example.org/rocm:1",
            ])
            .exits(0);
        assert!(!done.stdout.contains("if ["), "{}", done.stdout);
        assert_eq!(done.stdout.contains("--device=/dev/kfd"), has);
    }
}

#[test]
fn every_word_of_a_container_command_is_quoted() {
    let matrix = one_cell(
        "2.8.3",
        "gpu: none\ndocker: {args: [\"--label=a b; touch pwned\", \"--env=X=$(id)\"]}\n",
    );
    let done = Project::new()
        .file("m.yaml", &matrix)
        .run(&[
            "render",
            "docker",
            "m.yaml",
            "--image",
            "a;id",
            "--docker-arg",
            "--x=`id`",
        ])
        .exits(0);
    for quoted in [
        "'--label=a b; touch pwned'",
        "'--env=X=$(id)'",
        "'--x=`id`'",
        "'a;id' bash /rock/build.sh",
    ] {
        assert!(done.stdout.contains(quoted), "{quoted}: {}", done.stdout);
    }
}

#[test]
fn a_version_with_a_command_in_it_is_refused() {
    let project = Project::new().file("m.yaml", &one_cell("2.8.3; echo x", ""));
    let done = project.run(&["render", "script", "m.yaml"]).exits(1);
    assert_eq!(done.stdout, "");
    assert!(done.stderr.contains("2.8.3; echo x"), "{}", done.stderr);
}

#[test]
fn an_image_with_a_digest_is_rendered_with_it_and_one_without_is_warned_of() {
    let project = Project::new().file("m.yaml", &one_cell("2.8.3", "gpu: none\n"));
    let pinned = format!("example.org/rocm:1@sha256:{}", "0".repeat(64));
    let done = project
        .run(&["render", "docker", "m.yaml", "--image", &pinned])
        .exits(0);
    assert!(
        done.stdout
            .ends_with(&format!("  {pinned} bash /rock/build.sh\n"))
    );
    assert_eq!(done.stderr, "");
    let done = project
        .run(&[
            "render",
            "docker",
            "m.yaml",
            "--image",
            "example.org/rocm:1",
        ])
        .exits(0);
    assert!(
        done.stderr.starts_with("warning[B006 unpinned-image]"),
        "{}",
        done.stderr
    );
}

/// D3 D8 D9
#[test]
fn scripts_of_every_kind_pass_bash_and_shellcheck() {
    let kinds = [
        "",
        "python-from: deadsnakes\n",
        "python-from: manylinux\n",
        "workflow: {cache: on}\n",
    ];
    for more in kinds {
        let project = Project::new()
            .file("m.yaml", &one_cell("2.8.3", more))
            .file("t.yaml", &triton());
        for (engine, file) in [
            ("docker", "m.yaml"),
            ("local", "m.yaml"),
            ("local", "t.yaml"),
        ] {
            let arguments = [
                "render", "script", file, "--engine", engine, "--out", "build.sh",
            ];
            project.run(&arguments).exits(0);
            let bash = Command::new("bash")
                .arg("-n")
                .arg(project.path("build.sh"))
                .output()
                .unwrap();
            assert!(
                bash.status.success(),
                "{}",
                String::from_utf8_lossy(&bash.stderr)
            );
            if let Ok(found) = Command::new("shellcheck")
                .arg(project.path("build.sh"))
                .output()
            {
                assert!(
                    found.status.success(),
                    "{engine} {more}\n{}",
                    String::from_utf8_lossy(&found.stdout)
                );
            }
        }
    }
}

#[test]
fn the_install_test_fails_on_a_wrong_label_and_on_an_error_of_the_program() {
    let program = include_str!("../../templates/recipe/smoke.py");
    let project = Project::new();
    wheel(&project);
    let test = |version: &str, cpu: &str| {
        let output = Command::new("python3")
            .args([
                "-c",
                program,
                "dist/*.whl",
                "tiny-thing",
                version,
                cpu,
                "",
                "",
                "program",
            ])
            .current_dir(project.root())
            .output()
            .unwrap();
        (
            output.status.success(),
            String::from_utf8([output.stdout, output.stderr].concat()).unwrap(),
        )
    };
    need_pip();
    let (passed, text) = test(
        "1.0+rocm62",
        "import tiny_thing; print('value', tiny_thing.VALUE)",
    );
    assert!(
        passed && text.contains("tiny-thing 1.0+rocm62 is installed\nvalue 7"),
        "{text}"
    );
    let (passed, text) = test("1.0+rocm63", "");
    assert!(
        !passed
            && text.contains("the installed metadata says 1.0+rocm62, the plan says 1.0+rocm63"),
        "{text}"
    );
    let (passed, text) = test("1.0+rocm62", "raise RuntimeError('no such symbol')");
    assert!(!passed && text.contains("no such symbol"), "{text}");
}

#[test]
fn steps_are_yaml_with_every_value_in_its_place() {
    let project = tiny("loud");
    let done = project
        .run(&[
            "--recipes",
            "recipes",
            "render",
            "recipe",
            "m.yaml",
            "--engine",
            "docker",
        ])
        .exits(0);
    let after = done.stdout.split("- stage: build\n").nth(1).unwrap();
    assert_eq!(
        after,
        "    argv:
      - bash
      - '-euo'
      - pipefail
      - '-c'
      - |
        mkdir -p \"$OUT\"
        cat setup.txt
        printf '%s|%s|%s\\n' \"$WORD\" \"$JOBS\" \"${GONE-unset}\" | tee \"$OUT/tiny-1.whl\"
    env:
      GONE: null
      OUT: /rock/dist
      WORD: loud
    jobs:
      variable: JOBS
      gib-per-job: '2.8'
    cwd: src/tree
    clean:
      - dist
    outputs:
      wheel:
        glob: 'dist/*.whl'
        count: 1
  - stage: after
    argv:
      - bash
      - '-c'
      - 'sleep \"$0\"'
      - '0'
"
    );
}

#[test]
fn rendered_files_are_compared_and_not_written_by_check() {
    let project = tiny("x");
    let arguments = [
        "--recipes",
        "recipes",
        "render",
        "script",
        "m.yaml",
        "--out",
        "scripts/",
    ];
    let check: Vec<&str> = arguments.iter().copied().chain(["--check"]).collect();
    let done = project.run(&check).exits(1);
    assert_eq!(
        done.stderr,
        format!("scripts/{JOB}.sh: the file does not exist\n")
    );
    assert!(!project.has("scripts"));
    project.run(&arguments).exits(0);
    assert_eq!(
        project.run(&arguments).exits(0).stderr,
        format!("unchanged: scripts/{JOB}.sh\n")
    );
    project.run(&check).exits(0);
    let path = project.path(&format!("scripts/{JOB}.sh"));
    let edited = std::fs::read_to_string(&path)
        .unwrap()
        .replace("set -euo pipefail", "set -eu");
    std::fs::write(&path, edited).unwrap();
    let done = project.run(&check).exits(1);
    assert!(
        done.stderr
            .ends_with("is `set -eu`, should be `set -euo pipefail`\n"),
        "{}",
        done.stderr
    );
}

/// Scripts one after the other are no program.
#[test]
fn a_script_is_printed_for_one_job() {
    let matrix = one_cell("2.8.3", "").replace("[\"3.11\"]", "[\"3.10\", \"3.11\"]");
    let project = Project::new().file("m.yaml", &matrix);
    let script = ["render", "script", "m.yaml"];
    let stderr = project.run(&script).exits(2).stderr;
    insta::assert_snapshot!(stderr, @r"
    error: 2 jobs are selected, and a script builds one: name one of flash-attn-2.8.3-rocm6.2-torch2.5.1-py3.10, flash-attn-2.8.3-rocm6.2-torch2.5.1-py3.11, or write one script for each job with `--out DIR`

    Usage: rock-matrix render script [OPTIONS] [FILE|JOB]...

    For more information, try '--help'.
    ");
    let job = "flash-attn-2.8.3-rocm6.2-torch2.5.1-py3.10";
    let printed = project.run(&[&script[..], &[job]].concat()).exits(0).stdout;
    project
        .run(&[&script[..], &["--out", "scripts"]].concat())
        .exits(0);
    let written = project.read(&format!("scripts/{job}.sh"));
    assert_eq!(project.shown(written.into_bytes()), printed);
    assert_eq!(project.files().len(), 3, "{:?}", project.files());
}

#[test]
fn without_a_kind_everything_is_shown_and_nothing_is_written() {
    let project = tiny("x");
    let done = project
        .run(&["--recipes", "recipes", "render", "m.yaml"])
        .exits(0);
    assert!(
        done.stdout
            .starts_with("m.yaml: 1 cell, 1 job, 0 excluded\n"),
        "{}",
        done.stdout
    );
    assert!(done.stdout.contains(&format!(
        "\n== {JOB}\n   tree     tiny-1.0+rocm62-gfx90a-cp311-linux_x86_64-tree\n"
    )));
    assert!(
        done.stdout.contains("5/6 build") || done.stdout.contains(" build\n"),
        "{}",
        done.stdout
    );
    assert!(!project.has(".rock"));
}

#[test]
fn a_job_is_named_by_id_or_output_and_a_wrong_name_has_a_nearest_one() {
    let project = tiny("x");
    let tree = "tiny-1.0+rocm62-gfx90a-cp311-linux_x86_64-tree";
    for name in [JOB, tree] {
        project
            .run(&["--recipes", "recipes", "render", "recipe", "m.yaml", name])
            .exits(0);
    }
    let done = project
        .run(&[
            "--recipes",
            "recipes",
            "render",
            "recipe",
            "m.yaml",
            "tiny-1.0-rocm6.2-py3.12-gfx90a",
        ])
        .exits(2);
    assert!(
        done.stderr.contains(&format!("did you mean `{JOB}`?")),
        "{}",
        done.stderr
    );
}

#[test]
fn a_saved_plan_renders_the_same_as_its_matrix_file() {
    let project = Project::new().file("m.yaml", &one_cell("2.8.3", ""));
    let plan = project
        .run(&["plan", "m.yaml", "--format", "json"])
        .exits(0)
        .stdout
        .replace("[VERSION]", "0.0.0");
    let project = project.file("plan.json", &plan);
    let from = |file| project.run(&["render", "script", file]).exits(0).stdout;
    assert_eq!(from("m.yaml"), from("plan.json"));
}

fn one_cell(version: &str, more: &str) -> String {
    format!(
        "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\naxes: {{flash-attn: [\"{version}\"], python: [\"3.11\"], torch: \
         [\"2.5.1\"], rocm: [\"6.2\"]}}\ngfx: [gfx90a, gfx942]\n{more}"
    )
}

fn triton() -> String {
    one_cell("2.7.4.post1", "torch-from: host\npython-from: host\n")
        .replace("rocm: [", "backend: [triton], rocm: [")
}

/// A wheel made by hand: one module, no dependencies.
fn wheel(project: &Project) {
    use std::io::Write as _;
    std::fs::create_dir_all(project.path("dist")).unwrap();
    let file =
        std::fs::File::create(project.path("dist/tiny_thing-1.0+rocm62-py3-none-any.whl")).unwrap();
    let mut archive = zip::ZipWriter::new(file);
    let info = "tiny_thing-1.0+rocm62.dist-info";
    let members = [
        ("tiny_thing.py".to_owned(), "VALUE = 7\n"),
        (
            format!("{info}/METADATA"),
            "Metadata-Version: 2.1\nName: tiny-thing\nVersion: 1.0+rocm62\n",
        ),
        (
            format!("{info}/WHEEL"),
            "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        ),
        (format!("{info}/RECORD"), ""),
    ];
    for (name, text) in members {
        archive
            .start_file(name, zip::write::SimpleFileOptions::default())
            .unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap();
}

/// A flat project has its package next to `matrices/`, which setuptools would find as a second
/// package.
#[test]
fn scripts_leave_out_the_folder_of_matrix_files_as_builds_do() {
    let matrix = "version: 1\ndistribution: tiny\nrecipe: tiny\naxes: {tiny: [\"1.0\"], python: [\"3.11\"], rocm: [\"6.2\"]}\n\
                  gfx: [gfx90a]\ntorch-from: host\npython-from: host\nvars:\n  source: .\n";
    let project = Project::new()
        .file("recipes/tiny.yaml", RECIPE)
        .file("matrices/tiny.yaml", matrix)
        .file("tiny/__init__.py", "")
        .file("setup.txt", "flags = -std=c++17\n");
    let script = |project: &Project| {
        let run = project.run(&["--recipes", "recipes", "render", "script"]);
        run.exits(0).stdout
    };
    assert!(script(&project).contains("/matrices"));
    let plan = project.run(&["--recipes", "recipes", "plan"]).exits(0);
    assert!(
        plan.stdout.contains(", matrices, releases"),
        "{}",
        plan.stdout
    );

    let project = project.file("matrices/__init__.py", "");
    assert!(!script(&project).contains("/matrices"));
}

/// The plan has no image of these versions and names another one, which only containers use.
#[test]
fn images_are_only_mentioned_for_containers() {
    let matrix = "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\naxes:\n  flash-attn: [\"2.8.3.post2\"]\n  \
                  python: [\"3.12\"]\n  torch: [\"2.14.1\"]\n  rocm: [\"7.14\"]\n  backend: [triton]\n";
    let project = Project::new().file("m.yaml", matrix);
    let note = "   note     no rocm/pytorch image for ROCm 7.14 with torch 2.14.1";
    for command in [
        &["render", "m.yaml"][..],
        &["build", "m.yaml", "--all", "--dry-run"],
    ] {
        let local = project.run(command).exits(0).stdout;
        assert!(!local.contains(note), "{local}");
        assert!(
            local.contains("   image    none: it builds on this machine\n"),
            "{local}"
        );
    }
    let words = ["render", "m.yaml", "--engine", "docker"];
    let container = project.run(&words).exits(0).stdout;
    assert!(container.contains(note), "{container}");
}
