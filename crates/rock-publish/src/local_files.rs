//! Finds the wheels and source distributions of a command line.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use rock_diagnostic::codes::host;
use rock_diagnostic::{Diagnostic, Location, Severity, Sink, counted, list_first};
use rock_names::{has_wheel_extension, is_asset_name};
use rock_sys::{
    DirectoryEntry, DirectoryEntryKind, exists, files_with_extension, is_directory, is_file,
    read_entries, real_path,
};

use crate::codes::release as codes;
use crate::{lists_files, metadata_path};

/// Maximum number of subdirectories that a message lists.
const MAX_LISTED_DIRECTORIES: usize = 5;

/// Expands paths to files: directories to the wheels and sdists in them, without subdirectories.
/// METADATA files next to their wheels are skipped with a note. Reports missing paths, and if there
/// are no files.
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
    let mut metadata_count = 0_usize;
    for path in paths {
        if !exists(path) {
            let message = format!("cannot read `{}`: it does not exist", path.display());
            sink.push(Diagnostic::new(&host::CANNOT_READ_FILE, message).help("check the name"));
            continue;
        }
        if !is_directory(path) {
            if is_metadata_file(path) {
                metadata_count += 1;
            } else {
                files.push(path.clone());
            }
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
    if metadata_count > 0 {
        let skipped = counted(metadata_count, "`.metadata` file");
        let wheels = if metadata_count == 1 {
            "wheel next to it"
        } else {
            "wheels next to them"
        };
        let message = format!("skipped {skipped}: the METADATA is in the {wheels}");
        sink.push(Diagnostic::new(&codes::UNREADABLE_NAME, message).severity(Severity::Note));
    }
    files
}

/// Returns the diagnostic for paths without wheels.
pub fn no_files_in(paths: &[PathBuf]) -> Diagnostic {
    let directories: Vec<String> = paths.iter().map(|path| quoted(path)).collect();
    let help = paths.iter().find_map(|path| pages_help(path));
    Diagnostic::new(
        &codes::NOTHING_TO_PUBLISH,
        format!("there are no wheels in {}", directories.join(", ")),
    )
    .help(help.unwrap_or_else(|| "pass wheels, or directories that contain wheels".to_owned()))
}

/// Returns help for the pages of an index, which were passed instead of the directory of the
/// wheels; `None` for a directory that is not an index with files.
pub fn pages_help(directory: &Path) -> Option<String> {
    if !lists_files(directory) {
        return None;
    }
    let parent = match directory.parent() {
        // `.` and `..` have no name to remove.
        _ if directory.file_name().is_none() => real_path(directory).parent()?.to_owned(),
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    };
    let pages = quoted(directory);
    Some(if has_asset_files(&parent) {
        let wheels = quoted(&parent);
        format!("{pages} has only the pages of an index: pass {wheels}, which has the wheels")
    } else {
        format!("{pages} has only the pages of an index: pass the directory with its wheels")
    })
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

/// Whether the file is the METADATA next to a wheel (PEP 658).
fn is_metadata_file(path: &Path) -> bool {
    let wheel = path.with_extension("");
    metadata_path(&wheel) == path && has_wheel_extension(&file_name(&wheel)) && is_file(&wheel)
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
