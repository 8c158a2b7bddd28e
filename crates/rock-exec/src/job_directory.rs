//! The directory of a job, which one build at a time opens and a fresh build empties.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::build_start::BuildStart;
use super::host_env::MARK;
use super::record::BuildRecord;
use rock_recipe::{LIBRARIES_FOLDER, TESTED};
use rock_sys::{self as sys, FileError, FileLock, PathBelow};

/// The directory that holds the job directories, in the directory that builds are started from.
pub const ROOT: &str = ".rock";
/// The `.gitignore` of [`ROOT`], which ignores everything.
const GITIGNORE: &str = "# Builds of rock-matrix; `rock-matrix clean --whole` removes them.\n*\n";
const LOCK_FILE: &str = "lock";
/// The file of the build record.
const RECORD: &str = "build.json";
/// The log file.
const LOG: &str = "logs/build.log";
/// Directories that this program itself reads, writes or empties, so they must not be symlinks.
const OWN_DIRECTORIES: [&str; 8] = [
    "done",
    FACTS,
    LABELLED,
    LIBRARIES_FOLDER,
    "logs",
    REPAIRED,
    SOURCES,
    TESTED,
];
/// The directory of the sources.
pub(super) const SOURCES: &str = "src";
/// The directory of the deferred facts that steps detected.
pub(super) const FACTS: &str = "facts";
/// The directory of wheels that were relabeled after the build.
pub const LABELLED: &str = "labelled";
/// The directory of wheels that were repaired after the build.
pub const REPAIRED: &str = "repaired";
/// Time that the processes of a killed build get between SIGTERM and SIGKILL.
const LEFTOVER_GRACE: Duration = Duration::from_secs(5);

/// The directory of one job, an absolute path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobDirectory {
    path: PathBuf,
}

/// A job directory that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenDirectoryError {
    /// An ID that is not a single directory name.
    #[error("`{0}` cannot be the name of a directory")]
    BadId(String),
    /// Another build of the job has locked it.
    #[error("the directory `{}` is in use", .0.display())]
    Busy(PathBuf),
    /// The system refused.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A job directory, locked until this is dropped.
#[derive(Debug)]
pub struct LockedDirectory {
    /// The record of the last build; `None` if there is none, or for a fresh build.
    pub before: Option<BuildRecord>,
    /// The record of the last build, also for a fresh build.
    pub last: Option<BuildRecord>,
    /// The reason why the record of the last build could not be read.
    pub unreadable: Option<String>,
    /// The number of processes of a killed build that were still running and were ended.
    pub leftovers: usize,
    _lock: FileLock,
}

