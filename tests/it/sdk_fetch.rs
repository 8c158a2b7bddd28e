//! Artifacts of a run, fetched from a folder that is laid out as a bucket is, and from a bucket on
//! loopback.

use std::path::Path;

use rock_matrix::archive::ArchiveCompression;
use sha2::{Digest as _, Sha256};

use crate::support::artifacts::{Artifacts, append, append_other};
use crate::support::{Outcome, Project, Served};

fn fetch(project: &Project, more: &[&str], code: i32) -> Outcome {
    project
        .run(
            &[
                &[
                    "sdk",
                    "fetch",
                    "--run-id",
                    "123",
                    "--local-staging",
                    "staging",
                ],
                more,
            ]
            .concat(),
        )
        .exits(code)
}

fn names(folder: &Path) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn sum(path: &Path) -> String {
    let digest = Sha256::digest(std::fs::read(path).unwrap());
    digest
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect::<String>()
        + "  archive\n"
}

/// By name, by base target, and of two archives the one that is read faster.
#[test]
fn selected_artifacts_are_fetched_and_packages_are_made_of_them() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    artifacts.file("blas_lib_gfx942:xnack+/blas/stage/lib/extra.co", b"x");
    let staged = artifacts.publish("staging", "123-linux");
    std::fs::write(
        staged.join("blas_lib_generic.tar.xz"),
        b"the other form, which is slower to read",
    )
    .unwrap();
    std::fs::write(staged.join("index.html"), b"no artifact").unwrap();
    let outcome = fetch(
        &project,
        &[
            "--amdgpu-targets",
            "gfx942",
            "--exclude",
            "^rocprofiler-c",
            "--exclude-components",
            "test",
        ],
        0,
    );
    let fetched = names(&project.path("artifacts"));
    assert!(
        fetched.contains(&"blas_lib_generic.tar.zst".to_owned()),
        "{fetched:?}"
    );
    assert!(
        fetched.contains(&"blas_lib_gfx942:xnack+.tar.zst".to_owned()),
        "{fetched:?}"
    );
    for not in ["gfx1100", "rocprofiler-compute", "_test_", ".xz", "index"] {
        assert!(
            !fetched.iter().any(|name| name.contains(not)),
            "{not}: {fetched:?}"
        );
    }
    assert_eq!(outcome.stdout.lines().count(), fetched.len());
    // A second run finds all of it, and a pattern is looked for anywhere in a name.
    let planned = fetch(
        &project,
        &[
            "blas_lib_gen",
            "^core-hip_dev",
            "--dry-run",
            "--format",
            "json",
        ],
        0,
    )
    .json();
    let planned: Vec<&str> = planned["artifacts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["artifact"].as_str().unwrap())
        .collect();
    assert_eq!(planned, ["blas_lib_generic", "core-hip_dev_generic"]);
    let words = [
        "sdk",
        "build",
        "--artifact-dir",
        "artifacts",
        "--dest-dir",
        "out",
        "--version",
        "7.10.0",
    ];
    project.run(&words).exits(0);
    assert!(project.has("out/dist/rocm_sdk_device_gfx942-7.10.0-py3-none-linux_x86_64.whl"));
}

