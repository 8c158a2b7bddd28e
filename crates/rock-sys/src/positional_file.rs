//! Positional reads of large files, and atomic writes that copy inside the kernel where possible.

use std::any::Any;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Seek as _, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::FileError;
use super::files::special_kind;
use super::pending_file::PendingFile;
use rock_bytes::{ByteSink, WriteAt};
use rock_bytes::{ReadAt, has_same_content};

/// Shorter ranges are copied through memory, which is faster than a system call.
const MIN_COPY_BYTES: u64 = 32 << 10;
/// Size of the buffer for copies through memory.
const BUFFER_BYTES: usize = 256 << 10;
/// Bytes after which the kernel is asked to start writing to disk, so that the final sync is short.
const WRITEBACK_BYTES: u64 = 16 << 20;
/// Opens a pipe without waiting for its other end.
const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();

/// A file opened for positional reads.
#[derive(Debug)]
pub struct PositionalFile {
    file: File,
    size: u64,
}

impl PositionalFile {
    /// Opens a regular file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file does not exist, is not regular, or cannot be opened.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        // Checked before opening: opening a pipe blocks until it has a writer.
        regular_metadata(path)?;
        let file = File::open(path).map_err(FileError::context("read", path))?;
        let size = file
            .metadata()
            .map_err(FileError::context("read", path))?
            .len();
        Ok(Self { file, size })
    }
}

/// Returns the metadata of a regular file, or an error for any other kind.
fn regular_metadata(path: &Path) -> Result<std::fs::Metadata, FileError> {
    let metadata = std::fs::metadata(path).map_err(FileError::context("read", path))?;
    if metadata.is_file() {
        return Ok(metadata);
    }
    let reason = "it is not a regular file".to_owned();
    Err(FileError {
        action: "read",
        path: path.to_owned(),
        reason,
        source: None,
    })
}

impl ReadAt for PositionalFile {
    fn size_bytes(&self) -> u64 {
        self.size
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(&self.file, buffer, offset)
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

/// A file that is opened for each read, for more files than may be open at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReopenedFile {
    path: PathBuf,
    size: u64,
}

impl ReopenedFile {
    /// Examines a regular file without opening it.
    ///
    /// # Errors
    ///
    /// Returns an error if the file does not exist or is not regular. A file that cannot be opened
    /// fails on the first read.
    pub fn new(path: &Path) -> Result<Self, FileError> {
        let size = regular_metadata(path)?.len();
        Ok(Self {
            path: path.to_owned(),
            size,
        })
    }
}

impl ReadAt for ReopenedFile {
    fn size_bytes(&self) -> u64 {
        self.size
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(&File::open(&self.path)?, buffer, offset)
    }
}

/// A file being written. Copies from a [`PositionalFile`] with `copy_file_range`(2).
struct FileTarget<'f> {
    writer: io::BufWriter<&'f File>,
    can_copy_range: bool,
    /// Bytes written.
    position: u64,
    /// Bytes for which writeback was requested.
    flushed: u64,
}

impl FileTarget<'_> {
    /// Counts written bytes and requests writeback every [`WRITEBACK_BYTES`].
    ///
    /// `POSIX_FADV_DONTNEED` makes Linux start writing (mm/fadvise.c); pages under writeback stay
    /// cached. Where it has no effect, the final sync takes longer.
    fn advance(&mut self, bytes: u64) {
        self.position += bytes;
        let waiting = self.position - self.flushed;
        if waiting >= WRITEBACK_BYTES {
            let length = std::num::NonZeroU64::new(waiting);
            let _ = rustix::fs::fadvise(
                *self.writer.get_ref(),
                self.flushed,
                length,
                rustix::fs::Advice::DontNeed,
            );
            self.flushed = self.position;
        }
    }
}

