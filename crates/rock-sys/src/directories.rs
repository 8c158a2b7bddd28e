//! Folders as wholes: what is in them, how large they are, removing them, locking them.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use globset::GlobBuilder;
use sha2::{Digest as _, Sha256};

use super::{FileError, PathBelow};
use rock_names::Digest;

/// Files below a folder that match a glob relative to it, sorted. `*` does not cross `/`; `**`
/// does. No link is followed.
///
/// # Errors
/// When the glob cannot be read, a folder cannot, or one that the glob names is a link.
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
    // Only the part of the tree below the last folder without wildcards is looked at.
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
    walk(&root.join(fixed), &mut |path, metadata| {
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

/// Visits everything below a path, itself among it, but nothing below a folder for which `visit`
/// returns false; links are not followed. A path that is not there holds nothing.
fn walk(
    path: &Path,
    visit: &mut dyn FnMut(&Path, &std::fs::Metadata) -> bool,
) -> Result<(), FileError> {
    let fault = |e| FileError::new("read", path, e);
    let metadata = match std::fs::symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(e) => return Err(fault(e)),
    };
    if visit(path, &metadata) && metadata.is_dir() {
        for entry in std::fs::read_dir(path).map_err(fault)? {
            walk(&entry.map_err(fault)?.path(), visit)?;
        }
    }
    Ok(())
}

/// Bytes that a path and everything below it take on the disk.
///
/// # Errors
/// When a folder cannot be read.
pub fn disk_usage(path: &Path) -> Result<u64, FileError> {
    let mut blocks = 0;
    walk(path, &mut |_, metadata| {
        blocks += metadata.blocks();
        true
    })?;
    Ok(blocks * 512)
}

/// What lies in a folder under one name. Links are what they lead to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// The folder, joined with the name.
    pub path: PathBuf,
    /// What it is.
    pub kind: DirectoryEntryKind,
}

/// What is under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirectoryEntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// Neither, in words: a pipe, a socket, a device, a link that leads nowhere.
    Other(&'static str),
}

/// What is in a folder, sorted by name; nothing when it is not there.
///
/// # Errors
/// When it is there and cannot be read.
pub fn entries(folder: &Path) -> Result<Vec<DirectoryEntry>, FileError> {
    match listed(folder) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        listed => listed.map_err(|e| FileError::new("read", folder, e)),
    }
}

/// What is in a folder, sorted by name. The folder itself tells the kind of all but links, so that
/// nothing else is looked at one by one.
fn listed(folder: &Path) -> std::io::Result<Vec<DirectoryEntry>> {
    let entry = |found: std::io::Result<std::fs::DirEntry>| {
        found.map(|found| DirectoryEntry {
            path: found.path(),
            kind: entry_kind(&found),
        })
    };
    let mut entries = std::fs::read_dir(folder)?
        .map(entry)
        .collect::<Result<Vec<_>, _>>()?;
    entries.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(entries)
}

fn entry_kind(found: &std::fs::DirEntry) -> DirectoryEntryKind {
    let kind = match found.file_type() {
        Ok(kind) if !kind.is_symlink() => Some(kind),
        _ => std::fs::metadata(found.path())
            .map(|metadata| metadata.file_type())
            .ok(),
    };
    match kind {
        Some(kind) if kind.is_file() => DirectoryEntryKind::File,
        Some(kind) if kind.is_dir() => DirectoryEntryKind::Folder,
        Some(kind) => {
            DirectoryEntryKind::Other(super::files::special_kind(kind).unwrap_or("a device"))
        }
        None => DirectoryEntryKind::Other("a link that leads nowhere"),
    }
}

