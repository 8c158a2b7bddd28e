//! Reads small files whole, and writes files atomically.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::pending_file::PendingFile;
use rock_diagnostic::codes::host as codes;
use rock_diagnostic::{Diagnostic, Diagnostics};

/// The error of a file operation.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} `{}`: {reason}", path.display())]
pub struct FileError {
    /// The attempted action, `read`, `write` or `create`, for the message.
    pub action: &'static str,
    /// The file.
    pub path: PathBuf,
    /// The message of the operating system, or of a check.
    pub reason: String,
    /// The error of the operating system; `None` if a check failed.
    #[source]
    pub source: Option<std::io::Error>,
}

impl FileError {
    /// Wraps an error of the operating system.
    pub fn new(action: &'static str, path: &Path, error: std::io::Error) -> Self {
        let reason = if action == "read" && error.kind() == ErrorKind::NotFound {
            "it does not exist".to_owned()
        } else {
            error.to_string()
        };
        Self {
            action,
            path: path.to_owned(),
            reason,
            source: Some(error),
        }
    }

    /// Returns a function for `map_err` that wraps an error of the operating system.
    pub fn context<E: Into<std::io::Error>>(
        action: &'static str,
        path: &Path,
    ) -> impl Fn(E) -> Self + Copy {
        move |error| Self::new(action, path, error.into())
    }
}

impl From<FileError> for Diagnostics {
    fn from(error: FileError) -> Self {
        Diagnostic::from(error).into()
    }
}

impl From<FileError> for Diagnostic {
    fn from(error: FileError) -> Self {
        if let Some(diagnostic) = error.link_diagnostic() {
            return diagnostic;
        }
        let code = if error.action == "read" {
            &codes::CANNOT_READ_FILE
        } else {
            &codes::CANNOT_WRITE_FILE
        };
        let diagnostic = Self::new(code, error.to_string());
        let kind = error.source.as_ref().map(std::io::Error::kind);
        match kind {
            Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => {
                diagnostic.help("free some space, or use a path on another disk")
            }
            Some(ErrorKind::FileTooLarge) => {
                diagnostic.help("lift the limit of this shell with `ulimit -f unlimited`")
            }
            Some(ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
                if error.action != "read" =>
            {
                diagnostic.help("use a path that this user may write to")
            }
            Some(ErrorKind::NotFound) if error.action == "read" => {
                diagnostic.help("check the name")
            }
            Some(ErrorKind::NotFound) => {
                diagnostic.help("create its directory, or use another path")
            }
            Some(ErrorKind::AlreadyExists) => diagnostic.help("move it away, or use another path"),
            _ => diagnostic,
        }
    }
}

/// Maximum size in bytes of a system file that is read, such as a package list or the configuration
/// of the dynamic linker.
pub const LARGEST_SYSTEM_FILE_BYTES: u64 = 64 << 20;

/// Reads a UTF-8 file of an operating system, running or unpacked; `None` if it cannot be read.
pub fn read_system_text(path: &Path) -> Option<String> {
    read_text(path, LARGEST_SYSTEM_FILE_BYTES).ok()
}

/// Reads a file of at most `limit_bytes`.
///
/// # Errors
///
/// Returns an error if the file cannot be read or is larger.
pub fn read_bytes(path: &Path, limit_bytes: u64) -> Result<Vec<u8>, FileError> {
    let file = std::fs::File::open(path).map_err(FileError::context("read", path))?;
    read_open_bytes(file, path, limit_bytes)
}

/// The name of standard input in messages.
pub const STDIN: &str = "standard input";

/// Reads standard input, of at most `limit_bytes`, to its end.
///
/// # Errors
///
/// Returns an error if it cannot be read or is longer.
pub fn read_stdin(limit_bytes: u64) -> Result<Vec<u8>, FileError> {
    let path = Path::new(STDIN);
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(limit_bytes + 1)
        .read_to_end(&mut bytes)
        .map_err(FileError::context("read", path))?;
    if bytes.len() as u64 > limit_bytes {
        Err(too_large(path, limit_bytes))
    } else {
        Ok(bytes)
    }
}

fn read_open_bytes(
    file: std::fs::File,
    path: &Path,
    limit_bytes: u64,
) -> Result<Vec<u8>, FileError> {
    // Most files report their size: reject large ones unread, and allocate the buffer once.
    let size = file.metadata().map_or(0, |found| found.len());
    if size > limit_bytes {
        return Err(too_large(path, limit_bytes));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    file.take(limit_bytes + 1)
        .read_to_end(&mut bytes)
        .map_err(FileError::context("read", path))?;
    if bytes.len() as u64 > limit_bytes {
        Err(too_large(path, limit_bytes))
    } else {
        Ok(bytes)
    }
}

fn too_large(path: &Path, limit_bytes: u64) -> FileError {
    FileError {
        action: "read",
        path: path.to_owned(),
        reason: format!("it is larger than {limit_bytes} bytes"),
        source: None,
    }
}

/// Reads a UTF-8 file of at most `limit_bytes`.
///
/// # Errors
///
/// Returns an error if the file cannot be read, is larger, or is not valid UTF-8.
pub fn read_text(path: &Path, limit_bytes: u64) -> Result<String, FileError> {
    let file = std::fs::File::open(path).map_err(FileError::context("read", path))?;
    read_open_text(file, path, limit_bytes)
}

/// Reads an open UTF-8 file of at most `limit_bytes`. `path` is used in errors only.
pub(super) fn read_open_text(
    file: std::fs::File,
    path: &Path,
    limit_bytes: u64,
) -> Result<String, FileError> {
    String::from_utf8(read_open_bytes(file, path, limit_bytes)?).map_err(|e| FileError {
        action: "read",
        path: path.to_owned(),
        reason: format!(
            "it is not UTF-8: byte {} is not valid",
            e.utf8_error().valid_up_to()
        ),
        source: None,
    })
}

/// Writes a file atomically, like [`write_streamed`].
///
/// # Errors
///
/// Returns an error if a directory or the file cannot be written; nothing is left behind then.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_streamed(path, |out| out.write_all(bytes))
}

/// Writes a file by rename but without syncing, for one of many files that are not synced either.
/// After a power loss the file may have its old content.
///
/// # Errors
///
/// Returns an error if a directory or the file cannot be written.
pub fn write_unsynced(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let directory = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory).map_err(FileError::context("write", path))?;
    let open = |path: &Path| {
        std::fs::File::options()
            .write(true)
            .create_new(true)
            .open(path)
    };
    let mut file = tempfile::Builder::new()
        .make_in(directory, open)
        .map_err(FileError::context("write", path))?;
    file.write_all(bytes)
        .map_err(FileError::context("write", path))?;
    file.persist(path)
        .map(drop)
        .map_err(|error| FileError::new("write", path, error.error))
}

