//! Large files read by position and written as wholes, copied inside the system where it can.

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
use rock_bytes::{ReadAt, is_same};
use rock_bytes::{Target, WriteAhead};

/// Shorter stretches go through memory: a call of the system costs more than copying them.
const SHORT_BYTES: u64 = 32 << 10;
/// How much goes through memory at once.
const BUFFER_BYTES: usize = 256 << 10;
/// How much is copied before the disk is set to work on it, so that syncing at the end has little
/// left to do.
const BEHIND_BYTES: u64 = 16 << 20;
/// Opens a pipe without waiting for its other side.
const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();

/// A file opened for reading by position.
#[derive(Debug)]
pub struct PositionalFile {
    file: File,
    size: u64,
}

impl PositionalFile {
    /// Opens a regular file.
    ///
    /// # Errors
    /// When it is not there, is no regular file, or may not be read.
    pub fn open(path: &Path) -> Result<Self, FileError> {
        let fault = |e| FileError::new("read", path, e);
        // Looked at before it is opened: to open a pipe is to wait for who writes into it.
        regular(path)?;
        let file = File::open(path).map_err(fault)?;
        let size = file.metadata().map_err(fault)?.len();
        Ok(Self { file, size })
    }
}

/// What the system tells of a regular file.
fn regular(path: &Path) -> Result<std::fs::Metadata, FileError> {
    let metadata = std::fs::metadata(path).map_err(|e| FileError::new("read", path, e))?;
    if metadata.is_file() {
        return Ok(metadata);
    }
    let reason = "it is no regular file".to_owned();
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

/// A file that is opened for each reading alone: one of more than may be open at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReopenedFile {
    path: PathBuf,
    size: u64,
}

impl ReopenedFile {
    /// Looks at a regular file.
    ///
    /// # Errors
    /// When it is not there, or is no regular file. Whether it may be read shows when it is.
    pub fn new(path: &Path) -> Result<Self, FileError> {
        let size = regular(path)?.len();
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

/// A file being written, which copies out of a [`PositionalFile`] without taking the bytes into
/// memory.
struct FileTarget<'f> {
    writer: io::BufWriter<&'f File>,
    copies_inside: bool,
    /// How much was written.
    position: u64,
    /// How much of it the disk was told to begin with.
    begun: u64,
}

impl FileTarget<'_> {
    /// Counts what was written, and lets the disk begin with it now and then. The advice makes
    /// Linux start writing (mm/fadvise.c), and pages that are being written stay in memory. Where
    /// it does nothing, syncing takes longer.
    fn wrote(&mut self, bytes: u64) {
        self.position += bytes;
        let waiting = self.position - self.begun;
        if waiting >= BEHIND_BYTES {
            let length = std::num::NonZeroU64::new(waiting);
            let _ = rustix::fs::fadvise(
                *self.writer.get_ref(),
                self.begun,
                length,
                rustix::fs::Advice::DontNeed,
            );
            self.begun = self.position;
        }
    }
}

