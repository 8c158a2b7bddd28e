//! The recipe of torch: what it would run, for which targets and SDKs.

use crate::support::Project;

pub(crate) fn project(more: &str, vars: &str) -> Project {
    let matrix = format!(
        "version: 1\ndistribution: torch\nrecipe: torch\naxes: {{python: [\"3.12\"], torch-ref: [release/2.12], rocm: [\"7.14.0\"]}}\n\
         unknown: lenient\ntorch-from: host\npython-from: host\n{}{more}vars: {{{vars}}}\n",
        if more.contains("gfx:") {
            ""
        } else {
            "gfx: [gfx942]\n"
        }
    );
    Project::new().file("m.yaml", &matrix)
}

/// The stages as `render recipe` prints them.
pub(crate) fn stages(more: &str, vars: &str) -> serde_json::Value {
    let stdout = project(more, vars)
        .run(&["render", "recipe", "m.yaml", "--engine", "local"])
        .exits(0)
        .stdout;
    let whole: serde_json::Value = serde_yaml::from_str(&stdout).unwrap();
    whole["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| (step["stage"].as_str().unwrap().to_owned(), step.clone()))
        .collect()
}

pub(crate) fn words(step: &serde_json::Value) -> String {
    step["argv"]
        .as_array()
        .unwrap()
        .iter()
        .map(|word| word.as_str().unwrap())
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn the_recipe_of_torch_builds_in_the_order_that_the_wheels_need() {
    let stdout = project("", "")
        .run(&["render", "recipe", "m.yaml", "--engine", "local"])
        .exits(0)
        .stdout;
    let stages: Vec<&str> = stdout
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- stage: "))
        .collect();
    let at = |stage: &str| {
        stages
            .iter()
            .position(|known| *known == stage)
            .unwrap_or_else(|| panic!("{stage}: {stages:?}"))
    };
    let order = [
        "fetch-torch",
        "fetch-triton",
        "rocm",
        "facts-rocm",
        "triton",
        "install-triton",
        "torch",
        "install-torch",
        "audio",
        "vision",
        "apex",
    ];
    assert!(
        order.windows(2).all(|pair| at(pair[0]) < at(pair[1])),
        "{stages:?}"
    );
}

#[test]
fn the_environment_of_torch_names_the_sdk_the_targets_and_what_it_requires() {
    let steps = stages("gfx: [gfx942, gfx1151]\n", "");
    let torch = &steps["torch"]["env"];
    assert_eq!(torch["PYTORCH_ROCM_ARCH"], "gfx942;gfx1151");
    assert_eq!(torch["ROCM_HOME"], "${ROCK_FACT_sdk_root}");
    assert_eq!(torch["USE_FLASH_ATTENTION"], "ON");
    assert_eq!(torch["PYTORCH_BUILD_VERSION"], "${ROCK_FACT_torch_version}");
    let both = "rocm[libraries]==${ROCK_FACT_sdk}|${ROCK_FACT_triton_requirement}";
    assert_eq!(torch["PYTORCH_EXTRA_INSTALL_REQUIREMENTS"], both);
    let without = stages("", "triton: \"off\", flash-attention: \"off\"");
    assert_eq!(
        without["torch"]["env"]["PYTORCH_EXTRA_INSTALL_REQUIREMENTS"],
        "rocm[libraries]==${ROCK_FACT_sdk}"
    );
    assert!(without["triton"].is_null());
}

#[test]
fn a_container_is_preceded_by_the_checkouts_that_it_builds() {
    let stdout = project("", "")
        .run(&[
            "render",
            "docker",
            "m.yaml",
            "--image",
            "example.org/build:1",
        ])
        .exits(0)
        .stdout;
    let line = stdout
        .lines()
        .find(|line| line.starts_with("# Check out the sources first: "))
        .unwrap();
    for word in [
        "(mkdir -p .rock/",
        " && rock-matrix source checkout triton --checkout-dir src/triton --torch-dir src/torch",
    ] {
        assert!(line.contains(word), "{line}");
    }
    let script = project("", "")
        .run(&["render", "script", "m.yaml", "--engine", "docker"])
        .exits(0)
        .stdout;
    assert!(
        !script.contains("source checkout"),
        "a container has no program of ours"
    );
}

/// An SDK that nobody names is any that there is, as upstream has it.
#[test]
fn an_sdk_without_a_version_is_any_above_1_0() {
    let matrix = "version: 1\ndistribution: rocm\nrecipe: rocm-sdk\naxes: {python: [\"3.12\"]}\nunknown: lenient\n\
                  torch-from: host\npython-from: host\ngfx: [gfx942]\n";
    let stdout = Project::new()
        .file("m.yaml", matrix)
        .run(&RENDER)
        .exits(0)
        .stdout;
    let whole: serde_json::Value = serde_yaml::from_str(&stdout).unwrap();
    let rocm = whole["steps"]
        .as_array()
        .unwrap()
        .iter()
        .find(|step| step["stage"] == "rocm")
        .unwrap()
        .clone();
    assert!(
        words(&rocm).ends_with(" -m pip install --force-reinstall --pre rocm[libraries,devel]>1.0"),
        "{rocm}"
    );
}

#[test]
fn the_installation_of_the_sdk_is_one_call_of_pip() {
    let pip = |vars: &str| {
        let argv = words(&stages("", vars)["rocm"]);
        argv.split_once(" -m ")
            .map(|(_, rest)| rest.to_owned())
            .unwrap()
    };
    assert_eq!(
        pip(""),
        "pip install --force-reinstall --pre rocm[libraries,devel]==7.14.0"
    );
    assert_eq!(
        pip(
            "rocm-index: 'https://example.org/v2/gfx94X/', pip-cache-dir: /tmp/pip, pre: \"off\", rocm-extras: device-gfx942"
        ),
        "pip install --force-reinstall --index-url https://example.org/v2/gfx94X/ --cache-dir /tmp/pip rocm[libraries,devel,device-gfx942]==7.14.0"
    );
    assert_eq!(
        pip("rocm-find-links: /srv/wheels, rocm-sdk-version: '==7.14.0a20260815'"),
        "pip install --force-reinstall --pre --find-links /srv/wheels rocm[libraries,devel]==7.14.0a20260815"
    );
}

#[test]
fn an_index_and_a_page_of_links_are_not_given_together() {
    let stderr = project(
        "",
        "rocm-index: 'https://example.org/', rocm-find-links: /srv",
    )
    .run(&["render", "recipe", "m.yaml"])
    .exits(1)
    .stderr;
    assert!(
        stderr.contains("`rocm-index` and `rocm-find-links` exclude each other"),
        "{stderr}"
    );
}

/// The layout of an index that the matrix file names is where pip looks, with the extras of
/// its device code.
#[test]
fn the_sdk_is_installed_from_the_index_of_the_matrix_file() {
    let pip = |indexes: &str, vars: &str| {
        let argv = words(&stages(&format!("indexes: {{{indexes}}}\n"), vars)["rocm"]);
        argv.split_once("--pre ")
            .map(|(_, rest)| rest.to_owned())
            .unwrap()
    };
    let of_matrix = "rocm: whl-multi-arch, base: 'https://example.org'";
    let expected = "--index-url https://example.org/whl-multi-arch/ rocm[libraries,devel,device-gfx942]==7.14.0";
    assert_eq!(pip(of_matrix, ""), expected);
    assert_eq!(
        pip(
            of_matrix,
            "rocm-find-links: /srv/wheels, rocm-extras: device-gfx1151"
        ),
        "--find-links /srv/wheels rocm[libraries,devel,device-gfx1151]==7.14.0"
    );
    assert_eq!(
        pip("find-links: 'https://example.org/links.html'", ""),
        "--find-links https://example.org/links.html rocm[libraries,devel]==7.14.0"
    );
}

/// A branch that AMD keeps is checked out of AMD's repository, with its pins, patches and
/// environment.
#[test]
fn a_branch_of_the_facts_brings_its_sources_along() {
    let checkout = |vars: &str, stage: &str| words(&stages("", vars)[stage]);
    for stage in [
        "fetch-torch",
        "fetch-torchaudio",
        "fetch-torchvision",
        "fetch-apex",
    ] {
        let argv = checkout("", stage);
        assert!(
            argv.contains(" --preset rocm-2.12 --platform linux"),
            "{argv}"
        );
    }
    let other = "torch-ref: my/branch";
    let matrix = |reference: &str, more: &str| {
        let text = format!(
            "version: 1\ndistribution: torch\nrecipe: torch\naxes: {{python: [\"3.12\"], rocm: [\"7.14.0\"]}}\nunknown: lenient\n\
             torch-from: host\npython-from: host\ngfx: [gfx942]\nvars: {{{reference}{more}}}\n"
        );
        Project::new().file("m.yaml", &text)
    };
    let stdout = matrix(other, "").run(&RENDER).exits(0).stdout;
    assert!(
        !stdout.contains("--preset"),
        "a branch that the facts do not know has none"
    );
    let old = matrix("torch-ref: release/2.7", "")
        .run(&RENDER)
        .exits(0)
        .stdout;
    assert!(
        old.contains("rocm-2.7") && old.contains("USE_FLASH_ATTENTION: 'OFF'"),
        "the row says that it is off"
    );
    let stderr = matrix(other, ", preset: rocm-0.1")
        .run(&RENDER)
        .exits(1)
        .stderr;
    assert!(stderr.contains("there is no preset `rocm-0.1`"), "{stderr}");
}

#[test]
fn a_version_of_the_sdk_without_an_operator_is_reported() {
    let stderr = project("", "rocm-sdk-version: '7.14.0'")
        .run(&["render", "recipe", "m.yaml"])
        .exits(1)
        .stderr;
    assert!(
        stderr.contains("`rocm-sdk-version: 7.14.0` has no operator"),
        "{stderr}"
    );
}

#[test]
fn a_switch_is_on_or_off() {
    let stderr = project("", "audio: yes")
        .run(&["check", "m.yaml"])
        .exits(1)
        .stderr;
    assert!(
        stderr.contains("`audio: yes` is neither on nor off"),
        "{stderr}"
    );
}

#[test]
fn flash_attention_goes_by_word_triton_and_targets() {
    let decided = |gfx: &str, vars: &str| {
        stages(&format!("gfx: [{gfx}]\n"), vars)["torch"]["env"]["USE_FLASH_ATTENTION"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    for (gfx, vars, expected) in [
        ("gfx942", "", "ON"),
        ("gfx90a", "", "ON"),
        ("gfx950", "", "ON"),
        ("gfx1151", "", "ON"),
        ("gfx1201", "", "ON"),
        ("gfx906", "", "OFF"),
        ("gfx1030", "", "OFF"),
        ("gfx906, gfx942", "", "ON"),
        ("gfx942", "triton: \"off\"", "OFF"),
        ("gfx942", "flash-attention: \"off\"", "OFF"),
        ("gfx906", "flash-attention: \"on\"", "ON"),
    ] {
        assert_eq!(decided(gfx, vars), expected, "{gfx} {vars}");
    }
}

#[test]
fn flash_attention_without_triton_is_refused_before_anything_runs() {
    let stderr = project("", "flash-attention: \"on\", triton: \"off\"")
        .run(&["render", "recipe", "m.yaml"])
        .exits(1)
        .stderr;
    assert!(
        stderr.contains("flash attention requires Triton on Linux"),
        "{stderr}"
    );
}

/// A project with one job of AOTriton or CK.
fn attention(recipe: &str, version: &str, gfx: &str, vars: &str) -> Project {
    let axis = if recipe == "aotriton" {
        format!("aotriton: [\"{version}\"], ")
    } else {
        String::new()
    };
    let distribution = if recipe == "ck" {
        "composable-kernel"
    } else {
        recipe
    };
    let matrix = format!(
        "version: 1\ndistribution: {distribution}\nrecipe: {recipe}\naxes: {{{axis}rocm: [\"7.14.0\"]}}\nrunner: self-hosted\nunknown: lenient\n\
         torch-from: host\npython-from: host\ngfx: [{gfx}]\nvars: {{{vars}}}\n"
    );
    Project::new().file("m.yaml", &matrix)
}

const RENDER: [&str; 5] = ["render", "recipe", "m.yaml", "--engine", "local"];

/// The command that configures it.
fn configured(recipe: &str, version: &str, gfx: &str, vars: &str) -> String {
    let stdout = attention(recipe, version, gfx, vars)
        .run(&RENDER)
        .exits(0)
        .stdout;
    let whole: serde_json::Value = serde_yaml::from_str(&stdout).unwrap();
    let steps = whole["steps"].as_array().unwrap();
    words(
        steps
            .iter()
            .find(|step| step["stage"] == "configure")
            .unwrap(),
    )
}

/// Returns the messages of a job that is refused.
fn refused(recipe: &str, version: &str, gfx: &str, vars: &str) -> String {
    attention(recipe, version, gfx, vars)
        .run(&RENDER)
        .exits(1)
        .stderr
}

#[test]
fn aotriton_targets_have_the_option_and_names_of_its_version() {
    let has = |version: &str, gfx: &str, word: &str| {
        let argv = configured("aotriton", version, gfx, "");
        assert!(
            argv.split(' ').any(|found| found == word),
            "{version}: {argv}"
        );
    };
    has("0.9.2", "gfx1100", "-DTARGET_GPUS=Navi31");
    has("0.10.0", "gfx1151", "-DAOTRITON_TARGET_ARCH=gfx1151");
    has("0.13.0", "gfx1151", "-DAOTRITON_TARGET_ARCH=gfx1151");
    has(
        "0.13.0",
        "gfx942, gfx1250",
        "-DAOTRITON_TARGET_ARCH=gfx942;gfx1250",
    );
    has("0.10.0", "gfx942, gfx1250", "-DAOTRITON_TARGET_ARCH=gfx942");
    has("0.13.0", "gfx942", "-DAOTRITON_GPU_BUILD_TIMEOUT=0");
    let stderr = refused("aotriton", "0.6.0", "gfx90a", "");
    assert!(
        stderr.contains("the option that sets the targets of AOTriton 0.6.0 is unknown"),
        "{stderr}"
    );
    let stderr = refused("aotriton", "0.9.2", "gfx1151", "");
    assert!(
        stderr.contains("AOTriton 0.9.2 has no kernels for gfx1151"),
        "{stderr}"
    );
    let stderr = refused("aotriton", "0.13.0", "gfx906", "");
    assert!(
        stderr.contains("AOTriton 0.13.0 has no kernels for gfx906"),
        "{stderr}"
    );
}

/// Without targets AOTriton would be built for all it knows, for days.
#[test]
fn aotriton_without_targets_is_refused() {
    let stderr = refused("aotriton", "0.13.0", "", "");
    assert!(stderr.contains("`gfx` lists no targets"), "{stderr}");
    let stderr = refused("aotriton", "0.13.0", "gfx942", "rocm-arch: caller");
    assert!(
        stderr.contains("no gfx targets are set, and AOTriton would build for all targets"),
        "{stderr}"
    );
    let project = attention("aotriton", "0.13.0", "gfx942", "rocm-arch: caller")
        .env("PYTORCH_ROCM_ARCH", " ; ,");
    assert!(
        project
            .run(&RENDER)
            .exits(1)
            .stderr
            .contains("no gfx targets are set")
    );
}

/// A version that the facts do not list is told its targets as the newest listed one is, and
/// that is said.
#[test]
fn a_newer_aotriton_than_any_that_is_known_is_warned_of() {
    let warned = |version: &str| {
        let project = attention("aotriton", version, "gfx1151", "");
        assert!(
            configured("aotriton", version, "gfx1151", "")
                .contains("-DAOTRITON_TARGET_ARCH=gfx1151")
        );
        assert_eq!(
            project
                .run(&["check", "m.yaml"])
                .exits(0)
                .stderr
                .contains("B013"),
            version != "0.14.0"
        );
        project.run(&RENDER).exits(0).stderr
    };
    let stderr = warned("0.99.1");
    let message = "warning[B013 warned-by-recipe]: the option that sets the targets of AOTriton 0.99.1 is untested; that of 0.14 is used\n";
    assert!(stderr.contains(message), "{stderr}");
    assert!(
        stderr.contains("help: compare AOTRITON_TARGET_ARCH in its CMakeLists.txt with gfx90a,"),
        "{stderr}"
    );
    assert!(!warned("0.14.0").contains("B013"));
}

#[test]
fn ck_is_configured_for_its_prefix_and_targets() {
    let argv = configured("ck", "", "gfx1151", "prefix: /srv/ck");
    for word in [
        "-DCMAKE_INSTALL_PREFIX=/srv/ck",
        "-DGPU_TARGETS=gfx1151",
        "-DBUILD_DEV=OFF",
    ] {
        assert!(argv.split(' ').any(|found| found == word), "{argv}");
    }
    assert!(!argv.contains("BUILD_MHA_LIB"), "{argv}");
    let stderr = refused("ck", "", "gfx1151", "perfix: /srv/ck");
    assert!(stderr.contains("did you mean `prefix`?"), "{stderr}");
}

/// The prefix is looked for in this order, and a dry run shows the one that a build would
/// take.
#[test]
fn the_prefix_of_ck_is_the_first_that_is_set() {
    let dry = ["build", "--all", "--matrix", "m.yaml", "--dry-run"];
    let shown = |vars: &str, variables: &[(&str, &str)]| {
        let project = attention("ck", "", "gfx942", vars);
        let project = variables
            .iter()
            .fold(project, |project, (name, value)| project.env(name, value));
        let stdout = project.run(&dry).exits(0).stdout;
        let at = stdout
            .find("-DCMAKE_INSTALL_PREFIX=")
            .unwrap_or_else(|| panic!("{stdout}"));
        stdout[at..]
            .split_whitespace()
            .next()
            .unwrap()
            .rsplit_once('=')
            .unwrap()
            .1
            .to_owned()
    };
    let all = [
        ("CK_INSTALL_PREFIX", "/srv/ck"),
        ("ROCM_PATH", "/srv/rocm"),
        ("CONDA_PREFIX", "/srv/conda"),
    ];
    assert_eq!(shown("prefix: build-ck", &all), "build-ck");
    for (number, (_, first)) in all.iter().enumerate() {
        assert_eq!(shown("", &all[number..]), *first);
    }
    assert_eq!(shown("", &[]), "/opt/rocm");
}

#[test]
fn the_attention_library_of_ck_is_refused_where_cmake_would_leave_it_out() {
    let stderr = refused("ck", "", "gfx1151", "mha: \"on\"");
    assert!(
        stderr.contains("CK has no attention library for gfx1151"),
        "{stderr}"
    );
    assert!(configured("ck", "", "gfx90a", "mha: \"on\"").contains("-DBUILD_MHA_LIB=ON"));
}

/// The stages of a job of torch that a build passes over and those that it runs, from a word of
/// `--continue` on.
fn continued(word: &str) -> (Vec<String>, Vec<String>) {
    let stdout = project("", "")
        .run(&[
            "build",
            "--all",
            "--matrix",
            "m.yaml",
            "--dry-run",
            "--continue",
            word,
        ])
        .exits(0)
        .stdout;
    let numbered = stdout
        .lines()
        .filter_map(|line| line.strip_prefix("   ")?.split_once(' '));
    let steps = numbered.filter(|(number, _)| {
        number
            .split_once('/')
            .is_some_and(|(at, _)| at.parse::<u32>().is_ok())
    });
    let stages = steps.map(|(_, stage)| stage.to_owned());
    let (over, run): (Vec<String>, Vec<String>) =
        stages.partition(|stage| stage.ends_with("  skipped"));
    (
        over.iter()
            .map(|stage| stage.replace("  skipped", ""))
            .collect(),
        run,
    )
}

/// Each of the seven words, and what is before it is passed over.
#[test]
fn a_build_of_torch_continues_at_seven_points() {
    let (none, all) = continued("venv");
    assert_eq!(none, Vec::<String>::new());
    let points = [
        ("venv", "", "fetch-torch"),
        ("checkout", "", "fetch-torch"),
        ("rocm", "edit-13", "rocm-cache"),
        ("triton", "facts-rocm-2", "triton-requirements"),
        ("pytorch", "facts-triton", "facts-of-torch-sdk"),
        ("audio", "torch-import", "facts-of-audio"),
        ("vision", "audio", "facts-of-vision"),
    ];
    for (word, last_over, first_run) in points {
        let (over, run) = continued(word);
        let ends = (
            over.last().map_or("", String::as_str),
            run.first().map_or("", String::as_str),
        );
        assert_eq!(ends, (last_over, first_run), "{word}: {all:?}");
        assert_eq!([over, run].concat(), all, "{word}");
    }
}

#[test]
fn a_word_that_is_neither_stage_nor_point_is_a_fault_of_the_command_line() {
    let run = |word: &str| {
        project("", "").run(&[
            "build",
            "--all",
            "--matrix",
            "m.yaml",
            "--dry-run",
            "--continue",
            word,
        ])
    };
    let stderr = run("pytroch").exits(2).stderr;
    assert!(
        stderr.contains("error[B058 unknown-stage]: the build has no stage `pytroch`\n"),
        "{stderr}"
    );
    assert!(
        stderr.contains("= note: its stages are venv, checkout, rocm, triton, pytorch, audio, vision, fetch-torch, "),
        "{stderr}"
    );
    assert!(
        stderr.contains("help: did you mean `--resume=pytorch`?\n"),
        "{stderr}"
    );
    let without = project("", "triton: \"off\"").run(&[
        "build",
        "--all",
        "--matrix",
        "m.yaml",
        "--dry-run",
        "--continue",
        "triton",
    ]);
    assert!(
        without.exits(0).stdout.contains("facts-rocm-2  skipped\n"),
        "without Triton its point is that of torch"
    );
}
