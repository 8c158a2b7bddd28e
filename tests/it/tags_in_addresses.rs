//! Tags as git allows them, in addresses that the program builds itself.

use crate::support::{Project, Wheel};
use fake_github::model::{FakeGithub, GithubSettings};
use fake_github::server::FakeServer;

const WHEEL: &str = "flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl";
/// Every printable character of ASCII that git allows in a tag (git-check-ref-format), and some
/// beyond.
const TAGS: [&str; 6] = [
    "v2.8.3+rocm6.2",
    "nightly/2026-11-21",
    "a!\"#$%&'()b",
    "a+,-.0/;<=>@b",
    "a]_`b{|}c",
    "ü-雪",
];

/// A release is published, fetched and indexed under every tag; the addresses are those that GitHub
/// gives.
#[test]
fn every_tag_that_git_allows_can_be_published_and_indexed() {
    for tag in TAGS {
        let server = FakeServer::start(FakeGithub::new(GithubSettings {
            keep_bytes: 1 << 20,
            ..GithubSettings::default()
        }));
        let main = server.github().repository("me/wheels").branches["main"].clone();
        server
            .github()
            .repository_mut("me/wheels")
            .tags
            .insert(tag.to_owned(), main);
        let bytes = Wheel::named(WHEEL).bytes();
        let project = Project::new()
            .env("GITHUB_TOKEN", "writer")
            .env("GITHUB_SERVER_URL", server.url())
            .bytes(&format!("dist/{WHEEL}"), &bytes);
        let url = server.url();
        project
            .run(&[
                "publish",
                "--dist",
                "dist",
                "--repo",
                "me/wheels",
                "--tag",
                tag,
                "--api-url",
                &url,
            ])
            .exits(0);
        project
            .run(&[
                "index",
                "build",
                "dist",
                "--no-metadata",
                "--out",
                "site",
                "--repo",
                "me/wheels",
                "--tag",
                tag,
            ])
            .exits(0);
        let page = project.read("site/rocm6.2-torch2.5/flash-attn/index.html");
        let link = page
            .split("href=\"")
            .nth(1)
            .and_then(|rest| rest.split(['"', '#']).next())
            .unwrap();
        let mut fetched = ureq::get(link).call().unwrap();
        assert_eq!(
            fetched.body_mut().read_to_vec().unwrap(),
            bytes,
            "{tag}: {link}"
        );
    }
}

/// A workflow passes repository and tag, and the program encodes them: the links of the notes are
/// GitHub's own.
#[test]
fn rendered_workflows_write_notes_for_tags_with_a_plus() {
    let matrix = "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\naxes:\n  flash-attn: [\"2.8.3\"]\n  \
                  python: [\"3.11\"]\n  torch: [\"2.5.1\"]\n  rocm: [\"6.2\"]\n  backend: [ck]\ngfx: [gfx942]\n";
    let project = Project::new()
        .env("GITHUB_SERVER_URL", "https://github.com")
        .file("matrix.yaml", matrix)
        .bytes(&format!("dist/{WHEEL}"), &Wheel::named(WHEEL).bytes());
    let workflow = project
        .run(&["render", "workflow", "matrix.yaml"])
        .exits(0)
        .stdout;
    assert!(
        !workflow.contains("--base-url") && !workflow.contains("/releases/download/"),
        "no address is put together"
    );
    let line = workflow
        .replace("\\\n", " ")
        .lines()
        .find(|line| line.contains(" report notes "))
        .unwrap()
        .to_owned();
    let line = line
        .replace("$GITHUB_REPOSITORY", "me/wheels")
        .replace("$ATTEST", "on");
    for tag in TAGS.iter().filter(|tag| !tag.contains('/')) {
        project
            .run(&["publish", "--to", "release", "--tag", tag, "dist"])
            .exits(0);
        let words: Vec<String> = shlex::split(&line).unwrap();
        let words = words.iter().skip(1).map(|word| {
            if word == "$GITHUB_REF_NAME" {
                *tag
            } else {
                word.as_str()
            }
        });
        let words: Vec<&str> = words
            .filter(|word| !["--plan", "plan.json"].contains(word))
            .collect();
        project.run(&words).exits(0);
        let address = rock_matrix::index::BaseUrl::of_release(
            "https://github.com",
            &"me/wheels".parse().unwrap(),
            tag,
        );
        let notes = project.read("notes.md");
        assert!(
            notes.contains(&format!("({}/flash_attn-2.8.3%2Brocm62", address.unwrap())),
            "{tag}: {notes}"
        );
        std::fs::remove_dir_all(project.path("release")).unwrap();
    }
}

/// Repository and tag go together, and what git does not allow is no tag.
#[test]
fn an_address_needs_a_repository_and_a_legal_tag() {
    let project = Project::new().bytes(&format!("dist/{WHEEL}"), &Wheel::named(WHEEL).bytes());
    let build = ["index", "build", "dist", "--out", "site"];
    let refused =
        |more: &[&str], code: i32| project.run(&[&build[..], more].concat()).exits(code).stderr;
    assert!(refused(&["--repo", "me/wheels"], 2).contains("--tag"));
    assert!(refused(&["--tag", "v1"], 2).contains("--repo"));
    assert!(
        refused(
            &[
                "--repo",
                "me/wheels",
                "--tag",
                "v1",
                "--base-url",
                "https://x"
            ],
            2
        )
        .contains("--base-url")
    );
    for tag in [
        "a b", "a~1", "a^b", "a:b", "a?b", "a*b", "a[b", "a\\b", "a..b", "a@{b", ".a", "a.lock",
    ] {
        let stderr = refused(&["--repo", "me/wheels", "--tag", tag], 1);
        assert!(stderr.contains("error[G013 "), "{tag}: {stderr}");
    }
    assert!(!project.has("site"));
}
