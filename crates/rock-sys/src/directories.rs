//! Directories, locks, digests and file metadata: listing, removing, copying.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use globset::GlobBuilder;
use sha2::{Digest as _, Sha256};

use super::{FileError, PathBelow};
use rock_names::Digest;

/// Returns the regular files below a directory that match a glob relative to it, sorted. `*` does
/// not match `/`, `**` does. Symbolic links are not followed.
///
/// # Errors
///
/// Returns an error if the glob is malformed, a directory cannot be read, or a directory named in
/// the glob is a symbolic link.
pub fn glob(root: &Path, pattern: &str) -> Result<Vec<PathBuf>, FileError> {
    let matcher = GlobBuilder::new(pattern)
        .literal_separator(true)
        .build()
        .map_err(|e| FileError {
            action: "read",
            path: pattern.into(),
            reason: e.to_string(),
            source: None,
        })?
        .compile_matcher();
    // Skip the components before the first wildcard.
    let fixed: PathBuf = Path::new(pattern)
        .parent()
        .into_iter()
        .flat_map(Path::components)
        .take_while(|part| {
            !part
                .as_os_str()
                .to_string_lossy()
                .contains(['*', '?', '[', '{'])
        })
        .collect();
    if fixed.components().next().is_some() {
        PathBelow::new(root, &fixed).check()?;
    }
    let mut found = Vec::new();
    visit_tree(&root.join(fixed), &mut |path, metadata| {
        if metadata.is_file()
            && path
                .strip_prefix(root)
                .is_ok_and(|relative| matcher.is_match(relative))
        {
            found.push(path.to_owned());
        }
        true
    })?;
    found.sort();
    Ok(found)
}

/// Visits a path and everything below it, except below directories for which `visit` returns false.
/// Symbolic links are not followed; a missing path has no entries.
fn visit_tree(
    path: &Path,
    visit: &mut dyn FnMut(&Path, &std::fs::Metadata) -> bool,
) -> Result<(), FileError> {
    let metadata = match std::fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(FileError::new("read", path, e)),
    };
    if visit(path, &metadata) && metadata.is_dir() {
        for entry in std::fs::read_dir(path).map_err(FileError::context("read", path))? {
            visit_tree(
                &entry.map_err(FileError::context("read", path))?.path(),
                visit,
            )?;
        }
    }
    Ok(())
}

/// Returns the bytes that a path and everything below it occupy on disk.
///
/// # Errors
///
/// Returns an error if a directory cannot be read.
pub fn disk_usage(path: &Path) -> Result<u64, FileError> {
    let mut blocks = 0;
    visit_tree(path, &mut |_, metadata| {
        blocks += metadata.blocks();
        true
    })?;
    Ok(blocks * 512)
}

/// An entry of a directory. Symbolic links are resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// The path of the directory joined with the name.
    pub path: PathBuf,
    /// The kind of file.
    pub kind: DirectoryEntryKind,
}

/// The kind of a [`DirectoryEntry`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectoryEntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// Anything else, described in words: a pipe, a socket, a device, a dangling link.
    Other(&'static str),
}

/// Returns the entries of a directory, sorted by name. A missing directory has none.
///
/// # Errors
///
/// Returns an error if the directory exists but cannot be read.
pub fn read_entries(directory: &Path) -> Result<Vec<DirectoryEntry>, FileError> {
    match read_sorted(directory) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        listed => listed.map_err(FileError::context("read", directory)),
    }
}

/// Reads a directory. Only symbolic links need a stat(2) of their own.
fn read_sorted(directory: &Path) -> std::io::Result<Vec<DirectoryEntry>> {
    let mut entries = std::fs::read_dir(directory)?
        .map(|entry| {
            entry.map(|entry| DirectoryEntry {
                path: entry.path(),
                kind: entry_kind(&entry),
            })
        })
        .collect::<Result<Vec<_>, _>>()?;
    entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(entries)
}

fn entry_kind(entry: &std::fs::DirEntry) -> DirectoryEntryKind {
    let kind = match entry.file_type() {
        Ok(kind) if !kind.is_symlink() => Some(kind),
        _ => std::fs::metadata(entry.path())
            .map(|metadata| metadata.file_type())
            .ok(),
    };
    match kind {
        Some(kind) if kind.is_file() => DirectoryEntryKind::File,
        Some(kind) if kind.is_dir() => DirectoryEntryKind::Directory,
        Some(kind) => {
            DirectoryEntryKind::Other(super::files::special_kind(kind).unwrap_or("a device"))
        }
        None => DirectoryEntryKind::Other("a link that leads nowhere"),
    }
}

