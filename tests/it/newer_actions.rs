//! `compat refresh --actions`: what tags on GitHub say that the table of actions does not.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::http::answer;
use crate::support::{Outcome, Project, Served};
use fake_github::model::state::fake_sha;
use fake_github::model::{FakeGithub, FaultRule, GithubSettings};
use fake_github::server::FakeServer;

const CHECKOUT: &str = "actions/checkout";

fn rows(project: &Project, facts: &[&str]) -> Vec<Value> {
    let listed = project
        .run(&[facts, &["compat", "list", "actions", "--format", "json"]].concat())
        .exits(0)
        .json();
    listed.as_array().unwrap().clone()
}

/// A GitHub where every action has the tag that its row was read from, and a project on the first
/// of December.
pub fn world(facts: &[&str]) -> (Project, FakeServer) {
    let project = Project::new()
        .copy("matrices", "matrices")
        .env("SOURCE_DATE_EPOCH", "1796083200");
    let server = FakeServer::start(FakeGithub::new(GithubSettings::default()));
    for row in rows(&project, facts) {
        let text = |key: &str| row[key].as_str().unwrap().to_owned();
        server
            .github()
            .add_repository(&text("name"))
            .tags
            .insert(text("version"), text("sha"));
    }
    (project, server)
}

/// Releases a version of an action, at a commit of its own, whose `action.yml` names what it runs
/// on.
pub fn release(server: &FakeServer, action: &str, tag: &str, using: &str) -> String {
    let sha = fake_sha(&format!("{action} {tag}"));
    let mut github = server.github();
    let repository = github.repository_mut(action);
    repository.tags.insert(tag.to_owned(), sha.clone());
    let text = format!(
        "name: An action\ndescription: >\n  It does\n  things.\nruns:\n  using: '{using}'\n  main: a.js\n"
    );
    repository
        .files
        .entry(sha.clone())
        .or_default()
        .insert("action.yml".to_owned(), text);
    sha
}

fn refresh(project: &Project, server: &FakeServer, words: &[&str], exit: i32) -> Outcome {
    let url = server.url();
    let outcome = project
        .run(
            &[
                &["compat", "refresh", "--actions", "--api-url", &url],
                words,
            ]
            .concat(),
        )
        .exits(exit);
    let github = server.github();
    assert_eq!(
        (github.ledger.leaks, &github.ledger.complaints),
        (0, &Vec::new())
    );
    assert!(
        !outcome.stderr.contains("reader") && !outcome.stdout.contains("reader"),
        "the token is printed"
    );
    outcome
}

/// 2.4, 5.23: the table is updated by a command.
#[test]
fn a_table_that_has_the_newest_releases_needs_no_patch() {
    let (project, server) = world(&[]);
    release(&server, CHECKOUT, "v6.9.9", "node24");
    let outcome = refresh(&project, &server, &["--check"], 0);
    assert_eq!(
        (outcome.stdout.as_str(), outcome.stderr.as_str()),
        ("", "the table of actions has the newest releases\n")
    );
    let requests: Vec<String> = server
        .github()
        .ledger
        .requests
        .iter()
        .map(|request| request.url.clone())
        .collect();
    // The last is that of the action of this project, which has no row before its first release.
    assert_eq!(
        requests.len(),
        rows(&project, &[]).len() + 1,
        "one call a repository: {requests:?}"
    );
    assert!(
        requests
            .last()
            .unwrap()
            .contains("/repos/org/rock-action/tags"),
        "{requests:?}"
    );
}

