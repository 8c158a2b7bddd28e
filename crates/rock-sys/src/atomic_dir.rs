//! Replaces a directory as a whole: its next state is staged in a sibling directory and swapped in.
//!
//! With `renameat2(RENAME_EXCHANGE)`, readers and recovery after a crash see either the old or the
//! new directory. On file systems without it (NFS), two renames are needed; after a crash between
//! them the old directory has a temporary name, and [`DirectorySwap::begin`] restores it.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use rustix::fs::{CWD, FlockOperation, RenameFlags, renameat_with};
use rustix::io::Errno;

use super::FileError;
use super::umask::new_file_mode;
use rock_bytes::start_threads;

/// An exclusive lock (flock(2)) on the entries of a directory.
///
/// It is released when its last clone is dropped or the process ends.
#[derive(Debug, Clone)]
pub struct DirectoryLock {
    directory: PathBuf,
    _file: Arc<File>,
}

/// Permission to replace a directory: holds the lock of its parent until it is dropped.
#[derive(Debug)]
pub struct DirectorySwap {
    target: PathBuf,
    parent: PathBuf,
    lock: Option<DirectoryLock>,
}

/// The next state of a directory. Removed on drop unless it was committed.
#[derive(Debug)]
pub struct StagingDirectory {
    swap: DirectorySwap,
    directory: PathBuf,
    is_finished: bool,
}

/// The method that replaces the target by the staged directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SwapMethod {
    /// `renameat2` with `RENAME_EXCHANGE`, and two renames where it is not supported.
    Exchange,
    /// Always two renames.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "only tests select the fallback explicitly")
    )]
    TwoRenames,
}

/// The suffix of hidden directories and files that are being written. [`DirectoryLock::sweep`]
/// removes those that a killed process left.
pub(super) const NEW_SUFFIX: &str = ".rock-new";

/// Suffixes of the staging directory and of the replaced directory, next to the target.
const SUFFIXES: [&str; 2] = [NEW_SUFFIX, ".rock-old"];

impl DirectoryLock {
    /// Locks a directory. Calls `on_wait` before waiting for another process to release it.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory cannot be opened or locked.
    pub fn acquire(directory: &Path, on_wait: impl FnOnce()) -> Result<Self, FileError> {
        let file = File::open(directory).map_err(FileError::context("open", directory))?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                on_wait();
                rustix::fs::flock(&file, FlockOperation::LockExclusive)
                    .map_err(FileError::context("lock", directory))?;
            }
            Err(error) => return Err(FileError::new("lock", directory, error.into())),
        }
        Ok(Self {
            directory: directory.to_owned(),
            _file: Arc::new(file),
        })
    }

    /// Returns the locked directory.
    pub fn path(&self) -> &Path {
        &self.directory
    }

    /// Recovers every interrupted swap of a directory in this one, and removes leftover staging
    /// directories and files that were not yet renamed.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory cannot be read or a leftover cannot be removed.
    pub fn sweep(&self) -> Result<(), FileError> {
        for left in super::entry_names(&self.directory)? {
            let target = SUFFIXES
                .iter()
                .find_map(|suffix| left.strip_prefix('.')?.strip_suffix(suffix));
            if let Some(target) = target.filter(|target| !target.is_empty()) {
                self.swap(target).recover()?;
            }
        }
        Ok(())
    }

    /// Returns permission to replace the subdirectory `name`. Several subdirectories may be
    /// replaced at the same time.
    pub fn swap(&self, name: &str) -> DirectorySwap {
        DirectorySwap {
            target: self.directory.join(name),
            parent: self.directory.clone(),
            lock: Some(self.clone()),
        }
    }
}

impl DirectorySwap {
    /// Locks the parent of `target` and recovers an interrupted swap. Calls `on_wait` before
    /// waiting for another process.
    ///
    /// Nothing is locked or created if the parent does not exist yet; [`Self::stage`] does both
    /// then.
    ///
    /// # Errors
    ///
    /// Returns an error if `target` has no parent, or the parent cannot be locked.
    pub fn begin(target: &Path, on_wait: impl FnOnce()) -> Result<Self, FileError> {
        let target = real_path(target);
        let (Some(parent), Some(Component::Normal(_))) =
            (target.parent(), target.components().next_back())
        else {
            let reason = "no directory can be created next to it".to_owned();
            return Err(FileError {
                action: "replace",
                path: target,
                reason,
                source: None,
            });
        };
        let parent = parent.to_owned();
        let mut swap = Self {
            target,
            parent,
            lock: None,
        };
        if swap.parent.is_dir() {
            swap.lock = Some(DirectoryLock::acquire(&swap.parent, on_wait)?);
            swap.recover()?;
        }
        Ok(swap)
    }

