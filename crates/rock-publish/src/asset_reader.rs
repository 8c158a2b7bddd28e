//! Reads local files as assets: verifies, hashes and parses them in parallel.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use rock_bytes::{RangeReader, ReadAt as _, start_threads};
use rock_compat::Compat;
use rock_diagnostic::{Diagnostic, Location, Sink};
use rock_index::{CoreMetadata, FileKind, IndexFile, IndexFolder, YankStatus};
use rock_names::{Digest, DistributionName, RocmVersion, Version, WheelName, is_tree_archive};
use rock_sys::{FileError, PositionalFile, hash_file, read_bytes};
use rock_wheel::HeaderDocument;

use crate::codes::release as codes;
use crate::sums::sha256;
use crate::wheel_reader::{self, WheelContents};
use crate::{Asset, CacheEntry, CachedAsset, DigestCache, LeftOut, MetadataBody};

/// Maximum size of a `.metadata` file next to a wheel, as of METADATA in the wheel.
const MAX_METADATA_BYTES: u64 = 16 << 20;

/// The depth of the checks of a wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CheckDepth {
    /// Every member against RECORD, and METADATA against the name.
    Verify,
    /// METADATA against the name.
    Identify,
    /// Everything but RECORD and the contents of members. The text of METADATA is not kept, because
    /// it would use most of the memory for many wheels.
    List,
}

/// An asset and its path.
#[derive(Debug, Clone)]
pub struct LocalAsset {
    /// The path of the file.
    pub path: PathBuf,
    /// The file.
    pub asset: Asset,
    /// The manifest or checksum file with its digest, if its bytes were not read.
    pub recorded_in: Option<PathBuf>,
}

impl LocalAsset {
    /// Returns the filename.
    pub fn name(&self) -> &str {
        self.asset.name()
    }
}

/// Reads the files as assets, except for those in the cache. A wheel in a manifest was verified
/// when that was written; one with only a recorded digest is checked like any other. Invalid files
/// are reported and left out.
pub fn read_assets(
    files: &[PathBuf],
    depth: CheckDepth,
    cache: &DigestCache,
    compat: &Compat,
    sink: &mut Sink,
) -> Vec<LocalAsset> {
    let reader = AssetReader {
        depth,
        cache,
        compat,
        rocm_versions: compat.rocm_versions(),
    };
    start_threads();
    let read: Vec<_> = files
        .par_iter()
        .map(|path| {
            let mut sink = Sink::new();
            (reader.read(path, &mut sink), sink.finish())
        })
        .collect();
    let mut assets = Vec::new();
    for (asset, diagnostics) in read {
        sink.extend(diagnostics);
        assets.extend(asset);
    }
    assets
}

/// Returns the assets without their paths.
pub fn without_paths(files: &[LocalAsset]) -> Vec<Asset> {
    files.iter().map(|file| file.asset.clone()).collect()
}

/// Keeps the first file of each name; [`as_release`](crate::as_release) reports those that differ.
pub fn unique_by_name(mut files: Vec<LocalAsset>) -> Vec<LocalAsset> {
    let mut names = BTreeSet::new();
    files.retain(|file| names.insert(file.name().to_owned()));
    files
}

/// Returns the files with a valid name that are not among the assets.
pub fn left_out(files: &[PathBuf], assets: &[LocalAsset]) -> Vec<LeftOut> {
    let kept: BTreeSet<&Path> = assets.iter().map(|asset| asset.path.as_path()).collect();
    files
        .iter()
        .filter(|file| !kept.contains(file.as_path()))
        .filter_map(|file| {
            let name = file.file_name()?.to_str()?;
            let is_valid = name.ends_with(".tar.gz") || name.parse::<WheelName>().is_ok();
            is_valid.then(|| LeftOut {
                name: name.to_owned(),
                shown: file.display().to_string(),
            })
        })
        .collect()
}

/// Returns the path of the METADATA file next to a wheel (PEP 658).
pub fn metadata_path(wheel: &Path) -> PathBuf {
    let mut name = wheel.as_os_str().to_owned();
    name.push(".metadata");
    name.into()
}

/// The settings of [`read_assets`].
struct AssetReader<'a> {
    depth: CheckDepth,
    cache: &'a DigestCache,
    compat: &'a Compat,
    rocm_versions: &'a [RocmVersion],
}

/// The contents of a wheel, and its size and digest.
struct ReadWheel {
    contents: WheelContents,
    digest: Digest,
    size_bytes: u64,
    is_cached: bool,
}

