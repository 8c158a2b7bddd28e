//! Lists published files as the files of an index.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::{
    AssetState, ListedAsset, ListedRelease, RebuiltFile, ReleaseListing, ReleasedBytes,
    newest_first,
};
use crate::codes::release as codes;
use crate::index_directory::{METADATA_SUFFIX, has_digest};
use crate::manifest_rows::{ManifestRow, ManifestRowSet};
use crate::metadata_path;
use rock_bytes::start_threads;
use rock_diagnostic::{Diagnostic, Location as Spot, Sink};
use rock_index::{
    BaseUrl, CoreMetadata, FileKind, FileLinks, IndexFile, IndexFolder, PublishedOrigin,
};
use rock_names::{Digest, LabelParts, RocmVersion, WheelName, has_wheel_extension};
use rock_sys::entry_names;

/// The published files of one location: a repository, or a directory.
#[derive(Debug)]
pub struct PublishedAt<'p> {
    pub listing: &'p ReleaseListing,
    /// The rows of the releases' manifests, as far as they are available.
    pub manifests: Vec<ManifestRowSet>,
    /// The location of the files; `None` if the listing has their URLs.
    pub links: Option<FileLinks>,
    /// The METADATA files next to the files; `None` if they are not announced.
    pub metadata: Option<MetadataFiles<'p>>,
}

/// The METADATA files in a directory of wheels.
#[derive(Debug)]
pub struct MetadataFiles<'p> {
    directory: &'p Path,
    /// The names of wheels, sorted.
    wheels: Vec<String>,
}

impl<'p> MetadataFiles<'p> {
    /// Lists a directory; one that cannot be read has no METADATA files.
    pub fn list(directory: &'p Path) -> Self {
        let names = entry_names(directory).unwrap_or_default();
        let mut wheels: Vec<String> = names
            .iter()
            .filter_map(|name| name.strip_suffix(METADATA_SUFFIX))
            .map(str::to_owned)
            .collect();
        wheels.sort_unstable();
        Self { directory, wheels }
    }

    /// Returns whether the METADATA file of a wheel exists and has this digest.
    fn has(&self, wheel: &str, digest: Digest) -> bool {
        let is_listed = self
            .wheels
            .binary_search_by(|name| name.as_str().cmp(wheel));
        is_listed.is_ok() && has_digest(&metadata_path(&self.directory.join(wheel)), digest)
    }
}

/// Returns the wheels that can be downloaded, and the source distributions that a manifest lists,
/// those of the newest release first; [`merged`] removes duplicates across releases. Skipped files
/// are reported to the sink with the reason. `known` are the ROCm versions that are used to parse
/// labels of files without a manifest row.
pub fn index_files(
    mut places: Vec<PublishedAt<'_>>,
    known: &[RocmVersion],
    sink: &mut Sink,
) -> Vec<IndexFile> {
    let manifests: Vec<ManifestRowSet> = places
        .iter_mut()
        .flat_map(|place| std::mem::take(&mut place.manifests))
        .collect();
    let mut releases: Vec<IndexedRelease<'_>> = Vec::new();
    for place in &places {
        for listed in place
            .listing
            .releases
            .iter()
            .filter(|release| !release.draft)
        {
            let origin = |links: &FileLinks| {
                Arc::new(PublishedOrigin {
                    links: links.clone(),
                    tag: listed.tag_name.clone(),
                })
            };
            releases.push(IndexedRelease {
                place,
                listed,
                origin: place.links.as_ref().map(origin),
            });
        }
    }
    newest_first(&mut releases, |release| release.listed);
    let assets: Vec<(&IndexedRelease<'_>, &ListedAsset)> = releases
        .iter()
        .flat_map(|release| {
            release
                .listed
                .assets
                .iter()
                .map(move |asset| (release, asset))
        })
        .filter(|(_, asset)| asset.state == AssetState::Uploaded)
        .collect();
    let rows = rows(&manifests);
    let row = |(release, asset): &(&IndexedRelease<'_>, &ListedAsset)| {
        rows.get(asset.name.as_str())
            .and_then(|rows| row_of(asset, release.listed, rows))
            .cloned()
    };
    let found: Vec<Option<ManifestRow>> = assets.iter().map(row).collect();
    drop(rows);
    // An entry that only one asset needs is then no longer shared, and not copied.
    drop(manifests);
    start_threads();
    let read: Vec<Result<Option<IndexFile>, Diagnostic>> = assets
        .into_par_iter()
        .zip(found)
        .map(|((release, asset), row)| {
            file(asset, release, row, known)
                .map_err(|reason| left_out(asset, release.listed, &reason))
        })
        .collect();
    // Collects in place, because the files are many and large.
    read.into_iter()
        .filter_map(|read| {
            read.unwrap_or_else(|error| {
                sink.push(error);
                None
            })
        })
        .collect()
}

/// Returns the files with each name once, and the files of older releases that are skipped. A file
/// in several releases has the URL of the first one; if the content differs, the first file is
/// listed. Different content within one release or directory is an error in the sink, and files
/// without a digest are reported there, too.
pub fn merged(mut files: Vec<IndexFile>, sink: &mut Sink) -> (Vec<IndexFile>, Vec<RebuiltFile>) {
    let mut rebuilt = Vec::new();
    let firsts = firsts(&files);
    for (at, first) in firsts.iter().enumerate().filter(|(at, first)| at != *first) {
        let (before, rest) = files.split_at_mut(at);
        let (first, file) = (&mut before[*first], &rest[0]);
        if is_same(first, file) {
            first.digest = first.digest.or(file.digest);
        } else if is_of_one_place(first, file) {
            sink.push(other_bytes(first, file));
        } else {
            rebuilt.push(RebuiltFile {
                name: first.name.clone(),
                offered: held(first),
                older: held(file),
            });
        }
    }
    let mut is_first = firsts.iter().enumerate().map(|(at, first)| at == *first);
    files.retain(|_| is_first.next().unwrap_or_default());
    tell_without_digest(&files, sink);
    (files, rebuilt)
}

/// Returns for each file the index of the first one with its name.
fn firsts(files: &[IndexFile]) -> Vec<usize> {
    let mut places: FxHashMap<Cow<'_, str>, usize> =
        FxHashMap::with_capacity_and_hasher(files.len(), FxBuildHasher);
    files
        .iter()
        .enumerate()
        .map(|(at, file)| *places.entry(file.folded_name()).or_insert(at))
        .collect()
}

/// A release of a location.
struct IndexedRelease<'p> {
    place: &'p PublishedAt<'p>,
    listed: &'p ListedRelease,
    /// The location of its files, if they are in one directory.
    origin: Option<Arc<PublishedOrigin>>,
}

