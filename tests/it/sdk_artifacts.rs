//! Artifacts that do not go together, and what of them is read.

use std::fmt::Write as _;

use rock_matrix::archive::ArchiveCompression;

use crate::support::artifacts::{Artifacts, append, append_other};
use crate::support::{Outcome, Project};

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

/// The list of archives that lies beside libraries whose code was split off, as `MessagePack`.
fn list(archives: &[(&str, &str, u64)]) -> Vec<u8> {
    let mut made = vec![0x82];
    let text = |made: &mut Vec<u8>, text: &str| {
        made.extend([0xd9, u8::try_from(text.len()).unwrap()]);
        made.extend(text.bytes());
    };
    text(&mut made, "format_version");
    made.push(1);
    text(&mut made, "kpack_files");
    made.push(0x80 + u8::try_from(archives.len()).unwrap());
    for (target, file, size) in archives {
        text(&mut made, target);
        made.push(0x82);
        text(&mut made, "file");
        text(&mut made, file);
        text(&mut made, "size");
        made.push(0xcf);
        made.extend(size.to_be_bytes());
    }
    made
}

#[test]
fn duplicate_artifacts_are_reported_with_the_one_used() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    assert!(!build(&project, 0).stderr.contains("S014"));
    let folder = project.path("artifacts");
    std::fs::write(folder.join("blas_lib_generic.tar.xz"), b"nothing").unwrap();
    let stderr = build(&project, 0).stderr;
    assert!(
        stderr.starts_with(
            "warning[S014 artifact-twice]: `blas_lib_generic` exists in several forms"
        ),
        "{stderr}"
    );
    assert!(
        stderr.contains("`blas_lib_generic` is used instead of `blas_lib_generic.tar.xz`"),
        "{stderr}"
    );
    artifacts.pack(ArchiveCompression::Zstd);
    for name in [
        "base_run",
        "blas_dev",
        "core-hip_dev",
        "core-hip_lib",
        "core-hip_run",
    ] {
        std::fs::write(folder.join(format!("{name}_generic.tar.xz")), b"nothing").unwrap();
    }
    let stderr = build(&project, 0).stderr;
    assert!(
        stderr.starts_with("warning[S014 artifact-twice]: 6 artifacts exist in several forms"),
        "{stderr}"
    );
    assert!(
        stderr.contains("`blas_lib_generic.tar.zst` is used instead of `blas_lib_generic.tar.xz`"),
        "{stderr}"
    );
}

#[test]
fn artifacts_of_several_builds_are_reported_if_they_name_theirs() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    let archive =
        |target: &str| format!("blas_lib_{target}/blas/stage/.kpack/blas_lib_{target}.kpack");
    let size = |target: &str| {
        project
            .path("artifacts")
            .join(archive(target))
            .metadata()
            .unwrap()
            .len()
    };
    let beside = "blas_lib_generic/blas/stage/.kpack/blas_lib.kpm";
    let (one, other) = (
        ("gfx942", "blas_lib_gfx942.kpack"),
        ("gfx1100", "blas_lib_gfx1100.kpack"),
    );
    let absent = ("gfx1201", "blas_lib_gfx1201.kpack", 1);
    let right = [
        (one.0, one.1, size("gfx942")),
        (other.0, other.1, size("gfx1100")),
        absent,
    ];
    artifacts.file(beside, &list(&right));
    assert!(
        !build(&project, 0).stderr.contains("S015"),
        "all is of one build"
    );
    artifacts.file(
        beside,
        &list(&[(one.0, one.1, size("gfx942") + 1), right[1]]),
    );
    artifacts.file("base_run_generic/base/stage/.info/version", b"7.11.0\n");
    let stderr = build(&project, 0).stderr;
    let mut expected = String::new();
    for (artifact, place, why) in [
        (
            "base_run_generic",
            "base_run_generic/base/stage/.info/version",
            "it is from ROCm 7.11.0, but the manifest of the build says 7.10.0".to_owned(),
        ),
        (
            "blas_lib_gfx942",
            &archive("gfx942"),
            format!(
                "it has {0} bytes, but `{beside}` lists {1}",
                size("gfx942"),
                size("gfx942") + 1
            ),
        ),
    ] {
        let _ = write!(
            expected,
            "warning[S015 mixed-artifacts]: `{artifact}` is from another build than other \
             artifacts\n --> artifacts/{place}\n  = {why}\n\
             help: fetch all artifacts of one run\n\n",
        );
    }
    for line in expected.lines().filter(|line| !line.is_empty()) {
        let words = line.trim_start_matches([' ', '=', '-', '>']);
        assert!(stderr.contains(words), "{words}\n{stderr}");
    }
    assert_eq!(stderr.matches("S015").count(), 2, "{stderr}");
    artifacts.pack(ArchiveCompression::Zstd);
    assert_eq!(
        build(&project, 0).stderr.matches("S015").count(),
        2,
        "also of archives"
    );
}

/// The folder that a manifest lists may be anything, and what lies behind a link anywhere.
#[test]
fn a_link_as_directory_of_an_artifact_is_not_followed() {
    for link in ["rand", "rand/stage"] {
        let project = Project::new()
            .file("outside/stage/lib/secret", "secret")
            .file("outside/lib/secret", "secret");
        Artifacts::split(&project).file("rand_lib_generic/rand/stage/lib/x", b"x");
        let place = project.path("artifacts/rand_lib_generic").join(link);
        std::fs::remove_dir_all(&place).unwrap();
        std::os::unix::fs::symlink(project.path("outside"), &place).unwrap();
        let stderr = build(&project, 1).stderr;
        assert!(
            stderr.starts_with(
                "error[S002 bad-artifact]: the manifest lists a directory behind this link"
            ),
            "{stderr}"
        );
        assert!(
            stderr.contains(&format!("artifacts/rand_lib_generic/{link}\n")),
            "{stderr}"
        );
        assert!(!project.has("out/dist"));
    }
}

/// What cannot be unpacked is not packed either: a folder could not hold it.
#[test]
fn a_file_below_a_link_of_an_archive_is_refused_as_it_is_where_it_is_unpacked() {
    for is_link_first in [true, false] {
        let project = Project::new();
        let artifacts = Artifacts::split(&project);
        artifacts.archive("rand_lib_generic", Some("rand/stage\n"), |tar| {
            let link =
                |tar: &mut _| append_other(tar, tar::EntryType::Symlink, "rand/stage/lib", "lib64");
            if is_link_first {
                link(tar);
            }
            append(tar, "rand/stage/lib64/y", b"y");
            append(tar, "rand/stage/lib/deep/x", b"x");
            if !is_link_first {
                link(tar);
            }
        });
        let stderr = build(&project, 1).stderr;
        assert!(
            stderr.starts_with(
                "error[S002 bad-artifact]: it is below `rand/stage/lib`, which is not a directory"
            ),
            "{stderr}"
        );
        assert!(
            stderr.contains("rand_lib_generic.tar.zst/rand/stage/lib/deep/x"),
            "{stderr}"
        );
        assert!(!project.has("out/dist"));
        artifacts.publish("staging", "123-linux");
        let fetch = [
            "sdk",
            "fetch",
            "--run-id",
            "123",
            "--local-staging",
            "staging",
            "--extract",
        ];
        let code = project.command(&fetch).output().unwrap().status.code();
        assert!(code == Some(1) || code == Some(3), "{code:?}");
        assert!(
            !project.has("artifacts/rand_lib_generic"),
            "nothing of it is there"
        );
    }
}
