//! What a publish on GitHub says and asks before it sends anything: all faults at once, in words
//! and for programs, which server it goes to, and where the tag is.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::publish_bad_input::{Stub, TLS, empty_api};
use crate::support::{Outcome, Project, Wheel};
use fake_github::model::{ApiOperation, FakeGithub, FaultRule, GithubSettings};
use fake_github::server::FakeServer;

const WHEEL: &str = "flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl";

fn project() -> Project {
    let project = Project::new().env("GITHUB_TOKEN", "writer");
    project.bytes(&format!("dist/{WHEEL}"), &Wheel::named(WHEEL).bytes())
}

fn server(rules: &[&str]) -> FakeServer {
    let server = FakeServer::start(FakeGithub::new(GithubSettings::default()));
    for rule in rules {
        server
            .github()
            .faults
            .add(rule.parse::<FaultRule>().unwrap());
    }
    server
}

fn publish(project: &Project, more: &[&str], exit: i32) -> Outcome {
    let words = ["publish", "--dist", "dist", "--repo", "me/wheels"];
    let mut words: Vec<&str> = words.iter().chain(more).copied().collect();
    if !more.contains(&"--tag") {
        words.extend(["--tag", "v1"]);
    }
    let outcome = project.run(&words).exits(exit);
    assert!(
        !outcome.stdout.contains("writer") && !outcome.stderr.contains("writer"),
        "the token is printed"
    );
    outcome
}

fn codes(document: &Value) -> Vec<&str> {
    document["diagnostics"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["code"].as_str().unwrap())
        .collect()
}

/// The document on stdout of a publish that did not publish.
fn document(project: &Project, more: &[&str], exit: i32) -> Value {
    let outcome = publish(project, &[more, &["--format", "json"]].concat(), exit);
    let document = outcome.json();
    assert_eq!(
        (&document["version"], &document["repository"]),
        (&1.into(), &"me/wheels".into()),
        "{document}"
    );
    assert_eq!(
        (&document["published"], &document["complete"]),
        (&false.into(), &false.into()),
        "{document}"
    );
    for code in codes(&document) {
        assert!(
            outcome.stderr.contains(&format!("[{code} ")),
            "{code} is also reported to people: {}",
            outcome.stderr
        );
    }
    document
}