/// Writes a file like [`write_atomic`] unless it has this content already. Returns whether it was
/// written.
///
/// # Errors
///
/// Returns an error as [`write_atomic`] does.
pub fn write_if_changed(path: &Path, bytes: &[u8]) -> Result<bool, FileError> {
    // Reading a pipe would block until something is written to it.
    let is_as_long = std::fs::metadata(path)
        .is_ok_and(|found| found.is_file() && found.len() == bytes.len() as u64);
    if is_as_long && std::fs::read(path).is_ok_and(|present| present == bytes) {
        return Ok(false);
    }
    write_atomic(path, bytes).map(|()| true)
}

/// Makes a regular file executable for everybody who may read it.
///
/// # Errors
///
/// Returns an error if the permissions cannot be changed.
pub fn make_executable(path: &Path) -> Result<(), FileError> {
    let metadata = std::fs::metadata(path).map_err(FileError::context("write", path))?;
    let mode = metadata.permissions().mode();
    let executable = mode | ((mode & 0o444) >> 2);
    if !metadata.is_file() || mode == executable {
        return Ok(());
    }
    std::fs::set_permissions(path, PermissionsExt::from_mode(executable))
        .map_err(FileError::context("write", path))
}

/// Returns whether a regular file is at the path, and not a link to one.
pub fn is_regular_file(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|present| present.is_file())
}

/// Writes a file atomically and replaces whatever is at the path. A symbolic link is replaced, not
/// followed: others may write to the directory. Creates missing parents.
///
/// # Errors
///
/// Returns an error if a directory or the file cannot be written; nothing is left behind then.
pub fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    replace_streamed(path, |out| out.write_all(bytes))
}

/// Writes a file like [`replace_file`] unless a regular file with this content is there. Returns
/// whether it was written.
///
/// # Errors
///
/// Returns an error as [`replace_file`] does.
pub fn replace_if_changed(path: &Path, bytes: &[u8]) -> Result<bool, FileError> {
    if is_regular_file(path) && std::fs::read(path).is_ok_and(|present| present == bytes) {
        return Ok(false);
    }
    replace_file(path, bytes).map(|()| true)
}

