//! A matrix file becomes jobs, with the reason for every missing cell.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::Project;

const SEED: &str = r#"version: 1
distribution: flash-attn
recipe: flash-attn
axes:
  flash-attn: ["2.6.3", "2.7.4", "2.8.3"]
  python: ["3.10", "3.11", "3.12"]
  torch: ["2.5.1", "2.6.0"]
  rocm: ["6.1", "6.2"]
"#;

/// A matrix file with these lines after the head.
fn matrix(lines: &str) -> String {
    format!("version: 1\ndistribution: flash-attn\nrecipe: flash-attn\n{lines}")
}

fn plan(text: &str) -> Value {
    Project::new()
        .file("m.yaml", text)
        .run(&["plan", "m.yaml", "--format", "json"])
        .exits(0)
        .json()
}

fn jobs(plan: &Value) -> &Vec<Value> {
    plan["jobs"].as_array().unwrap()
}

fn texts<'a>(plan: &'a Value, key: &str) -> Vec<&'a str> {
    jobs(plan)
        .iter()
        .map(|job| job[key].as_str().unwrap())
        .collect()
}

fn excluded_count(plan: &Value) -> u64 {
    plan["excluded"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["count"].as_u64().unwrap())
        .sum()
}

#[test]
fn every_patch_of_a_torch_minor_excludes_the_same_rocm_versions() {
    let excluded = |torch: &str| {
        let plan = plan(&matrix(&format!(
            "axes:\n  flash-attn: [\"2.8.3\"]\n  python: [\"3.12\"]\n  torch: [\"{torch}\"]\n  rocm: [\"7.0\", \"7.1\", \"7.2\", \"7.14\"]\n"
        )));
        let rows = plan["excluded"].as_array().unwrap();
        rows.iter()
            .map(|row| row["axes"]["rocm"].as_str().unwrap().to_owned())
            .collect::<BTreeSet<_>>()
    };
    assert_eq!(
        excluded("2.12.0"),
        BTreeSet::from(["7.0".into(), "7.14".into()])
    );
    assert_eq!(excluded("2.12.0"), excluded("2.12.1"));
    assert_eq!(
        excluded("2.12.0"),
        excluded("2.12.9"),
        "a patch that the table does not list is judged by its minor"
    );
}

#[test]
fn an_exclude_with_partial_keys_removes_every_cell_that_matches() {
    let plan = plan(&format!("{SEED}exclude:\n  - torch: \"2.5.1\"\n"));
    assert_eq!(jobs(&plan).len(), 9);
    assert!(
        jobs(&plan)
            .iter()
            .all(|job| job["axes"]["torch"] == "2.6.0")
    );
    let rows = plan["excluded"].as_array().unwrap();
    let by_user = rows.iter().find(|row| row["code"] == "P008").unwrap();
    assert_eq!(
        (&by_user["axes"], &by_user["count"]),
        (&serde_json::json!({"torch": "2.5.1"}), &Value::from(18))
    );
}

#[test]
fn an_include_changes_cells_or_adds_one_from_outside_the_product() {
    let plan = plan(&format!(
        "{SEED}include:\n  - axes: {{flash-attn: \"2.8.3\", rocm: \"6.1\"}}\n    set: {{runner: my-runner}}\n  - axes: {{flash-attn: \"2.8.3\", python: \"3.13\", torch: \"2.6.0\", rocm: \"6.2.4\"}}\n"
    ));
    assert_eq!(jobs(&plan).len(), 28);
    let changed: Vec<&Value> = jobs(&plan)
        .iter()
        .filter(|job| job["runner"] == serde_json::json!(["my-runner"]))
        .collect();
    assert_eq!(changed.len(), 6);
    assert!(
        changed
            .iter()
            .all(|job| job["axes"]["rocm"] == "6.1" && job["version"] == "2.8.3")
    );
    assert!(
        texts(&plan, "wheel")
            .contains(&"flash_attn-2.8.3+rocm62torch2.6-cp313-cp313-linux_x86_64.whl")
    );
}

#[test]
fn both_backends_give_31_jobs_because_triton_collapses_python_and_2_6_3_has_none() {
    let plan = plan(&format!("{SEED}  backend: [ck, triton]\n"));
    assert_eq!(jobs(&plan).len(), 31);
    let triton: Vec<&Value> = jobs(&plan)
        .iter()
        .filter(|job| job["backend"] == "triton")
        .collect();
    assert_eq!(triton.len(), 4);
    assert!(
        triton
            .iter()
            .all(|job| job["covers"]["python"] == serde_json::json!(["3.10", "3.11", "3.12"]))
    );
    assert!(
        triton
            .iter()
            .all(|job| job["axes"]["python"] == "3.10" && job["gfx"] == serde_json::json!([]))
    );
    assert!(
        texts(&plan, "wheel").contains(&"flash_attn-2.7.4+rocm62torch2.5triton-py3-none-any.whl")
    );
    let rows = plan["excluded"].as_array().unwrap();
    let absent = rows.iter().find(|row| row["code"] == "P004").unwrap();
    assert_eq!(
        absent["axes"],
        serde_json::json!({"flash-attn": "2.6.3", "backend": "triton"})
    );
    assert!(
        absent["reason"]
            .as_str()
            .unwrap()
            .contains("has no triton backend"),
        "{absent}"
    );
    let covered: usize = plan["covered"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["axes"]["python"].as_array().unwrap().len() - 1)
        .sum();
    assert_eq!(
        72,
        excluded_count(&plan) + (jobs(&plan).len() + covered) as u64
    );
}

