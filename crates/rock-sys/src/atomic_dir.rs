//! A folder that is replaced as a whole: the next state is staged beside it and put in its place in
//! one step.
//!
//! With `renameat2(RENAME_EXCHANGE)` a reader, and whoever looks after a crash, sees the old folder
//! or the new one. Where the file system has no exchange (NFS), two renames are made; a crash
//! between them leaves the old folder under its stand-in name, and [`FolderSwap::begin`] puts it
//! back.

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

/// The right to change what lies right in a folder. Others that ask for it wait until all copies of
/// it are dropped, or the program ends in whatever way.
#[derive(Debug, Clone)]
pub struct DirectoryLock {
    folder: PathBuf,
    _file: Arc<File>,
}

/// The right to replace a folder. Others that ask for it wait until it is dropped.
#[derive(Debug)]
pub struct DirectorySwap {
    target: PathBuf,
    parent: PathBuf,
    lock: Option<DirectoryLock>,
}

/// The next state of a folder, not yet in place. Dropped without [`Self::commit`] it is removed.
#[derive(Debug)]
pub struct StagingDirectory {
    swap: DirectorySwap,
    folder: PathBuf,
    is_over: bool,
}

/// How the new folder takes the place of the old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SwapMethod {
    Exchange,
    #[cfg_attr(
        not(test),
        expect(
            dead_code,
            reason = "the way where there is no exchange, chosen by tests alone"
        )
    )]
    TwoSteps,
}

/// How folders beside a target end: the next state of it, and the one that was there.
const ENDINGS: [&str; 2] = [".rock-new", ".rock-old"];

impl DirectoryLock {
    /// Takes the right to change what lies in a folder. `waits` is called when another process has
    /// it.
    ///
    /// # Errors
    /// When the folder is not there, or cannot be locked.
    pub fn take(folder: &Path, waits: impl FnOnce()) -> Result<Self, FileError> {
        let fault = |e: Errno| FileError::new("lock", folder, e.into());
        let file = File::open(folder).map_err(|e| FileError::new("open", folder, e))?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                waits();
                rustix::fs::flock(&file, FlockOperation::LockExclusive).map_err(fault)?;
            }
            Err(error) => return Err(fault(error)),
        }
        Ok(Self {
            folder: folder.to_owned(),
            _file: Arc::new(file),
        })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Puts away what killed runs left of folders that they replaced in this one.
    ///
    /// # Errors
    /// When it cannot be read, or something in it not be removed.
    pub fn sweep(&self) -> Result<(), FileError> {
        for left in super::names_in(&self.folder)? {
            let target = ENDINGS
                .iter()
                .find_map(|ending| left.strip_prefix('.')?.strip_suffix(ending));
            if let Some(target) = target.filter(|target| !target.is_empty()) {
                self.swap(target).recover()?;
            }
        }
        Ok(())
    }

    /// The right to replace the folder of this name. Several may be replaced at once, each by one.
    pub fn swap(&self, name: &str) -> DirectorySwap {
        DirectorySwap {
            target: self.folder.join(name),
            parent: self.folder.clone(),
            lock: Some(self.clone()),
        }
    }
}

impl DirectorySwap {
    /// Takes the right to replace `target`, and puts away what a killed run left. `waits` is called
    /// when another process has it. Nothing is written where the parent folder does not exist yet.
    ///
    /// # Errors
    /// When the folder cannot have a folder beside it, or the parent cannot be locked.
    pub fn begin(target: &Path, waits: impl FnOnce()) -> Result<Self, FileError> {
        let target = real_path(target);
        let (Some(parent), Some(Component::Normal(_))) =
            (target.parent(), target.components().next_back())
        else {
            let reason = "no folder can be made beside it".to_owned();
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
            swap.lock = Some(DirectoryLock::take(&swap.parent, waits)?);
            swap.recover()?;
        }
        Ok(swap)
    }

    /// The folder, as resolved.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Begins the next state: an empty folder beside the target. Missing parents are made.
    ///
    /// # Errors
    /// When the folder cannot be made.
    pub fn stage(mut self) -> Result<StagingDirectory, FileError> {
        std::fs::create_dir_all(&self.parent)
            .map_err(|e| FileError::new("create", &self.parent, e))?;
        if self.lock.is_none() {
            self.lock = Some(DirectoryLock::take(&self.parent, || ())?);
            self.recover()?;
        }
        let folder = self.beside(ENDINGS[0]);
        std::fs::create_dir(&folder).map_err(|e| FileError::new("create", &folder, e))?;
        Ok(StagingDirectory {
            swap: self,
            folder,
            is_over: false,
        })
    }

