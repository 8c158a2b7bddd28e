//! Reads patch sets from disk.

use std::path::Path;

use rayon::prelude::*;

use crate::{PatchFile, PatchSet};
use rock_bytes::start_threads;
use rock_sys::{self as sys, FileError};

/// Reads the patch set of this name from its directory.
///
/// # Errors
/// When the directory or a patch cannot be read.
pub fn read_set(name: &str, directory: &Path) -> Result<PatchSet, FileError> {
    let paths = sys::list_files(directory)?
        .unwrap_or_default()
        .into_iter()
        .map(|(path, _)| path);
    let paths: Vec<String> = paths.filter(|path| PatchSet::is_patch(path)).collect();
    start_threads();
    let patches: Result<Vec<PatchFile>, FileError> = paths
        .into_par_iter()
        .map(|path| {
            sys::hash_file(&directory.join(&path)).map(|(_, digest)| PatchFile { path, digest })
        })
        .collect();
    Ok(PatchSet::new(
        name,
        &directory.display().to_string(),
        patches?,
    ))
}
