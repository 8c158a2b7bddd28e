//! A maintainer asks whether a tag can be published before anything is built, and hears of all that
//! is in the way.

use std::sync::Arc;

use crate::read_what_is_published::{add, server};
use crate::support::{Outcome, Project, Wheel};
use fake_github::model::state::fake_sha;
use fake_github::model::{GithubSettings, StoredRelease, TagRuleset};
use fake_github::server::FakeServer;

/// A GitHub with a tag `v1` and an environment `release` that takes tags `v*`.
fn ready() -> FakeServer {
    let server = server(GithubSettings::default(), &[]);
    let mut github = server.github();
    let repository = github.repository_mut("me/wheels");
    repository.tags.insert("v1".to_owned(), fake_sha("v1"));
    repository
        .environments
        .insert("release".to_owned(), Some(vec!["v*".to_owned()]));
    drop(github);
    server
}

fn preflight(project: &Project, server: &FakeServer, words: &[&str], exit: i32) -> Outcome {
    let url = server.url();
    let all = [
        "release",
        "preflight",
        "--repo",
        "me/wheels",
        "--api-url",
        &url,
    ];
    let outcome = project.run(&[&all[..], words].concat()).exits(exit);
    let github = server.github();
    assert_eq!((github.ledger.writes(), github.ledger.leaks), (0, 0));
    for line in outcome
        .stdout
        .lines()
        .chain(outcome.stderr.lines())
        .filter(|line| !line.starts_with("::add-mask::"))
    {
        assert!(
            !line.contains("writer") && !line.contains("reader"),
            "the token is printed: {line}"
        );
    }
    outcome
}

fn writer() -> Project {
    Project::new().env("GITHUB_TOKEN", "writer")
}

