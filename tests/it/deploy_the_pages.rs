//! The job `pages` of a rendered workflow, run as it stands: the site is about all releases, and
//! what is yanked stays so.

use std::collections::BTreeMap;
use std::process::Command;

use serde_json::{Value, json};

use crate::prune_releases::{aged_with as aged, tags};
use crate::support::{Outcome, Project, Wheel, pips};
use fake_github::model::state::fake_sha;
use fake_github::model::{FakeGithub, GithubSettings};
use fake_github::server::FakeServer;

const MATRIX: &str = "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\naxes:\n  flash-attn: [\"2.7.4.post1\"]\n  \
                      python: [\"3.11\"]\n  torch: [\"2.5.1\"]\n  rocm: [\"6.2\"]\n  backend: [triton]\n";
/// A reason that a shell, YAML and HTML each would take for something else.
const REASON: &str = "it's \"<b>\" & $(worn) `out`";
const FOLDER: &str = "rocm6.2-torch2.5";

fn name(version: &str) -> String {
    format!("flash_attn-{version}+rocm62torch2.5-py3-none-any.whl")
}

/// A repository whose matrix file yanks by these rules, with facts by which a release is full
/// at four wheels.
fn project(rules: &[&str]) -> Project {
    let rules = serde_json::to_string(rules).unwrap();
    let project = Project::new().copy("matrices/compat", "facts");
    let limits = project.read("facts/limits.yaml");
    let row = limits
        .lines()
        .find(|line| line.contains("name: release-assets,"))
        .unwrap();
    let few = limits.replace(row, &row.replace("value: 1000", "value: 14"));
    project
        .file("facts/limits.yaml", &few)
        .file(
            "matrices/m.yaml",
            &format!("{MATRIX}release: {{pages: true, yank: {rules}}}\n"),
        )
        .env("GITHUB_TOKEN", "writer")
}

fn publish(project: Project, server: &FakeServer, tag: &str, versions: &[&str]) -> Project {
    let add = |project: Project, version: &&str| {
        let wheel = Wheel::named(&name(version))
            .header("Requires-Python: >=3.8")
            .bytes();
        project.bytes(&format!("{tag}/{}", name(version)), &wheel)
    };
    let project = versions.iter().fold(project, add);
    server
        .github()
        .repository_mut("me/wheels")
        .tags
        .insert(tag.to_owned(), fake_sha(tag));
    let (url, facts) = (server.url(), ["--compat", "facts"]);
    let words = [
        "publish",
        "--repo",
        "me/wheels",
        "--tag",
        tag,
        "--dist",
        tag,
        "--api-url",
        &url,
    ];
    project.run(&[&facts[..], &words].concat()).exits(0);
    project
}

fn workflow(project: &Project) -> Value {
    serde_yaml::from_str(&project.run(&["render", "workflow"]).exits(0).stdout).unwrap()
}

/// Runs the scripts of the job of the rendered workflow in a new checkout: what an earlier run left
/// is not there.
fn deploy(project: &Project, server: &FakeServer) -> Outcome {
    run_job(project, server, &workflow(project)["jobs"]["pages"], &[])
}

/// Runs the scripts of a job, with these variables of its workflow.
fn run_job(
    project: &Project,
    server: &FakeServer,
    job: &Value,
    variables: &[(&str, &str)],
) -> Outcome {
    let runner = project.path("runner");
    let _ = std::fs::remove_dir_all(&runner);
    std::fs::create_dir_all(runner.join("bin")).unwrap();
    let steps = job["steps"].as_array().unwrap();
    if steps.iter().any(|step| {
        step["uses"]
            .as_str()
            .is_some_and(|uses| uses.starts_with("actions/checkout@"))
    }) {
        std::os::unix::fs::symlink(project.path("matrices"), runner.join("matrices")).unwrap();
    }
    // The program of the tests, which finds the fake where a real one finds GitHub.
    let program = format!(
        "#!/bin/bash\ncase \" $* \" in *\" me/wheels \"*) set -- \"$@\" --api-url {} ;; esac\nexec {} \"$@\"\n",
        server.url(),
        env!("CARGO_BIN_EXE_rock-matrix")
    );
    let program_path = runner.join("bin/rock-matrix");
    std::fs::write(&program_path, program).unwrap();
    std::fs::set_permissions(
        &program_path,
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    let token = if job["permissions"]["contents"] == "write" {
        "writer"
    } else {
        "reader"
    };
    let mut outcome = Outcome {
        stdout: String::new(),
        stderr: String::new(),
    };
    for step in steps.iter().filter(|step| step["run"].is_string()) {
        let mut bash = Command::new("bash");
        bash.args(["-e", "-o", "pipefail", "-c", step["run"].as_str().unwrap()])
            .current_dir(&runner);
        let path = std::env::var("PATH").unwrap();
        bash.env_clear()
            .env("PATH", format!("{}:{path}", runner.join("bin").display()));
        bash.env("GITHUB_REPOSITORY", "me/wheels")
            .env("GITHUB_REF_NAME", "v2")
            .env("GITHUB_SERVER_URL", server.url());
        bash.env("GITHUB_STEP_SUMMARY", runner.join("summary.md"))
            .envs(variables.iter().copied());
        for (variable, value) in step["env"].as_object().into_iter().flatten() {
            assert_eq!(value, "${{ github.token }}", "{variable}");
            bash.env(variable, token);
        }
        let ran = bash.output().unwrap();
        let stderr = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.success(), "{}: {stderr}", step["name"]);
        outcome
            .stdout
            .push_str(&String::from_utf8_lossy(&ran.stdout));
        outcome.stderr.push_str(&stderr);
    }
    outcome
}

