//! Finds the wheels and source distributions of a command line.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use rock_diagnostic::codes::host;
use rock_diagnostic::{Diagnostic, Location, Sink, list_first};
use rock_names::is_asset_name;
use rock_sys::{
    DirectoryEntry, DirectoryEntryKind, exists, files_with_extension, is_directory, read_entries,
};

use crate::codes::release as codes;

/// Maximum number of subdirectories that a message lists.
const MAX_LISTED_DIRECTORIES: usize = 5;

/// Expands paths to files: directories to the wheels and sdists in them, without subdirectories.
/// Reports missing paths, and if there are no files.
pub fn expand_paths(paths: &[PathBuf], sink: &mut Sink) -> Vec<PathBuf> {
    let files = find_files(paths, sink);
    if files.is_empty() && !sink.has_errors() {
        sink.push(no_files_in(paths));
    }
    files
}

/// Expands paths like [`expand_paths`], but there may be no files.
pub fn find_files(paths: &[PathBuf], sink: &mut Sink) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in paths {
        if !exists(path) {
            let message = format!("cannot read `{}`: it does not exist", path.display());
            sink.push(Diagnostic::new(&host::CANNOT_READ_FILE, message).help("check the name"));
            continue;
        }
        if !is_directory(path) {
            files.push(path.clone());
            continue;
        }
        match read_entries(path) {
            Ok(entries) => {
                files.extend(asset_files(&entries, sink));
                sink.extend(skipped_subdirectories(path, &entries, paths));
            }
            Err(error) => sink.push(error.into()),
        }
    }
    files
}

/// Returns the diagnostic for paths without wheels.
pub fn no_files_in(paths: &[PathBuf]) -> Diagnostic {
    let directories: Vec<String> = paths.iter().map(|path| quoted(path)).collect();
    Diagnostic::new(
        &codes::NOTHING_TO_PUBLISH,
        format!("there are no wheels in {}", directories.join(", ")),
    )
    .help("pass wheels, or directories that contain wheels")
}

/// Returns the wheels and sdists among the entries of a directory, and reports entries with such a
/// name that are not regular files.
fn asset_files(entries: &[DirectoryEntry], sink: &mut Sink) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for DirectoryEntry { path, kind } in entries.iter().filter(|entry| has_asset_name(&entry.path))
    {
        match kind {
            DirectoryEntryKind::File => files.push(path.clone()),
            DirectoryEntryKind::Directory => {}
            DirectoryEntryKind::Other(kind) => sink.push(
                Diagnostic::new(
                    &host::CANNOT_READ_FILE,
                    format!("`{}` is {kind}, not a file", path.display()),
                )
                .at(Location::File(path.display().to_string().into()), "")
                .help("provide the file, or delete this entry"),
            ),
        }
    }
    files
}

/// Returns a warning if subdirectories that were not passed themselves contain wheels.
fn skipped_subdirectories(
    directory: &Path,
    entries: &[DirectoryEntry],
    passed: &[PathBuf],
) -> Option<Diagnostic> {
    let skipped: Vec<String> = entries
        .iter()
        .filter(|entry| entry.kind == DirectoryEntryKind::Directory)
        .map(|entry| &entry.path)
        // Hidden directories belong to tools.
        .filter(|path| !is_hidden(path) && !passed.contains(path) && has_asset_files(path))
        .map(|path| quoted(path))
        .collect();
    if skipped.is_empty() {
        return None;
    }
    let listed = list_first(&skipped, MAX_LISTED_DIRECTORIES, " and ");
    let subject = if skipped.len() == 1 {
        "a subdirectory contains wheels"
    } else {
        "subdirectories contain wheels"
    };
    Some(
        Diagnostic::new(
            &codes::WHEELS_IN_SUBFOLDERS,
            format!("{subject}, which are skipped: {listed}"),
        )
        .at(Location::File(directory.display().to_string().into()), "")
        .help("move the files into one directory; in a workflow, download the artifacts with `merge-multiple: true`"),
    )
}

fn has_asset_files(directory: &Path) -> bool {
    files_with_extension(directory, &["whl", "gz"])
        .unwrap_or_default()
        .iter()
        .any(|file| has_asset_name(file))
}

fn has_asset_name(path: &Path) -> bool {
    is_asset_name(&file_name(path))
}

fn is_hidden(path: &Path) -> bool {
    file_name(path).starts_with('.')
}

fn file_name(path: &Path) -> Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

fn quoted(path: &Path) -> String {
    format!("`{}`", path.display())
}