/// What is not what was published is refused, and nothing of it is left.
#[test]
fn an_archive_that_its_digest_does_not_vouch_for_is_not_kept() {
    let project = Project::new();
    let staged = Artifacts::split(&project).publish("staging", "123-linux");
    let good = staged.join("blas_lib_generic.tar.zst");
    std::fs::write(
        staged.join("blas_lib_generic.tar.zst.sha256sum"),
        sum(&good),
    )
    .unwrap();
    std::fs::write(
        staged.join("blas_dev_generic.tar.zst.sha256sum"),
        sum(&good),
    )
    .unwrap();
    std::fs::write(staged.join("base_run_generic.tar.zst.sha256sum"), "nothing").unwrap();
    let stderr = fetch(&project, &["^blas_(lib|dev)_gen", "^base_run"], 1).stderr;
    assert_eq!(stderr.matches("[S002 bad-artifact]").count(), 2, "{stderr}");
    assert!(
        stderr.contains("blas_dev_generic.tar.zst") && stderr.contains("not the published one"),
        "{stderr}"
    );
    assert!(
        stderr.contains("`nothing` is not a SHA-256 digest"),
        "{stderr}"
    );
    let with_sum = [
        "blas_lib_generic.tar.zst",
        "blas_lib_generic.tar.zst.sha256sum",
    ];
    assert_eq!(names(&project.path("artifacts")), with_sum);
    // What is there and whole stays; what somebody changed is fetched anew.
    let path = project.path("artifacts/blas_lib_generic.tar.zst");
    let before = std::fs::metadata(&path).unwrap().modified().unwrap();
    fetch(&project, &["^blas_lib_gen"], 0);
    assert_eq!(
        std::fs::metadata(&path).unwrap().modified().unwrap(),
        before
    );
    std::fs::write(&path, b"changed").unwrap();
    fetch(&project, &["^blas_lib_gen"], 0);
    assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(&good).unwrap());
    // The digest that it was checked by lies beside it, for whoever reads it, and none does that is
    // of another one.
    let beside = project.path("artifacts/blas_lib_generic.tar.zst.sha256sum");
    let checksum = std::fs::read_to_string(&beside).unwrap();
    assert_eq!(
        checksum,
        sum(&good).replace("archive", "blas_lib_generic.tar.zst")
    );
    std::fs::copy(staged.join("blas_dev_generic.tar.zst"), &path).unwrap();
    let plan = project
        .run(&["sdk", "plan", "--artifact-dir", "artifacts"])
        .exits(1);
    assert!(
        plan.stderr.contains("not the one that was published"),
        "{}",
        plan.stderr
    );
    std::fs::remove_file(staged.join("blas_lib_generic.tar.zst.sha256sum")).unwrap();
    fetch(&project, &["^blas_lib_gen"], 0);
    assert_eq!(
        names(&project.path("artifacts")),
        ["blas_lib_generic.tar.zst"]
    );
}

/// Nothing is written outside of an artifact, or half of one.
#[test]
fn an_archive_that_leads_out_of_its_folder_is_not_unpacked() {
    type Attack = fn(&mut tar::Builder<Vec<u8>>);
    let attacks: [(&str, Attack); 9] = [
        ("../up", |tar| append(tar, "../up", b"x")),
        ("/absolute", |tar| append(tar, "/absolute", b"x")),
        ("leads out of the artifact, to `../../../..`", |tar| {
            append_other(tar, tar::EntryType::Symlink, "r/stage/l", "../../../..");
        }),
        ("is a device", |tar| {
            append_other(tar, tar::EntryType::Char, "r/stage/null", "");
        }),
        ("../again", |tar| {
            append_other(tar, tar::EntryType::Link, "r/stage/h", "../again");
        }),
        ("the member `/r/stage/good` leads out", |tar| {
            append_other(tar, tar::EntryType::Link, "r/stage/h", "/r/stage/good");
        }),
        ("the member `r/../r/stage/good` leads out", |tar| {
            append_other(tar, tar::EntryType::Link, "r/stage/h", "r/../r/stage/good");
        }),
        (r"`r/stage/a\u{1b}[31m` has a control character", |tar| {
            append(tar, "r/stage/a\u{1b}[31m", b"x");
        }),
        (r"`a\nb` has a control character", |tar| {
            append_other(tar, tar::EntryType::Link, "r/stage/h", "a\nb");
        }),
    ];
    for (why, attack) in attacks {
        let project = Project::new();
        let artifacts = Artifacts::new(&project, true);
        artifacts.archive("rand_lib_generic", Some("r/stage\n"), |tar| {
            append(tar, "r/stage/good", b"good");
            attack(tar);
        });
        artifacts.publish("staging", "123-linux");
        let stderr = fetch(&project, &["rand", "--extract"], 1).stderr;
        assert!(
            stderr.contains("[S002 bad-artifact]") && stderr.contains(why),
            "{why}: {stderr}"
        );
        assert_eq!(
            names(&project.path("artifacts")),
            ["rand_lib_generic.tar.zst"],
            "{why}"
        );
    }
}