impl Write for FileTarget<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.writer.write(bytes)?;
        self.advance(written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl ByteSink for FileTarget<'_> {
    fn copy_from(&mut self, source: &dyn ReadAt, offset: u64, length: u64) -> io::Result<()> {
        let (mut offset, mut left) = (offset, length);
        if let Some(source) = source
            .as_any()
            .and_then(|any| any.downcast_ref::<PositionalFile>())
            && self.can_copy_range
            && left > MIN_COPY_BYTES
        {
            self.writer.flush()?;
            while left > 0 {
                let step = usize::try_from(left.min(WRITEBACK_BYTES)).unwrap_or(usize::MAX);
                let file: &File = self.writer.get_ref();
                match rustix::fs::copy_file_range(&source.file, Some(&mut offset), file, None, step)
                {
                    Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                    Ok(copied) => {
                        left -= copied as u64;
                        self.advance(copied as u64);
                    }
                    Err(rustix::io::Errno::INTR) => {}
                    Err(_) => {
                        // Not supported here: copy the rest through memory.
                        self.can_copy_range = false;
                        break;
                    }
                }
            }
        }
        let mut buffer = vec![
            0;
            usize::try_from(left)
                .unwrap_or(usize::MAX)
                .min(BUFFER_BYTES)
        ];
        while left > 0 {
            let step = buffer
                .len()
                .min(usize::try_from(left).unwrap_or(usize::MAX));
            source.read_exact_at(&mut buffer[..step], offset)?;
            self.write_all(&buffer[..step])?;
            offset += step as u64;
            left -= step as u64;
        }
        Ok(())
    }

    fn overwrite(&mut self, back_bytes: u64, bytes: &[u8]) -> io::Result<()> {
        if back_bytes > self.position || bytes.len() as u64 > back_bytes {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.writer.flush()?;
        self.writer
            .get_ref()
            .write_all_at(bytes, self.position - back_bytes)
    }

    fn parallel_writer(&mut self) -> io::Result<Option<Arc<dyn WriteAt>>> {
        Ok(Some(Arc::new(ParallelFileWriter {
            file: self.writer.get_ref().try_clone()?,
            start: self.position,
        })))
    }

    fn advance(&mut self, length: u64) -> io::Result<()> {
        self.writer.flush()?;
        let step = i64::try_from(length).map_err(io::Error::other)?;
        self.writer.get_mut().seek_relative(step)?;
        self.advance(length);
        Ok(())
    }
}

/// Writes at offsets of the same file, from several threads.
struct ParallelFileWriter {
    file: File,
    /// Position in the file of offset 0.
    start: u64,
}

impl WriteAt for ParallelFileWriter {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, self.start + offset)
    }
}

/// The action if the file exists with different content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnExisting {
    /// Keep the existing file.
    Keep,
    /// Replace the existing file.
    Replace,
    /// Replace the content of the existing file: keep its permissions, and follow symbolic links.
    Update,
}

/// The outcome of writing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteOutcome {
    /// The file was written.
    Written,
    /// A file with the same content exists and was left alone.
    Unchanged,
    /// A file with different content exists and was kept.
    Kept,
}

/// Writes a file atomically: a pending file in the same directory is synced, then renamed. Creates
/// missing parents. An existing file with the same content is left alone.
///
/// # Errors
///
/// Returns an error if the file cannot be written, the path is not a regular file, or `write`
/// fails; nothing is left behind then.
pub fn save<E: From<FileError>>(
    path: &Path,
    on_existing: OnExisting,
    write: impl FnOnce(&mut dyn ByteSink) -> Result<(), E>,
) -> Result<WriteOutcome, E> {
    save_checked(path, on_existing, write, |_| Ok(()))
}

/// Like [`save`], and checks the written file before it is renamed.
///
/// # Errors
///
/// Returns an error as [`save`] does, or if `check` fails; nothing is left behind then.
pub fn save_checked<E: From<FileError>>(
    path: &Path,
    on_existing: OnExisting,
    write: impl FnOnce(&mut dyn ByteSink) -> Result<(), E>,
    check: impl FnOnce(&PositionalFile) -> Result<(), E>,
) -> Result<WriteOutcome, E> {
    // Fail before the content is produced.
    ExistingFile::at(path)?;
    let real = if on_existing == OnExisting::Update {
        std::fs::canonicalize(path).map_err(FileError::context("write", path))?
    } else {
        path.to_owned()
    };
    let path = real.as_path();
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let created = CreatedDirectories::make(directory).map_err(FileError::context("write", path))?;
    let pending = PendingFile::new_in(directory).map_err(FileError::context("write", path))?;
    let writer = io::BufWriter::with_capacity(BUFFER_BYTES, pending.file());
    let mut target = FileTarget {
        writer,
        can_copy_range: true,
        position: 0,
        flushed: 0,
    };
    write(&mut target)?;
    target.flush().map_err(FileError::context("write", path))?;
    let size = target.position;
    drop(target);
    let written = PositionalFile {
        file: pending
            .file()
            .try_clone()
            .map_err(FileError::context("write", path))?,
        size,
    };
    check(&written)?;
    let present = ExistingFile::at(path)?;
    if let ExistingFile::Readable(file) = &present
        && has_content(file, &written).map_err(FileError::context("write", path))?
    {
        return Ok(WriteOutcome::Unchanged);
    }
    if on_existing == OnExisting::Keep && !matches!(present, ExistingFile::Absent) {
        return Ok(WriteOutcome::Kept);
    }
    let mode = match on_existing {
        OnExisting::Update => Some(
            std::fs::metadata(path)
                .map_err(FileError::context("write", path))?
                .permissions()
                .mode()
                & 0o7777,
        ),
        OnExisting::Keep | OnExisting::Replace => None,
    };
    pending
        .persist(path, mode)
        .map_err(FileError::context("write", path))?;
    created.keep();
    Ok(WriteOutcome::Written)
}

