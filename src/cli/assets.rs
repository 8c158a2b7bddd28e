//! Files given on the command line as assets: found, verified, hashed and read, several at once.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::wheel_file;
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Place, Sink, registry::host, registry::release as codes};
use crate::index::{FileKind, Folder, IndexFile, Yanked};
use crate::names::{DistributionName, RocmVersion, Version, WheelName};
use crate::publish::Asset;
use crate::sys;

/// How closely a wheel is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Depth {
    /// Every member against RECORD, and METADATA against the name.
    Verify,
    /// Name and METADATA.
    Identify,
}

/// An asset and where it lies.
#[derive(Debug, Clone)]
pub(super) struct Gathered {
    pub(super) path: PathBuf,
    pub(super) asset: Asset,
}

/// The files that are meant: those named, and the wheels and source distributions of the folders named.
pub(super) fn files(paths: &[PathBuf], sink: &mut Sink) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in paths {
        if !sys::exists(path) {
            let message = format!("`{}` is not there", path.display());
            sink.push(Diagnostic::new(&host::CANNOT_READ_FILE, message).help("check the name"));
            continue;
        }
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        match sys::files_with_extension(path, &["whl", "gz"]) {
            Ok(found) => files.extend(found.into_iter().filter(|file| is_ours(file))),
            Err(error) => sink.push(error.into()),
        }
    }
    if files.is_empty() && !sink.has_errors() {
        let folders: Vec<String> = paths.iter().map(|path| format!("`{}`", path.display())).collect();
        sink.push(
            Diagnostic::new(&codes::NOTHING_TO_PUBLISH, format!("there are no wheels in {}", folders.join(", ")))
                .help("give wheels, or folders that hold some"),
        );
    }
    files
}

/// Reads the files as assets. What is wrong with one goes to the sink, and it is left out.
pub(super) fn gather(files: &[PathBuf], depth: Depth, compat: &Compat, sink: &mut Sink) -> Vec<Gathered> {
    let known = compat.rocm_versions();
    let read: Vec<_> = files
        .par_iter()
        .map(|path| {
            let mut sink = Sink::new();
            (asset(path, depth, &known, &mut sink), sink.finish())
        })
        .collect();
    let mut gathered = Vec::new();
    for ((asset, diagnostics), path) in read.into_iter().zip(files) {
        sink.extend(diagnostics);
        gathered.extend(asset.map(|asset| Gathered { path: path.clone(), asset }));
    }
    gathered
}

fn is_ours(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".whl") || name.ends_with(".tar.gz")
}

fn asset(path: &Path, depth: Depth, known: &[RocmVersion], sink: &mut Sink) -> Option<Asset> {
    let shown = path.display().to_string();
    let place = || Place::File(shown.as_str().into());
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if name.ends_with(".tar.gz") {
        return sdist(path, name, shown.clone(), sink);
    }
    // A percent-encoded name is read as the one it stands for, but installers refuse a file that is called so.
    if name.contains('%') && name.parse::<WheelName>().is_ok() {
        let kept = name.replace("%2B", "+").replace("%2b", "+");
        sink.push(
            Diagnostic::new(&codes::UNREADABLE_NAME, format!("`{name}` is percent-encoded, and no installer takes it"))
                .at(place(), "")
                .help(format!("give the file its name back: `{kept}`")),
        );
        return None;
    }
    let wheel = name.parse::<WheelName>().map_err(|error| {
        sink.push(
            Diagnostic::new(&codes::UNREADABLE_NAME, error.to_string())
                .at(place(), "")
                .help("a wheel is called NAME-VERSION-PYTHON-ABI-PLATFORM.whl"),
        );
    });
    let wheel = wheel.ok()?;
    let label = wheel_file::label(&wheel, known, place(), sink)?;
    let contents = wheel_file::read(path, &wheel, depth, sink)?;
    let project = contents.project;
    let (size_bytes, digest) = hashed(path, sink)?;
    let file = IndexFile {
        name,
        project,
        version: wheel.version.clone(),
        folder: Folder::of(label.as_ref()),
        kind: FileKind::Wheel(wheel),
        digest,
        size_bytes,
        requires_python: contents.requires_python,
        requires: contents.requires,
        metadata: Some(contents.metadata),
        yanked: Yanked::No,
        uploaded: None,
    };
    Some(Asset { shown, file, label })
}

/// A source distribution, known by its name alone: `NAME-VERSION.tar.gz` (PEP 625).
fn sdist(path: &Path, name: String, shown: String, sink: &mut Sink) -> Option<Asset> {
    let parts = name.strip_suffix(".tar.gz").and_then(|stem| stem.rsplit_once('-'));
    let parsed = parts.and_then(|(project, version)| {
        Some((project.parse::<DistributionName>().ok()?, version.parse::<Version>().ok()?))
    });
    let Some((project, version)) = parsed else {
        sink.push(
            Diagnostic::new(&codes::UNREADABLE_NAME, format!("`{name}` is not the name of a source distribution"))
                .at(Place::File(shown.as_str().into()), "")
                .help("it is called NAME-VERSION.tar.gz"),
        );
        return None;
    };
    let (size_bytes, digest) = hashed(path, sink)?;
    let file = IndexFile {
        name,
        project,
        version,
        folder: Folder::Any,
        kind: FileKind::Sdist,
        digest,
        size_bytes,
        requires_python: None,
        requires: Vec::new(),
        metadata: None,
        yanked: Yanked::No,
        uploaded: None,
    };
    Some(Asset { shown, file, label: None })
}

fn hashed(path: &Path, sink: &mut Sink) -> Option<(u64, crate::names::Digest)> {
    sys::digest_of(path).map_err(|error| sink.push(error.into())).ok()
}