#[test]
fn programs_get_a_document_however_early_it_fails() {
    let server = server(&[]);
    let url = server.url();
    let there = ["--api-url", &*url];
    let with = |more: &[&'static str]| [&there[..], more].concat();
    let odd = project().file("token", "two words\n");
    let document_of = |project: &Project, more: &[&str], exit, code| {
        let document = document(project, more, exit);
        assert_eq!(codes(&document), [code], "{document}");
        assert_eq!(
            (&document["tag"], &document["steps"]),
            (&"v1".into(), &0.into())
        );
        assert!(
            document["assets"].as_array().unwrap().is_empty(),
            "{document}"
        );
        document
    };
    let no_token = document_of(&odd, &with(&["--token-file", "token"]), 3, "G103");
    assert!(
        no_token["diagnostics"][0]["help"]
            .as_str()
            .unwrap()
            .contains("one line"),
        "{no_token}"
    );
    document_of(&odd, &with(&["--token-file", "none"]), 3, "H020");
    document_of(&project().env("GITHUB_TOKEN", ""), &there, 3, "G103");
    document_of(&project(), &["--api-url", "nonsense"], 2, "G111");
    document_of(&project().file("dist/a-1.tar.gz", ""), &there, 1, "G112");
    assert_eq!(server.github().ledger.requests.len(), 0);
    server.github().repository_mut("me/wheels").tags.clear();
    document_of(&project(), &there, 1, "G115");
    server
        .github()
        .faults
        .add("list-releases=bad-credentials".parse().unwrap());
    document_of(&project(), &there, 3, "G103");
}

#[test]
fn programs_get_the_faults_of_what_was_begun_with_what_is_there() {
    let server = server(&["upload#1=no-right"]);
    let url = server.url();
    let found = document(&project(), &["--api-url", &url], 3);
    assert_eq!(codes(&found), ["G104"]);
    assert_eq!(
        (
            found["assets"].as_array().unwrap().len(),
            found["resume"].is_string()
        ),
        (3, true),
        "{found}"
    );
    server.github().faults = fake_github::model::FaultSchedule::none();
    let done = publish(&project(), &["--api-url", &url, "--format", "json"], 0).json();
    assert_eq!(
        (&done["published"], codes(&done).len()),
        (&true.into(), 0),
        "{done}"
    );
    let other = project().bytes(
        &format!("dist/{WHEEL}"),
        &Wheel::named(WHEEL).file("flash_attn/b.py", b"").bytes(),
    );
    let refused = publish(&other, &["--api-url", &url, "--format", "json"], 1).json();
    assert_eq!(codes(&refused), ["G002", "G101"], "{refused}");
}

#[test]
fn all_that_is_wrong_with_the_files_is_reported_in_one_run() {
    let server = server(&[]);
    let short = "flash_attn-2.8.3+rocm62torch2.5-cp313-cp313-linux_x86_64.whl";
    let upper = "flash_attn-2.8.3+ROCm62-cp310-cp310-linux_x86_64.whl";
    let under = "flash_attn-2.8.3+rocm62_x-cp310-cp310-linux_x86_64.whl";
    let mut project = project()
        .file("dist/empty-1.tar.gz", "")
        .file("dist/epoch-1!2.tar.gz", "x")
        .file("dist/CASE-1.tar.gz", "x")
        .file("dist/case-1.tar.gz", "y")
        .file(&format!("dist/{}-1.tar.gz", "n".repeat(240)), "x")
        // Not what METADATA and WHEEL of its own say: the project, the label, the tags.
        .bytes(
            "dist/other-2.8.3+rocm62torch2.5-cp312-cp312-linux_x86_64.whl",
            &Wheel::named(WHEEL).bytes(),
        )
        .bytes(
            "dist/flash_attn-2.8.3+rocm61torch2.5-cp311-cp311-linux_x86_64.whl",
            &Wheel::named(WHEEL).bytes(),
        )
        .bytes(
            "dist/flash_attn-2.8.3+rocm62torch2.5-cp312-cp312-linux_x86_64.whl",
            &Wheel::named(WHEEL).bytes(),
        );
    for name in [short, upper, under] {
        project = project.bytes(&format!("dist/{name}"), &Wheel::named(name).bytes());
    }
    let bytes = std::fs::read(project.path(&format!("dist/{short}"))).unwrap();
    std::fs::write(
        project.path(&format!("dist/{short}")),
        &bytes[..bytes.len() / 2],
    )
    .unwrap();
    let url = server.url();
    let stderr = publish(
        &project,
        &[
            "--api-url",
            &url,
            "gone.whl",
            "--tag",
            "a b",
            "--notes",
            "none.md",
        ],
        1,
    )
    .stderr;
    for wanted in [
        "G112",
        "G123",
        "G012",
        "G014",
        "G013",
        "empty-1",
        "epoch-1!2",
        "case-1",
        "nnnnnnnn",
        "cannot read `gone.whl`: it does not exist",
    ] {
        assert!(stderr.contains(wanted), "{wanted}: {stderr}");
    }
    for name in [
        short,
        upper,
        under,
        "other-2.8.3",
        "rocm61torch2.5",
        "cp312-cp312",
    ] {
        assert!(stderr.contains(name), "{name}: {stderr}");
    }
    assert_eq!(server.github().ledger.requests.len(), 0);
}

#[test]
fn all_that_is_wrong_with_what_is_there_is_reported_in_one_run() {
    let server = server(&[]);
    let url = server.url();
    let matrix = "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\ngfx: [gfx90a]\naxes:\n  \
                  flash-attn: [\"2.8.3\"]\n  python: [\"3.10\"]\n  torch: [\"2.5.1\"]\n  rocm: [\"6.2\"]\n  backend: [ck]\n";
    let project = project().file("matrix.yaml", matrix);
    let plan = project
        .run(&["plan", "matrix.yaml", "--format", "json"])
        .exits(0)
        .stdout;
    let project = project.file("plan.json", &plan);
    let target = ["--target", "0123456789abcdef0123456789abcdef01234567"];
    let found = document(
        &project,
        &[&["--api-url", &*url, "--plan", "plan.json"], &target[..]].concat(),
        1,
    );
    let mut found = codes(&found);
    found.sort_unstable();
    assert_eq!(found, ["G004", "G005", "G116"]);
    assert_eq!(server.github().ledger.writes(), 0);
}

#[test]
fn a_target_is_compared_with_the_tag_whatever_names_it() {
    let server = server(&[]);
    let url = server.url();
    let (main, other) = ("1".repeat(40), "2".repeat(40));
    {
        let mut github = server.github();
        let repository = github.repository_mut("me/wheels");
        repository.branches.insert("main".to_owned(), main.clone());
        repository
            .branches
            .insert("release/2".to_owned(), other.clone());
        repository.tags.insert("v1".to_owned(), main.clone());
        repository.tags.insert("v2".to_owned(), other.clone());
    }
    let at = |target: &str, more: &[&str], exit| {
        publish(
            &project(),
            &[&["--api-url", &*url, "--dry-run", "--target", target], more].concat(),
            exit,
        )
        .stderr
    };
    for target in ["main", &main, &main[..9], "refs/heads/main"] {
        at(target, &[], 0);
    }
    for target in ["release/2", &other, &other[..7]] {
        let stderr = at(target, &[], 1);
        assert!(
            stderr.contains("error[G116 tag-moved]")
                && stderr.contains(&main)
                && stderr.contains(target),
            "{stderr}"
        );
        at(target, &["--tag", "v2"], 0);
    }
    let stderr = at("nothing", &[], 1);
    assert!(
        stderr.contains("error[G122 no-such-target]") && stderr.contains("`nothing`"),
        "{stderr}"
    );
    // A tag that is not there is made at a commit that is.
    at("main", &["--tag", "v3"], 0);
    let stderr = at("nothing", &["--tag", "v3"], 1);
    assert!(stderr.contains("error[G122 no-such-target]"), "{stderr}");
    let stderr = at(
        "0123456789abcdef0123456789abcdef01234567",
        &["--tag", "v3"],
        1,
    );
    assert!(stderr.contains("error[G122 no-such-target]"), "{stderr}");
    assert_eq!(server.github().ledger.writes(), 0);
}

#[test]
fn the_api_is_that_of_the_option_else_of_the_environment_else_githubs_own() {
    let api = Stub::start_secure(empty_api);
    let url = format!("https://localhost:{}", api.address.port());
    let trusting = || project().env("SSL_CERT_FILE", format!("{TLS}/ca.pem"));
    publish(&trusting().env("GITHUB_API_URL", &url), &["--dry-run"], 0);
    assert!(
        api.heard()
            .contains("GET /repos/me/wheels/releases?per_page=100"),
        "{}",
        api.heard()
    );
    let chosen = server(&[]);
    publish(
        &trusting().env("GITHUB_API_URL", "https://localhost:1"),
        &["--dry-run", "--api-url", &chosen.url()],
        0,
    );
    assert!(!chosen.github().ledger.requests.is_empty());
    let state = project().env("GITHUB_TOKEN", "").file("state.json", "[]");
    let stdout = publish(&state, &["--dry-run", "--state", "state.json"], 0).stdout;
    assert!(
        stdout.contains("POST   /repos/me/wheels/releases  "),
        "{stdout}"
    );
}

#[test]
fn a_server_that_is_not_encrypted_is_named_by_the_option_alone() {
    let server = server(&[]);
    let stderr = publish(&project().env("GITHUB_API_URL", server.url()), &[], 2).stderr;
    assert!(
        stderr.contains("error[G111 bad-github-address]") && stderr.contains("GITHUB_API_URL"),
        "{stderr}"
    );
    assert!(
        stderr.contains(&format!("--api-url {}", server.url())),
        "{stderr}"
    );
    let stderr = publish(
        &project(),
        &["--api-url", "http://ghe.example.com/api/v3"],
        2,
    )
    .stderr;
    assert!(stderr.contains("only URLs of this machine"), "{stderr}");
    assert_eq!(server.github().ledger.requests.len(), 0);
}

#[test]
fn files_go_to_another_host_only_where_it_is_named() {
    let settings = GithubSettings {
        uploads_base: "http://uploads.test".to_owned(),
        ..GithubSettings::default()
    };
    let server = FakeServer::start(FakeGithub::new(settings));
    let url = server.url();
    let uploads = server.github().settings.uploads_base.replace("http://", "");
    let outcome = publish(&project(), &["--api-url", &url], 3);
    assert!(
        outcome.stderr.contains("error[G108 api-leads-elsewhere]"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome
            .stderr
            .contains(&format!("--uploads-host {uploads}")),
        "{}",
        outcome.stderr
    );
    assert_eq!(
        server.github().ledger.request_count(ApiOperation::Upload),
        0,
        "not even asked"
    );
    publish(
        &project(),
        &["--api-url", &url, "--uploads-host", "other.example.com"],
        3,
    );
    assert_eq!(
        server.github().ledger.request_count(ApiOperation::Upload),
        0
    );
    publish(
        &project(),
        &["--api-url", &url, "--uploads-host", &uploads],
        0,
    );
    assert_eq!(
        server.github().ledger.request_count(ApiOperation::Upload),
        3
    );
    let stderr = publish(
        &project(),
        &["--uploads-host", "https://uploads.example.com/"],
        2,
    )
    .stderr;
    assert!(stderr.contains("is not a host such as"), "{stderr}");
}

#[test]
fn a_dry_run_from_a_saved_state_needs_neither_token_nor_network() {
    let saved = format!(
        r#"[{{"id": 7, "tag_name": "v1", "draft": true, "upload_url": "http://127.0.0.1:1/repos/me/wheels/releases/7/assets{{?name,label}}",
             "assets": [{{"id": 8, "name": "{WHEEL}", "state": "starter", "size": 5}}]}}]"#
    );
    let project = project().env("GITHUB_TOKEN", "").file("state.json", &saved);
    // Nobody listens there.
    let words = [
        "--api-url",
        "http://127.0.0.1:1",
        "--dry-run",
        "--state",
        "state.json",
    ];
    let stdout = publish(&project, &words, 0).stdout;
    let calls: Vec<Vec<&str>> = stdout
        .lines()
        .map(|line| line.split_whitespace().take(2).collect())
        .collect();
    assert_eq!(
        calls[0],
        ["DELETE", "/repos/me/wheels/releases/assets/8"],
        "{stdout}"
    );
    let name = WHEEL.replace('+', "%2B");
    assert_eq!(
        calls[1],
        [
            "POST",
            &format!("/repos/me/wheels/releases/7/assets?name={name}")
        ],
        "{stdout}"
    );
    let size = std::fs::metadata(project.path(&format!("dist/{WHEEL}")))
        .unwrap()
        .len();
    assert!(
        stdout
            .lines()
            .nth(1)
            .unwrap()
            .ends_with(&format!("  {size} bytes")),
        "{stdout}"
    );
    publish(
        &project,
        &["--api-url", "http://127.0.0.1:1", "--state", "state.json"],
        2,
    );
}