/// Returns the outcome that [`save`] would have, without writing anything.
///
/// # Errors
///
/// Returns an error if the path is not a regular file, or `write` fails.
pub fn preview_save<E: From<FileError>>(
    path: &Path,
    on_existing: OnExisting,
    write: impl FnOnce(&mut dyn ByteSink) -> Result<(), E>,
) -> Result<WriteOutcome, E> {
    let present = ExistingFile::at(path)?;
    let file = match &present {
        ExistingFile::Readable(file) => Some(file),
        ExistingFile::Unreadable | ExistingFile::Absent => None,
    };
    let mut target = FileComparer {
        present: file,
        position: 0,
        differences: BTreeSet::new(),
        differs: false,
    };
    write(&mut target)?;
    Ok(match present {
        _ if target.is_same() => WriteOutcome::Unchanged,
        ExistingFile::Readable(_) | ExistingFile::Unreadable if on_existing == OnExisting::Keep => {
            WriteOutcome::Kept
        }
        _ => WriteOutcome::Written,
    })
}

/// The file at the path to be written.
#[derive(Debug)]
enum ExistingFile {
    /// There is none.
    Absent,
    /// An open file.
    Readable(File),
    /// A file that this user cannot read.
    Unreadable,
}

impl ExistingFile {
    /// Opens the file without blocking. Returns an error for directories and special files, which
    /// are never replaced.
    fn at(path: &Path) -> Result<Self, FileError> {
        match std::fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::Absent),
            Err(error) => return Err(FileError::new("write", path, error)),
            Ok(metadata) => {
                require_regular_file(&metadata).map_err(FileError::context("write", path))?;
            }
        }
        // If a pipe has replaced the file meanwhile, O_NONBLOCK keeps open(2) from blocking. It
        // has no effect on regular files.
        match File::options().read(true).custom_flags(NONBLOCK).open(path) {
            Ok(file) => {
                require_regular_file(&file.metadata().map_err(FileError::context("write", path))?)
                    .map_err(FileError::context("write", path))?;
                Ok(Self::Readable(file))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::Absent),
            Err(_) => Ok(Self::Unreadable),
        }
    }
}

/// Returns an error for anything but a regular file.
fn require_regular_file(metadata: &std::fs::Metadata) -> io::Result<()> {
    let kind = if metadata.is_dir() {
        Some("a directory")
    } else {
        special_kind(metadata.file_type())
    };
    kind.map_or(Ok(()), |kind| {
        Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            format!("it is {kind}, not a file"),
        ))
    })
}

/// Compares the bytes that would be written with an existing file.
struct FileComparer<'f> {
    present: Option<&'f File>,
    /// Bytes that would have been written.
    position: u64,
    /// Offsets of differing bytes; rewriting may still make them equal.
    differences: BTreeSet<u64>,
    /// Whether the files differ, whatever is rewritten.
    differs: bool,
}

/// Maximum number of differing bytes that may still be rewritten.
const MAX_DIFFERENCES: usize = 4096;