#[test]
fn gfx_targets_are_what_package_toolchain_and_torch_all_allow() {
    let gfx = |package: &str, torch: &str, rocm: &str, wanted: &str| {
        let plan = plan(&matrix(&format!(
            "gfx: [{wanted}]\naxes:\n  flash-attn: [\"{package}\"]\n  python: [\"3.12\"]\n  torch: [\"{torch}\"]\n  rocm: [\"{rocm}\"]\n"
        )));
        let job = &jobs(&plan)[0];
        let list = |key: &str, field: Option<&str>| {
            let items = job[key].as_array().unwrap().iter();
            items
                .map(|item| {
                    field
                        .map_or(item, |f| &item[f])
                        .as_str()
                        .unwrap()
                        .to_owned()
                })
                .collect::<Vec<_>>()
        };
        (
            list("gfx", None).join(";"),
            list("dropped_gfx", Some("target")).join(";"),
        )
    };
    let user = "gfx90a, gfx942, gfx1030, gfx1100";
    assert_eq!(
        gfx("2.8.3", "2.5.1", "6.2", user),
        ("gfx90a;gfx942".into(), "gfx1030;gfx1100".into())
    );
    assert_eq!(
        gfx("fa2:0251105a", "2.14.0", "7.2", user),
        ("gfx90a;gfx942;gfx1100".into(), "gfx1030".into())
    );
    assert_eq!(
        gfx("2.8.3", "2.8.0", "6.4", "gfx942, gfx950"),
        ("gfx942".into(), "gfx950".into())
    );
    assert_eq!(
        gfx("2.8.3", "2.14.0", "7.2", "gfx942, gfx950"),
        ("gfx942;gfx950".into(), String::new())
    );
}

#[test]
fn a_target_that_only_torchs_wheels_lack_is_dropped_for_that_alone() {
    let axes = "gfx: [gfx942, gfx1150]\naxes:\n  flash-attn: [\"fa2:0251105a\"]\n  python: [\"3.12\"]\n  torch: [\"2.7.0\"]\n  rocm: [\"6.3\"]\n";
    let plan_of = |more: &str| jobs(&plan(&matrix(&format!("{more}{axes}"))))[0].clone();
    let job = plan_of("");
    assert_eq!(job["gfx"], serde_json::json!(["gfx942"]));
    let reason = "not in torch's wheels for ROCm 6.3";
    assert_eq!(
        job["dropped_gfx"],
        serde_json::json!([{"target": "gfx1150", "reason": reason}])
    );
    let host = plan_of("torch-from: host\npython-from: host\n");
    assert_eq!(
        host["gfx"],
        serde_json::json!(["gfx942", "gfx1150"]),
        "package and compiler take it"
    );
}

#[test]
fn jobs_whose_wheel_is_published_are_left_out() {
    let seed = plan(SEED);
    let wheels = texts(&seed, "wheel");
    let published: Vec<String> = wheels
        .iter()
        .take(10)
        .map(|name| {
            name.replace(
                "linux_x86_64",
                "manylinux_2_24_x86_64.manylinux_2_28_x86_64",
            )
            .replace('+', "%2B")
        })
        .collect();
    let assets = serde_json::json!({"tag_name": "v1", "assets": published.iter().map(|name| serde_json::json!({"name": name})).collect::<Vec<_>>()});
    let project = Project::new()
        .file("m.yaml", SEED)
        .file("assets.json", &assets.to_string());
    let plan = project
        .run(&[
            "plan",
            "m.yaml",
            "--format",
            "json",
            "--published",
            "assets.json",
        ])
        .exits(0)
        .json();
    assert_eq!(jobs(&plan).len(), 17);
    assert_eq!(plan["published"].as_array().unwrap().len(), 10);
}

