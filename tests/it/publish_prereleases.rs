//! Whether a release is a prerelease reaches GitHub, so that none becomes the latest release.

use serde_json::{Value, json};

use crate::support::{Project, Wheel};
use fake_github::model::{ApiOperation, FakeGithub, GithubSettings};
use fake_github::server::FakeServer;

const WHEEL: &str = "flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl";

/// Publishes a wheel under a tag; returns the fields of each request that makes or changes a
/// release, and those that the stand-in keeps of it.
fn published(tag: &str, more: &[&str]) -> (Vec<Value>, Value) {
    let server = FakeServer::start(FakeGithub::new(GithubSettings::default()));
    let main = server.github().repository("me/wheels").branches["main"].clone();
    server
        .github()
        .repository_mut("me/wheels")
        .tags
        .insert(tag.to_owned(), main);
    let project = Project::new().env("GITHUB_TOKEN", "writer");
    let project = project.bytes(&format!("dist/{WHEEL}"), &Wheel::named(WHEEL).bytes());
    let url = server.url();
    let words = [
        "publish",
        "--dist",
        "dist",
        "--repo",
        "me/wheels",
        "--tag",
        tag,
        "--api-url",
        &url,
    ];
    project.run(&[&words, more].concat()).exits(0);
    let github = server.github();
    let writes = |operation| {
        matches!(
            operation,
            ApiOperation::CreateRelease | ApiOperation::EditRelease
        )
    };
    let sent = github
        .ledger
        .requests
        .iter()
        .filter(|request| writes(request.operation))
        .map(|request| {
            let fields = ["draft", "prerelease", "make_latest"]
                .map(|name| (name, request.json[name].clone()));
            fields
                .into_iter()
                .filter(|(_, value)| !value.is_null())
                .collect::<Value>()
        });
    let repository = github.repository("me/wheels");
    let release = repository.releases.values().next().unwrap();
    assert!(!release.draft && repository.releases.len() == 1);
    (
        sent.collect(),
        json!({"prerelease": release.prerelease, "make_latest": release.make_latest}),
    )
}

/// `v1.0.0rc1` is a prerelease by PEP 440, `v2.0.0-rc.1` by Semantic Versioning, and a nightly
/// always.
#[test]
fn prereleases_by_tag_reach_github_and_are_never_latest() {
    for tag in ["v1.0.0rc1", "flash-attn-v2.0.0-rc.1", "nightly-20261121"] {
        let (sent, kept) = published(tag, &["--prerelease=auto", "--make-latest", "true"]);
        assert_eq!(
            sent,
            [
                json!({"draft": true, "prerelease": true}),
                json!({"draft": false, "make_latest": "false"})
            ],
            "{tag}"
        );
        assert_eq!(
            kept,
            json!({"prerelease": true, "make_latest": "false"}),
            "{tag}"
        );
    }
}

/// A final version is what `--make-latest` says, and only `--prerelease` by itself makes it a
/// prerelease.
#[test]
fn final_releases_by_tag_are_full_releases_at_github() {
    for (latest, tag) in [
        ("true", "v1.0.0"),
        ("legacy", "flash-attn-2.8.3.post1"),
        ("false", "v2.8.3+rocm6.2"),
    ] {
        let (sent, kept) = published(tag, &["--prerelease=auto", "--make-latest", latest]);
        assert_eq!(
            sent,
            [
                json!({"draft": true, "prerelease": false}),
                json!({"draft": false, "make_latest": latest})
            ],
            "{tag}"
        );
        assert_eq!(
            kept,
            json!({"prerelease": false, "make_latest": latest}),
            "{tag}"
        );
    }
    assert_eq!(
        published("v1.0.0", &["--prerelease"]).1["prerelease"],
        json!(true)
    );
    assert_eq!(
        published("v1.0.0rc1", &["--prerelease=false"]).1["prerelease"],
        json!(false)
    );
}

/// `--prerelease auto` would take `auto` for a file.
#[test]
fn prerelease_without_an_equals_sign_is_explained() {
    let words = [
        "publish",
        "--repo",
        "me/wheels",
        "--tag",
        "v1.0.0rc1",
        "--prerelease",
        "auto",
        "dist",
    ];
    let stderr = Project::new().run(&words).exits(2).stderr;
    let expected = "error: `--prerelease` takes its value after a `=`: write `--prerelease=auto`\n";
    assert!(stderr.starts_with(expected), "{stderr}");
}
