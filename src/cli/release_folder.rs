//! A release in a folder: read, brought up to date in one step, and told of.

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

/// The folder of a release as it is.
#[derive(Debug)]
pub(super) struct Opened {
    folder: PathBuf,
    swap: Option<DirectorySwap>,
    found: Vec<FolderFile>,
    holding: FolderContents,
    /// Names of assets whose bytes are not those of the manifest.
    damaged: BTreeSet<String>,
    /// What its manifest says; `None` where it has none.
    pub(super) manifest: Option<ReleaseManifest>,
    /// Its assets.
    pub(super) assets: Vec<Gathered>,
}

/// Reads the folder, and takes the right to replace it unless nothing is to be written.
///
/// # Errors
/// When it cannot be read, or its manifest is not one of this program's.
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
            || shell.say("another publish is under way in this folder; waiting for it to end");
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

/// Reports that a folder would be a release inside of another release.
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
    // As the user names it, where the path that was given leads through it.
    let mut given = folder
        .ancestors()
        .skip(1)
        .filter(|outer| !outer.as_os_str().is_empty());
    let outer = given
        .find(|outer| sys::real_path(outer) == found)
        .unwrap_or(found);
    let message = format!(
        "`{}` would be a release inside of another one, `{}`",
        folder.display(),
        outer.display()
    );
    sink.push(
        Diagnostic::new(&codes::RELEASE_IN_RELEASE, message)
            .at(Location::Argument("--to".to_owned()), "")
            .note("a release is replaced as one folder, so the outer one could not be published to any more")
            .help(format!(
                "publish into it with `--to {}` and without `--tag`, or give `--to` a folder of releases",
                shell_quoted(outer.display().to_string())
            )),
    );
}

/// How files get into a release folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Transfer {
    /// By a copy, which later changes of the file do not reach.
    Copy,
    /// By a hard link where the file system has them, which takes no further disk.
    Link,
}

impl Opened {
    /// Reports assets that are missing or damaged and would not be put right by what is offered.
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
                    fault(name, "is listed and not there")
                        .help("give the file, or go on without it with `--replace`"),
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
                "is a folder of releases",
                "name a release in it with `--tag`, or give another folder",
                releases,
            ),
            manifest => {
                let what = if manifest.is_some() {
                    "holds files that are not of the release"
                } else {
                    "is no release"
                };
                let foreign = foreign.iter().map(String::as_str).collect();
                (what, "give another folder, or move the files away", foreign)
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
            .at(Location::Argument("--to".to_owned()), "")
            .help(help),
        );
    }

    /// The files as they are, for comparing; `gone` are wheels that are to go.
    pub(super) fn present(&self, gone: &BTreeSet<String>) -> Vec<ObservedFile> {
        self.holding.present(&self.found, gone)
    }

    /// Makes the next state and puts it in place. `paths` says where each asset lies.
    ///
    /// # Errors
    /// When something cannot be written or a signal came; the folder is then as it was.
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
        // What tells of the assets is written after them, so that it is never older than they are.
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

/// Stages a file that was hashed before, and looks whether it is still the same.
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
    let reason = "it was changed while it was published".to_owned();
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
            .help("give another folder"),
        );
        Exit::Fault
    })
}

/// Says that the folder cannot be replaced.
pub(super) fn in_place(error: &FileError, sink: &mut Sink) -> Exit {
    sink.push(
        Diagnostic::new(&codes::CANNOT_REPLACE_FOLDER, error.to_string())
            .note("what was there is as it was")
            .help("give a folder whose parent can be written, for example one below it"),
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
