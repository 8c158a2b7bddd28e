//! Artifacts in directories and archives, without the command line.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests create files and read them"
)]

use std::path::Path;
use std::sync::Mutex;

use rock_bytes::archive::{TarBuilder, TarMember, TarMemberKind, compress_xz};
use rock_compat::Compat;
use rock_names::Platform;
use rock_sdk::bucket::ArtifactSelection;
use rock_sdk::fetch::{ArtifactFetcher, ArtifactForm, ArtifactStore, FetchedArtifact};
use rock_sdk::{ArtifactSet, LayoutOptions, ResolvedLayout};
use rock_sys::ScratchSpace;

const NAME: &str = "base_lib_generic";
const ROOT: &str = "base/stage";

/// The members of an artifact with one file.
fn members() -> [(&'static str, &'static str); 2] {
    [
        ("artifact_manifest.txt", "base/stage\n"),
        ("base/stage/share/a.txt", "content\n"),
    ]
}

fn write_directory(artifacts: &Path) {
    for (path, content) in members() {
        let path = artifacts.join(NAME).join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
}

fn write_archive(artifacts: &Path) {
    let mut tar = TarBuilder::new();
    for (path, content) in members() {
        let member = TarMember {
            path,
            kind: TarMemberKind::File,
            mode: 0o644,
            time_s: 0,
        };
        tar.push(&member, Some(Box::new(content.as_bytes().to_vec())))
            .unwrap();
    }
    let mut archive = Vec::new();
    compress_xz(&tar.finish(), 1, &mut archive).unwrap();
    std::fs::create_dir_all(artifacts).unwrap();
    std::fs::write(artifacts.join(format!("{NAME}.tar.xz")), archive).unwrap();
}

/// Asserts that a directory has the artifact and returns the code of each finding.
fn check_artifact(artifacts: &Path) -> Vec<&'static str> {
    let (set, findings) = ArtifactSet::read(artifacts, &ScratchSpace::default()).unwrap();
    let file = set.find(NAME, ROOT, "share/a.txt").unwrap();
    let mut content = vec![0; 8];
    let reader = set.open(file).unwrap();
    reader.read_exact_at(&mut content, 0).unwrap();
    assert_eq!(content, b"content\n");
    assert_eq!(set.size_bytes(file), 8);
    assert_eq!(set.find(NAME, ROOT, "share/b.txt"), None);
    findings.iter().map(|finding| finding.code.id).collect()
}

#[test]
fn directories_and_archives_have_the_same_content() {
    let temporary = tempfile::tempdir().unwrap();
    let artifacts = temporary.path();
    write_directory(artifacts);
    assert!(check_artifact(artifacts).is_empty());
    // Two forms of an artifact are reported, and the directory is taken.
    write_archive(artifacts);
    assert_eq!(check_artifact(artifacts), ["S014"]);
    std::fs::remove_dir_all(artifacts.join(NAME)).unwrap();
    assert!(check_artifact(artifacts).is_empty());
}

#[test]
fn a_directory_without_artifacts_has_no_layout() {
    let temporary = tempfile::tempdir().unwrap();
    let options = LayoutOptions::new(temporary.path().to_owned(), Platform::Linux);
    let resolve = || {
        ResolvedLayout::resolve(&options, &ScratchSpace::default(), &Compat::embedded())
            .err()
            .unwrap()
            .into_iter()
            .map(|error| error.code.id)
            .collect::<Vec<_>>()
    };
    assert_eq!(resolve(), ["S001"]);
    write_directory(temporary.path());
    assert_eq!(resolve(), ["S003"], "there is no manifest of the build");
}

#[test]
fn archives_are_fetched_and_unpacked() {
    let temporary = tempfile::tempdir().unwrap();
    let staging = temporary.path().join("staging");
    write_archive(&staging);
    let store = ArtifactStore::Directory(staging);
    let output = temporary.path().join("artifacts");
    let form = ArtifactForm::Directories(output.clone());
    let files = store.list().unwrap();
    let artifacts: Vec<FetchedArtifact> = ArtifactSelection::default()
        .of(&files)
        .into_iter()
        .map(|published| FetchedArtifact::new(published, &output, &form))
        .collect();
    let messages = Mutex::new(Vec::new());
    let on_message = |message: &str| {
        let action = message.split(' ').next().unwrap_or_default();
        messages.lock().unwrap().push(action.to_owned());
    };
    let fetcher = ArtifactFetcher::new(&output, &form)
        .with_download_limit(2)
        .with_unpack_limit(Some(1))
        .with_archive_removal(true)
        .with_message_listener(&on_message);
    fetcher.fetch(&store, &artifacts, || {}).unwrap();
    assert_eq!(messages.into_inner().unwrap(), ["fetched", "unpacked"]);
    assert!(check_artifact(&output).is_empty());
    assert!(!artifacts[0].archive.exists(), "the archive is removed");
}