/// Returns whether a directory is at the path, and not a link to one.
pub fn is_real_directory(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// Returns whether a directory, or a link to one, is at the path.
pub fn is_directory(path: &Path) -> bool {
    path.is_dir()
}

/// Returns the UTF-8 names in a directory, sorted. A missing directory has none.
///
/// # Errors
///
/// Returns an error if the directory exists but cannot be read.
pub fn entry_names(directory: &Path) -> Result<Vec<String>, FileError> {
    Ok(read_entries(directory)?
        .iter()
        .filter_map(|entry| entry.path.file_name()?.to_str())
        .map(str::to_owned)
        .collect())
}

/// Returns the regular files of a directory with one of the extensions, sorted by name. A missing
/// directory has none.
///
/// # Errors
///
/// Returns an error if the directory exists but cannot be read.
pub fn files_with_extension(
    directory: &Path,
    extensions: &[&str],
) -> Result<Vec<PathBuf>, FileError> {
    let fits = |path: &Path| {
        path.extension()
            .is_some_and(|e| extensions.iter().any(|wanted| e == *wanted))
    };
    let files = read_entries(directory)?
        .into_iter()
        .filter(|entry| entry.kind == DirectoryEntryKind::File);
    Ok(files
        .map(|file| file.path)
        .filter(|path| fits(path))
        .collect())
}

/// Returns the directories in a directory, sorted by name.
///
/// # Errors
///
/// Returns an error if the directory is missing or cannot be read.
pub fn subdirectories(directory: &Path) -> Result<Vec<PathBuf>, FileError> {
    let entries = read_sorted(directory).map_err(FileError::context("read", directory))?;
    Ok(entries
        .into_iter()
        .filter(|entry| entry.kind == DirectoryEntryKind::Directory)
        .map(|entry| entry.path)
        .collect())
}

/// Returns whether anything is at the path, including a dangling symbolic link.
pub fn exists(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}

/// Returns whether the directory or anything below it belongs to a user other than `uid`.
///
/// # Errors
///
/// Returns an error if a directory cannot be read.
pub fn has_foreign_files(directory: &Path, uid: u32) -> Result<bool, FileError> {
    let mut foreign = false;
    visit_tree(directory, &mut |_, metadata| {
        foreign |= metadata.uid() != uid;
        true
    })?;
    Ok(foreign)
}

/// Returns the effective user and group ID of this process.
pub fn effective_ids() -> (u32, u32) {
    (
        rustix::process::geteuid().as_raw(),
        rustix::process::getegid().as_raw(),
    )
}

/// Creates a directory and its parents.
///
/// # Errors
///
/// Returns an error if a directory cannot be created.
pub fn create_directory(path: &Path) -> Result<(), FileError> {
    std::fs::create_dir_all(path).map_err(FileError::context("make", path))
}

/// Creates a directory if it is missing, and checks that files can be created in it.
///
/// # Errors
///
/// Returns an error if the directory cannot be created or written to.
pub fn ensure_writable(directory: &Path) -> Result<(), FileError> {
    create_directory(directory)?;
    super::pending_file::PendingFile::new_in(directory)
        .map(drop)
        .map_err(FileError::context("write into", directory))
}

/// Removes a file, a symbolic link, or a directory with its contents. Does nothing if the path does
/// not exist.
///
/// # Errors
///
/// Returns an error if something cannot be removed.
pub fn remove(path: &Path) -> Result<(), FileError> {
    let removed = match std::fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(e) => Err(e),
    };
    match removed {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(FileError::new("remove", path, e))
        }
        _ => Ok(()),
    }
}

/// Opens a file for reading from start to end.
///
/// # Errors
///
/// Returns an error if the file cannot be opened.
pub fn open_file(path: &Path) -> std::io::Result<Box<dyn std::io::Read + Send>> {
    Ok(Box::new(File::open(path)?))
}

