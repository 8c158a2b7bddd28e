//! Artifacts that are archives, of which packages are made without unpacking them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use rock_matrix::archive::ArchiveCompression;
use sha2::{Digest as _, Sha256};

use crate::support::artifacts::{Artifacts, append, append_other, compressed};
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
        "--strict",
    ];
    project.run(&words).exits(code)
}

/// The digests of all packages of a project.
fn packages(project: &Project) -> BTreeMap<String, String> {
    let files = std::fs::read_dir(project.path("out/dist"))
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            (
                path.file_name().unwrap().to_string_lossy().into_owned(),
                sum(&path),
            )
        });
    files.collect()
}

fn sum(path: &Path) -> String {
    let mut hex = String::new();
    for byte in Sha256::digest(std::fs::read(path).unwrap()) {
        write!(hex, "{byte:02x}").unwrap();
    }
    hex
}

#[test]
fn packages_of_archives_are_those_of_folders_byte_for_byte() {
    // More than what is kept as one piece, and nothing that would compress.
    let mut state = 1_u32;
    let noise: Vec<u8> = (0..700_000)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect();
    let folders = Project::new();
    Artifacts::split(&folders).file("blas_lib_generic/blas/stage/lib/noise.dat", &noise);
    build(&folders, 0);
    let wanted = packages(&folders);
    assert_eq!(wanted.len(), 7);
    for compression in ArchiveCompression::ALL {
        let project = Project::new();
        let artifacts = Artifacts::split(&project);
        artifacts.file("blas_lib_generic/blas/stage/lib/noise.dat", &noise);
        artifacts.pack(compression);
        build(&project, 0);
        assert_eq!(packages(&project), wanted, "{compression:?}");
        let left = std::fs::read_dir(project.path("out"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        assert_eq!(left.collect::<Vec<_>>(), ["dist"], "nothing is unpacked");
        let plan = |project: &Project| {
            project
                .run(&["sdk", "plan", "--artifact-dir", "artifacts"])
                .exits(0)
                .stdout
        };
        assert_eq!(plan(&project), plan(&folders));
    }
}

/// Only what is there in more than one form is passed over, and what was published is what is read.
#[test]
fn a_folder_comes_before_archives_of_its_name_and_zstd_before_xz() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    let wanted = {
        build(&project, 0);
        let wanted = packages(&project);
        std::fs::remove_dir_all(project.path("out")).unwrap();
        wanted
    };
    // Not even archives.
    let folder = project.path("artifacts");
    std::fs::write(folder.join("blas_lib_generic.tar.zst"), b"nothing").unwrap();
    build(&project, 0);
    assert_eq!(packages(&project), wanted);
    std::fs::remove_file(folder.join("blas_lib_generic.tar.zst")).unwrap();
    std::fs::remove_dir_all(project.path("out")).unwrap();
    artifacts.pack(ArchiveCompression::Zstd);
    std::fs::write(folder.join("blas_lib_generic.tar.xz"), b"nothing").unwrap();
    let archive = folder.join("blas_lib_generic.tar.zst");
    std::fs::write(
        folder.join("blas_lib_generic.tar.zst.sha256sum"),
        format!("{}  x.tar.zst\n", sum(&archive)),
    )
    .unwrap();
    std::fs::write(
        folder.join("blas_dev_generic.tar.zst.sha256sum"),
        sum(&folder.join("blas_dev_generic.tar.zst")),
    )
    .unwrap();
    build(&project, 0);
    assert_eq!(packages(&project), wanted);
}

#[test]
fn truncated_damaged_and_wrong_archives_are_all_reported() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    let folder = project.path("artifacts");
    artifacts.pack(ArchiveCompression::Zstd);
    let cut = folder.join("blas_lib_generic.tar.zst");
    let bytes = std::fs::read(&cut).unwrap();
    std::fs::write(&cut, &bytes[..bytes.len() - 3]).unwrap();
    std::fs::write(
        folder.join("core-hip_lib_generic.tar.zst.sha256sum"),
        "0".repeat(64),
    )
    .unwrap();
    artifacts.archive("rand_lib_generic", None, |tar| {
        append(tar, "rand/stage/lib/a", b"a");
    });
    artifacts.archive("rpp_lib_generic", None, |_| ());
    std::fs::write(folder.join("fft_lib_generic.tar.xz"), b"").unwrap();
    // Whole, as far as zstd can say, and no tar.
    std::fs::write(
        folder.join("rccl_lib_generic.tar.zst"),
        compressed(&[7; 5000], ArchiveCompression::Zstd),
    )
    .unwrap();
    let stderr = build(&project, 1).stderr;
    for (name, why) in [
        (
            "blas_lib_generic.tar.zst",
            "the archive is damaged or truncated",
        ),
        (
            "core-hip_lib_generic.tar.zst.sha256sum",
            "the archive is not the one that was published: its SHA-256 is",
        ),
        (
            "rand_lib_generic.tar.zst",
            "its first member is not `artifact_manifest.txt`",
        ),
        (
            "rpp_lib_generic.tar.zst",
            "its first member is not `artifact_manifest.txt`",
        ),
        (
            "fft_lib_generic.tar.xz",
            "the archive is damaged or truncated",
        ),
        (
            "rccl_lib_generic.tar.zst",
            "the archive is damaged or truncated",
        ),
    ] {
        assert!(
            stderr.contains(why) && stderr.contains(&format!("artifacts/{name}")),
            "{name}: {stderr}"
        );
    }
    assert_eq!(stderr.matches("[S002 bad-artifact]").count(), 6, "{stderr}");
    assert!(!project.has("out"), "{:?}", project.files());
}

