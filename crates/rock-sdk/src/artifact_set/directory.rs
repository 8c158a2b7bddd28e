//! Artifacts that are directories.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::roots::{RootSorter, parse_artifact_manifest};
use super::{ARTIFACT_MANIFEST, bad_artifact, damaged_elf, out_of_budget};
use crate::limits::{ListingBudget, MAX_MANIFEST_BYTES};
use crate::{ArtifactEntry, BuildArtifact, EntryKind, FileFacts, FileShape};
use rock_bytes::start_threads;
use rock_diagnostic::Diagnostic;
use rock_names::ArtifactName;
use rock_sys::{FileError, PositionalFile, WalkEntry, WalkEntryKind};

/// Lists the files of an artifact that is a directory.
///
/// # Errors
/// When it cannot be read or exceeds a limit.
pub(super) fn list_directory(
    name: &ArtifactName,
    directory: &Path,
    budget: &ListingBudget,
) -> Result<(BuildArtifact, Vec<Diagnostic>), Vec<Diagnostic>> {
    let one = |fault: FileError| vec![Diagnostic::from(fault)];
    let manifest = directory.join(ARTIFACT_MANIFEST);
    let text = rock_sys::read_text(&manifest, MAX_MANIFEST_BYTES).map_err(one)?;
    let (roots, mut findings) =
        parse_artifact_manifest(&text, &manifest).map_err(|fault| vec![fault])?;
    let links: BTreeSet<PathBuf> = roots
        .iter()
        .filter_map(|root| rock_sys::find_link_on_path(directory, root))
        .collect();
    for link in &links {
        findings.push(bad_artifact(
            link,
            "the manifest lists a directory behind this link, but links are not followed"
                .to_owned(),
        ));
    }
    let mut sorter = RootSorter::new(directory, roots);
    let mut entries = Vec::new();
    for WalkEntry { path, kind } in rock_sys::walk(directory).map_err(one)? {
        let at = directory.join(&path);
        if path == ARTIFACT_MANIFEST || links.contains(&at) || is_metadata(&path, &sorter.roots) {
            continue;
        }
        let Some(places) = sorter.place(&path, kind == WalkEntryKind::Directory) else {
            continue;
        };
        let kind = match kind {
            WalkEntryKind::Directory => EntryKind::Directory,
            WalkEntryKind::Symlink(text) => EntryKind::Link(text),
            WalkEntryKind::File { size_bytes, mode } => EntryKind::File(FileFacts {
                size_bytes,
                mode,
                shape: FileShape::Data,
            }),
            WalkEntryKind::Other(what) => {
                findings.push(bad_artifact(
                    &at,
                    format!("it is {what}, which no package can contain"),
                ));
                continue;
            }
        };
        if !places.iter().all(|(_, path)| budget.take(path.len())) {
            return Err(vec![out_of_budget(directory)]);
        }
        entries.extend(places.into_iter().map(|(root, path)| ArtifactEntry {
            root,
            path,
            kind: kind.clone(),
        }));
    }
    entries.sort_by(|one, other| (one.root, &one.path).cmp(&(other.root, &other.path)));
    let RootSorter {
        roots,
        findings: told,
        ..
    } = sorter;
    findings.extend(told);
    start_threads();
    let read: Vec<Result<(), Diagnostic>> = entries
        .par_iter_mut()
        .map(|entry| {
            let EntryKind::File(facts) = &mut entry.kind else {
                return Ok(());
            };
            let path = directory.join(&roots[entry.root]).join(&entry.path);
            let file = PositionalFile::open(&path).map_err(Diagnostic::from)?;
            facts.shape = FileShape::read(&file).map_err(|error| damaged_elf(&path, &error))?;
            Ok(())
        })
        .collect();
    findings.extend(read.into_iter().filter_map(Result::err));
    Ok((
        BuildArtifact {
            name: name.clone(),
            roots,
            entries,
        },
        findings,
    ))
}

/// Whether a path is metadata that tools write next to the roots of an artifact, such as the digest
/// of the archive it was unpacked from.
fn is_metadata(path: &str, roots: &[String]) -> bool {
    let first = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
    path.starts_with('.') && !roots.iter().any(|root| first(root) == first(path))
}
