//! Files that one process leaves for another and that someone has changed meanwhile: plans,
//! records, listings, legs of a workflow. What they hold becomes words of scripts, options of
//! containers and names of files.

use serde_json::json;

use crate::support::hostile::{Bounds, bounded};
use crate::support::{Project, Wheel};

const MATRIX: &str = r#"version: 1
distribution: flash-attn
recipe: flash-attn
axes:
  flash-attn: ["2.8.3"]
  python: ["3.10", "3.11"]
  torch: ["2.5.1"]
  rocm: ["6.2"]
  backend: [ck, triton]
secrets: [HF_TOKEN]
docker: {args: ["--env=A=b"]}
vars: {gib-per-job: "2.8"}
indexes: {torch: "https://e.example/whl"}
"#;

/// A project with a plan as this program wrote it, and that plan.
fn planned() -> (Project, serde_json::Value) {
    let project = Project::new().file("m.yaml", MATRIX);
    let plan = project
        .run(&["plan", "m.yaml", "--format", "json"])
        .exits(0)
        .json();
    (project, plan)
}

/// Puts a value into a field, which is made where it is not there.
fn set(plan: &serde_json::Value, field: &str, value: serde_json::Value) -> String {
    let mut plan = plan.clone();
    let (parent, key) = field.rsplit_once('/').unwrap();
    match plan
        .pointer_mut(parent)
        .unwrap_or_else(|| panic!("{field}"))
    {
        serde_json::Value::Array(items) => match key.parse::<usize>().unwrap() {
            at if at < items.len() => items[at] = value,
            _ => items.push(value),
        },
        parent => parent[key] = value,
    }
    plan.to_string()
}

/// Every field of a plan, with what it must not hold: line breaks, what a shell evaluates, options,
/// paths that leave, words that are none.
const FIELDS: [(&str, &str); 80] = [
    ("/generator", "a\nb"),
    ("/matrices/0/matrix", "m.yaml\n$(id)"),
    ("/matrices/0/matrix", "--out"),
    ("/matrices/0/distribution", "flash attn"),
    ("/matrices/0/platform", "beos"),
    ("/matrices/0/torch_from", "x"),
    ("/matrices/0/python_from", "x"),
    ("/matrices/0/image/repository", "--privileged"),
    ("/matrices/0/image/repository", "Rocm"),
    ("/matrices/0/image/tag", "a b"),
    ("/matrices/0/image/missing", "x"),
    ("/matrices/0/image/digest", "x"),
    ("/matrices/0/docker/shm_size", "8G --privileged"),
    ("/matrices/0/docker/groups/0", "video\nroot"),
    ("/matrices/0/docker/gid", "x"),
    ("/matrices/0/docker/args/0", "ubuntu"),
    ("/matrices/0/docker/args/0", "--env=A\nB"),
    ("/matrices/0/cache", "x"),
    ("/matrices/0/vars/gib-per-job", "a\nb"),
    ("/matrices/0/vars/gib-per-job", "../../x"),
    ("/matrices/0/vars/a b", "x"),
    ("/matrices/0/secrets/0", "PATH"),
    ("/matrices/0/secrets/0", "a=b"),
    ("/matrices/0/secrets/1", "HF_TOKEN"),
    ("/matrices/0/indexes/torch", "file:///etc"),
    ("/matrices/0/indexes/torch", "https://u:p@e.example/"),
    ("/matrices/0/indexes/a b", "https://e.example/"),
    ("/matrices/0/repair/platform", "Linux"),
    ("/matrices/0/repair/presets/0", "a b"),
    ("/matrices/0/test/runner", "a b"),
    ("/matrices/0/test/gpu", "x"),
    ("/matrices/0/test/families", "gfx942;$(id)"),
    ("/jobs/0/id", "a\n$(id)"),
    ("/jobs/0/id", "../../etc/x"),
    ("/jobs/0/id", "/etc/x"),
    ("/jobs/0/id", "-x"),
    ("/jobs/0/id", ""),
    ("/jobs/0/id", "A"),
    ("/jobs/0/axes/python", "3.x"),
    ("/jobs/0/axes/torch", "$(id)"),
    ("/jobs/0/axes/rocm", "x"),
    ("/jobs/0/axes/backend", "a\nb"),
    ("/jobs/0/axes/flash-attn", "; id"),
    ("/jobs/0/axes/a b", "x"),
    ("/jobs/0/axes/source", "../../x"),
    ("/jobs/0/distribution", "other"),
    ("/jobs/0/version", "1;2"),
    ("/jobs/0/wheel", "a-1-py3-none-any.whl\nid"),
    ("/jobs/0/wheel", "../a-1-py3-none-any.whl"),
    ("/jobs/0/wheel", "../x-tree"),
    ("/jobs/0/wheel", "-x-tree.tar.gz"),
    ("/jobs/0/wheels/0", "../a-1-py3-none-any.whl"),
    ("/jobs/0/label", "$(id)"),
    ("/jobs/0/backend", "a b"),
    ("/jobs/0/recipe", "../x"),
    ("/jobs/0/gates/0", "x"),
    ("/jobs/0/gfx/0", "gfx942;id"),
    ("/jobs/0/image", "--privileged"),
    ("/jobs/0/image", "rocm/pytorch --privileged"),
    ("/jobs/0/image", "rocm/pytorch:a\nb"),
    ("/jobs/0/runner/0", "a b"),
    ("/jobs/0/gpu", "x"),
    ("/jobs/0/estimate/verdict", "a\nb"),
    ("/jobs/0/warnings/0", "a\nb"),
    ("/jobs/0/dropped_gfx/0/target", "gfx900;id"),
    ("/jobs/0/dropped_gfx/0/reason", "a\nb"),
    ("/jobs/1/id", "SAME"),
    ("/excluded/0/axes/a b", "x"),
    ("/excluded/0/axes/python", "a\nb"),
    ("/excluded/0/code", "x"),
    ("/excluded/0/reason", "a\nb"),
    ("/excluded/0/hint", "a\u{1b}[2J"),
    ("/excluded/0/source", "a\nb"),
    ("/covered/0/id", "../x"),
    ("/published/0", "../a.whl"),
    ("/not_failed/0", "a\nb"),
    ("/notes/0", "a\u{1b}[2J"),
    ("/jobs/0/vars/a b", "x"),
    ("/jobs/0/vars/gib-per-job", "a\nb"),
    ("/jobs/0/families/0", "gfx942;id"),
];

