//! Releases and indexes in directories, without the command line.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "tests create files and read them"
)]

use std::path::{Path, PathBuf};

use rock_audit::codes::rocm::NAME_NOT_IN_CONTENTS;
use rock_compat::{Compat, RuntimeRequirements};
use rock_diagnostic::{Diagnostic, ExitClass, Sink, SourceText};
use rock_index::{FileLinks, IndexFile, SimpleRepository, YankStatus, repository};
use rock_publish::{
    CacheEntry, CheckDepth, DigestCache, DirectoryEdits, FileTransfer, INDEX, IndexAction,
    IndexDirectory, IndexInput, IndexOptions, IndexReader, IndexUpdate, LocalAsset, MANIFEST,
    ManifestRowSet, MetadataBody, OnDifference, PublishSummary, PublishedReleases, PublishedYanks,
    ReleaseContents, ReleaseDirectory, ReleaseDirectoryError, ReleaseLock, ReleasePlan, SUMS,
    YankRuleSet, audit_errors, check_index_target, expand_paths, find_files, listed_files,
    lists_files, lock_for_replacement, nested_release_error, read_assets, read_yanked_files,
    relative_steps, sha256, without_paths, write_metadata_files,
};
use rock_sys::{Signals, StopSignal};
use rock_wheel::{DosTime, NewWheel, NewWheelOptions, ProgressMeter};

const VERSION: &str = "1.0+rocm62torch2.5";
const WHEEL: &str = "demo-1.0+rocm62torch2.5-py3-none-any.whl";

/// Writes a wheel without modules and returns its path.
fn write_wheel(directory: &Path, summary: &str) -> PathBuf {
    write_version(directory, VERSION, summary)
}

/// Writes a wheel of this version without modules and returns its path.
fn write_version(directory: &Path, version: &str, summary: &str) -> PathBuf {
    let metadata =
        format!("Metadata-Version: 2.1\nName: demo\nVersion: {version}\nSummary: {summary}\n");
    let mut bytes = Vec::new();
    NewWheel {
        dist_info: &format!("demo-{version}.dist-info"),
        metadata: &[
            ("METADATA", metadata.as_bytes()),
            (
                "WHEEL",
                b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            ),
        ],
        options: &NewWheelOptions {
            level: 6,
            time: DosTime::FIRST,
        },
    }
    .write(
        std::iter::empty(),
        &mut bytes,
        &ProgressMeter::new(0, &|_| {}),
    )
    .unwrap();
    std::fs::create_dir_all(directory).unwrap();
    let path = directory.join(format!("demo-{version}-py3-none-any.whl"));
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Reads the wheels of a directory with every check.
fn read(directory: &Path, cache: &DigestCache) -> Vec<LocalAsset> {
    let mut sink = Sink::new();
    let files = expand_paths(&[directory.to_owned()], &mut sink);
    let assets = read_assets(
        &files,
        CheckDepth::Verify,
        cache,
        &Compat::embedded(),
        &mut sink,
    );
    assert_eq!(codes(&sink.finish()), Vec::<&str>::new());
    assets
}

fn codes(diagnostics: &[Diagnostic]) -> Vec<&'static str> {
    diagnostics
        .iter()
        .map(|diagnostic| diagnostic.code.name)
        .collect()
}

/// Writes a wheel below a directory and reads it.
fn demo_assets(directory: &Path) -> Vec<LocalAsset> {
    let dist = directory.join("dist");
    write_wheel(&dist, "demo");
    read(&dist, &DigestCache::empty())
}

/// The steps of a publish to a directory.
struct Publish<'a> {
    directory: &'a Path,
    assets: &'a [LocalAsset],
    difference: OnDifference,
}

impl<'a> Publish<'a> {
    /// Publishes these files, and refuses to replace files that differ.
    fn new(directory: &'a Path, assets: &'a [LocalAsset]) -> Self {
        Self {
            directory,
            assets,
            difference: OnDifference::Refuse,
        }
    }

    /// Returns the opened directory, its next contents and the edits, and the codes of what was
    /// reported.
    fn prepare(
        &self,
    ) -> (
        (ReleaseDirectory, ReleaseLock),
        ReleaseContents,
        DirectoryEdits,
        Vec<&'static str>,
    ) {
        let (compat, mut sink) = (Compat::embedded(), Sink::new());
        let (opened, lock) = ReleaseDirectory::open_locked(
            self.directory,
            || panic!("nobody holds the lock"),
            &compat,
            &mut sink,
        )
        .unwrap();
        let (kept, superseded) = opened.kept_assets(self.assets, self.difference, &mut sink);
        let all = [self.assets, &kept].concat();
        let release = ReleaseContents::of(
            without_paths(&all),
            &ReleasePlan::default().details(None, self.assets, &kept, &compat),
            opened.manifest(),
            &FileLinks::Relative(vec!["..".to_owned()]),
            &compat,
        )
        .unwrap();
        let edits = opened.edits(&release, &superseded, self.difference, &mut sink);
        ((opened, lock), release, edits, codes(&sink.finish()))
    }

