//! Reading whole small files, and writing that never leaves half a file.

use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use super::pending_file::PendingFile;
use rock_diagnostic::Diagnostic;
use rock_diagnostic::codes::host as codes;

/// A file that could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} `{}`: {reason}", path.display())]
pub struct FileError {
    /// `read`, `write`, `create`, …
    pub action: &'static str,
    /// The file.
    pub path: PathBuf,
    /// What the system said, or why it was refused.
    pub reason: String,
    /// The system's error.
    #[source]
    pub source: Option<std::io::Error>,
}

impl FileError {
    /// Wraps a system error.
    pub fn new(action: &'static str, path: &Path, error: std::io::Error) -> Self {
        Self {
            action,
            path: path.to_owned(),
            reason: error.to_string(),
            source: Some(error),
        }
    }
}

impl From<FileError> for Diagnostic {
    fn from(error: FileError) -> Self {
        if let Some(told) = error.about_a_link() {
            return told;
        }
        let code = if error.action == "read" {
            &codes::CANNOT_READ_FILE
        } else {
            &codes::CANNOT_WRITE_FILE
        };
        let told = Self::new(code, error.to_string());
        let kind = error.source.as_ref().map(std::io::Error::kind);
        match kind {
            Some(ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => {
                told.help("make room, or name a place on another disk")
            }
            Some(ErrorKind::FileTooLarge) => {
                told.help("lift the limit of this shell with `ulimit -f unlimited`")
            }
            Some(ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem)
                if error.action != "read" =>
            {
                told.help("name a place that this user may write to")
            }
            Some(ErrorKind::NotFound) if error.action != "read" => {
                told.help("make its folder, or name another place")
            }
            Some(ErrorKind::AlreadyExists) => told.help("move it away, or name another place"),
            _ => told,
        }
    }
}

/// The largest file of a system that is read: lists of its packages, and of the folders that its
/// loader searches.
pub const LARGEST_SYSTEM_FILE_BYTES: u64 = 64 << 20;

/// Reads a file of a system, which may be the unpacked image of another one.
pub fn system_text(path: &Path) -> Option<String> {
    read_text(path, LARGEST_SYSTEM_FILE_BYTES).ok()
}

/// Reads a file of at most `limit_bytes`.
///
/// # Errors
/// When it cannot be read or is larger.
pub fn read_bytes(path: &Path, limit_bytes: u64) -> Result<Vec<u8>, FileError> {
    let file = std::fs::File::open(path).map_err(|e| FileError::new("read", path, e))?;
    bytes_of(file, path, limit_bytes)
}

fn bytes_of(file: std::fs::File, path: &Path, limit_bytes: u64) -> Result<Vec<u8>, FileError> {
    let fault = |e| FileError::new("read", path, e);
    let too_large = || {
        let reason = format!("it is larger than {limit_bytes} bytes");
        FileError {
            action: "read",
            path: path.to_owned(),
            reason,
            source: None,
        }
    };
    // Of a file that tells its size nothing need be read to refuse it, and the buffer need not
    // grow.
    let size = file.metadata().map_or(0, |found| found.len());
    if size > limit_bytes {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or_default());
    file.take(limit_bytes + 1)
        .read_to_end(&mut bytes)
        .map_err(fault)?;
    if bytes.len() as u64 > limit_bytes {
        Err(too_large())
    } else {
        Ok(bytes)
    }
}

/// Reads a UTF-8 file of at most `limit_bytes`.
///
/// # Errors
/// When it cannot be read, is larger, or is not UTF-8.
pub fn read_text(path: &Path, limit_bytes: u64) -> Result<String, FileError> {
    let file = std::fs::File::open(path).map_err(|e| FileError::new("read", path, e))?;
    text_of(file, path, limit_bytes)
}

/// Reads an open UTF-8 file of at most `limit_bytes`; `path` is for messages.
pub(super) fn text_of(
    file: std::fs::File,
    path: &Path,
    limit_bytes: u64,
) -> Result<String, FileError> {
    String::from_utf8(bytes_of(file, path, limit_bytes)?).map_err(|e| FileError {
        action: "read",
        path: path.to_owned(),
        reason: format!(
            "it is not UTF-8: byte {} cannot be read",
            e.utf8_error().valid_up_to()
        ),
        source: None,
    })
}

/// Writes a file as a whole: a temporary one beside it, synced, then renamed. Missing parents are
/// made.
///
/// # Errors
/// When a folder or the file cannot be written; nothing is left behind then.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_streamed(path, |out| out.write_all(bytes))
}

