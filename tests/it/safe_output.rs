//! What is written to terminals, logs and files: nothing of it steers a terminal or a runner, and
//! no password is in it.

use crate::support::elf::Library;
use crate::support::{Project, Wheel};
use fake_github::model::{FakeGithub, GithubSettings};
use fake_github::server::FakeServer;

const WHEEL: &str = "flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl";

/// A SOCKS proxy, which is not supported, is an error with a code for everything that fetches.
#[test]
fn a_socks_proxy_is_an_error_with_a_code() {
    let project = [
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "HTTP_PROXY",
        "HTTPS_PROXY",
    ]
    .iter()
    .fold(Project::new(), |project, name| project.env(name, ""))
    .env("ALL_PROXY", "socks5://somebody:passw0rd@127.0.0.1:9");
    let mut stderr = String::new();
    for words in [
        &[
            "compat",
            "refresh",
            "--check",
            "--from",
            "https://index.example.com/",
        ][..],
        &[
            "sdk",
            "fetch",
            "--run-id",
            "123",
            "--bucket",
            "https://bucket.example.com",
        ],
        &[
            "source",
            "checkout",
            "--manifest-url",
            "https://example.com/m.json",
            "--checkout-root",
            "r",
            "--projects",
            "triton",
        ],
    ] {
        stderr.push_str(&project.run(words).exits(3).stderr);
    }
    assert!(!stderr.contains("passw0rd"), "{stderr}");
    insta::assert_snapshot!(stderr, @r#"
    error[K004 cannot-fetch]: cannot fetch https://index.example.com/: `all_proxy` is a `socks5:` proxy, but only `http:` proxies are supported
    --> https://index.example.com/
    help: check the address and the network; saved pages work as well: pass their directory

    error[K004 cannot-fetch]: cannot fetch https://bucket.example.com/?list-type=2&prefix=123-linux%2F: `all_proxy` is a `socks5:` proxy, but only `http:` proxies are supported
    --> https://bucket.example.com/?list-type=2&prefix=123-linux%2F
    help: check whether this machine reaches the bucket, or use a directory with the layout of a bucket (`--local-staging`)

    error[K004 cannot-fetch]: cannot fetch https://example.com/m.json: `all_proxy` is a `socks5:` proxy, but only `http:` proxies are supported
    --> https://example.com/m.json
    help: check the address and the network; saved pages work as well: pass their directory
    "#);
}

/// The password of an address is neither printed nor stored next to the sources.
#[test]
fn a_password_in_a_url_is_neither_printed_nor_stored() {
    let project = Project::new();
    let origin = "http://somebody:passw0rd@127.0.0.1:9/x.git";
    let words = [
        "source",
        "checkout",
        "--origin",
        origin,
        "--ref",
        "v1",
        "--checkout-dir",
        "x",
        "--repo-name",
        "x",
    ];
    let dry = project.run(&[&words[..], &["--dry-run"]].concat()).exits(0);
    let ran = project.run(&words).exits(3);
    let output = [dry.stdout, dry.stderr, ran.stdout, ran.stderr].concat();
    assert!(
        output.contains("somebody:***@127.0.0.1:9") && !output.contains("passw0rd"),
        "{output}"
    );
    let state = std::fs::read_to_string(project.path("x/.rock/checkout.json")).unwrap_or_default();
    assert!(!state.contains("passw0rd"), "{state}");
    let stderr = project
        .run(&[
            "index",
            "build",
            "--base-url",
            "https://somebody:passw0rd@example.org",
            ".",
        ])
        .exits(1)
        .stderr;
    assert!(
        stderr.contains("somebody:***@example.org") && !stderr.contains("passw0rd"),
        "{stderr}"
    );
    let api = [
        "release",
        "prune",
        "--repo",
        "me/wheels",
        "--tag-glob",
        "x-*",
        "--keep",
        "1",
    ];
    let stderr = project
        .run(
            &[
                &api[..],
                &["--api-url", "https://somebody:passw0rd@example.org"],
            ]
            .concat(),
        )
        .exits(2)
        .stderr;
    assert!(
        stderr.contains("somebody:***@example.org") && !stderr.contains("passw0rd"),
        "{stderr}"
    );
}

/// An address that the API gives cannot be a command for the runner, nor steer a terminal.
#[test]
fn the_address_of_a_release_is_no_command_for_the_runner() {
    let server = FakeServer::start(FakeGithub::new(GithubSettings::default()));
    "::error title=x::\u{1b}[31m".clone_into(&mut server.github().settings.web_base);
    let project = Project::new()
        .env("GITHUB_TOKEN", "writer")
        .bytes(&format!("dist/{WHEEL}"), &Wheel::named(WHEEL).bytes());
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
    let stdout = project.run(&words).exits(0).stdout;
    assert_eq!(
        stdout,
        "\\u{3a}:error title=x::\\u{1b}[31m/me/wheels/releases/tag/v1 is published: 3 files\n"
    );
}

/// A name with control characters, as a file may have, is shown with escapes.
#[test]
fn names_with_control_characters_are_shown_with_escapes() {
    let name = "dist/a\u{1b}[31m\u{9b}b.so";
    let project = Project::new().bytes(name, &Library::new().build());
    let outcome = project.run(&["sdk", "rpath", name]).exits(0);
    assert!(
        !outcome.stdout.contains(['\u{1b}', '\u{9b}'])
            && outcome.stdout.contains("\\u{1b}[31m\\u{9b}b.so"),
        "{}",
        outcome.stdout
    );
    let json = project
        .run(&["sdk", "rpath", name, "--format", "json"])
        .exits(0);
    assert!(
        json.stdout.is_ascii() && json.json().to_string().contains("a\\u001b[31m\u{9b}b.so"),
        "{}",
        json.stdout
    );
}

/// Steers a terminal, and is two commands for the runner of a workflow.
const HOSTILE: &str = "\u{1b}[31mred\n::error::from-outside\n##[warning]x\u{9b}2J";

/// Asserts that nothing steers a terminal.
#[track_caller]
fn leaves_the_terminal_alone(text: &str) {
    assert!(!text.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{text:?}");
}

/// Asserts the same, and that no line is a command for the runner. On stderr these are switched off
/// around diagnostics.
#[track_caller]
fn is_inert(text: &str) {
    leaves_the_terminal_alone(text);
    assert!(
        !text
            .lines()
            .any(|line| line.trim_start().starts_with("::") || line.contains("##[")),
        "{text:?}"
    );
}

/// Names of a listing and reasons of an index come from others.
#[test]
fn pick_escapes_the_text_of_listings_and_indexes() {
    const NEWER: &str = "flash_attn-2.8.4+rocm62torch2.5-cp311-cp311-linux_x86_64.whl";
    let asset = |name: &str| {
        let url = format!("https://github.com/o/r/releases/download/v1/{name}");
        serde_json::json!({"name": name, "browser_download_url": url, "size": 7, "digest": format!("sha256:{}", "ab".repeat(32))})
    };
    let listing = |names: &[&str]| {
        let assets: Vec<_> = names.iter().map(|name| asset(name)).collect();
        serde_json::json!([{"id": 1, "tag_name": "v1", "assets": assets}]).to_string()
    };
    let project = Project::new()
        .file(
            "releases.json",
            &listing(&[
                WHEEL,
                NEWER,
                "::error::x-1.0-py3-none-any.whl",
                "##[error]\u{202e}x.whl",
            ]),
        )
        .file("hostile.json", &listing(&[WHEEL, HOSTILE]));
    let yank = "flash-attn==2.8.4:made-up";
    project
        .run(&[
            "index",
            "yank",
            "--published",
            "releases.json",
            "--out",
            "site/simple",
            yank,
            "--apply",
        ])
        .exits(0);
    for file in project.files() {
        let text = project.read(&file);
        let is_json = std::path::Path::new(&file)
            .extension()
            .is_some_and(|extension| extension == "json");
        let reason = if is_json {
            serde_json::to_string(HOSTILE)
                .unwrap()
                .trim_matches('"')
                .to_owned()
        } else {
            HOSTILE.replace('\n', "&#10;")
        };
        std::fs::write(project.path(&file), text.replace("made-up", &reason)).unwrap();
    }
    let words = [
        "pick",
        "--withdrawn-in",
        "site/simple",
        "--only-given",
        "--python",
        "3.11",
        "--torch",
        "2.5.1",
    ];
    let machine = [
        "--rocm",
        "6.2",
        "--platform",
        "linux_x86_64",
        "--glibc",
        "2.35",
        "--published",
    ];
    let pick = |more: &[&str], code| {
        project
            .run(&[&words[..], &machine, more].concat())
            .exits(code)
    };
    let found = pick(&["releases.json"], 0);
    let lines: Vec<&str> = found
        .stdout
        .lines()
        .filter(|line| line.starts_with(['n', '\\', '#']))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r"
    note: system: the tag linux_x86_64 does not say which C library the wheel needs
    note: GPU: it is unknown which GPUs the wheel has code for
    note: flash_attn-2.8.4+rocm62torch2.5-cp311-cp311-linux_x86_64.whl fits but is yanked: \u{1b}[31mred
    \u{3a}:error::from-outside
    #\u{23}[warning]x\u{9b}2J
    ");
    is_inert(&found.stdout);
    leaves_the_terminal_alone(&found.stderr);
    assert!(
        found.stderr.contains("`::error::x-1.0-py3-none-any.whl`"),
        "{}",
        found.stderr
    );
    let json = pick(&["releases.json", "--format", "json"], 0);
    is_inert(&json.stdout.replace("\\n::", ""));
    assert_eq!(json.json()["yanked"][0]["reason"], HOSTILE);
    let refused = pick(&["hostile.json"], 1).stderr;
    leaves_the_terminal_alone(&refused);
    assert!(
        refused.contains("error[G114 ")
            && refused.contains("\\u{1b}[31mred\\n::error::from-outside"),
        "{refused}"
    );
}

/// Words of a recipe and of a plan may be those of a pull request.
#[test]
fn a_dry_run_escapes_the_text_of_recipes_and_plans() {
    let argv = "[bash, -c, \"echo \\e[31mred\\n::error::from-recipe\\n##[error]x\"]";
    let recipe = format!(
        "recipe: 1\nname: toy\ndistribution: toy\nvars: {{python: python3}}\nsteps:\n  - stage: prepare\n    argv: {argv}\n    \
         env: {{NOTE: \"\\x9b2J\\n::warning::y\"}}\ncollect: {{wheels: \"dist/*.whl\", record: {{torch: [unused]}}}}\n"
    );
    let matrix = "version: 1\ndistribution: toy\nrecipe: toy\naxes: {toy: [\"1.0\"], python: [\"3.11\"], rocm: [\"6.2\"]}\n\
                  gfx: [gfx90a]\ntorch-from: host\npython-from: host\n";
    let project = Project::new()
        .file("recipes/toy.yaml", &recipe)
        .file("matrices/toy.yaml", matrix);
    let run = |words: &[&str], code| {
        project
            .run(&[&["--recipes", "recipes"], words].concat())
            .exits(code)
    };
    let dry = run(&["build", "--all", "--dry-run"], 0);
    is_inert(&dry.stdout);
    is_inert(&dry.stderr);
    insta::assert_snapshot!(dry.stdout, @r#"
    == toy-1.0-rocm6.2-py3.11
       wheel    toy-1.0+rocm62-cp311-cp311-linux_x86_64.whl
       gfx      gfx90a
       runner   ubuntu-22.04
       image    none: it builds on this machine
       1/3 prepare
           env NOTE='\u{9b}2J
    \u{3a}:warning::y'
           bash -c "$prepare_program"
       2/3 record
           python3 -c "$record_program" used.json torch unused
       3/3 smoke-test
           python3 -c "$smoke_test_program" 'dist/*.whl' toy 1.0+rocm62 '' '' gfx90a program
    "#);
    run(&["plan", "--format", "json", "--out", "plan.json"], 0);
    let plan = project.read("plan.json");
    for (field, value) in [
        ("warnings", serde_json::json!([HOSTILE])),
        ("runner", serde_json::json!([HOSTILE])),
    ] {
        let mut plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
        plan["jobs"][0][field] = value;
        std::fs::write(project.path("plan.json"), plan.to_string()).unwrap();
        let refused = run(&["build", "--all", "--plan", "plan.json", "--dry-run"], 1);
        assert!(
            refused.stdout.is_empty() && refused.stderr.contains("error[P018 "),
            "{}",
            refused.stderr
        );
        leaves_the_terminal_alone(&refused.stderr);
    }
    // A note that prints may still look like a command.
    let mut plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    plan["jobs"][0]["warnings"] = serde_json::json!(["::error::x ##[error]y"]);
    std::fs::write(project.path("plan.json"), plan.to_string()).unwrap();
    let shown = run(&["build", "--all", "--plan", "plan.json", "--dry-run"], 0).stdout;
    is_inert(&shown);
    assert!(
        shown.contains("   note     ::error::x #\\u{23}[error]y\n"),
        "{shown}"
    );
}

/// Arguments may come from the inputs of a workflow. A usage error repeats them.
#[test]
fn usage_errors_escape_arguments() {
    let output_of = |words: &[&str]| {
        let plain = Project::new().run(words).exits(2).stderr;
        is_inert(&plain);
        let annotated = Project::new()
            .env("GITHUB_ACTIONS", "true")
            .run(words)
            .exits(2)
            .stderr;
        let commands = annotated
            .lines()
            .filter(|line| line.trim_start().starts_with("::") || line.contains("##["));
        assert!(
            commands
                .map(|line| line.starts_with("::error title=rock-matrix::"))
                .eq([true]),
            "{annotated}"
        );
        assert!(!annotated.contains("passw0rd"), "{annotated}");
        plain.lines().next().unwrap().to_owned() + "\n"
    };
    let lines = [
        output_of(&[
            "sdk",
            "fetch",
            "--run-id",
            "1",
            "--platform",
            "x\n::error::pwned",
        ]),
        output_of(&["plan", "--x\r\n::error::pwned"]),
        output_of(&["plan", "--format", "\u{1b}[31m\u{9b}\t\u{202e}x"]),
        output_of(&["x\n::error::pwned"]),
        output_of(&["plan", "--format", "##[error]x"]),
        output_of(&["plan", "--format", "https://somebody:passw0rd@example.org"]),
    ];
    insta::assert_snapshot!(lines.concat(), @r"
    error: invalid value 'x\n::error::pwned' for '--platform <PLATFORM>': expected one of linux, windows
    error: unexpected argument '--x\r\n::error::pwned' found
    error: invalid value '\u{1b}[31m\u{9b}\t\u{202e}x' for '--format <FORMAT>'
    error: unrecognized subcommand 'x\n::error::pwned'
    error: invalid value '#\u{23}[error]x' for '--format <FORMAT>'
    error: invalid value 'https://somebody:***@example.org' for '--format <FORMAT>'
    ");
    let colored = Project::new()
        .env("CLICOLOR_FORCE", "1")
        .run(&["plan", "--format", "x\n::error::y"])
        .exits(2)
        .stderr;
    assert!(
        colored.contains("\u{1b}[") && colored.contains("x\\n::error::y"),
        "{colored:?}"
    );
}

/// The command that clones a source is shown without the password, and JSON of a build too.
#[test]
fn a_dry_run_masks_passwords() {
    let recipe = "recipe: 1\nname: toy\ndistribution: toy\nversion-from: build\nleaves: tree\nsources:\n  \
                  toy: {git: \"https://somebody:passw0rd@127.0.0.1:9/x.git\", ref: v1}\nsteps:\n  - {stage: build, argv: [make]}\n";
    let matrix = "version: 1\ndistribution: toy\nrecipe: toy\naxes: {python: [\"3.11\"], rocm: [\"6.2\"]}\ngfx: [gfx90a]\n\
                  torch-from: host\npython-from: host\n";
    let project = Project::new()
        .file("recipes/toy.yaml", recipe)
        .file("matrices/toy.yaml", matrix);
    let dry = project
        .run(&["--recipes", "recipes", "build", "--all", "--dry-run"])
        .exits(0);
    let output = dry.stdout + &dry.stderr;
    assert!(
        output.contains("https://somebody:***@127.0.0.1:9/x.git") && !output.contains("passw0rd"),
        "{output}"
    );
}
