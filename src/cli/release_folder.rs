//! A release in a directory: reads it and updates it atomically.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rayon::prelude::*;
use sha2::{Digest as _, Sha256};

use super::assets::{self, Depth, Gathered};
use super::known::Known;
use super::{Exit, Shell};
use crate::bytes::start_threads;
use crate::codes::release as codes;
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Location, Sink, shell_quoted};
use crate::names::Digest;
use crate::publish::{
    DesiredFile, FolderContents, FolderEdits, FolderFile, LARGEST_MANIFEST_BYTES, MANIFEST,
    ObservedFile, ReleaseContents, ReleaseManifest, SUMS,
};
use crate::sys::{self, DirectorySwap, FileError, Signals, StagingDirectory, StopSignal};

/// The current state of the directory of a release.
#[derive(Debug)]
pub(super) struct Opened {
    folder: PathBuf,
    swap: Option<DirectorySwap>,
    found: Vec<FolderFile>,
    holding: FolderContents,
    /// Names of assets whose bytes differ from the manifest.
    damaged: BTreeSet<String>,
    /// Its manifest; `None` if it has none.
    pub(super) manifest: Option<ReleaseManifest>,
    /// Its assets.
    pub(super) assets: Vec<Gathered>,
}

/// Reads the directory, and locks it for replacement unless this is a dry run.
///
/// # Errors
/// It cannot be read, or its manifest is not one of this program.
pub(super) fn open(
    folder: &Path,
    compat: &Compat,
    dry_run: bool,
    shell: &Shell,
    sink: &mut Sink,
) -> Result<Opened, Exit> {
    let swap = if dry_run {
        None
    } else {
        let waits =
            || shell.say("another run is publishing to this directory; waiting for it to end");
        Some(DirectorySwap::begin(folder, waits).map_err(|error| in_place(&error, sink))?)
    };
    let listing = sys::list_files(folder)
        .map_err(|error| machine(error, sink))?
        .unwrap_or_default();
    let manifest = if listing
        .iter()
        .any(|(name, size)| name == MANIFEST && size.is_some())
    {
        Some(read_manifest(&folder.join(MANIFEST), sink)?)
    } else {
        None
    };
    let found = |(name, size_bytes)| FolderFile {
        name,
        size_bytes,
        digest: None,
    };
    let mut found: Vec<FolderFile> = listing.into_iter().map(found).collect();
    let holding = FolderContents::of(manifest.as_ref(), &found);
    let foreign: BTreeSet<&String> = holding.foreign.iter().collect();
    start_threads();
    let ours = found
        .par_iter_mut()
        .filter(|file| !foreign.contains(&file.name));
    ours.for_each(|file| {
        file.digest = sys::hash_file(&folder.join(&file.name))
            .ok()
            .map(|(_, digest)| digest);
    });
    let actual = |name: &str| {
        found
            .iter()
            .find(|file| file.name == name)
            .and_then(|file| file.digest)
    };
    let listed = manifest.iter().flat_map(|manifest| &manifest.files);
    let damaged: BTreeSet<String> = listed
        .filter(|row| holding.assets.contains(&row.name))
        .filter(|row| actual(&row.name).is_none_or(|digest| digest != row.sha256))
        .map(|row| row.name.clone())
        .collect();
    let whole = holding
        .assets
        .iter()
        .filter(|name| !damaged.contains(*name));
    let paths: Vec<PathBuf> = whole.map(|name| folder.join(name)).collect();
    let assets = assets::gather(&paths, Depth::Identify, &Known::nothing(), compat, sink);
    Ok(Opened {
        folder: folder.to_owned(),
        swap,
        found,
        holding,
        damaged,
        manifest,
        assets,
    })
}

