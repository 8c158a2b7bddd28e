//! A release in a directory: reads it and updates it atomically.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;
use rock_bytes::start_threads;
use rock_compat::Compat;
use rock_diagnostic::codes::host::CANNOT_WRITE_FILE;
use rock_diagnostic::{
    Diagnostic, Diagnostics, ExitClass, Location, Sink, list_first, shell_quoted,
};
use rock_names::Digest;
use rock_sys::{
    DirectorySwap, FileError, Signals, StagingDirectory, StopSignal, hash_file, is_file,
    list_files, read_text, real_path,
};

use crate::codes::published::BAD_MANIFEST;
use crate::codes::release as codes;
use crate::directory_lock::lock_for_replacement;
use crate::file_errors::{machine_error, not_replaceable};
use crate::{
    CheckDepth, DesiredFile, DigestCache, DirectoryContents, DirectoryEdits, DirectoryFile,
    FileConflict, LARGEST_MANIFEST_BYTES, LocalAsset, MANIFEST, OnDifference, ReleaseContents,
    ReleaseManifest, SUMS, directory_edits, read_assets, superseded, without_paths,
};

/// Maximum number of files that a message lists.
const MAX_LISTED_FILES: usize = 5;

/// The current state of the directory of a release.
#[derive(Debug)]
pub struct ReleaseDirectory {
    path: PathBuf,
    files: Vec<DirectoryFile>,
    contents: DirectoryContents,
    /// Names of assets whose bytes differ from the manifest.
    damaged: BTreeSet<String>,
    manifest: Option<ReleaseManifest>,
    assets: Vec<LocalAsset>,
}

/// Permission to replace the directory of a release: holds its lock until it is dropped. If its
/// parent does not exist yet, the directory is locked when it is written.
#[derive(Debug)]
pub struct ReleaseLock {
    path: PathBuf,
    swap: DirectorySwap,
}

/// The transfer of files to the directory of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileTransfer {
    /// By a copy, which is independent of the original file.
    Copy,
    /// By a hard link, if the file system supports it, which takes no disk space.
    Link,
}

/// The error of writing a release to a directory, which is then unchanged.
#[derive(Debug, thiserror::Error)]
pub enum ReleaseDirectoryError {
    /// A signal stopped it.
    #[error("stopped by a signal")]
    Stopped(StopSignal),
    /// A file cannot be read, or the directory cannot be replaced.
    #[error(transparent)]
    Diagnostics(#[from] Diagnostics),
}

impl ReleaseDirectory {
    /// Locks the directory for replacement and reads it like [`Self::open`]. Calls `on_wait` before
    /// waiting for another process.
    ///
    /// # Errors
    /// Its parent cannot be locked, or it has none, or the directory cannot be read.
    pub fn open_locked(
        path: &Path,
        on_wait: impl FnOnce(),
        compat: &Compat,
        sink: &mut Sink,
    ) -> Result<(Self, ReleaseLock), Diagnostics> {
        let swap = lock_for_replacement(path, on_wait)?;
        let lock = ReleaseLock {
            path: path.to_owned(),
            swap,
        };
        Ok((Self::open(path, compat, sink)?, lock))
    }

    /// Reads the directory. Invalid assets go to the sink and are left out.
    ///
    /// # Errors
    /// It cannot be read, or its manifest is not one of this program.
    pub fn open(path: &Path, compat: &Compat, sink: &mut Sink) -> Result<Self, Diagnostics> {
        let listing = list_files(path).map_err(machine_error)?.unwrap_or_default();
        let has_manifest = listing
            .iter()
            .any(|(name, size)| name == MANIFEST && size.is_some());
        let manifest = has_manifest
            .then(|| read_manifest(&path.join(MANIFEST)))
            .transpose()?;
        let mut files: Vec<DirectoryFile> = listing
            .into_iter()
            .map(|(name, size_bytes)| DirectoryFile {
                name,
                size_bytes,
                digest: None,
            })
            .collect();
        let contents = DirectoryContents::of(manifest.as_ref(), &files);
        hash_files(path, &mut files, &contents);
        let damaged = damaged_assets(manifest.as_ref(), &files, &contents);
        let paths: Vec<PathBuf> = contents
            .assets
            .iter()
            .filter(|name| !damaged.contains(*name))
            .map(|name| path.join(name))
            .collect();
        let cache = DigestCache::empty();
        let assets = read_assets(&paths, CheckDepth::Identify, &cache, compat, sink);
        Ok(Self {
            path: path.to_owned(),
            files,
            contents,
            damaged,
            manifest,
            assets,
        })
    }