/// The files of the index by name: address, and the reason why it is yanked.
fn listed(project: &Project) -> BTreeMap<String, (String, Option<String>)> {
    let page = project.read(&format!(
        "runner/site/simple/{FOLDER}/flash-attn/index.json"
    ));
    let page: Value = serde_json::from_str(&page).unwrap();
    let file = |file: &Value| {
        let text = |key: &str| file[key].as_str().map(str::to_owned);
        (
            text("filename").unwrap(),
            (text("url").unwrap(), text("yanked")),
        )
    };
    page["files"].as_array().unwrap().iter().map(file).collect()
}

#[test]
fn the_site_has_the_wheels_of_all_releases_and_marks_what_is_yanked() {
    let server = FakeServer::start(FakeGithub::new(GithubSettings::default()));
    let rule = format!("flash-attn==2.5.5+rocm62torch2.5: {REASON}");
    let first = ["2.5.1", "2.5.2", "2.5.3", "2.5.4", "2.5.5"];
    let project = publish(
        project(&[&rule, "flash-attn<2: long gone"]),
        &server,
        "v1",
        &first,
    );
    let project = publish(project, &server, "v2", &["2.8.3"]);
    let tags: Vec<String> = server
        .github()
        .repository("me/wheels")
        .releases
        .values()
        .map(|release| release.tag_name.clone())
        .collect();
    assert!(
        tags.contains(&"v1-2".to_owned()) && tags.len() == 3,
        "{tags:?}"
    );

    let outcome = deploy(&project, &server);
    assert!(
        outcome
            .stderr
            .contains("warning[G019 bad-yank-rule]: no file of the index matches `flash-attn<2`"),
        "{outcome:?}"
    );
    assert!(
        outcome.stderr.contains("matrices/m.yaml:10:"),
        "the warning stands where the rule does: {outcome:?}"
    );
    let files = listed(&project);
    assert_eq!(files.len(), 6, "{files:?}");
    let (spilled, reason) = &files[&name("2.5.5")];
    assert!(
        spilled.starts_with(&format!(
            "{}/me/wheels/releases/download/v1-2/",
            server.url()
        )),
        "{spilled}"
    );
    assert_eq!(reason.as_deref(), Some(REASON));
    assert_eq!(
        files
            .values()
            .filter(|(_, reason)| reason.is_some())
            .count(),
        1
    );

    // What the index says can be fetched, from where it says, and has the digest that it says.
    let index = format!(
        "file://{}/simple/{FOLDER}/",
        project.path("runner/site").display()
    );
    let versions = ["2.5.1", "2.5.5", "2.8.3"];
    let folder = project.path("got").display().to_string();
    let calls = versions.map(|version| {
        let requirement = format!("flash-attn=={version}+rocm62torch2.5");
        let options = ["download", "-q", "--no-deps", "--index-url", &index];
        let words = options
            .into_iter()
            .chain([requirement.as_str(), "-d", &folder]);
        words.map(str::to_owned).collect::<Vec<_>>()
    });
    for (version, done) in versions.into_iter().zip(pips(&calls)) {
        assert!(
            done.status.success(),
            "{version}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
        let got = std::fs::read(project.path("got").join(name(version))).unwrap();
        let tag = if version == "2.8.3" { "v2" } else { "v1" };
        assert_eq!(
            got,
            std::fs::read(project.path(tag).join(name(version))).unwrap()
        );
    }
    // Finder and packages are about the same files, the finder without and the packages with a word
    // of what is yanked, and nothing of this machine reaches the site.
    let [page, packages] =
        ["index.html", "packages.md"].map(|page| project.read(&format!("runner/site/{page}")));
    assert!(!page.contains("file://") && !packages.contains("file://"));
    assert!(
        page.contains("download/v1/")
            && page.contains("download/v2/")
            && page.contains("\"yanked\":1"),
        "{page}"
    );
    assert!(
        !page.contains("download/v1-2/") && !page.contains("\"2.5.5\""),
        "{page}"
    );
    assert!(
        packages.contains("2.5.1") && packages.contains("download/v1-2/"),
        "{packages}"
    );
    assert_eq!(packages.matches("(yanked: ").count(), 1, "{packages}");

    // The next deployment begins with nothing, and is the same.
    let before = listed(&project);
    deploy(&project, &server);
    assert_eq!(listed(&project), before);
    let ledger = server.github().ledger.clone();
    assert_eq!((ledger.leaks, ledger.complaints), (0, Vec::new()));
}

#[test]
fn the_job_reads_its_rules_from_the_matrix_file_so_that_a_new_one_needs_no_new_workflow() {
    let rendered = |release: &str| {
        let project = Project::new().file(
            "matrices/m.yaml",
            &format!("{MATRIX}release: {{pages: true{release}}}\n"),
        );
        project.run(&["render", "workflow"]).exits(0).stdout
    };
    let without = rendered("");
    assert!(
        without.contains(" --out site/simple --rules matrices/m.yaml\n"),
        "{without}"
    );
    for release in [
        ", yank: [\"flash-attn<2.6: old\"]",
        ", yank-older-than: 30d",
    ] {
        assert_eq!(rendered(release), without, "{release}");
    }
}

/// What is yanked by age at night stays yanked on the site that the next tag deploys.
#[test]
fn the_site_of_a_tag_yanks_by_age_as_the_example_that_prunes_does() {
    let server = FakeServer::start(FakeGithub::new(GithubSettings::default()));
    for (day, days) in [("20261120", 1), ("20260801", 110)] {
        let wheel = format!("flash_attn-3.0.{day}+rocm62torch2.5-py3-none-any.whl");
        aged(&server, &format!("nightly-{day}"), &[&wheel], days);
    }
    let release = "release: {pages: true, yank-older-than: 30d, yank-keep: 1}";
    let project = Project::new().file("matrices/m.yaml", &format!("{MATRIX}{release}\n"));
    let yanked = |project: &Project| {
        let files = listed(project)
            .into_iter()
            .filter(|(_, (_, reason))| reason.is_some());
        files.map(|(name, _)| name).collect::<Vec<_>>()
    };
    deploy(&project, &server);
    assert_eq!(
        yanked(&project),
        ["flash_attn-3.0.20260801+rocm62torch2.5-py3-none-any.whl"]
    );
    let example: Value =
        serde_yaml::from_str(include_str!("../../examples/workflows/prune.yml")).unwrap();
    let before = listed(&project);
    run_job(
        &project,
        &server,
        &example["jobs"]["pages"],
        &[("MATRIX", "matrices/m.yaml")],
    );
    assert_eq!(listed(&project), before);
}

#[test]
fn what_has_no_address_is_not_saved_and_what_is_saved_reads_as_it_was() {
    let project = publish(
        project(&[]),
        &FakeServer::start(FakeGithub::new(GithubSettings::default())),
        "v1",
        &["2.8.3"],
    );
    project
        .run(&["publish", "--to", "release", "--tag", "v1", "v1"])
        .exits(0);
    let stderr = project
        .run(&[
            "report",
            "listing",
            "--published",
            "release",
            "--out",
            "x.json",
        ])
        .exits(1)
        .stderr;
    assert!(
        stderr.contains("the files in `release/v1` have no URL that could be saved"),
        "{stderr}"
    );
    assert!(!project.has("x.json"));
    let listing =
        r#"[{"tag_name": "v1", "assets": [{"name": "a-1-py3-none-any.whl", "size": 3}]}]"#;
    let project = project.file("gh.json", listing);
    let words = [
        "--published",
        "gh.json",
        "--published",
        "release/v1/rock-manifest.json",
    ];
    let save = |from: &[&str], out| {
        project
            .run(&[&["report", "listing"], from, &["--out", out]].concat())
            .exits(0);
        project.read(out)
    };
    let saved = save(&words, "saved.json");
    assert!(saved.contains("\"requires_python\":\">=3.8\""), "{saved}");
    assert_eq!(save(&["--published", "saved.json"], "again.json"), saved);
    let project = project.file(
        "later.json",
        &saved.replacen("\"version\":1", "\"version\":2", 1),
    );
    let stderr = project
        .run(&["report", "packages", "--published", "later.json"])
        .exits(1)
        .stderr;
    assert!(
        stderr.starts_with("error[G114 not-a-listing]: `later.json`: ")
            && stderr.contains("version is 2"),
        "{stderr}"
    );
}

#[test]
fn the_example_that_prunes_only_reports_until_it_has_to_apply() {
    let example: Value =
        serde_yaml::from_str(include_str!("../../examples/workflows/prune.yml")).unwrap();
    // Both halves mean the tags that the other example makes, whatever the versions of their
    // wheels.
    let nightly = include_str!("../../examples/workflows/nightly.yml");
    let tag = nightly.lines().find_map(|line| {
        line.trim()
            .strip_prefix("day=")?
            .strip_suffix("$(date -u +%Y%m%d)")
    });
    let server = FakeServer::start(FakeGithub::new(GithubSettings::default()));
    for (day, days) in [("20261120", 1), ("20260901", 80), ("20260801", 110)] {
        let wheel = format!("flash_attn-3.0.{day}+rocm62torch2.5-py3-none-any.whl");
        aged(&server, &format!("{}{day}", tag.unwrap()), &[&wheel], days);
    }
    aged(
        &server,
        "v1",
        &["flash_attn-2.8.3+rocm62torch2.5-py3-none-any.whl"],
        400,
    );
    let rules =
        |keep: &str| format!("{MATRIX}release: {{yank-older-than: 30d, yank-keep: {keep}}}\n");
    let project = Project::new().file("matrices/flash-attn.yaml", &rules("7"));
    let variables = example["env"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, value)| (&**name, value.as_str().unwrap()));
    // With the numbers of the file, three nights are too few for anything to go.
    let as_written: Vec<(&str, &str)> = variables.collect();
    run_job(&project, &server, &example["jobs"]["tell"], &as_written);
    assert!(
        !project
            .read("runner/summary.md")
            .contains("would be yanked"),
        "{}",
        project.read("runner/summary.md")
    );
    let few: Vec<(&str, &str)> = as_written
        .iter()
        .map(|(name, value)| (*name, if *name == "KEEP" { "1" } else { *value }))
        .collect();
    let project = project.file("matrices/flash-attn.yaml", &rules("1"));
    run_job(&project, &server, &example["jobs"]["tell"], &few);
    let summary = project.read("runner/summary.md");
    let old =
        ["20260901", "20260801"].map(|day| format!("    would be yanked: flash_attn-3.0.{day}+"));
    assert!(
        old.iter().all(|line| summary.contains(line))
            && !summary.contains("would be yanked: flash_attn-3.0.20261120"),
        "{summary}"
    );
    assert!(
        summary.contains("nightly-20260801") && summary.contains("### index"),
        "{summary}"
    );
    assert_eq!(
        (tags(&server).len(), server.github().ledger.writes()),
        (4, 0)
    );

    // What needs rights waits for the word, and each has the least.
    for (job, rights) in [
        ("tell", json!({"contents": "read"})),
        ("prune", json!({"contents": "write"})),
    ] {
        assert_eq!(example["jobs"][job]["permissions"], rights);
    }
    for job in ["prune", "pages"] {
        assert_eq!(example["jobs"][job]["if"], "inputs.apply", "{job}");
    }
    run_job(&project, &server, &example["jobs"]["prune"], &few);
    assert_eq!(tags(&server), ["nightly-20261120", "v1"]);
    run_job(&project, &server, &example["jobs"]["pages"], &few);
    let files = listed(&project);
    assert_eq!(files.len(), 2, "{files:?}");
    assert!(project.has("runner/site/packages.md") && project.has("runner/site/index.html"));
}

