//! Runners are selected by labels and groups, and wheels are built for their architecture.

use serde_json::{Value, json};

use crate::support::Project;

const AXES: &str = "axes:\n  flash-attn: [\"2.8.3\"]\n  python: [\"3.12\"]\n  torch: [\"2.6.0\"]\n  rocm: [\"6.2.4\"]\n";

fn project(fields: &str) -> Project {
    Project::new().file(
        "m.yaml",
        &format!("version: 1\ndistribution: flash-attn\n{fields}{AXES}"),
    )
}

/// `runs-on` of the only leg of a plan.
fn runs_on(fields: &str) -> Value {
    let stdout = project(fields)
        .run(&["plan", "m.yaml", "--format", "github"])
        .exits(0)
        .stdout;
    let legs: Value = serde_json::from_str(&stdout).unwrap();
    serde_json::from_str(legs["include"][0]["runner"].as_str().unwrap()).unwrap()
}

#[test]
fn labels_and_groups_select_runners() {
    assert_eq!(
        runs_on("runner: [self-hosted, linux, mi300]\n"),
        json!(["self-hosted", "linux", "mi300"])
    );
    let group = "runner: {group: GPU runners, labels: [linux, mi300]}\n";
    assert_eq!(
        runs_on(group),
        json!({"group": "GPU runners", "labels": ["linux", "mi300"]})
    );
    assert_eq!(
        runs_on("runner: {group: org/large}\n"),
        json!({"group": "org/large"})
    );
    // The plan has them, and is read again.
    let project = project(&format!("{group}test: {{runner: [self-hosted, gpu]}}\n"));
    let plan = project
        .run(&["plan", "m.yaml", "--format", "json", "--out", "plan.json"])
        .exits(0);
    assert_eq!(plan.stdout, "");
    let plan: Value = serde_json::from_str(&project.read("plan.json")).unwrap();
    assert_eq!(
        (&plan["jobs"][0]["runner"], &plan["jobs"][0]["runner_group"]),
        (&json!(["linux", "mi300"]), &"GPU runners".into())
    );
    assert_eq!(plan["matrices"][0]["test"]["runner"], "self-hosted,gpu");
    project.run(&["render", "recipe", "plan.json"]).exits(0);
    let broken = project.read("plan.json").replace("GPU runners", "$(id)");
    std::fs::write(project.path("plan.json"), broken).unwrap();
    let stderr = project
        .run(&["render", "recipe", "plan.json"])
        .exits(1)
        .stderr;
    assert!(stderr.contains("runner_group"), "{stderr}");
}

#[test]
fn what_selects_no_runner_is_refused() {
    let stderr_of = |fields: &str| project(fields).run(&["check", "m.yaml"]).exits(1).stderr;
    for (fields, message) in [
        ("runner: []\n", "`runner` names no runners"),
        ("runner: {labels: []}\n", "`runner` names no runners"),
        (
            "runner: [self-hosted, \"a b\"]\n",
            "`a b` is not a valid runner label",
        ),
        ("runner: [gpu, GPU]\n", "the label `GPU` is listed twice"),
        (
            "runner: {group: \"a,b\"}\n",
            "`a,b` is not a valid runner group name",
        ),
        ("runner: {groups: x}\n", "unknown key `groups`"),
    ] {
        let stderr = stderr_of(fields);
        assert!(stderr.contains(message), "{fields}: {stderr}");
    }
}

fn wheel(fields: &str) -> String {
    let plan = project(fields)
        .run(&["plan", "m.yaml", "--format", "json"])
        .exits(0)
        .json();
    plan["jobs"][0]["wheel"].as_str().unwrap().to_owned()
}

#[test]
fn wheels_are_for_the_architecture_of_their_runner() {
    let on = |arch: &str| format!("flash_attn-2.8.3+rocm62torch2.6-cp312-cp312-linux_{arch}.whl");
    assert_eq!(wheel("runner: ubuntu-22.04\n"), on("x86_64"));
    assert_eq!(wheel("runner: ubuntu-24.04-arm\n"), on("aarch64"));
    assert_eq!(
        wheel("runner: [self-hosted, linux, ARM64]\n"),
        on("aarch64")
    );
    assert_eq!(wheel("runner: [self-hosted, linux, mi300]\n"), on("x86_64"));
}

#[test]
fn what_contradicts_the_architecture_is_refused() {
    let message_of = |fields: &str| {
        let stderr = project(fields).run(&["check", "m.yaml"]).exits(1).stderr;
        let line = stderr
            .lines()
            .find(|line| line.starts_with("error"))
            .unwrap_or_else(|| panic!("{stderr}"))
            .to_owned();
        line.strip_prefix("error[P092 architecture-conflict]: ")
            .unwrap_or_else(|| panic!("{stderr}"))
            .to_owned()
    };
    let arm = "runner: ubuntu-24.04-arm\n";
    assert_eq!(
        message_of("runner: [self-hosted, X64, ARM64]\n"),
        "`self-hosted, X64, ARM64` selects runners of aarch64 and of x86_64"
    );
    assert_eq!(
        message_of(&format!("{arm}test: {{runner: ubuntu-22.04}}\n")),
        "wheels are built for aarch64, but `ubuntu-22.04`, which tests them, is x86_64"
    );
    assert_eq!(
        message_of(&format!(
            "{arm}repair: {{platform: manylinux_2_28_x86_64}}\n"
        )),
        "wheels are built for aarch64, but the tag `manylinux_2_28_x86_64` is for x86_64"
    );
    project("runner: ubuntu-22.04\nrepair: {platform: manylinux_2_28_x86_64}\n")
        .run(&["check", "m.yaml"])
        .exits(0);
}

/// `image: {missing: error}` wherever the plan needs the image.
#[test]
fn a_missing_image_is_an_error_on_request() {
    let fields = "image: {missing: error, repository: rocm/vllm}\n";
    let project = project(fields);
    for words in [
        &["check", "m.yaml"][..],
        &["plan", "m.yaml"],
        &["render", "workflow", "m.yaml"],
    ] {
        let outcome = project.run(words).exits(1);
        assert!(
            outcome.stderr.contains(
                "error[B005 no-image]: no container image is known for 1 job, such as `flash-attn-"
            ),
            "{}",
            outcome.stderr
        );
        assert_eq!(outcome.stdout, "");
    }
    let other = self::project("image: {repository: rocm/vllm}\n");
    for words in [
        &["check", "m.yaml"][..],
        &["plan", "m.yaml"],
        &["render", "workflow", "m.yaml"],
    ] {
        other.run(words).exits(0);
    }
    // A torch of this machine needs none.
    self::project(&format!(
        "{fields}torch-from: host\npython-from: host\nrunner: self-hosted\n"
    ))
    .run(&["check", "m.yaml"])
    .exits(0);
}