/// Writes a file as a whole, and leaves to the system when it reaches the disk: what belongs to
/// many files that are not synced either. After a loss of power it may be the old one.
///
/// # Errors
/// When a folder or the file cannot be written.
pub fn write_unsynced(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let fault = |e| FileError::new("write", path, e);
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(fault)?;
    let open = |path: &Path| {
        std::fs::File::options()
            .write(true)
            .create_new(true)
            .open(path)
    };
    let mut file = tempfile::Builder::new()
        .make_in(folder, open)
        .map_err(fault)?;
    file.write_all(bytes).map_err(fault)?;
    file.persist(path)
        .map(drop)
        .map_err(|error| fault(error.error))
}

/// Writes a file only where its content differs; tells whether it did.
///
/// # Errors
/// As [`write_atomic`].
pub fn write_if_changed(path: &Path, bytes: &[u8]) -> Result<bool, FileError> {
    // A pipe has no content of its own, and reading it waits for who writes into it.
    let is_as_long = std::fs::metadata(path)
        .is_ok_and(|found| found.is_file() && found.len() == bytes.len() as u64);
    if is_as_long && std::fs::read(path).is_ok_and(|present| present == bytes) {
        return Ok(false);
    }
    write_atomic(path, bytes).map(|()| true)
}

/// Whether a regular file is there, and no link to one.
pub fn is_regular_file(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|present| present.is_file())
}

/// Writes a file as a whole in the place of whatever has its name: a symbolic link is replaced and
/// not followed, since others write into the folder and could have it lead anywhere. Missing
/// parents are made.
///
/// # Errors
/// When a folder or the file cannot be written; nothing is left behind then.
pub fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    write_beside(path, |out| out.write_all(bytes))
}

/// Writes a file as [`replace_file`] does, only where no regular file of the same content is there;
/// returns whether it did.
///
/// # Errors
/// As [`replace_file`].
pub fn replace_if_changed(path: &Path, bytes: &[u8]) -> Result<bool, FileError> {
    if is_regular_file(path) && std::fs::read(path).is_ok_and(|present| present == bytes) {
        return Ok(false);
    }
    replace_file(path, bytes).map(|()| true)
}

/// Writes a file as a whole from a stream: a temporary one beside it, synced, then renamed. Missing
/// parents are made. A symbolic link keeps leading where it leads, to the file that is written; a
/// device or a pipe is written to, since a file in its place would be another thing.
///
/// # Errors
/// When a folder or the file cannot be written, or the stream fails; nothing is left behind then.
pub fn write_streamed(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), FileError> {
    let fault = |e| FileError::new("write", path, e);
    let target = std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let path = target.as_path();
    if std::fs::metadata(path).is_ok_and(|present| !present.is_file() && !present.is_dir()) {
        let file = std::fs::OpenOptions::new()
            .write(true)
            .open(path)
            .map_err(fault)?;
        let mut writer = std::io::BufWriter::with_capacity(1 << 18, file);
        return write(&mut writer)
            .and_then(|()| writer.flush())
            .map_err(fault);
    }
    write_beside(path, write)
}