#[test]
fn a_tag_that_can_be_published_passes_every_check() {
    let commit = fake_sha("v1");
    let words = [
        "--tag",
        "v1",
        "--target",
        &commit,
        "--environment",
        "release",
    ];
    let outcome = preflight(&writer(), &ready(), &words, 0);
    insta::assert_snapshot!(outcome.stdout.replace(&commit, "[COMMIT]"), @r"
    unknown  server              not a workflow run
    passed   tag-name            `v1` is a valid tag
    passed   tag-commit          at [COMMIT]
    passed   tag-creation        the tag exists
    passed   release             no release of the tag is published
    passed   drafts              no draft of the tag
    passed   room                a release can have 1000 files
    unknown  file-names          no plan was given
    unknown  files-per-hour      no plan was given
    passed   repository          it accepts releases
    passed   rights              the token may publish
    unknown  immutable-releases  not enabled, or not visible to this token
    passed   attestation         files are attested
    passed   environment         `release` accepts tags such as `v*`
    ");
    assert_eq!(outcome.stderr, "");
}

/// Faults of the tag, the release, the plan and the repository are found in one run.
#[test]
fn all_that_keeps_a_tag_from_being_published_is_reported_at_once() {
    let server = ready();
    add(&server, "v1", &["a-1-py3-none-any.whl"], false);
    {
        let mut github = server.github();
        let repository = github.repository_mut("me/wheels");
        let release = repository
            .releases
            .values_mut()
            .find(|release| release.tag_name == "v1")
            .unwrap();
        Arc::make_mut(release).immutable = true;
        repository.is_archived = true;
        repository.environments.insert("release".to_owned(), None);
    }
    let matrix = "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\naxes:\n  flash-attn: [\"2.8.3\"]\n  \
                  python: [\"3.11\"]\n  torch: [\"2.5.1\"]\n  rocm: [\"6.2\"]\n  backend: [ck]\ngfx: [gfx942]\n";
    let project = writer().file("m.yaml", matrix);
    let plan = project
        .run(&["plan", "m.yaml", "--format", "json"])
        .exits(0)
        .stdout;
    let project = project.file(
        "plan.json",
        &plan.replace("flash_attn-2.8.3+", "flash_attn-1!2.8.3+"),
    );
    let words = [
        "--tag",
        "v1",
        "--target",
        "0123456789",
        "--environment",
        "release",
        "--plan",
        "plan.json",
    ];
    let outcome = preflight(&project, &server, &words, 1);
    insta::assert_snapshot!(outcome.stderr.replace(&fake_sha("v1"), "[COMMIT]"), @r#"
    error[G363 environment-refuses-tag]: the environment `release` accepts only protected branches, so the job that publishes `v1` would not start
    --> argument `--environment`
    help: add a rule for this tag under "Deployment branches and tags" of the environment

    error[G360 repository-takes-no-release]: the repository does not accept releases: it is archived
    --> argument `--repo`
    help: unarchive it in its settings, or publish to another repository

    error[G116 tag-moved]: the tag `v1` is at [COMMIT], but the wheels are from 0123456789
    --> argument `--target`
    help: build again at the commit of the tag, pass that commit with `--target`, or publish under another tag

    error[G012 name-not-kept]: the plan expects `flash_attn-1!2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl`: GitHub would store it under another name
    --> flash_attn-1!2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl
    help: leave out the epoch

    error[G100 immutable-release]: the release `v1` is immutable and has 1 file
    --> v1
    help: publish under a new tag: the assets and the tag of an immutable release cannot change
    "#);
}

#[test]
fn a_published_release_is_refused_unless_it_may_be_added_to() {
    let server = ready();
    add(&server, "v1", &["a-1-py3-none-any.whl"], false);
    let refused = preflight(&writer(), &server, &["--tag", "v1"], 1).stderr;
    assert!(refused.contains(
        "error[G101 release-is-published]: the release `v1` is already published, with 1 file"
    ));
    preflight(&writer(), &server, &["--tag", "v1", "--allow-published"], 0);
}

#[test]
fn drafts_of_the_same_tag_that_publishing_would_refuse_are_refused_before() {
    let server = ready();
    add(&server, "v1", &["a-1-py3-none-any.whl"], true);
    preflight(&writer(), &server, &["--tag", "v1"], 0);
    add(&server, "v1", &[], true);
    let refused = preflight(&writer(), &server, &["--tag", "v1"], 1).stderr;
    assert!(
        refused.contains("error[G102 several-releases-of-tag]"),
        "{refused}"
    );
    preflight(
        &writer(),
        &server,
        &["--tag", "v1", "--clean-duplicates"],
        0,
    );
    // What a run of this program left is finished or deleted by the next.
    let mut github = server.github();
    for release in github.repository_mut("me/wheels").releases.values_mut() {
        Arc::<StoredRelease>::make_mut(release).body =
            Some("<!-- rock-matrix draft 0123456789abcdef -->".to_owned());
    }
    drop(github);
    preflight(&writer(), &server, &["--tag", "v1"], 0);
}

/// Without a token the message does not blame one.
#[test]
fn a_missing_token_is_named_before_a_build() {
    let server = ready();
    let refused = preflight(&Project::new(), &server, &["--tag", "v1"], 1).stderr;
    insta::assert_snapshot!(refused, @r"
    error[G104 token-without-right]: there is no token, which publishing requires
    --> argument `--repo`
    help: set GITHUB_TOKEN, or pass `--read-only` if another job publishes
    ");
}

/// The job that plans has no right to write; what it cannot see is unknown, and no fault.
#[test]
fn a_token_that_only_reads_leaves_checks_unknown_with_a_note() {
    let (server, reader) = (ready(), Project::new().env("GITHUB_TOKEN", "reader"));
    let refused = preflight(&reader, &server, &["--tag", "v1"], 1).stderr;
    assert!(
        refused.contains("error[G104 token-without-right]"),
        "{refused}"
    );
    let document = preflight(
        &reader,
        &server,
        &["--tag", "v1", "--read-only", "--format", "json"],
        0,
    )
    .json();
    let outcomes: Vec<String> = document["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|check| {
            format!(
                "{}: {}",
                check["name"].as_str().unwrap(),
                check["outcome"].as_str().unwrap()
            )
        })
        .collect();
    insta::assert_snapshot!(outcomes.join("\n"), @r"
    server: unknown
    tag-name: passed
    tag-commit: passed
    tag-creation: passed
    release: passed
    drafts: unknown
    room: passed
    file-names: unknown
    files-per-hour: unknown
    repository: passed
    rights: unknown
    immutable-releases: unknown
    attestation: passed
    environment: unknown
    ");
    assert_eq!(document["publishable"], true);
}

#[test]
fn a_saved_listing_is_checked_without_asking_github() {
    let listing = r#"[{"id": 1, "tag_name": "v1", "immutable": true, "assets": []}, {"id": 2, "tag_name": "v2", "draft": true}]"#;
    let project = Project::new().file("state.json", listing);
    let words = [
        "release",
        "preflight",
        "--state",
        "state.json",
        "--format",
        "json",
    ];
    let document = project
        .run(&[&words[..], &["--tag", "v1"]].concat())
        .exits(1)
        .json();
    insta::assert_snapshot!(serde_json::to_string_pretty(&document).unwrap(), @r#"
    {
      "version": 1,
      "repository": null,
      "tag": "v1",
      "publishable": false,
      "checks": [
        {
          "name": "server",
          "outcome": "unknown",
          "detail": "not a workflow run",
          "codes": []
        },
        {
          "name": "tag-name",
          "outcome": "passed",
          "detail": "`v1` is a valid tag",
          "codes": []
        },
        {
          "name": "tag-commit",
          "outcome": "unknown",
          "detail": "GitHub was not queried",
          "codes": []
        },
        {
          "name": "tag-creation",
          "outcome": "unknown",
          "detail": "GitHub was not queried",
          "codes": []
        },
        {
          "name": "release",
          "outcome": "failed",
          "detail": "the release `v1` is immutable and has 0 files",
          "codes": [
            "G100"
          ]
        },
        {
          "name": "drafts",
          "outcome": "passed",
          "detail": "no draft of the tag",
          "codes": []
        },
        {
          "name": "room",
          "outcome": "unknown",
          "detail": "the release accepts no files",
          "codes": []
        },
        {
          "name": "file-names",
          "outcome": "unknown",
          "detail": "no plan was given",
          "codes": []
        },
        {
          "name": "files-per-hour",
          "outcome": "unknown",
          "detail": "no plan was given",
          "codes": []
        },
        {
          "name": "repository",
          "outcome": "unknown",
          "detail": "GitHub was not queried",
          "codes": []
        },
        {
          "name": "rights",
          "outcome": "unknown",
          "detail": "GitHub was not queried",
          "codes": []
        },
        {
          "name": "immutable-releases",
          "outcome": "unknown",
          "detail": "GitHub was not queried",
          "codes": []
        },
        {
          "name": "attestation",
          "outcome": "unknown",
          "detail": "GitHub was not queried",
          "codes": []
        },
        {
          "name": "environment",
          "outcome": "unknown",
          "detail": "no environment was named",
          "codes": []
        }
      ],
      "diagnostics": [
        {
          "code": "G100",
          "name": "immutable-release",
          "severity": "error",
          "message": "the release `v1` is immutable and has 0 files",
          "location_kind": "url",
          "file": "v1",
          "line": null,
          "column": null,
          "end_line": null,
          "end_column": null,
          "byte_start": null,
          "byte_end": null,
          "labels": [
            {
              "location_kind": "url",
              "file": "v1",
              "line": null,
              "column": null,
              "end_line": null,
              "end_column": null,
              "byte_start": null,
              "byte_end": null,
              "text": "",
              "primary": true
            }
          ],
          "notes": [],
          "help": "publish under a new tag: the assets and the tag of an immutable release cannot change"
        }
      ]
    }
    "#);
    project
        .run(&[&words[..], &["--tag", "v2"]].concat())
        .exits(0);
    project
        .file("state.json", "7")
        .run(&[&words[..], &["--tag", "v1"]].concat())
        .exits(1);
}

/// Rendered workflows need artifacts and attestations that GitHub Enterprise Server does not have.
#[test]
fn an_enterprise_server_is_refused_in_a_workflow() {
    let server = ready();
    let on = |url: &str| {
        writer()
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_SERVER_URL", url)
    };
    let refused = preflight(
        &on("https://github.example.com"),
        &server,
        &["--tag", "v1"],
        1,
    )
    .stderr;
    assert!(
        refused.contains("error[G361 enterprise-server]"),
        "{refused}"
    );
    preflight(&on("https://github.com"), &server, &["--tag", "v1"], 0);
    preflight(&on("https://octo.ghe.com"), &server, &["--tag", "v1"], 0);
    // Outside of workflows any server is published to.
    preflight(
        &writer().env("GITHUB_SERVER_URL", "https://github.example.com"),
        &server,
        &["--tag", "v1"],
        0,
    );
}

#[test]
fn a_private_repository_of_a_person_cannot_be_attested() {
    let server = ready();
    server.github().repository_mut("me/wheels").is_private = true;
    let refused = preflight(&writer(), &server, &["--tag", "v1", "--attest", "on"], 1).stderr;
    assert!(
        refused.contains("error[G362 attestation-not-available]"),
        "{refused}"
    );
    for attest in ["auto", "off"] {
        preflight(&writer(), &server, &["--tag", "v1", "--attest", attest], 0);
    }
}

/// A rule of an environment would keep the publishing job from starting after all builds.
#[test]
fn an_environment_that_refuses_the_tag_fails_the_preflight() {
    let server = ready();
    server
        .github()
        .repository_mut("me/wheels")
        .tags
        .insert("w1".to_owned(), fake_sha("w1"));
    let refused = preflight(
        &writer(),
        &server,
        &["--tag", "w1", "--environment", "release"],
        1,
    )
    .stderr;
    assert!(
        refused.contains("error[G363 environment-refuses-tag]"),
        "{refused}"
    );
    preflight(
        &writer(),
        &server,
        &["--tag", "w1", "--environment", "made-later"],
        0,
    );
}

#[test]
fn an_archived_repository_fails_the_preflight() {
    let server = ready();
    server.github().repository_mut("me/wheels").is_archived = true;
    let refused = preflight(&writer(), &server, &["--tag", "v1"], 1).stderr;
    assert!(
        refused.contains("error[G360 repository-takes-no-release]"),
        "{refused}"
    );
}

#[test]
fn what_needs_no_answer_is_checked_when_github_does_not_answer() {
    let project = writer();
    let words = [
        "release",
        "preflight",
        "--repo",
        "me/wheels",
        "--api-url",
        "http://127.0.0.1:9",
        "--tag",
        "a b",
    ];
    let stderr = project.run(&words).exits(3).stderr;
    assert!(
        stderr.contains("error[G013 bad-tag]") && stderr.contains("error[G107 no-answer]"),
        "{stderr}"
    );
}

/// git-check-ref-format(1) allows these in a tag; only `/` cannot name the folder that a workflow
/// publishes into.
#[test]
fn every_legal_tag_character_can_be_published() {
    let never = |c: char| "~^:?*[\\".contains(c);
    let name = "a-1-py3-none-any.whl";
    let project = Project::new()
        .file("state.json", "[]")
        .bytes(&format!("dist/{name}"), &Wheel::named(name).bytes());
    for c in ('!'..='~').filter(|c| !never(*c)).chain(['é', '日']) {
        let tag = format!("v1{c}2");
        let exit = i32::from(c == '/');
        project
            .run(&[
                "release",
                "preflight",
                "--state",
                "state.json",
                "--tag",
                &tag,
            ])
            .exits(exit);
        project
            .run(&["publish", "--to", "releases", "--tag", &tag, "dist"])
            .exits(exit);
        assert_eq!(
            project.has(&format!("releases/{tag}/SHA256SUMS")),
            c != '/',
            "{tag}"
        );
    }
    for c in "~^:?*[\\ \u{7f}".chars() {
        project
            .run(&[
                "release",
                "preflight",
                "--state",
                "state.json",
                "--tag",
                &format!("v1{c}2"),
            ])
            .exits(1);
    }
}

/// Malformed repository names are refused in offline runs, too.
#[test]
fn preflight_refuses_names_that_are_no_repository() {
    let project = Project::new().file("state.json", "[]");
    let words = ["release", "preflight", "--tag", "v1", "--repo", "wheels"];
    for more in [&[][..], &["--state", "state.json"]] {
        let stderr = project.run(&[&words[..], more].concat()).exits(2).stderr;
        assert!(
            stderr.contains("`wheels` is not a repository: write OWNER/REPO"),
            "{stderr}"
        );
    }
}

/// The outcome and the detail of one check.
fn check_of(
    project: &Project,
    server: &FakeServer,
    name: &str,
    words: &[&str],
    exit: i32,
) -> String {
    let document = preflight(
        project,
        server,
        &[words, &["--format", "json"]].concat(),
        exit,
    )
    .json();
    let rows = document["checks"].as_array().unwrap();
    let row = rows.iter().find(|row| row["name"] == name).unwrap();
    format!(
        "{}: {}",
        row["outcome"].as_str().unwrap(),
        row["detail"].as_str().unwrap()
    )
}

/// Publishing would make the tag, and GitHub would say so after all builds.
#[test]
fn a_ruleset_that_restricts_the_tag_fails_the_preflight() {
    let server = ready();
    let rule = |ruleset: TagRuleset| {
        server.github().repository_mut("me/wheels").tag_ruleset = Some(ruleset);
    };
    let patterns = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>();
    let on = |include: &[&str], exclude: &[&str]| TagRuleset {
        include: patterns(include),
        exclude: patterns(exclude),
        ..TagRuleset::default()
    };
    let new = ["--tag", "v2", "--target", "main"];
    let outcome = |exit: i32| check_of(&writer(), &server, "tag-creation", &new, exit);
    let free = "passed: no ruleset prevents the creation of the tag";
    assert_eq!(outcome(0), free, "no ruleset");
    rule(TagRuleset::default());
    let refused = preflight(&writer(), &server, &new, 1).stderr;
    insta::assert_snapshot!(refused, @r"
    error[G365 tag-creation-restricted]: the ruleset `tags` does not permit this token to create the tag `v2`
    --> argument `--tag`
    help: push the tag as a user who may create it, or add the user or app that publishes to the bypass list of the ruleset
    ");
    assert_eq!(
        check_of(&writer(), &server, "tag-creation", &["--tag", "v1"], 0),
        "passed: the tag exists"
    );
    for (include, exclude, exit) in [
        (&["refs/tags/v*"][..], &[][..], 1),
        (&["refs/tags/**/*"], &[], 1),
        (&["refs/tags/x*", "refs/tags/v2"], &[], 1),
        (&["refs/tags/x*"], &[], 0),
        (&["~ALL"], &["refs/tags/v*"], 0),
        (&["~ALL"], &["refs/tags/x*"], 1),
        (&[], &[], 0),
    ] {
        rule(on(include, exclude));
        let check = outcome(exit);
        assert_eq!(check == free, exit == 0, "{include:?} {exclude:?}: {check}");
    }
    for (bypass, enforcement, exit) in [
        ("always", "active", 0),
        ("exempt", "active", 0),
        ("pull_requests_only", "active", 1),
        ("never", "evaluate", 0),
    ] {
        let (bypass, enforcement) = (bypass.to_owned(), enforcement.to_owned());
        rule(TagRuleset {
            enforcement,
            bypass,
            ..TagRuleset::default()
        });
        outcome(exit);
    }
}

#[test]
fn rulesets_that_cannot_be_judged_leave_the_check_unknown() {
    let server = ready();
    let rule = |ruleset: TagRuleset| {
        server.github().repository_mut("me/wheels").tag_ruleset = Some(ruleset);
    };
    let new = ["--tag", "v2", "--target", "main"];
    let unsure = "unknown: the ruleset `tags` may prevent the creation of the tag; push it before \
                  the build to be sure";
    let ask = |words: &[&str]| check_of(&writer(), &server, "tag-creation", words, 0);
    rule(TagRuleset {
        is_hidden: true,
        ..TagRuleset::default()
    });
    assert_eq!(ask(&new), unsure, "its details are hidden");
    rule(TagRuleset {
        include: vec!["refs/tags/[vw]*".to_owned()],
        ..TagRuleset::default()
    });
    assert_eq!(ask(&new), unsure, "a set of letters");
    rule(TagRuleset::default());
    assert_eq!(
        ask(&[&new[..], &["--read-only"]].concat()),
        unsure,
        "another token publishes"
    );
    let server = ready();
    server
        .github()
        .faults
        .add("list-rulesets#1=no-right".parse().unwrap());
    let check = check_of(&writer(), &server, "tag-creation", &new, 0);
    assert_eq!(
        check,
        "unknown: the rulesets for tags cannot be read; push the tag before the build to be sure"
    );
}

/// A plan of as many wheels, four a job.
fn plan_of(wheels: usize) -> Project {
    let row = |job: usize| {
        let name = |distribution: &str, at: usize| {
            format!("{distribution}-1.{at}+rocm62-cp311-cp311-linux_x86_64.whl")
        };
        (
            name("a", job),
            ["b", "c", "d"].map(|distribution| name(distribution, job)),
        )
    };
    let (jobs, rest) = (wheels / 4, wheels % 4);
    let rows: Vec<_> = (0..jobs + usize::from(rest > 0)).map(row).collect();
    let matrix = "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\naxes:\n  flash-attn: [\"2.8.3\"]\n  \
                  python: [\"3.11\"]\n  torch: [\"2.5.1\"]\n  rocm: [\"6.2\"]\n  backend: [ck]\ngfx: [gfx942]\n";
    let project = writer().file("m.yaml", matrix);
    let mut plan = project
        .run(&["plan", "m.yaml", "--format", "json"])
        .exits(0)
        .json();
    let one = plan["jobs"][0].clone();
    let job = |(at, (own, further)): (usize, (String, [String; 3]))| {
        let mut job = one.clone();
        let count = if at < jobs { 3 } else { rest - 1 };
        job["id"] = format!("job-{at}").into();
        job["wheel"] = own.into();
        job["wheels"] = further[..count].to_vec().into();
        job
    };
    let jobs: Vec<_> = rows.into_iter().enumerate().map(job).collect();
    plan["shards"] = serde_json::json!([{"first": 0, "count": jobs.len()}]);
    plan["jobs"] = jobs.into();
    project.file("plan.json", &plan.to_string())
}

/// The limit counts files, not jobs: 112 jobs with four wheels each and two documents fit.
#[test]
fn more_files_than_an_hour_takes_need_slow() {
    let server = ready();
    let words = ["--tag", "v1", "--plan", "plan.json"];
    let most = plan_of(448);
    let check = check_of(&most, &server, "files-per-hour", &words, 0);
    assert_eq!(check, "passed: 450 files can be uploaded within an hour");
    let more = plan_of(449);
    let refused = preflight(&more, &server, &words, 1).stderr;
    insta::assert_snapshot!(refused, @r"
    error[G113 too-many-calls]: 451 files would be uploaded, but only 450 can be uploaded within an hour
    --> argument `--plan`
    help: publish with `--slow`, and pass it here too; `rock-matrix render workflow` adds it if the plan needs it
    ");
    let slow = check_of(
        &more,
        &server,
        "files-per-hour",
        &[&words[..], &["--slow"]].concat(),
        0,
    );
    assert_eq!(
        slow,
        "passed: 451 files take longer than an hour, which `--slow` allows"
    );
    // A file that a draft holds already is not sent again.
    add(
        &server,
        "v1",
        &["a-1.0+rocm62-cp311-cp311-linux_x86_64.whl"],
        true,
    );
    let check = check_of(&more, &server, "files-per-hour", &words, 0);
    assert_eq!(check, "passed: 450 files can be uploaded within an hour");
}

/// Others filled it, and the sums and the manifest go to the first release of a tag.
#[test]
fn a_full_release_fails_the_preflight() {
    let filled = |others: usize, draft: bool| {
        let server = ready();
        let names: Vec<String> = (0..others).map(|at| format!("other-{at}.txt")).collect();
        add(
            &server,
            "v1",
            &names.iter().map(String::as_str).collect::<Vec<_>>(),
            draft,
        );
        server
    };
    let project = plan_of(4);
    let words = ["--tag", "v1", "--plan", "plan.json", "--allow-published"];
    let ask = |others: usize, draft: bool, exit: i32| {
        check_of(&project, &filled(others, draft), "room", &words, exit)
    };
    assert_eq!(
        ask(994, true, 0),
        "passed: the release has room for 6 files"
    );
    assert_eq!(
        ask(998, true, 0),
        "passed: the release has room for 2 files; the rest goes to `v1-2`"
    );
    assert_eq!(ask(998, false, 0), ask(998, true, 0));
    let refused = preflight(&project, &filled(999, true), &words, 1).stderr;
    insta::assert_snapshot!(refused, @r"
    error[G120 release-is-full]: the release `v1` has 999 files, and there is no room for more
    --> v1
    help: delete unneeded files from it, or publish under a new tag
    ");
    ask(1000, false, 1);
}

#[test]
fn names_of_a_plan_that_a_release_cannot_hold_together_are_refused() {
    let project = plan_of(4);
    let plan = project.read("plan.json");
    let project = project
        .file("case.json", &plan.replace("\"b-1.0", "\"A-1.0"))
        .file(
            "label.json",
            &plan.replace("b-1.0+rocm62-", "b-1.0+ROCM62-"),
        );
    let server = ready();
    let refused =
        |plan: &str| preflight(&project, &server, &["--tag", "v1", "--plan", plan], 1).stderr;
    insta::assert_snapshot!(refused("case.json"), @r"
    error[G014 same-name-twice]: the plan expects `A-1.0+rocm62-cp311-cp311-linux_x86_64.whl` and `a-1.0+rocm62-cp311-cp311-linux_x86_64.whl`, which are the same name in a GitHub release
    --> a-1.0+rocm62-cp311-cp311-linux_x86_64.whl
    help: give one of them another version or label
    ");
    insta::assert_snapshot!(refused("label.json"), @r"
    error[G123 label-not-normal]: the plan expects `b-1.0+ROCM62-cp311-cp311-linux_x86_64.whl`: its label is `ROCM62`, but the normal form is `rocm62`
    --> b-1.0+ROCM62-cp311-cp311-linux_x86_64.whl
    help: write the label in its normal form (PEP 440)
    ");
}

/// The job that plans has `actions: read` for this: else GitHub tells it nothing of a private
/// repository's environments.
#[test]
fn a_read_only_token_sees_the_environments_that_it_may_read() {
    let server = ready();
    let repository = |change: &dyn Fn(&mut fake_github::model::StoredRepository)| {
        change(server.github().repository_mut("me/wheels"));
    };
    repository(&|of| of.is_private = true);
    let words = ["--tag", "v1", "--read-only", "--environment", "release"];
    let ask = |token: &str, exit: i32| {
        check_of(
            &Project::new().env("GITHUB_TOKEN", token),
            &server,
            "environment",
            &words,
            exit,
        )
    };
    assert_eq!(
        ask("reader", 0),
        "unknown: the rules of the environment `release` cannot be read"
    );
    assert_eq!(
        ask("planner", 0),
        "passed: `release` accepts tags such as `v*`"
    );
    repository(&|of| {
        drop(
            of.environments
                .insert("release".to_owned(), Some(vec!["x*".to_owned()])),
        );
    });
    assert!(
        ask("planner", 1)
            .starts_with("failed: the environment `release` accepts only tags that match `x*`")
    );
}

/// `LONGEST_DEADLINE_MIN`: a day; `MOST_MINUTES` of a build: a year.
#[test]
fn deadlines_are_at_most_a_day_and_caps_a_year() {
    let is_taken = |words: &[&str]| {
        rock_matrix::cli::command()
            .try_get_matches_from(words)
            .is_ok()
    };
    let preflight = [
        "rock-matrix",
        "release",
        "preflight",
        "--state",
        "state.json",
        "--tag",
        "v1",
        "--deadline",
    ];
    assert_eq!(
        ["1440", "1441"].map(|minutes| is_taken(&[&preflight[..], &[minutes]].concat())),
        [true, false]
    );
    let build = ["rock-matrix", "build", "JOB", "--cap"];
    assert_eq!(
        ["525600", "525601"].map(|minutes| is_taken(&[&build[..], &[minutes]].concat())),
        [true, false]
    );
}

/// `LONGEST_NAME_BYTES`: 238, so that the name of a replacement has at most 255.
#[test]
fn a_name_of_the_plan_has_at_most_238_bytes() {
    let mut project = plan_of(4).file("state.json", "[]");
    let name = "b-1.0+rocm62.-cp311-cp311-linux_x86_64.whl";
    let plan = project.read("plan.json");
    for (bytes, exit) in [(238, 0), (239, 1)] {
        let long = plan.replace(
            "b-1.0+rocm62-",
            &format!("b-1.0+rocm62.{}-", "b".repeat(bytes - name.len())),
        );
        project = project.file("long.json", &long);
        let run = project.run(&[
            "release",
            "preflight",
            "--state",
            "state.json",
            "--tag",
            "v1",
            "--plan",
            "long.json",
        ]);
        let stderr = run.exits(exit).stderr;
        assert_eq!(
            stderr.contains("its name has 239 bytes; at most 238 are possible"),
            exit == 1,
            "{stderr}"
        );
    }
}

/// `LARGEST_TOKEN_BYTES`: 16 KiB.
#[test]
fn a_file_with_a_token_has_at_most_16_kibibytes() {
    for (bytes, is_read) in [(16 << 10, true), ((16 << 10) + 1, false)] {
        let project = Project::new().file("token", &"t".repeat(bytes));
        let words = [
            "release",
            "preflight",
            "--repo",
            "me/wheels",
            "--tag",
            "v1",
            "--token-file",
            "token",
        ];
        let stderr = project
            .run(&[&words[..], &["--api-url", "http://127.0.0.1:9"]].concat())
            .exits(3)
            .stderr;
        assert_eq!(
            stderr.contains("G107 no-answer"),
            is_read,
            "{}",
            stderr.chars().take(500).collect::<String>()
        );
    }
}
