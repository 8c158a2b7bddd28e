//! Recorded digests of files, so that the files need not be read again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rock_diagnostic::{Diagnostic, Diagnostics, SourceText};
use rock_names::Digest;
use rock_sys::{exists, read_text, size_and_mtime};
use rustc_hash::FxHashSet;

use crate::codes::release as codes;
use crate::missing_files::missing_files_warning;
use crate::{
    Asset, LARGEST_MANIFEST_BYTES, LocalAsset, MANIFEST, ManifestFile, ReleaseManifest, read_sums,
};

/// Digests and contents of wheels, from manifests and checksum files that were written when the
/// files were read.
///
/// # Trust
///
/// An entry applies to a file with its name and size. An entry of the `rock-manifest.json` in the
/// directory of the file applies only while the file is not newer than the manifest, the rule that
/// `make` uses. So nobody must put other bytes of the same length, with the same name and an old
/// date, next to a manifest; whoever can do that can write the manifest as well. Documents that
/// were [added](Self::add) are trusted as given.
///
/// A wrong digest does not harm users: installers hash what they download and reject it. An upload
/// hashes the bytes that it sends and fails if they differ, and checksums and manifest are uploaded
/// last. Without a cache, every file is hashed again.
#[derive(Debug, Clone)]
pub struct DigestCache {
    metadata_body: MetadataBody,
    /// Entries of added documents by filename, with the document.
    added: BTreeMap<String, (PathBuf, CacheEntry)>,
    /// Manifests by directory.
    directories: BTreeMap<PathBuf, DirectoryManifest>,
}

/// Whether the text of METADATA is needed for cached wheels: for pages and `.metadata` files, but
/// not for a release on GitHub, which needs only its digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetadataBody {
    /// It is read from `WHEEL.metadata` if that has the recorded digest, or else from the wheel.
    Load,
    /// Cached wheels are not opened. [`IndexFile::metadata`](rock_index::IndexFile) has no bytes.
    Skip,
}

/// The recorded data of a file.
#[derive(Debug, Clone)]
pub enum CacheEntry {
    /// The row of a manifest.
    Manifest(Box<CachedAsset>),
    /// Only a digest.
    Digest(Digest),
}

/// The row of a manifest.
#[derive(Debug, Clone)]
pub struct CachedAsset {
    /// The file, without its METADATA.
    pub asset: Asset,
    /// Digest of its METADATA; `None` for an sdist.
    pub metadata: Option<Digest>,
}

/// The entries of the manifest of a directory.
#[derive(Debug, Clone)]
struct DirectoryManifest {
    modified: SystemTime,
    /// The tag of the release.
    tag: Option<String>,
    entries: BTreeMap<String, CacheEntry>,
}

impl DigestCache {
    /// Creates an empty cache, with which every file is read.
    pub fn empty() -> Self {
        Self {
            metadata_body: MetadataBody::Load,
            added: BTreeMap::new(),
            directories: BTreeMap::new(),
        }
    }

    /// Reads the manifests in the directories of these files. Returns also a note for each manifest
    /// that is ignored because it cannot be read.
    pub fn of_directories(files: &[PathBuf], metadata_body: MetadataBody) -> (Self, Vec<String>) {
        let directories: BTreeSet<&Path> = files.iter().filter_map(|file| file.parent()).collect();
        let mut cache = Self {
            metadata_body,
            ..Self::empty()
        };
        let mut notes = Vec::new();
        for directory in directories {
            let path = directory.join(MANIFEST);
            let Some((_, modified)) = size_and_mtime(&path) else {
                continue;
            };
            match read_manifest(&path) {
                Ok(manifest) => {
                    let entries = entries(&manifest).collect();
                    cache.directories.insert(
                        directory.to_owned(),
                        DirectoryManifest {
                            modified,
                            tag: manifest.tag,
                            entries,
                        },
                    );
                }
                Err(error) => notes.push(format!("ignoring {}: {error}", path.display())),
            }
        }
        (cache, notes)
    }