#[test]
fn a_dry_run_reports_no_waits_and_ignores_the_deadline() {
    let server = server(&[]);
    let url = server.url();
    let many = (0..200).fold(project(), |project, at| {
        project.source_distribution(&format!("dist/a-{at}.tar.gz"))
    });
    let outcome = publish(
        &many,
        &["--api-url", &*url, "--dry-run", "--deadline", "1"],
        0,
    );
    assert!(
        outcome.stdout.contains("requests would change something")
            && outcome.stdout.contains("pauses of"),
        "{}",
        outcome.stdout
    );
    assert!(
        !outcome.stderr.contains("continuing in"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn slow_permits_many_files_and_reports_its_time_in_advance() {
    let server = server(&[]);
    let url = server.url();
    let many = (0..1001).fold(project(), |project, at| {
        project.source_distribution(&format!("dist/a-{at}.tar.gz"))
    });
    let words = ["--api-url", &*url, "--dry-run", "--format", "json"];
    let slow = publish(&many, &[&words[..], &["--slow"]].concat(), 0);
    assert!(!slow.stderr.contains("G113"), "{}", slow.stderr);
    let found = slow.json();
    let minutes = found["pauses_s"].as_u64().unwrap() / 60;
    assert!(
        (120..=300).contains(&minutes),
        "1,000 files at 480 an hour take {minutes} minutes"
    );
    let calls = found["calls"].as_array().unwrap();
    let made: Vec<&Value> = calls
        .iter()
        .filter(|call| call["path"] == "/repos/me/wheels/releases")
        .collect();
    assert_eq!(
        (made.len(), calls.len()),
        (2, 2 + 1004 + 2),
        "two releases, with their publication"
    );
    // Without it the same calls are reported, and that they are too many.
    let quick = publish(&many, &words, 0);
    assert!(
        quick.stderr.contains("warning[G113 too-many-calls]"),
        "{}",
        quick.stderr
    );
    assert_eq!(quick.json()["calls"], found["calls"]);
    assert_eq!(server.github().ledger.writes(), 0);
}

#[test]
fn all_of_it_takes_forty_five_minutes_at_most_and_slowly_five_hours() {
    for (wait_s, more, exit) in [
        (2701, &[][..], 3),
        (18_001, &["--slow"], 3),
        (61, &["--deadline", "1"], 3),
    ] {
        let server = server(&[&format!("list-releases#1=retry-after:429:{wait_s}")]);
        let url = server.url();
        let stderr = publish(&project(), &[&["--api-url", &*url], more].concat(), exit).stderr;
        assert!(stderr.contains("error[G107 no-answer]"), "{stderr}");
        assert!(
            stderr.contains(" seconds would exceed the time limit"),
            "{stderr}"
        );
        assert_eq!(server.github().ledger.requests.len(), 1);
    }
    for (wait_s, more) in [(2600, &[][..]), (2701, &["--slow"])] {
        let server = server(&[&format!("list-releases#1=retry-after:429:{wait_s}")]);
        let url = server.url();
        let words = [
            "publish",
            "--dist",
            "dist",
            "--repo",
            "me/wheels",
            "--tag",
            "v1",
            "--api-url",
            &url,
        ];
        let project = project();
        let mut command = project.command(&[&words[..], more].concat());
        let child = command
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let end = std::time::Instant::now() + Duration::from_mins(1);
        while server.github().ledger.requests.is_empty() && std::time::Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
        let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        let done = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(130), "{stderr}");
        assert!(!stderr.contains("too long"), "it waits: {stderr}");
    }
}

#[test]
fn a_release_that_becomes_immutable_during_the_run_has_its_own_code() {
    let server = server(&["upload#1=hold-before"]);
    let url = server.url();
    let project = project();
    std::thread::scope(|scope| {
        let publisher =
            scope.spawn(|| publish(&project, &["--api-url", &url, "--at-once", "1"], 3).stderr);
        server
            .wait_held(Duration::from_secs(30))
            .expect("a file is sent");
        for release in server
            .github()
            .repository_mut("me/wheels")
            .releases
            .values_mut()
        {
            Arc::make_mut(release).immutable = true;
        }
        server.release_held();
        let stderr = publisher.join().unwrap();
        assert!(stderr.contains("error[G100 immutable-release]"), "{stderr}");
    });
}

#[test]
fn a_token_is_never_an_argument() {
    let stderr = publish(&project(), &["--token", "ghp_secret"], 2).stderr;
    assert!(stderr.contains("unexpected argument '--token'"), "{stderr}");
    let help = project().run(&["publish", "--help"]).exits(0).stdout;
    assert!(
        help.contains("--token-file") && help.contains("GITHUB_TOKEN"),
        "{help}"
    );
}

#[test]
fn the_rendered_workflow_attests_the_wheels_and_then_publishes_with_one_job() {
    let matrix = "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\ngfx: [gfx90a]\naxes:\n  \
                  flash-attn: [\"2.8.3\"]\n  python: [\"3.10\"]\n  torch: [\"2.5.1\"]\n  rocm: [\"6.2\"]\n  backend: [ck]\n";
    let text = project()
        .file("matrix.yaml", matrix)
        .run(&["render", "workflow", "matrix.yaml"])
        .exits(0)
        .stdout;
    let workflow: Value = serde_yaml::from_str(&text).unwrap();
    assert_eq!(workflow["on"]["push"]["tags"], serde_json::json!(["v*"]));
    let runs = |job: &Value, word: &str| {
        job["steps"]
            .as_array()
            .unwrap()
            .iter()
            .position(|step| step["run"].as_str().is_some_and(|run| run.contains(word)))
    };
    let publishing: Vec<(&String, &Value)> = workflow["jobs"]
        .as_object()
        .unwrap()
        .iter()
        .filter(|(_, job)| runs(job, "publish --repo").is_some())
        .collect();
    let [(_, job)] = publishing[..] else {
        panic!("one job publishes")
    };
    assert!(job["strategy"].is_null(), "and it is no matrix");
    let steps = job["steps"].as_array().unwrap();
    let attest = steps
        .iter()
        .position(|step| step["with"]["subject-checksums"] == "subjects.txt")
        .unwrap();
    assert!(
        steps[attest]["uses"]
            .as_str()
            .unwrap()
            .starts_with("actions/attest@")
    );
    let (notes, publish) = (
        runs(job, "report notes").unwrap(),
        runs(job, "publish --repo").unwrap(),
    );
    assert!(
        runs(
            job,
            "release subjects \"release/$GITHUB_REF_NAME\" --out subjects.txt"
        )
        .unwrap()
            < attest,
        "of what is in the folder"
    );
    assert!(
        notes < attest && attest < publish,
        "the text and the attestation are there when it is published"
    );
}

#[test]
fn octocrab_brings_no_retry_no_redirects_and_no_client_of_its_own() {
    let manifest =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")).unwrap();
    let line = manifest
        .lines()
        .find(|line| line.starts_with("octocrab "))
        .unwrap();
    assert!(
        line.contains("default-features = false") && !line.contains("features = ["),
        "{line}"
    );
}

#[test]
fn the_resume_command_runs_for_a_path_like_an_option() {
    let server = server(&["upload#1=no-right"]);
    let project = Project::new().env("GITHUB_TOKEN", "writer");
    let project = project.bytes(&format!("-d/{WHEEL}"), &Wheel::named(WHEEL).bytes());
    let words = [
        "publish",
        "--repo",
        "me/wheels",
        "--tag",
        "v1",
        "--dist=-d",
        "--api-url",
        &*server.url(),
    ];
    let stdout = project.run(&words).exits(3).stdout;
    let resume = stdout
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with("rock-matrix publish "))
        .unwrap()
        .to_owned();
    let words = shlex::split(&resume).unwrap();
    assert!(words.iter().any(|word| word == "--dist=-d"), "{resume}");
    server.github().faults = fake_github::model::FaultSchedule::none();
    project
        .run(&words[1..].iter().map(String::as_str).collect::<Vec<_>>())
        .exits(0);
}

#[test]
fn with_diagnostics_as_json_each_line_of_stderr_is_an_object_those_of_waits_too() {
    let server = server(&["upload#1=retry-after:429:3"]);
    let url = server.url();
    let words = [
        "--api-url",
        &*url,
        "-v",
        "--diagnostics",
        "json",
        "--tag",
        "two words",
    ];
    let rows = |output: &str| {
        output
            .lines()
            .map(|line| serde_json::from_str(line).expect(line))
            .collect::<Vec<Value>>()
    };
    let stderr = publish(&project(), &words[..5], 0).stderr;
    let rows_of_waits = rows(&stderr);
    let is_wait = |row: &&Value| {
        row["message"]
            .as_str()
            .unwrap()
            .contains("; continuing in ")
    };
    let wait = rows_of_waits
        .iter()
        .find(is_wait)
        .unwrap_or_else(|| panic!("{stderr}"));
    assert_eq!(
        (&wait["code"], wait["severity"].as_str()),
        (&Value::Null, Some("info"))
    );
    assert!(
        rows_of_waits.len() > 3,
        "what is done is reported as well: {stderr}"
    );
    // A diagnostic has the same shape.
    let stderr = publish(&project(), &words, 1).stderr;
    assert!(
        rows(&stderr)
            .iter()
            .any(|row| row["code"].is_string() && row["severity"] == "error"),
        "{stderr}"
    );
}
