//! An artifact that is a folder.

use std::path::Path;

use rayon::prelude::*;

use super::{LARGEST_MANIFEST_BYTES, MANIFEST, bad, damaged, roots};
use crate::diagnostic::Diagnostic;
use crate::names::ArtifactName;
use crate::sdk::{Artifact, Entry, EntryKind, FileFacts, Shape};
use crate::sys::{self, FileError, PositionalFile, Walked, WalkedKind};

/// Lists a folder.
///
/// # Errors
/// When it cannot be read.
pub(super) fn artifact(name: &ArtifactName, folder: &Path) -> Result<(Artifact, Vec<Diagnostic>), FileError> {
    let manifest = folder.join(MANIFEST);
    let text = sys::read_text(&manifest, LARGEST_MANIFEST_BYTES)?;
    let (roots, mut findings) = roots(&text, &manifest);
    let mut entries = Vec::new();
    for (root, path) in roots.iter().enumerate() {
        if let Some(link) = sys::link_among(folder, path) {
            findings
                .push(bad(&link, "the manifest lists a folder behind this link, and no link is followed".to_owned()));
            continue;
        }
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
            facts.shape = Shape::read(&file).map_err(|error| damaged(&path, &error))?;
            Ok(())
        })
        .collect();
    findings.extend(read.into_iter().filter_map(Result::err));
    Ok((Artifact { name: name.clone(), roots, entries }, findings))
}
