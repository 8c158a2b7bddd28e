//! Files of the command line as assets: finds, verifies, hashes and reads them in parallel.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::known::{Known, Row, Texts, Told};
use super::limits::MAX_METADATA_BYTES;
use super::release_folder::digest;
use super::wheel_file::{self, Contents};
use crate::bytes::{RangeReader, ReadAt as _, start_threads};
use crate::codes::host;
use crate::codes::release as codes;
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Location, Sink};
use crate::index::{CoreMetadata, FileKind, IndexFile, IndexFolder, YankStatus};
use crate::names::{Digest, DistributionName, RocmVersion, Version, WheelName, is_tree_archive};
use crate::publish::Asset;
use crate::sdk;
use crate::sys::{self, DirectoryEntry, DirectoryEntryKind, FileError, PositionalFile};
use crate::wheel::{self, HeaderDocument};

/// The depth of the checks of a wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
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
pub(super) struct Gathered {
    pub(super) path: PathBuf,
    pub(super) asset: Asset,
    /// The manifest or checksum file with its digest, if its bytes were not read.
    pub(super) known: Option<PathBuf>,
}

/// Expands paths to files: directories to the wheels and sdists in them. Reports if there are
/// none.
pub(super) fn files(paths: &[PathBuf], sink: &mut Sink) -> Vec<PathBuf> {
    let files = found(paths, sink);
    if files.is_empty() && !sink.has_errors() {
        sink.push(none_in(paths));
    }
    files
}

/// Returns the diagnostic for paths without wheels.
pub(super) fn none_in(paths: &[PathBuf]) -> Diagnostic {
    let folders: Vec<String> = paths
        .iter()
        .map(|path| format!("`{}`", path.display()))
        .collect();
    Diagnostic::new(
        &codes::NOTHING_TO_PUBLISH,
        format!("there are no wheels in {}", folders.join(", ")),
    )
    .help("pass wheels, or directories that contain wheels")
}

/// Expands paths to files, of which there may be none.
pub(super) fn found(paths: &[PathBuf], sink: &mut Sink) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in paths {
        if !sys::exists(path) {
            let message = format!("`{}` does not exist", path.display());
            sink.push(Diagnostic::new(&host::CANNOT_READ_FILE, message).help("check the name"));
            continue;
        }
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        match sys::read_entries(path) {
            Ok(entries) => {
                files.extend(of_folder(&entries, sink));
                subfolders(path, &entries, paths, sink);
            }
            Err(error) => sink.push(error.into()),
        }
    }
    files
}

/// Reads the files as assets, except for recorded data. A wheel in a manifest was verified when
/// that was written; one with only a recorded digest is checked like any other. Invalid files are
/// reported and left out.
pub(super) fn gather(
    files: &[PathBuf],
    depth: Depth,
    known: &Known,
    compat: &Compat,
    sink: &mut Sink,
) -> Vec<Gathered> {
    let versions = compat.rocm_versions();
    start_threads();
    let read: Vec<_> = files
        .par_iter()
        .map(|path| {
            let mut sink = Sink::new();
            (
                asset(path, depth, known, (compat, &versions), &mut sink),
                sink.finish(),
            )
        })
        .collect();
    let mut gathered = Vec::new();
    for ((asset, diagnostics), path) in read.into_iter().zip(files) {
        sink.extend(diagnostics);
        gathered.extend(asset.map(|(asset, is_known)| {
            let known = is_known
                .then(|| known.told_by(path, asset.name()))
                .flatten();
            Gathered {
                path: path.clone(),
                asset,
                known,
            }
        }));
    }
    gathered
}

/// Returns the wheels and sdists among the entries of a directory, and reports entries with such a
/// name that are not regular files.
fn of_folder(entries: &[DirectoryEntry], sink: &mut Sink) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for DirectoryEntry { path, kind } in entries.iter().filter(|entry| is_ours(&entry.path)) {
        let kind = match kind {
            DirectoryEntryKind::File => {
                files.push(path.clone());
                continue;
            }
            DirectoryEntryKind::Directory => continue,
            DirectoryEntryKind::Other(kind) => kind,
        };
        let (shown, help) = (
            path.display().to_string(),
            "provide the file, or delete this entry",
        );
        sink.push(
            Diagnostic::new(
                &host::CANNOT_READ_FILE,
                format!("`{shown}` is {kind}, not a file"),
            )
            .at(Location::File(shown.as_str().into()), "")
            .help(help),
        );
    }
    files
}