    /// Returns the manifest; `None` if there is none.
    pub fn manifest(&self) -> Option<&ReleaseManifest> {
        self.manifest.as_ref()
    }

    /// Returns whether the manifest lists an asset of this name.
    pub fn has_asset(&self, name: &str) -> bool {
        let mut files = self.manifest.iter().flat_map(|manifest| &manifest.files);
        files.any(|file| file.name == name)
    }

    /// Returns the assets that stay in the release next to the offered ones, and the names of the
    /// wheels that these supersede. Reports damaged and missing assets that no offered file
    /// replaces, and superseded ones unless they may be replaced.
    pub fn kept_assets(
        &self,
        offered: &[LocalAsset],
        difference: OnDifference,
        sink: &mut Sink,
    ) -> (Vec<LocalAsset>, BTreeSet<String>) {
        let names: BTreeSet<&str> = offered.iter().map(LocalAsset::name).collect();
        let mut kept: Vec<LocalAsset> = self
            .assets
            .iter()
            .filter(|file| !names.contains(file.name()))
            .cloned()
            .collect();
        let superseded = superseded(&without_paths(offered), &without_paths(&kept));
        self.report_damage(&names, difference, sink);
        if difference == OnDifference::Refuse {
            sink.extend(
                superseded
                    .iter()
                    .map(|(old, new)| superseded_error(old, new)),
            );
            return (kept, BTreeSet::new());
        }
        kept.retain(|file| !superseded.contains_key(file.name()));
        (kept, superseded.into_keys().collect())
    }

    /// Returns the edits that turn the directory into the release; the `superseded` wheels are
    /// removed. Reports files that would have to be replaced but may not be, and files that would
    /// be lost.
    pub fn edits(
        &self,
        release: &ReleaseContents,
        superseded: &BTreeSet<String>,
        difference: OnDifference,
        sink: &mut Sink,
    ) -> DirectoryEdits {
        let observed = self.contents.present(&self.files, superseded);
        let edits = directory_edits(&release.desired_files(), &observed, difference);
        sink.extend(
            edits
                .conflicts
                .iter()
                .map(|conflict| self.conflict_error(conflict)),
        );
        if !edits.steps.is_empty() {
            sink.extend(self.foreign_error());
        }
        edits
    }

    /// Writes the release and replaces the locked directory with it. `assets` has the path of each asset.
    ///
    /// # Errors
    /// Something cannot be written, the directory was changed after it was read, or a signal was
    /// received; the directory is then unchanged.
    pub fn write(
        &self,
        lock: ReleaseLock,
        release: &ReleaseContents,
        edits: &DirectoryEdits,
        assets: &[LocalAsset],
        transfer: FileTransfer,
        signals: &Signals,
    ) -> Result<(), ReleaseDirectoryError> {
        let staging = lock.swap.stage().map_err(|error| not_replaceable(&error))?;
        // The parent did not exist when the directory was read, so it is locked only now.
        if self.differs_from(&lock.path).map_err(machine_error)? {
            return Err(self.changed_error().into());
        }
        let writer = ReleaseWriter {
            staging,
            unchanged: edits.same.iter().map(String::as_str).collect(),
            generated: &release.generated,
            paths: assets
                .iter()
                .map(|file| (file.name(), file.path.as_path()))
                .collect(),
            transfer,
            signals,
            stopped: Mutex::new(None),
        };
        // Generated files are written after the assets, so that they are never older.
        let (generated, transferred): (Vec<_>, Vec<_>) = release
            .desired_files()
            .into_iter()
            .partition(|file| file.generated);
        start_threads();
        transferred
            .par_iter()
            .try_for_each(|file| writer.stage(file))
            .and_then(|()| generated.par_iter().try_for_each(|file| writer.stage(file)))
            .map_err(machine_error)?;
        writer.commit()
    }

    /// Whether a directory has files with other names or sizes than this one when it was read.
    fn differs_from(&self, path: &Path) -> Result<bool, FileError> {
        let listing = list_files(path)?.unwrap_or_default();
        let read = self.files.iter().map(|file| (&file.name, file.size_bytes));
        Ok(!listing.iter().map(|(name, size)| (name, *size)).eq(read))
    }

    fn changed_error(&self) -> Diagnostics {
        Diagnostics::from(
            Diagnostic::new(
                &codes::CANNOT_REPLACE_FOLDER,
                format!("another process changed `{}`", self.path.display()),
            )
            .note("its files were not changed by this run")
            .help("run it again"),
        )
        .exits_with(ExitClass::Machine)
    }

