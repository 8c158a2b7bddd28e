//! What is left out of a plan and why, and files beside the matrix that are not what they should
//! be.

use crate::support::Project;

const MATRIX: &str = r#"version: 1
distribution: flash-attn
recipe: flash-attn
axes:
  flash-attn: ["2.8.3"]
  python: ["3.8", "3.10"]
  torch: ["2.5.1"]
  rocm: ["6.2"]
"#;

/// A matrix file with nothing to say about.
fn sound() -> Project {
    Project::new().file("m.yaml", &MATRIX.replace("\"3.8\", ", ""))
}

/// The codes of the excluded rows, each with its reason.
fn excluded(lines: &str) -> Vec<(String, String)> {
    let project = Project::new().file("m.yaml", &format!("{MATRIX}{lines}"));
    let plan = project
        .run(&["plan", "m.yaml", "--format", "json"])
        .exits(0)
        .json();
    let text = |row: &serde_json::Value, key: &str| row[key].as_str().unwrap().to_owned();
    plan["excluded"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (text(row, "code"), text(row, "reason")))
        .collect()
}

#[test]
fn a_python_without_torch_wheels_is_left_out() {
    let reason = "torch 2.5.1 has wheels for Python 3.9, 3.10, 3.11 and 3.12, not 3.8";
    assert!(
        excluded("").contains(&("P002".to_owned(), reason.to_owned())),
        "{:?}",
        excluded("")
    );
}

#[test]
fn a_python_that_the_package_does_not_take_is_left_out_whatever_torch_there_is() {
    let rows = excluded("torch-from: host\n");
    assert!(rows.iter().any(|(code, _)| code == "P005"), "{rows:?}");
}

#[test]
fn with_the_images_own_torch_the_image_table_decides() {
    let rows = excluded("torch-from: image\n");
    let reason = "no image of rocm/pytorch contains torch 2.5.1 with ROCm 6.2";
    assert!(
        rows.contains(&("P003".to_owned(), reason.to_owned())),
        "{rows:?}"
    );
}

#[test]
fn a_file_that_is_no_plan_is_not_compared_with() {
    let project = sound().file("old.json", "{}");
    let stderr = project
        .run(&["plan", "m.yaml", "--diff", "old.json"])
        .exits(1)
        .stderr;
    insta::assert_snapshot!(stderr, @r"
    error[P018 bad-plan-file]: `old.json` is not a valid plan: missing field `version`
     --> old.json:1:2
      |
    1 | {}
      |  ^
      |
    help: create it with `rock-matrix plan --format json`
    ");
}

#[test]
fn a_plan_of_another_version_is_not_guessed_at() {
    let plan = sound()
        .run(&["plan", "m.yaml", "--format", "json"])
        .exits(0);
    assert_eq!(plan.json()["version"], 1);
    let project = sound().file(
        "next.json",
        &plan
            .stdout
            .replacen("{\"version\":1,", "{\"version\":2,", 1),
    );
    for command in [
        &["plan", "m.yaml", "--diff", "next.json"][..],
        &["build", "--all", "--plan", "next.json", "--dry-run"],
    ] {
        let stderr = project.run(command).exits(1).stderr;
        let expected = "error[P018 bad-plan-file]: `next.json` is not a valid plan: it has version 2, \
            but this program reads version 1\n";
        assert!(stderr.starts_with(expected), "{stderr}");
    }
}

#[test]
fn an_invalid_listing_is_refused_and_odd_names_are_reported() {
    let run = |text: &str, code: i32| {
        let project = sound().file("published.json", text);
        project
            .run(&["plan", "m.yaml", "--published", "published.json"])
            .exits(code)
            .stderr
    };
    let stderr = run("nope", 1);
    insta::assert_snapshot!(stderr);
    let stderr = run("\"x\"", 1);
    insta::assert_snapshot!(stderr);
    let stderr = run("[\"a.whl\", \"notes.txt\"]", 0);
    insta::assert_snapshot!(stderr);
}

#[test]
fn an_invalid_published_manifest_is_an_error() {
    let project = sound().file(
        "rock-manifest.json",
        "{\"version\": 1, \"tag\": null, \"plan\": null, \"files\": [{}]}",
    );
    let stderr = project
        .run(&["plan", "m.yaml", "--published", "rock-manifest.json"])
        .exits(1)
        .stderr;
    insta::assert_snapshot!(stderr);
}

#[test]
fn the_same_matrix_twice_gives_no_job_twice() {
    let text = MATRIX.replace("\"3.8\", ", "");
    let project = Project::new().file("a.yaml", &text).file("b.yaml", &text);
    let stderr = project.run(&["plan", "a.yaml", "b.yaml"]).exits(1).stderr;
    insta::assert_snapshot!(stderr);
}

#[test]
fn a_job_that_is_not_in_the_plan_is_named_with_the_nearest() {
    let stderr = sound()
        .run(&["render", "docker", "m.yaml", "no-such-job"])
        .exits(2)
        .stderr;
    insta::assert_snapshot!(stderr);
}

#[test]
fn a_product_that_cannot_be_counted_is_refused() {
    // 700^7 cells do not fit 64 bits.
    let axis = |name: &str, prefix: &str| {
        let values: Vec<String> = (1..=700)
            .map(|number| format!("\"{prefix}{number}\""))
            .collect();
        format!("  {name}: [{}]\n", values.join(", "))
    };
    let plain = ["max-jobs", "gib-per-job", "cache-gib", "opt-dim"].map(|name| axis(name, ""));
    let versions = [("flash-attn", "2.8."), ("torch", "2."), ("rocm", "6.")]
        .map(|(name, prefix)| axis(name, prefix));
    let axes = plain.concat() + &versions.concat() + "  python: [\"3.10\"]\n";
    let head = MATRIX.split("axes:\n").next().unwrap();
    let project = Project::new().file("m.yaml", &format!("{head}axes:\n{axes}"));
    let stderr = project.run(&["plan", "m.yaml"]).exits(1).stderr;
    assert!(
        stderr.contains("error[P011 too-many-cells]"),
        "{}",
        &stderr[..stderr.len().min(2000)]
    );
}

#[test]
fn an_invalid_plan_is_reported_with_place_and_our_terms() {
    let text = "{\"version\":1,\n\"generator\":\"x\",\"matrices\":[],\n\"jobs\":[\n3]}";
    let stderr = sound()
        .file("p.json", text)
        .run(&["build", "--all", "--plan", "p.json", "--dry-run"])
        .exits(1)
        .stderr;
    insta::assert_snapshot!(stderr);
}