/// A release cannot hold its own commit: the row is written once the release is out.
#[test]
fn the_row_of_this_version_of_the_action_is_written_by_refresh() {
    let (project, server) = world(&[]);
    let version = concat!("v", env!("CARGO_PKG_VERSION"));
    server
        .github()
        .add_repository("org/rock-action")
        .tags
        .insert("v0.9.0".to_owned(), fake_sha("other"));
    let missing = refresh(&project, &server, &["--check"], 0).stderr;
    assert!(
        missing.contains(&format!(
            "org/rock-action: the tag {version} no longer exists"
        )),
        "{missing}"
    );
    let sha = release(&server, "org/rock-action", version, "composite");
    release(&server, "org/rock-action", "v99.0.0", "composite");
    let patch = refresh(&project, &server, &["--compat", "matrices/compat"], 0).stdout;
    let project = project.file("actions.patch", &patch);
    let applied = Command::new("git")
        .args(["apply", "actions.patch"])
        .current_dir(project.root())
        .output()
        .unwrap();
    assert!(
        applied.status.success(),
        "{}",
        String::from_utf8_lossy(&applied.stderr)
    );
    let matrix = project
        .read("matrices/flash-attn.yaml")
        .replace("tool: source", "tool: action");
    let project = project.file("matrices/flash-attn.yaml", &matrix);
    let words = [
        "--compat",
        "matrices/compat",
        "render",
        "workflow",
        "matrices/flash-attn.yaml",
    ];
    let workflow = project.run(&words).exits(0).stdout;
    assert!(
        workflow.contains(&format!("uses: org/rock-action@{sha} # {version}\n")),
        "{workflow}"
    );
}

#[test]
fn the_newest_is_so_by_its_number_and_prereleases_and_moving_tags_are_none() {
    let (project, server) = world(&[]);
    for tag in [
        "v9.0.0",
        "v10.0.0",
        "v10.1.0-beta.1",
        "v11.0.0-rc1",
        "v9",
        "v10",
        "v12",
        "12.0.0",
        "v9.10.0",
    ] {
        release(&server, CHECKOUT, tag, "node24");
    }
    let attest = release(&server, "actions/attest", "v4.10.0", "node24");
    release(&server, "actions/attest", "v4.9.0", "node24");
    let outcome = refresh(&project, &server, &["--check"], 1);
    assert_eq!(
        outcome.stderr,
        "actions/checkout: v7.0.1 -> v10.0.0, a new major version: read its release notes before \
         you apply the patch\n\
         actions/attest: v4.2.2 -> v4.10.0\n"
    );
    let added: Vec<&str> = outcome
        .stdout
        .lines()
        .filter(|line| line.starts_with("+ "))
        .collect();
    assert_eq!(added.len(), 2, "{}", outcome.stdout);
    let row = format!(
        "+  - {{name: actions/attest, version: v4.10.0, sha: {attest}, runtime: node24, origin: {{status: verified, \
         source: tags, ref: \"tag in actions/attest\", checked: 2026-12-01}}}}"
    );
    assert_eq!(added[1], row);
    assert_eq!(
        refresh(&project, &server, &[], 0).stdout,
        outcome.stdout,
        "without --check a difference is no fault"
    );
}

/// The commit of an annotated tag is that of the tagged object, and the whole way round works.
#[test]
fn the_patch_applies_with_git_and_leaves_facts_without_a_difference() {
    let (project, server) = world(&[]);
    let cited = "pypa/gh-action-pypi-publish";
    let sha = release(&server, cited, "v2.0.0", "composite");
    server
        .github()
        .repository_mut(cited)
        .annotated
        .insert("v2.0.0".to_owned(), fake_sha("an object"));
    release(&server, "actions/deploy-pages", "v5.1.0", "node26");
    let outcome = refresh(&project, &server, &[], 0);
    assert!(
        outcome.stdout.contains(&sha) && !outcome.stdout.contains(&fake_sha("an object")),
        "{}",
        outcome.stdout
    );
    let project = project.file("actions.patch", &outcome.stdout);
    let applied = Command::new("git")
        .args(["apply", "actions.patch"])
        .current_dir(project.root())
        .output()
        .unwrap();
    assert!(
        applied.status.success(),
        "{}",
        String::from_utf8_lossy(&applied.stderr)
    );
    let facts = ["--compat", "matrices/compat"];
    let rows = rows(&project, &facts);
    let row = rows.iter().find(|row| row["name"] == cited).unwrap();
    assert_eq!(
        (&row["version"], &row["runtime"]),
        (&json!("v2.0.0"), &json!("composite"))
    );
    assert_eq!(
        (&row["origin"]["status"], &row["origin"]["source"]),
        (&json!("verified"), &json!("tags"))
    );
    let again = refresh(
        &project,
        &server,
        &["--compat", "matrices/compat", "--check"],
        0,
    );
    assert_eq!(again.stdout, "");
}