    /// Returns the target, absolute and with symbolic links resolved.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Creates an empty staging directory next to the target, and missing parents.
    ///
    /// # Errors
    ///
    /// Returns an error if a directory cannot be created or the parent cannot be locked.
    pub fn stage(mut self) -> Result<StagingDirectory, FileError> {
        std::fs::create_dir_all(&self.parent)
            .map_err(FileError::context("create", &self.parent))?;
        if self.lock.is_none() {
            self.lock = Some(DirectoryLock::acquire(&self.parent, || ())?);
            self.recover()?;
        }
        let directory = self.sibling(SUFFIXES[0]);
        std::fs::create_dir(&directory).map_err(FileError::context("create", &directory))?;
        Ok(StagingDirectory {
            swap: self,
            directory,
            is_finished: false,
        })
    }

    /// Restores the old directory of an interrupted swap and removes leftovers.
    fn recover(&self) -> Result<(), FileError> {
        let [new, old] = SUFFIXES.map(|suffix| self.sibling(suffix));
        if old.exists() && !self.target.exists() {
            std::fs::rename(&old, &self.target).map_err(FileError::context("rename", &old))?;
        }
        for left in [old, new] {
            super::remove(&left)?;
        }
        Ok(())
    }

    /// Returns the hidden path with this suffix next to the target.
    fn sibling(&self, suffix: &str) -> PathBuf {
        let mut name = OsString::from(".");
        name.push(self.target.file_name().unwrap_or_default());
        name.push(suffix);
        self.parent.join(name)
    }
}

impl StagingDirectory {
    /// Copies a file into the staging directory, sharing blocks where the file system can.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be read or written.
    pub fn copy(&self, from: &Path, name: &str) -> Result<PathBuf, FileError> {
        let to = self.staged_path(name)?;
        create_with_parents(&to, || std::fs::copy(from, &to))
            .map_err(FileError::context("copy", from))?;
        finish_file(
            &File::open(&to).map_err(FileError::context("open", &to))?,
            &to,
        )?;
        Ok(to)
    }

    /// Hard-links a regular file into the staging directory, or copies it where that is not
    /// possible.
    ///
    /// # Errors
    ///
    /// Returns an error if the file can be neither linked nor copied.
    pub fn link(&self, from: &Path, name: &str) -> Result<PathBuf, FileError> {
        let to = self.staged_path(name)?;
        super::link_or_copy(from, &to)?;
        finish_file(
            &File::open(&to).map_err(FileError::context("open", &to))?,
            &to,
        )?;
        Ok(to)
    }

    /// Carries a file over from the current state, as a hard link or a copy.
    ///
    /// # Errors
    ///
    /// Returns an error if the file can be neither linked nor copied.
    pub fn keep(&self, name: &str) -> Result<PathBuf, FileError> {
        let from = self.swap.target.join(name);
        let to = self.staged_path(name)?;
        match create_with_parents(&to, || std::fs::hard_link(&from, &to)) {
            Ok(()) => Ok(to),
            Err(_) => self.copy(&from, name),
        }
    }