    /// Publishes and returns the text for people.
    fn run(&self, signals: &Signals) -> Result<String, ReleaseDirectoryError> {
        let ((opened, lock), release, edits, reported) = self.prepare();
        assert_eq!(reported, Vec::<&str>::new());
        let transfer = FileTransfer::Copy;
        opened.write(lock, &release, &edits, self.assets, transfer, signals)?;
        let summary =
            PublishSummary::new(self.directory, &release, &edits, false, &Compat::embedded());
        Ok(summary.to_text())
    }
}

#[test]
fn a_release_is_written_once_and_its_manifest_replaces_reading() {
    let temporary = tempfile::tempdir().unwrap();
    let (dist, directory) = (temporary.path().join("dist"), temporary.path().join("v1"));
    write_wheel(&dist, "demo");
    let assets = read(&dist, &DigestCache::empty());
    let publish = Publish::new(&directory, &assets);
    let text = publish.run(&Signals::default()).unwrap();
    assert!(text.contains(&format!("  + {WHEEL}\n")), "{text}");
    assert!(text.contains("rocm6.2-torch2.5/"), "{text}");
    let text = publish.run(&Signals::default()).unwrap();
    assert!(text.contains("nothing written"), "{text}");

    // The wheel in the release need not be read again.
    let published = directory.join(WHEEL);
    let (cache, notes) =
        DigestCache::of_directories(std::slice::from_ref(&published), MetadataBody::Skip);
    assert_eq!(notes, Vec::<String>::new());
    assert!(matches!(
        cache.entry(&published, WHEEL),
        Some((_, CacheEntry::Manifest(_)))
    ));
    let cached = read(&directory, &cache);
    assert_eq!(cached[0].recorded_in, Some(directory.join(MANIFEST)));
    assert_eq!(cached[0].asset.digest, assets[0].asset.digest);

    let nested = nested_release_error(&directory.join("v2")).unwrap();
    assert_eq!(nested.code.name, "release-in-release");
    assert!(nested_release_error(&directory).is_none());
}

/// The kernels of the backend `ck` are compiled ahead of time, so that its wheels have libraries.
#[test]
fn a_label_that_the_contents_contradict_is_an_error_unless_it_is_allowed() {
    let root = tempfile::tempdir().unwrap();
    write_version(root.path(), "1.0+rocm62torch2.5ck", "demo");
    write_version(root.path(), VERSION, "demo");
    let mut assets = read(root.path(), &DigestCache::empty());
    let offered = without_paths(&assets);
    let compat = Compat::embedded();
    let details = ReleasePlan::default().details(None, &assets, &[], &compat);
    let reported = audit_errors(&offered, &details, &[]);
    assert_eq!(codes(&reported), ["name-not-in-contents"]);
    assert!(reported[0].is_error());
    let allowed = audit_errors(&offered, &details, &[&NAME_NOT_IN_CONTENTS]);
    assert_eq!(codes(&allowed), ["name-not-in-contents"]);
    assert!(!allowed[0].is_error());

    for asset in &mut assets {
        asset.recorded_in = Some(MANIFEST.into());
    }
    let details = ReleasePlan::default().details(None, &assets, &[], &compat);
    let unread = audit_errors(&offered, &details, &[]);
    assert_eq!(codes(&unread), Vec::<&str>::new());
}