/// Writes to stdout without the buffer of [`std::io::Stdout`], which searches all output for the end
/// of a line.
///
/// # Errors
///
/// Returns an error if stdout cannot be written, or `write` fails.
pub fn write_to_stdout(
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> std::io::Result<()> {
    let stdout = std::io::stdout().as_fd().try_clone_to_owned()?;
    let mut stdout = std::io::BufWriter::new(File::from(stdout));
    write(&mut stdout)?;
    stdout.flush()
}

/// Writes a file atomically from a stream: a pending file in the same directory is synced, then
/// renamed. Creates missing parents.
///
/// Symbolic links are followed. Devices and pipes are written to directly, not replaced.
///
/// # Errors
///
/// Returns an error if a directory or the file cannot be written, or `write` fails; nothing is left
/// behind then.
pub fn write_streamed(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), FileError> {
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let path = target.as_path();
    if std::fs::metadata(path).is_ok_and(|present| !present.is_file() && !present.is_dir()) {
        let file = std::fs::OpenOptions::new()
            .write(true)
            .open(path)
            .map_err(FileError::context("write", path))?;
        let mut writer = std::io::BufWriter::with_capacity(1 << 18, file);
        return write(&mut writer)
            .and_then(|()| writer.flush())
            .map_err(FileError::context("write", path));
    }
    replace_streamed(path, write)
}

/// Writes a pending file next to the path and renames it to the path.
fn replace_streamed(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), FileError> {
    write_pending(path, write)?
        .persist(path, None)
        .map_err(FileError::context("write", path))
}

/// Copies files, given as pairs of source and target. All copies are written and synced before the
/// first is renamed. Creates missing parents.
///
/// # Errors
///
/// Returns an error if a file cannot be read or written; no target is changed then. If a rename
/// fails, earlier renames remain.
pub fn copy_all(files: &[(&Path, &Path)]) -> Result<(), FileError> {
    let copies = files
        .iter()
        .map(|(from, to)| write_copy(from, to))
        .collect::<Result<Vec<_>, FileError>>()?;
    copies.into_iter().try_for_each(|(copy, target)| {
        copy.persist(&target, None)
            .map_err(FileError::context("write", &target))
    })
}

/// Writes and syncs a pending copy of a file. Returns it with the path to rename it to.
fn write_copy(from: &Path, to: &Path) -> Result<(PendingFile, PathBuf), FileError> {
    let mut source = std::fs::File::open(from).map_err(FileError::context("read", from))?;
    let target = std::fs::canonicalize(to).unwrap_or_else(|_| to.to_owned());
    let copy = write_pending(&target, |out| std::io::copy(&mut source, out).map(drop))?;
    copy.sync(None)
        .map_err(FileError::context("write", &target))?;
    Ok((copy, target))
}

/// Writes a pending file in the directory of `path` from a stream.
fn write_pending(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<PendingFile, FileError> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(directory).map_err(FileError::context("write", path))?;
    let pending = PendingFile::new_in(directory).map_err(FileError::context("write", path))?;
    let mut writer = std::io::BufWriter::with_capacity(1 << 18, pending.file());
    write(&mut writer)
        .and_then(|()| writer.flush())
        .map_err(FileError::context("write", path))?;
    drop(writer);
    Ok(pending)
}

/// Appends to a file, which is created if missing. Other processes may append to it as well.
///
/// # Errors
///
/// Returns an error if the file cannot be opened or written.
pub fn append(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let mut file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map_err(FileError::context("append to", path))?;
    file.write_all(bytes)
        .map_err(FileError::context("append to", path))
}

/// Returns the size of a file in bytes; 0 if it does not exist.
pub fn size_bytes(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |found| found.len())
}

/// Returns whether a regular file, or a link to one, is at the path.
pub fn is_file(path: &Path) -> bool {
    path.is_file()
}

/// Returns whether a regular file, or a link to one, is at the path. Unlike [`is_file`], fails if
/// that cannot be determined.
///
/// # Errors
///
/// Returns an error if the path cannot be examined, for example for lack of permission.
pub fn try_is_file(path: &Path) -> Result<bool, FileError> {
    match std::fs::metadata(path) {
        Ok(metadata) => Ok(metadata.is_file()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(FileError::new("read", path, error)),
    }
}

/// Returns the kind of a special file in words, `a pipe`; `None` for regular files, directories and
/// missing files.
pub fn special_file_kind(path: &Path) -> Option<&'static str> {
    special_kind(std::fs::metadata(path).ok()?.file_type())
}

