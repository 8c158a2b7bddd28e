//! A maintainer publishes to GitHub: files arrive under their own names, once, and a release is
//! public when it is whole.

use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::{Outcome, Project, Wheel};
use fake_github::model::{
    ApiOperation, DigestMode, FakeGithub, FaultRule, GithubSettings, ReachedState, StoredAsset,
    StoredRelease,
};
use fake_github::server::FakeServer;

const CP311: &str = "flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl";
const CP312: &str = "flash_attn-2.8.3+rocm62torch2.5-cp312-cp312-linux_x86_64.whl";
/// What publishing makes from the wheels.
const DOCUMENTS: [&str; 2] = ["SHA256SUMS", "rock-manifest.json"];

fn project(names: &[&str]) -> Project {
    let project = Project::new().env("GITHUB_TOKEN", "writer");
    names.iter().fold(project, |project, name| {
        project.bytes(&format!("dist/{name}"), &Wheel::named(name).bytes())
    })
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

fn arguments(server: &FakeServer, more: &[&str]) -> Vec<String> {
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
    words
        .iter()
        .copied()
        .chain(more.iter().copied())
        .map(str::to_owned)
        .collect()
}

fn publish(project: &Project, server: &FakeServer, more: &[&str], exit: i32) -> Outcome {
    let arguments = arguments(server, more);
    let outcome = project
        .run(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
        .exits(exit);
    assert!(
        !outcome.stdout.contains("writer") && !outcome.stderr.contains("writer"),
        "the token is printed"
    );
    assert_eq!(server.github().ledger.leaks, 0, "the token went elsewhere");
    outcome
}

fn releases(server: &FakeServer) -> Vec<Arc<StoredRelease>> {
    server
        .github()
        .repository("me/wheels")
        .releases
        .values()
        .cloned()
        .collect()
}

fn names(release: &StoredRelease) -> Vec<String> {
    let mut names: Vec<String> = release
        .assets
        .iter()
        .map(|asset: &Arc<StoredAsset>| asset.name.clone())
        .collect();
    names.sort();
    names
}

fn writes(server: &FakeServer) -> usize {
    server.github().ledger.writes()
}

fn all(wheels: &[&str]) -> Vec<String> {
    let mut all: Vec<String> = wheels
        .iter()
        .chain(&DOCUMENTS)
        .map(|name| (*name).to_owned())
        .collect();
    all.sort();
    all
}

#[test]
fn a_release_is_a_draft_until_all_is_there_and_names_keep_their_plus() {
    let (project, server) = (project(&[CP311, CP312]), server(&[]));
    let stdout = publish(&project, &server, &[], 0).stdout;
    assert_eq!(
        stdout,
        format!(
            "{}/me/wheels/releases/tag/v1 is published: 4 files\n",
            server.url()
        )
    );
    let [release] = &releases(&server)[..] else {
        panic!("one release")
    };
    assert_eq!(
        (names(release), release.draft),
        (all(&[CP311, CP312]), false)
    );
    let reached = |state| server.github().ledger.times(state);
    assert_eq!(
        (
            reached(ReachedState::DraftMade),
            reached(ReachedState::PublishedAtOnce),
            reached(ReachedState::Published)
        ),
        (1, 0, 1)
    );
    assert_eq!(server.github().ledger.complaints, Vec::<String>::new());
}

#[test]
fn a_step_of_a_workflow_gets_its_release() {
    let (project, server) = (project(&[CP311]), server(&[]));
    let project = project.env("GITHUB_OUTPUT", "outputs");
    publish(&project, &server, &["--github-output", "--dry-run"], 0);
    assert!(
        !project.has("outputs"),
        "a release that is not there has no number"
    );
    for _ in 0..2 {
        publish(&project, &server, &["--github-output"], 0);
        let number = releases(&server)[0].id;
        let expected = format!(
            "release-id={number}\nrelease-url={}/me/wheels/releases/tag/v1\n",
            server.url()
        );
        assert_eq!(project.read("outputs"), expected);
        std::fs::remove_file(project.path("outputs")).unwrap();
    }
    publish(&project, &server, &[], 0);
    assert!(!project.has("outputs"), "nobody asked");
}

#[test]
fn a_second_run_writes_nothing_on_mutable_and_immutable_releases() {
    for is_immutable in [false, true] {
        let (project, server) = (project(&[CP311]), server(&[]));
        server
            .github()
            .repository_mut("me/wheels")
            .has_immutable_releases = is_immutable;
        publish(&project, &server, &[], 0);
        let before = writes(&server);
        let count = server.github().ledger.requests.len();
        let stdout = publish(&project, &server, &[], 0).stdout;
        assert!(
            stdout.contains("is up to date, nothing written: 3 files"),
            "{stdout}"
        );
        assert_eq!(writes(&server), before);
        assert!(server.github().ledger.requests.len() - count <= 5);
    }
}

#[test]
fn a_dry_run_reports_the_calls_and_makes_none() {
    let (project, server) = (project(&[CP311]).file("state.json", "[]"), server(&[]));
    let online = publish(&project, &server, &["--dry-run"], 0).stdout;
    let saved = publish(
        &project,
        &server,
        &["--dry-run", "--state", "state.json"],
        0,
    )
    .stdout;
    assert_eq!(online, saved);
    assert!(
        online.contains("name=flash_attn-2.8.3%2Brocm62torch2.5-cp311-cp311-linux_x86_64.whl  "),
        "{online}"
    );
    let calls: Vec<&str> = online
        .lines()
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    assert_eq!(calls, ["POST", "POST", "POST", "POST", "PATCH", "5"]);
    assert_eq!((writes(&server), releases(&server).len()), (0, 0));
}

#[test]
fn what_a_cut_upload_left_is_sent_again_by_the_same_run_or_the_next() {
    for (rules, exit) in [(&["upload#2=cut:100"][..], 0), (&["upload=cut:100"][..], 3)] {
        let (project, server) = (project(&[CP311]), server(rules));
        let outcome = publish(&project, &server, &[], exit);
        if exit == 3 {
            assert!(
                outcome.stdout.contains(&format!(
                    "resume with:\n  rock-matrix publish --dist dist --repo me/wheels --tag v1 --api-url {}\n",
                    server.url()
                )),
                "{}",
                outcome.stdout
            );
            assert!(releases(&server)[0].draft, "nothing is published");
            server.github().faults = fake_github::model::FaultSchedule::none();
            publish(&project, &server, &[], 0);
        }
        let [release] = &releases(&server)[..] else {
            panic!("one release")
        };
        assert_eq!((names(release), release.draft), (all(&[CP311]), false));
    }
}

#[test]
fn other_bytes_are_refused_or_replaced_on_request_without_gap() {
    let (project, server) = (project(&[CP311]), server(&[]));
    publish(&project, &server, &[], 0);
    let project = project.bytes(
        &format!("dist/{CP311}"),
        &Wheel::named(CP311).file("flash_attn/new.py", b"1").bytes(),
    );
    let before = writes(&server);
    let refused = publish(&project, &server, &["--allow-published"], 1).stderr;
    assert!(refused.contains("error[G002 asset-differs]"), "{refused}");
    let refused = publish(&project, &server, &["--replace"], 1).stderr;
    assert!(
        refused.contains("error[G101 release-is-published]"),
        "{refused}"
    );
    assert_eq!(writes(&server), before);
    publish(&project, &server, &["--replace", "--allow-published"], 0);
    let [release] = &releases(&server)[..] else {
        panic!("one release")
    };
    assert_eq!(names(release), all(&[CP311]));
    let log: Vec<String> = server
        .github()
        .ledger
        .requests
        .iter()
        .map(|request| format!("{} {}", request.method, request.url))
        .collect();
    let first = |word: &str| {
        log.iter()
            .position(|line| line.contains(word))
            .unwrap_or_else(|| panic!("{word}: {log:#?}"))
    };
    assert!(first(".whl.tmp-") < first("DELETE"), "{log:#?}");
}

#[test]
fn an_immutable_release_is_never_written_to() {
    let (project, server) = (project(&[CP311]), server(&[]));
    server
        .github()
        .repository_mut("me/wheels")
        .has_immutable_releases = true;
    publish(&project, &server, &[], 0);
    let project = project.bytes(&format!("dist/{CP312}"), &Wheel::named(CP312).bytes());
    let before = writes(&server);
    let refused = publish(&project, &server, &["--replace", "--allow-published"], 1).stderr;
    assert!(
        refused.contains("error[G100 immutable-release]"),
        "{refused}"
    );
    assert_eq!(writes(&server), before);
}

#[test]
fn an_immutable_release_is_reported_without_useless_options() {
    let made = || {
        let (project, server) = (project(&[CP311]), server(&[]));
        server
            .github()
            .repository_mut("me/wheels")
            .has_immutable_releases = true;
        publish(&project, &server, &[], 0);
        (project, server)
    };
    let refused = |project: &Project, server: &FakeServer, more: &[&str]| {
        let before = writes(server);
        let stderr = publish(project, server, more, 1).stderr;
        assert_eq!(
            (stderr.matches("error[").count(), writes(server)),
            (1, before),
            "{stderr}"
        );
        assert!(
            stderr.contains("error[G100 immutable-release]") && stderr.contains("under a new tag"),
            "{stderr}"
        );
        assert!(!stderr.contains("`--"), "no option helps: {stderr}");
    };
    let other = Wheel::named(CP311).file("flash_attn/new.py", b"1").bytes();
    let (project, server) = made();
    let project = project.bytes(&format!("dist/{CP311}"), &other);
    refused(&project, &server, &[]);
    refused(&project, &server, &["--dry-run"]);
    // A plan that misses a wheel, which `--allow-missing` would let pass.
    let matrix = "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\ngfx: [gfx90a]\naxes:\n  \
                  flash-attn: [\"2.8.3\"]\n  python: [\"3.10\"]\n  torch: [\"2.5.1\"]\n  rocm: [\"6.2\"]\n  backend: [ck]\n";
    let project = project.file("matrix.yaml", matrix);
    let plan = project
        .run(&["plan", "matrix.yaml", "--format", "json"])
        .exits(0)
        .stdout;
    refused(
        &project.file("plan.json", &plan),
        &server,
        &["--plan", "plan.json"],
    );
    // A manifest that cannot be read, which `--replace` would make anew.
    let (_, server) = made();
    change(&server, "rock-manifest.json", |manifest| {
        manifest.content = Some(b"{broken".to_vec().into());
        manifest.size_bytes = 7;
    });
    refused(&self::project(&[CP312]), &server, &[]);
}

#[test]
fn two_drafts_of_a_tag_are_refused_and_empty_ones_deleted_where_allowed() {
    let (project, server) = (project(&[CP311]), server(&[]));
    for _ in 0..2 {
        let made = ureq::post(format!("{}/repos/me/wheels/releases", server.url()))
            .header("authorization", "Bearer writer")
            .header("user-agent", "a-test")
            .send(r#"{"tag_name": "v1", "draft": true}"#);
        assert_eq!(made.unwrap().status(), 201);
    }
    let refused = publish(&project, &server, &[], 1).stderr;
    assert!(
        refused.contains("error[G102 several-releases-of-tag]"),
        "{refused}"
    );
    assert!(refused.contains("--clean-duplicates"), "{refused}");
    publish(&project, &server, &["--clean-duplicates"], 0);
    let [release] = &releases(&server)[..] else {
        panic!("one release")
    };
    assert_eq!((names(release), release.draft), (all(&[CP311]), false));
}

#[test]
fn a_release_filled_by_others_is_an_error_before_any_upload() {
    let (project, server) = (project(&[CP311]), server(&[]));
    publish(&project, &server, &[], 0);
    for release in server
        .github()
        .repository_mut("me/wheels")
        .releases
        .values_mut()
    {
        let release = Arc::make_mut(release);
        let one = StoredAsset::clone(&release.assets[0]);
        let more = (release.assets.len()..1000).map(|at| {
            Arc::new(StoredAsset {
                id: 100_000 + at as u64,
                name: format!("of-others-{at}"),
                ..one.clone()
            })
        });
        release.assets.extend(more.collect::<Vec<_>>());
    }
    let before = writes(&server);
    let two = project.bytes(&format!("dist/{CP312}"), &Wheel::named(CP312).bytes());
    let stderr = publish(&two, &server, &["--allow-published"], 1).stderr;
    assert!(
        stderr.contains("error[G120 release-is-full]") && stderr.contains("1000 files"),
        "{stderr}"
    );
    assert_eq!(writes(&server), before);
}

#[test]
fn the_text_of_what_is_published_is_changed_only_on_request() {
    let (project, server) = (project(&[CP311]).file("notes.md", "New.\n"), server(&[]));
    server
        .github()
        .repository_mut("me/wheels")
        .has_immutable_releases = true;
    publish(&project, &server, &[], 0);
    let before = writes(&server);
    let stderr = publish(&project, &server, &["--notes", "notes.md"], 1).stderr;
    assert!(
        stderr.contains("error[G101 release-is-published]") && stderr.contains("its title or text"),
        "{stderr}"
    );
    assert_eq!(writes(&server), before);
    publish(
        &project,
        &server,
        &["--notes", "notes.md", "--allow-published"],
        0,
    );
    assert_eq!(
        releases(&server)[0].body.as_deref().map(str::trim),
        Some("New.")
    );
}

/// The release's own asset is changed behind the program's back.
fn change(server: &FakeServer, name: &str, with: impl Fn(&mut StoredAsset)) {
    for release in server
        .github()
        .repository_mut("me/wheels")
        .releases
        .values_mut()
    {
        for asset in &mut Arc::make_mut(release).assets {
            if asset.name == name {
                with(Arc::make_mut(asset));
            }
        }
    }
}

fn text(server: &FakeServer, name: &str) -> String {
    let release = &releases(server)[0];
    let asset = release
        .assets
        .iter()
        .find(|asset| asset.name == name)
        .unwrap();
    String::from_utf8(asset.content.as_ref().unwrap().to_vec()).unwrap()
}

#[test]
fn published_wheels_stay_in_the_sums_despite_a_broken_manifest() {
    let (project, server) = (project(&[CP311]), server(&[]));
    publish(&project, &server, &[], 0);
    change(&server, "rock-manifest.json", |asset| {
        asset.content = Some(b"{broken".to_vec().into());
        asset.size_bytes = 7;
    });
    let before = writes(&server);
    let other = self::project(&[CP312]);
    let stderr = publish(&other, &server, &["--allow-published"], 1).stderr;
    assert!(
        stderr.contains("error[G118 manifest-unreadable]"),
        "{stderr}"
    );
    assert_eq!(writes(&server), before);
    let stderr = publish(&other, &server, &["--allow-published", "--replace"], 0).stderr;
    assert!(
        stderr.contains("warning[G118 manifest-unreadable]") && !stderr.contains("G119"),
        "{stderr}"
    );
    assert!(!stderr.contains("--replace"), "that was given: {stderr}");
    for document in DOCUMENTS {
        let text = text(&server, document);
        assert!(text.contains(CP311) && text.contains(CP312), "{text}");
    }
}

#[test]
fn published_wheels_without_a_digest_are_named() {
    let (project, server) = (project(&[CP311]), server(&[]));
    publish(&project, &server, &[], 0);
    change(&server, CP311, |asset| asset.hides_digest = true);
    server
        .github()
        .repository_mut("me/wheels")
        .releases
        .values_mut()
        .for_each(|release| {
            Arc::make_mut(release)
                .assets
                .retain(|asset| asset.name != "rock-manifest.json");
        });
    let stderr = publish(&self::project(&[CP312]), &server, &["--allow-published"], 0).stderr;
    assert!(
        stderr.contains("warning[G119 not-in-sums]") && stderr.contains(CP311),
        "{stderr}"
    );
}

#[test]
fn a_dry_run_reports_its_cost_and_a_refused_one_only_errors() {
    let (project, server) = (project(&[CP311]).file("notes.md", "Text.\n"), server(&[]));
    let stdout = publish(&project, &server, &["--dry-run", "--notes", "notes.md"], 0).stdout;
    assert!(
        stdout.contains(" bytes  body, draft, make_latest\n"),
        "{stdout}"
    );
    assert!(
        stdout.contains("5 requests would change something, out of about ")
            && stdout.contains(", with pauses of "),
        "{stdout}"
    );
    publish(&project, &server, &[], 0);
    let two = project.bytes(&format!("dist/{CP312}"), &Wheel::named(CP312).bytes());
    let refused = publish(&two, &server, &["--dry-run"], 1);
    assert!(
        refused.stdout.is_empty() && refused.stderr.contains("error[G101 "),
        "{}",
        refused.stdout
    );
    let many = (0..451).fold(self::project(&[]), |project, at| {
        project.source_distribution(&format!("dist/a-{at}.tar.gz"))
    });
    let outcome = publish(&many, &server, &["--dry-run", "--allow-published"], 0);
    assert!(
        outcome.stderr.contains("warning[G113 too-many-calls]"),
        "{}",
        outcome.stderr
    );
    assert!(
        outcome.stdout.contains(" min for GitHub's rate limits"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn the_address_of_a_release_is_reported_once_it_is_public() {
    let (project, server) = (
        project(&[CP311]),
        server(&["create-release=tag-ruleset:422"]),
    );
    let stdout = publish(&project, &server, &[], 1).stdout;
    assert!(stdout.contains("there is no release v1"), "{stdout}");
    server.github().faults = fake_github::model::FaultSchedule::none();
    publish(&project, &server, &[], 0);
    server
        .github()
        .faults
        .add("upload=no-right".parse::<FaultRule>().unwrap());
    let two = project.bytes(&format!("dist/{CP312}"), &Wheel::named(CP312).bytes());
    let stdout = publish(&two, &server, &["--allow-published"], 3).stdout;
    assert!(
        stdout.contains(
            "the release v1 is public, but incomplete or out of date; when that is fixed"
        ),
        "{stdout}"
    );
    let json = publish(&two, &server, &["--allow-published", "--format", "json"], 3).stdout;
    assert!(
        json.contains("\"published\": true") && json.contains("\"complete\": false"),
        "{json}"
    );
}

#[test]
fn files_without_a_digest_are_compared_by_size_with_a_note() {
    let (project, server) = (
        project(&[CP311]),
        FakeServer::start(FakeGithub::new(GithubSettings {
            digests: DigestMode::Null,
            ..GithubSettings::default()
        })),
    );
    publish(&project, &server, &[], 0);
    let stdout = publish(&project, &server, &[], 0).stdout;
    assert!(
        stdout.contains("3 files, 3 of them compared by size alone; `--verify full`"),
        "{stdout}"
    );
    let stdout = publish(&project, &server, &["--verify", "full"], 0).stdout;
    assert!(
        stdout.contains("is up to date, nothing written: 3 files\n"),
        "what is read is not written: {stdout}"
    );
}

#[test]
fn files_that_stay_beside_what_is_published_are_counted() {
    let server = server(&[]);
    publish(&project(&[CP311]), &server, &[], 0);
    let stdout = publish(&project(&[CP312]), &server, &["--allow-published"], 0).stdout;
    assert!(
        stdout.ends_with(" is published: 3 files, next to 1 unchanged\n"),
        "{stdout}"
    );
}

#[test]
fn a_tag_that_an_immutable_release_had_is_spent() {
    let (project, server) = (project(&[CP311]), server(&[]));
    server
        .github()
        .repository_mut("me/wheels")
        .burned_tags
        .insert("v1".to_owned());
    let outcome = publish(&project, &server, &[], 3);
    assert!(
        outcome.stderr.contains("error[G121 tag-is-spent]"),
        "{}",
        outcome.stderr
    );
    assert!(
        releases(&server)[0].draft && outcome.stdout.contains("is a draft"),
        "{}",
        outcome.stdout
    );
}

#[test]
fn a_tag_may_have_parts() {
    let (project, server) = (project(&[CP311]), server(&[]));
    let commit = server.github().repository("me/wheels").tags["v1"].clone();
    server
        .github()
        .repository_mut("me/wheels")
        .tags
        .insert("flash/v1".to_owned(), commit);
    let url = server.url();
    let words = [
        "publish",
        "--dist",
        "dist",
        "--repo",
        "me/wheels",
        "--tag",
        "flash/v1",
        "--api-url",
        &url,
    ];
    project.run(&words).exits(0);
    assert_eq!(releases(&server)[0].tag_name, "flash/v1");
    let run = project.run(&[
        "publish",
        "--dist",
        "dist",
        "--repo",
        "me/wheels",
        "--tag",
        "a b",
        "--api-url",
        &url,
    ]);
    assert!(run.exits(1).stderr.contains("is not a valid tag"));
}

#[test]
fn options_for_github_are_refused_for_a_folder() {
    let project = project(&[CP311]);
    for words in [
        &["--notes", "notes.md"][..],
        &["--slow"],
        &["--allow-published"],
        &["--verify", "full"],
    ] {
        let all: Vec<&str> = ["publish", "--to", "release", "dist"]
            .iter()
            .chain(words)
            .copied()
            .collect();
        assert!(
            project
                .run(&all)
                .exits(2)
                .stderr
                .contains("cannot be used with"),
            "{words:?}"
        );
    }
}

/// A server of this kind makes the command fail so.
fn fails(rules: &[&str], more: &[&str], exit: i32, code: &str) -> String {
    let (project, server) = (project(&[CP311]), server(rules));
    let outcome = publish(&project, &server, more, exit);
    assert!(
        outcome.stderr.contains(&format!("error[{code} ")),
        "{rules:?}: {}",
        outcome.stderr
    );
    assert!(
        releases(&server).iter().all(|release| release.draft),
        "{rules:?}"
    );
    outcome.stderr
}

#[test]
fn refusals_by_github_are_reported_with_help() {
    fails(&["list-releases=bad-credentials"], &[], 3, "G103");
    let no_right = fails(&["create-release=no-right"], &[], 3, "G104");
    assert!(no_right.contains("contents: write"), "{no_right}");
    fails(&["list-releases=hidden"], &[], 3, "G105");
    fails(&["create-release=tag-ruleset:422"], &[], 1, "G106");
    fails(&["list-releases=garbled"], &[], 3, "G106");
    fails(&["list-releases=elsewhere:302"], &[], 3, "G108");
    let elsewhere = fails(&["upload#1=elsewhere:307"], &[], 3, "G108");
    assert!(elsewhere.contains("--uploads-host"), "{elsewhere}");
    let unread = fails(&["list-releases=no-right"], &[], 3, "G104");
    assert!(
        unread.contains("contents: read") && !unread.contains("contents: write"),
        "{unread}"
    );
    fails(&["upload#1=wrong-name"], &[], 3, "G110");
    let damaged = fails(&["upload#1=short"], &[], 3, "G117");
    assert!(
        damaged.contains("but it was uploaded as")
            && damaged.contains("run the same command again"),
        "{damaged}"
    );
    let (project, server) = (project(&[CP311]), server(&[]));
    let stranger = project.env("GITHUB_TOKEN", "");
    let stderr = publish(&stranger, &server, &[], 3).stderr;
    assert!(
        stderr.contains("error[G103 bad-token]") && stderr.contains("--token-file"),
        "{stderr}"
    );
    assert_eq!(server.github().ledger.requests.len(), 0);
}

#[test]
fn a_server_without_tls_is_reported_at_once() {
    let (project, server) = (project(&[CP311]), server(&[]));
    let url = server.url().replace("http:", "https:");
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
    let stderr = project.run(&words).exits(3).stderr;
    assert!(stderr.contains("error[G107 no-answer]"), "{stderr}");
}

#[test]
fn addresses_and_repositories_that_are_none_are_bad_command_lines() {
    let project = project(&[CP311]);
    let run = |words: &[&str]| {
        let all: Vec<&str> = ["publish", "--dist", "dist", "--tag", "v1"]
            .iter()
            .chain(words)
            .copied()
            .collect();
        let stderr = project.run(&all).exits(2).stderr;
        assert!(
            stderr.contains("error[G111 bad-github-address]"),
            "{stderr}"
        );
    };
    run(&["--repo", "wheels"]);
    run(&["--repo", "me/wheels", "--api-url", "http://ghe.example.com"]);
    run(&["--repo", "me/wheels", "--api-url", "nonsense"]);
}

#[test]
fn files_that_github_would_not_take_and_too_many_at_once_are_refused_before_anything_is_sent() {
    let server = server(&[]);
    let empty = project(&[]).file("dist/a-1.tar.gz", "");
    let stderr = publish(&empty, &server, &[], 1).stderr;
    assert!(stderr.contains("error[G112 file-not-taken]"), "{stderr}");
    let many = (0..451).fold(project(&[]), |project, at| {
        project.source_distribution(&format!("dist/a-{at}.tar.gz"))
    });
    let stderr = publish(&many, &server, &[], 1).stderr;
    assert!(
        stderr.contains("error[G113 too-many-calls]") && stderr.contains("--slow"),
        "{stderr}"
    );
    assert_eq!(writes(&server), 0);
    let no_listing = project(&[CP311]).file("state.json", "7");
    let stderr = publish(
        &no_listing,
        &server,
        &["--dry-run", "--state", "state.json"],
        1,
    )
    .stderr;
    assert!(stderr.contains("error[G114 not-a-listing]"), "{stderr}");
}

#[test]
fn a_tag_that_is_missing_or_was_moved_is_refused() {
    let (project, server) = (project(&[CP311]), server(&[]));
    let other = "0123456789abcdef0123456789abcdef01234567";
    let stderr = publish(&project, &server, &["--target", other], 1).stderr;
    assert!(stderr.contains("error[G116 tag-moved]"), "{stderr}");
    server.github().repository_mut("me/wheels").tags.clear();
    let stderr = publish(&project, &server, &[], 1).stderr;
    assert!(stderr.contains("error[G115 tag-is-not-there]"), "{stderr}");
    assert_eq!(writes(&server), 0);
    publish(&project, &server, &["--target", "main"], 0);
}

#[test]
fn a_file_that_is_gone_or_another_when_its_turn_comes_leaves_a_draft() {
    for becomes in [None, Some(1), Some(0)] {
        let (project, server) = (project(&[CP311]), server(&["create-release=hold-after"]));
        let words = arguments(&server, &[]);
        let mut command = project.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        server
            .wait_held(Duration::from_secs(30))
            .expect("the draft is made");
        let path = project.path(&format!("dist/{CP311}"));
        match becomes {
            None => std::fs::remove_file(path).unwrap(),
            // As long as it was, and longer.
            Some(longer) => {
                let size = usize::try_from(std::fs::metadata(&path).unwrap().len()).unwrap();
                std::fs::write(path, vec![7; size + longer]).unwrap();
            }
        }
        server.release_held();
        let done = child.wait_with_output().unwrap();
        let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
        assert_eq!(done.status.code(), Some(3), "{stderr}");
        assert!(
            stderr.contains(&format!(
                "error[G109 file-cannot-be-sent]: cannot upload `dist/{CP311}`: "
            )) && stderr.contains(&format!("--> dist/{CP311}\n")),
            "{stderr}"
        );
        let help = match becomes {
            None => "help: check that the file exists and can be read",
            Some(_) => "help: run the same command again once nothing writes to the file",
        };
        assert!(stderr.contains(help), "{stderr}");
        let [release] = &releases(&server)[..] else {
            panic!("one release")
        };
        assert!(
            release.draft
                && !release
                    .assets
                    .iter()
                    .any(|asset| asset.is_uploaded && asset.name == CP311)
        );
    }
}

#[test]
fn a_cancelled_job_reports_its_state_and_the_next_run_continues() {
    let (project, server) = (project(&[CP311]), server(&["create-release=hold-after"]));
    let words = arguments(&server, &[]);
    let mut command = project.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    server
        .wait_held(Duration::from_secs(30))
        .expect("the draft is made");
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    server.release_held();
    let done = child.wait_with_output().unwrap();
    let stdout = String::from_utf8_lossy(&done.stdout).into_owned();
    assert_eq!(
        done.status.code(),
        Some(143),
        "{stdout}{}",
        String::from_utf8_lossy(&done.stderr)
    );
    assert!(
        stdout.contains(&format!("{CP311}  missing")) && stdout.contains("resume with:"),
        "{stdout}"
    );
    server.github().faults = fake_github::model::FaultSchedule::none();
    publish(&project, &server, &[], 0);
    let [release] = &releases(&server)[..] else {
        panic!("one release")
    };
    assert_eq!((names(release), release.draft), (all(&[CP311]), false));
}

/// A signal while the server holds a request and never answers: what is said, and the command that
/// it names.
fn cancelled(
    rule: &str,
    signal: rustix::process::Signal,
    exit: i32,
) -> (Project, FakeServer, String, String) {
    let (project, server) = (project(&[CP311]), server(&[rule]));
    let words = arguments(
        &server,
        &[
            "--title",
            "It's 1",
            "--verify",
            "full",
            "--deadline",
            "30",
            "--at-once",
            "3",
        ],
    );
    let mut command = project.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    server
        .wait_held(Duration::from_secs(30))
        .expect("a request is held");
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    let begun = std::time::Instant::now();
    rustix::process::kill_process(pid, signal).unwrap();
    let done = child.wait_with_output().unwrap();
    let took = begun.elapsed();
    let output = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
    assert_eq!(done.status.code(), Some(exit), "{rule}: {output}");
    assert!(
        took < Duration::from_millis(7500),
        "{rule}: a cancelled job is killed before {took:?}"
    );
    let resume = output
        .split("resume with:\n  ")
        .nth(1)
        .and_then(|rest| rest.lines().next())
        .unwrap_or_default()
        .to_owned();
    let expected = format!(
        "rock-matrix publish --dist dist --repo me/wheels --tag v1 --api-url {} --title 'It'\\''s 1' --verify full \
         --deadline 30 --at-once 3",
        server.url()
    );
    assert_eq!(resume, expected, "{rule}: {output}");
    server.github().faults = fake_github::model::FaultSchedule::none();
    (project, server, output, resume)
}

#[test]
fn a_signal_ends_a_run_in_time_despite_a_silent_server() {
    use rustix::process::Signal;
    std::thread::scope(|scope| {
        for (rule, signal, exit) in [
            ("list-releases=hold-before", Signal::INT, 130),
            ("create-release=hold-after", Signal::TERM, 143),
            ("upload#1=hold-before", Signal::INT, 130),
            ("upload#3=hold-after", Signal::TERM, 143),
            ("edit-release#1=hold-before", Signal::INT, 130),
        ] {
            scope.spawn(move || {
                let (project, server, content, resume) = cancelled(rule, signal, exit);
                let is_reported =
                    rule.starts_with("list") || content.contains(&format!("{CP311}  "));
                assert!(is_reported, "{rule}: {content}");
                assert!(
                    releases(&server).iter().all(|release| release.draft),
                    "{rule}"
                );
                // What is said is what is done.
                let words = shlex::split(&resume).unwrap();
                project
                    .run(&words[1..].iter().map(String::as_str).collect::<Vec<_>>())
                    .exits(0);
                let [release] = &releases(&server)[..] else {
                    panic!("one release")
                };
                assert_eq!(
                    (names(release), release.draft),
                    (all(&[CP311]), false),
                    "{rule}"
                );
                assert_eq!(release.name.as_deref(), Some("It's 1"));
            });
        }
    });
}

/// An upload that is under way when the signal comes and ends in time is kept.
#[test]
fn what_is_sent_when_a_signal_comes_is_settled_and_nothing_else_is_begun() {
    let (project, server) = (project(&[CP311, CP312]), server(&["upload#1=hold-after"]));
    let words = arguments(&server, &["--at-once", "1"]);
    let mut command = project.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    server
        .wait_held(Duration::from_secs(30))
        .expect("a file is sent");
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    server.release_held();
    let done = child.wait_with_output().unwrap();
    let stdout = String::from_utf8_lossy(&done.stdout).into_owned();
    assert_eq!(done.status.code(), Some(143), "{stdout}");
    assert_eq!(
        server
            .github()
            .ledger
            .request_count(fake_github::model::ApiOperation::Upload),
        1,
        "no other was begun"
    );
    assert_eq!(
        (
            stdout.matches("  uploaded\n").count(),
            stdout.matches("  missing\n").count()
        ),
        (1, 3),
        "{stdout}"
    );
}

#[test]
fn subjects_of_an_attestation_are_written_before_anything_is_published() {
    let project = project(&[CP311, CP312]).env("GITHUB_TOKEN", "");
    let stdout = project
        .run(&["release", "subjects", "dist", "--out", "subjects.txt"])
        .exits(0)
        .stdout;
    assert_eq!(stdout, "subjects.txt\n");
    let text = project.read("subjects.txt");
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].ends_with(&format!("  {CP311}")) && lines[1].ends_with(&format!("  {CP312}")),
        "{text}"
    );
    assert!(
        lines.len() == 2 && lines.iter().all(|line| line.find("  ") == Some(64)),
        "{text}"
    );
}

#[test]
fn more_subjects_than_one_attestation_takes_go_into_further_files() {
    let many = (0..1030).fold(project(&[]), |project, at| {
        project.source_distribution(&format!("dist/a-{at}.tar.gz"))
    });
    let stdout = many
        .run(&["release", "subjects", "dist", "--out", "s/subjects.txt"])
        .exits(0)
        .stdout;
    assert_eq!(stdout, "s/subjects.txt\ns/subjects.txt-2\n");
    let count = |path: &str| many.read(path).lines().count();
    assert_eq!(
        (count("s/subjects.txt"), count("s/subjects.txt-2")),
        (1024, 6)
    );
    (0..6).for_each(|at| std::fs::remove_file(many.path(&format!("dist/a-{at}.tar.gz"))).unwrap());
    let stdout = many
        .run(&["release", "subjects", "dist", "--out", "s/subjects.txt"])
        .exits(0)
        .stdout;
    assert_eq!(
        (stdout.as_str(), many.has("s/subjects.txt-2")),
        ("s/subjects.txt\n", false)
    );
}

/// A draft that has the wheels: to send so many takes the minutes that GitHub's limits ask for.
fn has_sent(project: &Project, server: &FakeServer, names: &[&str]) {
    use sha2::Digest as _;
    let asset = |(at, name): (usize, &&str)| {
        let bytes = std::fs::read(project.path(&format!("dist/{name}"))).unwrap();
        let digest = rock_matrix::names::Digest::new(sha2::Sha256::digest(&bytes).into());
        Arc::new(StoredAsset {
            id: 5000 + at as u64,
            name: (*name).to_owned(),
            is_uploaded: true,
            size_bytes: bytes.len() as u64,
            sha256: Some(digest.to_hex()),
            ..StoredAsset::default()
        })
    };
    let assets = names.iter().enumerate().map(asset).collect();
    let release = StoredRelease {
        id: 4999,
        tag_name: "v1".to_owned(),
        draft: true,
        assets,
        ..StoredRelease::default()
    };
    server
        .github()
        .repository_mut("me/wheels")
        .releases
        .insert(release.id, Arc::new(release));
}

/// A wheel that is known is not opened: this one could not be.
#[test]
fn a_second_run_of_256_wheels_with_known_digests_opens_none_asks_five_times_and_writes_nothing() {
    let names: Vec<String> = (0..256)
        .map(|at| {
            format!(
                "flash_attn-2.8.{}+rocm62torch2.5-cp31{}-cp31{}-linux_x86_64.whl",
                at / 4,
                at % 4,
                at % 4
            )
        })
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (project, server) = (project(&names), server(&[]));
    server.github().settings.keep_bytes = 1 << 22;
    has_sent(&project, &server, &names);
    publish(&project, &server, &[], 0);
    let manifest = {
        let github = server.github();
        let releases = &github.repository("me/wheels").releases;
        let assets = releases.values().flat_map(|release| &release.assets);
        assets
            .clone()
            .find(|asset| asset.name == DOCUMENTS[1])
            .unwrap()
            .content
            .clone()
            .unwrap()
    };
    let project = project.bytes("manifest.json", &manifest);
    for name in &names {
        // As long as it was, and no wheel: who reads it fails.
        let path = project.path(&format!("dist/{name}"));
        let size = std::fs::metadata(&path).unwrap().len();
        std::fs::write(&path, vec![0; usize::try_from(size).unwrap()]).unwrap();
    }
    publish(&project, &server, &["--read-all"], 1);
    for known in [&["--known", "manifest.json"][..], &[]] {
        if known.is_empty() {
            std::fs::rename(
                project.path("manifest.json"),
                project.path("dist/rock-manifest.json"),
            )
            .unwrap();
            let late = std::time::SystemTime::now() + Duration::from_secs(5);
            let file = std::fs::File::options()
                .append(true)
                .open(project.path("dist/rock-manifest.json"))
                .unwrap();
            file.set_modified(late).unwrap();
        }
        let count = server.github().ledger.requests.len();
        let written = writes(&server);
        let stdout = publish(
            &project,
            &server,
            &[known, &["--target", "main"]].concat(),
            0,
        )
        .stdout;
        assert!(
            stdout.contains("is up to date, nothing written: 258 files"),
            "{stdout}"
        );
        let github = server.github();
        let new: Vec<&str> = github.ledger.requests[count..]
            .iter()
            .map(|count| count.method.as_str())
            .collect();
        assert_eq!(new, ["GET"; 5], "{:?}", &github.ledger.requests[count..]);
        assert_eq!(github.ledger.writes(), written);
    }
}

#[test]
fn a_token_in_a_response_is_masked() {
    for rule in [
        "list-releases=echo-token:422",
        "list-releases#1=echo-token:503",
        "tag-ref=echo-token:403",
        "create-release=echo-token:401",
        "upload#1=echo-token:422",
        "upload#1=echo-token:503",
        "edit-release=echo-token:422",
    ] {
        for more in [
            &["-v"][..],
            &["-v", "--format", "json", "--diagnostics", "json"],
        ] {
            let (project, server) = (project(&[CP311]), server(&[rule]));
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
            let words: Vec<&str> = words.iter().chain(more).copied().collect();
            let done = project.command(&words).output().unwrap();
            let output = String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned();
            assert!(
                !output.to_lowercase().contains("writer"),
                "{rule} {more:?}: {output}"
            );
            let is_masked = done.status.success() || output.contains("Authorization: Bearer ***");
            assert!(is_masked, "{rule} {more:?}: {output}");
        }
    }
}

#[test]
fn as_many_files_are_sent_at_once_as_requested() {
    let names: Vec<String> = (8..14)
        .map(|minor| format!("a-1-cp3{minor}-cp3{minor}-linux_x86_64.whl"))
        .collect();
    for at_once in [1, 2, 4] {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (project, server) = (project(&names), server(&["upload=hold-before"]));
        let count = at_once.to_string();
        // Two without being asked.
        let option = ["--at-once", &*count];
        let words = arguments(&server, if at_once == 2 { &[] } else { &option });
        let mut command = project.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let upload_count = || server.github().ledger.request_count(ApiOperation::Upload);
        let end = Instant::now() + Duration::from_mins(1);
        while upload_count() < at_once && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(200));
        assert_eq!(upload_count(), at_once);
        server.github().faults = fake_github::model::FaultSchedule::none();
        server.release_held();
        let done = child.wait_with_output().unwrap();
        assert_eq!(
            done.status.code(),
            Some(0),
            "{}",
            String::from_utf8_lossy(&done.stderr)
        );
        assert_eq!(server.github().ledger.complaints, Vec::<String>::new());
    }
}

#[test]
fn a_job_that_is_cancelled_while_it_reads_ends_at_once() {
    for rule in ["list-releases=hold-before", "list-releases=stall:1"] {
        let (project, server) = (project(&[CP311]), server(&[rule]));
        let words = arguments(&server, &[]);
        let mut command = project.command(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let end = Instant::now() + Duration::from_mins(1);
        while server.github().ledger.requests.is_empty() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
        let begun = Instant::now();
        let pid = rustix::process::Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let done = child.wait_with_output().unwrap();
        assert_eq!(
            done.status.code(),
            Some(143),
            "{rule}: {}",
            String::from_utf8_lossy(&done.stderr)
        );
        assert!(
            begun.elapsed() < Duration::from_millis(3500),
            "{rule}: {:?}",
            begun.elapsed()
        );
    }
}