#[test]
fn a_signal_or_other_bytes_leave_the_release_unchanged() {
    let temporary = tempfile::tempdir().unwrap();
    let (dist, directory) = (temporary.path().join("dist"), temporary.path().join("v1"));
    write_wheel(&dist, "demo");
    let assets = read(&dist, &DigestCache::empty());
    let mut publish = Publish::new(&directory, &assets);
    let signals = Signals::default();
    signals.raise(StopSignal::Terminate);
    assert!(matches!(
        publish.run(&signals),
        Err(ReleaseDirectoryError::Stopped(StopSignal::Terminate))
    ));
    assert!(!directory.exists());
    publish.run(&Signals::default()).unwrap();

    write_wheel(&dist, "another");
    let others = read(&dist, &DigestCache::empty());
    publish.assets = &others;
    assert_eq!(publish.prepare().3, ["asset-differs"]);
    publish.difference = OnDifference::Replace;
    let text = publish.run(&Signals::default()).unwrap();
    assert!(text.contains(&format!("  ~ {WHEEL}\n")), "{text}");

    // A file that was changed in the release, and one that is not part of it.
    std::fs::write(directory.join(WHEEL), "damaged").unwrap();
    std::fs::write(directory.join("notes.txt"), "mine").unwrap();
    publish.assets = &[];
    assert_eq!(publish.prepare().3, ["damaged-release", "not-a-release"]);
}

#[test]
fn a_release_is_written_only_under_its_lock() {
    let temporary = tempfile::tempdir().unwrap();
    let assets = demo_assets(temporary.path());
    let directory = temporary.path().join("v1");
    let publish = Publish::new(&directory, &assets);
    let ((opened, lock), release, edits, _) = publish.prepare();
    let other = std::thread::scope(|scope| {
        let (sender, receiver) = std::sync::mpsc::channel();
        let second = scope.spawn(|| {
            let on_wait = move || sender.send(()).unwrap();
            let (compat, mut sink) = (Compat::embedded(), Sink::new());
            let (opened, _lock) =
                ReleaseDirectory::open_locked(&directory, on_wait, &compat, &mut sink).unwrap();
            opened.manifest().map(|manifest| manifest.files.len())
        });
        receiver.recv().unwrap();
        let (transfer, signals) = (FileTransfer::Copy, Signals::default());
        opened
            .write(lock, &release, &edits, &assets, transfer, &signals)
            .unwrap();
        second.join().unwrap()
    });
    assert_eq!(
        other,
        Some(1),
        "the second run read what the first one wrote"
    );
}

