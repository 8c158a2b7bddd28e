//! Commands read what is published in one way: from GitHub as it is, from its saved answer, from a
//! manifest, from folders.

use std::sync::Arc;

use crate::support::{Outcome, Project, Wheel};
use fake_github::model::{FakeGithub, FaultRule, GithubSettings, StoredAsset, StoredRelease};
use fake_github::server::FakeServer;

const MATRIX: &str = "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\naxes:\n  flash-attn: [\"2.8.3\"]\n  \
                      python: [\"3.10\", \"3.11\"]\n  torch: [\"2.5.1\"]\n  rocm: [\"6.2\"]\n  backend: [ck]\n\
                      gfx: [gfx942]\n";
const CP311: &str = "flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-manylinux_2_28_x86_64.whl";
const MACHINE: [&str; 9] = [
    "--only-given",
    "--python",
    "3.11",
    "--torch",
    "2.5",
    "--rocm",
    "6.2",
    "--platform",
    "linux_x86_64",
];

pub fn server(settings: GithubSettings, rules: &[&str]) -> FakeServer {
    let server = FakeServer::start(FakeGithub::new(settings));
    for rule in rules {
        server
            .github()
            .faults
            .add(rule.parse::<FaultRule>().unwrap());
    }
    server
}

/// Puts a release there, the newest of all.
pub fn add(server: &FakeServer, tag: &str, names: &[&str], draft: bool) {
    add_to(server, "me/wheels", tag, names, draft);
}

/// The same in another repository.
pub fn add_to(server: &FakeServer, repository: &str, tag: &str, names: &[&str], draft: bool) {
    let mut github = server.github();
    let repository = github.repository_mut(repository);
    let number = 5000 + u64::try_from(repository.releases.len()).unwrap();
    let at_ms = 1_790_000_000_000 + number * 1000;
    let asset = |(at, name): (usize, &&str)| {
        let id = number * 10_000 + u64::try_from(at).unwrap();
        let sha256 = Some(format!("{id:064x}"));
        Arc::new(StoredAsset {
            id,
            name: (*name).to_owned(),
            is_uploaded: true,
            size_bytes: 7,
            sha256,
            created_ms: at_ms,
            ..StoredAsset::default()
        })
    };
    let release = StoredRelease {
        id: number,
        tag_name: tag.to_owned(),
        draft,
        created_ms: at_ms,
        published_ms: (!draft).then_some(at_ms),
        assets: names.iter().enumerate().map(asset).collect(),
        ..StoredRelease::default()
    };
    repository.releases.insert(number, Arc::new(release));
}

fn project() -> Project {
    Project::new().file("m.yaml", MATRIX)
}

fn run(project: &Project, server: &FakeServer, words: &[&str], exit: i32) -> Outcome {
    let url = server.url();
    let outcome = project
        .run(&[words, &["--api-url", &url]].concat())
        .exits(exit);
    for token in ["reader", "writer"] {
        assert!(
            !outcome.stderr.contains(token) && !outcome.stdout.contains(token),
            "the token is printed"
        );
    }
    assert_eq!(server.github().ledger.leaks, 0, "the token went elsewhere");
    assert_eq!(server.github().ledger.complaints, Vec::<String>::new());
    outcome
}

fn jobs(project: &Project, server: &FakeServer, exit: i32) -> Outcome {
    run(
        project,
        server,
        &[
            "plan",
            "m.yaml",
            "--format",
            "json",
            "--published",
            "me/wheels",
        ],
        exit,
    )
}

