//! The workflow out of matrix files: what stands in it, what keeps it from being written, and
//! whether a file is it.
//!
//! `tests/real/workflow-lint.sh` judges the same files with the linters of others.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::toy::{JOB, Toy, WHEEL};
use crate::support::{Project, assert_file};

/// One Triton wheel, with whatever fields a story adds.
fn matrix(fields: &str) -> String {
    format!(
        "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\naxes:\n  flash-attn: [\"2.7.4.post1\"]\n  python: [\"3.11\"]\n  \
         torch: [\"2.5.1\"]\n  rocm: [\"6.2\"]\n  backend: [triton]\n{fields}"
    )
}

/// A project with that matrix file as the only one of `matrices/`.
fn project(fields: &str) -> Project {
    Project::new().file("matrices/flash-attn.yaml", &matrix(fields))
}

/// As many jobs as asked for, of a recipe that builds nothing.
fn many(project: Project, versions: usize) -> Project {
    let versions: Vec<String> = (0..versions)
        .map(|number| format!("\"1.{number}\""))
        .collect();
    let text = format!(
        "version: 1\ndistribution: many\nrecipe: many\ngfx: [gfx942]\naxes:\n  many: [{}]\n  python: [\"3.11\"]\n  rocm: [\"7.1\"]\n",
        versions.join(", ")
    );
    project
        .file(
            "recipes/many.yaml",
            "recipe: 1\nname: many\nsteps:\n  - {stage: build, argv: [\"true\"]}\ncollect: {wheels: \"dist/*.whl\"}\n",
        )
        .file("matrices/many.yaml", &text)
}

const BACKENDS_IN_A_POOL: &str = "backends-in-a-pool";
const SELF_HOSTED_AND_PODS: &str = "self-hosted-and-pods";

/// Builds on a machine of one's own, tests in pods that have no container engine and no GPU.
const SELF_HOSTED: &str = "runner: self-hosted\ntest: {runner: rocm-azure, gpu: none}\n\
                           workflow: {tool: source, pr-run-mode: build, max-parallel: 2}\n";

/// Both backends, each on one of the runners of a pool.
fn backends_in_a_pool() -> Project {
    let text = matrix("runner: rocm-scale\nworkflow: {max-parallel: 4, pr-run-mode: skip}\n");
    let text = text
        .replace("[triton]", "[ck, triton]")
        .replace("[\"3.11\"]", "[\"3.11\", \"3.12\"]");
    Project::new().file("matrices/flash-attn.yaml", &text)
}

/// Every golden file: its name, the project, and the arguments after `render workflow`.
fn cases() -> Vec<(&'static str, Project, Vec<&'static str>)> {
    let all = "secrets: [HF_TOKEN]\ntest: {runner: mi300x, gpu: required}\nrelease: {pages: true, make-latest: \"true\", yank: [\"flash-attn<2.6: it's old\"]}\n\
               workflow: {tool: source, cache: on, pr-run-mode: build, max-parallel: 7}\n";
    let tags = "workflow: {tags: [\"wheels-*\", \"v[0-9]+.[0-9]+\"]}\n";
    vec![
        ("tags", project(tags), vec![]),
        ("default", project(""), vec![]),
        ("one-file", project(""), vec!["matrices/flash-attn.yaml"]),
        (
            "tool-from-source",
            project("workflow: {tool: source}\n"),
            vec![],
        ),
        ("cache", project("workflow: {cache: on}\n"), vec![]),
        (
            "pull-requests-build",
            project("workflow: {pr-run-mode: build}\n"),
            vec![],
        ),
        (
            "pull-requests-skip",
            project("workflow: {pr-run-mode: skip, max-parallel: 3}\n"),
            vec![],
        ),
        (
            "secrets",
            project("secrets: [PIP_TOKEN, HF_TOKEN]\n"),
            vec![],
        ),
        (
            "pages",
            project("release: {pages: true, make-latest: \"false\"}\n"),
            vec![],
        ),
        (
            "gpu-test",
            project("test: {runner: mi300x, gpu: required}\n"),
            vec![],
        ),
        (
            "arm",
            project("runner: ubuntu-24.04-arm\nworkflow: {tool: source}\n"),
            vec![],
        ),
        (
            "two-files",
            many(project(""), 2),
            vec![
                "--recipes",
                "recipes",
                "matrices/flash-attn.yaml",
                "matrices/many.yaml",
            ],
        ),
        (
            "two-matrices",
            many(Project::new(), 294),
            vec!["--recipes", "recipes"],
        ),
        (
            "own-facts",
            project("").copy("matrices/compat", "facts"),
            vec!["--compat", "facts"],
        ),
        ("everything", project(all), vec![]),
        (
            "pytorch",
            Project::new().copy("matrices/pytorch.yaml", "matrices/pytorch.yaml"),
            vec![],
        ),
        (
            "aotriton",
            Project::new().copy("matrices/aotriton.yaml", "matrices/aotriton.yaml"),
            vec![],
        ),
        (
            "rocm-sdk",
            Project::new().copy("matrices/rocm-sdk.yaml", "matrices/rocm-sdk.yaml"),
            vec![],
        ),
        (BACKENDS_IN_A_POOL, backends_in_a_pool(), vec![]),
        (SELF_HOSTED_AND_PODS, project(SELF_HOSTED), vec![]),
    ]
}

fn rendered(project: &Project, arguments: &[&str]) -> String {
    project
        .run(&[&["render", "workflow"], arguments].concat())
        .exits(0)
        .stdout
}

#[test]
fn a_workflow_follows_its_matrix_file() {
    for (name, project, arguments) in cases() {
        assert_file(
            &format!("tests/it/render_a_workflow/{name}.yml"),
            &rendered(&project, &arguments),
        );
    }
}

#[test]
fn the_legs_of_a_workflow_follow_its_matrix_file() {
    for (name, project, _) in cases() {
        if ![BACKENDS_IN_A_POOL, SELF_HOSTED_AND_PODS].contains(&name) {
            continue;
        }
        let outputs = project.run(&["plan", "--github-output"]).exits(0).stdout;
        let legs = outputs
            .lines()
            .filter_map(|line| line.split_once('='))
            .filter(|(_, value)| value.starts_with('{'));
        let legs: BTreeMap<&str, Value> = legs
            .map(|(name, json)| (name, serde_json::from_str(json).unwrap()))
            .collect();
        let text = serde_json::to_string_pretty(&legs).unwrap() + "\n";
        assert_file(
            &format!("tests/it/render_a_workflow/{name}.legs.json"),
            &text,
        );
    }
}