    /// Puts back an old folder that a killed run had moved aside, and removes what it left.
    fn recover(&self) -> Result<(), FileError> {
        let [new, old] = ENDINGS.map(|ending| self.beside(ending));
        if old.exists() && !self.target.exists() {
            std::fs::rename(&old, &self.target).map_err(|e| FileError::new("rename", &old, e))?;
        }
        for left in [old, new] {
            super::remove(&left)?;
        }
        Ok(())
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = OsString::from(".");
        name.push(self.target.file_name().unwrap_or_default());
        name.push(ending);
        self.parent.join(name)
    }
}

impl StagingDirectory {
    /// Copies a file in. The kernel copies it, or shares its blocks, where the file system can.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn copy(&self, from: &Path, name: &str) -> Result<PathBuf, FileError> {
        let to = self.place(name)?;
        in_folder(&to, || std::fs::copy(from, &to)).map_err(|e| FileError::new("copy", from, e))?;
        settle(
            &File::open(&to).map_err(|e| FileError::new("open", &to, e))?,
            &to,
        )?;
        Ok(to)
    }

    /// Links a regular file in, or copies it where the file system has no hard links to it.
    ///
    /// # Errors
    /// When it can be neither linked nor copied.
    pub fn link(&self, from: &Path, name: &str) -> Result<PathBuf, FileError> {
        let to = self.place(name)?;
        super::link_or_copy(from, &to)?;
        settle(
            &File::open(&to).map_err(|e| FileError::new("open", &to, e))?,
            &to,
        )?;
        Ok(to)
    }

    /// Brings a file of the old state over: a hard link, or a copy where there are none.
    ///
    /// # Errors
    /// When it can be neither linked nor copied.
    pub fn keep(&self, name: &str) -> Result<PathBuf, FileError> {
        let from = self.swap.target.join(name);
        let to = self.place(name)?;
        match in_folder(&to, || std::fs::hard_link(&from, &to)) {
            Ok(()) => Ok(to),
            Err(_) => self.copy(&from, name),
        }
    }

    /// Writes a file.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), FileError> {
        let to = self.place(name)?;
        let fault = |e| FileError::new("write", &to, e);
        let mut file = in_folder(&to, || File::create_new(&to)).map_err(fault)?;
        file.write_all(bytes).map_err(fault)?;
        settle(&file, &to)
    }

    /// The folder, for what is written into it by other means; it is then for
    /// [`Self::commit_unsynced`].
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder that it is in.
    pub fn parent(&self) -> &Path {
        &self.swap.parent
    }

    /// Puts the new state in place of the old one, then removes the old one.
    ///
    /// # Errors
    /// When it cannot be put in place; the old state is then as it was.
    pub fn commit(self) -> Result<(), FileError> {
        sync_folders(&self.folder)?;
        self.commit_by(SwapMethod::Exchange)
    }

    /// The same where the files in it may not have reached the disk: the whole file system is asked
    /// to write what it holds.
    ///
    /// # Errors
    /// When that fails, or as [`Self::commit`].
    pub fn commit_unsynced(self) -> Result<(), FileError> {
        sync_all_below(&self.folder)?;
        self.commit_by(SwapMethod::Exchange)
    }

    /// Moves what is in a folder of this one over what lies in the folder that it is in, as
    /// [`super::merge`] does, and removes what is left.
    ///
    /// # Errors
    /// When the file system cannot write all of it, or as those of moving.
    pub fn merge_into(self, name: &str) -> Result<(), FileError> {
        sync_all_below(&self.folder)?;
        super::merge_tree(&self.place(name)?, &self.swap.parent)
    }

    fn commit_by(mut self, way: SwapMethod) -> Result<(), FileError> {
        let out_of_the_way = self.put_in_place(way)?;
        self.is_over = true;
        sync_folder(&self.swap.parent)?;
        out_of_the_way.map_or(Ok(()), |old| super::remove(&old))
    }

    /// Tells where the old state then is, if there was one.
    fn put_in_place(&self, way: SwapMethod) -> Result<Option<PathBuf>, FileError> {
        let (new, target) = (&self.folder, &self.swap.target);
        let fault = |e: Errno| FileError::new("replace", target, e.into());
        match renameat_with(CWD, new, CWD, target, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(None),
            Err(Errno::EXIST | Errno::NOTEMPTY) => {}
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) if !target.exists() => {
                return std::fs::rename(new, target)
                    .map(|()| None)
                    .map_err(|e| FileError::new("replace", target, e));
            }
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
            Err(error) => return Err(fault(error)),
        }
        if way == SwapMethod::Exchange {
            match renameat_with(CWD, new, CWD, target, RenameFlags::EXCHANGE) {
                Ok(()) => return Ok(Some(new.clone())),
                Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
                Err(error) => return Err(fault(error)),
            }
        }
        let old = self.swap.beside(ENDINGS[1]);
        std::fs::rename(target, &old).map_err(|e| FileError::new("replace", target, e))?;
        if let Err(error) = std::fs::rename(new, target) {
            let _ = std::fs::rename(&old, target);
            return Err(FileError::new("replace", target, error));
        }
        Ok(Some(old))
    }

    /// The staged path of a name. A name cannot leave the folder.
    ///
    /// # Errors
    /// When it would.
    pub fn place(&self, name: &str) -> Result<PathBuf, FileError> {
        let relative = Path::new(name);
        if !relative
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
            || name.is_empty()
        {
            let reason = "it would lie outside the folder".to_owned();
            return Err(FileError {
                action: "write",
                path: relative.to_owned(),
                reason,
                source: None,
            });
        }
        Ok(self.folder.join(relative))
    }
}