/// Reports a directory that would be a release inside another release.
pub(super) fn report_enclosing(folder: &Path, sink: &mut Sink) {
    let real = sys::real_path(folder);
    let is_release = |outer: &&Path| {
        [MANIFEST, SUMS]
            .iter()
            .all(|name| sys::is_file(&outer.join(name)))
    };
    let Some(found) = real.ancestors().skip(1).find(is_release) else {
        return;
    };
    // As the user wrote it, if the given path leads through it.
    let mut given = folder
        .ancestors()
        .skip(1)
        .filter(|outer| !outer.as_os_str().is_empty());
    let outer = given
        .find(|outer| sys::real_path(outer) == found)
        .unwrap_or(found);
    let message = format!(
        "`{}` would be a release inside another one, `{}`",
        folder.display(),
        outer.display()
    );
    sink.push(
        Diagnostic::new(&codes::RELEASE_IN_RELEASE, message)
            .at(Location::Argument("--out".to_owned()), "")
            .note("a release is replaced as a whole directory, so the outer one could not be published to any more")
            .help(format!(
                "publish to it with `--out {}` and without `--tag`, or set `--out` to a directory of releases",
                shell_quoted(outer.display().to_string())
            )),
    );
}

/// The transfer of files to the directory of a release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transfer {
    /// By a copy, which is independent of the original file.
    Copy,
    /// By a hard link, if the file system supports it, which takes no disk space.
    Link,
}

impl Opened {
    /// Reports assets that are missing or damaged and would not be repaired by the given files.
    pub(super) fn report_faults(&self, offered: &BTreeSet<&str>, replace: bool, sink: &mut Sink) {
        let fault = |name: &str, what: &str| {
            Diagnostic::new(
                &codes::DAMAGED_RELEASE,
                format!("`{name}` of the release {what}"),
            )
            .at(
                Location::File(self.folder.join(name).display().to_string().into()),
                "",
            )
        };
        for name in self
            .damaged
            .iter()
            .filter(|name| !(replace && offered.contains(name.as_str())))
        {
            let help = "publish the right file with `--replace`";
            sink.push(fault(name, "does not have the bytes that its manifest names").help(help));
        }
        if !replace {
            for name in self
                .holding
                .missing
                .iter()
                .filter(|name| !offered.contains(name.as_str()))
            {
                sink.push(
                    fault(name, "is listed but missing")
                        .help("provide the file, or publish without it with `--replace`"),
                );
            }
        }
    }

    /// Reports files that would be lost.
    pub(super) fn report_foreign(&self, sink: &mut Sink) {
        const SHOWN: usize = 5;
        let foreign = &self.holding.foreign;
        if foreign.is_empty() {
            return;
        }
        let manifest = format!("/{MANIFEST}");
        let releases: Vec<&str> = foreign
            .iter()
            .filter_map(|name| name.strip_suffix(&manifest))
            .collect();
        let (what, help, shown) = match &self.manifest {
            None if !releases.is_empty() => (
                "is a directory of releases",
                "select a release in it with `--tag`, or use another directory",
                releases,
            ),
            manifest => {
                let what = if manifest.is_some() {
                    "contains files that do not belong to the release"
                } else {
                    "is not a release"
                };
                let foreign = foreign.iter().map(String::as_str).collect();
                (
                    what,
                    "use another directory, or move the files away",
                    foreign,
                )
            }
        };
        let mut names: Vec<String> = shown
            .iter()
            .take(SHOWN)
            .map(|name| format!("`{name}`"))
            .collect();
        if shown.len() > SHOWN {
            names.push(format!("{} more", shown.len() - SHOWN));
        }
        sink.push(
            Diagnostic::new(
                &codes::NOT_A_RELEASE,
                format!("`{}` {what}: {}", self.folder.display(), names.join(", ")),
            )
            .at(Location::Argument("--out".to_owned()), "")
            .help(help),
        );
    }

    /// Returns the current files for the comparison; the wheels in `gone` will be removed.
    pub(super) fn present(&self, gone: &BTreeSet<String>) -> Vec<ObservedFile> {
        self.holding.present(&self.found, gone)
    }

