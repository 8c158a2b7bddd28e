//! Artifacts of a run that are unpacked in spite of faults, kills and other runs.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::support::Project;
use crate::support::artifacts::{Artifacts, append};

/// A member that takes a while to write, and next to nothing packed.
const LARGE_BYTES: usize = 96 << 20;

const FETCH: [&str; 6] = ["sdk", "fetch", "--run-id", "123", "--local-staging", "staging"];

/// A run with three artifacts, the second of them large.
fn staged(project: &Project) {
    let artifacts = Artifacts::new(project, true);
    artifacts.archive("fft_lib_generic", Some("s/stage\n"), |tar| append(tar, "s/stage/lib/first", b"fft"));
    artifacts.archive("rand_lib_generic", Some("s/stage\n"), |tar| {
        append(tar, "s/stage/large", &vec![0; LARGE_BYTES]);
        append(tar, "s/stage/lib/second", b"rand");
    });
    artifacts.publish("staging", "123-linux");
}

fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn fetch(project: &Project, more: &[&str], code: i32) -> String {
    project.run(&[&FETCH, more].concat()).exits(code).stderr
}

/// Starts a run, and waits until something is below this path.
fn begun(project: &Project, more: &[&str], path: &str) -> Child {
    let words = [&FETCH, more].concat();
    let mut child = project.command(&words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    while names(&project.path(path)).is_empty() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before `{path}` was there");
        std::thread::yield_now();
    }
    child
}

fn killed(mut child: Child) {
    child.kill().unwrap();
    assert!(!child.wait().unwrap().success());
}

/// Runs the command where no file may get longer than a MiB, as on a disk that is full. A signal would end it; ignored,
/// writing fails.
fn on_a_full_disk(project: &Project, more: &[&str]) -> (Option<i32>, String) {
    let done = Command::new("bash")
        .args(["-c", "trap '' XFSZ; ulimit -f 1024; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_rock-matrix")])
        .args(FETCH)
        .args(more)
        .current_dir(project.root())
        .output()
        .unwrap();
    (done.status.code(), String::from_utf8(done.stderr).unwrap())
}

/// TK28: what a killed run leaves is no artifact, and goes with the next run, whatever that fetches.
#[test]
fn a_run_that_is_killed_while_it_unpacks_leaves_nothing_for_good() {
    let project = Project::new();
    staged(&project);
    let hidden = ".rand_lib_generic.rock-new";
    killed(begun(&project, &["--extract"], &format!("artifacts/{hidden}")));
    let left = names(&project.path("artifacts"));
    assert!(left.iter().any(|name| name == hidden) && !project.has("artifacts/rand_lib_generic"), "{left:?}");
    // Beside all other artifacts, it is none.
    std::fs::rename(project.path("artifacts").join(hidden), project.path("aside")).unwrap();
    fetch(&project, &["--extract"], 0);
    std::fs::rename(project.path("aside"), project.path("artifacts").join(hidden)).unwrap();
    let plan = project.run(&["sdk", "plan", "--artifact-dir", "artifacts", "--format", "json"]).exits(1);
    assert!(plan.stderr.contains("rocm-profiler") && !plan.stderr.contains("rock-new"), "{}", plan.stderr);
    fetch(&project, &["^base"], 0);
    let left = names(&project.path("artifacts"));
    assert!(left.iter().all(|name| !name.starts_with('.')), "{left:?}");
    fetch(&project, &["--extract", "--delete-after-extract"], 0);
    assert_eq!(names(&project.path("artifacts")), ["base_lib_generic", "fft_lib_generic", "rand_lib_generic"]);
    assert_eq!(project.read("artifacts/rand_lib_generic/s/stage/lib/second"), "rand");
}

#[test]
fn two_runs_into_one_folder_come_one_after_the_other() {
    let project = Project::new();
    staged(&project);
    for (way, path) in [
        (["--extract", "--delete-after-extract"], "artifacts/.rand_lib_generic.rock-new"),
        (["--flatten", "--delete-after-extract"], "artifacts/.tree.rock-new/rand_lib_generic"),
    ] {
        let first = begun(&project, &way, path);
        let said = fetch(&project, &way, 0);
        assert!(said.contains("waiting for another run to end"), "{said}");
        assert!(first.wait_with_output().unwrap().status.success());
        let left = names(&project.path("artifacts"));
        assert!(left.iter().all(|name| !name.starts_with('.') && !name.contains(".tar")), "{left:?}");
    }
    assert_eq!(project.read("artifacts/rand_lib_generic/s/stage/lib/second"), "rand");
    assert_eq!(project.read("artifacts/lib/second"), "rand");
}

/// TK28: one archive of several that is damaged, a disk that is full, a kill: the tree is as it was.
#[test]
fn one_tree_comes_as_a_whole_or_stays_as_it_was() {
    let project = Project::new().bytes("tree/lib/first", b"old").bytes("tree/lib/mine", b"mine");
    staged(&project);
    let flat = ["--flatten", "--output-dir", "tree", "--layout", "manager"];
    let damaged = project.path("staging/123-linux/sparse_lib_generic.tar.zst");
    let good = project.path("staging/123-linux/fft_lib_generic.tar.zst");
    let bytes = std::fs::read(good).unwrap();
    std::fs::write(&damaged, &bytes[..bytes.len() - 6]).unwrap();
    let as_it_was = || {
        assert_eq!(names(&project.path("tree/lib")), ["first", "mine"]);
        assert_eq!(project.read("tree/lib/first"), "old");
        names(&project.path("tree"))
    };
    let said = fetch(&project, &flat, 1);
    assert!(said.contains("[S002 bad-artifact]") && said.contains("damaged or cut off"), "{said}");
    assert_eq!(as_it_was(), [".download_cache", "lib"]);
    std::fs::remove_file(damaged).unwrap();
    let (code, said) = on_a_full_disk(&project, &flat);
    assert!(code == Some(3) && said.contains("cannot write"), "{said}");
    assert_eq!(as_it_was(), [".download_cache", "lib"]);
    let in_the_way = project.path("tree/share");
    std::fs::write(&in_the_way, "a file").unwrap();
    let said = fetch(&project, &flat, 3);
    assert!(said.contains("a file is where a folder belongs"), "{said}");
    assert_eq!(as_it_was(), [".download_cache", "lib", "share"]);
    std::fs::remove_file(in_the_way).unwrap();
    killed(begun(&project, &flat, "tree/.tree.rock-new/rand_lib_generic"));
    assert_eq!(as_it_was(), [".download_cache", ".tree.rock-new", "lib"]);
    let said = project.run(&[&FETCH, flat.as_slice()].concat()).exits(0);
    assert_eq!(said.stdout, "tree\n");
    assert_eq!(names(&project.path("tree")), [".download_cache", "large", "lib", "share"]);
    assert_eq!(names(&project.path("tree/lib")), ["first", "mine", "second"]);
    assert_eq!((project.read("tree/lib/first"), project.read("tree/lib/mine")), ("fft".into(), "mine".into()));
}