/// Returns the kind of a special file in words; `None` for regular files and directories.
pub fn special_kind(kind: std::fs::FileType) -> Option<&'static str> {
    use std::os::unix::fs::FileTypeExt;
    match () {
        () if kind.is_file() || kind.is_dir() => None,
        () if kind.is_fifo() => Some("a pipe"),
        () if kind.is_socket() => Some("a socket"),
        () => Some("a device"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(error: FileError) -> &'static str {
        Diagnostic::from(error).code.name
    }

    #[test]
    fn files_become_executable_for_those_who_may_read_them() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        write_atomic(&path, b"#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o640)).unwrap();
        make_executable(&path).unwrap();
        let mode = path.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o750);
        make_executable(directory.path()).unwrap();
        assert!(make_executable(&directory.path().join("missing")).is_err());
    }

    #[test]
    fn reading_and_writing_fail_with_codes_of_their_own() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        let error = read_text(&file, 10).unwrap_err();
        let message = format!("cannot read `{}`: it does not exist", file.display());
        assert_eq!(error.to_string(), message);
        assert_eq!(code(error), "cannot-read-file");
        write_atomic(&file, b"\xff").unwrap();
        let error = read_text(&file, 10).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("it is not UTF-8: byte 0 is not valid"),
            "{error}"
        );
        assert_eq!(
            code(write_atomic(&file.join("inner"), b"x").unwrap_err()),
            "cannot-write-file"
        );
    }

    #[test]
    fn errors_do_not_contain_temporary_names() {
        // These file systems reject new files, even from root.
        for place in ["/proc/rock-matrix", "/sys/rock-matrix"] {
            let message = write_atomic(Path::new(place), b"x")
                .unwrap_err()
                .to_string();
            assert!(
                !message.contains(".tmp") && !message.contains("at path"),
                "{message}"
            );
        }
        let full = FileError::new("write", Path::new("x"), ErrorKind::StorageFull.into());
        assert_eq!(
            Diagnostic::from(full).help.as_deref(),
            Some("free some space, or use a path on another disk")
        );
        let kept = FileError::new(
            "write",
            Path::new("x"),
            ErrorKind::ReadOnlyFilesystem.into(),
        );
        assert_eq!(
            Diagnostic::from(kept).help.as_deref(),
            Some("use a path that this user may write to")
        );
    }

    #[test]
    fn a_file_over_the_limit_is_rejected() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        write_atomic(&file, b"12345").unwrap();
        assert_eq!(read_bytes(&file, 5).unwrap(), b"12345");
        assert!(
            read_bytes(&file, 4)
                .unwrap_err()
                .reason
                .contains("larger than 4 bytes")
        );
    }

    #[test]
    fn write_unsynced_leaves_no_temporary_file() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a/file");
        for text in ["one", "two"] {
            write_unsynced(&file, text.as_bytes()).unwrap();
            assert_eq!(read_text(&file, 10).unwrap(), text);
        }
        assert_eq!(
            std::fs::read_dir(directory.path().join("a"))
                .unwrap()
                .count(),
            1
        );
    }

    #[test]
    fn an_unchanged_file_is_not_written() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("a/b/file");
        assert!(write_if_changed(&file, b"x").unwrap());
        assert!(!write_if_changed(&file, b"x").unwrap());
        assert!(write_if_changed(&file, b"y").unwrap());
    }

    #[test]
    fn replace_does_not_follow_links() {
        let directory = tempfile::tempdir().unwrap();
        let (outside, link) = (
            directory.path().join("outside"),
            directory.path().join("link"),
        );
        std::fs::write(&outside, "kept").unwrap();
        for text in ["kept", "new"] {
            let _ = std::fs::remove_file(&link);
            std::os::unix::fs::symlink(&outside, &link).unwrap();
            assert!(replace_if_changed(&link, text.as_bytes()).unwrap());
            assert!(!link.is_symlink() && !replace_if_changed(&link, text.as_bytes()).unwrap());
            assert_eq!(
                (
                    read_text(&outside, 9).unwrap(),
                    read_text(&link, 9).unwrap()
                ),
                ("kept".into(), text.into())
            );
        }
    }

    #[test]
    fn a_pipe_is_written_to_directly() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        assert!(
            std::process::Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || std::fs::read(pipe).unwrap()
        });
        assert!(write_if_changed(&pipe, b"x").unwrap());
        assert_eq!(reader.join().unwrap(), b"x");
        assert_eq!(special_file_kind(&pipe), Some("a pipe"));
    }
}