impl AssetReader<'_> {
    fn read(&self, path: &Path, sink: &mut Sink) -> Option<LocalAsset> {
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let (asset, is_cached) = if name.ends_with(".tar.gz") {
            self.read_archive(path, name, sink)?
        } else {
            self.read_wheel(path, name, sink)?
        };
        let recorded_in = is_cached
            .then(|| self.cache.document_of(path, asset.name()))
            .flatten();
        Some(LocalAsset {
            path: path.to_owned(),
            asset,
            recorded_in,
        })
    }

    /// Reads a wheel; returns it, and whether its bytes were not read.
    fn read_wheel(&self, path: &Path, name: String, sink: &mut Sink) -> Option<(Asset, bool)> {
        let shown = path.display().to_string();
        let location = Location::File(shown.as_str().into());
        let wheel = match parse_wheel_name(&name) {
            Ok(wheel) => wheel,
            Err(error) => {
                sink.push(error.at(location, ""));
                return None;
            }
        };
        let is_of_sdk = self.compat.is_sdk_package(wheel.distribution().as_str());
        let label = if is_of_sdk {
            None
        } else {
            wheel_reader::parse_label(&wheel, self.rocm_versions, location, sink)?
        };
        let entry = self.cache.entry(path, &name);
        let cached = match entry {
            Some((_, CacheEntry::Manifest(cached))) => Some(cached.as_ref()),
            _ => None,
        };
        let read = self.read_contents(path, &wheel, entry, sink)?;
        let metadata = match self.depth {
            CheckDepth::List => CoreMetadata {
                bytes: None,
                ..read.contents.metadata
            },
            CheckDepth::Verify | CheckDepth::Identify => read.contents.metadata,
        };
        let file = IndexFile {
            name,
            project: read.contents.project,
            version: wheel.version().clone(),
            folder: IndexFolder::of(label.as_ref()),
            kind: FileKind::Wheel(wheel),
            digest: Some(read.digest),
            size_bytes: read.size_bytes,
            requires_python: read.contents.requires_python,
            requires: read.contents.requires,
            metadata: Some(metadata),
            yanked: YankStatus::No,
            uploaded: None,
            origin: None,
            is_of_sdk,
            run_time: cached.and_then(|cached| cached.asset.file.run_time.clone()),
        };
        let asset = Asset {
            shown,
            digest: read.digest,
            file,
            label,
            gfx_read: cached.and_then(|cached| cached.asset.gfx_read.clone()),
            needs_rocm: cached.map_or_else(Vec::new, |cached| cached.asset.needs_rocm.clone()),
        };
        Some((asset, read.is_cached))
    }

    /// Returns the contents, size and digest of a wheel, as far as possible from its cache entry.
    fn read_contents(
        &self,
        path: &Path,
        wheel: &WheelName,
        entry: Option<(u64, &CacheEntry)>,
        sink: &mut Sink,
    ) -> Option<ReadWheel> {
        if let Some((size_bytes, CacheEntry::Manifest(cached))) = entry
            && let Some(contents) = cached_contents(path, wheel, cached, self.cache.metadata_body())
        {
            return Some(ReadWheel {
                contents,
                digest: cached.asset.digest,
                size_bytes,
                is_cached: true,
            });
        }
        let contents = wheel_reader::read_contents(path, wheel, self.depth, sink)?;
        let (size_bytes, digest, is_cached) = match entry {
            Some((size_bytes, CacheEntry::Digest(digest))) => (size_bytes, *digest, true),
            _ => {
                let (size_bytes, digest) = hash(path, sink)?;
                (size_bytes, digest, false)
            }
        };
        Some(ReadWheel {
            contents,
            digest,
            size_bytes,
            is_cached,
        })
    }

    /// Reads an sdist, `NAME-VERSION.tar.gz` (PEP 625), or an archive of an install tree,
    /// `NAME-VERSION-…-tree.tar.gz`; returns it, and whether its digest is from the cache.
    fn read_archive(&self, path: &Path, name: String, sink: &mut Sink) -> Option<(Asset, bool)> {
        let shown = path.display().to_string();
        let Some((project, version)) = parse_archive_name(&name) else {
            sink.push(
                Diagnostic::new(
                    &codes::UNREADABLE_NAME,
                    format!("`{name}` is not the name of a source distribution"),
                )
                .at(Location::File(shown.as_str().into()), "")
                .help("name it like NAME-VERSION.tar.gz"),
            );
            return None;
        };
        let entry = self.cache.entry(path, &name);
        let (size_bytes, digest) = match entry {
            Some((size_bytes, CacheEntry::Manifest(cached))) => (size_bytes, cached.asset.digest),
            Some((size_bytes, CacheEntry::Digest(digest))) => (size_bytes, *digest),
            None => hash(path, sink)?,
        };
        let kind = if is_tree_archive(&name) {
            FileKind::Tree
        } else {
            FileKind::Sdist
        };
        // Manifests do not record whether archives were checked, and indexes do not list trees.
        let is_checked = kind == FileKind::Sdist || self.depth != CheckDepth::List;
        if is_checked && !verify_archive(path, &shown, &kind, &project, &version, sink) {
            return None;
        }
        let is_of_sdk = self.compat.is_sdk_package(&project.normalized());
        let file = IndexFile {
            digest: Some(digest),
            size_bytes,
            is_of_sdk,
            ..IndexFile::named(name, project, version, kind)
        };
        let asset = Asset {
            shown,
            digest,
            file,
            label: None,
            gfx_read: None,
            needs_rocm: Vec::new(),
        };
        Some((asset, entry.is_some()))
    }
}

