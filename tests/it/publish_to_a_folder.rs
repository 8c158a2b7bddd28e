//! A maintainer publishes wheels to a folder: as a whole, once, and never by surprise.

use std::process::Stdio;
use std::time::Instant;

use rock_matrix::exec::{BuildRecord, BuiltWheel};

use crate::support::elf::Library;
use crate::support::{Project, Wheel, appears};

const CP311: &str = "flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl";
const CP312: &str = "flash_attn-2.8.3+rocm62torch2.5-cp312-cp312-linux_x86_64.whl";
const TRITON: &str = "flash_attn-2.7.4.post1+rocm62torch2.5triton-py3-none-any.whl";

fn wheel(name: &str) -> Wheel {
    Wheel::named(name)
        .requires("torch")
        .requires("einops")
        .header("Requires-Python: >=3.9")
}

fn project(names: &[&str]) -> Project {
    names.iter().fold(Project::new(), |project, name| {
        project.bytes(&format!("dist/{name}"), &wheel(name).bytes())
    })
}

fn below(project: &Project, folder: &str) -> Vec<String> {
    let prefix = format!("{folder}/");
    project
        .files()
        .into_iter()
        .filter_map(|file| file.strip_prefix(&prefix).map(str::to_owned))
        .collect()
}

#[test]
fn a_path_with_dots_has_a_url_without_them() {
    let project = project(&[CP311]);
    let done = project
        .run(&["publish", "--out", "dist/../a release", "dist"])
        .exits(0);
    insta::assert_snapshot!(done.stdout, @r"
    published to dist/../a release:
      + flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl
      and 8 generated files: checksums, manifest, index
    install with:
      pip install flash-attn==2.8.3+rocm62torch2.5 --extra-index-url file://[ROOT]/a%20release/simple/rocm6.2-torch2.5/
    if torch is not installed:
      pip install torch==2.5.1+rocm6.2 flash-attn==2.8.3+rocm62torch2.5 --extra-index-url file://[ROOT]/a%20release/simple/rocm6.2-torch2.5/ --extra-index-url https://download.pytorch.org/whl/rocm6.2
    ");
}

#[test]
fn a_release_holds_the_wheels_their_sums_a_manifest_and_an_index() {
    let project = project(&[CP311]);
    let done = project
        .run(&["publish", "--to", "release", "dist"])
        .exits(0);
    insta::assert_snapshot!(done.stdout, @r"
    published to release:
      + flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl
      and 8 generated files: checksums, manifest, index
    install with:
      pip install flash-attn==2.8.3+rocm62torch2.5 --extra-index-url file://[ROOT]/release/simple/rocm6.2-torch2.5/
    if torch is not installed:
      pip install torch==2.5.1+rocm6.2 flash-attn==2.8.3+rocm62torch2.5 --extra-index-url file://[ROOT]/release/simple/rocm6.2-torch2.5/ --extra-index-url https://download.pytorch.org/whl/rocm6.2
    ");
    insta::assert_snapshot!(below(&project, "release").join("\n"), @r"
    SHA256SUMS
    flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl
    flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl.metadata
    rock-manifest.json
    simple/index.html
    simple/rocm6.2-torch2.5/flash-attn/index.html
    simple/rocm6.2-torch2.5/flash-attn/index.json
    simple/rocm6.2-torch2.5/index.html
    simple/rocm6.2-torch2.5/index.json
    ");
    assert_eq!(
        std::fs::read(project.path("release").join(CP311)).unwrap(),
        wheel(CP311).bytes()
    );
    let manifest: serde_json::Value =
        serde_json::from_str(&project.read("release/rock-manifest.json")).unwrap();
    let file = &manifest["files"][0];
    assert_eq!(manifest["version"], 1);
    assert_eq!(file["name"], CP311);
    assert_eq!(file["accelerator"]["version"], "6.2");
    assert_eq!(file["torch"], "2.5");
    assert_eq!(file["covers"], serde_json::json!(["3.11"]));
    assert_eq!(file["requires_python"], ">=3.9");
    let sums = project.read("release/SHA256SUMS");
    assert!(
        sums.starts_with(&format!("{}  {CP311}\n", file["sha256"].as_str().unwrap())),
        "{sums}"
    );
    assert!(
        project
            .read(&format!("release/{CP311}.metadata"))
            .contains("Requires-Dist: torch")
    );
}

#[test]
fn a_second_run_writes_nothing() {
    let project = project(&[CP311, TRITON]);
    project
        .run(&["publish", "--to", "release", "dist"])
        .exits(0);
    let before = stamps(&project);
    let done = project
        .run(&["publish", "--to", "release", "dist"])
        .exits(0);
    assert!(
        done.stdout
            .starts_with("release is up to date: 11 files, nothing written\n"),
        "{}",
        done.stdout
    );
    assert_eq!(stamps(&project), before);
    let one = project
        .run(&[
            "publish",
            "--to",
            "release",
            &format!("dist/{CP311}"),
            "--format",
            "json",
        ])
        .exits(0);
    assert_eq!(one.json()["changed"], false);
}

fn stamps(project: &Project) -> Vec<(String, u64, std::time::SystemTime)> {
    use std::os::unix::fs::MetadataExt;
    let stamp = |name: String| {
        let metadata = std::fs::metadata(project.path(&name)).unwrap();
        (name, metadata.ino(), metadata.modified().unwrap())
    };
    project.files().into_iter().map(stamp).collect()
}

#[test]
fn what_the_release_holds_already_stays_and_is_not_copied_again() {
    use std::os::unix::fs::MetadataExt;
    let project = project(&[CP311, CP312]);
    project
        .run(&["publish", "--to", "release", &format!("dist/{CP311}")])
        .exits(0);
    let inode = |name| {
        std::fs::metadata(project.path("release").join(name))
            .unwrap()
            .ino()
    };
    let before = inode(CP311);
    let done = project
        .run(&[
            "publish",
            "--to",
            "release",
            &format!("dist/{CP312}"),
            "--format",
            "json",
        ])
        .exits(0);
    assert_eq!(done.json()["added"][0], CP312);
    assert_eq!(inode(CP311), before);
    let page = project.read("release/simple/rocm6.2-torch2.5/flash-attn/index.html");
    assert!(page.contains("cp311-cp311") && page.contains("cp312-cp312"));
}

#[test]
fn a_tag_is_a_folder_of_its_own() {
    let project = project(&[CP311]);
    project
        .run(&["publish", "--to", "releases", "--tag", "v2.8.3+a", "dist"])
        .exits(0);
    assert!(project.has("releases/v2.8.3+a/SHA256SUMS"));
    assert!(
        project
            .read("releases/v2.8.3+a/rock-manifest.json")
            .contains("\"tag\": \"v2.8.3+a\"")
    );
    let refused = project
        .run(&["publish", "--to", "releases", "--tag", "../x", "dist"])
        .exits(1);
    assert!(
        refused.stderr.starts_with("error[G013 bad-tag]"),
        "{}",
        refused.stderr
    );
    assert!(
        refused.stderr.contains("help: separate its parts with `-`"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_dry_run_reports_changes_and_writes_nothing() {
    let project = project(&[CP311]);
    let before = project.files();
    let done = project
        .run(&["publish", "--to", "up/release", "dist", "--dry-run"])
        .exits(0);
    assert!(
        done.stdout
            .starts_with(&format!("up/release would change:\n  + {CP311}\n")),
        "{}",
        done.stdout
    );
    assert_eq!(project.files(), before);
    assert!(!project.has("up"));
}

#[test]
fn other_bytes_under_one_name_are_refused_with_both_digests_unless_replacing() {
    let project = project(&[CP311]);
    project
        .run(&["publish", "--to", "release", "dist"])
        .exits(0);
    let before = stamps(&project);
    let other = wheel(CP311).file("flash_attn/extra.py", "x = 1\n").bytes();
    let project = project.bytes(&format!("other/{CP311}"), &other);
    let refused = project
        .run(&["publish", "--to", "release", "other"])
        .exits(1);
    assert!(
        refused.stderr.starts_with("error[G002 asset-differs]"),
        "{}",
        refused.stderr
    );
    assert_eq!(
        refused.stderr.matches("sha256:").count(),
        2,
        "{}",
        refused.stderr
    );
    assert!(
        stamps(&project)
            .iter()
            .filter(|(name, ..)| name.starts_with("release"))
            .all(|s| before.contains(s))
    );
    let done = project
        .run(&[
            "publish",
            "--to",
            "release",
            "other",
            "--replace",
            "--format",
            "json",
        ])
        .exits(0);
    assert_eq!(done.json()["replaced"][0], CP311);
    assert_eq!(
        std::fs::read(project.path("release").join(CP311)).unwrap(),
        other
    );
}

#[test]
fn a_repaired_wheel_replaces_the_raw_one_only_on_request() {
    let repaired = "flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-manylinux_2_28_x86_64.whl";
    let project =
        project(&[CP311]).bytes(&format!("repaired/{repaired}"), &wheel(repaired).bytes());
    let both = project
        .run(&["publish", "--to", "release", "dist", "repaired"])
        .exits(1);
    assert!(
        both.stderr.starts_with("error[G003 same-cell-twice]"),
        "{}",
        both.stderr
    );
    project
        .run(&["publish", "--to", "release", "dist"])
        .exits(0);
    let beside = project
        .run(&["publish", "--to", "release", "repaired"])
        .exits(1);
    assert!(
        beside.stderr.starts_with("error[G003 same-cell-twice]"),
        "{}",
        beside.stderr
    );
    project
        .run(&["publish", "--to", "release", "repaired", "--replace"])
        .exits(0);
    assert!(
        project.has(&format!("release/{repaired}")) && !project.has(&format!("release/{CP311}"))
    );
    assert!(!project.has(&format!("release/{CP311}.metadata")));
}

#[test]
fn names_that_no_installer_takes_are_all_reported() {
    let project = Project::new()
        .bytes(
            "dist/flash_attn-2.8.3.rocm62torch2.5-cp311-cp311-linux_x86_64.whl",
            b"x",
        )
        .bytes(
            "dist/flash_attn-2.8.3%2Brocm62torch2.5-cp311-cp311-linux_x86_64.whl",
            b"x",
        )
        .bytes(
            "dist/flash_attn-2.8.3+rocm714torch2.14-cp311-cp311-linux_x86_64.whl",
            b"x",
        )
        .bytes("dist/nonsense.whl", b"x")
        .bytes("dist/notes.tar.gz", b"x");
    let refused = project
        .run(&["publish", "--to", "release", "dist"])
        .exits(1);
    let codes: Vec<&str> = refused
        .stderr
        .lines()
        .filter(|line| line.starts_with("error["))
        .collect();
    insta::assert_snapshot!(codes.join("\n"), @r"
    error[G001 unreadable-name]: `flash_attn-2.8.3%2Brocm62torch2.5-cp311-cp311-linux_x86_64.whl` is percent-encoded, and no installer takes it
    error[G011 ambiguous-reading]: the label `rocm714torch2.14` names two versions
    error[G001 unreadable-name]: `flash_attn-2.8.3.rocm62torch2.5-cp311-cp311-linux_x86_64.whl` is not a wheel name: `2.8.3.rocm62torch2.5` is not a version: the `+` of `2.8.3+rocm62torch2.5` became a dot
    error[G001 unreadable-name]: `nonsense.whl` is not a wheel name: it has 1 parts between hyphens, not 5 or 6
    error[G001 unreadable-name]: `notes.tar.gz` is not the name of a source distribution
    ");
    assert!(!project.has("release"));
}

#[test]
fn a_wheel_that_is_not_whole_is_refused() {
    let mut bytes = wheel(CP311).stored().bytes();
    let at = bytes.windows(9).position(|w| w == b"A module.").unwrap();
    bytes[at] = b'B';
    let project = Project::new().bytes(&format!("dist/{CP311}"), &bytes);
    let refused = project
        .run(&["publish", "--to", "release", "dist"])
        .exits(1);
    assert!(refused.stderr.starts_with("error[W"), "{}", refused.stderr);
    assert!(!project.has("release"));
}

#[test]
fn nothing_to_publish_is_an_error_that_names_the_folder() {
    let project = Project::new().file("dist/readme.txt", "x");
    let refused = project
        .run(&["publish", "--to", "release", "dist"])
        .exits(1);
    insta::assert_snapshot!(refused.stderr, @r"
    error[G008 nothing-to-publish]: there are no wheels in `dist`
    help: pass wheels, or directories that contain wheels
    ");
}

#[test]
fn a_folder_that_is_no_release_is_not_touched() {
    let project = project(&[CP311]).file("home/thesis.txt", "years of work");
    let refused = project.run(&["publish", "--to", "home", "dist"]).exits(1);
    insta::assert_snapshot!(refused.stderr, @r"
    error[G006 not-a-release]: `home` is not a release: `thesis.txt`
    --> argument `--out`
    help: use another directory, or move the files away
    ");
    assert_eq!(below(&project, "home"), ["thesis.txt"]);
    project
        .run(&["publish", "--to", "release", "dist"])
        .exits(0);
    let project = project
        .file("release/notes.md", "x")
        .bytes(&format!("more/{CP312}"), &wheel(CP312).bytes());
    project
        .run(&["publish", "--to", "release", "dist"])
        .exits(0);
    let refused = project
        .run(&["publish", "--to", "release", "more"])
        .exits(1);
    assert!(
        refused
            .stderr
            .contains("contains files that do not belong to the release: `notes.md`"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_damaged_release_is_reported_and_put_right_by_replacing() {
    let project = project(&[CP311, CP312]);
    project
        .run(&["publish", "--to", "release", "dist"])
        .exits(0);
    let project = project.bytes(&format!("release/{CP311}"), b"broken");
    let refused = project
        .run(&["publish", "--to", "release", &format!("dist/{CP312}")])
        .exits(1);
    assert!(
        refused.stderr.starts_with("error[G007 damaged-release]"),
        "{}",
        refused.stderr
    );
    project
        .run(&["publish", "--to", "release", "dist", "--replace"])
        .exits(0);
    assert_eq!(
        std::fs::read(project.path("release").join(CP311)).unwrap(),
        wheel(CP311).bytes()
    );
    std::fs::remove_file(project.path("release").join(CP312)).unwrap();
    let refused = project
        .run(&["publish", "--to", "release", &format!("dist/{CP311}")])
        .exits(1);
    assert!(
        refused.stderr.contains("is listed but missing"),
        "{}",
        refused.stderr
    );
    project
        .run(&["publish", "--to", "release", "dist"])
        .exits(0);
    assert!(project.has(&format!("release/{CP312}")));
}

#[test]
fn a_manifest_of_another_making_stops_everything() {
    let project = project(&[CP311]).file("release/rock-manifest.json", "{\"version\": 7}");
    let refused = project
        .run(&["publish", "--to", "release", "dist"])
        .exits(1);
    assert!(
        refused.stderr.starts_with("error[G010 bad-manifest]"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_release_is_compared_with_its_plan() {
    let plan = Project::new().copy("matrices/flash-attn.yaml", "m.yaml");
    let planned = plan.run(&["plan", "m.yaml", "--format", "json"]).exits(0);
    let jobs = planned.json();
    let names: Vec<String> = jobs["jobs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|job| job["wheel"].as_str().unwrap().to_owned())
        .collect();
    let all_but_one: Vec<&str> = names.iter().skip(1).map(String::as_str).collect();
    let project = project(&all_but_one).file("plan.json", &planned.stdout);
    let refused = project
        .run(&["publish", "--to", "release", "dist", "--plan", "plan.json"])
        .exits(1);
    assert!(
        refused.stderr.starts_with("error[G004 missing-wheel]"),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains(&names[0]), "{}", refused.stderr);
    assert!(!project.has("release"));
    let allowed = [
        "publish",
        "--to",
        "release",
        "dist",
        "--plan",
        "plan.json",
        "--allow-missing",
    ];
    let done = project.run(&allowed).exits(0);
    assert!(
        done.stderr.starts_with("warning[G004 missing-wheel]"),
        "{}",
        done.stderr
    );
    let manifest = project.read("release/rock-manifest.json");
    assert!(manifest.contains("\"plan\": \"sha256:"));
    let parsed: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let triton = parsed["files"]
        .as_array()
        .unwrap()
        .iter()
        .find(|f| f["backend"] == "triton")
        .unwrap();
    assert_eq!(
        triton["covers"],
        serde_json::json!(["3.10", "3.11", "3.12"])
    );
    let compiled = parsed["files"]
        .as_array()
        .unwrap()
        .iter()
        .find(|f| f["backend"].is_null())
        .unwrap();
    assert_eq!(
        (&compiled["gfx"], &compiled["gfx_from"]),
        (&serde_json::Value::Null, &"wheel".into()),
        "it has no code"
    );

    let stray = "flash_attn-2.8.3+rocm99torch2.5-cp311-cp311-linux_x86_64.whl";
    let project = project.bytes(&format!("stray/{stray}"), &wheel(stray).bytes());
    let refused = project
        .run(&[
            "publish",
            "--to",
            "release",
            "stray",
            "--plan",
            "plan.json",
            "--allow-missing",
        ])
        .exits(1);
    assert!(
        refused.stderr.contains("error[G005 unplanned-wheel]"),
        "{}",
        refused.stderr
    );
}

#[test]
fn without_a_target_there_is_help_to_name_one() {
    let refused = project(&[CP311]).run(&["publish", "dist"]).exits(2);
    insta::assert_snapshot!(refused.stderr, @r"
    error[G017 no-target]: no publish target given
    help: publish to GitHub with `--repo OWNER/REPO --tag TAG`, or to a directory with `--out DIR`, which needs no account
    ");
}

#[test]
fn an_address_that_names_cannot_be_appended_to_is_refused() {
    let refused = project(&[CP311])
        .run(&["publish", "--to", "r", "dist", "--base-url", "example.org"])
        .exits(1);
    assert!(
        refused.stderr.starts_with("error[G015 bad-base-url]"),
        "{}",
        refused.stderr
    );
}

/// No folder can be made in `/proc`, by nobody.
#[test]
fn a_folder_that_cannot_be_replaced_is_the_machines_fault() {
    let refused = project(&[CP311])
        .run(&["publish", "--to", "/proc/release", "dist"])
        .exits(3);
    assert!(
        refused
            .stderr
            .starts_with("error[G009 cannot-replace-folder]"),
        "{}",
        refused.stderr
    );
}

/// Kills runs at points spread over their whole length, and looks at the release after each.
#[test]
fn a_killed_run_leaves_the_old_or_the_new_release() {
    let old = wheel(CP311).bytes();
    let new = wheel(CP311)
        .file("flash_attn/data.bin", vec![7; 400_000])
        .stored()
        .bytes();
    let project = project(&[CP311]).bytes(&format!("other/{CP311}"), &new);
    let publish = |folder: &str| {
        project
            .command(&["publish", "--to", "release", folder, "--replace"])
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let started = Instant::now();
    assert!(publish("dist").wait().unwrap().success());
    let length = started.elapsed();
    let (mut seen_old, mut seen_new) = (0, 0);
    for round in 0..24 {
        let (folder, wanted, before) = if round % 2 == 0 {
            ("other", &new, &old)
        } else {
            ("dist", &old, &new)
        };
        let mut child = publish(folder);
        let deadline = Instant::now() + length * round / 20;
        std::thread::sleep(deadline.saturating_duration_since(Instant::now()));
        child.kill().unwrap();
        child.wait().unwrap();
        let bytes = std::fs::read(project.path("release").join(CP311)).unwrap();
        assert!(&bytes == wanted || &bytes == before, "a third state");
        if &bytes == wanted {
            seen_new += 1;
        } else {
            seen_old += 1;
        }
        whole(&project);
        assert!(publish(folder).wait().unwrap().success());
        assert_eq!(
            &std::fs::read(project.path("release").join(CP311)).unwrap(),
            wanted
        );
        let beside: Vec<String> = project
            .files()
            .into_iter()
            .filter(|file| file.starts_with('.'))
            .collect();
        assert!(beside.is_empty(), "{beside:?}");
    }
    assert!(
        seen_old + seen_new == 24 && seen_old > 0,
        "{seen_old} old, {seen_new} new"
    );
}

/// Every file named by the sums is there with its bytes, and the index names the digest of the
/// wheel.
#[track_caller]
fn whole(project: &Project) {
    use sha2::{Digest as _, Sha256};
    for line in project.read("release/SHA256SUMS").lines() {
        let (hex, name) = line.split_once("  ").unwrap();
        let digest = Sha256::digest(std::fs::read(project.path("release").join(name)).unwrap());
        let found: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(found, hex, "{name}");
        if name == CP311 {
            let page = project.read("release/simple/rocm6.2-torch2.5/flash-attn/index.html");
            assert!(page.contains(&format!("#sha256={hex}")), "{page}");
        }
    }
}

/// The command lines as they are rendered.
#[test]
fn the_notes_of_the_rendered_workflow_explain_how_to_verify() {
    let matrix = "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\ngfx: [gfx90a]\naxes:\n  \
                  flash-attn: [\"2.8.3\"]\n  python: [\"3.11\"]\n  torch: [\"2.5.1\"]\n  rocm: [\"6.2\"]\n  backend: [ck]\n";
    let project = project(&[CP311]).file("matrix.yaml", matrix);
    project
        .run(&[
            "plan",
            "matrix.yaml",
            "--format",
            "json",
            "--out",
            "plan.json",
        ])
        .exits(0);
    let digest = |path: &str| {
        rock_matrix::sys::hash_file(&project.path(path))
            .unwrap()
            .1
            .to_hex()
    };
    let job = serde_json::from_str::<serde_json::Value>(&project.read("plan.json")).unwrap()["jobs"][0]["id"].clone();
    let sums = format!("{}  {CP311}\n", digest(&format!("dist/{CP311}")));
    let project = project.file("artifacts/SHA256SUMS", &sums);
    std::fs::rename(
        project.path(&format!("dist/{CP311}")),
        project.path(&format!("artifacts/{CP311}")),
    )
    .unwrap();
    let digest = |path: &str| {
        rock_matrix::sys::hash_file(&project.path(path))
            .unwrap()
            .1
            .to_hex()
    };
    let report =
        serde_json::json!({"job": job, "artifact": "12", "digest": digest("artifacts/SHA256SUMS")});
    let plan = digest("plan.json");
    let project = project.env(
        "LEGS_0",
        serde_json::json!({"leg_0": report.to_string()}).to_string(),
    );
    let workflow = project
        .run(&["render", "workflow", "matrix.yaml"])
        .exits(0)
        .stdout;
    let joined = workflow.replace("\\\n", " ");
    let line = |word: &str| {
        let line = joined
            .lines()
            .map(str::trim)
            .find(|line| line.starts_with("rock-matrix ") && line.contains(word));
        let line = line
            .unwrap()
            .replace("$GITHUB_SERVER_URL", "https://github.com")
            .replace("$PLAN", &plan);
        let line = line.replace("$ATTEST", "on");
        shlex::split(
            &line
                .replace("$GITHUB_REPOSITORY", "o/r")
                .replace("$GITHUB_REF_NAME", "v1"),
        )
        .unwrap()
    };
    for line in [line(" publish --out "), line(" report notes ")] {
        let words: Vec<&str> = line.iter().skip(1).map(String::as_str).collect();
        project.run(&words).exits(0);
    }
    let notes = project.read("notes.md");
    for wanted in [
        "sha256sum --check --ignore-missing SHA256SUMS\n",
        "The workflow that built these wheels attested them:\n\n```sh\ngh attestation verify FILE --repo o/r\n",
        "If the release is immutable, ",
        "gh release verify v1 --repo o/r\ngh release verify-asset v1 FILE --repo o/r\n",
    ] {
        assert!(notes.contains(wanted), "{wanted}: {notes}");
    }
    assert!(
        !notes.contains("This release is immutable"),
        "that is not known yet: {notes}"
    );
}

/// The record of a build that used Debian's torch and left this wheel.
fn record(name: &str, bytes: &[u8]) -> String {
    use sha2::{Digest as _, Sha256};
    let mut record = BuildRecord::new("rock-matrix test", "a-job", name);
    let used = [("torch", "1.13.0a0"), ("torch-hip", "None")];
    record.used = used
        .map(|(name, text)| (name.to_owned(), Some(text.to_owned())))
        .into();
    let digest: String = Sha256::digest(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    record.wheels = vec![BuiltWheel {
        name: name.to_owned(),
        path: format!("dist/{name}"),
        digest: format!("sha256:{digest}"),
        size_bytes: bytes.len() as u64,
    }];
    record.to_json()
}

#[test]
fn compiled_code_built_with_another_torch_is_refused() {
    let beside = |name: &str| format!("dist/{}.build.json", name.trim_end_matches(".whl"));
    let bytes = wheel(CP311).bytes();
    let project = project(&[CP311]).file(&beside(CP311), &record(CP311, &bytes));
    let refused = project
        .run(&["publish", "--to", "release", "dist"])
        .exits(1)
        .stderr;
    insta::assert_snapshot!(refused, @r"
    error[G130 built-with-other-torch]: `flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl`: the label names torch 2.5, but the build used torch 1.13.0a0
    --> dist/flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl
     = note: the label names ROCm 6.2, but the build used a torch without HIP
    help: build it with the torch and ROCm of its label, or publish it anyway with `--allow G130`

    ");
    assert!(!project.has("release"));
    let allowed = project
        .run(&["publish", "--to", "release", "dist", "--allow", "G130"])
        .exits(0)
        .stderr;
    assert!(
        allowed.starts_with("note[G130 built-with-other-torch]"),
        "{allowed}"
    );
    let other = project.file(&beside(CP311), &record(CP311, b"another file"));
    appears(
        "G130",
        &refused,
        &other
            .run(&["publish", "--to", "other", "dist"])
            .exits(0)
            .stderr,
    );
    other
        .run(&["publish", "--to", "other", "dist", "--allow", "G001"])
        .exits(2);
}

#[test]
fn pure_python_built_with_another_torch_is_a_note() {
    let bytes = wheel(TRITON).bytes();
    let path = format!("dist/{}.build.json", TRITON.trim_end_matches(".whl"));
    let project = project(&[TRITON]).file(&path, &record(TRITON, &bytes));
    let noted = project
        .run(&["publish", "--to", "release", "dist"])
        .exits(0)
        .stderr;
    assert!(
        noted.starts_with("note[G130 built-with-other-torch]"),
        "{noted}"
    );
    assert!(
        noted.contains("so its contents do not depend on the torch of the build"),
        "{noted}"
    );
}

#[test]
fn gfx_targets_are_those_of_the_code_in_a_wheel() {
    use crate::support::bundle::hip_bundle;
    let kernels = hip_bundle(&[("gfx942", 0x4c), ("gfx1100", 0x41)], 512);
    let compiled = wheel(CP311)
        .file("flash_attn/kernels.hipfb", kernels)
        .bytes();
    let project = project(&[CP312, TRITON]).bytes(&format!("dist/{CP311}"), &compiled);
    project
        .run(&["publish", "--to", "release", "dist"])
        .exits(0);
    let manifest: serde_json::Value =
        serde_json::from_str(&project.read("release/rock-manifest.json")).unwrap();
    let row = |name: &str| {
        let files = manifest["files"].as_array().unwrap();
        files
            .iter()
            .find(|file| file["name"] == name)
            .unwrap()
            .clone()
    };
    assert_eq!(
        (&row(CP311)["gfx"], &row(CP311)["gfx_from"]),
        (&serde_json::json!(["gfx942", "gfx1100"]), &"wheel".into())
    );
    assert_eq!(
        (&row(CP312)["gfx"], &row(CP312)["gfx_from"]),
        (&serde_json::Value::Null, &"wheel".into())
    );
    let run_time = serde_json::json!({"env": {"FLASH_ATTENTION_TRITON_AMD_ENABLE": "TRUE"}, "requires": ["einops", "triton"]});
    assert_eq!(
        (&row(TRITON)["run_time"], &row(CP311)["run_time"]),
        (&run_time, &serde_json::Value::Null)
    );
    let table = project
        .run(&["report", "packages", "--published", "release"])
        .exits(0)
        .stdout;
    assert!(
        table.contains("| gfx942, gfx1100 |") && table.contains("| none |"),
        "{table}"
    );
}

/// A plan for these targets, and what it says.
fn planned_for(gfx: &str) -> (String, String) {
    let matrix = matrix_for(gfx);
    let project = Project::new().file("m.yaml", &matrix);
    let plan = project
        .run(&["plan", "m.yaml", "--format", "json"])
        .exits(0)
        .stdout;
    (matrix, plan)
}

fn matrix_for(gfx: &str) -> String {
    format!(
        "version: 1\ndistribution: flash-attn\nrecipe: flash-attn\naxes:\n  flash-attn: [\"2.8.3\"]\n  \
         python: [\"3.11\"]\n  torch: [\"2.5.1\"]\n  rocm: [\"6.2\"]\n  backend: [ck]\ngfx: [{gfx}]\n"
    )
}

/// Machine numbers (LLVM AMDGPU usage, "AMDGPU ELF Header `e_flags`").
const GFX90A: (&str, u32) = ("gfx90a", 0x3f);
const GFX942: (&str, u32) = ("gfx942", 0x4c);

fn compiled_for(name: &str, targets: &[(&str, u32)]) -> Vec<u8> {
    let kernels = crate::support::bundle::hip_bundle(targets, 512);
    wheel(name)
        .file("flash_attn/kernels.hipfb", kernels)
        .bytes()
}

#[test]
fn a_wheel_without_code_for_a_planned_target_is_refused() {
    let (_, plan) = planned_for("gfx90a, gfx942");
    let of = |targets| {
        Project::new()
            .file("plan.json", &plan)
            .bytes(&format!("dist/{CP311}"), &compiled_for(CP311, targets))
    };
    let publish = ["publish", "--to", "release", "dist", "--plan", "plan.json"];
    let project = of(&[GFX942]);
    let refused = project.run(&publish).exits(1).stderr;
    insta::assert_snapshot!(refused, @r"
    error[G023 planned-target-missing]: at least one library of `flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl` has no code for gfx90a, which its job builds for
    --> dist/flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl
     = note: all have code for gfx942
    help: build it for the targets of the plan, or publish it anyway with `--allow G023`
    
    ");
    assert!(!project.has("release"));
    let allowed = project
        .run(&[&publish[..], &["--allow", "G023"]].concat())
        .exits(0)
        .stderr;
    assert!(
        allowed.starts_with("note[G023 planned-target-missing]"),
        "{allowed}"
    );
    for whole in [&[GFX90A, GFX942][..], &[GFX90A, GFX942, ("gfx1100", 0x41)]] {
        appears("G023", &refused, &of(whole).run(&publish).exits(0).stderr);
    }
    let without = Project::new()
        .file("plan.json", &plan)
        .bytes(&format!("dist/{CP311}"), &wheel(CP311).bytes());
    appears("G023", &refused, &without.run(&publish).exits(0).stderr);
    project
        .run(&[&publish[..2], &["other", "dist"]].concat())
        .exits(0);
    let bad = project
        .run(&[&publish[..], &["--allow", "G001"]].concat())
        .exits(2)
        .stderr;
    assert!(
        bad.contains("only G004, G023, G101, G130, E001, E003, E004, R101, "),
        "{bad}"
    );
}

/// Returns a library with an offload bundle for these targets.
fn library_for(targets: &[(&str, u32)]) -> Vec<u8> {
    use crate::support::bundle::{hip_bundle, library, part, wrappers};
    library(&[
        part(".hip_fatbin", hip_bundle(targets, 512)),
        part(".hipFatBinSegment", wrappers(1, *b"FPIH")),
    ])
}

#[test]
fn a_wheel_is_for_the_targets_that_all_its_libraries_have_code_for() {
    let of = |one: &[(&str, u32)], other: &[(&str, u32)]| {
        let compiled = wheel(CP311)
            .executable("flash_attn/_one.so", library_for(one))
            .executable("flash_attn/_other.so", library_for(other));
        Project::new().bytes(&format!("dist/{CP311}"), &compiled.bytes())
    };
    let publish = ["publish", "--to", "release", "dist"];
    let project = of(&[GFX90A, GFX942], &[GFX942]);
    project.run(&publish).exits(0);
    let manifest: serde_json::Value =
        serde_json::from_str(&project.read("release/rock-manifest.json")).unwrap();
    assert_eq!(manifest["files"][0]["gfx"], serde_json::json!(["gfx942"]));
    let pick = |gfx: &str| {
        project.run(&[
            "pick",
            "--published",
            "release",
            "--only-given",
            "--gfx",
            gfx,
        ])
    };
    pick("gfx942").exits(0);
    pick("gfx90a").exits(1);

    let apart = of(&[GFX90A], &[GFX942]);
    apart.run(&publish).exits(0);
    let manifest: serde_json::Value =
        serde_json::from_str(&apart.read("release/rock-manifest.json")).unwrap();
    assert_eq!(
        manifest["files"][0]["gfx"],
        serde_json::json!(["gfx90a", "gfx942"])
    );
}

#[test]
fn published_wheels_without_code_for_a_planned_target_are_named() {
    let (matrix, plan) = planned_for("gfx90a, gfx942");
    let project = Project::new()
        .file("m.yaml", &matrix)
        .file("plan.json", &plan)
        .bytes(&format!("dist/{CP311}"), &compiled_for(CP311, &[GFX942]))
        .bytes(
            &format!("new/{CP311}"),
            &compiled_for(CP311, &[GFX90A, GFX942]),
        );
    project
        .run(&["publish", "--to", "releases", "--tag", "v1", "dist"])
        .exits(0);
    let missing = [
        "report",
        "missing",
        "--plan",
        "plan.json",
        "--published",
        "releases",
    ];
    let plan = ["plan", "m.yaml", "--published", "releases"];
    let stderr = project.run(&missing).exits(0).stderr;
    insta::assert_snapshot!(stderr, @r"
    warning[G023 planned-target-missing]: at least one library of the published `flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl` of release `v1` has no code for gfx90a, which is planned
    --> argument `--published`
     = note: all have code for gfx942
    help: it counts as published: build it from a plan without `--published`, and publish it with `publish --replace`, or with its own build number from `wheel retag --build 1`
    
    ");
    let planned = project.run(&plan).exits(0);
    assert!(
        planned.stderr.starts_with(stderr.trim_end()),
        "{}",
        planned.stderr
    );
    assert!(
        planned.stderr.contains("all its files are published"),
        "{}",
        planned.stderr
    );
    assert!(
        project
            .run(&[&plan[..], &["--only", "python=3.11"]].concat())
            .exits(0)
            .stderr
            .contains("G023")
    );
    // Each way of the help ends the warning.
    project
        .run(&[
            "wheel",
            "retag",
            &format!("new/{CP311}"),
            "--build",
            "1",
            "-w",
            "retagged",
        ])
        .exits(0);
    project
        .run(&["publish", "--to", "beside/v1", "dist"])
        .exits(0);
    project
        .run(&[
            "publish",
            "--to",
            "beside/v1",
            "retagged",
            "--plan",
            "plan.json",
        ])
        .exits(0);
    appears(
        "G023",
        &stderr,
        &project
            .run(&["plan", "m.yaml", "--published", "beside"])
            .exits(0)
            .stderr,
    );
    project
        .run(&[
            "publish",
            "--to",
            "releases",
            "--tag",
            "v1",
            "new",
            "--plan",
            "plan.json",
            "--replace",
        ])
        .exits(0);
    for command in [&missing[..], &plan] {
        appears("G023", &stderr, &project.run(command).exits(0).stderr);
    }
    // What was not read in the wheel is not compared.
    let manifest = project.read("releases/v1/rock-manifest.json");
    let planned = manifest
        .replace("\"gfx90a\",", "")
        .replace("\"gfx_from\": \"wheel\"", "\"gfx_from\": \"plan\"");
    assert_ne!(planned, manifest);
    let project = project.file("rock-manifest.json", &planned);
    appears(
        "G023",
        &stderr,
        &project
            .run(&["plan", "m.yaml", "--published", "rock-manifest.json"])
            .exits(0)
            .stderr,
    );
}

#[test]
fn a_release_inside_of_a_release_is_refused() {
    let project = project(&[CP311]);
    project.run(&["publish", "--to", "rel", "dist"]).exits(0);
    let before = project.files();
    let refused = project
        .run(&["publish", "--to", "rel", "--tag", "v1", "dist"])
        .exits(1)
        .stderr;
    insta::assert_snapshot!(refused, @r"
    error[G024 release-in-release]: `rel/v1` would be a release inside another one, `rel`
    --> argument `--out`
     = note: a release is replaced as a whole directory, so the outer one could not be published to any more
    help: publish to it with `--out rel` and without `--tag`, or set `--out` to a directory of releases
    
    ");
    assert_eq!(project.files(), before);
    for folder in ["rel/v1", "./rel/a/b"] {
        let stderr = project
            .run(&["publish", "--to", folder, "dist", "--dry-run"])
            .exits(1)
            .stderr;
        appears("G024", &stderr, "");
    }
    project.run(&["publish", "--to", "rel", "dist"]).exits(0);
    project
        .run(&["publish", "--to", "rel/../other", "--tag", "v1", "dist"])
        .exits(0);
    project
        .run(&["publish", "--to", "other", "--tag", "v2", "dist"])
        .exits(0);
    // A manifest that was fetched alone makes no release of the folder that it lies in.
    let project = project.file("rock-manifest.json", "{}");
    appears(
        "G024",
        &refused,
        &project
            .run(&["publish", "--to", "third", "dist"])
            .exits(0)
            .stderr,
    );
}

#[test]
fn a_folder_of_releases_is_no_release() {
    let project = project(&[CP311]);
    project
        .run(&["publish", "--to", "releases", "--tag", "v1", "dist"])
        .exits(0);
    let refused = project
        .run(&["publish", "--to", "releases", "dist"])
        .exits(1)
        .stderr;
    insta::assert_snapshot!(refused, @r"
    error[G006 not-a-release]: `releases` is a directory of releases: `v1`
    --> argument `--out`
    help: select a release in it with `--tag`, or use another directory
    
    ");
    project
        .run(&["publish", "--to", "releases", "--tag", "v2", "dist"])
        .exits(0);
}

/// `wheel check` fails because of it.
#[test]
fn an_absolute_search_path_is_a_warning() {
    let library = Library::extension("_demo").runpath("/opt/rocm/lib");
    let wheel = wheel(CP312).executable("demo/_demo.so", library.build());
    let project = Project::new().bytes(&format!("dist/{CP312}"), &wheel.bytes());
    let done = project
        .run(&["publish", "--out", "release", "dist"])
        .exits(0);
    assert!(
        done.stderr.contains("warning[R110 absolute-rpath]"),
        "{}",
        done.stderr
    );
    assert!(project.has("release"));
}

/// A wheel that is refused does not hide what an audit finds in another one.
#[test]
fn one_run_reports_the_errors_of_all_wheels() {
    let tagged = CP312.replace("linux_x86_64", "manylinux_2_17_x86_64");
    let library = Library::extension("_demo").needs("libc.so.6", &["GLIBC_2.34"]);
    let claiming = wheel(&tagged).executable("demo/_demo.so", library.build());
    let weak = wheel(CP311).edit("RECORD", |text| text.replace("sha256=", "md5="));
    let project = Project::new()
        .bytes(&format!("dist/{CP311}"), &weak.bytes())
        .bytes(&format!("dist/{tagged}"), &claiming.bytes());
    let stderr = project
        .run(&["publish", "--out", "release", "dist"])
        .exits(1)
        .stderr;
    for code in ["W024", "R101"] {
        assert!(stderr.contains(&format!("error[{code} ")), "{stderr}");
    }
    assert!(!project.has("release"));
}