/// A project with a plan that has a value in every field.
fn planned_in_full() -> (Project, serde_json::Value) {
    let (project, mut plan) = planned();
    let first = plan["jobs"][0]["id"].clone();
    let job = &mut plan["jobs"][0];
    job["image"] = "rocm/pytorch:x".into();
    job["estimate"] =
        json!({"objects": 1, "hours": 1.0, "attempts": 1, "cache_mb": 1, "verdict": "x"});
    job["dropped_gfx"] = json!([{"target": "gfx900", "reason": "x"}]);
    job["covers"] = json!({"python": ["3.9"]});
    job["vars"] = json!({});
    for list in ["wheels", "warnings", "families"] {
        job[list] = json!([]);
    }
    plan["covered"] = json!([{"id": first, "axes": {"python": ["3.9"]}}]);
    plan["excluded"] = json!([{
        "matrix": 0, "axes": {"python": "3.9"}, "count": 1, "code": "P001", "reason": "x", "hint": "x", "source": "x"
    }]);
    (project, plan)
}

/// The name of a field in messages: `jobs[0].gfx[0]` for `/jobs/0/gfx/0`. Of a key that is refused
/// itself, with a blank, it is the map.
fn shown(field: &str) -> String {
    let steps = field[1..].split('/').take_while(|step| !step.contains(' '));
    let shown = steps.map(|step| {
        if step.parse::<usize>().is_ok() {
            format!("[{step}]")
        } else {
            format!(".{step}")
        }
    });
    shown.collect::<String>()[1..].to_owned()
}

/// Asserts that both readers of a plan refuse this field by name, and write nothing.
fn assert_refused(plan: &serde_json::Value, field: &str, value: &serde_json::Value, name: &str) {
    let project = Project::new().file("p.json", &set(plan, field, value.clone()));
    for command in [
        &["render", "script", "p.json", "--out", "out/"][..],
        &["render", "docker", "p.json"],
    ] {
        let done = project.run(command).exits(1);
        assert!(
            done.stderr.starts_with("error[P018 bad-plan-file]"),
            "{field} {value}: {}",
            done.stderr
        );
        let refusal = format!("error[P018 bad-plan-file]: `p.json` is not a valid plan: `{name}` ");
        assert!(
            done.stderr.contains(&refusal),
            "{field} {value}: {}",
            done.stderr
        );
        assert_eq!(
            (done.stdout.as_str(), project.files()),
            ("", vec!["p.json".to_owned()]),
            "{field} {value}"
        );
    }
}