#[test]
fn a_tag_that_moved_is_a_warning_and_nothing_of_its_repository_is_taken() {
    let (project, server) = world(&[]);
    let elsewhere = fake_sha("elsewhere");
    release(&server, CHECKOUT, "v7.0.2", "node24");
    server
        .github()
        .repository_mut(CHECKOUT)
        .tags
        .insert("v7.0.1".to_owned(), elsewhere.clone());
    let outcome = refresh(&project, &server, &["--check"], 1);
    assert_eq!(outcome.stdout, "");
    insta::assert_snapshot!(outcome.stderr.replace(&elsewhere, "[ELSEWHERE]"), @r"
    warning[K009 moved-tag]: actions/checkout: the tag v7.0.1 was moved from 3d3c42e5aac5ba805825da76410c181273ba90b1 to [ELSEWHERE]
    --> actions/checkout v7.0.1
     = note: the row is kept, and nothing newer from this repository is proposed
    help: find out why before you use any commit of it: check its releases and security advisories
    ");
    assert_eq!(refresh(&project, &server, &[], 0).stdout, "");
}

#[test]
fn a_newer_release_on_another_runtime_is_reported_and_not_taken() {
    let (project, server) = world(&[]);
    for (action, using) in [(CHECKOUT, "node20"), ("actions/attest", "docker")] {
        release(&server, action, "v9.0.0", using);
    }
    let without = release(&server, "actions/cache", "v9.0.0", "node24");
    server
        .github()
        .repository_mut("actions/cache")
        .files
        .clear();
    let other = release(&server, "actions/upload-artifact", "v9.0.0", "node24");
    {
        let mut github = server.github();
        let files = github
            .repository_mut("actions/upload-artifact")
            .files
            .get_mut(&other)
            .unwrap();
        let text = files.remove("action.yml").unwrap();
        files.insert("action.yaml".to_owned(), text);
        github
            .repository_mut("actions/deploy-pages")
            .tags
            .insert("v9.0.0".to_owned(), "deadbeef".to_owned());
    }
    let outcome = refresh(&project, &server, &[], 0);
    let kept = "but runners support composite actions and node24 or later; its row is kept";
    assert_eq!(
        outcome.stderr,
        format!(
            "actions/upload-artifact: v7.0.1 -> v9.0.0, a new major version: read its release \
             notes before you apply the patch\n\
             actions/checkout: v9.0.0 runs on node20, {kept}\n\
             actions/attest: v9.0.0 runs on docker, {kept}\n\
             actions/cache: no action.yml defines the runtime of v9.0.0; its row is kept\n\
             actions/deploy-pages: v9.0.0 does not point to a commit; its row is kept\n"
        )
    );
    assert!(
        outcome.stdout.contains(&other) && !outcome.stdout.contains(&without),
        "{}",
        outcome.stdout
    );
}

#[test]
fn a_missing_action_does_not_stop_the_refresh_of_others() {
    let (project, server) = world(&[]);
    {
        let mut github = server.github();
        github
            .repositories
            .retain(|_, repository| repository.full_name != "actions/cache");
        github.repository_mut("actions/attest").tags.clear();
        let renamed = github.repository_mut("actions/deploy-pages");
        renamed.old_names.push(std::mem::replace(
            &mut renamed.full_name,
            "actions/pages".to_owned(),
        ));
    }
    release(&server, CHECKOUT, "v7.1.0", "node24");
    release(&server, "actions/pages", "v5.0.1", "node24");
    let outcome = refresh(&project, &server, &[], 0);
    assert_eq!(
        outcome.stderr,
        "actions/checkout: v7.0.1 -> v7.1.0\n\
         actions/deploy-pages: v5.0.0 -> v5.0.1\n\
         actions/attest: the tag v4.2.2 no longer exists\n\
         actions/cache: the repository does not exist on GitHub; its row is kept\n"
    );
    assert_eq!(
        outcome
            .stdout
            .lines()
            .filter(|line| line.starts_with("+ "))
            .count(),
        2,
        "{}",
        outcome.stdout
    );
}

#[test]
fn tags_of_many_pages_are_all_read() {
    let (project, server) = world(&[]);
    for number in 0..240 {
        release(&server, CHECKOUT, &format!("v7.{number}.0"), "node24");
    }
    let outcome = refresh(&project, &server, &[], 0);
    assert_eq!(outcome.stderr, "actions/checkout: v7.0.1 -> v7.239.0\n");
    let github = server.github();
    let pages = github
        .ledger
        .requests
        .iter()
        .filter(|request| request.url.contains("tags?per_page=100&page="));
    assert_eq!(pages.count(), 2);
}

#[test]
fn the_document_has_what_was_read_the_differences_the_remarks_and_the_patch() {
    let (project, server) = world(&[]);
    let sha = release(&server, CHECKOUT, "v8.0.0", "node24");
    release(&server, "actions/cache", "v7.0.0", "node20");
    let document = refresh(&project, &server, &["--format", "json", "--check"], 1).json();
    assert_eq!(
        (
            &document["version"],
            document["read"].as_array().unwrap().len()
        ),
        (&json!(1), rows(&project, &[]).len())
    );
    let difference = json!({"action": CHECKOUT, "from": "v7.0.1", "to": "v8.0.0", "sha": sha, "runtime": "node24", "major": true});
    assert_eq!(document["differences"], json!([difference]));
    assert_eq!(document["remarks"][0]["action"], "actions/cache");
    assert_eq!(document["remarks"][0]["remark"], "runtime");
    assert!(
        document["patch"]
            .as_str()
            .unwrap()
            .starts_with("--- a/matrices/compat/actions.yaml\n")
    );
}

#[test]
fn faults_that_pass_are_lived_with_and_others_leave_no_patch() {
    let with = |rules: &[&str], token: &str, exit: i32| {
        let (project, server) = world(&[]);
        release(&server, CHECKOUT, "v7.1.0", "node24");
        for number in 0..100 {
            release(
                &server,
                "actions/attest",
                &format!("v4.0.{number}"),
                "node24",
            );
        }
        for rule in rules {
            server
                .github()
                .faults
                .add(rule.parse::<FaultRule>().unwrap());
        }
        let outcome = refresh(&project.env("GITHUB_TOKEN", token), &server, &[], exit);
        assert_eq!(outcome.stdout.is_empty(), exit != 0, "{}", outcome.stdout);
        outcome.stderr
    };
    with(
        &["list-tags#2=retry-after:429:0", "contents#1=503"],
        "reader",
        0,
    );
    let limited = with(&["list-tags#3=limit:403:3600"], "", 3);
    assert!(
        limited.starts_with("error[G107 no-answer]: GET /repositories/"),
        "{limited}"
    );
    assert!(
        limited.contains("help: set `GITHUB_TOKEN`: without a token GitHub answers 60"),
        "{limited}"
    );
    let garbled = with(&["list-tags#2=garbled"], "reader", 3);
    assert!(garbled.contains("the response is not valid"), "{garbled}");
    let elsewhere = with(&["list-tags#2=next-elsewhere"], "reader", 3);
    assert!(elsewhere.contains("api-leads-elsewhere"), "{elsewhere}");
    let refused = with(&["list-tags#1=bad-credentials"], "reader", 3);
    assert!(
        refused.contains("or unset it: public data needs no token"),
        "{refused}"
    );
}

#[test]
fn a_source_is_named_and_only_one() {
    let project = Project::new();
    for words in [&[][..], &["--actions", "--from", "whl"]] {
        let outcome = project
            .run(&[&["compat", "refresh"], words].concat())
            .exits(2);
        assert!(
            outcome.stderr.contains("--from") && outcome.stderr.contains("--actions"),
            "{}",
            outcome.stderr
        );
    }
}

/// 2.4: the way to pin this project's own action, once it has a release.
#[test]
fn a_row_of_the_tool_is_refreshed_and_pins_it_in_the_rendered_workflow() {
    let (project, server) = world(&[]);
    let tool = "org/rock-action";
    let first = fake_sha("first");
    let row = |version: &str, sha: &str, checked: &str| {
        format!(
            "  - {{name: {tool}, version: {version}, sha: {sha}, runtime: composite, origin: {{status: verified, source: \
             tags, ref: \"tag in {tool}\", checked: {checked}}}}}\n"
        )
    };
    let text = project.read("matrices/compat/actions.yaml") + &row("v0.1.0", &first, "2026-11-21");
    let project = project.file("matrices/compat/actions.yaml", &text);
    server
        .github()
        .add_repository(tool)
        .tags
        .insert("v0.1.0".to_owned(), first);
    let sha = release(&server, tool, "v0.2.0", "composite");
    let facts = ["--compat", "matrices/compat"];
    let patch = refresh(&project, &server, &facts, 0).stdout;
    let project = project.file("actions.patch", &patch);
    let applied = Command::new("git")
        .args(["apply", "actions.patch"])
        .current_dir(project.root())
        .output()
        .unwrap();
    assert!(
        applied.status.success(),
        "{}",
        String::from_utf8_lossy(&applied.stderr)
    );
    assert!(project.read("matrices/compat/actions.yaml").ends_with(&row(
        "v0.2.0",
        &sha,
        "2026-12-01"
    )));
    let matrix = project
        .read("matrices/flash-attn.yaml")
        .replace("tool: source", "tool: action");
    let project = project.file("matrices/flash-attn.yaml", &matrix);
    let words = ["render", "workflow", "matrices/flash-attn.yaml"];
    let workflow = project.run(&[&facts[..], &words].concat()).exits(0).stdout;
    assert!(
        workflow.contains(&format!("uses: {tool}@{sha} # v0.2.0\n")),
        "{workflow}"
    );
    assert!(!workflow.contains("[unpinned-uses]"), "{workflow}");
}

/// `LARGEST_FILE_BYTES`: 1 MiB.
#[test]
fn an_action_file_of_more_than_a_mebibyte_is_not_read() {
    for (bytes, is_read) in [(1 << 20, true), ((1 << 20) + 1, false)] {
        let (project, server) = world(&[]);
        let sha = release(&server, CHECKOUT, "v7.9.9", "node24");
        let mut github = server.github();
        let files = github.repository_mut(CHECKOUT).files.get_mut(&sha).unwrap();
        let text = files.get_mut("action.yml").unwrap();
        text.push_str(&"#".repeat(bytes - text.len()));
        drop(github);
        let url = server.url();
        let outcome = project
            .run(&["compat", "refresh", "--actions", "--api-url", &url])
            .exits(if is_read { 0 } else { 3 });
        assert_eq!(
            outcome.stderr.contains("v7.0.1 -> v7.9.9"),
            is_read,
            "{}",
            outcome.stderr
        );
    }
}

/// `MAX_REDIRECTS`: 5.
#[test]
fn a_call_follows_five_redirects_and_no_more() {
    for (redirects, is_read) in [(5, true), (6, false)] {
        let count = std::sync::atomic::AtomicUsize::new(0);
        let served = Served::answering(move |_| {
            let number = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            if number < redirects {
                answer(
                    "307 Temporary Redirect",
                    &format!("Location: /moved/{number}\r\n"),
                    b"",
                )
            } else {
                answer("200 OK", "Content-Type: application/json\r\n", b"[]")
            }
        });
        let words = [
            "index",
            "build",
            "--published",
            "me/wheels",
            "--out",
            "pages",
            "--api-url",
            &served.url(),
        ];
        let stderr = Project::new()
            .run(&words)
            .exits(if is_read { 0 } else { 3 })
            .stderr;
        assert_eq!(
            stderr.contains("redirects a request more than 5 times"),
            !is_read,
            "{stderr}"
        );
        assert_eq!(served.requests().len(), 6, "{:?}", served.requests());
    }
}

/// `MOST_PAGES`: 50 of a hundred tags.
#[test]
fn a_listing_of_more_than_fifty_pages_is_not_read() {
    for (tags, is_read) in [(5000, true), (5001, false)] {
        let (project, server) = world(&[]);
        let mut github = server.github();
        let all = &mut github.repository_mut(CHECKOUT).tags;
        for number in all.len()..tags {
            all.insert(format!("w{number}"), fake_sha("w"));
        }
        drop(github);
        let url = server.url();
        let outcome = project
            .run(&["compat", "refresh", "--actions", "--api-url", &url])
            .exits(if is_read { 0 } else { 3 });
        assert_eq!(
            outcome.stderr.contains("it has more than 50 pages"),
            !is_read,
            "{}",
            outcome.stderr
        );
    }
}
