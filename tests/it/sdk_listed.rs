//! What of an artifact counts: what its manifest lists is there, what is there is listed, and names
//! are such that installers take them.

use std::os::unix::fs::symlink;

use rock_matrix::archive::ArchiveCompression;

use crate::support::artifacts::{Artifacts, append};
use crate::support::{Outcome, Project};

const CORE: &str = "artifacts/core-hip_lib_generic";

fn build(project: &Project, code: i32) -> Outcome {
    let words = [
        "sdk",
        "build",
        "--artifact-dir",
        "artifacts",
        "--dest-dir",
        "out",
        "--version",
        "7.10.0",
        "--overwrite",
    ];
    project.run(&words).exits(code)
}

fn manifest(project: &Project, text: &str) {
    std::fs::write(project.path(CORE).join("artifact_manifest.txt"), text).unwrap();
}

fn has_core(project: &Project) -> bool {
    let wheel = project.path("out/dist/rocm_sdk_core-7.10.0-py3-none-linux_x86_64.whl");
    crate::support::rewritten::members(&wheel).contains_key("_rocm_sdk_core/lib/libamdhip64.so.7")
}

/// Projects that install nothing have their folder in the list, and none in the artifact.
#[test]
fn folders_that_a_manifest_lists_need_not_be_there() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    // The mark is what editors of Windows put in front.
    manifest(&project, "\u{feff}hip/stage\nnothing/stage\n");
    // And this is what file managers leave behind.
    std::fs::write(project.path(CORE).join(".DS_Store"), b"x").unwrap();
    assert_eq!(build(&project, 0).stderr, "");
    assert!(has_core(&project));
    artifacts.archive(
        "rand_lib_generic",
        Some("\u{feff}rand/stage\nnothing/stage\n"),
        |tar| {
            append(tar, "rand/stage/lib/a", b"a");
        },
    );
    assert_eq!(build(&project, 0).stderr, "");
}

#[test]
fn files_that_a_manifest_does_not_list_are_reported_once() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    manifest(&project, "hip/stagee\n");
    let stderr = build(&project, 1).stderr;
    let why =
        "error[S002 bad-artifact]: it is below none of the directories that the manifest lists\n";
    assert!(
        stderr.starts_with(why) && stderr.contains("core-hip_lib_generic/hip/stage\n"),
        "{stderr}"
    );
    assert_eq!(stderr.matches("S002").count(), 1, "{stderr}");
    assert!(!project.has("out"));
    manifest(&project, "hip/stage\n");
    artifacts.archive("rand_lib_generic", Some("rand/stagee\n"), |tar| {
        append(tar, "rand/stage/lib/a", b"a");
        append(tar, "rand/stage/lib/b", b"b");
    });
    let stderr = build(&project, 1).stderr;
    assert!(
        stderr.starts_with(why) && stderr.contains("rand_lib_generic.tar.zst/rand/stage/lib/a\n"),
        "{stderr}"
    );
}

#[test]
fn an_unreadable_manifest_is_an_error() {
    let project = Project::new();
    Artifacts::split(&project);
    let manifest = project.path(CORE).join("artifact_manifest.txt");
    std::fs::remove_file(&manifest).unwrap();
    symlink("artifact_manifest.txt", &manifest).unwrap();
    let stderr = build(&project, 1).stderr;
    assert!(
        stderr.contains("cannot-read-file")
            && stderr.contains("core-hip_lib_generic/artifact_manifest.txt"),
        "{stderr}"
    );
    assert!(!project.has("out"));
}

#[test]
fn a_folder_of_artifacts_that_is_not_there_is_reported_as_that() {
    let project = Project::new();
    for command in ["plan", "build"] {
        let words = [
            "sdk",
            command,
            "--artifact-dir",
            "nope",
            "--dest-dir",
            "out",
        ];
        let words = if command == "plan" {
            &words[..4]
        } else {
            &words
        };
        let stderr = project.run(words).exits(1).stderr;
        assert!(
            stderr.starts_with("error[S001 no-artifact]: there is no such directory\n"),
            "{stderr}"
        );
    }
}

#[test]
fn names_that_installers_cannot_list_are_refused_with_the_file_of_the_artifact() {
    for (name, why) in [
        (
            "new\nline",
            "a control character or a line break, which installers cannot list",
        ),
        (
            "next\u{85}line",
            "a control character or a line break, which installers cannot list",
        ),
        ("back\\slash", "a backslash, which wheels cannot contain"),
    ] {
        for is_packed in [false, true] {
            let project = Project::new();
            let artifacts = Artifacts::split(&project);
            artifacts.file(&format!("blas_lib_generic/blas/stage/lib/{name}"), b"x");
            if is_packed {
                artifacts.pack(ArchiveCompression::Zstd);
            }
            let stderr = build(&project, 1).stderr;
            assert!(
                stderr.starts_with(&format!("error[S002 bad-artifact]: its name has {why}\n")),
                "{stderr}"
            );
            let ending = if is_packed { ".tar.zst" } else { "" };
            let place = format!("artifacts/blas_lib_generic{ending}/blas/stage/lib/");
            assert!(
                stderr.contains(&place)
                    && stderr.contains("help: rename it in the build that created it"),
                "{stderr}"
            );
            assert!(!project.has("out"));
            let planned = project
                .run(&["sdk", "plan", "--artifact-dir", "artifacts"])
                .exits(1)
                .stderr;
            assert_eq!(planned, stderr);
        }
    }
}