/// Notes are written of the wheels in a folder, before a release says where each of them is.
#[test]
fn notes_of_a_folder_link_what_will_be_in_the_continuation() {
    let project = (1..=5).fold(project(&[]), |project, at| {
        let name = name(&format!("2.5.{at}"));
        project.bytes(&format!("dist/{name}"), &Wheel::named(&name).bytes())
    });
    project
        .run(&["publish", "--to", "release", "--tag", "v1", "dist"])
        .exits(0);
    let notes = |base: &str| {
        let words = [
            "report",
            "notes",
            "--tag",
            "v1",
            "--published",
            "release",
            "--base-url",
            base,
        ];
        project
            .run(&[&["--compat", "facts"], &words[..]].concat())
            .exits(0)
            .stdout
    };
    let text = notes("https://github.com/o/r/releases/download/v1");
    let link = |tag: &str, version: &str| {
        format!(
            "(https://github.com/o/r/releases/download/{tag}/{})",
            name(version).replace('+', "%2B")
        )
    };
    assert!(
        text.contains(&link("v1", "2.5.4")) && text.contains(&link("v1-2", "2.5.5")),
        "{text}"
    );
    assert!(!text.contains(&link("v1", "2.5.5")), "{text}");
    assert!(
        text.contains("gh attestation verify FILE --repo o/r"),
        "{text}"
    );
    // Elsewhere no release has an end.
    assert!(!notes("https://example.org/v1").contains("v1-2"));
}