#[test]
fn archives_are_unpacked_into_folders_of_their_own_or_one_tree() {
    let project = Project::new();
    let artifacts = Artifacts::split(&project);
    artifacts.pack(ArchiveCompression::Xz);
    std::fs::create_dir_all(project.path("staging")).unwrap();
    std::fs::rename(project.path("artifacts"), project.path("staging/123-linux")).unwrap();
    fetch(&project, &["--extract", "--delete-after-extract"], 0);
    let listed = names(&project.path("artifacts"));
    assert!(
        listed.len() > 10
            && listed
                .iter()
                .all(|name| !name.contains(".tar.") && !name.starts_with('.')),
        "{listed:?}"
    );
    let text = std::fs::read_link(
        project.path("artifacts/core-hip_lib_generic/hip/stage/lib/libamdhip64.so"),
    )
    .unwrap();
    assert_eq!(text.to_str(), Some("libamdhip64.so.7"));
    let words = [
        "sdk",
        "build",
        "--artifact-dir",
        "artifacts",
        "--dest-dir",
        "out",
        "--version",
        "7.10.0",
    ];
    project.run(&words).exits(0);
    fetch(
        &project,
        &[
            "--layout",
            "manager",
            "--output-dir",
            "managed",
            "--extract",
            "^blas_lib",
        ],
        0,
    );
    assert_eq!(names(&project.path("managed/artifacts")).len(), 3);
    assert_eq!(names(&project.path("managed/.download_cache")).len(), 3);
    fetch(
        &project,
        &[
            "--flatten",
            "--output-dir",
            "tree",
            "--delete-after-extract",
        ],
        0,
    );
    assert_eq!(
        project.read("tree/include/hip/hip_runtime.h"),
        "#pragma once\n"
    );
    assert_eq!(project.read("tree/.info/version"), "7.10.0\n");
    assert!(
        !project.has("tree/artifact_manifest.txt")
            && project.path("tree/lib/libamdhip64.so").is_symlink()
    );
}