    /// Writes and syncs a file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), FileError> {
        let to = self.staged_path(name)?;
        let mut file = create_with_parents(&to, || File::create_new(&to))
            .map_err(FileError::context("write", &to))?;
        file.write_all(bytes)
            .map_err(FileError::context("write", &to))?;
        finish_file(&file, &to)
    }

    /// Returns the staging directory. After writing to it directly, use [`Self::commit_unsynced`].
    pub fn path(&self) -> &Path {
        &self.directory
    }

    /// Returns the directory that contains the staging directory and the target.
    pub fn parent(&self) -> &Path {
        &self.swap.parent
    }

    /// Replaces the target with the staged state, then removes the old one.
    ///
    /// # Errors
    ///
    /// Returns an error if the swap fails; the target is unchanged then. Also returns an error if
    /// the swapped directory cannot be synced or the old one cannot be removed.
    pub fn commit(self) -> Result<(), FileError> {
        sync_directories(&self.directory)?;
        self.commit_with(SwapMethod::Exchange)
    }

    /// Like [`Self::commit`], for files that may not be on disk yet: syncs the whole file system
    /// first.
    ///
    /// # Errors
    ///
    /// Returns an error if syncing fails, or as [`Self::commit`].
    pub fn commit_unsynced(self) -> Result<(), FileError> {
        sync_all_below(&self.directory)?;
        self.commit_with(SwapMethod::Exchange)
    }

    /// Merges the staged subdirectory `name` into the parent with
    /// [`merge_tree`](super::merge_tree), then removes the staging directory.
    ///
    /// # Errors
    ///
    /// Returns an error if syncing fails, or as [`merge_tree`](super::merge_tree).
    pub fn merge_into(self, name: &str) -> Result<(), FileError> {
        sync_all_below(&self.directory)?;
        super::merge_tree(&self.staged_path(name)?, &self.swap.parent)
    }

    fn commit_with(mut self, method: SwapMethod) -> Result<(), FileError> {
        let old = self.put_in_place(method)?;
        self.is_finished = true;
        sync_directory(&self.swap.parent)?;
        old.map_or(Ok(()), |old| super::remove(&old))
    }

    /// Swaps the staged directory with the target. Returns the path of the old state, if any.
    fn put_in_place(&self, method: SwapMethod) -> Result<Option<PathBuf>, FileError> {
        let (new, target) = (&self.directory, &self.swap.target);
        match renameat_with(CWD, new, CWD, target, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(None),
            Err(Errno::EXIST | Errno::NOTEMPTY) => {}
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) if !target.exists() => {
                return std::fs::rename(new, target)
                    .map(|()| None)
                    .map_err(FileError::context("replace", target));
            }
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            Err(error) => return Err(FileError::new("replace", target, error.into())),
        }
        if method == SwapMethod::Exchange {
            match renameat_with(CWD, new, CWD, target, RenameFlags::EXCHANGE) {
                Ok(()) => return Ok(Some(new.clone())),
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
                Err(error) => return Err(FileError::new("replace", target, error.into())),
            }
        }
        let old = self.swap.sibling(SUFFIXES[1]);
        std::fs::rename(target, &old).map_err(FileError::context("replace", target))?;
        if let Err(error) = std::fs::rename(new, target) {
            let _ = std::fs::rename(&old, target);
            return Err(FileError::new("replace", target, error));
        }
        Ok(Some(old))
    }

    /// Returns the path of a file in the staging directory.
    ///
    /// # Errors
    ///
    /// Returns an error if `name` is empty, absolute, or contains `.` or `..`.
    pub fn staged_path(&self, name: &str) -> Result<PathBuf, FileError> {
        let relative = Path::new(name);
        if !relative
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
            || name.is_empty()
        {
            let reason = "it would be outside the directory".to_owned();
            return Err(FileError {
                action: "write",
                path: relative.to_owned(),
                reason,
                source: None,
            });
        }
        Ok(self.directory.join(relative))
    }
}

impl Drop for StagingDirectory {
    fn drop(&mut self) {
        if !self.is_finished {
            let _ = std::fs::remove_dir_all(&self.directory);
        }
    }
}

/// Calls `create`; on `NotFound`, creates the parent directories and calls it again.
fn create_with_parents<T>(
    path: &Path,
    create: impl Fn() -> std::io::Result<T>,
) -> std::io::Result<T> {
    match (create(), path.parent()) {
        (Err(error), Some(parent)) if error.kind() == std::io::ErrorKind::NotFound => {
            std::fs::create_dir_all(parent)?;
            create()
        }
        (created, _) => created,
    }
}

/// A file's path relative to a directory, separated by `/`, and its size in bytes; the size is
/// `None` for anything but a regular file.
pub type ListedFile = (String, Option<u64>);

/// Lists everything below a directory except directories, sorted by path. Returns `None` if the
/// directory does not exist.
///
/// # Errors
///
/// Returns an error if a directory cannot be read.
pub fn list_files(directory: &Path) -> Result<Option<Vec<ListedFile>>, FileError> {
    let mut found = Vec::new();
    let mut directories = vec![String::new()];
    while let Some(prefix) = directories.pop() {
        let path = directory.join(&prefix);
        let entries = match std::fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if prefix.is_empty() && error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(None);
            }
            Err(error) => return Err(FileError::new("read", &path, error)),
        };
        for entry in entries {
            let entry = entry.map_err(FileError::context("read", &path))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let name = if prefix.is_empty() {
                name
            } else {
                format!("{prefix}/{name}")
            };
            let kind = entry
                .file_type()
                .map_err(FileError::context("read", &path))?;
            if kind.is_dir() {
                directories.push(name);
            } else {
                let size = if kind.is_file() {
                    Some(
                        entry
                            .metadata()
                            .map_err(FileError::context("read", &path))?
                            .len(),
                    )
                } else {
                    None
                };
                found.push((name, size));
            }
        }
    }
    found.sort();
    Ok(Some(found))
}

