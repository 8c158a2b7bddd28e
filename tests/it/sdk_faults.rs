//! Making packages of the SDK, ended from outside: a kill, Ctrl-C, a full disk. The output folder
//! holds the old packages or the new ones, and nothing is left of what was begun.

use std::collections::BTreeMap;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rock_matrix::archive::ArchiveCompression;

use crate::support::Project;
use crate::support::artifacts::Artifacts;

const BUILD: [&str; 10] = [
    "sdk",
    "build",
    "--artifact-dir",
    "artifacts",
    "--dest-dir",
    "out",
    "--version",
    "7.10.0",
    "--overwrite",
    "--no-wheel-compression",
];
/// What lies beside `dist` while a build is under way.
const BEGUN: &str = "out/.dist.rock-new";

/// Artifacts of which the wheel of libraries is large enough that writing it takes a while.
fn large(project: &Project) -> Artifacts<'_> {
    let artifacts = Artifacts::split(project);
    artifacts.file("blas_lib_generic/blas/stage/lib/large.dat", b"");
    let path = project.path("artifacts/blas_lib_generic/blas/stage/lib/large.dat");
    std::fs::File::options()
        .write(true)
        .open(path)
        .unwrap()
        .set_len(192 << 20)
        .unwrap();
    artifacts
}

/// The size and the beginning of each package: enough to tell old ones from new ones.
fn packages(project: &Project) -> BTreeMap<String, u64> {
    let listed = std::fs::read_dir(project.path("out/dist"))
        .into_iter()
        .flatten()
        .map(Result::unwrap);
    listed
        .map(|file| {
            (
                file.file_name().into_string().unwrap(),
                file.metadata().unwrap().len(),
            )
        })
        .collect()
}

/// What is in the folder that packages are written to.
fn beside(project: &Project) -> Vec<String> {
    let listed = std::fs::read_dir(project.path("out")).into_iter().flatten();
    let mut names: Vec<String> = listed
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Begins a build, and sends it a signal once `is_time` of the folder that is under way, or has
/// taken that long.
fn ended(project: &Project, signal: &str, is_time: impl Fn(&Path) -> bool) -> Option<i32> {
    let begun = project.path(BEGUN);
    let mut child: Child = project
        .command(&BUILD)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .unwrap();
    let started = Instant::now();
    while !is_time(&begun)
        && child.try_wait().unwrap().is_none()
        && started.elapsed() < Duration::from_mins(1)
    {
        std::thread::sleep(Duration::from_micros(200));
    }
    let sent = Command::new("kill")
        .args([&format!("-{signal}"), &child.id().to_string()])
        .stderr(Stdio::null())
        .status();
    sent.unwrap();
    child.wait().unwrap().code()
}

fn has(folder: &Path, name: &str) -> bool {
    std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .any(|entry| entry.file_name().to_string_lossy().starts_with(name))
}

/// A moment to be ended at.
type Moment = (&'static str, fn(&Path) -> bool);

/// Before anything is written, between two packages, and while the large one is written.
const MOMENTS: [Moment; 4] = [
    ("at once", |_| true),
    ("when the folder is there", |begun| begun.is_dir()),
    ("after the first package", |begun| {
        has(begun, "rocm_sdk_core")
    }),
    ("in the large package", |begun| has(begun, "rocm_profiler")),
];

#[test]
fn a_build_that_is_killed_leaves_the_old_packages_and_the_next_one_is_right() {
    let project = Project::new();
    large(&project);
    for (moment, is_time) in MOMENTS {
        let before = packages(&project);
        let _ = ended(&project, "KILL", is_time);
        let after = packages(&project);
        assert!(after == before || after.len() == 7, "{moment}: {after:?}");
        project.run(&BUILD).exits(0);
        assert_eq!(
            (packages(&project).len(), beside(&project)),
            (7, vec!["dist".to_owned()]),
            "{moment}"
        );
    }
    // Nor when it was about to remove the old packages, which the new ones have taken the place of.
    let wanted = packages(&project);
    std::fs::create_dir(project.path(BEGUN)).unwrap();
    std::fs::write(project.path(BEGUN).join("rocm-7.9.0.tar.gz"), b"old").unwrap();
    project.run(&BUILD).exits(0);
    assert_eq!(
        (packages(&project), beside(&project)),
        (wanted, vec!["dist".to_owned()])
    );
    project.run(&["sdk", "verify", "out/dist"]).exits(0);
}

#[test]
fn a_build_that_is_interrupted_takes_away_what_it_began() {
    let project = Project::new();
    large(&project);
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        for (moment, is_time) in &MOMENTS[2..] {
            let exit = ended(&project, signal, is_time);
            assert_eq!(exit, Some(code), "{moment}");
            assert_eq!(beside(&project), [""; 0], "{moment}");
        }
    }
    project.run(&BUILD).exits(0);
    let before = packages(&project);
    assert_eq!(before.len(), 7);
    assert_eq!(ended(&project, "INT", MOMENTS[3].1), Some(130));
    assert_eq!(
        (packages(&project), beside(&project)),
        (before, vec!["dist".to_owned()])
    );
}

#[test]
fn a_full_disk_is_reported_and_leaves_nothing_half_written() {
    let project = Project::new();
    large(&project);
    // In a large member, in a member that is copied as it is, and in the tree to build against.
    for (kib, more) in [(20_000, &[][..]), (16, &[]), (16, &["--wheel-compression"])] {
        let stderr = project
            .run_limited(kib, &[&BUILD, more].concat())
            .exits(3)
            .stderr;
        assert!(
            stderr.starts_with("error[H021 cannot-write-file]: cannot write `"),
            "{stderr}"
        );
        assert!(
            stderr.contains("File too large")
                && stderr.contains("help: lift the limit of this shell"),
            "{stderr}"
        );
        assert_eq!(beside(&project), [""; 0], "{kib}");
    }
    project.run(&BUILD).exits(0);
    let before = packages(&project);
    project.run_limited(16, &BUILD).exits(3);
    assert_eq!(
        (packages(&project), beside(&project)),
        (before, vec!["dist".to_owned()])
    );
}

#[test]
fn a_disk_too_small_for_the_archives_is_an_error_before_writes() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    let mut state = 1_u32;
    let noise: Vec<u8> = (0..3_000_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect();
    artifacts.file("blas_lib_generic/blas/stage/lib/noise.dat", &noise);
    artifacts.pack(ArchiveCompression::Zstd);
    let stderr = project.run_limited(1000, &BUILD).exits(3).stderr;
    assert!(
        stderr.contains("error[H021 cannot-write-file]: cannot write to `")
            && stderr.contains("help: lift"),
        "{stderr}"
    );
    assert!(!project.has("out"));
    project.run(&BUILD).exits(0);
}
