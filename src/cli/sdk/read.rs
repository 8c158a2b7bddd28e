//! The folder of artifacts, listed.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::diagnostic::registry::sdk as codes;
use crate::diagnostic::{Diagnostic, Place, Severity};
use crate::names::{ArtifactName, ArtifactNameError, without_dots};
use crate::sdk::{Artifact, Entry, EntryKind, FileFacts, Shape};
use crate::sys::{self, EntryKind as OnDisk, FileError, PositionalFile, Walked, WalkedKind};

/// The list of an artifact's folders.
const MANIFEST: &str = "artifact_manifest.txt";
/// Manifests have a few kB.
const LARGEST_MANIFEST_BYTES: u64 = 1 << 20;

/// Artifacts with where they lie.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// They, sorted by name.
    pub(super) artifacts: Vec<Artifact>,
    /// The folder of each.
    pub(super) folders: Vec<PathBuf>,
    /// What a person should know.
    pub(super) findings: Vec<Diagnostic>,
}

impl Read {
    /// Where a file of an artifact lies.
    pub(super) fn path(&self, origin: crate::sdk::Origin) -> PathBuf {
        let artifact = &self.artifacts[origin.artifact];
        let entry = &artifact.entries[origin.entry];
        self.folders[origin.artifact].join(&artifact.roots[entry.root]).join(&entry.path)
    }
}

/// Lists every artifact of a folder; what is no artifact is passed over.
///
/// # Errors
/// When a folder cannot be read.
pub(super) fn read(folder: &Path) -> Result<Read, FileError> {
    let mut named: Vec<(ArtifactName, PathBuf)> = Vec::new();
    let mut findings = Vec::new();
    for entry in sys::entries(folder)? {
        if entry.kind != OnDisk::Folder {
            continue;
        }
        let name = entry.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match name.parse::<ArtifactName>() {
            Ok(name) if sys::is_file(&entry.path.join(MANIFEST)) => named.push((name, entry.path)),
            Err(error @ ArtifactNameError::Word { .. }) if sys::is_file(&entry.path.join(MANIFEST)) => {
                findings.push(bad(&entry.path, error.to_string()).severity(Severity::Warning));
            }
            Ok(_) | Err(_) => {}
        }
    }
    named.sort();
    let listed: Vec<Result<(Artifact, Vec<Diagnostic>), FileError>> =
        named.par_iter().map(|(name, folder)| artifact(name, folder)).collect();
    let mut read = Read { findings, ..Read::default() };
    for (listed, (_, folder)) in listed.into_iter().zip(named) {
        let (artifact, found) = listed?;
        read.artifacts.push(artifact);
        read.folders.push(folder);
        read.findings.extend(found);
    }
    Ok(read)
}

fn artifact(name: &ArtifactName, folder: &Path) -> Result<(Artifact, Vec<Diagnostic>), FileError> {
    let manifest = folder.join(MANIFEST);
    let text = sys::read_text(&manifest, LARGEST_MANIFEST_BYTES)?;
    let mut findings = Vec::new();
    let mut roots: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match without_dots(line) {
            Some(root) if !line.starts_with('/') && !root.is_empty() => roots.push(root),
            _ => findings.push(bad(&manifest, format!("`{line}` is no path in the artifact"))),
        }
    }
    roots.sort();
    roots.dedup();
    let mut entries = Vec::new();
    for (root, path) in roots.iter().enumerate() {
        for Walked { path: below, kind } in sys::walked(&folder.join(path))? {
            let at = || folder.join(path).join(&below);
            let kind = match kind {
                WalkedKind::Folder => EntryKind::Folder,
                WalkedKind::Link(text) => EntryKind::Link(text),
                WalkedKind::File { size_bytes, mode } => {
                    EntryKind::File(FileFacts { size_bytes, mode, shape: Shape::Data })
                }
                WalkedKind::Other(what) => {
                    findings.push(bad(&at(), format!("it is {what}, which no package can hold")));
                    continue;
                }
            };
            entries.push(Entry { root, path: below, kind });
        }
    }
    let read: Vec<Result<(), Diagnostic>> = entries
        .par_iter_mut()
        .map(|entry| {
            let EntryKind::File(facts) = &mut entry.kind else { return Ok(()) };
            let path = folder.join(&roots[entry.root]).join(&entry.path);
            let file = PositionalFile::open(&path).map_err(Diagnostic::from)?;
            facts.shape = Shape::read(&file).map_err(|error| {
                bad(&path, format!("it begins as an ELF file, but {error}")).severity(Severity::Warning)
            })?;
            Ok(())
        })
        .collect();
    findings.extend(read.into_iter().filter_map(Result::err));
    Ok((Artifact { name: name.clone(), roots, entries }, findings))
}

fn bad(path: &Path, message: String) -> Diagnostic {
    Diagnostic::new(&codes::BAD_ARTIFACT, message)
        .at(Place::File(path.display().to_string().into()), "")
        .help("fetch the artifact anew, or take it out of the folder")
}