#[test]
fn fields_of_newer_servers_are_there_on_request() {
    let by_default = rendered(&project(""), &[]);
    let requested = project("workflow: {queue: max}\n");
    let text = rendered(&requested, &[]);
    let workflow: Value = serde_yaml::from_str(&text).unwrap();
    assert_eq!(workflow["concurrency"]["queue"], "max");
    let more: Vec<&str> = text
        .lines()
        .filter(|line| !by_default.lines().any(|known| known == *line))
        .collect();
    assert_eq!(more, ["  queue: max"]);
}

fn steps(job: &Value) -> impl Iterator<Item = &Value> {
    job["steps"].as_array().unwrap().iter()
}

/// What GitHub's guides to secure use, and those who judge workflows,
/// ask of each.
#[test]
fn every_workflow_has_least_rights_pinned_actions_time_outs_and_no_expression_in_a_script() {
    for (name, project, arguments) in cases() {
        let text = rendered(&project, &arguments);
        let workflow: Value =
            serde_yaml::from_str(&text).unwrap_or_else(|fault| panic!("{name}: {fault}"));
        assert_eq!(workflow["permissions"], serde_json::json!({}), "{name}");
        let jobs = workflow["jobs"].as_object().unwrap();
        for (id, job) in jobs {
            let at = format!("{name}: {id}");
            assert!(
                job["name"].is_string() && job["permissions"].is_object(),
                "{at}"
            );
            let needs = match &job["needs"] {
                Value::Array(needs) => needs.iter().map(|need| need.as_str().unwrap()).collect(),
                Value::String(need) => vec![need.as_str()],
                _ => Vec::new(),
            };
            assert!(
                needs.iter().all(|need| jobs.contains_key(*need)),
                "{at}: {needs:?}"
            );
            let writes = job["permissions"]
                .as_object()
                .unwrap()
                .iter()
                .filter(|(_, word)| *word == "write");
            let mut writes: Vec<&str> = writes.map(|(right, _)| right.as_str()).collect();
            writes.sort_unstable();
            match id.as_str() {
                "publish" => assert_eq!(writes, ["attestations", "contents", "id-token"], "{at}"),
                "pages" => assert_eq!(writes, ["id-token", "pages"], "{at}"),
                "caches" => assert_eq!(writes, ["actions"], "{at}"),
                _ => assert!(writes.is_empty(), "{at}: {writes:?}"),
            }
            for step in steps(job) {
                assert!(step["name"].is_string(), "{at}");
                if let Some(uses) = step["uses"].as_str() {
                    let (action, pin) = uses.split_once('@').unwrap();
                    let is_pinned = pin.len() == 40 && pin.bytes().all(|b| b.is_ascii_hexdigit());
                    let own = concat!("org/rock-action@v", env!("CARGO_PKG_VERSION"));
                    assert!(is_pinned || uses == own, "{at}: {uses}");
                    assert!(
                        action != "actions/checkout"
                            || step["with"]["persist-credentials"] == false,
                        "{at}"
                    );
                } else {
                    assert_eq!(step["shell"], "bash", "{at}");
                    assert!(!step["run"].as_str().unwrap().contains("${{"), "{at}");
                }
            }
            let whole = job.to_string();
            assert!(
                !whole.contains("secrets.") || job["environment"].is_string(),
                "{at}"
            );
        }
        // Rights and pins are explained where they stand.
        for line in text
            .lines()
            .filter(|line| line.contains(": read") || line.contains(": write"))
        {
            assert!(line.contains(" # "), "{name}: {line}");
        }
        for line in text
            .lines()
            .filter(|line| line.trim_start().starts_with("uses:"))
        {
            assert!(line.contains(" # "), "{name}: {line}");
        }
        assert!(
            !text.contains(": &") && !text.contains(": *"),
            "{name}: anchors are refused by older servers"
        );
        assert!(
            text.starts_with("# Rendered by rock-matrix [VERSION] from matrices/"),
            "{name}"
        );
    }
}

#[test]
fn no_job_inherits_secrets_runs_for_ever_or_is_stopped_while_it_publishes() {
    for (name, project, arguments) in cases() {
        let text = rendered(&project, &arguments);
        let workflow: Value = serde_yaml::from_str(&text).unwrap();
        // File and tag: two files of one name do not wait for each other. Pull requests publish
        // nothing.
        let skips = workflow["on"]["pull_request"] == Value::Null
            && workflow["on"].get("pull_request").is_none();
        let cancels = if skips {
            Value::from(false)
        } else {
            "${{ github.event_name == 'pull_request' }}".into()
        };
        let group = serde_json::json!({"group": "${{ github.workflow_ref }}", "cancel-in-progress": cancels});
        assert_eq!(workflow["concurrency"], group, "{name}");
        for (id, job) in workflow["jobs"].as_object().unwrap() {
            let at = format!("{name}: {id}");
            // Only a job that calls another workflow can hand its secrets on.
            assert!(job["uses"].is_null() && job["secrets"].is_null(), "{at}");
            assert!(
                job["concurrency"].is_null() || job["concurrency"]["cancel-in-progress"] == false,
                "{at}"
            );
            let timeout = &job["timeout-minutes"];
            match id.as_str() {
                "plan" => assert_eq!(timeout, 10, "{at}"),
                "publish" => assert_eq!(timeout, 60, "{at}"),
                id if id.starts_with("build") => {
                    assert_eq!(timeout, "${{ fromJSON(matrix.timeout) }}", "{at}");
                }
                _ => assert!(
                    timeout.as_u64().is_some_and(|minutes| minutes <= 60),
                    "{at}"
                ),
            }
        }
        assert!(!text.contains("inherit"), "{name}");
    }
}

