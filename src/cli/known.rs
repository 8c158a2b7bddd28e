//! What is known of files beforehand, so that they need not be read again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::assets::Gathered;
use super::{Exit, Shell, load};
use crate::codes::release as codes;
use crate::diagnostic::{Diagnostic, Sink};
use crate::names::Digest;
use crate::publish::{Asset, LARGEST_MANIFEST_BYTES, MANIFEST, ReleaseManifest, read_sums};
use crate::sys;

/// Digests, and what the inside of wheels says, from manifests and sums that were written when the
/// files were read.
///
/// # What this trusts
///
/// A row counts for a file of its name and size. A row of the `rock-manifest.json` that lies beside
/// the file counts only while the file is not newer than that manifest, as `make` decides. So the
/// trust is that nobody put other bytes of the same length under the same name and an old date
/// beside a manifest of ours; whoever can do that can write the manifest as well. Files named with
/// `--known` are believed as the user who names them does.
///
/// A wrong digest harms nobody who installs: installers hash what they fetch and refuse it. An
/// upload hashes the bytes that it sends and is not finished when they differ, and sums and
/// manifest are sent after it. `index build --read-all` believes nothing.
#[derive(Debug, Clone)]
pub(super) struct Known {
    texts: Texts,
    /// With the file that tells it.
    named: BTreeMap<String, (PathBuf, Row)>,
    beside: BTreeMap<PathBuf, Beside>,
}

/// Whether the text of METADATA is wanted of known wheels as well: for pages and for `.metadata`
/// files, not for a release on GitHub, which tells its digest alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Texts {
    /// It is read from `WHEEL.metadata` where that has the known digest, else from the wheel.
    Wanted,
    /// No known wheel is opened. Its [`IndexFile::metadata`](crate::index::IndexFile) has no bytes.
    Unwanted,
}

/// What is known of a file.
#[derive(Debug, Clone)]
pub(super) enum Row {
    /// All that a manifest tells.
    Whole(Box<Told>),
    /// The digest alone.
    Digest(Digest),
}

/// What a manifest tells of a file.
#[derive(Debug, Clone)]
pub(super) struct Told {
    /// The file, without its METADATA.
    pub(super) asset: Asset,
    /// Digest of its METADATA; `None` for a source distribution.
    pub(super) metadata: Option<Digest>,
}

#[derive(Debug, Clone)]
struct Beside {
    modified: SystemTime,
    rows: BTreeMap<String, Row>,
}

impl Known {
    /// Nothing is known: every file is read.
    pub(super) fn nothing() -> Self {
        Self {
            texts: Texts::Wanted,
            named: BTreeMap::new(),
            beside: BTreeMap::new(),
        }
    }

    /// What the manifests beside these files tell. One that cannot be read tells nothing.
    pub(super) fn beside(files: &[PathBuf], texts: Texts, shell: &Shell) -> Self {
        let folders: BTreeSet<&Path> = files.iter().filter_map(|file| file.parent()).collect();
        let mut known = Self {
            texts,
            ..Self::nothing()
        };
        for folder in folders {
            let path = folder.join(MANIFEST);
            let Some((_, modified)) = sys::size_and_mtime(&path) else {
                continue;
            };
            let text =
                sys::read_text(&path, LARGEST_MANIFEST_BYTES).map_err(|error| error.to_string());
            match text.and_then(|text| {
                ReleaseManifest::from_json(&text).map_err(|error| error.to_string())
            }) {
                Ok(manifest) => {
                    let rows = rows(&manifest).collect();
                    known
                        .beside
                        .insert(folder.to_owned(), Beside { modified, rows });
                }
                Err(error) => shell.detail(&format!(
                    "nothing is taken from {}: {error}",
                    path.display()
                )),
            }
        }
        known
    }

    /// Adds what a `rock-manifest.json` or a `SHA256SUMS` tells that the user names.
    ///
    /// # Errors
    /// When it cannot be read, or is neither.
    pub(super) fn add(&mut self, path: &Path, sink: &mut Sink) -> Result<(), Exit> {
        let source = load::read_source(path, sink)?;
        let fault = match (
            ReleaseManifest::from_json(&source.text),
            read_sums(&source.text),
        ) {
            (Ok(manifest), _) => {
                self.named
                    .extend(rows(&manifest).map(|(name, row)| (name, (path.to_owned(), row))));
                return Ok(());
            }
            (Err(_), Ok(sums)) => {
                let row = |digest| (path.to_owned(), Row::Digest(digest));
                self.named
                    .extend(sums.into_iter().map(|(name, digest)| (name, row(digest))));
                return Ok(());
            }
            (Err(error), Err(_)) if source.text.trim_start().starts_with('{') => error.to_string(),
            (Err(_), Err(error)) => error.to_string(),
        };
        sink.push(
            Diagnostic::new(
                &codes::BAD_KNOWN_FILE,
                format!("`{}` tells no digests: {fault}", source.path),
            )
            .at(source.location(0..0), "")
            .help("give a `rock-manifest.json`, or a `SHA256SUMS` as `sha256sum` writes it"),
        );
        Err(Exit::Fault)
    }

    /// What is known of the file, if that is this file: see [`Known`]. What the user names comes
    /// first.
    pub(super) fn of(&self, path: &Path, name: &str) -> Option<(u64, &Row)> {
        let (size_bytes, modified) = sys::size_and_mtime(path)?;
        let is_of = |row: &&Row| match row {
            Row::Whole(told) => told.asset.file.size_bytes == size_bytes,
            Row::Digest(_) => true,
        };
        let beside = || {
            let beside = self
                .beside
                .get(path.parent()?)
                .filter(|beside| modified <= beside.modified)?;
            beside.rows.get(name).filter(is_of)
        };
        let row = self
            .named
            .get(name)
            .map(|(_, row)| row)
            .filter(is_of)
            .or_else(beside)?;
        Some((size_bytes, row))
    }

    /// The file that tells what is known of a file.
    pub(super) fn told_by(&self, path: &Path, name: &str) -> Option<PathBuf> {
        match self.named.get(name) {
            Some((by, _)) => Some(by.clone()),
            None => Some(path.parent()?.join(MANIFEST)),
        }
    }

    /// Whether the text of METADATA is wanted of known wheels.
    pub(super) fn texts(&self) -> Texts {
        self.texts
    }
}

/// Says how many files were read and how many were known.
pub(super) fn tell(gathered: &[Gathered], shell: &Shell) {
    let known = gathered.iter().filter(|file| file.known.is_some()).count();
    shell.detail(&format!(
        "{} files read, {known} known by their digest",
        gathered.len() - known
    ));
}

fn rows(manifest: &ReleaseManifest) -> impl Iterator<Item = (String, Row)> {
    manifest.files.iter().filter_map(|row| {
        let told = Told {
            asset: Asset::of_row(row)?,
            metadata: row.metadata_sha256,
        };
        Some((row.name.clone(), Row::Whole(Box::new(told))))
    })
}
