//! A user makes the index of many wheels again, and those whose digest is known are not read.

use std::path::Path;
use std::process::Command;

use crate::support::{Project, Wheel};

const ONE: &str = "flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl";
const TWO: &str = "flash_attn-2.8.3+rocm62torch2.6-cp311-cp311-linux_x86_64.whl";

fn wheel(name: &str) -> Vec<u8> {
    Wheel::named(name)
        .requires("torch")
        .requires("einops")
        .header("Requires-Python: >=3.9,<4")
        .bytes()
}

/// A release in `release/` with two wheels, written a while ago.
fn released() -> Project {
    let project = [ONE, TWO].iter().fold(Project::new(), |p, name| {
        p.bytes(&format!("dist/{name}"), &wheel(name))
    });
    project
        .run(&["publish", "--to", "release", "dist"])
        .exits(0);
    project
}

/// Puts bytes of the same length that no reader of wheels takes under the name, with the time that
/// it had.
fn spoil(project: &Project, name: &str) {
    let path = project.path("release").join(name);
    let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
    std::fs::write(
        &path,
        vec![b'x'; usize::try_from(std::fs::metadata(&path).unwrap().len()).unwrap()],
    )
    .unwrap();
    std::fs::File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(modified)
        .unwrap();
}

fn touch(path: &Path) {
    assert!(
        Command::new("touch")
            .args(["-d", "+1 hour"])
            .arg(path)
            .status()
            .unwrap()
            .success()
    );
}

#[test]
fn a_wheel_that_the_manifest_beside_it_knows_is_not_opened() {
    let project = released();
    let before = project.files();
    spoil(&project, ONE);
    spoil(&project, TWO);
    let done = project.run(&["index", "build", "release", "-v"]).exits(0);
    assert!(
        done.stdout
            .starts_with("release/simple is up to date: 9 pages, nothing written\n"),
        "{}",
        done.stdout
    );
    assert!(
        done.stderr
            .contains("0 files read, 2 known by their digest"),
        "{}",
        done.stderr
    );
    assert_eq!(project.files(), before);
    let read = project
        .run(&["index", "build", "release", "--read-all"])
        .exits(1);
    assert!(read.stderr.contains("error[W"), "{}", read.stderr);
}

#[test]
fn a_known_index_is_byte_for_byte_the_one_that_reading_gives() {
    let project = released();
    project
        .run(&["index", "build", "release", "--out", "read", "--read-all"])
        .exits(0);
    project
        .run(&["index", "build", "release", "--out", "known"])
        .exits(0);
    let pages = |folder: &str| {
        let names = project
            .files()
            .into_iter()
            .filter_map(|f| f.strip_prefix(folder).map(str::to_owned));
        names
            .map(|name| (project.read(&format!("{folder}{name}")), name))
            .collect::<Vec<_>>()
    };
    assert_eq!(pages("read/").len(), 9);
    assert_eq!(pages("read/"), pages("known/"));
}

#[test]
fn a_wheel_that_is_newer_than_the_manifest_or_of_another_size_is_read() {
    let project = released();
    let known = |project: &Project| {
        let stderr = project
            .run(&["index", "build", "release", "-v"])
            .exits(0)
            .stderr;
        stderr
            .lines()
            .find(|line| line.contains(" known by "))
            .unwrap()
            .to_owned()
    };
    assert_eq!(known(&project), "0 files read, 2 known by their digest");
    touch(&project.path("release").join(ONE));
    assert_eq!(known(&project), "1 files read, 1 known by their digest");
    let other = Wheel::named(TWO)
        .requires("torch")
        .file("flash_attn/more.py", "x = 1\n")
        .bytes();
    let project = project.bytes(&format!("release/{TWO}"), &other);
    let manifest = project.path("release/rock-manifest.json");
    touch(&manifest);
    assert_eq!(known(&project), "1 files read, 1 known by their digest");
    let page = project.read("release/simple/rocm6.2-torch2.6/flash-attn/index.json");
    assert!(
        page.contains(&format!("\"size\": {}", other.len())),
        "{page}"
    );
}

#[test]
fn a_sidecar_that_is_gone_comes_back_without_hashing_the_wheel() {
    let project = released();
    std::fs::remove_file(project.path("release").join(format!("{ONE}.metadata"))).unwrap();
    let done = project.run(&["index", "build", "release", "-v"]).exits(0);
    assert!(
        done.stderr.contains("0 files read, 2 known"),
        "{}",
        done.stderr
    );
    assert!(
        project
            .read(&format!("release/{ONE}.metadata"))
            .contains("Requires-Dist: einops")
    );
}

#[test]
fn digests_come_from_a_manifest_or_sums_that_are_named() {
    let project = released();
    let stderr_of = |known: &str| {
        project
            .run(&["index", "build", "dist", "--known", known, "-v"])
            .exits(0)
            .stderr
    };
    assert!(
        stderr_of("release/rock-manifest.json").contains("0 files read, 2 known by their digest")
    );
    assert!(stderr_of("release/SHA256SUMS").contains("0 files read, 2 known by their digest"));
    assert!(
        project
            .run(&["index", "build", "dist", "-v"])
            .exits(0)
            .stderr
            .contains("2 files read, 0 known")
    );
    assert_eq!(
        project.read("dist/simple/rocm6.2-torch2.5/flash-attn/index.html"),
        project.read("release/simple/rocm6.2-torch2.5/flash-attn/index.html")
    );
}

#[test]
fn a_file_without_digests_is_refused() {
    let project = released()
        .file("plan.json", "{\"version\": 1}")
        .file("sums", "not a sum\n")
        .file("empty", "");
    for name in ["plan.json", "sums", "empty"] {
        let stderr = project
            .run(&["index", "build", "dist", "--known", name])
            .exits(1)
            .stderr;
        assert!(stderr.starts_with("error[G018 bad-known-file]"), "{stderr}");
    }
    let good = project
        .run(&["index", "build", "dist", "--known", "release/SHA256SUMS"])
        .exits(0)
        .stderr;
    assert!(!good.contains("bad-known-file"), "{good}");
}

#[test]
fn a_manifest_beside_that_cannot_be_read_hinders_nobody() {
    let project = released().file("release/rock-manifest.json", "{}");
    let done = project.run(&["index", "build", "release", "-v"]).exits(0);
    assert!(
        done.stderr
            .contains("2 files read, 0 known by their digest"),
        "{}",
        done.stderr
    );
}