    /// Reports assets that are missing or damaged and would not be repaired by the offered files.
    fn report_damage(&self, offered: &BTreeSet<&str>, difference: OnDifference, sink: &mut Sink) {
        let replaces = difference == OnDifference::Replace;
        for name in &self.damaged {
            if replaces && offered.contains(name.as_str()) {
                continue;
            }
            sink.push(
                self.damage_error(name, "does not have the bytes that its manifest names")
                    .help("publish the right file with `--replace`"),
            );
        }
        if replaces {
            return;
        }
        for name in &self.contents.missing {
            if !offered.contains(name.as_str()) {
                sink.push(
                    self.damage_error(name, "is listed but missing")
                        .help("provide the file, or publish without it with `--replace`"),
                );
            }
        }
    }

    fn damage_error(&self, name: &str, problem: &str) -> Diagnostic {
        Diagnostic::new(
            &codes::DAMAGED_RELEASE,
            format!("`{name}` of the release {problem}"),
        )
        .at(self.location_of(name), "")
    }

    fn conflict_error(&self, conflict: &FileConflict) -> Diagnostic {
        let published = conflict
            .present
            .map_or_else(|| "unknown".to_owned(), |digest| digest.to_string());
        Diagnostic::new(
            &codes::ASSET_DIFFERS,
            format!(
                "the release has a `{}` with different content",
                conflict.name
            ),
        )
        .at(self.location_of(&conflict.name), "")
        .note(format!("published: {published}"))
        .note(format!("given: {}", conflict.wanted))
        .help("give it another version or build tag, or replace it with `--replace`")
    }

    /// Returns the error for files that do not belong to the release, which would be lost.
    fn foreign_error(&self) -> Option<Diagnostic> {
        let foreign = &self.contents.foreign;
        if foreign.is_empty() {
            return None;
        }
        let manifest_suffix = format!("/{MANIFEST}");
        let releases: Vec<&str> = foreign
            .iter()
            .filter_map(|name| name.strip_suffix(&manifest_suffix))
            .collect();
        let (problem, help, listed) = if self.manifest.is_none() && !releases.is_empty() {
            (
                "is a directory of releases",
                "select a release in it with `--tag`, or use another directory",
                releases,
            )
        } else {
            let problem = if self.manifest.is_some() {
                "contains files that do not belong to the release"
            } else {
                "is not a release"
            };
            (
                problem,
                "use another directory, or move the files away",
                foreign.iter().map(String::as_str).collect(),
            )
        };
        let names: Vec<String> = listed.iter().map(|name| format!("`{name}`")).collect();
        let names = list_first(&names, MAX_LISTED_FILES, ", ");
        Some(
            Diagnostic::new(
                &codes::NOT_A_RELEASE,
                format!("`{}` {problem}: {names}", self.path.display()),
            )
            .at(Location::Argument("--out".to_owned()), "")
            .help(help),
        )
    }