impl Drop for StagingDirectory {
    fn drop(&mut self) {
        if !self.is_over {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

/// Makes a file, and the folders that it lies in where they are missing: most files lie beside
/// another one.
fn in_folder<T>(path: &Path, make: impl Fn() -> std::io::Result<T>) -> std::io::Result<T> {
    match (make(), path.parent()) {
        (Err(error), Some(parent)) if error.kind() == std::io::ErrorKind::NotFound => {
            std::fs::create_dir_all(parent)?;
            make()
        }
        (made, _) => made,
    }
}

/// A file's path relative to a folder, with `/` between folders, and its size; `None` for what is
/// no regular file.
pub type ListedFile = (String, Option<u64>);

/// Every file below a folder, sorted; `None` when the folder is not there.
///
/// # Errors
/// When a folder cannot be read.
pub fn tree(folder: &Path) -> Result<Option<Vec<ListedFile>>, FileError> {
    let mut found = Vec::new();
    let mut folders = vec![String::new()];
    while let Some(prefix) = folders.pop() {
        let path = folder.join(&prefix);
        let fault = |e| FileError::new("read", &path, e);
        let entries = match std::fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if prefix.is_empty() && error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(None);
            }
            Err(error) => return Err(fault(error)),
        };
        for entry in entries {
            let entry = entry.map_err(fault)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let name = if prefix.is_empty() {
                name
            } else {
                format!("{prefix}/{name}")
            };
            let kind = entry.file_type().map_err(fault)?;
            if kind.is_dir() {
                folders.push(name);
            } else {
                let size = if kind.is_file() {
                    Some(entry.metadata().map_err(fault)?.len())
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

/// Absolute, with links followed as far as the path exists.
pub fn real_path(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let whole = absolute.ancestors().find_map(|part| {
        let rest = absolute.strip_prefix(part).ok()?;
        let real = std::fs::canonicalize(part).ok()?;
        // Joined with nothing, a path gets a slash at its end.
        Some(if rest.as_os_str().is_empty() {
            real
        } else {
            real.join(rest)
        })
    });
    whole.unwrap_or(absolute)
}

fn settle(file: &File, path: &Path) -> Result<(), FileError> {
    let fault = |e| FileError::new("write", path, e);
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(new_file_mode()))
        .map_err(fault)?;
    file.sync_all().map_err(fault)
}

fn sync_folder(folder: &Path) -> Result<(), FileError> {
    File::open(folder)
        .and_then(|file| file.sync_all())
        .map_err(|e| FileError::new("sync", folder, e))
}

/// Has the file system of a folder write all that it holds: of many files that is less work than
/// one after the other.
///
/// # Errors
/// When it cannot, as where the disk is full and that was not seen before.
pub(super) fn sync_all_below(folder: &Path) -> Result<(), FileError> {
    let fault = |e| FileError::new("write", folder, e);
    let file = File::open(folder).map_err(fault)?;
    rustix::fs::syncfs(&file).map_err(|error| fault(error.into()))
}

fn sync_folders(folder: &Path) -> Result<(), FileError> {
    let fault = |e| FileError::new("read", folder, e);
    let mut inner = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fault)? {
        let entry = entry.map_err(fault)?;
        if entry.file_type().map_err(fault)?.is_dir() {
            inner.push(entry.path());
        }
    }
    start_threads();
    inner
        .par_iter()
        .try_for_each(|folder| sync_folders(folder))?;
    sync_folder(folder)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{DirectoryLock, DirectorySwap, ENDINGS, StagingDirectory, SwapMethod, tree};

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

    fn entries(folder: &Path) -> Vec<PathBuf> {
        std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect()
    }

    /// Leaves everything as a killed process would: its lock is gone, its files are there.
    fn killed(mut staging: StagingDirectory) {
        staging.is_over = true;
        drop(staging);
    }

    #[test]
    fn a_folder_is_made_and_replaced_and_nothing_else_is_left() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("up/release");
        for way in [SwapMethod::Exchange, SwapMethod::TwoSteps] {
            for text in ["old", "new"] {
                stage(&target, text).commit_by(way).unwrap();
                assert_eq!(state(&target).as_deref(), Some(text));
            }
        }
        assert_eq!(entries(target.parent().unwrap()), [target]);
    }

    /// P8
    #[test]
    fn killed_at_any_point_the_old_or_the_new_state_is_there_and_the_next_run_cleans_up() {
        for way in [SwapMethod::Exchange, SwapMethod::TwoSteps] {
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
                        if way == SwapMethod::TwoSteps {
                            std::fs::rename(&target, staging.swap.beside(ENDINGS[1])).unwrap();
                        }
                        killed(staging);
                        "old"
                    }
                    _ => {
                        let staging = stage(&target, "new");
                        staging.put_in_place(way).unwrap();
                        killed(staging);
                        "new"
                    }
                };
                if way == SwapMethod::Exchange {
                    assert_eq!(state(&target).as_deref(), Some(expected), "point {point}");
                }
                drop(begin(&target));
                assert_eq!(
                    state(&target).as_deref(),
                    Some(expected),
                    "point {point}, {way:?}"
                );
                assert_eq!(entries(home.path()), [target], "point {point}, {way:?}");
            }
        }
    }