#[test]
fn every_field_of_a_plan_is_checked_when_it_is_read() {
    let (project, plan) = planned_in_full();
    let project = project.file("p.json", &plan.to_string());
    let sound = project
        .run(&["render", "script", "p.json", "--out", "sound/"])
        .exits(0);
    assert!(sound.stderr.contains("wrote sound/"), "{}", sound.stderr);
    for (field, value) in FIELDS {
        let value = if value == "SAME" {
            plan["jobs"][0]["id"].as_str().unwrap()
        } else {
            value
        };
        assert_refused(&plan, field, &value.into(), &shown(field));
    }
    for field in ["/jobs/0/covers/a b", "/covered/0/axes/a b"] {
        for values in [json!([]), json!(["x"])] {
            assert_refused(&plan, field, &values, &shown(field));
        }
    }
    for field in ["/jobs/0/covers/python", "/covered/0/axes/python"] {
        assert_refused(&plan, field, &json!(["3.9", "3.x"]), &shown(field));
    }
}

#[test]
fn numbers_of_a_plan_must_fit_each_other() {
    let (_, plan) = planned_in_full();
    for (field, value, name) in [
        ("/jobs/0/matrix", json!(7), "jobs[0].matrix"),
        ("/excluded/0/matrix", json!(7), "excluded[0].matrix"),
        (
            "/jobs/0/estimate/hours",
            json!(-1.0),
            "jobs[0].estimate.hours",
        ),
        ("/limits/a b", json!(1), "limits"),
        ("/shards/0/first", json!(1), "shards[0].first"),
        ("/shards/0/count", json!(0), "shards[0].count"),
        ("/shards/0/count", json!(4), "shards[0].count"),
        ("/shards/0/count", json!(1), "shards"),
        ("/shards/0/count", json!(u64::MAX), "shards[0].count"),
    ] {
        assert_refused(&plan, field, &value, name);
    }
}

#[test]
fn a_field_that_is_refused_is_shown_at_its_place() {
    let (_, plan) = planned();
    let line = set(&plan, "/jobs/1/image", "--privileged".into());
    let text =
        line.replacen("\"jobs\":[", "\"jobs\":[\n", 1)
            .replacen("},{\"id\"", "},\n{\"id\"", 1);
    let project = Project::new().file("p.json", &text);
    let stderr = project.run(&["render", "docker", "p.json"]).exits(1).stderr;
    let first = stderr.lines().next().unwrap();
    assert_eq!(
        first,
        "error[P018 bad-plan-file]: `p.json` is not a valid plan: `jobs[1].image` is \
         `--privileged`, not an image name"
    );
    let place = stderr.lines().nth(1).unwrap();
    assert!(place.starts_with(" --> p.json:3:"), "{place}");
    let column: usize = place.rsplit(':').next().unwrap().parse().unwrap();
    assert!(
        text.lines().nth(2).unwrap()[column - 1..].starts_with("\"--privileged\""),
        "{place}"
    );
}

#[test]
fn a_plan_with_many_bad_fields_is_refused_with_the_first_of_them() {
    let (_, mut plan) = planned();
    for number in 0..40 {
        plan["matrices"][0]["vars"][format!("a b {number}")] = "x".into();
    }
    let project = Project::new().file("p.json", &plan.to_string());
    let stderr = project.run(&["render", "docker", "p.json"]).exits(1).stderr;
    assert_eq!(
        stderr.matches("error[P018 bad-plan-file]").count(),
        17,
        "{stderr}"
    );
    assert!(
        stderr.contains("more than 16 fields are invalid"),
        "{stderr}"
    );
}

#[test]
fn every_plan_that_this_program_writes_can_be_read_back() {
    let project = Project::new()
        .copy("matrices", "matrices")
        .copy("examples", "examples");
    for name in [
        "flash-attn",
        "aotriton",
        "pytorch",
        "pytorch-windows",
        "rocm-sdk",
    ] {
        let matrix = format!("matrices/{name}.yaml");
        let plan = project.run(&["plan", &matrix, "--format", "json", "--out", "p.json"]);
        let _ = plan.exits(0);
        let same = project.run(&["plan", &matrix, "--diff", "p.json"]).exits(0);
        assert!(!same.stderr.contains("P018"), "{name}: {}", same.stderr);
    }
}

#[test]
fn the_leg_of_a_workflow_names_a_job_or_is_refused() {
    let (_, plan) = planned();
    for id in ["../x", "a\nb", "$(id)", "A", "-x", ""] {
        let leg = json!({"id": id}).to_string();
        let project = Project::new()
            .file("p.json", &plan.to_string())
            .env("ROCK_JOB", leg);
        let done = project
            .run(&[
                "build",
                "--plan",
                "p.json",
                "--job-env",
                "ROCK_JOB",
                "--dry-run",
            ])
            .exits(1);
        assert!(
            done.stderr.starts_with("error[P048 bad-job-variable]"),
            "{id:?}: {}",
            done.stderr
        );
    }
}