/// Whether there is a folder under this path itself, and not a link to one.
pub fn is_real_directory(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// The names in a folder, sorted; none when it is not there.
///
/// # Errors
/// When it is there and cannot be read.
pub fn names_in(folder: &Path) -> Result<Vec<String>, FileError> {
    let name = |entry: DirectoryEntry| {
        entry
            .path
            .file_name()
            .and_then(|name| name.to_str())
            .map(str::to_owned)
    };
    Ok(entries(folder)?.into_iter().filter_map(name).collect())
}

/// Regular files of a folder with one of these extensions, sorted by name. A folder that is not
/// there has none.
///
/// # Errors
/// When the folder is there and cannot be read.
pub fn files_with_extension(folder: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>, FileError> {
    let fits = |path: &Path| {
        path.extension()
            .is_some_and(|e| extensions.iter().any(|wanted| e == *wanted))
    };
    let files = entries(folder)?
        .into_iter()
        .filter(|entry| entry.kind == DirectoryEntryKind::File);
    Ok(files
        .map(|file| file.path)
        .filter(|path| fits(path))
        .collect())
}

/// Folders inside a folder, sorted by name.
///
/// # Errors
/// When the folder cannot be read.
pub fn subdirectories(folder: &Path) -> Result<Vec<PathBuf>, FileError> {
    let entries = listed(folder).map_err(|e| FileError::new("read", folder, e))?;
    Ok(entries
        .into_iter()
        .filter(|entry| entry.kind == DirectoryEntryKind::Folder)
        .map(|entry| entry.path)
        .collect())
}

/// Whether something is at the path, a dangling link too.
pub fn exists(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}

/// Whether a path below a folder belongs to another user than `uid`.
///
/// # Errors
/// When a folder cannot be read.
pub fn has_foreign_files(folder: &Path, uid: u32) -> Result<bool, FileError> {
    let mut foreign = false;
    walk(folder, &mut |_, metadata| {
        foreign |= metadata.uid() != uid;
        true
    })?;
    Ok(foreign)
}

/// The user and group that this program runs as.
pub fn own_ids() -> (u32, u32) {
    (
        rustix::process::geteuid().as_raw(),
        rustix::process::getegid().as_raw(),
    )
}

/// Makes a folder and its parents.
///
/// # Errors
/// When the system refuses.
pub fn create_directory(path: &Path) -> Result<(), FileError> {
    std::fs::create_dir_all(path).map_err(|e| FileError::new("make", path, e))
}

/// Makes sure that files can be made in a folder, which is made where it is missing.
///
/// # Errors
/// When the system refuses.
pub fn can_write_into(folder: &Path) -> Result<(), FileError> {
    create_directory(folder)?;
    super::pending_file::PendingFile::new_in(folder)
        .map(drop)
        .map_err(|e| FileError::new("write into", folder, e))
}

/// Removes a file, a link, or a folder with all that is in it; what is not there is no fault. Links
/// are not followed.
///
/// # Errors
/// When the system refuses.
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

/// A file to be read from its beginning to its end.
///
/// # Errors
/// When it cannot be opened.
pub fn open_to_read(path: &Path) -> std::io::Result<Box<dyn std::io::Read + Send>> {
    Ok(Box::new(File::open(path)?))
}

/// Size and SHA-256 of a file, read in pieces.
///
/// # Errors
/// When it cannot be read.
pub fn digest_of(path: &Path) -> Result<(u64, Digest), FileError> {
    let fault = |e| FileError::new("read", path, e);
    let mut file = File::open(path).map_err(fault)?;
    let (mut hasher, mut size, mut buffer) = (Sha256::new(), 0, vec![0; 256 << 10]);
    loop {
        match file.read(&mut buffer).map_err(fault)? {
            0 => return Ok((size, Digest::new(hasher.finalize().into()))),
            read => {
                size += read as u64;
                hasher.update(&buffer[..read]);
            }
        }
    }
}

/// Lists the files below a path, one line each: name, size, time of change, mode. Equal text means
/// that nothing was changed. Paths for which `is_left_out` returns true, relative to `path`, are
/// not listed, and nothing below them.
///
/// # Errors
/// When a folder cannot be read.
pub fn listing(
    path: &Path,
    is_left_out: &mut dyn FnMut(&Path, bool) -> bool,
) -> Result<String, FileError> {
    let mut lines = Vec::new();
    walk(path, &mut |found, metadata| {
        let relative = found.strip_prefix(path).unwrap_or(found);
        if !relative.as_os_str().is_empty() && is_left_out(relative, metadata.is_dir()) {
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

/// Size of a regular file and when its bytes were last written; `None` for anything else.
pub fn stamp(path: &Path) -> Option<(u64, std::time::SystemTime)> {
    let metadata = std::fs::metadata(path)
        .ok()
        .filter(std::fs::Metadata::is_file)?;
    Some((metadata.len(), metadata.modified().ok()?))
}

/// Copies a file as a whole: under a temporary name beside the target, synced, then renamed.
/// Parents are made.
///
/// # Errors
/// When one cannot be read or the other cannot be written; nothing is left behind then.
pub fn copy_atomic(from: &Path, to: &Path) -> Result<(), FileError> {
    let mut source = File::open(from).map_err(|e| FileError::new("read", from, e))?;
    super::write_streamed(to, |out| std::io::copy(&mut source, out).map(drop))
}

/// Gives a regular file a second name, or copies it where the file system has no hard links.
/// Parents are made.
///
/// # Errors
/// When it is not a regular file, the target is there, or the system refuses.
pub fn link_or_copy(from: &Path, to: &Path) -> Result<(), FileError> {
    let is_regular = std::fs::symlink_metadata(from)
        .map_err(|e| FileError::new("read", from, e))?
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

/// Opens a file to append to; parents are made. A symbolic link of its name is not followed: what
/// is built may have put it there.
///
/// # Errors
/// When the system refuses, or it is a symbolic link.
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
        .map_err(|e| FileError::new("write", path, e))
}

/// Bytes free for this user on the disk that holds a path; `None` where the system does not say.
pub fn free_bytes(path: &Path) -> Option<u64> {
    let status = rustix::fs::statvfs(path).ok()?;
    Some(status.f_bavail * status.f_frsize)
}

/// Seconds since 1970-01-01 UTC.
pub fn now_s() -> u64 {
    std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// A lock on a file, held until it is dropped or the program ends in whatever way.
#[derive(Debug)]
pub struct FileLock {
    file: File,
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Not by closing alone: a process that another thread starts at this moment has a copy of
        // the file until it runs its program, and the lock is that of all copies (flock(2)).
        let _ = rustix::fs::flock(&self.file, rustix::fs::FlockOperation::Unlock);
    }
}

/// Locks a file, which is made where it is missing; `None` when another program holds the lock.
///
/// # Errors
/// When it cannot be opened.
pub fn lock(path: &Path) -> Result<Option<FileLock>, FileError> {
    held(open_log(path)?, path)
}

/// Locks a file below a folder that others write into, as [`lock`] does.
///
/// # Errors
/// When it cannot be opened, or a symbolic link is on the way.
pub fn lock_below(file: &PathBelow) -> Result<Option<FileLock>, FileError> {
    held(file.open_log()?, &file.path())
}

fn held(file: File, path: &Path) -> Result<Option<FileLock>, FileError> {
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
    fn a_lock_ends_although_a_starting_process_has_a_copy_of_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = lock(&path).unwrap().unwrap();
        assert!(lock(&path).unwrap().is_none());
        let copy = held.file.try_clone().unwrap();
        drop(held);
        assert!(lock(&path).unwrap().is_some());
        drop(copy);
    }

    #[test]
    fn a_link_in_a_folder_is_what_it_leads_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
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
        let kinds: Vec<_> = entries(folder.path())
            .unwrap()
            .into_iter()
            .map(|entry| entry.kind)
            .collect();
        let socket = DirectoryEntryKind::Other("a socket");
        let nowhere = DirectoryEntryKind::Other("a link that leads nowhere");
        let (file, inner) = (DirectoryEntryKind::File, DirectoryEntryKind::Folder);
        assert_eq!(kinds, [file, file, nowhere, inner, inner, socket, socket]);
        assert_eq!(
            files_with_extension(folder.path(), &["whl"]).unwrap(),
            [path("a.whl"), path("b.whl")]
        );
        assert_eq!(
            subdirectories(folder.path()).unwrap(),
            [path("d.whl"), path("e.whl")]
        );
        let missing = path("missing");
        assert_eq!(entries(&missing).unwrap(), []);
        assert!(subdirectories(&missing).is_err());
    }

    #[test]
    fn a_star_stays_in_its_folder_and_two_stars_do_not() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "dist/ck/a.whl",
            "dist/ck/sub/b.whl",
            "dist/c.txt",
            "ü b/d.whl",
        ] {
            touch(&folder.path().join(name));
        }
        let found = |pattern| glob(folder.path(), pattern).unwrap().len();
        assert_eq!(
            (
                found("dist/*/*.whl"),
                found("dist/**/*.whl"),
                found("ü b/*.whl")
            ),
            (1, 2, 1)
        );
        assert_eq!((found("none/*.whl"), found("dist/c.txt")), (0, 1));
        assert!(glob(folder.path(), "a{").is_err());
    }

    #[test]
    fn removing_a_link_leaves_what_it_points_to() {
        let folder = tempfile::tempdir().unwrap();
        touch(&folder.path().join("kept/file"));
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("kept", &link).unwrap();
        remove(&link).unwrap();
        remove(&link).unwrap();
        assert!(exists(&folder.path().join("kept/file")) && !exists(&link));
    }

    #[test]
    fn a_lock_is_refused_to_the_second_and_given_again_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let first = lock(&path).unwrap();
        assert!(first.is_some() && lock(&path).unwrap().is_none());
        drop(first);
        assert!(lock(&path).unwrap().is_some());
    }

    #[test]
    fn a_digest_is_that_of_the_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("abc");
        std::fs::write(&path, "abc").unwrap();
        // FIPS 180-2, appendix B.1.
        let expected = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let (size, digest) = digest_of(&path).unwrap();
        assert_eq!((size, digest.to_string().as_str()), (3, expected));
    }
}