#[test]
fn free_threaded_pythons_are_built_only_on_request_and_listed() {
    let text = |more: &str| {
        matrix(&format!(
            "{more}axes:\n  flash-attn: [\"2.8.3\"]\n  python: [\"3.13\", \"3.13t\"]\n  torch: [\"2.8.0\", \"2.12.0\"]\n  rocm: [\"6.4\", \"7.2\"]\n"
        ))
    };
    let off = plan(&text(""));
    assert_eq!(jobs(&off).len(), 2);
    assert!(
        off["excluded"]
            .as_array()
            .unwrap()
            .iter()
            .any(|row| row["code"] == "P006")
    );
    let on = plan(&text("free-threaded: true\n"));
    assert_eq!(jobs(&on).len(), 3, "torch 2.12 lists 3.14t only");
    assert!(
        texts(&on, "wheel")
            .contains(&"flash_attn-2.8.3+rocm64torch2.8-cp313-cp313t-linux_x86_64.whl")
    );
}

#[test]
fn an_abi3_backend_builds_one_python_and_covers_the_others() {
    let recipe = "recipe: 1\nname: abi3\nbackends:\n  default: {collapse: [python], tag: cp310-abi3}\nsteps:\n  - {stage: build, argv: [\"true\"]}\ncollect: {wheels: \"dist/*.whl\"}\n";
    let text = "version: 1\ndistribution: demo\nrecipe: abi3\naxes:\n  demo: [\"1.0\"]\n  python: [\"3.12\", \"3.10\", \"3.11\"]\n  rocm: [\"7.2\"]\n";
    let project = Project::new()
        .file("m.yaml", text)
        .file("r/abi3.yaml", recipe);
    let plan = project
        .run(&["plan", "m.yaml", "--recipes", "r", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(
        texts(&plan, "wheel"),
        ["demo-1.0+rocm72-cp310-abi3-linux_x86_64.whl"]
    );
    assert_eq!(jobs(&plan)[0]["axes"]["python"], "3.10");
    assert_eq!(
        jobs(&plan)[0]["covers"]["python"],
        serde_json::json!(["3.12", "3.10", "3.11"])
    );
}

#[test]
fn the_same_input_gives_the_same_bytes_and_ids_do_not_move_when_an_axis_grows() {
    let project = Project::new().file("m.yaml", SEED).file(
        "more.yaml",
        &SEED.replace("[\"2.6.3\",", "[\"2.8.3.post1\", \"2.6.3\","),
    );
    let bytes = |file: &str| {
        project
            .run(&["plan", file, "--format", "json"])
            .exits(0)
            .stdout
    };
    assert_eq!(bytes("m.yaml"), bytes("m.yaml"));
    let ids = |text: &str| -> BTreeSet<String> {
        let plan: Value = serde_json::from_str(text).unwrap();
        texts(&plan, "id").into_iter().map(str::to_owned).collect()
    };
    let (few, more) = (ids(&bytes("m.yaml")), ids(&bytes("more.yaml")));
    assert!(few.is_subset(&more) && more.len() == 36);
    assert!(
        few.contains("flash-attn-2.8.3-rocm6.2-torch2.5.1-py3.11"),
        "{few:?}"
    );
    let legal = |id: &String| {
        id.len() <= 80
            && id
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b))
    };
    assert!(more.iter().all(legal));
}

#[test]
fn a_triton_job_keeps_its_id_whether_one_python_or_three_are_listed() {
    let ids = |pythons: &str| {
        let axes = format!(
            "axes:\n  flash-attn: [\"2.7.4.post1\"]\n  python: [{pythons}]\n  torch: [\"2.5.1\"]\n  rocm: [\"6.2\"]\n  backend: [triton]\n"
        );
        texts(&plan(&matrix(&axes)), "id")
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        ids("\"3.11\""),
        ["flash-attn-2.7.4.post1-rocm6.2-torch2.5.1-triton"]
    );
    assert_eq!(ids("\"3.11\""), ids("\"3.10\", \"3.11\", \"3.12\""));
}

/// Every legal cell of Python 3.9 to 3.14, the newest patch of each torch from 2.5 to 2.14 and all
/// their ROCm versions.
fn whole() -> String {
    matrix(
        "axes:\n  flash-attn: [\"2.6.3\", \"2.7.4\", \"2.8.3\"]\n  python: [\"3.9\", \"3.10\", \"3.11\", \"3.12\", \"3.13\", \"3.14\"]\n  torch: [\"2.5.1\", \"2.6.0\", \"2.7.1\", \"2.8.0\", \"2.9.1\", \"2.10.0\", \"2.11.0\", \"2.12.1\", \"2.13.0\", \"2.14.0\"]\n  rocm: [\"6.1\", \"6.2\", \"6.2.4\", \"6.3\", \"6.4\", \"7.0\", \"7.1\", \"7.2\", \"7.14\"]\n",
    )
}