    #[test]
    fn given_up_it_leaves_nothing() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("release");
        drop(stage(&target, "new"));
        assert!(entries(home.path()).is_empty());
    }

    #[test]
    fn kept_files_are_links_and_a_name_cannot_leave_the_folder() {
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
            tree(&target).unwrap(),
            Some(vec![("a.txt".to_owned(), Some(3))])
        );
        assert_eq!(tree(&home.path().join("absent")).unwrap(), None);
    }

    #[test]
    fn a_second_one_waits_for_the_first() {
        let home = tempfile::tempdir().unwrap();
        let target = home.path().join("release");
        let first = stage(&target, "first");
        std::thread::scope(|scope| {
            let (told, waits) = std::sync::mpsc::channel();
            let second = scope.spawn(|| {
                let swap = DirectorySwap::begin(&target, move || told.send(()).unwrap()).unwrap();
                state(swap.target())
            });
            waits.recv().unwrap();
            first.commit().unwrap();
            assert_eq!(second.join().unwrap().as_deref(), Some("first"));
        });
    }

    #[test]
    fn folders_of_one_folder_are_replaced_at_once_and_what_killed_runs_left_goes() {
        let home = tempfile::tempdir().unwrap();
        let lock = DirectoryLock::take(home.path(), || panic!("nobody else has it")).unwrap();
        let staged = ["one", "two"].map(|name| lock.swap(name).stage().unwrap());
        for staging in staged {
            std::fs::write(staging.folder().join("file"), b"x").unwrap();
            staging.commit_unsynced().unwrap();
        }
        assert!(home.path().join("one/file").is_file() && home.path().join("two/file").is_file());
        killed(lock.swap("three").stage().unwrap());
        std::fs::rename(home.path().join("two"), lock.swap("two").beside(ENDINGS[1])).unwrap();
        for other in [".rock-new", "x.rock-old", ".x"] {
            std::fs::create_dir(home.path().join(other)).unwrap();
        }
        std::thread::scope(|scope| {
            let (told, waits) = std::sync::mpsc::channel();
            let second = scope.spawn(|| {
                DirectoryLock::take(home.path(), move || told.send(()).unwrap())
                    .unwrap()
                    .sweep()
                    .unwrap();
            });
            waits.recv().unwrap();
            drop(lock);
            second.join().unwrap();
        });
        let mut left = crate::names_in(home.path()).unwrap();
        left.sort();
        assert_eq!(left, [".rock-new", ".x", "one", "two", "x.rock-old"]);
    }
}