/// The rows by filename: the first one, and all others.
type RowsByName<'t> = FxHashMap<&'t str, (IndexedRow<'t>, Vec<IndexedRow<'t>>)>;
type IndexedRow<'t> = (&'t ManifestRowSet, &'t ManifestRow);

fn rows(manifests: &[ManifestRowSet]) -> RowsByName<'_> {
    let count = manifests.iter().map(|set| set.files.len()).sum();
    let mut rows = RowsByName::with_capacity_and_hasher(count, FxBuildHasher);
    for manifest in manifests {
        for file in &manifest.files {
            match rows.entry(file.name()) {
                Entry::Vacant(free) => drop(free.insert(((manifest, file), Vec::new()))),
                Entry::Occupied(mut taken) => taken.get_mut().1.push((manifest, file)),
            }
        }
    }
    rows
}

/// Returns the row that describes the content of an asset. If GitHub has no digest of it, the row
/// has the same size and, if there is a choice, belongs to the same release.
fn row_of<'t>(
    asset: &ListedAsset,
    release: &ListedRelease,
    (first, further): &(IndexedRow<'t>, Vec<IndexedRow<'t>>),
) -> Option<&'t ManifestRow> {
    let rows = || std::iter::once(first).chain(further);
    if let Some(digest) = asset.digest {
        return rows().map(|(_, row)| *row).find(|row| row.digest == digest);
    }
    let sized = || rows().filter(|(_, row)| row.size_bytes == asset.size);
    let of_tag = sized().find(|(manifest, _)| manifest.tag.as_deref() == Some(&release.tag_name));
    of_tag.or_else(|| sized().next()).map(|(_, row)| *row)
}

/// Returns the index entry of an asset, or the reason for skipping it; `None` if it is neither a
/// wheel nor a source distribution.
fn file(
    asset: &ListedAsset,
    release: &IndexedRelease<'_>,
    row: Option<ManifestRow>,
    known: &[RocmVersion],
) -> Result<Option<IndexFile>, String> {
    let metadata = row.as_ref().and_then(|row| row.metadata);
    let entry = match row.and_then(|row| row.file.ok()) {
        Some(entry) => Arc::unwrap_or_clone(entry),
        None if has_wheel_extension(&asset.name) => by_name(&asset.name, known)?,
        // Archives in releases can be anything; those in a manifest are source distributions.
        None => return Ok(None),
    };
    if entry.kind == FileKind::Tree {
        return Ok(None);
    }
    if let Some(label) = entry.unread_label() {
        return Err(format!(
            "its label `{label}` names no accelerator, so it is unknown what it is for"
        ));
    }
    let origin = match &release.origin {
        Some(origin) => Arc::clone(origin),
        None => {
            let links = address(
                asset,
                release.listed,
                release.place.listing.repository.as_deref(),
            )?;
            Arc::new(PublishedOrigin {
                links,
                tag: release.listed.tag_name.clone(),
            })
        }
    };
    Ok(Some(IndexFile {
        digest: asset.digest.or(entry.digest),
        size_bytes: asset.size,
        metadata: metadata
            .filter(|digest| {
                let files = release.place.metadata.as_ref();
                files.is_some_and(|files| files.has(&asset.name, *digest))
            })
            .map(|digest| CoreMetadata {
                bytes: None,
                digest,
            }),
        uploaded: asset.created_at.clone(),
        origin: Some(origin),
        ..entry
    }))
}