/// Returns the size in bytes and the SHA-256 digest of a file, read in chunks.
///
/// # Errors
///
/// Returns an error if the file cannot be read.
pub fn hash_file(path: &Path) -> Result<(u64, Digest), FileError> {
    let mut file = File::open(path).map_err(FileError::context("read", path))?;
    let (mut hasher, mut size, mut buffer) = (Sha256::new(), 0, vec![0; 256 << 10]);
    loop {
        match file
            .read(&mut buffer)
            .map_err(FileError::context("read", path))?
        {
            0 => return Ok((size, Digest::new(hasher.finalize().into()))),
            read => {
                size += read as u64;
                hasher.update(&buffer[..read]);
            }
        }
    }
}

/// Returns one line per file below a path: name, size, modification time, mode. Two equal listings
/// mean that no file was changed in between.
///
/// `is_excluded` is called with each path relative to `path` and whether it is a directory;
/// excluded directories are not entered.
///
/// # Errors
///
/// Returns an error if a directory cannot be read.
pub fn file_listing(
    path: &Path,
    is_excluded: &mut dyn FnMut(&Path, bool) -> bool,
) -> Result<String, FileError> {
    let mut lines = Vec::new();
    visit_tree(path, &mut |found, metadata| {
        let relative = found.strip_prefix(path).unwrap_or(found);
        if !relative.as_os_str().is_empty() && is_excluded(relative, metadata.is_dir()) {
            return false;
        }
        if !metadata.is_dir() {
            let time = (metadata.mtime(), metadata.mtime_nsec());
            let mode = metadata.mode();
            lines.push(format!(
                "{} {} {}.{:09} {mode:o}\n",
                found.display(),
                metadata.size(),
                time.0,
                time.1
            ));
        }
        true
    })?;
    lines.sort();
    Ok(lines.concat())
}

/// Returns the size in bytes and modification time of a regular file; `None` for anything else.
pub fn size_and_mtime(path: &Path) -> Option<(u64, std::time::SystemTime)> {
    let metadata = std::fs::metadata(path)
        .ok()
        .filter(std::fs::Metadata::is_file)?;
    Some((metadata.len(), metadata.modified().ok()?))
}

/// Copies a file: writes a pending file next to the target, syncs it, and renames it. Creates
/// missing parents.
///
/// # Errors
///
/// Returns an error if the source cannot be read or the target cannot be written; nothing is left
/// behind then.
pub fn copy_atomic(from: &Path, to: &Path) -> Result<(), FileError> {
    let mut source = File::open(from).map_err(FileError::context("read", from))?;
    super::write_streamed(to, |out| std::io::copy(&mut source, out).map(drop))
}

/// Hard-links a regular file, or copies it where the file system cannot. Creates missing parents.
///
/// # Errors
///
/// Returns an error if the source is not a regular file, the target exists, or copying fails.
pub fn link_or_copy(from: &Path, to: &Path) -> Result<(), FileError> {
    let is_regular = std::fs::symlink_metadata(from)
        .map_err(FileError::context("read", from))?
        .is_file();
    if !is_regular {
        let reason = "it is not a regular file".to_owned();
        return Err(FileError {
            action: "read",
            path: from.to_owned(),
            reason,
            source: None,
        });
    }
    if let Some(parent) = to.parent() {
        create_directory(parent)?;
    }
    match std::fs::hard_link(from, to) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            Err(FileError::new("create", to, error))
        }
        Err(_) => copy_atomic(from, to),
    }
}

/// Opens a file for appending and creates missing parents. Fails if the path is a symbolic link,
/// which a build may have created.
fn open_log(path: &Path) -> Result<File, FileError> {
    if let Some(parent) = path.parent() {
        create_directory(parent)?;
    }
    let no_follow = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
    File::options()
        .create(true)
        .append(true)
        .custom_flags(no_follow)
        .open(path)
        .map_err(FileError::context("write", path))
}

/// Returns the bytes that this user can still write to the file system of a path; `None` if
/// unknown.
pub fn free_bytes(path: &Path) -> Option<u64> {
    let status = rustix::fs::statvfs(path).ok()?;
    Some(status.f_bavail * status.f_frsize)
}

/// Returns the current instant of the monotonic clock.
pub fn monotonic_now() -> std::time::Instant {
    std::time::Instant::now()
}

/// Returns the seconds since 1970-01-01 UTC.
pub fn now_s() -> u64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// An exclusive lock on a file, held until it is dropped or the process ends.
#[derive(Debug)]
pub struct FileLock {
    file: File,
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Closing is not enough: a process that another thread is starting holds a copy of the
        // descriptor until it calls execve(2), and the copies share the lock (flock(2)).
        let _ = rustix::fs::flock(&self.file, rustix::fs::FlockOperation::Unlock);
    }
}