    /// Adds the entries of a `rock-manifest.json` or a `SHA256SUMS`, which take precedence over the
    /// manifests of directories. `document` is named by its path.
    ///
    /// # Errors
    /// The document is neither.
    pub fn add(&mut self, document: &SourceText) -> Result<(), Diagnostics> {
        let path = PathBuf::from(document.path.as_ref());
        let (manifest, sums) = (
            ReleaseManifest::from_json(&document.text),
            read_sums(&document.text),
        );
        let reason = match (manifest, sums) {
            (Ok(manifest), _) => {
                self.added
                    .extend(entries(&manifest).map(|(name, entry)| (name, (path.clone(), entry))));
                return Ok(());
            }
            (Err(_), Ok(sums)) => {
                self.added.extend(
                    sums.into_iter()
                        .map(|(name, digest)| (name, (path.clone(), CacheEntry::Digest(digest)))),
                );
                return Ok(());
            }
            (Err(error), Err(_)) if document.text.trim_start().starts_with('{') => {
                error.to_string()
            }
            (Err(_), Err(error)) => error.to_string(),
        };
        Err(Diagnostic::new(
            &codes::BAD_KNOWN_FILE,
            format!("`{}` contains no digests: {reason}", document.path),
        )
        .at(document.location(0..0), "")
        .help("pass a `rock-manifest.json`, or a `SHA256SUMS` in the format of `sha256sum`")
        .into())
    }

    /// Returns the size of a file in bytes and its entry, if the entry applies to the file as it is
    /// now: see [`DigestCache`].
    pub fn entry(&self, path: &Path, name: &str) -> Option<(u64, &CacheEntry)> {
        let (size_bytes, modified) = size_and_mtime(path)?;
        let added = self
            .added
            .get(name)
            .map(|(_, entry)| entry)
            .filter(|entry| entry.applies_to(size_bytes));
        let entry = added.or_else(|| {
            self.directories
                .get(path.parent()?)
                .filter(|manifest| modified <= manifest.modified)?
                .entries
                .get(name)
                .filter(|entry| entry.applies_to(size_bytes))
        })?;
        Some((size_bytes, entry))
    }

    /// Returns a warning for each directory of these files whose manifest lists files that do not
    /// exist.
    pub fn missing_files(&self, files: &[PathBuf]) -> Vec<Diagnostic> {
        let found: FxHashSet<&Path> = files.iter().map(PathBuf::as_path).collect();
        let is_missing = |path: &Path| !found.contains(path) && !exists(path);
        self.directories
            .iter()
            .filter_map(|(directory, manifest)| {
                let names = manifest.entries.keys();
                let missing: BTreeSet<String> = names
                    .filter(|name| is_missing(&directory.join(name)))
                    .cloned()
                    .collect();
                missing_files_warning(directory, manifest.tag.as_deref(), &missing)
            })
            .collect()
    }

    /// Returns the manifest or checksum file that an entry for this file comes from.
    pub fn document_of(&self, path: &Path, name: &str) -> Option<PathBuf> {
        match self.added.get(name) {
            Some((document, _)) => Some(document.clone()),
            None => Some(path.parent()?.join(MANIFEST)),
        }
    }

    /// Whether the text of METADATA is needed for cached wheels.
    pub fn metadata_body(&self) -> MetadataBody {
        self.metadata_body
    }
}

impl CacheEntry {
    /// Whether the entry may be of a file of this size.
    fn applies_to(&self, size_bytes: u64) -> bool {
        match self {
            Self::Manifest(cached) => cached.asset.file.size_bytes == size_bytes,
            Self::Digest(_) => true,
        }
    }
}

/// Returns a note with the numbers of files that were read and that were in the cache.
pub fn cache_note(files: &[LocalAsset]) -> String {
    let cached = files
        .iter()
        .filter(|file| file.recorded_in.is_some())
        .count();
    format!(
        "{} files read, {cached} known by their digest",
        files.len() - cached
    )
}

fn read_manifest(path: &Path) -> Result<ReleaseManifest, String> {
    let text = read_text(path, LARGEST_MANIFEST_BYTES).map_err(|error| error.to_string())?;
    ReleaseManifest::from_json(&text).map_err(|error| error.to_string())
}

fn entries(manifest: &ReleaseManifest) -> impl Iterator<Item = (String, CacheEntry)> {
    manifest.files.iter().filter_map(entry)
}

fn entry(row: &ManifestFile) -> Option<(String, CacheEntry)> {
    let cached = CachedAsset {
        asset: Asset::of_row(row, None)?,
        metadata: row.metadata_sha256,
    };
    Some((row.name.clone(), CacheEntry::Manifest(Box::new(cached))))
}