impl FileComparer<'_> {
    fn compare(&mut self, bytes: &[u8], at: u64) {
        let Some(present) = self.present.filter(|_| !self.differs) else {
            return;
        };
        let mut there = vec![0; bytes.len()];
        if FileExt::read_exact_at(present, &mut there, at).is_err() {
            self.differs = true;
            return;
        }
        for (place, (one, other)) in (at..).zip(bytes.iter().zip(&there)) {
            if one == other {
                if !self.differences.is_empty() {
                    self.differences.remove(&place);
                }
            } else {
                self.differences.insert(place);
            }
        }
        self.differs = self.differences.len() > MAX_DIFFERENCES;
    }

    fn is_same(&self) -> bool {
        let size = self
            .present
            .and_then(|file| file.metadata().ok())
            .map(|one| one.len());
        !self.differs && self.differences.is_empty() && size == Some(self.position)
    }
}

impl Write for FileComparer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.compare(bytes, self.position);
        self.position += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl ByteSink for FileComparer<'_> {
    fn overwrite(&mut self, back_bytes: u64, bytes: &[u8]) -> io::Result<()> {
        let at = self
            .position
            .checked_sub(back_bytes)
            .filter(|_| bytes.len() as u64 <= back_bytes);
        self.compare(bytes, at.ok_or(io::ErrorKind::InvalidInput)?);
        Ok(())
    }
}

/// Directories created for a file. Those still empty are removed on drop unless the file was
/// written.
struct CreatedDirectories(Vec<PathBuf>);

impl CreatedDirectories {
    fn make(directory: &Path) -> io::Result<Self> {
        let missing = directory
            .ancestors()
            .take_while(|one| !one.as_os_str().is_empty() && !one.exists());
        let missing = Self(missing.map(Path::to_owned).collect());
        std::fs::create_dir_all(directory)?;
        Ok(missing)
    }

    fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for CreatedDirectories {
    fn drop(&mut self) {
        for directory in &self.0 {
            // Fails if the directory is not empty any more.
            let _ = std::fs::remove_dir(directory);
        }
    }
}

/// Returns whether two files have the same content.
fn has_content(present: &File, written: &PositionalFile) -> io::Result<bool> {
    let present = PositionalFile {
        file: present.try_clone()?,
        size: present.metadata()?.len(),
    };
    has_same_content(&present, written)
}

/// Returns whether two paths lead to the same file.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity =
        |path: &Path| std::fs::metadata(path).map(|metadata| (metadata.dev(), metadata.ino()));
    matches!((identity(one), identity(other)), (Ok(one), Ok(other)) if one == other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn save_bytes(path: &Path, on_existing: OnExisting, bytes: &[u8]) -> WriteOutcome {
        save::<FileError>(path, on_existing, |target| {
            target
                .write_all(bytes)
                .map_err(FileError::context("write", path))
        })
        .unwrap()
    }

    #[test]
    fn a_different_file_is_kept_unless_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("new/file");
        assert_eq!(
            save_bytes(&path, OnExisting::Keep, b"one"),
            WriteOutcome::Written
        );
        assert_eq!(
            save_bytes(&path, OnExisting::Keep, b"one"),
            WriteOutcome::Unchanged
        );
        assert_eq!(
            save_bytes(&path, OnExisting::Keep, b"two"),
            WriteOutcome::Kept
        );
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        assert_eq!(
            save_bytes(&path, OnExisting::Replace, b"two"),
            WriteOutcome::Written
        );
        assert_eq!(std::fs::read(&path).unwrap(), b"two");
        assert_eq!(
            std::fs::read_dir(path.parent().unwrap()).unwrap().count(),
            1,
            "nothing else is left"
        );
    }

    #[test]
    fn copied_ranges_and_written_bytes_are_in_order() {
        let directory = tempfile::tempdir().unwrap();
        let from = directory.path().join("from");
        let content: Vec<u8> = (0..=255).cycle().take(300_000).collect();
        std::fs::write(&from, &content).unwrap();
        let (source, to) = (
            PositionalFile::open(&from).unwrap(),
            directory.path().join("to"),
        );
        save::<FileError>(&to, OnExisting::Keep, |target| {
            let mut copy = || -> io::Result<()> {
                target.write_all(b"head")?;
                target.copy_from(&source, 7, 200_000)?;
                target.write_all(b"mid")?;
                target.copy_from(&source, 0, 100)?;
                target.overwrite(103, b"new")?;
                assert!(
                    target.overwrite(999_999, b"x").is_err() && target.overwrite(1, b"xx").is_err()
                );
                assert!(
                    target.copy_from(&source, 299_999, 100_000).is_err(),
                    "there is less"
                );
                Ok(())
            };
            copy().map_err(FileError::context("write", &to))
        })
        .unwrap();
        let written = std::fs::read(&to).unwrap();
        let expect = [
            b"head".as_slice(),
            &content[7..200_007],
            b"new",
            &content[..100],
        ]
        .concat();
        assert_eq!(written[..expect.len()], expect);
    }

