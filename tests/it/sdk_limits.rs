//! Texts of artifacts, runs and listings: at their limit they are read, and past it they are not.

use std::sync::atomic::{AtomicUsize, Ordering};

use rock_matrix::sdk::limits::{
    MAX_BUILD_MANIFEST_BYTES, MAX_INSTALLED_VERSION_BYTES, MAX_KPACK_LIST_BYTES,
    MAX_MANIFEST_BYTES, MAX_PAGE_BYTES, MAX_PAGES, MAX_SUM_BYTES,
};
use sha2::{Digest as _, Sha256};

use crate::support::artifacts::{Artifacts, append};
use crate::support::http::answer;
use crate::support::{Project, Served};

/// A text with line ends behind it, so many bytes.
fn padded(text: &str, bytes: u64) -> String {
    text.to_owned() + &"\n".repeat(usize::try_from(bytes).unwrap() - text.len())
}

/// Returns the exit code and the messages of a command.
fn exit_and_stderr(project: &Project, words: &[&str]) -> (Option<i32>, String) {
    let output = project.command(words).output().unwrap();
    (
        output.status.code(),
        String::from_utf8(output.stderr).unwrap(),
    )
}

const PLAN: &[&str] = &["sdk", "plan", "--artifact-dir", "artifacts"];
const FETCH: &[&str] = &[
    "sdk",
    "fetch",
    "--run-id",
    "123",
    "--local-staging",
    "staging",
    "rand",
    "--flatten",
];

#[test]
fn a_manifest_past_its_limit_is_refused() {
    for past in [false, true] {
        let bytes = MAX_MANIFEST_BYTES + u64::from(past);
        let project = Project::new();
        let artifacts = Artifacts::new(&project, true);
        artifacts.archive(
            "rand_lib_generic",
            Some(&padded("r/stage\n", bytes)),
            |tar| {
                append(tar, "r/stage/lib/x", b"x");
            },
        );
        let planned = exit_and_stderr(&project, PLAN).1;
        assert_eq!(
            planned.contains("the text is longer than 1048576 bytes"),
            past,
            "{planned}"
        );
        artifacts.publish("staging", "123-linux");
        let (code, fetched) = exit_and_stderr(&project, FETCH);
        assert_eq!(
            fetched.contains("the text is longer than 1048576 bytes"),
            past,
            "{fetched}"
        );
        assert_eq!(
            (code, project.has("artifacts/lib/x")),
            (Some(i32::from(past)), !past)
        );
        // A folder has the same limit.
        let project = Project::new();
        let artifacts = Artifacts::new(&project, true);
        artifacts.file("rand_lib_generic/r/stage/lib/x", b"x");
        let manifest = project.path("artifacts/rand_lib_generic/artifact_manifest.txt");
        std::fs::write(manifest, padded("r/stage\n", bytes)).unwrap();
        let planned = exit_and_stderr(&project, PLAN).1;
        assert_eq!(
            planned.contains("it is larger than 1048576 bytes"),
            past,
            "{planned}"
        );
    }
}

#[test]
fn a_manifest_of_a_build_past_its_limit_is_refused() {
    for past in [false, true] {
        let project = Project::new();
        let path = "base_lib_generic/base/aux-overlay/stage/share/therock/therock_manifest.json";
        let artifacts = Artifacts::new(&project, true);
        let text = project.read(&format!("artifacts/{path}"));
        artifacts.file(
            path,
            padded(&text, MAX_BUILD_MANIFEST_BYTES + u64::from(past)).as_bytes(),
        );
        let planned = exit_and_stderr(&project, PLAN).1;
        assert_eq!(
            planned.contains("the manifest of the build is invalid: it has 16777217 bytes"),
            past,
            "{planned}"
        );
    }
}

/// A text longer than the limit is not a version of the build.
#[test]
fn a_version_past_its_limit_is_not_read() {
    for past in [false, true] {
        let project = Project::new();
        let artifacts = Artifacts::split(&project);
        let text = padded("7.11.0\n", MAX_INSTALLED_VERSION_BYTES + u64::from(past));
        artifacts.file("base_run_generic/base/stage/.info/version", text.as_bytes());
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
        let built = exit_and_stderr(&project, &words).1;
        assert_eq!(
            built.contains("it is from ROCm 7.11.0, but the manifest"),
            !past,
            "{built}"
        );
    }
}