/// Makes a path absolute without resolving symbolic links; returns it unchanged if the working
/// directory cannot be read.
fn absolute_path(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Makes a path absolute and resolves the symbolic links of the part that exists.
pub fn real_path(path: &Path) -> PathBuf {
    let absolute = absolute_path(path);
    let whole = absolute.ancestors().find_map(|part| {
        let rest = absolute.strip_prefix(part).ok()?;
        let real = std::fs::canonicalize(part).ok()?;
        // Joining an empty path would append a slash.
        Some(if rest.as_os_str().is_empty() {
            real
        } else {
            real.join(rest)
        })
    });
    whole.unwrap_or(absolute)
}

/// Applies the default permissions and syncs a file.
fn finish_file(file: &File, path: &Path) -> Result<(), FileError> {
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(new_file_mode()))
        .map_err(FileError::context("write", path))?;
    file.sync_all().map_err(FileError::context("write", path))
}

fn sync_directory(directory: &Path) -> Result<(), FileError> {
    File::open(directory)
        .and_then(|file| file.sync_all())
        .map_err(FileError::context("sync", directory))
}

/// Syncs the file system that contains a directory (syncfs(2)): faster than syncing many files one
/// by one.
pub(super) fn sync_all_below(directory: &Path) -> Result<(), FileError> {
    let file = File::open(directory).map_err(FileError::context("write", directory))?;
    rustix::fs::syncfs(&file).map_err(FileError::context("write", directory))
}