/// Without a parent, there is nothing to lock until the release is written.
#[test]
fn two_first_runs_in_a_new_directory_do_not_overwrite_each_other() {
    let temporary = tempfile::tempdir().unwrap();
    let assets = demo_assets(temporary.path());
    let directory = temporary.path().join("new/v1");
    let publish = Publish::new(&directory, &assets);
    let ((opened, lock), release, edits, _) = publish.prepare();
    publish.run(&Signals::default()).unwrap();
    let (transfer, signals) = (FileTransfer::Copy, Signals::default());
    let refused = opened.write(lock, &release, &edits, &assets, transfer, &signals);
    let Err(ReleaseDirectoryError::Diagnostics(errors)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(codes(errors.as_slice()), ["cannot-replace-folder"]);
    assert_eq!(errors.exit_class(), ExitClass::Machine);
    assert!(directory.join(WHEEL).is_file());
}

#[test]
fn recorded_digests_come_from_checksums_or_are_refused() {
    let temporary = tempfile::tempdir().unwrap();
    let wheel = write_wheel(temporary.path(), "demo");
    let digest = sha256(&std::fs::read(&wheel).unwrap());
    let mut cache = DigestCache::empty();
    let sums = format!("{}  {WHEEL}\n", digest.to_hex());
    cache.add(&SourceText::new(SUMS, sums)).unwrap();
    assert!(matches!(
        cache.entry(&wheel, WHEEL),
        Some((_, CacheEntry::Digest(recorded))) if *recorded == digest
    ));
    assert_eq!(
        read(temporary.path(), &cache)[0].recorded_in,
        Some(PathBuf::from(SUMS))
    );
    let errors = cache.add(&SourceText::new("notes", "text")).unwrap_err();
    assert_eq!(codes(errors.as_slice()), ["bad-known-file"]);
}

#[test]
fn invalid_files_are_reported_and_left_out() {
    let temporary = tempfile::tempdir().unwrap();
    for name in ["demo.whl", WHEEL, "demo-1.0.tar.gz"] {
        std::fs::write(temporary.path().join(name), "no archive").unwrap();
    }
    std::fs::create_dir(temporary.path().join("more")).unwrap();
    write_wheel(&temporary.path().join("more"), "demo");
    let mut sink = Sink::new();
    let files = expand_paths(&[temporary.path().to_owned()], &mut sink);
    assert_eq!(files.len(), 3);
    let cache = DigestCache::empty();
    let compat = Compat::embedded();
    let assets = read_assets(&files, CheckDepth::List, &cache, &compat, &mut sink);
    assert!(assets.is_empty());
    let reported = sink.finish();
    assert_eq!(reported.iter().filter(|one| one.is_error()).count(), 3);
    assert!(codes(&reported).contains(&"wheels-in-subfolders"));
}

/// Returns the pages of an index of these files next to the wheels.
fn pages(files: &[IndexFile]) -> SimpleRepository {
    let links = FileLinks::Relative(vec!["..".to_owned()]);
    repository(
        &files.iter().collect::<Vec<_>>(),
        &links,
        &Compat::embedded(),
        |_, _| RuntimeRequirements::default(),
    )
    .unwrap()
}

#[test]
fn an_index_is_replaced_as_a_whole_and_keeps_its_yanks() {
    let temporary = tempfile::tempdir().unwrap();
    let (dist, out) = (temporary.path(), temporary.path().join("simple"));
    write_wheel(dist, "demo");
    let mut sink = Sink::new();
    let mut files = listed_files(read(dist, &DigestCache::empty()), dist, &out, &mut sink);
    files[0].yanked = YankStatus::Because("broken".to_owned());
    assert_eq!(relative_steps(&out, dist), [".."]);
    assert!(check_index_target(&out, Some(dist)).unwrap().is_none());

    let made = pages(&files);
    let present = IndexDirectory::read(&out).unwrap();
    assert!(present.is_empty() && !present.has_pages(&made));
    assert_eq!(write_metadata_files(&files, dist).unwrap(), 1);
    let swap = lock_for_replacement(&out, || ()).unwrap();
    let written = present.replace(&made, swap).unwrap();
    assert_eq!(written, made.pages.len());
    let present = IndexDirectory::read(&out).unwrap();
    assert!(present.has_pages(&made) && lists_files(&out));
    let swap = lock_for_replacement(&out, || ()).unwrap();
    assert_eq!(present.replace(&made, swap).unwrap(), 0);
    assert_eq!(write_metadata_files(&files, dist).unwrap(), 0);

    let yanked = read_yanked_files(&out).unwrap().unwrap();
    assert_eq!(yanked.reason(WHEEL, files[0].digest), Some("broken"));
    assert_eq!(read_yanked_files(dist).unwrap(), None);
    let none: PublishedReleases = PublishedReleases::new::<&Path>(&[]);
    let errors = PublishedYanks::read(&none, &[dist.to_owned()]).unwrap_err();
    assert_eq!(codes(errors.as_slice()), ["not-an-index"]);
    let error = check_index_target(dist, Some(dist)).unwrap().unwrap();
    assert!(error.message.contains("contains the wheels"), "{error:?}");

    // Without its wheel, the METADATA file goes; an index that lists files is not emptied.
    assert_eq!(present.remove_orphaned_metadata(dist).unwrap(), 0);
    std::fs::remove_file(dist.join(WHEEL)).unwrap();
    let mut sink = Sink::new();
    assert!(listed_files(Vec::new(), dist, &out, &mut sink).is_empty());
    assert_eq!(codes(&sink.finish()), ["nothing-to-publish"]);
    let swap = lock_for_replacement(&out, || ()).unwrap();
    present.replace(&pages(&[]), swap).unwrap();
    assert_eq!(present.remove_orphaned_metadata(dist).unwrap(), 1);
    assert!(!dist.join(format!("{WHEEL}.metadata")).exists());
}

/// An index next to the wheels of a directory.
struct IndexOfDirectory<'a> {
    options: IndexOptions,
    wheels: &'a Path,
    compat: Compat,
}

impl<'a> IndexOfDirectory<'a> {
    fn new(wheels: &'a Path, action: IndexAction) -> Self {
        Self {
            options: IndexOptions {
                out: wheels.join(INDEX),
                wheels: Some(wheels.to_owned()),
                base_url: None,
                omits_metadata: false,
                action,
            },
            wheels,
            compat: Compat::embedded(),
        }
    }

    /// Returns the files of the directory.
    fn input(&self) -> IndexInput {
        let mut sink = Sink::new();
        let files = find_files(&[self.wheels.to_owned()], &mut sink);
        let reader = IndexReader {
            options: &self.options,
            compat: &self.compat,
            on_note: &|_: &str| (),
        };
        let input = reader
            .read_directory(&files, &DigestCache::empty(), &mut sink)
            .unwrap();
        assert_eq!(codes(&sink.finish()), Vec::<&str>::new());
        input
    }