/// Returns the index entry with the facts from the name of a wheel.
pub(super) fn by_name(name: &str, known: &[RocmVersion]) -> Result<IndexFile, String> {
    if name.contains('%') {
        return Err("it is percent-encoded, which no installer accepts".to_owned());
    }
    let wheel = name
        .parse::<WheelName>()
        .map_err(|error| error.kind.to_string())?;
    let project = wheel.distribution().clone();
    let folder = IndexFolder::of(label(&wheel, known)?.as_ref());
    let version = wheel.version().clone();
    Ok(IndexFile {
        folder,
        ..IndexFile::named(name.to_owned(), project, version, FileKind::Wheel(wheel))
    })
}

/// Parses the label of a wheel; `None` if it does not name an accelerator.
pub(super) fn label(
    wheel: &WheelName,
    known: &[RocmVersion],
) -> Result<Option<LabelParts>, String> {
    let Some(label) = wheel.label() else {
        return Ok(None);
    };
    match LabelParts::parse(&label, known) {
        Ok(parsed) if parsed.ambiguous => Err(format!(
            "its label `{label}` can be read as two versions, and no manifest determines which is \
             right"
        )),
        Ok(parsed) => Ok(Some(parsed.parts)),
        Err(error) if label.as_str().starts_with("rocm") => Err(error.to_string()),
        Err(_) => Ok(None),
    }
}

/// Returns the directory that a file is downloaded from. GitHub's download URLs end in the filename
/// (REST API, "Release assets", `browser_download_url`).
fn address(
    asset: &ListedAsset,
    release: &ListedRelease,
    repository: Option<&str>,
) -> Result<FileLinks, String> {
    let named = asset
        .browser_download_url
        .as_deref()
        .filter(|url| !url.is_empty());
    let folder = match (named, repository) {
        (Some(url), _) => url
            .rsplit_once('/')
            .map_or(url, |(folder, _)| folder)
            .to_owned(),
        (None, Some(repository)) if !release.tag_name.is_empty() => format!(
            "https://github.com/{repository}/releases/download/{}",
            rock_names::percent_encode(&release.tag_name)
        ),
        _ => return Err("its download URL is unknown".to_owned()),
    };
    folder
        .parse::<BaseUrl>()
        .map(FileLinks::Absolute)
        .map_err(|error| error.to_string())
}

/// Whether two files with one name have the same content, as far as known.
fn is_same(one: &IndexFile, other: &IndexFile) -> bool {
    one.name == other.name && held(one).is_same(&held(other))
}

/// Whether both files are in the same release or directory.
fn is_of_one_place(one: &IndexFile, other: &IndexFile) -> bool {
    let tag = |file: &IndexFile| {
        file.origin
            .as_ref()
            .map(|origin| origin.tag.clone())
            .filter(|tag| !tag.is_empty())
    };
    match (tag(one), tag(other)) {
        (None, None) => one.origin == other.origin,
        (one, other) => one == other,
    }
}

fn held(file: &IndexFile) -> ReleasedBytes {
    let tag = file
        .origin
        .as_ref()
        .map(|origin| origin.tag.clone())
        .unwrap_or_default();
    ReleasedBytes {
        tag,
        digest: file.digest,
        size_bytes: file.size_bytes,
    }
}

fn other_bytes(one: &IndexFile, other: &IndexFile) -> Diagnostic {
    Diagnostic::new(
        &codes::SAME_NAME_TWICE,
        format!(
            "two published files with different content have the name `{}`",
            one.name
        ),
    )
    .at(Spot::Argument("--published".to_owned()), "")
    .note(format!("one is `{}` {}", one.name, held(one)))
    .note(format!("the other is `{}` {}", other.name, held(other)))
    .help("publish one of them under another version or build tag, and delete it here")
}

fn left_out(asset: &ListedAsset, release: &ListedRelease, reason: &str) -> Diagnostic {
    let diagnostic = Diagnostic::new(
        &codes::UNREADABLE_PUBLISHED_NAME,
        format!("the published file `{}` is skipped: {reason}", asset.name),
    )
    .at(Spot::Argument("--published".to_owned()), "")
    .help("publish it again under a valid wheel name");
    if release.tag_name.is_empty() {
        diagnostic
    } else {
        diagnostic.note(format!("it is in release `{}`", release.tag_name))
    }
}

/// Reports files without a digest in one diagnostic. GitHub has no digests for assets from before
/// June 2025.
fn tell_without_digest(files: &[IndexFile], sink: &mut Sink) {
    let without: Vec<&IndexFile> = files.iter().filter(|file| file.digest.is_none()).collect();
    if let Some(first) = without.first() {
        let message = match without.len() {
            1 => format!(
                "`{}` is listed without a hash: its digest is unknown",
                first.name
            ),
            count => {
                format!(
                    "{count} files are listed without a hash, such as `{}`: their digests are \
                     unknown",
                    first.name
                )
            }
        };
        sink.push(
            Diagnostic::new(&codes::NO_PUBLISHED_DIGEST, message)
                .at(Spot::Argument("--published".to_owned()), "")
                .help("publish them again, or also pass the `rock-manifest.json` of their release"),
        );
    }
}
