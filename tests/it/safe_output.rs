//! What is written to terminals, logs and files: nothing of it steers a terminal or a runner, and no password is in it.

use crate::fake_github::model::{Github, Settings};
use crate::fake_github::server::Server;
use crate::support::elf::Library;
use crate::support::{Project, Wheel};

const WHEEL: &str = "flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl";

/// A SOCKS proxy, which is not supported, is an error with a code for everything that fetches.
#[test]
fn a_socks_proxy_is_an_error_with_a_code() {
    let project = ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY"]
        .iter()
        .fold(Project::new(), |project, name| project.env(name, ""))
        .env("ALL_PROXY", "socks5://somebody:passw0rd@127.0.0.1:9");
    let mut told = String::new();
    for words in [
        &["compat", "refresh", "--check", "--from", "https://index.example.com/"][..],
        &["sdk", "fetch", "--run-id", "123", "--bucket", "https://bucket.example.com"],
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
        told.push_str(&project.run(words).exits(3).stderr);
    }
    assert!(!told.contains("passw0rd"), "{told}");
    insta::assert_snapshot!(told, @r#"
    error[K004 cannot-fetch]: cannot fetch https://index.example.com/: the proxy of `all_proxy` is one of `socks5:`, and only those of `http:` are known
    --> https://index.example.com/
    help: check the address and the network; saved pages work as well: give their folder

    error[K004 cannot-fetch]: cannot fetch https://bucket.example.com/?list-type=2&prefix=123-linux%2F: the proxy of `all_proxy` is one of `socks5:`, and only those of `http:` are known
    --> https://bucket.example.com/?list-type=2&prefix=123-linux%2F
    help: see whether this machine reaches the bucket, or give a folder that is laid out as one (`--local-staging`)

    error[K004 cannot-fetch]: cannot fetch https://example.com/m.json: the proxy of `all_proxy` is one of `socks5:`, and only those of `http:` are known
    --> https://example.com/m.json
    help: check the address and the network; saved pages work as well: give their folder
    "#);
}

/// The password of an address is neither told nor kept beside the sources.
#[test]
fn a_password_in_an_address_is_not_told_and_not_stored() {
    let project = Project::new();
    let origin = "http://somebody:passw0rd@127.0.0.1:9/x.git";
    let words = ["source", "checkout", "--origin", origin, "--ref", "v1", "--checkout-dir", "x", "--repo-name", "x"];
    let dry = project.run(&[&words[..], &["--dry-run"]].concat()).exits(0);
    let ran = project.run(&words).exits(3);
    let told = [dry.stdout, dry.stderr, ran.stdout, ran.stderr].concat();
    assert!(told.contains("somebody:***@127.0.0.1:9") && !told.contains("passw0rd"), "{told}");
    let state = std::fs::read_to_string(project.path("x/.rock/checkout.json")).unwrap_or_default();
    assert!(!state.contains("passw0rd"), "{state}");
    let told =
        project.run(&["index", "build", "--base-url", "https://somebody:passw0rd@example.org", "."]).exits(1).stderr;
    assert!(told.contains("somebody:***@example.org") && !told.contains("passw0rd"), "{told}");
    let api = ["publish", "--repo", "me/wheels", "--prune", "--tag-glob", "x-*", "--keep", "1"];
    let told =
        project.run(&[&api[..], &["--api-url", "https://somebody:passw0rd@example.org"]].concat()).exits(2).stderr;
    assert!(told.contains("somebody:***@example.org") && !told.contains("passw0rd"), "{told}");
}

/// An address that the API gives cannot be a command for the runner, nor steer a terminal.
#[test]
fn the_address_of_a_release_is_no_command_for_the_runner() {
    let server = Server::start(Github::new(Settings::default()));
    "::error title=x::\u{1b}[31m".clone_into(&mut server.github().settings.web_base);
    let project =
        Project::new().env("GITHUB_TOKEN", "writer").bytes(&format!("dist/{WHEEL}"), &Wheel::named(WHEEL).bytes());
    let url = server.url();
    let words = ["publish", "--dist", "dist", "--repo", "me/wheels", "--tag", "v1", "--api-url", &url];
    let told = project.run(&words).exits(0).stdout;
    assert_eq!(told, "\\u{3a}:error title=x::\\u{1b}[31m/me/wheels/releases/tag/v1 is published: 3 files\n");
}

/// A name with control characters, as a file may have, is shown with escapes.
#[test]
fn names_with_control_characters_are_shown_with_escapes() {
    let name = "dist/a\u{1b}[31m\u{9b}b.so";
    let project = Project::new().bytes(name, &Library::new().build());
    let told = project.run(&["sdk", "rpath", name]).exits(0);
    assert!(
        !told.stdout.contains(['\u{1b}', '\u{9b}']) && told.stdout.contains("\\u{1b}[31m\\u{9b}b.so"),
        "{}",
        told.stdout
    );
    let json = project.run(&["sdk", "rpath", name, "--format", "json"]).exits(0);
    assert!(json.stdout.is_ascii() && json.json().to_string().contains("a\\u001b[31m\u{9b}b.so"), "{}", json.stdout);
}