/// Locks a file, which is created if missing. Returns `None` if another process holds the lock.
///
/// # Errors
///
/// Returns an error if the file cannot be opened or locked.
pub fn try_lock(path: &Path) -> Result<Option<FileLock>, FileError> {
    try_flock(open_log(path)?, path)
}

/// Like [`try_lock`], for a file below a directory that others write to.
///
/// # Errors
///
/// Returns an error if the file cannot be opened or locked, or a symbolic link is on the way to it.
pub fn try_lock_below(file: &PathBelow) -> Result<Option<FileLock>, FileError> {
    try_flock(file.open_log()?, &file.path())
}

fn try_flock(file: File, path: &Path) -> Result<Option<FileLock>, FileError> {
    match rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(FileLock { file })),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
        Err(e) => Err(FileError::new("lock", path, e.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touch(path: &Path) {
        create_directory(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    }

    #[test]
    fn a_lock_is_released_despite_a_copied_descriptor() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let held = try_lock(&path).unwrap().unwrap();
        assert!(try_lock(&path).unwrap().is_none());
        let copy = held.file.try_clone().unwrap();
        drop(held);
        assert!(try_lock(&path).unwrap().is_some());
        drop(copy);
    }

    #[test]
    fn entries_resolve_links() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        touch(&path("b.whl"));
        create_directory(&path("e.whl")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(path("f.whl")).unwrap();
        for (link, to) in [
            ("a.whl", "b.whl"),
            ("c.whl", "nowhere"),
            ("d.whl", "e.whl"),
            ("g.whl", "f.whl"),
        ] {
            std::os::unix::fs::symlink(to, path(link)).unwrap();
        }
        let kinds: Vec<_> = read_entries(directory.path())
            .unwrap()
            .into_iter()
            .map(|entry| entry.kind)
            .collect();
        let socket = DirectoryEntryKind::Other("a socket");
        let nowhere = DirectoryEntryKind::Other("a link that leads nowhere");
        let (file, inner) = (DirectoryEntryKind::File, DirectoryEntryKind::Directory);
        assert_eq!(kinds, [file, file, nowhere, inner, inner, socket, socket]);
        assert_eq!(
            files_with_extension(directory.path(), &["whl"]).unwrap(),
            [path("a.whl"), path("b.whl")]
        );
        assert_eq!(
            subdirectories(directory.path()).unwrap(),
            [path("d.whl"), path("e.whl")]
        );
        let missing = path("missing");
        assert_eq!(read_entries(&missing).unwrap(), []);
        assert!(subdirectories(&missing).is_err());
    }

    #[test]
    fn one_star_does_not_match_a_slash() {
        let directory = tempfile::tempdir().unwrap();
        for name in [
            "dist/ck/a.whl",
            "dist/ck/sub/b.whl",
            "dist/c.txt",
            "ü b/d.whl",
        ] {
            touch(&directory.path().join(name));
        }
        let found = |pattern| glob(directory.path(), pattern).unwrap().len();
        assert_eq!(
            (
                found("dist/*/*.whl"),
                found("dist/**/*.whl"),
                found("ü b/*.whl")
            ),
            (1, 2, 1)
        );
        assert_eq!((found("none/*.whl"), found("dist/c.txt")), (0, 1));
        assert!(glob(directory.path(), "a{").is_err());
    }

    #[test]
    fn remove_does_not_follow_links() {
        let directory = tempfile::tempdir().unwrap();
        touch(&directory.path().join("kept/file"));
        let link = directory.path().join("link");
        std::os::unix::fs::symlink("kept", &link).unwrap();
        remove(&link).unwrap();
        remove(&link).unwrap();
        assert!(exists(&directory.path().join("kept/file")) && !exists(&link));
    }

    #[test]
    fn a_lock_is_exclusive_until_dropped() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("lock");
        let first = try_lock(&path).unwrap();
        assert!(first.is_some() && try_lock(&path).unwrap().is_none());
        drop(first);
        assert!(try_lock(&path).unwrap().is_some());
    }

    #[test]
    fn hash_file_returns_size_and_sha256() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("abc");
        std::fs::write(&path, "abc").unwrap();
        // FIPS 180-2, appendix B.1.
        let expected = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let (size, digest) = hash_file(&path).unwrap();
        assert_eq!((size, digest.to_string().as_str()), (3, expected));
    }
}