impl JobDirectory {
    /// Returns the directory of a job below `base`, which is absolute.
    ///
    /// # Errors
    /// If the ID is not a single directory name.
    pub fn new(base: &Path, id: &str) -> Result<Self, OpenDirectoryError> {
        let is_name = !id.is_empty()
            && id.len() <= 200
            && !id.starts_with('.')
            && id
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
        if is_name {
            Ok(Self {
                path: base.join(ROOT).join(id),
            })
        } else {
            Err(OpenDirectoryError::BadId(id.to_owned()))
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Locks the directory, so that no build can start.
    pub(super) fn lock(&self) -> Result<FileLock, OpenDirectoryError> {
        sys::try_lock_below(&self.at(LOCK_FILE))?
            .ok_or_else(|| OpenDirectoryError::Busy(self.path.clone()))
    }

    /// Returns a path in the directory that must not go through a symlink below [`ROOT`], because
    /// the steps of a build can create some.
    pub fn at(&self, path: impl AsRef<Path>) -> PathBelow {
        let (root, id) = (
            self.path.parent().unwrap_or(&self.path),
            self.path.file_name().unwrap_or_default(),
        );
        PathBelow::new(root, Path::new(id).join(path))
    }

    /// Checks that none of the directories of this program is a symlink.
    ///
    /// # Errors
    /// The first one that is.
    pub(super) fn check(&self) -> Result<(), FileError> {
        OWN_DIRECTORIES
            .iter()
            .try_for_each(|name| self.at(name).check())
    }

    /// Returns the path of the build record.
    pub fn record(&self) -> PathBuf {
        self.path.join(RECORD)
    }

    /// Reads the record of the last build; `None` if there is none.
    ///
    /// # Errors
    /// The reason why an existing file cannot be read.
    pub fn last_record(&self) -> Result<Option<BuildRecord>, String> {
        BuildRecord::load_below(&self.at(RECORD))
    }

    /// Returns the path of the log.
    pub fn log(&self) -> PathBuf {
        self.path.join(LOG)
    }

    /// Opens the log for appending.
    ///
    /// # Errors
    /// If it cannot be written, or its path goes through a symlink.
    pub(super) fn open_log(&self) -> Result<std::fs::File, FileError> {
        self.at(LOG).open_log()
    }

    /// Returns the path of the script that a container runs.
    pub fn script(&self) -> PathBuf {
        self.path.join("build.sh")
    }

    /// Returns the path of the marker that a stage of the script creates when it is done.
    pub(super) fn done(&self, stage: &str) -> PathBelow {
        self.at(Path::new("done").join(stage))
    }

    /// Whether a stage of the script created its marker.
    pub(super) fn is_done(&self, stage: &str) -> bool {
        self.done(stage).exists().unwrap_or(false)
    }
}

/// Writes a `.gitignore` into the directory of all jobs, unless it has one.
///
/// # Errors
/// If the system refuses.
pub fn ignore_directory(root: &Path) -> Result<(), FileError> {
    let ignore = root.join(".gitignore");
    if sys::exists(&ignore) {
        Ok(())
    } else {
        sys::replace_file(&ignore, GITIGNORE.as_bytes())
    }
}

/// Opens a job directory: creates and locks it, ends the processes that a killed build left
/// running, reads its record, and empties it for a fresh build.
///
/// # Errors
/// If another build has locked it, or the system refuses.
pub fn open(
    directory: &JobDirectory,
    start: &BuildStart,
) -> Result<LockedDirectory, OpenDirectoryError> {
    sys::create_directory(directory.path())?;
    if let Some(root) = directory.path().parent() {
        ignore_directory(root)?;
    }
    let lock = directory.lock()?;
    let leftovers = sys::process::terminate_marked(
        MARK,
        &directory.path().display().to_string(),
        LEFTOVER_GRACE,
    );
    let (last, unreadable) = match directory.last_record() {
        Ok(record) => (record, None),
        Err(reason) => (None, Some(reason)),
    };
    let before = if *start == BuildStart::Fresh {
        None
    } else {
        last.clone()
    };
    if *start == BuildStart::Fresh {
        for name in sys::entry_names(directory.path())?
            .iter()
            .filter(|name| *name != LOCK_FILE)
        {
            directory.at(name).remove()?;
        }
    }
    directory.check()?;
    Ok(LockedDirectory {
        before,
        last,
        unreadable,
        leftovers,
        _lock: lock,
    })
}

/// Removes a job directory, or only measures it. Returns the bytes freed; `None` if it does not
/// exist.
///
/// # Errors
/// If a build has locked it, or the system refuses.
pub(super) fn freed_by_cleaning(
    directory: &JobDirectory,
    only_measure: bool,
) -> Result<Option<u64>, OpenDirectoryError> {
    if !sys::exists(directory.path()) {
        return Ok(None);
    }
    let bytes = sys::disk_usage(directory.path())?;
    if !only_measure {
        let _lock = directory.lock()?;
        sys::process::terminate_marked(
            MARK,
            &directory.path().display().to_string(),
            LEFTOVER_GRACE,
        );
        sys::remove(directory.path())?;
    }
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_leaves_the_directory_is_refused() {
        for id in ["", ".", "..", "../x", "a/b", ".hidden", "a b", "ä"] {
            assert!(
                matches!(
                    JobDirectory::new(Path::new("/x"), id),
                    Err(OpenDirectoryError::BadId(_))
                ),
                "{id}"
            );
        }
        assert_eq!(
            JobDirectory::new(Path::new("/x"), "a-1.2_b")
                .unwrap()
                .path(),
            Path::new("/x/.rock/a-1.2_b")
        );
    }

    #[test]
    fn a_fresh_start_empties_the_jobs_own_directory_only() {
        let base = tempfile::tempdir().unwrap();
        let directory = JobDirectory::new(base.path(), "one").unwrap();
        let other = base.path().join(".rock/two/kept");
        sys::write_atomic(&other, b"x").unwrap();
        sys::write_atomic(&directory.path().join("src/old"), b"x").unwrap();
        BuildRecord::new("g", "one", "w")
            .save(&directory.record())
            .unwrap();
        let opened = open(&directory, &BuildStart::Auto).unwrap();
        assert!(opened.before.is_some() && sys::exists(&directory.path().join("src/old")));
        assert!(matches!(
            open(&directory, &BuildStart::Auto),
            Err(OpenDirectoryError::Busy(_))
        ));
        assert!(matches!(
            freed_by_cleaning(&directory, false),
            Err(OpenDirectoryError::Busy(_))
        ));
        drop(opened);
        let opened = open(&directory, &BuildStart::Fresh).unwrap();
        assert!(opened.before.is_none() && opened.last.is_some());
        assert_eq!(sys::entry_names(directory.path()).unwrap(), ["lock"]);
        assert!(sys::exists(&other));
        drop(opened);
        assert!(
            freed_by_cleaning(&directory, true).unwrap().is_some() && sys::exists(directory.path())
        );
        assert!(
            freed_by_cleaning(&directory, false).unwrap().is_some()
                && !sys::exists(directory.path())
        );
        assert_eq!(freed_by_cleaning(&directory, false).unwrap(), None);
    }
}