    /// Writes the new state and replaces the directory with it. `paths` has the path of each asset.
    ///
    /// # Errors
    /// Something cannot be written, or a signal was received; the directory is then unchanged.
    pub(super) fn apply(
        self,
        release: &ReleaseContents,
        changes: &FolderEdits,
        paths: &BTreeMap<&str, &Path>,
        transfer: Transfer,
        sink: &mut Sink,
    ) -> Result<(), Exit> {
        let signals = Signals::listen().unwrap_or_default();
        let Some(swap) = self.swap else { return Ok(()) };
        let staging = swap.stage().map_err(|error| in_place(&error, sink))?;
        let same: BTreeSet<&str> = changes.same.iter().map(String::as_str).collect();
        let stopped: Mutex<Option<StopSignal>> = Mutex::new(None);
        let stage = |file: &DesiredFile| {
            if let Some(signal) = signals.take() {
                *stopped
                    .lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner) = Some(signal);
            }
            if stopped
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .is_some()
            {
                return Ok(());
            }
            let name = file.name.as_str();
            match (release.generated.get(name), paths.get(name)) {
                _ if same.contains(name) => staging.keep(name).map(drop),
                (Some(bytes), _) => staging.write(name, bytes),
                (None, Some(path)) => transferred(&staging, path, name, file.digest, transfer),
                (None, None) => Ok(()),
            }
        };
        // Generated files are written after the assets, so that they are never older.
        let (made, given): (Vec<_>, Vec<_>) = release
            .wanted()
            .into_iter()
            .partition(|file| file.generated);
        start_threads();
        let staged = given
            .par_iter()
            .try_for_each(stage)
            .and_then(|()| made.par_iter().try_for_each(stage));
        staged.map_err(|error| machine(error, sink))?;
        if let Some(signal) = stopped
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
        {
            return Err(signal.into());
        }
        staging.commit().map_err(|error| in_place(&error, sink))
    }
}

/// Stages a file that was hashed before, and checks that it did not change.
fn transferred(
    staging: &StagingDirectory,
    path: &Path,
    name: &str,
    expected: Digest,
    transfer: Transfer,
) -> Result<(), FileError> {
    let staged = match transfer {
        Transfer::Copy => staging.copy(path, name)?,
        Transfer::Link => staging.link(path, name)?,
    };
    if sys::hash_file(&staged)?.1 == expected {
        return Ok(());
    }
    let reason = "it was changed while it was being published".to_owned();
    Err(FileError {
        action: "read",
        path: path.to_owned(),
        reason,
        source: None,
    })
}

fn read_manifest(path: &Path, sink: &mut Sink) -> Result<ReleaseManifest, Exit> {
    let text =
        sys::read_text(path, LARGEST_MANIFEST_BYTES).map_err(|error| machine(error, sink))?;
    ReleaseManifest::from_json(&text).map_err(|error| {
        sink.push(
            Diagnostic::new(
                &codes::BAD_MANIFEST,
                format!("the manifest of the release cannot be used: {error}"),
            )
            .at(Location::File(path.display().to_string().into()), "")
            .help("use another directory"),
        );
        Exit::Fault
    })
}

/// Reports that the directory cannot be replaced.
pub(super) fn in_place(error: &FileError, sink: &mut Sink) -> Exit {
    sink.push(
        Diagnostic::new(&codes::CANNOT_REPLACE_FOLDER, error.to_string())
            .note("the existing files were not changed")
            .help("use a directory whose parent is writable, for example one below it"),
    );
    Exit::Machine
}

pub(super) fn machine(error: FileError, sink: &mut Sink) -> Exit {
    sink.push(error.into());
    Exit::Machine
}

pub(super) fn digest(bytes: &[u8]) -> Digest {
    Digest::new(Sha256::digest(bytes).into())
}