impl Write for FileTarget<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.writer.write(bytes)?;
        self.wrote(written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

impl Target for FileTarget<'_> {
    fn copy_from(&mut self, source: &dyn ReadAt, offset: u64, length: u64) -> io::Result<()> {
        let (mut offset, mut left) = (offset, length);
        if let Some(source) = source
            .as_any()
            .and_then(|any| any.downcast_ref::<PositionalFile>())
            && self.copies_inside
            && left > SHORT_BYTES
        {
            self.writer.flush()?;
            while left > 0 {
                let step = usize::try_from(left.min(BEHIND_BYTES)).unwrap_or(usize::MAX);
                let file: &File = self.writer.get_ref();
                match rustix::fs::copy_file_range(&source.file, Some(&mut offset), file, None, step)
                {
                    Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                    Ok(copied) => {
                        left -= copied as u64;
                        self.wrote(copied as u64);
                    }
                    Err(rustix::io::Errno::INTR) => {}
                    Err(_) => {
                        // Another file system, or a kernel that cannot: what is left goes through
                        // memory.
                        self.copies_inside = false;
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

    fn rewrite(&mut self, back_bytes: u64, bytes: &[u8]) -> io::Result<()> {
        if back_bytes > self.position || bytes.len() as u64 > back_bytes {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        self.writer.flush()?;
        self.writer
            .get_ref()
            .write_all_at(bytes, self.position - back_bytes)
    }

    fn ahead(&mut self) -> io::Result<Option<Arc<dyn WriteAhead>>> {
        Ok(Some(Arc::new(ParallelFileWriter {
            file: self.writer.get_ref().try_clone()?,
            start: self.position,
        })))
    }

    fn skip(&mut self, length: u64) -> io::Result<()> {
        self.writer.flush()?;
        let step = i64::try_from(length).map_err(io::Error::other)?;
        self.writer.get_mut().seek_relative(step)?;
        self.wrote(length);
        Ok(())
    }
}

/// The same file, written by position.
struct ParallelFileWriter {
    file: File,
    /// Where positions are counted from.
    start: u64,
}

impl WriteAhead for ParallelFileWriter {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, self.start + offset)
    }
}

/// What to do where a file of the name is there and has other content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnExisting {
    /// Leave it.
    Keep,
    /// Put the new one in its place.
    Replace,
    /// Put the new one in its place with the same permissions; a link keeps leading to it.
    Edit,
}

/// What became of a file that was to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteOutcome {
    /// It was written.
    Written,
    /// A file of the same content is there, and was left.
    Same,
    /// A file of other content is there, and was left.
    Kept,
}

/// Writes a file as a whole: a temporary one beside it, synced, then renamed. Missing parents are
/// made, and a file of the same content stays.
///
/// # Errors
/// When the file cannot be written, something that is no file has its name, or `write` fails;
/// nothing is left behind then.
pub fn save<E: From<FileError>>(
    path: &Path,
    existing: OnExisting,
    write: impl FnOnce(&mut dyn Target) -> Result<(), E>,
) -> Result<WriteOutcome, E> {
    save_checked(path, existing, write, |_| Ok(()))
}

/// The same as [`save`]; what was written is looked at before it has its name.
///
/// # Errors
/// When the file cannot be written, something that is no file has its name, or `write` or `check`
/// fails; nothing is left behind then.
pub fn save_checked<E: From<FileError>>(
    path: &Path,
    existing: OnExisting,
    write: impl FnOnce(&mut dyn Target) -> Result<(), E>,
    check: impl FnOnce(&PositionalFile) -> Result<(), E>,
) -> Result<WriteOutcome, E> {
    let fault = |e| FileError::new("write", path, e);
    // Looked at before the work, which would come to nothing.
    ExistingFile::at(path)?;
    let real = if existing == OnExisting::Edit {
        std::fs::canonicalize(path).map_err(fault)?
    } else {
        path.to_owned()
    };
    let path = real.as_path();
    let folder = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let new_folders = CreatedDirectories::make(folder).map_err(fault)?;
    let unfinished = PendingFile::new_in(folder).map_err(fault)?;
    let writer = io::BufWriter::with_capacity(BUFFER_BYTES, unfinished.file());
    let mut target = FileTarget {
        writer,
        copies_inside: true,
        position: 0,
        begun: 0,
    };
    write(&mut target)?;
    target.flush().map_err(fault)?;
    let size = target.position;
    drop(target);
    let made = PositionalFile {
        file: unfinished.file().try_clone().map_err(fault)?,
        size,
    };
    check(&made)?;
    let present = ExistingFile::at(path)?;
    if let ExistingFile::Readable(file) = &present
        && is_content(file, &made).map_err(fault)?
    {
        return Ok(WriteOutcome::Same);
    }
    if existing == OnExisting::Keep && !matches!(present, ExistingFile::Nothing) {
        return Ok(WriteOutcome::Kept);
    }
    let mode = match existing {
        OnExisting::Edit => {
            Some(std::fs::metadata(path).map_err(fault)?.permissions().mode() & 0o7777)
        }
        OnExisting::Keep | OnExisting::Replace => None,
    };
    unfinished.persist(path, mode).map_err(fault)?;
    new_folders.keep();
    Ok(WriteOutcome::Written)
}

/// What [`save`] would come to; nothing is written.
///
/// # Errors
/// When something that is no file has the name, or `write` fails.
pub fn try_save<E: From<FileError>>(
    path: &Path,
    existing: OnExisting,
    write: impl FnOnce(&mut dyn Target) -> Result<(), E>,
) -> Result<WriteOutcome, E> {
    let present = ExistingFile::at(path)?;
    let file = match &present {
        ExistingFile::Readable(file) => Some(file),
        ExistingFile::Unreadable | ExistingFile::Nothing => None,
    };
    let mut target = FileComparer {
        present: file,
        position: 0,
        others: BTreeSet::new(),
        is_other: false,
    };
    write(&mut target)?;
    Ok(match present {
        _ if target.is_same() => WriteOutcome::Same,
        ExistingFile::Readable(_) | ExistingFile::Unreadable if existing == OnExisting::Keep => {
            WriteOutcome::Kept
        }
        _ => WriteOutcome::Written,
    })
}

/// What has a name that is to be written.
#[derive(Debug)]
enum ExistingFile {
    /// Nothing.
    Nothing,
    /// A file.
    Readable(File),
    /// A file that this user may not read.
    Unreadable,
}

impl ExistingFile {
    /// Looks without waiting for anything.
    ///
    /// # Errors
    /// When it is no file: nobody means a wheel to take the place of a folder, a pipe or a device.
    fn at(path: &Path) -> Result<Self, FileError> {
        let fault = |e| FileError::new("write", path, e);
        match std::fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::Nothing),
            Err(error) => return Err(fault(error)),
            Ok(metadata) => not_beside_file(&metadata).map_err(fault)?,
        }
        // Should a pipe have come in its place, then opening it does not wait for who writes into
        // it (open(2), O_NONBLOCK), which means nothing to a file.
        match File::options().read(true).custom_flags(NONBLOCK).open(path) {
            Ok(file) => {
                not_beside_file(&file.metadata().map_err(fault)?).map_err(fault)?;
                Ok(Self::Readable(file))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::Nothing),
            Err(_) => Ok(Self::Unreadable),
        }
    }
}