/// Syncs a directory and its subdirectories, in parallel.
fn sync_directories(directory: &Path) -> Result<(), FileError> {
    let mut inner = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(FileError::context("read", directory))? {
        let entry = entry.map_err(FileError::context("read", directory))?;
        if entry
            .file_type()
            .map_err(FileError::context("read", directory))?
            .is_dir()
        {
            inner.push(entry.path());
        }
    }
    start_threads();
    inner
        .par_iter()
        .try_for_each(|directory| sync_directories(directory))?;
    sync_directory(directory)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{DirectoryLock, DirectorySwap, SUFFIXES, StagingDirectory, SwapMethod, list_files};

    fn begin(target: &Path) -> DirectorySwap {
        DirectorySwap::begin(target, || panic!("nobody else has it")).unwrap()
    }

    fn stage(target: &Path, text: &str) -> StagingDirectory {
        let staging = begin(target).stage().unwrap();
        staging.write("a.txt", text.as_bytes()).unwrap();
        staging.write("deep/er/b.txt", text.as_bytes()).unwrap();
        staging
    }

    fn state(target: &Path) -> Option<String> {
        let (a, b) = (
            std::fs::read_to_string(target.join("a.txt")),
            std::fs::read_to_string(target.join("deep/er/b.txt")),
        );
        let (a, b) = (a.ok(), b.ok());
        assert_eq!(a, b, "half a state");
        a
    }

    fn entries(directory: &Path) -> Vec<PathBuf> {
        std::fs::read_dir(directory)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect()
    }

    /// Leaves files behind like a killed process: the lock is released, the files stay.
    fn killed(mut staging: StagingDirectory) {
        staging.is_finished = true;
        drop(staging);
    }

    #[test]
    fn commit_creates_or_replaces_and_leaves_nothing_else() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("up/release");
        for method in [SwapMethod::Exchange, SwapMethod::TwoRenames] {
            for text in ["old", "new"] {
                stage(&target, text).commit_with(method).unwrap();
                assert_eq!(state(&target).as_deref(), Some(text));
            }
        }
        assert_eq!(entries(target.parent().unwrap()), [target]);
    }

    /// Whichever step a run is killed at, the next one finds the old or the new state and removes
    /// leftovers.
    #[test]
    fn a_killed_swap_is_recovered() {
        for method in [SwapMethod::Exchange, SwapMethod::TwoRenames] {
            for point in 0..5 {
                let home = tempfile::tempdir().unwrap();
                let target = home.path().join("release");
                stage(&target, "old").commit().unwrap();
                let expected = match point {
                    0 => {
                        killed(begin(&target).stage().unwrap());
                        "old"
                    }
                    1 => {
                        let staging = begin(&target).stage().unwrap();
                        staging.write("a.txt", b"new").unwrap();
                        killed(staging);
                        "old"
                    }
                    2 => {
                        killed(stage(&target, "new"));
                        "old"
                    }
                    3 => {
                        let staging = stage(&target, "new");
                        if method == SwapMethod::TwoRenames {
                            std::fs::rename(&target, staging.swap.sibling(SUFFIXES[1])).unwrap();
                        }
                        killed(staging);
                        "old"
                    }
                    _ => {
                        let staging = stage(&target, "new");
                        staging.put_in_place(method).unwrap();
                        killed(staging);
                        "new"
                    }
                };
                if method == SwapMethod::Exchange {
                    assert_eq!(state(&target).as_deref(), Some(expected), "point {point}");
                }
                drop(begin(&target));
                assert_eq!(
                    state(&target).as_deref(),
                    Some(expected),
                    "point {point}, {method:?}"
                );
                assert_eq!(entries(home.path()), [target], "point {point}, {method:?}");
            }
        }
    }

    #[test]
    fn a_dropped_staging_directory_is_removed() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("release");
        drop(stage(&target, "new"));
        assert!(entries(home.path()).is_empty());
    }

    #[test]
    fn kept_files_are_links_and_names_stay_inside() {
        use std::os::unix::fs::MetadataExt;
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("release");
        stage(&target, "old").commit().unwrap();
        let before = std::fs::metadata(target.join("a.txt")).unwrap().ino();
        let staging = begin(&target).stage().unwrap();
        staging.keep("a.txt").unwrap();
        for name in ["../x", "/x", "", ".", "a/../../x"] {
            assert!(staging.write(name, b"").is_err(), "{name}");
        }
        staging.commit().unwrap();
        assert_eq!(
            std::fs::metadata(target.join("a.txt")).unwrap().ino(),
            before
        );
        assert_eq!(
            list_files(&target).unwrap(),
            Some(vec![("a.txt".to_owned(), Some(3))])
        );
        assert_eq!(list_files(&home.path().join("absent")).unwrap(), None);
    }

    #[test]
    fn a_second_swap_waits_for_the_first() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("release");
        let first = stage(&target, "first");
        std::thread::scope(|scope| {
            let (sender, receiver) = std::sync::mpsc::channel();
            let second = scope.spawn(|| {
                let swap = DirectorySwap::begin(&target, move || sender.send(()).unwrap()).unwrap();
                state(swap.target())
            });
            receiver.recv().unwrap();
            first.commit().unwrap();
            assert_eq!(second.join().unwrap().as_deref(), Some("first"));
        });
    }

    #[test]
    fn siblings_swap_concurrently_and_leftovers_are_swept() {
        let home = tempfile::tempdir().unwrap();
        let lock = DirectoryLock::acquire(home.path(), || panic!("nobody else has it")).unwrap();
        let staged = ["one", "two"].map(|name| lock.swap(name).stage().unwrap());
        for staging in staged {
            std::fs::write(staging.path().join("file"), b"x").unwrap();
            staging.commit_unsynced().unwrap();
        }
        assert!(home.path().join("one/file").is_file() && home.path().join("two/file").is_file());
        killed(lock.swap("three").stage().unwrap());
        std::fs::rename(
            home.path().join("two"),
            lock.swap("two").sibling(SUFFIXES[1]),
        )
        .unwrap();
        // A file that was not yet renamed.
        std::fs::write(home.path().join(".AbC123.rock-new"), b"x").unwrap();
        for other in [".rock-new", "x.rock-old", ".x"] {
            std::fs::create_dir(home.path().join(other)).unwrap();
        }
        std::thread::scope(|scope| {
            let (sender, receiver) = std::sync::mpsc::channel();
            let second = scope.spawn(|| {
                DirectoryLock::acquire(home.path(), move || sender.send(()).unwrap())
                    .unwrap()
                    .sweep()
                    .unwrap();
            });
            receiver.recv().unwrap();
            drop(lock);
            second.join().unwrap();
        });
        let mut left = crate::entry_names(home.path()).unwrap();
        left.sort();
        assert_eq!(left, [".rock-new", ".x", "one", "two", "x.rock-old"]);
    }
}
