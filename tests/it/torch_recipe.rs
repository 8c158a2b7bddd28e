//! The recipe of torch: what it would run, for which targets and SDKs.

use crate::support::Project;

fn project(more: &str, vars: &str) -> Project {
    let matrix = format!(
        "version: 1\ndistribution: torch\nrecipe: torch\naxes: {{python: [\"3.12\"], torch-ref: [release/2.12], rocm: [\"7.14.0\"]}}\n\
         unknown: lenient\ntorch-from: host\npython-from: host\n{}{more}vars: {{{vars}}}\n",
        if more.contains("gfx:") { "" } else { "gfx: [gfx942]\n" }
    );
    Project::new().file("m.yaml", &matrix)
}

/// The stages as `render recipe` prints them.
fn stages(more: &str, vars: &str) -> serde_json::Value {
    let said = project(more, vars).run(&["render", "recipe", "m.yaml", "--engine", "local"]).exits(0).stdout;
    let whole: serde_json::Value = serde_yaml::from_str(&said).unwrap();
    whole["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| (step["stage"].as_str().unwrap().to_owned(), step.clone()))
        .collect()
}

fn words(step: &serde_json::Value) -> String {
    step["argv"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect::<Vec<_>>().join(" ")
}

#[test]
fn the_recipe_of_torch_builds_in_the_order_that_the_wheels_need() {
    let said = project("", "").run(&["render", "recipe", "m.yaml", "--engine", "local"]).exits(0).stdout;
    let stages: Vec<&str> = said.lines().filter_map(|line| line.trim().strip_prefix("- stage: ")).collect();
    let at =
        |stage: &str| stages.iter().position(|known| *known == stage).unwrap_or_else(|| panic!("{stage}: {stages:?}"));
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
    assert!(order.windows(2).all(|pair| at(pair[0]) < at(pair[1])), "{stages:?}");
}

/// TB9, TB10
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
    assert_eq!(without["torch"]["env"]["PYTORCH_EXTRA_INSTALL_REQUIREMENTS"], "rocm[libraries]==${ROCK_FACT_sdk}");
    assert!(without["triton"].is_null());
}

/// TB1
#[test]
fn the_installation_of_the_sdk_is_one_call_of_pip() {
    let pip = |vars: &str| {
        let argv = words(&stages("", vars)["rocm"]);
        argv.split_once(" -m ").map(|(_, rest)| rest.to_owned()).unwrap()
    };
    assert_eq!(pip(""), "pip install --force-reinstall --pre rocm[libraries,devel]==7.14.0");
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

/// TB2
#[test]
fn an_index_and_a_page_of_links_are_not_given_together() {
    let told = project("", "rocm-index: 'https://example.org/', rocm-find-links: /srv")
        .run(&["render", "recipe", "m.yaml"])
        .exits(1)
        .stderr;
    assert!(told.contains("`rocm-index` and `rocm-find-links` are both given"), "{told}");
}

/// TB14
#[test]
fn flash_attention_goes_by_word_triton_and_targets() {
    let decided = |gfx: &str, vars: &str| {
        stages(&format!("gfx: [{gfx}]\n"), vars)["torch"]["env"]["USE_FLASH_ATTENTION"].as_str().unwrap().to_owned()
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

/// TB18
#[test]
fn flash_attention_without_triton_is_refused_before_anything_runs() {
    let told =
        project("", "flash-attention: \"on\", triton: \"off\"").run(&["render", "recipe", "m.yaml"]).exits(1).stderr;
    assert!(told.contains("flash attention needs Triton on Linux"), "{told}");
}