/// Warns about wheels in subdirectories that were not passed themselves.
fn subfolders(folder: &Path, entries: &[DirectoryEntry], named: &[PathBuf], sink: &mut Sink) {
    const SHOWN: usize = 5;
    let folders = entries
        .iter()
        .filter(|entry| entry.kind == DirectoryEntryKind::Directory)
        .map(|entry| &entry.path);
    let holds = |folder: &&PathBuf| {
        let found = sys::files_with_extension(folder, &["whl", "gz"]).unwrap_or_default();
        !named.contains(folder) && found.iter().any(|file| is_ours(file))
    };
    // Hidden directories belong to tools.
    let is_shown = |folder: &&PathBuf| {
        !folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .starts_with('.')
    };
    let folders = folders.filter(is_shown);
    let found: Vec<String> = folders
        .filter(holds)
        .map(|path| format!("`{}`", path.display()))
        .collect();
    if found.is_empty() {
        return;
    }
    let mut shown = found
        .iter()
        .take(SHOWN)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if found.len() > SHOWN {
        shown.push_str(&format!(" and {} more", found.len() - SHOWN));
    }
    let what = if found.len() == 1 {
        "a subdirectory contains wheels"
    } else {
        "subdirectories contain wheels"
    };
    sink.push(
        Diagnostic::new(&codes::WHEELS_IN_SUBFOLDERS, format!("{what}, which are skipped: {shown}"))
            .at(Location::File(folder.display().to_string().into()), "")
            .help("move the files into one directory; in a workflow, download the artifacts with `merge-multiple: true`"),
    );
}

fn is_ours(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".whl") || name.ends_with(".tar.gz")
}

/// Reads an asset; returns it, and whether its bytes were not read.
fn asset(
    path: &Path,
    depth: Depth,
    known: &Known,
    (compat, versions): (&Compat, &[RocmVersion]),
    sink: &mut Sink,
) -> Option<(Asset, bool)> {
    let shown = path.display().to_string();
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    if name.ends_with(".tar.gz") {
        return archive(path, name, shown.clone(), depth, known, compat, sink);
    }
    let place = Location::File(shown.as_str().into());
    let unreadable = |(reason, help): (String, String)| {
        sink.push(
            Diagnostic::new(&codes::UNREADABLE_NAME, reason)
                .at(place.clone(), "")
                .help(help),
        );
    };
    let wheel = wheel_name(&name).map_err(unreadable).ok()?;
    let is_of_sdk = is_of_sdk(wheel.distribution().as_str(), compat);
    let label = if is_of_sdk {
        None
    } else {
        wheel_file::label(&wheel, versions, place, sink)?
    };
    let found = known.of(path, &name);
    let told = match found {
        Some((_, Row::Whole(told))) => known_contents(path, &wheel, told, known.texts()),
        _ => None,
    };
    let whole = match found {
        Some((_, Row::Whole(told))) => Some(&told.asset),
        _ => None,
    };
    let (contents, digest, size_bytes, is_known) = match (told, found) {
        (Some((contents, digest)), Some((size_bytes, _))) => (contents, digest, size_bytes, true),
        (None, Some((size_bytes, Row::Digest(digest)))) => (
            wheel_file::read(path, &wheel, depth, sink)?,
            *digest,
            size_bytes,
            true,
        ),
        _ => {
            let contents = wheel_file::read(path, &wheel, depth, sink)?;
            let (size_bytes, digest) = hashed(path, sink)?;
            (contents, digest, size_bytes, false)
        }
    };
    let file = IndexFile {
        name,
        project: contents.project,
        version: wheel.version().clone(),
        folder: IndexFolder::of(label.as_ref()),
        kind: FileKind::Wheel(wheel),
        digest: Some(digest),
        size_bytes,
        requires_python: contents.requires_python,
        requires: contents.requires,
        metadata: Some(match depth {
            Depth::List => CoreMetadata {
                bytes: None,
                ..contents.metadata
            },
            Depth::Verify | Depth::Identify => contents.metadata,
        }),
        yanked: YankStatus::No,
        uploaded: None,
        origin: None,
        is_of_sdk,
        run_time: whole.and_then(|asset| asset.file.run_time.clone()),
    };
    let gfx_read = whole.and_then(|asset| asset.gfx_read.clone());
    Some((
        Asset {
            shown,
            digest,
            file,
            label,
            gfx_read,
        },
        is_known,
    ))
}

/// Parses the name of a wheel that installers accept; an error has the reason and advice.
fn wheel_name(name: &str) -> Result<WheelName, (String, String)> {
    let wheel = WheelName::from_percent_encoded(name).map_err(|error| {
        (
            error.to_string(),
            "name it like NAME-VERSION-PYTHON-ABI-PLATFORM.whl".to_owned(),
        )
    })?;
    // A percent-encoded name is decoded, but installers reject a file with such a name.
    if name.contains('%') {
        let kept = name.replace("%2B", "+").replace("%2b", "+");
        let reason = format!("`{name}` is percent-encoded, and no installer takes it");
        return Err((reason, format!("rename the file to `{kept}`")));
    }
    Ok(wheel)
}

