//! Wheels that are the same for several values of an axis: planned once, and picked by what is in
//! them.

use serde_json::{Value, json};

use crate::support::Project;

const AXES: &str = "axes:\n  flash-attn: [\"2.7.4.post1\"]\n  python: [\"3.11\", \"3.10\"]\n  torch: [\"2.5.1\", \"2.6.0\"]\n  \
                    rocm: [\"6.2\", \"6.2.4\"]\n  backend: [ck, triton]\n";

fn plan(collapse: &str) -> Vec<Value> {
    let text = format!("version: 1\ndistribution: flash-attn\n{collapse}{AXES}");
    let project = Project::new().file("m.yaml", &text);
    let plan = project
        .run(&["plan", "m.yaml", "--format", "json"])
        .exits(0)
        .json();
    plan["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|job| job["backend"] == "triton")
        .cloned()
        .collect()
}

fn wheels(jobs: &[Value]) -> Vec<&str> {
    jobs.iter()
        .map(|job| job["wheel"].as_str().unwrap())
        .collect()
}

#[test]
fn a_matrix_file_lists_the_axes_that_share_a_wheel() {
    let each = plan("");
    assert_eq!(
        wheels(&each),
        [
            "flash_attn-2.7.4.post1+rocm62torch2.5triton-py3-none-any.whl",
            "flash_attn-2.7.4.post1+rocm62torch2.6triton-py3-none-any.whl"
        ],
        "one wheel for each ROCm and torch"
    );
    let of_rocm = plan("collapse: [rocm]\n");
    assert_eq!(
        wheels(&of_rocm),
        [
            "flash_attn-2.7.4.post1+torch2.5triton-py3-none-any.whl",
            "flash_attn-2.7.4.post1+torch2.6triton-py3-none-any.whl"
        ]
    );
    let of_both = plan("collapse: [torch, rocm]\n");
    assert_eq!(
        wheels(&of_both),
        ["flash_attn-2.7.4.post1+triton-py3-none-any.whl"]
    );
    let covers =
        json!({"python": ["3.11", "3.10"], "torch": ["2.5.1", "2.6.0"], "rocm": ["6.2", "6.2.4"]});
    assert_eq!(of_both[0]["covers"], covers);
    assert_eq!(
        of_both[0]["axes"]["python"], "3.10",
        "it is built with the lowest Python"
    );
    assert_eq!(of_both[0]["id"], "flash-attn-2.7.4.post1-triton");
}

/// torch 2.5.1 has no wheels for Python 3.13.
#[test]
fn a_plan_lists_the_combinations_that_share_a_wheel() {
    let text = "version: 1\ndistribution: flash-attn\ncollapse: [torch]\naxes:\n  flash-attn: [\"2.7.4.post1\"]\n  \
        python: [\"3.11\", \"3.12\", \"3.13\"]\n  torch: [\"2.5.1\", \"2.6.0\"]\n  rocm: [\"6.1\"]\n  backend: [triton]\n";
    let project = Project::new().file("m.yaml", text);
    let plan = |only: &[&str]| {
        let arguments = [["plan", "m.yaml", "--format", "json"].as_slice(), only].concat();
        project.run(&arguments).exits(0).json()
    };
    let all = plan(&[]);
    let id = "flash-attn-2.7.4.post1-rocm6.1-triton";
    assert_eq!(
        all["covered"],
        json!([
            {"id": id, "axes": {"python": ["3.11", "3.12"], "torch": ["2.5.1", "2.6.0"]}},
            {"id": id, "axes": {"python": ["3.13"], "torch": ["2.6.0"]}},
        ])
    );
    assert_eq!(
        all["jobs"][0]["covers"],
        json!({"python": ["3.11", "3.12", "3.13"], "torch": ["2.5.1", "2.6.0"]})
    );
    let selected = |torch: &str| {
        let only = format!("torch={torch}");
        plan(&["--only", "python=3.13", "--only", only.as_str()])["jobs"].clone()
    };
    assert_eq!(selected("2.6.0"), all["jobs"]);
    assert_eq!(selected("2.5.1"), json!([]));
}

#[test]
fn what_cannot_share_a_wheel_is_refused() {
    let stderr_of = |collapse: &str| {
        let text = format!(
            "version: 1\ndistribution: flash-attn\n{collapse}{}",
            AXES.replace("  rocm: [\"6.2\", \"6.2.4\"]\n", "")
        );
        Project::new()
            .file("m.yaml", &text)
            .run(&["check", "m.yaml"])
            .exits(1)
            .stderr
    };
    insta::assert_snapshot!(stderr_of("collapse: [gfx]\n"));
    insta::assert_snapshot!(stderr_of("collapse: [banana]\n"));
    let text = "version: 1\ndistribution: demo\nrecipe: demo\ncollapse: [torch]\naxes:\n  demo: [\"1.0\"]\n  python: [\"3.12\"]\n";
    let recipe = "recipe: 1\nname: demo\nbackends:\n  default: {collapsible: [torch], tag: py3-none-any}\nsteps:\n  - {stage: build, argv: [\"true\"]}\ncollect: {wheels: \"dist/*.whl\"}\n";
    let project = Project::new()
        .file("m.yaml", text)
        .file("r/demo.yaml", recipe);
    let none = project
        .run(&["check", "m.yaml", "--recipes", "r"])
        .exits(1)
        .stderr;
    insta::assert_snapshot!(none);
}

#[test]
fn a_recipe_collapses_all_axes_that_it_names() {
    let text = "version: 1\ndistribution: demo\nrecipe: demo\naxes:\n  demo: [\"1.0\"]\n  python: [\"3.12\", \"3.10\"]\n  torch: [\"2.8.0\", \"2.7.1\"]\n  rocm: [\"6.3\"]\n";
    let recipe = |collapse: &str| {
        format!(
            "recipe: 1\nname: demo\nbackends:\n  default: {{collapse: {collapse}, tag: py3-none-any, device-code: false}}\nsteps:\n  - {{stage: build, argv: [\"true\"]}}\ncollect: {{wheels: \"dist/*.whl\"}}\n"
        )
    };
    let project = Project::new()
        .file("m.yaml", text)
        .file("r/demo.yaml", &recipe("[python, torch]"));
    let plan = project
        .run(&["plan", "m.yaml", "--recipes", "r", "--format", "json"])
        .exits(0)
        .json();
    let jobs = plan["jobs"].as_array().unwrap();
    assert_eq!(wheels(jobs), ["demo-1.0+rocm63-py3-none-any.whl"]);
    assert_eq!(
        jobs[0]["covers"],
        json!({"python": ["3.12", "3.10"], "torch": ["2.8.0", "2.7.1"]})
    );
    let project = Project::new()
        .file("m.yaml", text)
        .file("r/demo.yaml", &recipe("[python, banana]"));
    let stderr = project
        .run(&["check", "m.yaml", "--recipes", "r"])
        .exits(1)
        .stderr;
    insta::assert_snapshot!(stderr);
}

/// A listing of releases with one wheel.
fn picked(wheel: &str, code: i32) -> crate::support::Outcome {
    let release = json!({
        "tag_name": "v1", "draft": false, "prerelease": false, "id": 1, "published_at": "2026-01-01T00:00:00Z",
        "created_at": "2026-01-01T00:00:00Z", "html_url": "https://example.com/v1", "name": "v1", "body": "",
        "target_commitish": "main", "immutable": false,
        "assets": [{"name": wheel, "id": 2, "size": 9, "state": "uploaded", "digest": null,
            "browser_download_url": format!("https://example.com/{}", wheel.replace('+', "%2B")),
            "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"}],
    });
    let project = Project::new().file("releases.json", &json!([release]).to_string());
    let words = [
        "pick",
        "--published",
        "releases.json",
        "--only-given",
        "--python",
        "3.12",
        "--torch",
        "2.8",
        "--rocm",
        "7.0",
    ];
    project.run(&words).exits(code)
}

#[test]
fn a_wheel_without_compiled_code_is_not_refused_for_its_torch() {
    for wheel in [
        "flash_attn-2.7.4.post1+rocm62torch2.5triton-py3-none-any.whl",
        "flash_attn-2.7.4.post1+torch2.5triton-py3-none-any.whl",
        "flash_attn-2.7.4.post1+triton-py3-none-any.whl",
    ] {
        let outcome = picked(wheel, 0);
        assert!(
            outcome.stdout.contains(&wheel.replace('+', "%2B")),
            "{}",
            outcome.stdout
        );
    }
    let compiled = picked(
        "flash_attn-2.7.4.post1+rocm62torch2.5-cp312-cp312-linux_x86_64.whl",
        1,
    );
    assert!(
        compiled.stderr.contains("C++ symbols change"),
        "{}",
        compiled.stderr
    );
}