    /// Opens the index, yanks these files and writes it unless the action is a preview. Returns the
    /// report and whether a file was written.
    fn run(&self, yanked: &[&str]) -> (String, bool) {
        let rules = rules(yanked);
        let input = self.input();
        assert_eq!(codes(&input.check_rules(&rules).unwrap()), [""; 0]);
        let mut update = IndexUpdate::open(input, &self.options, &self.compat, || ()).unwrap();
        let (report, notes) = update.yank(&rules, 0);
        assert_eq!(notes, [""; 0]);
        assert_eq!(codes(&update.warnings()), [""; 0]);
        let written = update.write().unwrap();
        let is_changed = written.is_some_and(|written| written.is_changed);
        (report.to_text(), is_changed)
    }

    /// Returns the reason for which the index yanks the wheel.
    fn reason(&self) -> Option<String> {
        let yanked = read_yanked_files(&self.options.out).unwrap()?;
        yanked.reason(WHEEL, None).map(str::to_owned)
    }
}

/// Returns rules that yank these files.
fn rules(selections: &[&str]) -> YankRuleSet {
    let mut rules = YankRuleSet::default();
    for selection in selections {
        rules.add_yank(selection).unwrap();
    }
    rules
}

#[test]
fn an_index_is_built_and_an_edit_changes_only_its_yanks() {
    let temporary = tempfile::tempdir().unwrap();
    write_wheel(temporary.path(), "demo");
    let index = |action| IndexOfDirectory::new(temporary.path(), action);
    let edit = index(IndexAction::Edit);
    let opened = IndexUpdate::open(edit.input(), &edit.options, &edit.compat, || ());
    assert_eq!(codes(opened.unwrap_err().as_slice()), ["not-an-index"]);
    let build = index(IndexAction::Build);
    assert_eq!(build.run(&[]), (String::new(), true));
    assert_eq!(build.run(&[]), (String::new(), false));

    let selection = ["demo<2: broken"];
    let (report, is_written) = index(IndexAction::Preview).run(&selection);
    assert!(report.starts_with("would be yanked: "), "{report}");
    assert_eq!((is_written, build.reason()), (false, None));
    let (report, is_written) = index(IndexAction::Edit).run(&selection);
    assert_eq!(report, format!("yanked: {WHEEL}: broken\n"));
    assert_eq!(
        (is_written, build.reason().as_deref()),
        (true, Some("broken"))
    );
    assert_eq!(build.run(&[]), (String::new(), false), "the yank is kept");

    let errors = build.input().check_rules(&rules(&["other<2"])).unwrap_err();
    assert_eq!(codes(errors.as_slice()), ["bad-yank-rule"]);
    let mut edit = index(IndexAction::Edit);
    edit.options.omits_metadata = true;
    let opened = IndexUpdate::open(edit.input(), &edit.options, &edit.compat, || ());
    assert_eq!(codes(opened.unwrap_err().as_slice()), ["index-differs"]);
    edit.options.out = temporary.path().to_owned();
    let opened = IndexUpdate::open(edit.input(), &edit.options, &edit.compat, || ());
    assert_eq!(codes(opened.unwrap_err().as_slice()), ["cannot-index"]);
}

/// The wheels in a directory without a manifest are read, and stay yanked there.
#[test]
fn published_directories_keep_the_yanks_of_their_indexes() {
    let temporary = tempfile::tempdir().unwrap();
    let (release, site) = (temporary.path().join("v1"), temporary.path().join("site"));
    write_wheel(&release, "demo");
    let build = IndexOfDirectory::new(&release, IndexAction::Build);
    build.run(&["demo<2: broken"]);

    let mut published = PublishedReleases::<ManifestRowSet>::new(&[&release]);
    published.add_directory(&release).unwrap();
    let options = IndexOptions {
        out: site,
        wheels: None,
        ..build.options.clone()
    };
    let notes = std::cell::RefCell::new(Vec::new());
    let reader = IndexReader {
        options: &options,
        compat: &build.compat,
        on_note: &|note: &str| notes.borrow_mut().push(note.to_owned()),
    };
    let mut sink = Sink::new();
    let input = reader.read_releases(published, &mut sink).unwrap();
    assert_eq!(codes(&sink.finish()), [""; 0]);
    assert_eq!(
        notes.into_inner(),
        ["1 files read, 0 known by their digest"]
    );
    let update = IndexUpdate::open(input, &options, &build.compat, || ()).unwrap();
    let written = update.write().unwrap().unwrap();
    assert!(written.is_changed && written.indexes.is_empty());
    let yanked = read_yanked_files(&options.out).unwrap().unwrap();
    assert_eq!(yanked.reason(WHEEL, None), Some("broken"));
}