/// The legs that the workflow gets have what its steps read, each value a text and each id
/// once.
#[test]
fn legs_have_every_value_that_the_steps_read() {
    let project = project("test: {runner: mi300x, gpu: required}\n");
    let outputs = project.run(&["plan", "--github-output"]).exits(0).stdout;
    let value = |name: &str| {
        outputs
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{name}=")))
            .unwrap()
    };
    let legs = |name: &str| {
        serde_json::from_str::<Value>(value(name)).unwrap()["include"]
            .as_array()
            .unwrap()
            .clone()
    };
    let read = regex::Regex::new(r"matrix\.([a-z]+)").unwrap();
    let workflow: Value = serde_yaml::from_str(&rendered(&project, &[])).unwrap();
    for (job, output) in [("build", "matrix_0"), ("gpu-test", "test_0")] {
        let text = workflow["jobs"][job].to_string();
        let legs = legs(output);
        assert_eq!(legs.len(), 1);
        for leg in &legs {
            assert!(
                leg.as_object().unwrap().values().all(Value::is_string),
                "{leg}"
            );
            for found in read.captures_iter(&text) {
                assert!(leg[&found[1]].is_string(), "{job} reads {}", &found[1]);
            }
        }
    }
    assert_eq!(
        legs("test_0")[0]["runner"],
        "[\"linux-gfx942-1gpu-ccs-ossci-rocm\"]"
    );
    assert_eq!(
        (&legs("matrix_0")[0]["timeout"], &legs("matrix_0")[0]["cap"]),
        (&"355".into(), &"330".into())
    );
}