#[test]
fn shards_hold_at_most_256_jobs_and_join_to_the_plan() {
    let project = Project::new().file("m.yaml", &whole());
    let plan = project
        .run(&["plan", "m.yaml", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(jobs(&plan).len(), 294);
    assert_eq!(excluded_count(&plan), 3 * 6 * 10 * 9 - 294);
    assert_eq!(
        plan["shards"],
        serde_json::json!([{"first": 0, "count": 256}, {"first": 256, "count": 38}])
    );
    let note = "294 jobs make 2 matrices of at most 256; a rendered workflow has them in one run, up to 500 jobs";
    let labels = "`rocm7.14` has dots because `rocm714` could be another version, unlike `rocm61`; `label-style: dotted` gives all labels dots";
    assert_eq!(
        plan["notes"],
        serde_json::json!([note, labels, "about 5762.4 runner-hours in total"])
    );
    let lines = project
        .run(&["plan", "m.yaml", "--format", "github"])
        .exits(0)
        .stdout;
    let shards: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(shards.len(), 2);
    let entries: Vec<&Value> = shards
        .iter()
        .flat_map(|shard| shard["include"].as_array().unwrap())
        .collect();
    let ids: Vec<&str> = entries
        .iter()
        .map(|entry| entry["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, texts(&plan, "id"));
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), 294);
    let flat = |entry: &&Value| entry.as_object().unwrap().values().all(Value::is_string);
    assert!(
        entries.iter().all(flat),
        "GitHub compares 3.10 and 3.1 as numbers, so every value is a text"
    );
}

/// A project with so many jobs, `m.yaml`, of a recipe in `r` that builds nothing.
fn many(jobs: usize) -> Project {
    let recipe = "recipe: 1\nname: many\nsteps:\n  - {stage: build, argv: [\"true\"]}\ncollect: {wheels: \"dist/*.whl\"}\n";
    let versions: Vec<String> = (0..jobs).map(|n| format!("\"1.{n}\"")).collect();
    let text = format!(
        "version: 1\ndistribution: many\nrecipe: many\ngfx: [gfx942]\naxes:\n  many: [{}]\n  python: [\"3.12\"]\n  rocm: [\"7.2\"]\n",
        versions.join(", ")
    );
    Project::new()
        .file("m.yaml", &text)
        .file("r/many.yaml", recipe)
}

/// The jobs of each matrix in the plan file, which those of the outputs must agree with.
fn matrices(project: &Project, more: &[&str]) -> Vec<usize> {
    let run = |arguments: &[&str]| {
        project
            .run(&[&["plan", "m.yaml", "--recipes", "r"], arguments, more].concat())
            .exits(0)
    };
    let plan = run(&["--format", "json"]).json();
    let shards: Vec<usize> = plan["shards"]
        .as_array()
        .unwrap()
        .iter()
        .map(|shard| usize::try_from(shard["count"].as_u64().unwrap()).unwrap())
        .collect();
    let outputs = run(&["--github-output"]).stdout;
    let legs = outputs
        .lines()
        .filter_map(|line| line.strip_prefix("matrix_")?.split_once('='));
    let legs: Vec<Vec<Value>> = legs
        .enumerate()
        .map(|(at, (number, json))| {
            assert_eq!(number, at.to_string());
            serde_json::from_str::<Value>(json).unwrap()["include"]
                .as_array()
                .unwrap()
                .clone()
        })
        .collect();
    assert_eq!(legs.iter().map(Vec::len).collect::<Vec<_>>(), shards);
    assert!(
        outputs.contains(&format!("shards={}\n", shards.len())),
        "{outputs}"
    );
    let ids: Vec<&str> = legs
        .iter()
        .flatten()
        .map(|leg| leg["id"].as_str().unwrap())
        .collect();
    assert_eq!(
        ids,
        texts(&plan, "id"),
        "the matrices join to the plan, in its order"
    );
    shards
}

#[test]
fn the_257th_job_begins_a_second_matrix() {
    assert_eq!(matrices(&many(255), &[]), [255]);
    assert_eq!(matrices(&many(256), &[]), [256]);
    assert_eq!(matrices(&many(257), &[]), [256, 1]);
}

#[test]
fn a_matrix_may_be_kept_smaller_than_github_asks() {
    let project = many(257);
    assert_eq!(matrices(&project, &["--max-jobs", "100"]), [100, 100, 57]);
    assert_eq!(matrices(&project, &["--max-jobs", "256"]), [256, 1]);
    assert_eq!(matrices(&many(3), &["--max-jobs", "1"]), [1, 1, 1]);
    let shown = project
        .run(&["plan", "m.yaml", "--recipes", "r", "--max-jobs", "200"])
        .exits(0)
        .stdout;
    assert!(
        shown.contains(
            "note: 257 jobs make 2 matrices of at most 200; a rendered workflow has them in one run, up to 500 jobs\n"
        ),
        "{shown}"
    );
    let plan = many(3)
        .run(&[
            "plan",
            "m.yaml",
            "--recipes",
            "r",
            "--max-jobs",
            "2",
            "--format",
            "json",
        ])
        .exits(0)
        .json();
    assert_eq!(plan["limits"], serde_json::json!({"jobs_per_matrix": 2}));
    assert_eq!(
        plan["notes"],
        serde_json::json!(["3 jobs make 2 matrices of at most 2"])
    );
    for number in ["0", "257", "-1", "all"] {
        let _ = project
            .run(&[
                "plan",
                "m.yaml",
                "--recipes",
                "r",
                &format!("--max-jobs={number}"),
            ])
            .exits(2);
    }
}

#[test]
fn legs_near_the_output_limit_are_reported() {
    let outcome_of = |jobs: usize| {
        many(jobs)
            .run(&["plan", "m.yaml", "--recipes", "r", "--github-output"])
            .exits(0)
    };
    let (none, half, slim) = (outcome_of(500), outcome_of(1000), outcome_of(2000));
    let whole = |stdout: &str| stdout.contains("slim=false\n") && stdout.contains("\"wheel\":");
    assert!(
        !none.stderr.contains("P022") && whole(&none.stdout),
        "{}",
        none.stderr
    );
    assert!(
        half.stderr
            .contains("warning[P022 output-too-large]: the legs take "),
        "{}",
        half.stderr
    );
    assert!(
        half.stderr.contains("more than half of the 1048576") && whole(&half.stdout),
        "{}",
        half.stderr
    );
    assert!(
        slim.stderr
            .contains("warning[P022 output-too-large]: complete legs take "),
        "{}",
        slim.stderr
    );
    assert!(
        slim.stderr
            .contains("help: read them from the plan file: `rock-matrix plan"),
        "{}",
        slim.stderr
    );
    assert!(slim.stdout.contains("slim=true\n") && !slim.stdout.contains("\"wheel\":"));
    let annotated = many(2000).env("GITHUB_ACTIONS", "true");
    let stderr = annotated
        .run(&["plan", "m.yaml", "--recipes", "r", "--github-output"])
        .exits(0)
        .stderr;
    assert!(
        stderr.contains("::warning title=P022 output-too-large::complete legs take "),
        "{stderr}"
    );
}

#[test]
fn five_thousand_jobs_make_valid_outputs_and_more_are_refused() {
    let recipe = "recipe: 1\nname: many\nsteps:\n  - {stage: build, argv: [\"true\"]}\ncollect: {wheels: \"dist/*.whl\"}\n";
    let text = |versions: usize| {
        let versions: Vec<String> = (0..versions).map(|n| format!("\"1.{n}\"")).collect();
        format!(
            "version: 1\ndistribution: many\nrecipe: many\ngfx: [gfx942]\naxes:\n  many: [{}]\n  python: [\"3.10\", \"3.11\", \"3.12\", \"3.13\"]\n  rocm: [\"7.1\", \"7.2\"]\n",
            versions.join(", ")
        )
    };
    let project = Project::new()
        .file("m.yaml", &text(625))
        .file("more.yaml", &text(1250))
        .file("r/many.yaml", recipe);
    let plan = project
        .run(&["plan", "m.yaml", "--recipes", "r", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(jobs(&plan).len(), 5000);
    assert_eq!(plan["shards"].as_array().unwrap().len(), 20);
    assert!(
        plan["shards"]
            .as_array()
            .unwrap()
            .iter()
            .all(|shard| shard["count"].as_u64().unwrap() <= 256)
    );
    let outcome = project
        .run(&["plan", "m.yaml", "--recipes", "r", "--github-output"])
        .exits(0);
    assert!(
        outcome.stderr.contains("so some keys are dropped"),
        "{}",
        outcome.stderr
    );
    let outputs: std::collections::BTreeMap<&str, &str> = outcome
        .stdout
        .lines()
        .map(|line| line.split_once('=').unwrap())
        .collect();
    assert_eq!(
        (outputs["count"], outputs["shards"], outputs["slim"]),
        ("5000", "20", "true")
    );
    let matrices: Vec<&&str> = outputs
        .iter()
        .filter(|(name, _)| name.starts_with("matrix_"))
        .map(|(_, v)| v)
        .collect();
    let utf16: usize = matrices
        .iter()
        .map(|json| 2 * json.encode_utf16().count())
        .sum();
    assert!(utf16 <= 1_048_576, "{utf16}");
    let ids: BTreeSet<String> = matrices
        .iter()
        .flat_map(|json| {
            serde_json::from_str::<Value>(json).unwrap()["include"]
                .as_array()
                .unwrap()
                .clone()
        })
        .map(|leg| leg["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        ids,
        texts(&plan, "id").into_iter().map(str::to_owned).collect()
    );
    let outcome = project
        .run(&["plan", "more.yaml", "--recipes", "r", "--github-output"])
        .exits(1);
    assert!(
        outcome.stderr.contains("error[P022 output-too-large]"),
        "{}",
        outcome.stderr
    );
    assert!(outcome.stdout.is_empty(), "nothing half written");
}

#[test]
fn the_policy_keeps_the_oldest_or_newest_rocm_of_each_torch() {
    let kept = |policy: &str| {
        let axes = "  flash-attn: [\"2.8.3\"]\n  python: [\"3.12\"]\n  torch: [\"2.14.0\"]\n  rocm: [\"7.1\", \"7.2\", \"7.14\"]\n";
        let plan = plan(&matrix(&format!("rocm-policy: {policy}\naxes:\n{axes}")));
        jobs(&plan)
            .iter()
            .map(|job| job["axes"]["rocm"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(kept("oldest"), ["7.2"]);
    assert_eq!(kept("newest"), ["7.14"]);
    assert_eq!(kept("all"), ["7.2", "7.14"]);
}

#[test]
fn the_policy_chooses_among_the_rocm_versions_that_are_not_excluded() {
    let axes = "  flash-attn: [\"2.8.3\"]\n  python: [\"3.12\"]\n  torch: [\"2.5.1\"]\n  rocm: [\"6.1\", \"6.2\"]\n";
    for exclude in ["{rocm: \"6.1\"}", "{rocm: \"6.1\", torch: \"2.5.1\"}"] {
        let plan = plan(&matrix(&format!(
            "rocm-policy: oldest\nexclude: [{exclude}]\naxes:\n{axes}"
        )));
        assert_eq!(jobs(&plan)[0]["axes"]["rocm"], "6.2", "{exclude}");
    }
}

#[test]
fn an_image_whose_own_torch_or_python_is_used_is_no_builder_image() {
    let with = |settings: &str, python: &str, torch: &str, rocm: &str| {
        plan(&matrix(&format!(
            "{settings}axes:\n  flash-attn: [\"2.8.3\"]\n  python: [{python}]\n  torch: [\"{torch}\"]\n  rocm: [\"{rocm}\"]\n"
        )))
    };
    let own = with(
        "torch-from: image\npython-from: image\n",
        "\"3.11\", \"3.12\"",
        "2.9.1",
        "7.1.1",
    );
    assert_eq!(jobs(&own).len(), 1, "no image has Python 3.11 with these");
    assert!(
        jobs(&own)[0]["image"]
            .as_str()
            .unwrap()
            .contains("_py3.12_"),
        "{}",
        jobs(&own)[0]["image"]
    );
    let builder = with("", "\"3.11\"", "2.5.1", "6.2");
    assert!(jobs(&builder)[0]["image"].is_string());
    let none = with("python-from: image\n", "\"3.11\"", "2.5.1", "6.2");
    assert!(
        jobs(&none)[0]["image"].is_null(),
        "{}",
        jobs(&none)[0]["image"]
    );
    assert!(
        jobs(&none)[0]["warnings"][0]
            .as_str()
            .unwrap()
            .contains("and Python 3.11"),
        "{none}"
    );
}

#[test]
fn a_saved_plan_shows_what_an_edit_changes() {
    let project = Project::new().file("m.yaml", SEED);
    project
        .run(&["plan", "m.yaml", "--format", "json", "--out", "old.json"])
        .exits(0);
    let project = project.file(
        "m.yaml",
        &SEED
            .replace("\"3.12\"", "\"3.13\"")
            .replace("axes:", "gpu: none\naxes:"),
    );
    let changes = project
        .run(&["plan", "m.yaml", "--diff", "old.json"])
        .exits(0)
        .stdout;
    assert!(
        changes.contains("- flash-attn-2.6.3-rocm6.1-torch2.5.1-py3.12"),
        "{changes}"
    );
    assert!(
        changes.contains("+ flash-attn-2.8.3-rocm6.1-torch2.6.0-py3.13"),
        "{changes}"
    );
    assert!(changes.contains("gpu: auto → none"), "{changes}");
    assert!(changes.contains("\nnewly excluded:\n"), "{changes}");

    // Two saved plans are compared in the same way.
    project
        .run(&["plan", "m.yaml", "--json", "--out", "new.json"])
        .exits(0);
    let compare = ["plan", "new.json", "--diff", "old.json"];
    assert_eq!(project.run(&compare).exits(0).stdout, changes);
    let document = project
        .run(&[&compare[..], &["--json"]].concat())
        .exits(0)
        .json();
    assert_eq!(document["version"], 1);
    for list in ["jobs", "newly_excluded"] {
        assert!(!document[list].as_array().unwrap().is_empty(), "{list}");
    }
    assert_eq!(document["no_longer_excluded"], serde_json::json!([]));
    let stderr = project
        .run(&[&compare[..], &["--only", "python=3.13"]].concat())
        .exits(2)
        .stderr;
    assert!(
        stderr.starts_with("error: `new.json` is a saved plan, whose jobs cannot be selected"),
        "{stderr}"
    );
}

/// Exclusions of values that leave the matrix are not those of cells that are built now, and a
/// count of cells alone is no change.
#[test]
fn exclusions_that_leave_the_matrix_are_not_built() {
    let excluding = matrix(
        "axes:\n  flash-attn: [\"2.8.3\"]\n  python: [\"3.10\", \"3.12\"]\n  \
         torch: [\"2.5.1\", \"2.9.1\"]\n  rocm: [\"6.2\", \"6.4\"]\n  backend: [ck]\n\
         gfx: [gfx942]\nexclude:\n  - {python: \"3.12\", torch: \"2.9.1\"}\n",
    );
    let project = Project::new().file("m.yaml", &excluding);
    project
        .run(&["plan", "m.yaml", "--json", "--out", "old.json"])
        .exits(0);
    let diff = |project: &Project, more: &[&str]| {
        let words = ["plan", "m.yaml", "--diff", "old.json", "--json"];
        project.run(&[&words[..], more].concat()).exits(0).json()
    };
    let axes = |document: &Value, list: &str| {
        let rows = document[list].as_array().unwrap().iter();
        rows.map(|row| row["axes"].clone()).collect::<Vec<_>>()
    };

    let without_exclude = excluding.split("exclude:").next().unwrap();
    let project = project.file("m.yaml", without_exclude);
    let built = diff(&project, &[]);
    let combination = serde_json::json!({"python": "3.12", "torch": "2.9.1"});
    assert_eq!(axes(&built, "no_longer_excluded"), [combination]);
    assert!(axes(&built, "removed_exclusions").is_empty(), "{built}");
    assert!(axes(&built, "newly_excluded").is_empty(), "{built}");

    let project = project.file("m.yaml", &without_exclude.replace("\"6.2\", ", ""));
    let removed = diff(&project, &[]);
    let combination = serde_json::json!({"torch": "2.9.1", "rocm": "6.2"});
    assert_eq!(axes(&removed, "removed_exclusions"), [combination]);
    assert!(axes(&removed, "newly_excluded").is_empty(), "{removed}");
    let text = project
        .run(&["plan", "m.yaml", "--diff", "old.json"])
        .exits(0)
        .stdout;
    assert!(text.contains("\nno longer in the matrix:\n"), "{text}");

    // `--only` selects from both plans.
    let selected = diff(&project, &["--only", "python=3.10", "--only", "rocm=6.4"]);
    assert_eq!(
        selected,
        serde_json::json!({
            "version": 1,
            "jobs": [],
            "newly_excluded": [],
            "no_longer_excluded": [],
            "removed_exclusions": [],
        })
    );
}

#[test]
fn several_files_make_one_plan() {
    let other = SEED
        .replace("\"2.5.1\", \"2.6.0\"", "\"2.7.1\"")
        .replace("\"6.1\", \"6.2\"", "\"6.3\"");
    let project = Project::new().file("a.yaml", SEED).file("b.yaml", &other);
    assert_eq!(
        jobs(
            &project
                .run(&["plan", "a.yaml", "b.yaml", "--format", "json"])
                .exits(0)
                .json()
        )
        .len(),
        36
    );
}

#[test]
fn host_targets_are_an_error_on_a_machine_without_a_gpu() {
    if std::path::Path::new("/sys/class/kfd/kfd/topology/nodes").exists() {
        return;
    }
    let text = matrix(
        "gfx: [host]\naxes:\n  flash-attn: [\"2.8.3\"]\n  python: [\"3.12\"]\n  torch: [\"2.5.1\"]\n  rocm: [\"6.2\"]\n",
    );
    let stderr = Project::new()
        .file("m.yaml", &text)
        .run(&["plan", "m.yaml"])
        .exits(1)
        .stderr;
    assert!(
        stderr.starts_with("error[P027 host-without-gpu]"),
        "{stderr}"
    );
}

#[test]
fn ten_thousand_rows_are_compared_at_once() {
    let mut text = matrix("unknown: lenient\ntorch-from: host\npython-from: host\nrows:\n");
    for number in 0..10_000 {
        text += &format!(
            "  - {{flash-attn: \"2.8.{number}\", python: \"3.12\", torch: \"2.5.1\", rocm: \"6.1\"}}\n"
        );
    }
    text += "  - {flash-attn: \"2.8.7\", python: \"3.12\", torch: \"2.5\", rocm: \"6.1\"}\n";
    text += "  - {flash-attn: \"2.8.7\", python: \"3.12\", torch: \"2.5.1\", rocm: \"6.1\", gpu: none}\n";
    let stderr = Project::new()
        .file("m.yaml", &text)
        .run(&["check", "m.yaml"])
        .exits(1)
        .stderr;
    insta::assert_snapshot!(stderr);
}

/// `--gfx` replaces the targets, whether they are a key or an axis of the file.
#[test]
fn targets_of_the_command_line_replace_an_axis() {
    let matrix = "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\naxes:\n  flash-attn: [\"2.8.3\"]\n  \
                  python: [\"3.11\"]\n  torch: [\"2.7.1\"]\n  rocm: [\"6.3\"]\n  backend: [ck]\n  gfx: [gfx90a]\n";
    let project = Project::new().file("m.yaml", matrix);
    let targets = |more: &[&str]| {
        let plan = project
            .run(&[&["plan", "m.yaml", "--format", "json"], more].concat())
            .exits(0)
            .json();
        plan["jobs"][0]["gfx"].clone()
    };
    assert_eq!(targets(&[]), serde_json::json!(["gfx90a"]));
    assert_eq!(targets(&["--gfx", "gfx942"]), serde_json::json!(["gfx942"]));
}

/// `ck` of flash-attn 2.8.3 does not build for gfx1100. In the file this is an error, because the
/// file lists the backend for its own targets.
#[test]
fn cells_without_a_target_of_the_command_line_are_excluded() {
    let axes = "axes:\n  flash-attn: [\"2.8.3\"]\n  python: [\"3.12\"]\n  torch: [\"2.6.0\"]\n  rocm: [\"6.1\"]\n";
    let text = |backends: &str, gfx: &str| {
        matrix(&format!("gfx: [{gfx}]\n{axes}  backend: [{backends}]\n"))
    };
    let project = Project::new()
        .file("both.yaml", &text("ck, triton", "gfx942"))
        .file("ck.yaml", &text("ck", "gfx942"))
        .file("gfx1100.yaml", &text("ck, triton", "gfx1100"));
    let words = [
        "plan",
        "both.yaml",
        "--gfx",
        "RX 7900 XTX",
        "--format",
        "json",
    ];
    let plan = project.run(&words).exits(0).json();
    assert_eq!(jobs(&plan).len(), 1);
    assert_eq!(jobs(&plan)[0]["backend"], "triton");
    assert_eq!(excluded_count(&plan), 1);
    let row = &plan["excluded"][0];
    assert_eq!(row["code"], "P010");
    assert_eq!(
        row["axes"],
        serde_json::json!({"flash-attn": "2.8.3", "rocm": "6.1", "backend": "ck"})
    );
    assert_eq!(
        row["reason"],
        "no gfx target is left (gfx1100: flash-attn 2.8.3 (ck) only builds for gfx90a, gfx942, gfx950)"
    );
    for words in [
        &["plan", "ck.yaml", "--gfx", "gfx1100"][..],
        &["plan", "gfx1100.yaml"],
    ] {
        let stderr = project.run(words).exits(1).stderr;
        assert!(
            stderr.starts_with("error[P010 no-gfx-left]: no gfx target is left (gfx1100: "),
            "{stderr}"
        );
    }
}

#[test]
fn a_torch_release_that_is_not_listed_is_a_warning() {
    let text = |torch: &str| {
        matrix(&format!(
            "axes:\n  flash-attn: [\"2.8.3\"]\n  python: [\"3.12\"]\n  torch: [\"{torch}\"]\n  rocm: [\"6.4\"]\n"
        ))
    };
    let project = Project::new()
        .file("unknown.yaml", &text("2.9.7"))
        .file("known.yaml", &text("2.9.1"));
    let unknown = project.run(&["check", "unknown.yaml"]).exits(0).stderr;
    assert!(
        unknown.contains("warning[P019 unknown-torch-release]: torch 2.9.7 is not a known release"),
        "{unknown}"
    );
    assert!(
        unknown.contains("help: the newest known release of torch 2.9 is 2.9.1; if 2.9.7 is newer"),
        "{unknown}"
    );
    let known = project.run(&["check", "known.yaml"]).exits(0).stderr;
    assert!(!known.contains("P019"), "{known}");
}

/// torch's wheels for ROCm 6.3 have no code for gfx1151.
#[test]
fn a_job_without_torch_keeps_targets_that_torch_wheels_lack() {
    let plan = plan(
        "version: 1\ndistribution: my-ext\nrecipe: hip-extension\ntorch-from: pytorch-index\n\
         unknown: lenient\naxes: {my-ext: [\"1.0\"], python: [\"3.12\"], rocm: [\"6.3\"]}\n\
         rows: [{my-ext: \"1.0\", python: \"3.12\", torch: \"2.9.1\", rocm: \"6.3\"}]\n\
         gfx: [gfx942, gfx1151]\nvars: {source: .}\n",
    );
    let mut targets: Vec<(bool, &Value)> = jobs(&plan)
        .iter()
        .map(|job| (job["axes"]["torch"].is_string(), &job["gfx"]))
        .collect();
    targets.sort_by_key(|(has_torch, _)| *has_torch);
    let expected = [
        serde_json::json!(["gfx942", "gfx1151"]),
        serde_json::json!(["gfx942"]),
    ];
    assert_eq!(targets, [(false, &expected[0]), (true, &expected[1])]);
}