#[test]
fn a_public_repository_is_read_without_a_token_and_drafts_are_not_published() {
    let server = server(GithubSettings::default(), &[]);
    let whole = jobs(&project(), &server, 0).json();
    add(&server, "v1", &[CP311, "notes.txt"], false);
    add(
        &server,
        "v2",
        &["flash_attn-2.8.3+rocm62torch2.5-cp310-cp310-linux_x86_64.whl"],
        true,
    );
    // A token that may write sees the draft, and its wheels are still to be built.
    for token in ["", "writer"] {
        let rest = jobs(&project().env("GITHUB_TOKEN", token), &server, 0).json();
        let (all, left) = (
            whole["jobs"].as_array().unwrap().len(),
            rest["jobs"].as_array().unwrap().len(),
        );
        assert_eq!((all, left), (2, 1), "{rest}");
        assert_eq!(rest["published"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn a_plan_leaves_out_what_is_published_whatever_repair_and_build_tags_made_of_its_name() {
    let server = server(GithubSettings::default(), &[]);
    let stdout_of = |name: &str| {
        let project = project().file("names.json", &serde_json::json!([name]).to_string());
        run(
            &project,
            &server,
            &["plan", "m.yaml", "--published", "names.json"],
            0,
        )
        .stdout
    };
    for same in [
        "flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl",
        "flash_attn-2.8.3%2Brocm62torch2.5-cp311-cp311-manylinux_2_27_x86_64.manylinux_2_28_x86_64.whl",
        "Flash.Attn-2.8.3+rocm62torch2.5-1-cp311-cp311-linux_x86_64.whl",
    ] {
        let plan = stdout_of(same);
        assert!(plan.contains(", 1 job, "), "{same}: {plan}");
        let which = "\nalready published:\n  \
            flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl\n";
        assert!(plan.contains(which), "{plan}");
    }
    for other in [
        "flash_attn-2.8.2+rocm62torch2.5-cp311-cp311-linux_x86_64.whl",
        "flash_attn-2.8.3+rocm61torch2.5-cp311-cp311-linux_x86_64.whl",
        "flash_attn-2.7.4.post1+rocm62torch2.5triton-cp311-cp311-linux_x86_64.whl",
        "flash_attn-2.8.3+rocm62torch2.5-cp312-cp312-linux_x86_64.whl",
        "flash_attn-2.8.3+rocm62torch2.5-cp311-abi3-linux_x86_64.whl",
        "flash_other-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl",
    ] {
        let plan = stdout_of(other);
        assert!(
            plan.contains(", 2 jobs, ") && !plan.contains("already published"),
            "{other}: {plan}"
        );
    }
}

#[test]
fn a_live_listing_equals_a_saved_one_and_the_manifest() {
    let server = server(GithubSettings::default(), &[]);
    let project = project()
        .env("GITHUB_TOKEN", "writer")
        .bytes(&format!("dist/{CP311}"), &Wheel::named(CP311).bytes());
    let plan = ["plan", "m.yaml", "--format", "json", "--out", "plan.json"];
    project.run(&plan).exits(0);
    let url = server.url();
    let publish = [
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
    project
        .run(&[&publish[..], &["--plan", "plan.json", "--allow-missing"]].concat())
        .exits(0);
    let saved: String = ureq::get(format!("{url}/repos/me/wheels/releases"))
        .header("user-agent", "a-test")
        .header("accept", "application/json")
        .header("x-github-api-version", "2022-11-28")
        .call()
        .unwrap()
        .body_mut()
        .read_to_string()
        .unwrap();
    project
        .run(&[
            "publish",
            "--to",
            "folder",
            "dist",
            "--plan",
            "plan.json",
            "--allow-missing",
        ])
        .exits(0);
    let project = project.file("releases.json", &saved);
    let found = |place: &[&str]| {
        let given: Vec<&str> = place
            .iter()
            .flat_map(|place| ["--published", place])
            .collect();
        run(
            &project,
            &server,
            &[
                &["pick", "--format", "json"][..],
                &given,
                &MACHINE,
                &["--gfx", "gfx942"],
            ]
            .concat(),
            0,
        )
        .json()
    };
    let live = found(&["me/wheels"]);
    let is_gfx_known =
        |found: &serde_json::Value| !found["wheel"]["notes"].to_string().contains("which GPUs");
    assert!(is_gfx_known(&live), "{live}");
    assert_eq!(found(&["releases.json", "folder/rock-manifest.json"]), live);
    assert!(
        !is_gfx_known(&found(&["releases.json"])),
        "names do not say the GPUs"
    );
    let mut local = found(&["folder"]);
    assert!(
        local["wheel"]["url"]
            .as_str()
            .unwrap()
            .starts_with("file://"),
        "{local}"
    );
    for key in ["url", "install", "install_from_nothing", "release"] {
        local["wheel"][key] = live["wheel"][key].clone();
    }
    assert_eq!(local, live);
    let table = |place: &str| {
        run(
            &project,
            &server,
            &["report", "packages", "--published", place],
            0,
        )
        .stdout
    };
    assert!(
        table("me/wheels").contains("| none |"),
        "{}",
        table("me/wheels")
    );
    // A token from a file does as well, and without one the manifest comes from where people click.
    let stranger = Project::new().file("token", "reader\n");
    let words = [
        &["pick", "--published", "me/wheels", "--gfx", "gfx942"][..],
        &MACHINE,
    ]
    .concat();
    let stdout = run(
        &stranger,
        &server,
        &[&words[..], &["--token-file", "token"]].concat(),
        0,
    )
    .stdout;
    assert_eq!(run(&stranger, &server, &words, 0).stdout, stdout);
    assert!(stdout.contains("%2Brocm62torch2.5"), "{stdout}");
}

#[test]
fn every_page_is_read_of_releases_and_of_the_assets_of_one() {
    let settings = GithubSettings {
        listed_assets: 100,
        ..GithubSettings::default()
    };
    let server = server(settings, &[]);
    let other: Vec<String> = (0..249)
        .map(|at| format!("other-{at}-py3-none-any.whl"))
        .collect();
    let names: Vec<&str> = other.iter().map(String::as_str).chain([CP311]).collect();
    add(&server, "v0", &names, false);
    for number in 1..250 {
        add(&server, &format!("v{number}"), &[], false);
    }
    let rest = jobs(&project(), &server, 0).json();
    assert_eq!(
        rest["published"].as_array().map(Vec::len),
        Some(1),
        "{rest}"
    );
    assert_eq!(rest["jobs"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        server.github().ledger.requests.len(),
        3 + 3,
        "pages of 100 of 250 releases and of 250 assets"
    );
}

#[test]
fn only_the_newest_manifests_are_fetched_and_that_is_reported() {
    let server = server(GithubSettings::default(), &[]);
    let project = project().env("GITHUB_TOKEN", "reader");
    for tag in ["v1", "v2", "v3"] {
        add(&server, tag, &[CP311, "rock-manifest.json"], false);
    }
    let words = [
        &["pick", "--published", "me/wheels", "--most-manifests", "0"][..],
        &MACHINE,
    ]
    .concat();
    let stderr = run(&project, &server, &words, 0).stderr;
    assert!(
        stderr
            .contains("me/wheels has 3 releases with a rock-manifest.json; the newest 0 are read"),
        "{stderr}"
    );
    assert_eq!(server.github().ledger.requests.len(), 1);
}

#[test]
fn an_invalid_manifest_is_reported_and_names_are_read_instead() {
    let server = server(GithubSettings::default(), &[]);
    let project = project()
        .env("GITHUB_TOKEN", "writer")
        .bytes(&format!("dist/{CP311}"), &Wheel::named(CP311).bytes());
    add(&server, "v1", &[CP311, "rock-manifest.json"], false);
    {
        let mut github = server.github();
        let release = github
            .repository_mut("me/wheels")
            .releases
            .values_mut()
            .next()
            .unwrap();
        let asset = Arc::make_mut(&mut Arc::make_mut(release).assets[1]);
        asset.content = Some(Arc::from(&b"{}"[..]));
        asset.size_bytes = 2;
    }
    let outcome = run(
        &project,
        &server,
        &[&["pick", "--published", "me/wheels"][..], &MACHINE].concat(),
        0,
    );
    assert!(
        outcome.stderr.contains("warning[G010 bad-manifest]"),
        "{}",
        outcome.stderr
    );
    assert!(outcome.stdout.starts_with(CP311), "{}", outcome.stdout);
}

#[test]
fn a_rate_limit_beyond_the_deadline_is_an_error() {
    let passing = server(
        GithubSettings::default(),
        &["list-releases#1=retry-after:429:1", "list-releases#2=503"],
    );
    add(&passing, "v1", &[CP311], false);
    let rest = jobs(&project(), &passing, 0).json();
    assert_eq!(rest["published"].as_array().map(Vec::len), Some(1));
    let limited = server(GithubSettings::default(), &["list-releases=limit:403:3000"]);
    let stderr = jobs(&project(), &limited, 3).stderr;
    assert!(
        stderr.contains("error[G107 no-answer]") && stderr.contains("60 requests per hour"),
        "{stderr}"
    );
    let stderr = jobs(&project().env("GITHUB_TOKEN", "reader"), &limited, 3).stderr;
    assert!(
        stderr.contains("error[G107 no-answer]") && !stderr.contains("60 requests per hour"),
        "{stderr}"
    );
}

#[test]
fn unreadable_input_is_reported_with_help() {
    let missing = server(GithubSettings::default(), &[]);
    let stderr = run(
        &project(),
        &missing,
        &["plan", "m.yaml", "--published", "me/weels"],
        3,
    )
    .stderr;
    assert!(
        stderr.contains("error[G105 not-on-github]")
            && stderr.contains("no file or directory `me/weels` exists either"),
        "{stderr}"
    );
    assert!(
        stderr.contains("private repository needs a token"),
        "{stderr}"
    );
    let stderr = jobs(&project().env("GITHUB_TOKEN", "nobody"), &missing, 3).stderr;
    assert!(
        stderr.contains("error[G103 bad-token]") && stderr.contains("public data needs no token"),
        "{stderr}"
    );
    let garbled = server(GithubSettings::default(), &["list-releases=garbled"]);
    assert!(
        jobs(&project(), &garbled, 3)
            .stderr
            .contains("error[G106 call-refused]")
    );
    let elsewhere = server(GithubSettings::default(), &["list-releases=next-elsewhere"]);
    for number in 0..101 {
        add(&elsewhere, &format!("v{number}"), &[], false);
    }
    let stderr = jobs(&project().env("GITHUB_TOKEN", "reader"), &elsewhere, 3).stderr;
    assert!(
        stderr.contains("error[G108 api-leads-elsewhere]"),
        "{stderr}"
    );
}

#[test]
fn what_is_called_so_is_the_file_or_folder_and_a_missing_json_is_no_repository() {
    let server = server(GithubSettings::default(), &[]);
    let project = project()
        .file("me/wheels/x.txt", "")
        .bytes(&format!("me/dist/{CP311}"), &Wheel::named(CP311).bytes())
        .file("me/list", &format!("[\"{CP311}\"]"));
    let plan = |place: &str, exit: i32| {
        run(
            &project,
            &server,
            &["plan", "m.yaml", "--format", "json", "--published", place],
            exit,
        )
    };
    assert!(
        plan("me/wheels", 1)
            .stderr
            .contains("error[G114 not-a-listing]"),
        "it is a folder without wheels"
    );
    for place in ["me/dist", "me/list"] {
        assert_eq!(
            plan(place, 0).json()["published"].as_array().map(Vec::len),
            Some(1),
            "{place}"
        );
    }
    assert!(plan("me/gone.json", 1).stderr.contains("me/gone.json"));
    assert_eq!(server.github().ledger.requests.len(), 0);
}

#[test]
fn manifests_are_fetched_of_releases_whose_wheels_a_plan_is_compared_with() {
    let server = server(GithubSettings::default(), &[]);
    let kernels = crate::support::bundle::hip_bundle(&[("gfx942", 0x4c)], 512);
    let compiled = Wheel::named(CP311)
        .file("flash_attn/kernels.hipfb", kernels)
        .bytes();
    let project = project()
        .env("GITHUB_TOKEN", "writer")
        .file(
            "other.yaml",
            &MATRIX.replace("[gfx942]", "[gfx90a, gfx942]"),
        )
        .bytes(&format!("dist/{CP311}"), &compiled);
    let url = server.url();
    project
        .run(&[
            "publish",
            "--dist",
            "dist",
            "--repo",
            "me/wheels",
            "--tag",
            "v1",
            "--api-url",
            &url,
        ])
        .exits(0);
    let stderr_of = |matrix: &str| {
        run(
            &project,
            &server,
            &["plan", matrix, "--published", "me/wheels"],
            0,
        )
        .stderr
    };
    let warned = stderr_of("other.yaml");
    let expect = format!(
        "warning[G023 planned-target-missing]: at least one library of the published `{CP311}` of release `v1` has no code for gfx90a"
    );
    assert!(warned.contains(&expect), "{warned}");
    crate::support::appears("G023", &warned, &stderr_of("m.yaml"));
    let missing = [
        "report",
        "missing",
        "--plan",
        "other.yaml",
        "--published",
        "me/wheels",
    ];
    assert!(run(&project, &server, &missing, 1).stderr.contains(&expect));
}