#[test]
fn a_written_workflow_passes_the_check_until_someone_edits_it() {
    let project = project("");
    let out = ".github/workflows/wheels.yml";
    let outcome = project.run(&["render", "workflow", "--out", out]).exits(0);
    assert_eq!(outcome.stderr, format!("wrote {out}\n"));
    assert_eq!(
        project
            .run(&["render", "workflow", "--out", out])
            .exits(0)
            .stderr,
        format!("unchanged: {out}\n")
    );
    let outcome = project.run(&["render", "workflow", "--check"]).exits(0);
    assert_eq!(outcome.stderr, format!("{out} is up to date\n"));
    let text = std::fs::read_to_string(project.path(out)).unwrap();
    std::fs::write(
        project.path(out),
        text.replace("max-parallel: 20", "max-parallel: 21"),
    )
    .unwrap();
    let outcome = project.run(&["render", "workflow", "--check"]).exits(1);
    assert!(
        outcome
            .stderr
            .contains("is `      max-parallel: 21`, should be `      max-parallel: 20`"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stdout.starts_with(&format!("--- {out}\n+++ ")),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome
            .stdout
            .contains("\n-      max-parallel: 21\n+      max-parallel: 20\n"),
        "{}",
        outcome.stdout
    );
    std::fs::remove_file(project.path(out)).unwrap();
    let outcome = project.run(&["render", "workflow", "--check"]).exits(1);
    assert!(
        outcome.stderr.contains("the file does not exist"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stdout.contains("\n+name: flash-attn wheels\n"),
        "{}",
        outcome.stdout
    );
    assert!(!project.has(out));
}

#[test]
fn what_is_printed_is_what_is_checked_and_what_is_written() {
    let project = project("");
    let printed = project.run(&["render", "workflow"]).exits(0).stdout;
    let printed = printed.replace("[VERSION]", env!("CARGO_PKG_VERSION"));
    let project = project.file(".github/workflows/wheels.yml", &printed);
    let _ = project.run(&["render", "workflow", "--check"]).exits(0);
    let outcome = project
        .run(&[
            "render",
            "workflow",
            "--out",
            ".github/workflows/wheels.yml",
        ])
        .exits(0);
    assert_eq!(outcome.stderr, "unchanged: .github/workflows/wheels.yml\n");
}

#[test]
fn a_file_that_github_would_not_run_is_warned_of() {
    let project = project("");
    for (out, is_run) in [
        (".github/workflows/a.yml", true),
        ("./.github/workflows/b.yaml", true),
        ("wheels.yml", false),
        (".github/workflows/wheels.txt", false),
        (".github/workflows/more/wheels.yml", false),
    ] {
        let outcome = project.run(&["render", "workflow", "--out", out]).exits(0);
        let content = format!("warning[P051 workflow-elsewhere]: GitHub does not run `{out}`\n");
        assert_eq!(
            outcome.stderr.contains(&content),
            !is_run,
            "{out}: {}",
            outcome.stderr
        );
    }
}

#[test]
fn pull_requests_plan_when_a_file_is_added_or_a_folder_that_is_read_changes() {
    let paths = |project: &Project, arguments: &[&str]| {
        let workflow: Value = serde_yaml::from_str(&rendered(project, arguments)).unwrap();
        workflow["on"]["pull_request"]["paths"].clone()
    };
    let any = ["matrices/*.yaml", "matrices/*.yml"];
    assert_eq!(paths(&project(""), &[]), serde_json::json!(any));
    assert_eq!(
        paths(&project(""), &["./matrices//flash-attn.yaml"]),
        serde_json::json!(["matrices/flash-attn.yaml"])
    );
    let own = project("")
        .copy("matrices/compat", "facts")
        .copy("matrices/recipes", "recipes");
    let found = paths(&own, &["--compat", "./facts", "--recipes", "recipes/"]);
    assert_eq!(
        found,
        serde_json::json!([
            "matrices/*.yaml",
            "matrices/*.yml",
            "recipes/**",
            "facts/**"
        ])
    );
    let root = project("").file(
        "flash-attn.yaml",
        include_str!("../../matrices/recipes/flash-attn.yaml"),
    );
    assert_eq!(
        paths(&root, &["--recipes", "./", "matrices/flash-attn.yaml"])[1],
        "**"
    );
    let strange = project("").file("a[1].yaml", &matrix(""));
    assert_eq!(
        paths(&strange, &["a[1].yaml"]),
        Value::Null,
        "as a pattern it would be another name"
    );
}

#[test]
fn a_workflow_that_someone_wrote_is_kept() {
    let project = project("").file("ci.yml", "name: mine\n");
    let outcome = project
        .run(&["render", "workflow", "--out", "ci.yml"])
        .exits(1);
    assert!(
        outcome
            .stderr
            .starts_with("error[P046 not-rendered]: `ci.yml` was not generated"),
        "{}",
        outcome.stderr
    );
    assert_eq!(project.read("ci.yml"), "name: mine\n");
}

/// Runs `render workflow --out w.yml` and gives what it says; nothing may be written.
fn refused(project: &Project, arguments: &[&str]) -> String {
    let outcome = project
        .run(&[&["render", "workflow", "--out", "w.yml"], arguments].concat())
        .exits(1);
    assert!(!project.has("w.yml") && outcome.stdout.is_empty());
    outcome.stderr
}

#[test]
fn options_differ_only_between_workflows() {
    let two = |fields: &str| {
        project("").file(
            "matrices/other.yaml",
            &matrix(fields).replace("2.7.4.post1", "2.7.4"),
        )
    };
    let messages = refused(&two("workflow: {cache: on}\n"), &[]);
    assert!(
        messages.contains(
            "error[P040 options-differ]: the files of a workflow have different `workflow`\n"
        ),
        "{messages}"
    );
    let messages = refused(&two("release: {pages: true}\n"), &[]);
    assert!(
        messages.contains(
            "error[P040 options-differ]: the files of a workflow have different `release`\n"
        ),
        "{messages}"
    );
    let _ = rendered(&two("secrets: [HF_TOKEN]\n"), &[]);
}

#[test]
fn files_that_cannot_share_a_workflow_are_reported_once() {
    let version = |fields: &str, version: &str| matrix(fields).replace("2.7.4.post1", version);
    let fields = "workflow: {tags: [\"wheels-*\"]}\nrelease: {make-latest: \"false\"}\n";
    let project = project("")
        .file("matrices/it's other.yaml", &version(fields, "2.7.4"))
        .file("matrices/third.yaml", &version("", "2.6.3"));
    let messages = refused(&project, &[]);
    assert_eq!(messages.matches("error[").count(), 1, "{messages}");
    assert!(
        messages.contains("have different `release` and `workflow`\n"),
        "{messages}"
    );
    assert_eq!(
        messages
            .matches("differs from `matrices/flash-attn.yaml`")
            .count(),
        2,
        "{messages}"
    );
    let (_, help) = messages.split_once("help: ").unwrap();
    assert_eq!(
        help.trim_end(),
        "use the same values in each, or render several workflows with different tags: \
         `rock-matrix render workflow matrices/flash-attn.yaml matrices/third.yaml --out .github/workflows/flash-attn.yml`, \
         `rock-matrix render workflow 'matrices/it'\\''s other.yaml' --out '.github/workflows/it'\\''s other.yml'`"
    );
    let words = [
        "matrices/flash-attn.yaml",
        "matrices/third.yaml",
        "--out",
        ".github/workflows/flash-attn.yml",
    ];
    let _ = project
        .run(&[&["render", "workflow"], &words[..]].concat())
        .exits(0);
}

#[test]
fn a_file_for_windows_is_left_out_of_a_workflow_that_names_no_files() {
    let windows = matrix("platform: windows\nrunner: windows-2022\n")
        .replace("6.2", "7.2")
        .replace("2.5.1", "2.9.1");
    let fields = "torch-from: host\npython-from: host\nunknown: lenient\n";
    let project = project("").file("matrices/win.yaml", &format!("{windows}{fields}"));
    let outcome = project.run(&["render", "workflow"]).exits(0);
    let message = "note[B007 windows-job]: `matrices/win.yaml` is not part of the workflow: its jobs are for Windows\n";
    assert!(outcome.stderr.starts_with(message), "{}", outcome.stderr);
    assert!(
        outcome
            .stderr
            .contains("`rock-matrix render script matrices/win.yaml --out rendered/`"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome
            .stdout
            .contains("rock-matrix render workflow matrices/flash-attn.yaml --out "),
        "{}",
        outcome.stdout
    );
    assert!(
        !outcome.stdout.contains("win.yaml"),
        "what runs plans the same files"
    );
    let _ = project
        .run(&[
            "render",
            "script",
            "matrices/win.yaml",
            "--out",
            "rendered/",
        ])
        .exits(0);
    let named = refused(&project, &["matrices/win.yaml"]);
    assert!(
        named.contains("error[B007 windows-job]: a workflow cannot build jobs for Windows"),
        "{named}"
    );
    std::fs::remove_file(project.path("matrices/flash-attn.yaml")).unwrap();
    assert!(
        refused(&project, &[]).contains("error[B007 windows-job]"),
        "a workflow of no files is none"
    );
}

#[test]
fn a_path_that_is_not_in_the_checkout_is_refused() {
    let odd = "a ${{ github.actor }}.yaml";
    for name in [odd, "up/../m.yaml"] {
        let project = Project::new()
            .file("up/x", "")
            .file("m.yaml", &matrix(""))
            .file(odd, &matrix(""));
        let messages = refused(&project, &[name]);
        assert!(
            messages.contains("error[P041 path-not-in-checkout]"),
            "{messages}"
        );
    }
    let project = project("");
    let absolute = project.path("matrices/flash-attn.yaml");
    let messages = refused(&project, &[absolute.to_str().unwrap()]);
    assert!(
        messages.contains("is not below the repository's root"),
        "{messages}"
    );
    // Nor is one that was found instead of named.
    for name in [odd, "a\u{2028}on: push.yaml", "a\non: push.yaml"] {
        let fields = "enabled: false\nrelease: {pages: true}\n";
        let project = Project::new().file(&format!("matrices/{name}"), &matrix(fields));
        let messages = refused(&project, &[]);
        assert!(
            messages.contains("error[P041 path-not-in-checkout]")
                && messages.contains("help: rename it"),
            "{messages}"
        );
    }
}

/// Names that mean something to YAML or to a shell.
const STRANGE: [&str; 9] = [
    "it's $(x) \"q\".yaml",
    "a: b # c.yaml",
    "m #1.yaml",
    "{m}, &m.yaml",
    "|m.yaml",
    "%m `x`.yaml",
    "m\\n.yaml",
    "3.10.yaml",
    "größe 🚀.yaml",
];

/// Every word that a matrix file or a command line brings into the workflow is read from it as it
/// was.
#[test]
fn strange_words_read_back_as_they_were() {
    for name in STRANGE {
        let folder = name.replace(".yaml", "");
        let fields = "secrets: [\"TRUE\", \"NULL\", \"NO\"]\nrelease: {pages: true}\ntest: {runner: mi300x, gpu: required}\nworkflow: {tool: source}\n";
        let project = Project::new()
            .file(name, &matrix(fields))
            .copy("matrices/compat", &folder);
        let text = rendered(&project, &["--compat", &folder, name]);
        let workflow: Value =
            serde_yaml::from_str(&text).unwrap_or_else(|fault| panic!("{name}: {fault}\n{text}"));
        assert_eq!(workflow["name"], "flash-attn wheels");
        // A path filter takes some of these signs for patterns, so such a name has none.
        let is_pattern = name.contains(['*', '?', '[', ']', '!', '+']);
        let paths = &workflow["on"]["pull_request"]["paths"];
        assert_eq!(
            *paths,
            if is_pattern {
                Value::Null
            } else {
                serde_json::json!([name, format!("{folder}/**")])
            },
            "{text}"
        );
        let build = &workflow["jobs"]["build"];
        let env = &steps(build).find(|step| step["id"] == "build").unwrap()["env"];
        for secret in ["TRUE", "NULL", "NO"] {
            assert_eq!(env[secret], format!("${{{{ secrets.{secret} }}}}"), "{env}");
        }
        let mut seen = 0;
        for (id, job) in workflow["jobs"].as_object().unwrap() {
            for step in steps(job).filter(|step| step["run"].is_string()) {
                let script = step["run"].as_str().unwrap().replace("\\\n", " ");
                for line in script
                    .lines()
                    .filter(|line| line.trim_start().starts_with("rock-matrix "))
                {
                    let words = shlex::split(line).unwrap_or_else(|| panic!("{id}: {line}"));
                    assert_eq!(words[1..3], ["--compat", &folder], "{id}: {line}");
                    let names_it = line.contains(" check ") && id == "plan"
                        || line.contains(" --github-output ")
                        || line.contains(" --rules ");
                    assert_eq!(
                        words.iter().any(|word| word == name),
                        names_it,
                        "{id}: {line}"
                    );
                    seen += usize::from(names_it);
                }
            }
        }
        assert_eq!(seen, 3, "check, plan, and the index of the pages\n{text}");
    }
}

#[test]
fn an_action_without_commit_is_never_made_up() {
    let project = project("").copy("matrices/compat", "facts");
    let text = project.read("facts/actions.yaml");
    let kept: Vec<&str> = text
        .lines()
        .filter(|line| !line.contains("name: actions/attest,"))
        .collect();
    let project = project.file("facts/actions.yaml", &(kept.join("\n") + "\n"));
    let messages = refused(&project, &["--compat", "facts"]);
    assert!(
        messages.contains(
            "error[P042 action-without-commit]: the compatibility data has no commit of \
             `actions/attest`"
        ),
        "{messages}"
    );
    // Where the facts have a commit of the tool's own action, that is used.
    let row = text
        .lines()
        .find(|line| line.contains("actions/attest"))
        .unwrap()
        .replace("actions/attest", "org/rock-action");
    let project = project.file("facts/actions.yaml", &format!("{text}{row}\n"));
    let workflow = rendered(&project, &["--compat", "facts"]);
    assert!(
        workflow
            .contains("uses: org/rock-action@1e69f48acb82d1966a394da916b4c1698aa569d6 # v4.2.2"),
        "{workflow}"
    );
}

#[test]
fn too_many_artifacts_are_reported_before_anything_is_written() {
    let arguments = ["--recipes", "recipes"];
    let messages = refused(&many(Project::new(), 501), &arguments);
    insta::assert_snapshot!(messages, @r"
    error[P043 too-many-artifacts]: the workflow would have 501 artifacts with wheels, but a job can download at most 500
     = note: one run has a matrix for each 256 jobs, and publishes all its wheels together
    help: give each workflow fewer matrix files, or list fewer values
    ");
    let _ = refused(&many(Project::new(), 5000), &arguments);
    let note = |jobs: usize| {
        let shown = many(Project::new(), jobs)
            .run(&[&["plan"], &arguments[..]].concat())
            .exits(0)
            .stdout;
        shown
            .lines()
            .find(|line| line.starts_with("note: "))
            .unwrap_or_default()
            .to_owned()
    };
    assert_eq!(
        [note(256), note(500), note(501)],
        [
            "",
            "note: 500 jobs make 2 matrices of at most 256; a rendered workflow has them in one run, up to 500 jobs",
            "note: 501 jobs make 2 matrices of at most 256; a rendered workflow has up to 500 jobs, so render several with fewer matrix files each",
        ]
    );
    let workflow: Value =
        serde_yaml::from_str(&rendered(&many(Project::new(), 500), &arguments)).unwrap();
    assert_eq!(
        workflow["jobs"]["publish"]["timeout-minutes"], 315,
        "more than an hour's worth of files"
    );
}

/// Jobs that leave several wheels each, as those of torch do.
fn of_several_wheels(jobs: usize, further: usize) -> Project {
    let project = many(Project::new(), jobs);
    let wheels: String = (0..further)
        .map(|at| format!("  - {{distribution: more-{at}}}\n"))
        .collect();
    let recipe = project
        .read("recipes/many.yaml")
        .replace("steps:", &format!("wheels:\n{wheels}steps:"));
    project.file("recipes/many.yaml", &recipe)
}

/// GitHub counts files: 112 jobs of four wheels each, with the two documents of a release, are sent
/// within an hour.
#[test]
fn the_files_of_a_release_are_counted_and_not_its_jobs() {
    let slow = |jobs: usize, further: usize| {
        let workflow: Value = serde_yaml::from_str(&rendered(
            &of_several_wheels(jobs, further),
            &["--recipes", "recipes"],
        ))
        .unwrap();
        let has = |job: &str, command: &str| {
            let scripts = steps(&workflow["jobs"][job]).filter_map(|step| step["run"].as_str());
            scripts
                .filter(|script| script.contains(command))
                .all(|script| script.contains(" --slow "))
        };
        let found = (
            has("plan", " release preflight "),
            has("publish", " publish --repo "),
        );
        (
            found,
            workflow["jobs"]["publish"]["timeout-minutes"]
                .as_u64()
                .unwrap(),
        )
    };
    assert_eq!(slow(112, 3), ((false, false), 60));
    assert_eq!(slow(113, 3), ((true, true), 315));
    assert_eq!(slow(120, 3), ((true, true), 315));
}

/// actions/attest, README, `subject-checksums`: "up to 1024 subjects".
#[test]
fn files_that_one_attestation_does_not_take_are_refused() {
    let arguments = ["--recipes", "recipes"];
    let _ = rendered(&of_several_wheels(256, 3), &arguments);
    let project = of_several_wheels(257, 3);
    insta::assert_snapshot!(refused(&project, &arguments), @r"
    error[P067 too-many-subjects]: the workflow would attest 1028 files, but one attestation covers at most 1024
    help: give each workflow fewer matrix files, or set `attest: off` under `release`
    ");
    let matrix = project.read("matrices/many.yaml") + "release: {attest: off}\n";
    let _ = rendered(&project.file("matrices/many.yaml", &matrix), &arguments);
}

#[test]
fn jobs_are_256_a_matrix_and_none_are_legal() {
    let jobs = |count: usize| {
        let project = many(Project::new(), count);
        let workflow: Value =
            serde_yaml::from_str(&rendered(&project, &["--recipes", "recipes"])).unwrap();
        workflow["jobs"]
            .as_object()
            .unwrap()
            .keys()
            .filter(|id| id.starts_with("build"))
            .cloned()
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (jobs(256), jobs(257)),
        (
            vec!["build".to_owned()],
            vec!["build-0".to_owned(), "build-1".to_owned()]
        )
    );
    let empty = project("enabled: false\n");
    let outcome = empty.run(&["render", "workflow"]).exits(0);
    assert!(
        outcome.stderr.starts_with("warning[P014 empty-plan]"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome
            .stdout
            .contains("if: needs.plan.outputs.count != '0'"),
        "{}",
        outcome.stdout
    );
    let step = project("enabled: false\n").env("GITHUB_ACTIONS", "true");
    let errors = step.run(&["plan", "--github-output"]).exits(0).stderr;
    assert!(
        errors.contains("::warning title=P014 empty-plan::the plan has no jobs"),
        "{errors}"
    );
    let errors = step
        .run(&["plan", "--github-output", "--fail-empty"])
        .exits(1)
        .stderr;
    assert!(
        errors.contains("::error title=P014 empty-plan::the plan has no jobs"),
        "{errors}"
    );
}

#[test]
fn a_workflow_larger_than_github_permits_is_not_written() {
    // Every path of a long folder stands in the file some times.
    let files = |count: usize| -> Vec<String> {
        (0..count)
            .map(|number| format!("{}/{number}.yaml", ["d".repeat(200).as_str(); 18].join("/")))
            .collect()
    };
    let run = |count: usize| {
        let project =
            files(count)
                .iter()
                .enumerate()
                .fold(Project::new(), |project, (number, path)| {
                    project.file(
                        path,
                        &matrix("").replace("\"2.7.4.post1\"", &format!("\"2.7.4.post{number}\"")),
                    )
                });
        let paths = files(count);
        let arguments = ["render", "workflow", "--out", "w.yml"]
            .into_iter()
            .chain(paths.iter().map(String::as_str));
        let ran = project.run(&arguments.collect::<Vec<_>>());
        (project, ran)
    };
    let (project, ran) = run(40);
    let errors = ran.exits(1).stderr;
    assert!(
        errors.contains("error[P044 workflow-too-large]: the workflow has "),
        "{errors}"
    );
    assert!(!project.has("w.yml"), "nothing is written");
    let (project, ran) = run(20);
    let errors = ran.exits(0).stderr;
    assert!(
        errors.contains("warning[P044 workflow-too-large]: the workflow has "),
        "{errors}"
    );
    assert!((256_001..=512_000).contains(&project.read("w.yml").len()));
}

/// A label that the facts do not have is reported at its line, since a job waits for ever where it
/// is mistyped.
#[test]
fn an_unknown_runner_is_reported_at_its_line_of_the_matrix_file() {
    let facts = |keep: bool| {
        let project = project("runner: mi300x\n").copy("matrices/compat", "facts");
        let project = project.env("GITHUB_ACTIONS", "true").env("NO_COLOR", "1");
        let table = project.read("facts/runners.yaml");
        let row = table.find("  - name: mi300x").unwrap();
        let end = row + table[row..].find("  - name: mi350").unwrap();
        let table = if keep {
            table
        } else {
            format!("{}{}", &table[..row], &table[end..])
        };
        project.file("facts/runners.yaml", &table)
    };
    for command in [&["plan"][..], &["render", "workflow"]] {
        let arguments = [command, &["--compat", "facts"]].concat();
        assert!(!facts(true).run(&arguments).exits(0).stderr.contains("M042"));
        let outcome = facts(false).run(&arguments).exits(0);
        let messages = "warning[M042 unknown-runner]: unknown runner `mi300x`\n  --> \
            matrices/flash-attn.yaml:10:9\n";
        assert!(outcome.stderr.contains(messages), "{}", outcome.stderr);
        let annotation = "::warning file=matrices/flash-attn.yaml,line=10,endLine=10,col=9,endColumn=15,title=M042 unknown-runner::";
        assert!(outcome.stderr.contains(annotation), "{}", outcome.stderr);
    }
}

/// The plan of a day may have grown since the workflow was rendered.
#[test]
fn more_matrices_than_the_workflow_has_jobs_for_fail_the_plan() {
    let project = many(Project::new(), 257);
    let plan = |most: &'static str| {
        [
            "plan",
            "--recipes",
            "recipes",
            "--github-output",
            "--most-matrices",
            most,
        ]
    };
    let outcome = project.run(&plan("1")).exits(1);
    assert!(
        outcome
            .stderr
            .contains("error[P047 more-jobs]: the plan has 2 matrices"),
        "{}",
        outcome.stderr
    );
    assert!(outcome.stdout.is_empty());
    let _ = project.run(&plan("2")).exits(0);
    let outcome = project.run(&plan("0")).exits(2);
    assert!(
        outcome
            .stderr
            .contains("invalid value '0' for '--max-shards <N>'"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn builds_without_cache_that_need_several_attempts_are_reported() {
    let long = |fields: &str| {
        let project = Project::new().file(
            "matrices/m.yaml",
            &matrix(fields).replace("[triton]", "[ck]"),
        );
        project.run(&["render", "workflow"]).exits(0).stderr
    };
    let messages = long("workflow: {cache: off}\n");
    assert!(
        messages.starts_with("warning[P045 builds-without-cache]: 1 build"),
        "{messages}"
    );
    assert!(
        messages.contains("does not fit 6 h; about ") && messages.contains("matrices/m.yaml:10:"),
        "{messages}"
    );
    assert_eq!(long("workflow: {cache: on}\n"), "");
    assert_eq!(long("runner: self-hosted\n"), "");
    let checked = |fields: &str| {
        let text = matrix(fields).replace("[triton]", "[ck]");
        let project = Project::new().file("m.yaml", &text);
        project.run(&["check", "m.yaml"]).exits(0).stderr
    };
    let messages = checked("workflow: {cache: off}\n");
    assert!(
        messages.contains("warning[P045 builds-without-cache]: 1 build"),
        "{messages}"
    );
    for fields in ["workflow: {cache: on}\n", ""] {
        let messages = checked(fields);
        assert!(!messages.contains("P045"), "{messages}");
    }
}

#[test]
fn a_bad_job_variable_is_reported_and_a_leg_names_its_job() {
    let build =
        |value: &str| project("torch-from: host\npython-from: host\n").env("ROCK_JOB", value);
    let arguments = ["build", "--job-env", "ROCK_JOB", "--dry-run"];
    for (value, why) in [
        ("", "is not set"),
        ("{", "is not JSON"),
        ("[1]", "not an object with an `id`"),
        ("{\"id\":3}", "not an object"),
    ] {
        let outcome = build(value).run(&arguments).exits(1);
        assert!(
            outcome
                .stderr
                .starts_with("error[P048 bad-job-variable]: the variable `ROCK_JOB`"),
            "{}",
            outcome.stderr
        );
        assert!(outcome.stderr.contains(why), "{}", outcome.stderr);
    }
    let leg = "{\"id\":\"flash-attn-2.7.4.post1-rocm6.2-torch2.5.1-triton\",\"runner\":\"[\\\"ubuntu-22.04\\\"]\"}";
    let outcome = build(leg).run(&arguments).exits(0);
    assert!(
        outcome
            .stdout
            .contains("== flash-attn-2.7.4.post1-rocm6.2-torch2.5.1-triton"),
        "{}",
        outcome.stdout
    );
}

/// A wheel is tested on another machine than the one that built it, and nothing is built there.
#[test]
fn a_test_elsewhere_takes_the_wheel_and_builds_nothing() {
    let toy = Toy::building("echo built >>order; exit 1");
    let (_, stderr) = toy.test(0, &["--dist", "wheels", "--continue", "auto"]);
    assert!(stderr.contains("[1/1] smoke-test"), "{stderr}");
    assert!(
        toy.path(&format!(".rock/{JOB}/tested/dist/{WHEEL}"))
            .exists()
            && !toy.path(&format!(".rock/{JOB}/order")).exists()
    );
    let (_, stderr) = toy.test(1, &["--dist", "recipes", "--continue", "auto"]);
    assert!(
        stderr.contains("`recipes` has 0 wheels of the job"),
        "{stderr}"
    );
}

#[test]
fn the_summary_of_a_plan_has_every_estimate() {
    let text = matrix("").replace("[triton]", "[ck]");
    let project = Project::new().file("matrices/m.yaml", &text);
    let project = project
        .env("GITHUB_STEP_SUMMARY", "summary.md")
        .env("GITHUB_OUTPUT", "outputs");
    let _ = project.run(&["plan", "--github-output"]).exits(0);
    let summary = project.read("summary.md");
    assert!(
        summary.contains("### 1 job\n\nBuilds take about "),
        "{summary}"
    );
    assert!(
        summary.contains(" runner-hours in total")
            && summary.contains("| wheel | gfx targets | runner | estimate |\n| --- |"),
        "{summary}"
    );
    assert!(
        summary.contains("| gfx90a gfx942 | ubuntu-22.04 |")
            && summary.contains("does not fit 6 h"),
        "{summary}"
    );
    assert!(
        project
            .read("outputs")
            .starts_with("count=1\nhas_jobs=true\n")
    );
}

/// Edits of `.github/workflows/wheels.yml` are lost, so nobody shall make them: the file is what
/// its matrix says.
#[test]
fn the_workflow_of_this_repository_is_what_would_be_rendered() {
    let out = ".github/workflows/wheels.yml";
    let project = Project::new()
        .copy(".github/workflows", ".github/workflows")
        .copy("matrices", "matrices");
    let outcome = project
        .run(&[
            "render",
            "workflow",
            "matrices/flash-attn.yaml",
            "--out",
            out,
            "--check",
        ])
        .exits(0);
    assert_eq!(
        outcome.stderr,
        format!("{out} is up to date\n"),
        "{}",
        outcome.stdout
    );
    // Tags of the program and tags of its wheels are never the same.
    let workflow: Value =
        serde_yaml::from_str(&std::fs::read_to_string(project.path(out)).unwrap()).unwrap();
    assert_eq!(
        workflow["on"]["push"]["tags"],
        serde_json::json!(["flash-attn-*"])
    );
}

#[test]
fn patterns_of_tags_are_patterns() {
    let stderr_of = |tags: &str| refused(&project(&format!("workflow: {{tags: {tags}}}\n")), &[]);
    for tags in [
        "[]",
        "[\"\"]",
        "[\"v 1\"]",
        "[\"v${{ github.ref }}\"]",
        "[\"v\\n1\"]",
    ] {
        assert!(
            stderr_of(tags).contains("write a pattern such as `v*`"),
            "{tags}: {}",
            stderr_of(tags)
        );
    }
    // What the job `publish` would refuse after all builds is refused before the first.
    for tags in ["[\"release/*\"]", "[\"v*\", \"**\"]"] {
        assert!(
            stderr_of(tags).starts_with("error[G013 bad-tag]"),
            "{tags}: {}",
            stderr_of(tags)
        );
    }
}

/// Recipes may build from the checkout itself, so pull requests that change it are planned.
#[test]
fn pull_requests_plan_when_a_source_of_the_checkout_changes() {
    let hip = include_str!("../../examples/quickstart/hip-extension.yaml");
    let paths = |source: &str| {
        let vars = hip.replace(
            "source: examples/hip-extension",
            &format!("source: {source}"),
        );
        let project = Project::new().file(
            "matrices/hip.yaml",
            if source.is_empty() { hip } else { &vars },
        );
        let workflow: Value =
            serde_yaml::from_str(&rendered(&project, &["matrices/hip.yaml"])).unwrap();
        assert!(workflow["on"].get("merge_group").is_some());
        workflow["on"]["pull_request"]["paths"].to_string()
    };
    insta::assert_snapshot!(paths("native/ext"), @r#"
    ["matrices/hip.yaml","native/ext","native/ext/**"]
    "#);
    insta::assert_snapshot!(paths("."), @r#"
    ["matrices/hip.yaml","**"]
    "#);
}

/// Nothing runs for a merge queue but what runs for its pull requests.
#[test]
fn merge_queues_run_what_pull_requests_run() {
    let of = |mode: &str| {
        let text = rendered(
            &project(&format!("workflow: {{pr-run-mode: {mode}}}\n")),
            &[],
        );
        let workflow: Value = serde_yaml::from_str(&text).unwrap();
        (
            workflow["on"].get("merge_group").is_some(),
            workflow["jobs"]["build"]["if"].as_str().unwrap().to_owned(),
        )
    };
    let (listens, when) = of("plan");
    assert!(
        listens
            && when.ends_with(
                "&& github.event_name != 'pull_request' && github.event_name != 'merge_group'"
            )
    );
    let (listens, when) = of("build");
    assert!(listens && !when.contains("merge_group"), "{when}");
    assert!(!of("skip").0);
}

/// A nightly that lacks one wheel builds one wheel.
#[test]
fn runs_of_tags_build_only_what_is_not_published() {
    let step = |fields: &str| {
        let workflow: Value = serde_yaml::from_str(&rendered(&project(fields), &[])).unwrap();
        steps(&workflow["jobs"]["plan"])
            .find(|step| step["id"] == "plan")
            .unwrap()
            .clone()
    };
    let by_default = step("");
    assert_eq!(by_default["env"]["GITHUB_TOKEN"], "${{ github.token }}");
    let script = format!(
        "rock-matrix() {{ echo \"$*\"; }}\n{}",
        by_default["run"].as_str().unwrap()
    );
    let run = |kind: &str| {
        let mut bash = std::process::Command::new("bash");
        bash.args(["-euo", "pipefail", "-c", &script])
            .env("GITHUB_REF_TYPE", kind)
            .env("GITHUB_REPOSITORY", "me/wheels");
        String::from_utf8(bash.output().unwrap().stdout).unwrap()
    };
    let rest = "--github-output --max-shards 1 --max-legs 1 --format json --out plan.json\n";
    assert_eq!(run("tag"), format!("plan --published me/wheels {rest}"));
    assert_eq!(run("branch"), format!("plan {rest}"));
    let off = step("workflow: {incremental: false}\n");
    assert_eq!(
        (off["run"].as_str().unwrap(), &off["env"]),
        (format!("rock-matrix plan {rest}").trim_end(), &Value::Null)
    );
}

fn workflow_of(project: &Project, arguments: &[&str]) -> Value {
    serde_yaml::from_str(&rendered(project, arguments)).unwrap()
}

#[test]
fn the_matrix_file_determines_whether_a_release_is_a_prerelease() {
    for word in ["auto", "true", "false"] {
        let workflow = workflow_of(
            &project(&format!("release: {{prerelease: \"{word}\"}}\n")),
            &[],
        );
        let mut scripts =
            steps(&workflow["jobs"]["publish"]).filter_map(|step| step["run"].as_str());
        let script = scripts
            .find(|script| script.contains(" publish --repo "))
            .unwrap();
        assert!(
            script.contains(&format!(" --prerelease={word} ")),
            "{script}"
        );
    }
}

/// A status function takes the place of the `success()` that GitHub puts before every other
/// condition (GitHub Docs, "Evaluate expressions in workflows and actions", "Status check
/// functions"), so what a matrix only waits for may fail or be skipped.
#[test]
fn a_matrix_that_waits_runs_however_the_earlier_one_ended() {
    let project = many(Project::new(), 257);
    let fields = "workflow: {max-parallel: 1}\ntest: {runner: mi300x, gpu: required}\n";
    let text = project.read("matrices/many.yaml") + fields;
    let workflow = workflow_of(
        &project.file("matrices/many.yaml", &text),
        &["--recipes", "recipes"],
    );
    let lanes = ["build-0", "build-1", "gpu-test-0", "gpu-test-1"].map(|id| {
        let job = &workflow["jobs"][id];
        let needs = job["needs"]
            .as_array()
            .map(|needs| needs.iter().filter_map(Value::as_str).collect::<Vec<_>>());
        let needs = needs
            .unwrap_or_else(|| vec![job["needs"].as_str().unwrap()])
            .join(", ");
        format!("{id} after {needs}\n  {}\n", job["if"].as_str().unwrap())
    });
    insta::assert_snapshot!(lanes.concat(), @r"
    build-0 after plan
      needs.plan.outputs.count != '0' && github.event_name != 'pull_request' && github.event_name != 'merge_group'
    build-1 after plan, build-0
      ${{ !cancelled() && needs.plan.result == 'success' && needs.plan.outputs.matrix_1 != '' && github.event_name != 'pull_request' && github.event_name != 'merge_group' }}
    gpu-test-0 after plan, build-0
      needs.plan.outputs.test_0 != '' && github.event_name != 'pull_request' && github.event_name != 'merge_group'
    gpu-test-1 after plan, build-1, gpu-test-0
      ${{ !cancelled() && needs.build-1.result == 'success' && needs.plan.outputs.test_1 != '' && github.event_name != 'pull_request' && github.event_name != 'merge_group' }}
    ");
}

/// Legs of each matrix are counted from 0, and the job of the matrix has an output for each number.
#[test]
fn each_leg_of_each_matrix_has_an_output() {
    let project = many(Project::new(), 258);
    let outputs = project
        .run(&["plan", "--recipes", "recipes", "--github-output"])
        .exits(0)
        .stdout;
    let workflow = workflow_of(&project, &["--recipes", "recipes"]);
    for (number, expected) in [(0, 256), (1, 2)] {
        let matrix = outputs
            .lines()
            .find_map(|line| line.strip_prefix(&format!("matrix_{number}=")))
            .unwrap();
        let legs = serde_json::from_str::<Value>(matrix).unwrap()["include"]
            .as_array()
            .unwrap()
            .clone();
        let numbers: Vec<&str> = legs.iter().map(|leg| leg["n"].as_str().unwrap()).collect();
        assert_eq!(
            numbers,
            (0..expected).map(|n| n.to_string()).collect::<Vec<_>>()
        );
        let declared = workflow["jobs"][format!("build-{number}")]["outputs"]
            .as_object()
            .unwrap();
        assert_eq!(declared.len(), expected);
        for n in numbers {
            let value = format!("${{{{ matrix.n == '{n}' && steps.leg.outputs.report || '' }}}}");
            assert_eq!(declared[&format!("leg_{n}")], value);
        }
    }
}

/// Images, wheels and their copies take more than the 14 GB of a hosted runner.
#[test]
fn jobs_that_hold_images_or_wheels_free_their_disk() {
    let workflow = workflow_of(&project("test: {runner: mi300x, gpu: required}\n"), &[]);
    let frees = |id: &str| steps(&workflow["jobs"][id]).any(|step| step["name"] == "Free disk");
    let jobs = workflow["jobs"].as_object().unwrap().keys();
    assert_eq!(
        jobs.filter(|id| frees(id)).collect::<Vec<_>>(),
        ["build", "gpu-test", "publish"]
    );
}