    #[test]
    fn preview_matches_save_and_failures_leave_no_directory() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a/b/file");
        let tried = |bytes: &[u8], on_existing| {
            let write = |target: &mut dyn ByteSink| -> Result<(), FileError> {
                target.write_all(b"????").unwrap();
                target.write_all(bytes).unwrap();
                target.overwrite(4 + bytes.len() as u64, b"head").unwrap();
                Ok(())
            };
            super::preview_save(&path, on_existing, write).unwrap()
        };
        assert_eq!(tried(b"text", OnExisting::Keep), WriteOutcome::Written);
        assert!(!directory.path().join("a").exists());
        let failed = save::<FileError>(&path, OnExisting::Keep, |_| {
            Err(FileError::new(
                "write",
                &path,
                std::io::ErrorKind::StorageFull.into(),
            ))
        });
        assert!(failed.is_err() && !directory.path().join("a").exists());
        save_bytes(&path, OnExisting::Keep, b"headtext");
        assert_eq!(tried(b"text", OnExisting::Keep), WriteOutcome::Unchanged);
        assert_eq!(tried(b"next", OnExisting::Keep), WriteOutcome::Kept);
        assert_eq!(
            tried(b"text and more", OnExisting::Keep),
            WriteOutcome::Kept
        );
        assert_eq!(tried(b"tex", OnExisting::Replace), WriteOutcome::Written);
    }

    #[test]
    fn special_files_are_never_replaced_or_waited_for() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        assert!(
            std::process::Command::new("mkfifo")
                .arg(path("pipe"))
                .status()
                .unwrap()
                .success()
        );
        std::fs::create_dir(path("empty")).unwrap();
        std::os::unix::fs::symlink("pipe", path("link")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        for (name, kind) in [
            ("pipe", "a pipe"),
            ("link", "a pipe"),
            ("empty", "a directory"),
            ("socket", "a socket"),
        ] {
            for existing in [OnExisting::Keep, OnExisting::Replace] {
                let never = |_: &mut dyn ByteSink| -> Result<(), FileError> {
                    panic!("it would come to nothing")
                };
                let path = path(name);
                for refused in [
                    save(&path, existing, never),
                    preview_save(&path, existing, never),
                ] {
                    let error = refused.unwrap_err();
                    assert_eq!(
                        error.to_string(),
                        format!(
                            "cannot write `{}`: it is {kind}, not a file",
                            path.display()
                        )
                    );
                    let diagnostic = rock_diagnostic::Diagnostic::from(error);
                    assert_eq!(
                        diagnostic.help.as_deref(),
                        Some("move it away, or use another path")
                    );
                }
            }
        }
        assert!(path("empty").is_dir() && path("link").is_symlink());
        assert_eq!(
            std::fs::read_dir(directory.path()).unwrap().count(),
            4,
            "nothing else is left"
        );
    }

    #[test]
    fn a_pipe_created_during_a_write_is_not_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let error = save::<FileError>(&path, OnExisting::Replace, |target| {
            assert!(
                std::process::Command::new("mkfifo")
                    .arg(&path)
                    .status()
                    .unwrap()
                    .success()
            );
            target
                .write_all(b"text")
                .map_err(FileError::context("write", &path))
        });
        assert!(
            error
                .unwrap_err()
                .to_string()
                .ends_with("it is a pipe, not a file")
        );
        assert!(std::os::unix::fs::FileTypeExt::is_fifo(
            &std::fs::metadata(&path).unwrap().file_type()
        ));
    }

    #[test]
    fn a_directory_cannot_be_opened() {
        let directory = tempfile::tempdir().unwrap();
        assert!(
            PositionalFile::open(directory.path())
                .unwrap_err()
                .to_string()
                .ends_with("it is not a regular file")
        );
    }
}