/// Files of these sizes hold zeros: at its limit one is read, above it is not read at all. Most
/// formats then refuse the zeros; an index page is one without links, and a list has one long name,
/// so these commands succeed. Twice what GitHub reads of a workflow: 1 MiB.
#[test]
fn a_workflow_past_the_limit_is_not_compared() {
    for past in [false, true] {
        let project = Project::new()
            .file("sound.yaml", MATRIX)
            .file("w.yml", &"#".repeat((1 << 20) + usize::from(past)));
        let done = project
            .run(&[
                "render",
                "workflow",
                "sound.yaml",
                "--check",
                "--out",
                "w.yml",
            ])
            .exits(1);
        assert_eq!(
            done.stderr
                .contains("`w.yml`: it is larger than 1048576 bytes"),
            past,
            "{}",
            done.stderr
        );
        assert_eq!(
            done.stdout.starts_with("--- w.yml"),
            !past,
            "{}",
            done.stdout
        );
    }
}

#[test]
fn a_file_past_the_limit_of_its_format_is_refused_before_it_is_read() {
    const SMALL: Bounds = Bounds {
        address_mib: 2048,
        peak_mib: 64,
        cpu_s: 60,
    };
    const WHEEL: &str = "demo-1.0-cp312-cp312-linux_x86_64.whl";
    let sources: &[&str] = &[
        "source",
        "checkout",
        "--origin",
        "http://127.0.0.1:9/x.git",
        "--ref",
        "v1",
    ];
    let checkout = &[
        sources,
        &["--checkout-dir", "x", "--repo-name", "x", "--dry-run"],
    ]
    .concat();
    let formats: [(&str, u64, &[&str], i32, &str); 13] = [
        (
            "p.json",
            128 << 20,
            &["render", "docker", "p.json"],
            1,
            "error[P018",
        ),
        (
            "l.json",
            128 << 20,
            &[
                "report",
                "coverage",
                "--plan",
                "m.yaml",
                "--published",
                "l.json",
            ],
            1,
            "error[G114",
        ),
        ("m.yaml", 16 << 20, &["check", "m.yaml"], 1, "error[M038"),
        (
            "r.yaml",
            16 << 20,
            &["render", "recipe", "r.yaml", "sound.yaml"],
            1,
            "error[M038",
        ),
        (
            "run.json",
            64 << 20,
            &["plan", "sound.yaml", "--only-failed", "run.json"],
            1,
            "error[P050",
        ),
        (
            "s.json",
            1 << 20,
            &[
                "source",
                "checkout",
                "--manifest",
                "s.json",
                "--checkout-root",
                "r",
            ],
            1,
            "error[C115",
        ),
        ("x/.rock/checkout.json", 16 << 20, checkout, 3, "error[C007"),
        (
            "release/rock-manifest.json",
            64 << 20,
            &["publish", "--to", "release", WHEEL],
            3,
            "error[G010",
        ),
        (
            "index/rocm6.2/torch/index.html",
            32 << 20,
            &["compat", "refresh", "--check", "--from", "index"],
            1,
            "the torch table",
        ),
        (
            "policy.json",
            16 << 20,
            &["wheel", "check", WHEEL, "--policy-file", "policy.json"],
            1,
            "error[K007",
        ),
        (
            "list.txt",
            16 << 20,
            &["wheel", "show", WHEEL, "--exclude-file", "list.txt"],
            1,
            WHEEL,
        ),
        (
            "targets.cmake",
            4 << 20,
            &["sdk", "targets", "--targets-file", "targets.cmake"],
            1,
            "error[S009",
        ),
        (
            "version.json",
            1 << 20,
            &["sdk", "version", "--release-type", "nightly"],
            1,
            "error[S",
        ),
    ];
    let wheel = Wheel::named(WHEEL).bytes();
    for (name, limit, command, code, answer) in formats {
        let project = Project::new()
            .file("sound.yaml", MATRIX)
            .file("m.yaml", MATRIX)
            .file(name, "");
        let project = project.bytes(WHEEL, &wheel);
        let file = std::fs::File::options()
            .write(true)
            .open(project.path(name))
            .unwrap();
        file.set_len(limit + 1).unwrap();
        let done = bounded(&project, SMALL, command, code).stderr;
        assert!(
            done.starts_with("error[H020 cannot-read-file]: cannot read `"),
            "{name}: {done}"
        );
        assert!(
            done.contains(&format!("{name}`: it is larger than {limit} bytes")),
            "{name}: {done}"
        );
        file.set_len(limit).unwrap();
        let done = project.command(command).output().unwrap();
        let output = String::from_utf8([done.stdout, done.stderr].concat()).unwrap();
        assert!(
            output.starts_with(answer) && !output.contains("larger than"),
            "{name}: {output}"
        );
        assert_eq!(
            done.status.code(),
            Some(i32::from(answer.starts_with("error"))),
            "{name}: {output}"
        );
    }
}