/// A list of kpack archives longer than the limit says nothing of them.
#[test]
fn a_list_of_kpack_archives_past_its_limit_is_not_read() {
    for past in [false, true] {
        let project = Project::new();
        let artifacts = Artifacts::split(&project);
        // A map with a list of archives, of which one has another size, and with zeros up to the
        // limit (MessagePack).
        let text =
            |text: &str| [&[0xd9, u8::try_from(text.len()).unwrap()], text.as_bytes()].concat();
        let archive = [
            text("gfx942"),
            vec![0x82],
            text("file"),
            text("blas_lib_gfx942.kpack"),
            text("size"),
            vec![1],
        ];
        let head = [
            vec![0x83],
            text("format_version"),
            vec![1],
            text("kpack_files"),
            vec![0x81],
            archive.concat(),
        ];
        let mut list = [head.concat(), text("rest"), vec![0xc6]].concat();
        let zeros =
            usize::try_from(MAX_KPACK_LIST_BYTES).unwrap() + usize::from(past) - list.len() - 4;
        list.extend(u32::try_from(zeros).unwrap().to_be_bytes());
        list.resize(list.len() + zeros, 0);
        artifacts.file("blas_lib_generic/blas/stage/.kpack/blas_lib.kpm", &list);
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
        let built = exit_and_stderr(&project, &words).1;
        assert_eq!(built.contains("blas_lib.kpm` lists 1"), !past, "{built}");
    }
}

#[test]
fn a_digest_past_its_limit_is_refused() {
    for past in [false, true] {
        let project = Project::new();
        let artifacts = Artifacts::new(&project, true);
        artifacts.archive("rand_lib_generic", Some("r/stage\n"), |tar| {
            append(tar, "r/stage/lib/x", b"x");
        });
        let staged = artifacts.publish("staging", "123-linux");
        let digest =
            Sha256::digest(std::fs::read(staged.join("rand_lib_generic.tar.zst")).unwrap());
        let line = digest
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
            + "\n";
        let text = padded(&line, MAX_SUM_BYTES + u64::from(past));
        std::fs::write(staged.join("rand_lib_generic.tar.zst.sha256sum"), text).unwrap();
        let (code, fetched) = exit_and_stderr(&project, FETCH);
        assert_eq!(
            fetched.contains("the text is longer than 65536 bytes"),
            past,
            "{fetched}"
        );
        assert_eq!(code == Some(0), !past, "{fetched}");
    }
}

/// A bucket that lists one artifact on the last of so many pages.
fn listed(project: &Project, pages: usize, page_bytes: usize) -> (Option<i32>, String) {
    let count = AtomicUsize::new(0);
    let served = Served::answering(move |_| {
        let is_last = count.fetch_add(1, Ordering::Relaxed) + 1 == pages;
        let content = if is_last {
            "<Contents><Key>123-linux/rand_lib_generic.tar.zst</Key><Size>1</Size></Contents>"
        } else {
            "<NextContinuationToken>next</NextContinuationToken>"
        };
        let mut page = format!("<ListBucketResult>{content}</ListBucketResult>").into_bytes();
        page.resize(page.len().max(page_bytes), b'\n');
        answer("200 OK", "", &page)
    });
    exit_and_stderr(
        project,
        &[
            "sdk",
            "fetch",
            "--run-id",
            "123",
            "--bucket",
            &served.url(),
            "--dry-run",
        ],
    )
}

#[test]
fn a_listing_of_more_pages_than_any_is_refused() {
    let project = Project::new();
    assert_eq!(listed(&project, MAX_PAGES, 0).0, Some(0));
    let (code, text) = listed(&project, MAX_PAGES + 1, 0);
    assert!(
        code != Some(0) && text.contains("the listing has more than 1000 pages"),
        "{text}"
    );
}

#[test]
fn a_page_of_a_listing_past_its_limit_is_refused() {
    let project = Project::new();
    let most = usize::try_from(MAX_PAGE_BYTES).unwrap();
    assert_eq!(listed(&project, 1, most).0, Some(0));
    let (code, text) = listed(&project, 1, most + 1);
    assert!(
        code != Some(0) && text.contains("the page is larger than 16777216 bytes"),
        "{text}"
    );
}