#[test]
fn members_that_no_package_can_hold_are_all_reported() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    artifacts.archive("rand_lib_generic", Some("rand/stage\n"), |tar| {
        append(tar, "../../outside", b"x");
        append(tar, "/etc/absolute", b"x");
        append(tar, "rand/stage/lib/../../../../up", b"x");
        append(tar, "elsewhere/file", b"x");
        append_other(tar, tar::EntryType::Char, "rand/stage/dev", "");
        append_other(
            tar,
            tar::EntryType::Link,
            "rand/stage/again",
            "rand/stage/behind",
        );
        append(tar, "rand/stage/behind", b"x");
        let mut header = tar::Header::new_gnu();
        header.as_mut_bytes()[..14].copy_from_slice(b"rand/stage/\xff\xfe!");
        header.set_mode(0o644);
        header.set_size(0);
        header.set_cksum();
        tar.append(&header, std::io::empty()).unwrap();
    });
    let stderr = build(&project, 1).stderr;
    for why in [
        "rand_lib_generic.tar.zst/../../outside\n",
        "rand_lib_generic.tar.zst/etc/absolute\n",
        "lib/../../../../up\n",
        "it is below none of the directories that the manifest lists",
        "it is a device, which no package can contain",
        "it is a hard link to `rand/stage/behind`, which does not precede it",
        "a name that is not UTF-8",
    ] {
        assert!(stderr.contains(why), "{why}: {stderr}");
    }
    assert_eq!(stderr.matches("[S002 bad-artifact]").count(), 7, "{stderr}");
    assert!(!project.has("out"));
}

/// Both lead to the file in front of them where `..` and the first slash are taken out of the text.
#[test]
fn another_name_of_a_path_that_leads_out_is_refused() {
    for other in ["/rand/stage/lib/data", "rand/../rand/stage/lib/data"] {
        let project = Project::new();
        let artifacts = Artifacts::split(&project);
        artifacts.archive("rand_lib_generic", Some("rand/stage\n"), |tar| {
            append(tar, "rand/stage/lib/data", b"one content");
            append_other(tar, tar::EntryType::Link, "rand/stage/lib/same", other);
        });
        let stderr = build(&project, 1).stderr;
        assert!(stderr.contains("[S002 bad-artifact]"), "{stderr}");
        assert!(
            stderr.contains(&format!(
                "it is a hard link to `{other}`, which leads out of the artifact"
            )),
            "{stderr}"
        );
        assert!(!project.has("out"));
    }
}

#[test]
fn another_name_of_a_file_holds_what_the_file_holds() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    artifacts.archive("rand_lib_generic", Some("rand/stage\n\n"), |tar| {
        append(tar, "rand/stage/lib/data", b"one content");
        append_other(
            tar,
            tar::EntryType::Link,
            "rand/stage/lib/same",
            "rand/stage/lib/data",
        );
    });
    build(&project, 0);
    let wheel =
        std::fs::read(project.path("out/dist/rocm_sdk_libraries-7.10.0-py3-none-linux_x86_64.whl"))
            .unwrap();
    let mut wheel = zip::ZipArchive::new(std::io::Cursor::new(wheel)).unwrap();
    for name in ["data", "same"] {
        let member = wheel
            .by_name(&format!("_rocm_sdk_libraries/lib/{name}"))
            .unwrap();
        assert_eq!(std::io::read_to_string(member).unwrap(), "one content");
    }
}