/// Writes a file from a stream beside the path, and puts it in the place of what has the name.
fn write_beside(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<(), FileError> {
    stream_beside(path, write)?
        .persist(path, None)
        .map_err(|e| FileError::new("write", path, e))
}

/// Copies files, each to a path of its own: all are written and synced beside their targets before
/// the first is renamed. Parents are made.
///
/// # Errors
/// When one cannot be read or written; no target is changed then. When a rename fails, those before
/// it stay.
pub fn copy_all(files: &[(&Path, &Path)]) -> Result<(), FileError> {
    let copy = |(from, to): &(&Path, &Path)| {
        let mut source = std::fs::File::open(from).map_err(|e| FileError::new("read", from, e))?;
        let target = std::fs::canonicalize(to).unwrap_or_else(|_| (*to).to_owned());
        let copy = stream_beside(&target, |out| std::io::copy(&mut source, out).map(drop))?;
        copy.sync(None)
            .map_err(|e| FileError::new("write", &target, e))?;
        Ok((copy, target))
    };
    let copies = files
        .iter()
        .map(copy)
        .collect::<Result<Vec<_>, FileError>>()?;
    copies.into_iter().try_for_each(|(copy, target)| {
        copy.persist(&target, None)
            .map_err(|e| FileError::new("write", &target, e))
    })
}

/// Writes an unnamed temporary file in the folder of `path` from a stream. It is removed unless it
/// is renamed to `path`.
fn stream_beside(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<PendingFile, FileError> {
    let fault = |e| FileError::new("write", path, e);
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    std::fs::create_dir_all(folder).map_err(fault)?;
    let unfinished = PendingFile::new_in(folder).map_err(fault)?;
    let mut writer = std::io::BufWriter::with_capacity(1 << 18, unfinished.file());
    write(&mut writer)
        .and_then(|()| writer.flush())
        .map_err(fault)?;
    drop(writer);
    Ok(unfinished)
}

/// Appends to a file that others append to as well.
///
/// # Errors
/// When it cannot be opened or written.
pub fn append(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let fault = |e| FileError::new("append to", path, e);
    let mut file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .map_err(fault)?;
    file.write_all(bytes).map_err(fault)
}

/// The size of a file; 0 where there is none.
pub fn size_bytes(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |found| found.len())
}

/// Whether there is a regular file.
pub fn is_file(path: &Path) -> bool {
    path.is_file()
}

/// Whether there is a regular file; unlike [`is_file`] it does not take one that cannot be seen for
/// none.
///
/// # Errors
/// When that cannot be known.
pub fn has_file(path: &Path) -> Result<bool, FileError> {
    match std::fs::metadata(path) {
        Ok(metadata) => Ok(metadata.is_file()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(FileError::new("read", path, error)),
    }
}

/// Names the kind of a special file, such as a pipe; `None` for regular files and directories.
pub fn special_file_kind(path: &Path) -> Option<&'static str> {
    special_kind(std::fs::metadata(path).ok()?.file_type())
}

/// Names a kind of special file; `None` for regular files, directories and links.
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
    fn reading_and_writing_fail_with_codes_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        assert_eq!(code(read_text(&file, 10).unwrap_err()), "cannot-read-file");
        write_atomic(&file, b"\xff").unwrap();
        let error = read_text(&file, 10).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("it is not UTF-8: byte 0 cannot be read"),
            "{error}"
        );
        assert_eq!(
            code(write_atomic(&file.join("inner"), b"x").unwrap_err()),
            "cannot-write-file"
        );
    }

    #[test]
    fn a_place_that_cannot_be_written_is_told_without_the_name_of_the_moment() {
        // The file systems of the kernel know no new files, whoever asks.
        for place in ["/proc/rock-matrix", "/sys/rock-matrix"] {
            let told = write_atomic(Path::new(place), b"x")
                .unwrap_err()
                .to_string();
            assert!(
                !told.contains(".tmp") && !told.contains("at path"),
                "{told}"
            );
        }
        let full = FileError::new("write", Path::new("x"), ErrorKind::StorageFull.into());
        assert_eq!(
            Diagnostic::from(full).help.as_deref(),
            Some("make room, or name a place on another disk")
        );
        let kept = FileError::new(
            "write",
            Path::new("x"),
            ErrorKind::ReadOnlyFilesystem.into(),
        );
        assert_eq!(
            Diagnostic::from(kept).help.as_deref(),
            Some("name a place that this user may write to")
        );
    }

    #[test]
    fn a_file_past_its_limit_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
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
    fn a_file_that_is_not_synced_is_written_as_a_whole_too() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a/file");
        for text in ["one", "two"] {
            write_unsynced(&file, text.as_bytes()).unwrap();
            assert_eq!(read_text(&file, 10).unwrap(), text);
        }
        assert_eq!(
            std::fs::read_dir(folder.path().join("a")).unwrap().count(),
            1
        );
    }

    #[test]
    fn an_equal_file_is_not_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a/b/file");
        assert!(write_if_changed(&file, b"x").unwrap());
        assert!(!write_if_changed(&file, b"x").unwrap());
        assert!(write_if_changed(&file, b"y").unwrap());
    }

    #[test]
    fn a_link_is_replaced_where_others_write_into_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (outside, link) = (folder.path().join("outside"), folder.path().join("link"));
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
    fn a_pipe_is_written_to_and_not_compared() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
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