/// Returns the contents of a wheel that a manifest records, with the text of METADATA if wanted;
/// `None` if that text does not have the recorded digest.
fn known_contents(
    path: &Path,
    wheel: &WheelName,
    told: &Told,
    texts: Texts,
) -> Option<(Contents, Digest)> {
    let (expected, file) = (told.metadata?, &told.asset.file);
    if texts == Texts::Unwanted {
        let contents = Contents {
            project: file.project.clone(),
            requires_python: file.requires_python.clone(),
            requires: Vec::new(),
            metadata: CoreMetadata {
                bytes: None,
                digest: expected,
            },
        };
        return Some((contents, told.asset.digest));
    }
    let mut sink = Sink::new();
    let sidecar = sys::read_bytes(&metadata_path(path), MAX_METADATA_BYTES).ok();
    let contents = sidecar
        .filter(|bytes| digest(bytes) == expected)
        .and_then(|bytes| wheel_file::contents(HeaderDocument::parse(bytes), wheel, &mut sink))
        .or_else(|| wheel_file::read(path, wheel, Depth::Identify, &mut sink))?;
    (contents.metadata.digest == expected).then_some((contents, told.asset.digest))
}

/// Returns the path of the METADATA file next to a wheel (PEP 658).
pub(super) fn metadata_path(wheel: &Path) -> PathBuf {
    let mut name = wheel.as_os_str().to_owned();
    name.push(".metadata");
    name.into()
}

/// Reads an sdist, `NAME-VERSION.tar.gz` (PEP 625), or an archive of an install tree,
/// `NAME-VERSION-…-tree.tar.gz`.
fn archive(
    path: &Path,
    name: String,
    shown: String,
    depth: Depth,
    known: &Known,
    compat: &Compat,
    sink: &mut Sink,
) -> Option<(Asset, bool)> {
    let is_tree = is_tree_archive(&name);
    let parts = if is_tree {
        name.split_once('-')
            .and_then(|(project, rest)| Some((project, rest.split_once('-')?.0)))
    } else {
        name.strip_suffix(".tar.gz")
            .and_then(|stem| stem.rsplit_once('-'))
    };
    let parsed = parts.and_then(|(project, version)| {
        Some((
            project.parse::<DistributionName>().ok()?,
            version.parse::<Version>().ok()?,
        ))
    });
    let Some((project, version)) = parsed else {
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
    let found = known.of(path, &name);
    let (size_bytes, digest) = match found {
        Some((size_bytes, Row::Whole(told))) => (size_bytes, told.asset.digest),
        Some((size_bytes, Row::Digest(digest))) => (size_bytes, *digest),
        None => hashed(path, sink)?,
    };
    let is_known = found.is_some();
    let kind = if is_tree {
        FileKind::Tree
    } else {
        FileKind::Sdist
    };
    // Manifests do not record whether archives were checked, and indexes do not list trees.
    let is_listed = kind == FileKind::Sdist || depth != Depth::List;
    if is_listed && !verify_archive(path, &shown, &kind, &project, &version, sink) {
        return None;
    }
    let named = IndexFile::named(name, project, version, kind);
    let is_of_sdk = is_of_sdk(&named.project.normalized(), compat);
    let file = IndexFile {
        digest: Some(digest),
        size_bytes,
        is_of_sdk,
        ..named
    };
    Some((
        Asset {
            shown,
            digest,
            file,
            label: None,
            gfx_read: None,
        },
        is_known,
    ))
}

/// Checks the members of an archive, and returns whether it has no errors.
fn verify_archive(
    path: &Path,
    display_path: &str,
    kind: &FileKind,
    project: &DistributionName,
    version: &Version,
    sink: &mut Sink,
) -> bool {
    let read = PositionalFile::open(path).and_then(|file| {
        let source = RangeReader::new(&file, 0, file.size_bytes());
        let read = match kind {
            FileKind::Tree => wheel::verify_tree_archive(source, display_path),
            FileKind::Sdist | FileKind::Wheel(_) => {
                wheel::verify_source_distribution(source, display_path, project, version)
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

/// Whether a project is a package of the ROCm SDK.
pub(super) fn is_of_sdk(project: &str, compat: &Compat) -> bool {
    // Most are not, which is known without the tables.
    project.starts_with(sdk::SELECTOR)
        && sdk::is_package(&project.replace('_', "-"), compat.sdk_tables())
}

fn hashed(path: &Path, sink: &mut Sink) -> Option<(u64, Digest)> {
    sys::hash_file(path)
        .map_err(|error| sink.push(error.into()))
        .ok()
}
