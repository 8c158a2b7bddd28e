//! Recorded digests of files, so that they need not be read again.

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

/// Digests and contents of wheels, from manifests and checksum files that were written when the
/// files were read.
///
/// # Trust
///
/// A row applies to a file with its name and size. A row of the `rock-manifest.json` next to the
/// file applies only while the file is not newer than the manifest, the rule that `make` uses. So
/// nobody must put other bytes of the same length, with the same name and an old date, next to a
/// manifest; whoever can do that can write the manifest as well. Files of `--known` are trusted as
/// given.
///
/// A wrong digest does not harm users: installers hash what they download and reject it. An upload
/// hashes the bytes that it sends and fails if they differ, and checksums and manifest are uploaded
/// last. `index build --read-all` rehashes every file.
#[derive(Debug, Clone)]
pub(super) struct Known {
    texts: Texts,
    /// Rows by filename, with the file of `--known` that has them.
    named: BTreeMap<String, (PathBuf, Row)>,
    beside: BTreeMap<PathBuf, Beside>,
}

/// Whether the text of METADATA is needed for known wheels as well: for pages and `.metadata`
/// files, but not for a release on GitHub, which needs only its digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Texts {
    /// It is read from `WHEEL.metadata` if that has the recorded digest, or else from the wheel.
    Wanted,
    /// Known wheels are not opened. [`IndexFile::metadata`](crate::index::IndexFile) has no bytes.
    Unwanted,
}

/// The recorded data of a file.
#[derive(Debug, Clone)]
pub(super) enum Row {
    /// The row of a manifest.
    Whole(Box<Told>),
    /// Only a digest.
    Digest(Digest),
}

/// The row of a manifest.
#[derive(Debug, Clone)]
pub(super) struct Told {
    /// The file, without its METADATA.
    pub(super) asset: Asset,
    /// Digest of its METADATA; `None` for an sdist.
    pub(super) metadata: Option<Digest>,
}

#[derive(Debug, Clone)]
struct Beside {
    modified: SystemTime,
    rows: BTreeMap<String, Row>,
}

impl Known {
    /// Returns a value without recorded data, so that every file is read.
    pub(super) fn nothing() -> Self {
        Self {
            texts: Texts::Wanted,
            named: BTreeMap::new(),
            beside: BTreeMap::new(),
        }
    }

    /// Reads the manifests next to these files. Unreadable ones are ignored.
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
                Err(error) => shell.detail(&format!("ignoring {}: {error}", path.display())),
            }
        }
        known
    }

    /// Adds the rows of a `rock-manifest.json` or a `SHA256SUMS` that the user passes.
    ///
    /// # Errors
    /// The file cannot be read, or is neither.
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
                format!("`{}` contains no digests: {fault}", source.path),
            )
            .at(source.location(0..0), "")
            .help("pass a `rock-manifest.json`, or a `SHA256SUMS` in the format of `sha256sum`"),
        );
        Err(Exit::Fault)
    }

    /// Returns the size and the recorded data of a file, if they apply to it: see [`Known`]. Files
    /// that the user passes take precedence.
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

    /// Returns the manifest or checksum file that records a file.
    pub(super) fn told_by(&self, path: &Path, name: &str) -> Option<PathBuf> {
        match self.named.get(name) {
            Some((by, _)) => Some(by.clone()),
            None => Some(path.parent()?.join(MANIFEST)),
        }
    }

    /// Whether the text of METADATA is needed for known wheels.
    pub(super) fn texts(&self) -> Texts {
        self.texts
    }
}

/// Reports how many files were read, and how many digests were known.
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