/// Refuses what is no file.
fn not_beside_file(metadata: &std::fs::Metadata) -> io::Result<()> {
    let kind = if metadata.is_dir() {
        Some("a folder")
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

/// Bytes that would be written, held against a file that is there.
struct FileComparer<'f> {
    present: Option<&'f File>,
    /// How much would have been written.
    position: u64,
    /// Where bytes differ: those that are written over later may yet be the same.
    others: BTreeSet<u64>,
    /// Whether more differ than are written over.
    is_other: bool,
}

/// How many bytes that differ are kept in mind.
const MOST_OTHERS: usize = 4096;

impl FileComparer<'_> {
    fn hold(&mut self, bytes: &[u8], at: u64) {
        let Some(present) = self.present.filter(|_| !self.is_other) else {
            return;
        };
        let mut there = vec![0; bytes.len()];
        if FileExt::read_exact_at(present, &mut there, at).is_err() {
            self.is_other = true;
            return;
        }
        for (place, (one, other)) in (at..).zip(bytes.iter().zip(&there)) {
            if one == other {
                if !self.others.is_empty() {
                    self.others.remove(&place);
                }
            } else {
                self.others.insert(place);
            }
        }
        self.is_other = self.others.len() > MOST_OTHERS;
    }

    fn is_same(&self) -> bool {
        let size = self
            .present
            .and_then(|file| file.metadata().ok())
            .map(|one| one.len());
        !self.is_other && self.others.is_empty() && size == Some(self.position)
    }
}

impl Write for FileComparer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.hold(bytes, self.position);
        self.position += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Target for FileComparer<'_> {
    fn rewrite(&mut self, back_bytes: u64, bytes: &[u8]) -> io::Result<()> {
        let at = self
            .position
            .checked_sub(back_bytes)
            .filter(|_| bytes.len() as u64 <= back_bytes);
        self.hold(bytes, at.ok_or(io::ErrorKind::InvalidInput)?);
        Ok(())
    }
}

/// Folders that were made for a file, and go again where it does not come to be.
struct CreatedDirectories(Vec<PathBuf>);

impl CreatedDirectories {
    fn make(folder: &Path) -> io::Result<Self> {
        let missing = folder
            .ancestors()
            .take_while(|one| !one.as_os_str().is_empty() && !one.exists());
        let missing = Self(missing.map(Path::to_owned).collect());
        std::fs::create_dir_all(folder)?;
        Ok(missing)
    }

    fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for CreatedDirectories {
    fn drop(&mut self) {
        for folder in &self.0 {
            // One that holds something by now stays.
            let _ = std::fs::remove_dir(folder);
        }
    }
}

/// Whether a file that is there has this content.
fn is_content(present: &File, made: &PositionalFile) -> io::Result<bool> {
    let present = PositionalFile {
        file: present.try_clone()?,
        size: present.metadata()?.len(),
    };
    is_same(&present, made)
}

/// Whether two paths lead to one file.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity =
        |path: &Path| std::fs::metadata(path).map(|metadata| (metadata.dev(), metadata.ino()));
    matches!((identity(one), identity(other)), (Ok(one), Ok(other)) if one == other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn save_bytes(path: &Path, existing: OnExisting, bytes: &[u8]) -> WriteOutcome {
        save::<FileError>(path, existing, |target| {
            target
                .write_all(bytes)
                .map_err(|e| FileError::new("write", path, e))
        })
        .unwrap()
    }

    #[test]
    fn a_file_of_other_content_is_kept_unless_replacing_is_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/file");
        assert_eq!(
            save_bytes(&path, OnExisting::Keep, b"one"),
            WriteOutcome::Written
        );
        assert_eq!(
            save_bytes(&path, OnExisting::Keep, b"one"),
            WriteOutcome::Same
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
    fn stretches_of_a_file_are_copied_in_order_with_what_is_written_between() {
        let folder = tempfile::tempdir().unwrap();
        let from = folder.path().join("from");
        let content: Vec<u8> = (0..=255).cycle().take(300_000).collect();
        std::fs::write(&from, &content).unwrap();
        let (source, to) = (
            PositionalFile::open(&from).unwrap(),
            folder.path().join("to"),
        );
        save::<FileError>(&to, OnExisting::Keep, |target| {
            let mut copy = || -> io::Result<()> {
                target.write_all(b"head")?;
                target.copy_from(&source, 7, 200_000)?;
                target.write_all(b"mid")?;
                target.copy_from(&source, 0, 100)?;
                target.rewrite(103, b"new")?;
                assert!(
                    target.rewrite(999_999, b"x").is_err() && target.rewrite(1, b"xx").is_err()
                );
                assert!(
                    target.copy_from(&source, 299_999, 100_000).is_err(),
                    "there is less"
                );
                Ok(())
            };
            copy().map_err(|e| FileError::new("write", &to, e))
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
    fn what_saving_would_come_to_is_told_without_saving_and_a_failure_leaves_no_folder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/file");
        let tried = |bytes: &[u8], existing| {
            let write = |target: &mut dyn Target| -> Result<(), FileError> {
                target.write_all(b"????").unwrap();
                target.write_all(bytes).unwrap();
                target.rewrite(4 + bytes.len() as u64, b"head").unwrap();
                Ok(())
            };
            super::try_save(&path, existing, write).unwrap()
        };
        assert_eq!(tried(b"text", OnExisting::Keep), WriteOutcome::Written);
        assert!(!folder.path().join("a").exists());
        let failed = save::<FileError>(&path, OnExisting::Keep, |_| {
            Err(FileError::new(
                "write",
                &path,
                std::io::ErrorKind::StorageFull.into(),
            ))
        });
        assert!(failed.is_err() && !folder.path().join("a").exists());
        save_bytes(&path, OnExisting::Keep, b"headtext");
        assert_eq!(tried(b"text", OnExisting::Keep), WriteOutcome::Same);
        assert_eq!(tried(b"next", OnExisting::Keep), WriteOutcome::Kept);
        assert_eq!(
            tried(b"text and more", OnExisting::Keep),
            WriteOutcome::Kept
        );
        assert_eq!(tried(b"tex", OnExisting::Replace), WriteOutcome::Written);
    }

    #[test]
    fn what_is_no_file_is_never_replaced_compared_or_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
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
            ("empty", "a folder"),
            ("socket", "a socket"),
        ] {
            for existing in [OnExisting::Keep, OnExisting::Replace] {
                let never = |_: &mut dyn Target| -> Result<(), FileError> {
                    panic!("it would come to nothing")
                };
                let path = path(name);
                for refused in [
                    save(&path, existing, never),
                    try_save(&path, existing, never),
                ] {
                    let fault = refused.unwrap_err();
                    assert_eq!(
                        fault.to_string(),
                        format!(
                            "cannot write `{}`: it is {kind}, not a file",
                            path.display()
                        )
                    );
                    let told = rock_diagnostic::Diagnostic::from(fault);
                    assert_eq!(
                        told.help.as_deref(),
                        Some("move it away, or name another place")
                    );
                }
            }
        }
        assert!(path("empty").is_dir() && path("link").is_symlink());
        assert_eq!(
            std::fs::read_dir(folder.path()).unwrap().count(),
            4,
            "nothing else is left"
        );
    }

    #[test]
    fn a_pipe_that_comes_while_a_file_is_written_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let fault = save::<FileError>(&path, OnExisting::Replace, |target| {
            assert!(
                std::process::Command::new("mkfifo")
                    .arg(&path)
                    .status()
                    .unwrap()
                    .success()
            );
            target
                .write_all(b"text")
                .map_err(|e| FileError::new("write", &path, e))
        });
        assert!(
            fault
                .unwrap_err()
                .to_string()
                .ends_with("it is a pipe, not a file")
        );
        assert!(std::os::unix::fs::FileTypeExt::is_fifo(
            &std::fs::metadata(&path).unwrap().file_type()
        ));
    }

    #[test]
    fn a_folder_is_no_file_to_read() {
        let folder = tempfile::tempdir().unwrap();
        assert!(
            PositionalFile::open(folder.path())
                .unwrap_err()
                .to_string()
                .ends_with("it is no regular file")
        );
    }
}