/// Parses the name of a wheel that installers accept. The diagnostic has no location.
fn parse_wheel_name(name: &str) -> Result<WheelName, Diagnostic> {
    let wheel = WheelName::from_percent_encoded(name).map_err(|error| {
        Diagnostic::new(&codes::UNREADABLE_NAME, error.to_string())
            .help("name it like NAME-VERSION-PYTHON-ABI-PLATFORM.whl")
    })?;
    // A percent-encoded name is decoded, but installers reject a file with such a name.
    if name.contains('%') {
        let decoded = name.replace("%2B", "+").replace("%2b", "+");
        return Err(Diagnostic::new(
            &codes::UNREADABLE_NAME,
            format!("`{name}` is percent-encoded, and no installer takes it"),
        )
        .help(format!("rename the file to `{decoded}`")));
    }
    Ok(wheel)
}

/// Parses the distribution and version in the name of an archive.
fn parse_archive_name(name: &str) -> Option<(DistributionName, Version)> {
    let (project, version) = if is_tree_archive(name) {
        let (project, rest) = name.split_once('-')?;
        (project, rest.split_once('-')?.0)
    } else {
        name.strip_suffix(".tar.gz")?.rsplit_once('-')?
    };
    Some((project.parse().ok()?, version.parse().ok()?))
}

/// Returns the contents of a wheel that a manifest records, with the text of METADATA if needed;
/// `None` if that text does not have the recorded digest.
fn cached_contents(
    path: &Path,
    wheel: &WheelName,
    cached: &CachedAsset,
    body: MetadataBody,
) -> Option<WheelContents> {
    let (expected, file) = (cached.metadata?, &cached.asset.file);
    if body == MetadataBody::Skip {
        return Some(WheelContents {
            project: file.project.clone(),
            requires_python: file.requires_python.clone(),
            requires: Vec::new(),
            metadata: CoreMetadata {
                bytes: None,
                digest: expected,
            },
        });
    }
    // What is wrong with the wheel is reported when it is read because of it.
    let mut ignored = Sink::new();
    let contents = read_bytes(&metadata_path(path), MAX_METADATA_BYTES)
        .ok()
        .filter(|bytes| sha256(bytes) == expected)
        .and_then(|bytes| {
            wheel_reader::parse_metadata(HeaderDocument::parse(bytes), wheel, &mut ignored)
        })
        .or_else(|| wheel_reader::read_contents(path, wheel, CheckDepth::Identify, &mut ignored))?;
    (contents.metadata.digest == expected).then_some(contents)
}

/// Checks the members of an archive, and returns whether it has no errors.
fn verify_archive(
    path: &Path,
    shown: &str,
    kind: &FileKind,
    project: &DistributionName,
    version: &Version,
    sink: &mut Sink,
) -> bool {
    let read = PositionalFile::open(path).and_then(|file| {
        let source = RangeReader::new(&file, 0, file.size_bytes());
        let read = match kind {
            FileKind::Tree => rock_wheel::verify_tree_archive(source, shown),
            FileKind::Sdist | FileKind::Wheel(_) => {
                rock_wheel::verify_source_distribution(source, shown, project, version)
            }
        };
        read.map_err(|error| FileError::new("read", path, error))
    });
    match read {
        Ok(findings) => {
            let has_errors = findings.iter().any(Diagnostic::is_error);
            sink.extend(findings);
            !has_errors
        }
        Err(error) => {
            sink.push(error.into());
            false
        }
    }
}

/// Returns the size and digest of a file; an error goes to the sink.
fn hash(path: &Path, sink: &mut Sink) -> Option<(u64, Digest)> {
    hash_file(path)
        .map_err(|error| sink.push(error.into()))
        .ok()
}