    fn location_of(&self, name: &str) -> Location {
        Location::File(self.path.join(name).display().to_string().into())
    }
}

/// Returns the error for a directory that would be a release inside another release.
pub fn nested_release_error(path: &Path) -> Option<Diagnostic> {
    let real = real_path(path);
    let enclosing = real
        .ancestors()
        .skip(1)
        .find(|directory| is_release(directory))?;
    // As the user wrote it, if the given path leads through it.
    let shown = path
        .ancestors()
        .skip(1)
        .filter(|directory| !directory.as_os_str().is_empty())
        .find(|directory| real_path(directory) == enclosing)
        .unwrap_or(enclosing);
    let message = format!(
        "`{}` would be a release inside another one, `{}`",
        path.display(),
        shown.display()
    );
    Some(
        Diagnostic::new(&codes::RELEASE_IN_RELEASE, message)
            .at(Location::Argument("--out".to_owned()), "")
            .note("a release is replaced as a whole directory, so the outer one could not be published to any more")
            .help(format!(
                "publish to it with `--out {}` and without `--tag`, or set `--out` to a directory of releases",
                shell_quoted(shown.display().to_string())
            )),
    )
}

/// Returns the error for the directory of `--out` whose path names a file, or leads through one.
pub fn file_in_path_error(path: &Path) -> Option<Diagnostic> {
    // Without a separator at the end, which would make a file a directory.
    let path: PathBuf = path.components().collect();
    let file = path.ancestors().find(|part| is_file(part))?;
    let message = format!("`{}` is a file, not a directory", file.display());
    Some(
        Diagnostic::new(&CANNOT_WRITE_FILE, message)
            .at(Location::Argument("--out".to_owned()), "")
            .help("set `--out` to a directory; it is created if it does not exist"),
    )
}

fn is_release(directory: &Path) -> bool {
    [MANIFEST, SUMS]
        .iter()
        .all(|name| is_file(&directory.join(name)))
}

fn superseded_error(old: &str, new: &str) -> Diagnostic {
    Diagnostic::new(
        &codes::SAME_CELL_TWICE,
        format!("the release contains `{old}`, which `{new}` supersedes"),
    )
    .help("remove the old one with `--replace`")
}

fn read_manifest(path: &Path) -> Result<ReleaseManifest, Diagnostics> {
    let text = read_text(path, LARGEST_MANIFEST_BYTES).map_err(machine_error)?;
    ReleaseManifest::from_json(&text).map_err(|error| {
        Diagnostic::new(
            &BAD_MANIFEST,
            format!("the manifest of the release cannot be used: {error}"),
        )
        .at(Location::File(path.display().to_string().into()), "")
        .help("use another directory")
        .into()
    })
}

/// Sets the digests of the files that belong to the release and can be read.
fn hash_files(directory: &Path, files: &mut [DirectoryFile], contents: &DirectoryContents) {
    let foreign: BTreeSet<&String> = contents.foreign.iter().collect();
    start_threads();
    files
        .par_iter_mut()
        .filter(|file| !foreign.contains(&file.name))
        .for_each(|file| {
            file.digest = hash_file(&directory.join(&file.name))
                .ok()
                .map(|(_, digest)| digest);
        });
}

/// Returns the names of the assets whose digest differs from the manifest.
fn damaged_assets(
    manifest: Option<&ReleaseManifest>,
    files: &[DirectoryFile],
    contents: &DirectoryContents,
) -> BTreeSet<String> {
    let digests: BTreeMap<&str, Option<Digest>> = files
        .iter()
        .map(|file| (file.name.as_str(), file.digest))
        .collect();
    manifest
        .iter()
        .flat_map(|manifest| &manifest.files)
        .filter(|row| contents.assets.contains(&row.name))
        .filter(|row| digests.get(row.name.as_str()).copied().flatten() != Some(row.sha256))
        .map(|row| row.name.clone())
        .collect()
}

/// Stages the files of a release.
struct ReleaseWriter<'a> {
    staging: StagingDirectory,
    /// Names of files that are kept.
    unchanged: BTreeSet<&'a str>,
    generated: &'a BTreeMap<String, Vec<u8>>,
    /// Paths of the assets by name.
    paths: BTreeMap<&'a str, &'a Path>,
    transfer: FileTransfer,
    signals: &'a Signals,
    stopped: Mutex<Option<StopSignal>>,
}

impl ReleaseWriter<'_> {
    /// Stages a file, unless a signal was received.
    fn stage(&self, file: &DesiredFile) -> Result<(), FileError> {
        if self.is_stopped() {
            return Ok(());
        }
        let name = file.name.as_str();
        if self.unchanged.contains(name) {
            return self.staging.keep(name).map(drop);
        }
        match (self.generated.get(name), self.paths.get(name)) {
            (Some(bytes), _) => self.staging.write(name, bytes),
            (None, Some(path)) => self.transfer(path, file),
            (None, None) => Ok(()),
        }
    }

    /// Stages a file that was hashed before, and checks that it did not change.
    fn transfer(&self, path: &Path, file: &DesiredFile) -> Result<(), FileError> {
        let staged = match self.transfer {
            FileTransfer::Copy => self.staging.copy(path, &file.name)?,
            FileTransfer::Link => self.staging.link(path, &file.name)?,
        };
        if hash_file(&staged)?.1 == file.digest {
            return Ok(());
        }
        Err(FileError {
            action: "read",
            path: path.to_owned(),
            reason: "it was changed while it was being published".to_owned(),
            source: None,
        })
    }

    /// Takes a signal that was received, and returns whether there was one.
    fn is_stopped(&self) -> bool {
        let mut stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(signal) = self.signals.take() {
            *stopped = Some(signal);
        }
        stopped.is_some()
    }

    /// Replaces the directory with the staged files, unless a signal was received.
    fn commit(self) -> Result<(), ReleaseDirectoryError> {
        let stopped = self
            .stopped
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(signal) = stopped {
            return Err(ReleaseDirectoryError::Stopped(signal));
        }
        self.staging
            .commit()
            .map_err(|error| not_replaceable(&error).into())
    }
}