#[test]
fn names_from_a_bucket_are_requested_percent_encoded() {
    let project = Project::new();
    let artifacts = Artifacts::new(&project, true);
    artifacts.file("blas_lib_gfx942:xnack+/blas/stage/lib/extra.co", b"x");
    let staged = artifacts.publish("bucket", "123-linux");
    let name = "blas_lib_gfx942:xnack+.tar.zst";
    let size = std::fs::metadata(staged.join(name)).unwrap().len();
    // A server of files has names as they come.
    std::fs::rename(
        staged.join(name),
        staged.join("blas_lib_gfx942%3Axnack+.tar.zst"),
    )
    .unwrap();
    let listing = format!(
        "<ListBucketResult><Contents><Key>123-linux/{name}</Key><Size>{size}</Size></Contents>\
         <Contents><Key>123-linux/logs/x_lib_generic.tar.zst</Key><Size>1</Size></Contents></ListBucketResult>"
    );
    std::fs::write(project.path("bucket/index.html"), listing).unwrap();
    let served = Served::folder(&project.path("bucket"));
    let url = served.url();
    let run = |more: &[&str], code| {
        project
            .run(&[&["sdk", "fetch", "--run-id", "123", "--bucket", &url], more].concat())
            .exits(code)
    };
    run(&[], 0);
    assert_eq!(
        served.requests(),
        [
            "/?list-type=2&prefix=123-linux%2F",
            "/123-linux/blas_lib_gfx942%3Axnack%2B.tar.zst"
        ]
    );
    assert_eq!(names(&project.path("artifacts")), [name]);
    // A run of another repository has a folder of that.
    let outcome = run(&["--run-github-repo", "me/rocm"], 1);
    assert_eq!(
        served.requests(),
        ["/?list-type=2&prefix=me-rocm%2F123-linux%2F"]
    );
    assert!(
        outcome.stderr.contains("[S001 no-artifact]")
            && outcome.stderr.contains("me-rocm/123-linux"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn an_invalid_selection_is_reported_before_anything_is_fetched() {
    let project = Project::new();
    Artifacts::new(&project, true).publish("staging", "123-linux");
    for (more, why) in [
        (
            ["(", "--dry-run"].as_slice(),
            "`(` is not a regular expression",
        ),
        (
            &["--expand-family-to-targets", "--amdgpu-families", "gfx12"],
            "there is no family `gfx12`",
        ),
        (
            &["^nothing"],
            "none of the 1 artifacts of the run is selected",
        ),
        (&["--run-id", "7"], "there are no artifacts of run 7 in"),
        (
            &["--release-type", "weekly"],
            "unknown release type `weekly`",
        ),
    ] {
        let outcome = if more[0] == "--run-id" {
            project
                .run(&[&["sdk", "fetch", "--local-staging", "staging"], more].concat())
                .exits(1)
        } else {
            fetch(&project, more, 1)
        };
        assert!(
            outcome.stderr.contains(why) && outcome.stderr.contains("help:"),
            "{why}: {}",
            outcome.stderr
        );
    }
    let outcome = project.run(&["sdk", "fetch", "--run-id", "../x"]).exits(2);
    assert!(
        outcome.stderr.contains("expected a run ID"),
        "{}",
        outcome.stderr
    );
    assert!(!project.has("artifacts"));
}

/// What one archive leaves behind leads the next one nowhere else.
#[test]
fn nothing_is_written_through_a_link_of_this_run_or_of_one_before() {
    let link = tar::EntryType::Symlink;
    let flat = ["rand", "--flatten", "--output-dir", "o/d/e"];
    let story = |fill: &dyn Fn(&mut tar::Builder<Vec<u8>>), more: &[&str], code: i32| {
        let project = Project::new().bytes("o/x/planted", b"theirs");
        let artifacts = Artifacts::new(&project, true);
        artifacts.archive("rand_lib_generic", Some("s/stage\n"), fill);
        artifacts.publish("staging", "123-linux");
        let stderr = fetch(&project, more, code).stderr;
        assert_eq!(project.read("o/x/planted"), "theirs");
        assert_eq!(names(&project.path("o/x")), ["planted"]);
        stderr
    };
    let one_in_another = |tar: &mut tar::Builder<Vec<u8>>| {
        append_other(tar, link, "s/stage/evil", "../../x");
        append_other(tar, link, "s/stage/evil/planted", "owned");
    };
    assert!(story(&one_in_another, &flat, 1).contains("leads out of the artifact, to `../../x`"));
    let below = |tar: &mut tar::Builder<Vec<u8>>| {
        append_other(tar, link, "s/stage/near", "sub");
        append(tar, "s/stage/sub/file", b"x");
        append_other(tar, link, "s/stage/near/planted", "owned");
    };
    assert!(story(&below, &["rand", "--extract"], 3).contains("nothing is written through links"));
    // What somebody put there himself.
    let project = Project::new()
        .bytes("o/x/planted", b"theirs")
        .bytes("o/d/e/keep", b"");
    std::os::unix::fs::symlink("../../x", project.path("o/d/e/lib")).unwrap();
    let artifacts = Artifacts::new(&project, true);
    artifacts.archive("rand_lib_generic", Some("s/stage\n"), |tar| {
        append(tar, "s/stage/lib/planted", b"ours");
    });
    artifacts.publish("staging", "123-linux");
    assert!(
        fetch(&project, &flat, 3)
            .stderr
            .contains("nothing is written through links")
    );
    assert_eq!(project.read("o/x/planted"), "theirs");
}

/// What lists what an archive holds must come first, also where its folders are not wanted.
#[test]
fn an_archive_without_its_manifest_first_is_not_unpacked() {
    for (manifest, path, why) in [
        (
            None,
            "s/stage/a",
            "its first member is not `artifact_manifest.txt`",
        ),
        (
            Some("other/stage\n"),
            "s/stage/a",
            "`s/stage/a` is below none of the directories that the manifest lists",
        ),
        (None, "", "its first member is not `artifact_manifest.txt`"),
    ] {
        for way in ["--flatten", "--extract"] {
            let project = Project::new();
            let artifacts = Artifacts::new(&project, true);
            artifacts.archive("rand_lib_generic", manifest, |tar| {
                if !path.is_empty() {
                    append(tar, path, b"a");
                }
            });
            artifacts.publish("staging", "123-linux");
            let stderr = fetch(&project, &["rand", way], 1).stderr;
            assert!(
                stderr.contains("[S002 bad-artifact]") && stderr.contains(why),
                "{way} {why}: {stderr}"
            );
            assert!(
                !project.has("artifacts/s")
                    && !project.has("artifacts/a")
                    && !project.has("artifacts/rand_lib_generic")
            );
        }
    }
}

#[test]
fn variables_replace_missing_options_unless_they_are_empty() {
    const NAMES: [&str; 5] = [
        "THEROCK_RUN_ID",
        "THEROCK_PLATFORM",
        "RELEASE_TYPE",
        "GITHUB_REPOSITORY",
        "THEROCK_LOCAL_STAGING_DIR",
    ];
    let run = |values: [&str; 5], more: &[&str], code: i32| {
        let project = NAMES
            .into_iter()
            .zip(values)
            .fold(Project::new(), |project, (name, value)| {
                project.env(name, value)
            });
        for run in ["123-linux", "me-rocm/7-windows"] {
            Artifacts::new(&project, true).publish("staging", run);
        }
        project.run(&[&["sdk", "fetch"], more].concat()).exits(code)
    };
    let staging = ["--local-staging", "staging"];
    let all = [["--run-id", "123", "--dry-run"].as_slice(), &staging].concat();
    assert_eq!(
        run([""; 5], &all, 0).stdout,
        "artifacts/base_lib_generic.tar.zst\n"
    );
    let stderr = run(
        ["7", "windows", "nightly", "me/rocm", "staging"],
        &["--dry-run", "--extract"],
        1,
    )
    .stderr;
    assert!(
        stderr.contains("there are no artifacts of run 7 in `staging/7-windows/`"),
        "{stderr}"
    );
    let ways: [(&[&str], &str); 3] = [
        (&["--extract"], "artifacts/base_lib_generic\n"),
        (
            &["--extract", "--layout", "manager"],
            "artifacts/artifacts/base_lib_generic\n",
        ),
        (&["--flatten"], "artifacts\n"),
    ];
    for (way, path) in ways {
        let more = [["--dry-run"].as_slice(), way].concat();
        assert_eq!(
            run(["7", "windows", "ci", "me/rocm", "staging"], &more, 0).stdout,
            path
        );
    }
    // The command line comes first.
    run(
        ["7", "windows", "none", "me/rocm", "none"],
        &[&all[..], &["--platform", "linux", "--release-type", "dev"]].concat(),
        0,
    );
    for (id, platform, why) in [
        ("", "", "no run ID given"),
        ("../x", "linux", "expected a run ID"),
        ("7", "mac", "expected one of linux"),
    ] {
        let stderr = run([id, platform, "", "", ""], &staging, 2).stderr;
        assert!(
            stderr.contains(why) && stderr.contains("[S001 no-artifact]"),
            "{why}: {stderr}"
        );
    }
}

/// Each link stays in the artifact by its text; where one leads depends on where others do.
#[test]
fn links_that_lead_out_by_way_of_others_are_not_unpacked() {
    let project = Project::new();
    let artifacts = Artifacts::new(&project, true);
    artifacts.archive("rand_lib_generic", Some("r/stage\n"), |tar| {
        append(tar, "r/stage/deep/er/file", b"x");
        append_other(tar, tar::EntryType::Symlink, "r/stage/deep/er/up", "../..");
        append_other(
            tar,
            tar::EntryType::Symlink,
            "r/stage/out",
            "deep/er/up/../../../outside",
        );
    });
    // Two artifacts that are fine each by itself, and lead out of the tree that both are unpacked
    // into.
    artifacts.archive("fft_lib_generic", Some("r/stage\n"), |tar| {
        append_other(tar, tar::EntryType::Symlink, "r/stage/a/b", "..");
    });
    artifacts.archive("blas_lib_generic", Some("r/stage\n"), |tar| {
        append_other(tar, tar::EntryType::Symlink, "r/stage/c", "a/b/../outside");
    });
    artifacts.publish("staging", "123-linux");
    let alone = fetch(&project, &["rand", "--extract"], 1).stderr;
    assert_eq!(
        names(&project.path("artifacts")),
        ["rand_lib_generic.tar.zst"]
    );
    let together = fetch(
        &project,
        &["fft", "blas", "--flatten", "--output-dir", "tree"],
        1,
    )
    .stderr;
    assert!(
        !project.has("tree/c") && !project.has("tree/a"),
        "{:?}",
        project.files()
    );
    insta::assert_snapshot!(alone + &together, @r"
    error[S002 bad-artifact]: the link `r/stage/out` leads out of the artifact, to `deep/er/up/../../../outside`, through other links
    --> artifacts/rand_lib_generic.tar.zst
    help: remove it and fetch it again

    error[S002 bad-artifact]: the link `c` leads out of the artifact, to `a/b/../outside`, through other links
    --> tree
    help: remove it and fetch it again
    ");
}

/// The same two artifacts, one by each run: whichever comes second is refused, and the tree stays
/// as it was.
#[test]
fn links_that_lead_out_with_those_of_an_earlier_run_are_refused() {
    for [first, second] in [["fft", "blas"], ["blas", "fft"]] {
        let project = Project::new();
        let artifacts = Artifacts::new(&project, true);
        artifacts.archive("fft_lib_generic", Some("r/stage\n"), |tar| {
            append_other(tar, tar::EntryType::Symlink, "r/stage/a/b", "..");
        });
        artifacts.archive("blas_lib_generic", Some("r/stage\n"), |tar| {
            append_other(tar, tar::EntryType::Symlink, "r/stage/c", "a/b/../outside");
        });
        artifacts.publish("staging", "123-linux");
        let run = |name: &str, code: i32| {
            fetch(&project, &[name, "--flatten", "--output-dir", "tree"], code).stderr
        };
        run(first, 0);
        let stderr = run(second, 1);
        let expected = "\
error[S002 bad-artifact]: the link `c` leads out of the artifact, to `a/b/../outside`, through other links
--> tree
help: remove it and fetch it again
";
        assert_eq!(stderr.trim_end(), expected.trim_end());
        assert_eq!(
            (
                project.path("tree/a/b").is_symlink(),
                project.path("tree/c").is_symlink()
            ),
            (first == "fft", first == "blas")
        );
        // Once the first is gone, the second is fine by itself.
        let _ = std::fs::remove_file(project.path("tree/c"));
        let _ = std::fs::remove_dir_all(project.path("tree/a"));
        run(second, 0);
    }
}

/// As upstream's own program has it, which compares base targets.
#[test]
fn a_target_with_features_gets_the_artifacts_of_its_base() {
    let project = Project::new();
    let artifacts = Artifacts::new(&project, true);
    artifacts.file("blas_lib_gfx942/blas/stage/lib/a.co", b"x");
    artifacts.file("blas_lib_gfx942:xnack+/blas/stage/lib/b.co", b"x");
    artifacts.file("blas_lib_gfx90a/blas/stage/lib/c.co", b"x");
    artifacts.publish("staging", "123-linux");
    for request in [
        &["--amdgpu-targets", "gfx942:xnack+"][..],
        &["--artifact-group", "gfx942:xnack+"],
        &[
            "--amdgpu-families",
            "gfx942:xnack-",
            "--expand-family-to-targets",
        ],
    ] {
        let document = fetch(
            &project,
            &[&["blas", "--dry-run", "--format", "json"], request].concat(),
            0,
        )
        .json();
        let names: Vec<&str> = document["artifacts"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["artifact"].as_str().unwrap())
            .collect();
        assert_eq!(
            names,
            ["blas_lib_gfx942", "blas_lib_gfx942:xnack+"],
            "{request:?}"
        );
    }
}
