//! The program where the system permits no further thread.

use std::collections::BTreeMap;

use crate::support::artifacts::Artifacts;
use crate::support::http::{Served, answer};
use crate::support::{Project, Wheel};

const SMALL: &str = "demo-1.0-py3-none-linux_x86_64.whl";
const LARGE: &str = "large-1.0-py3-none-any.whl";
const RELEASED: &str = "flash_attn-2.8.3+rocm62torch2.5-cp312-cp312-linux_x86_64.whl";
const MATRIX: &str = "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\naxes: {flash-attn: [\"2.8.3\"], \
                      python: [\"3.11\", \"3.12\"], torch: [\"2.5.1\"], rocm: [\"6.2\"]}\ngfx: [gfx942]\n";

/// Wheels whose members are worth threads, a matrix, and artifacts.
fn project() -> Project {
    let mut small = Wheel::named(SMALL).stored();
    for number in 0..4 {
        small = small.file(&format!("demo/{number}.bin"), vec![number; 3 << 20]);
    }
    let large = Wheel::named(LARGE).file("large/zeros.bin", vec![0; 48 << 20]);
    let project = Project::new()
        .file("m.yaml", MATRIX)
        .bytes(SMALL, &small.bytes())
        .bytes(LARGE, &large.bytes())
        .bytes(&format!("dist/{RELEASED}"), &Wheel::named(RELEASED).bytes());
    Artifacts::split(&project);
    project
}

/// Every file that a run may have made, but for the artifacts.
fn files(project: &Project) -> BTreeMap<String, Vec<u8>> {
    let paths = project
        .files()
        .into_iter()
        .filter(|path| !path.starts_with("artifacts/"));
    paths
        .map(|path| (path.clone(), std::fs::read(project.path(&path)).unwrap()))
        .collect()
}

/// Commands that work in threads give the same output and the same files where no other thread can
/// be started, and where one or two can.
#[test]
fn commands_work_in_one_thread_where_no_other_starts() {
    let commands: [&[&str]; 11] = [
        &["wheel", "show", SMALL, "--no-host-libs"],
        &["wheel", "show", LARGE, "--no-host-libs"],
        &["wheel", "verify", SMALL],
        &["wheel", "verify", LARGE],
        &[
            "wheel",
            "repair",
            SMALL,
            "--no-host-libs",
            "--recompress",
            "-w",
            "fixed",
        ],
        &["plan", "m.yaml", "--format", "json"],
        &["render", "script", "m.yaml", "--out", "scripts/"],
        &["index", "build", "dist"],
        &["publish", "dist", "--to", "release", "--tag", "v1"],
        &[
            "sdk",
            "build",
            "--artifact-dir",
            "artifacts",
            "--dest-dir",
            "sdk",
            "--version",
            "7.10.0",
        ],
        &["sdk", "verify", "sdk/dist"],
    ];
    let free = project();
    let expected = commands.map(|arguments| free.run(arguments).exits(0).stdout);
    for limit in 1..=3 {
        let limited = project();
        for (arguments, expected) in commands.iter().zip(&expected) {
            let outcome = limited.run_in_threads(limit, arguments).exits(0);
            assert_eq!(
                &outcome.stdout, expected,
                "{limit}: {arguments:?}\n{}",
                outcome.stderr
            );
        }
        assert!(files(&limited) == files(&free), "{limit}");
    }
}

/// A compressed tree is read and written without threads, with the same bytes.
#[test]
fn xz_is_read_and_written_in_one_thread() {
    let make = [
        "sdk",
        "build",
        "--artifact-dir",
        "artifacts",
        "--dest-dir",
        "sdk",
        "--devel-tarball-compression",
    ];
    let verify = ["sdk", "verify", "sdk/dist"];
    let (free, limited) = (project(), project());
    for arguments in [&make[..], &verify] {
        let expected = free.run(arguments).exits(0).stdout;
        assert_eq!(
            limited.run_in_threads(1, arguments).exits(0).stdout,
            expected
        );
    }
    assert!(files(&limited) == files(&free));
}

/// Host names are resolved in the calling thread.
#[test]
fn host_names_are_resolved_in_one_thread() {
    let served = Served::answering(|_| answer("404 Not Found", "", b"{}"));
    let address = served.url().replace("127.0.0.1", "localhost");
    let project = project().env("GITHUB_TOKEN", "none");
    let file = format!("dist/{RELEASED}");
    let publish = [
        "publish",
        &file,
        "--repo",
        "o/r",
        "--tag",
        "v1",
        "--api-url",
        &address,
    ];
    for arguments in [&publish[..], &["compat", "refresh", "--from", &address]] {
        let stderr = project.run_in_threads(1, arguments).exits(3).stderr;
        let requests = served.requests();
        assert!(
            !stderr.contains("panicked") && !requests.is_empty(),
            "{requests:?}\n{stderr}"
        );
    }
}

/// The output of a program is read in a thread. Where it cannot be started, neither is the program.
#[test]
fn no_program_is_started_whose_output_nothing_can_read() {
    let project = Project::new();
    let stderr = project
        .run_in_threads(1, &["source", "checkout", "torch"])
        .exits(3)
        .stderr;
    insta::assert_snapshot!(stderr, @r"
    error[C018 no-git]: cannot start `git`: Resource temporarily unavailable (os error 11)
    help: check that the program can be run
    ");
}
