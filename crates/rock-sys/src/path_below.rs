//! Paths below a folder that others write into, such as the steps of a build.
//!
//! **Invariant:** no symbolic link is followed on the way from the folder to the path. Each
//! component is opened by itself with `O_NOFOLLOW` (openat(2)), so a link that is put there
//! meanwhile is not followed either.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::FileError;
use super::files::text_of;
use crate::codes::build as codes;
use rock_diagnostic::Diagnostic;

/// A path below a folder, which is trusted and may be reached by links itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathBelow {
    root: PathBuf,
    path: PathBuf,
}

/// A symbolic link among the components of a path below a folder.
#[derive(Debug, thiserror::Error)]
#[error("it is a symbolic link")]
struct LinkOnPath;

impl PathBelow {
    /// The path `path`, relative to `root`.
    pub fn new(root: &Path, path: impl AsRef<Path>) -> Self {
        Self {
            root: root.to_owned(),
            path: path.as_ref().components().collect(),
        }
    }

    /// The whole path, for messages.
    pub fn path(&self) -> PathBuf {
        self.root.join(&self.path)
    }

    /// Checks that there is no symbolic link at the path, nor on the way to it. What is not there
    /// is no fault.
    ///
    /// # Errors
    /// When there is a link, or the system refuses.
    pub fn check(&self) -> Result<(), FileError> {
        self.kind("use").map(drop)
    }

    /// Returns whether something is at the path.
    ///
    /// # Errors
    /// When there is a link at the path or on the way to it, or the system refuses.
    pub fn exists(&self) -> Result<bool, FileError> {
        self.kind("read").map(|kind| kind.is_some())
    }

    /// Removes a file, a link, or a folder with all that is in it; what is not there is no fault.
    ///
    /// # Errors
    /// When there is a link on the way to the path, or the system refuses.
    pub fn remove(&self) -> Result<(), FileError> {
        let Some((folder, name)) = self.parent("remove", false)? else {
            return Ok(());
        };
        remove_at(&folder, name)
            .map_err(|error| FileError::new("remove", &self.path(), error.into()))
    }

    /// Opens a file to append to; folders on the way are made.
    ///
    /// # Errors
    /// When there is a link at the path or on the way to it, something else than a regular file is
    /// there, or the system refuses.
    pub fn open_log(&self) -> Result<File, FileError> {
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::APPEND;
        self.open("write", flags, true)
    }

    /// Reads a UTF-8 file of at most `limit_bytes`.
    ///
    /// # Errors
    /// When there is a link at the path or on the way to it, or there is no regular file of this
    /// size and form.
    pub fn read_text(&self, limit_bytes: u64) -> Result<String, FileError> {
        text_of(
            self.open("read", OFlags::RDONLY, false)?,
            &self.path(),
            limit_bytes,
        )
    }

    /// Opens a regular file. A pipe in its place is not waited for (`O_NONBLOCK`).
    fn open(&self, action: &'static str, flags: OFlags, make: bool) -> Result<File, FileError> {
        let (path, fault) = (self.path(), |error: Errno| {
            FileError::new(action, &self.path(), error.into())
        });
        let (folder, name) = self
            .parent(action, make)?
            .ok_or_else(|| fault(Errno::NOENT))?;
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&folder, name, flags, Mode::from_raw_mode(0o666)) {
            Ok(file) => File::from(file),
            Err(Errno::LOOP) => return Err(linked(action, &path)),
            Err(error) => return Err(fault(error)),
        };
        match file.metadata() {
            Ok(there) if there.is_file() => Ok(file),
            Ok(_) => {
                let reason = "it is not a regular file".to_owned();
                Err(FileError {
                    action,
                    path,
                    reason,
                    source: None,
                })
            }
            Err(error) => Err(FileError::new(action, &path, error)),
        }
    }

    /// Returns the type of the file at the path; `None` if there is none.
    fn kind(&self, action: &'static str) -> Result<Option<FileType>, FileError> {
        let Some((folder, name)) = self.parent(action, false)? else {
            return Ok(None);
        };
        match kind_at(&folder, name) {
            Ok(Some(FileType::Symlink)) => Err(linked(action, &self.path())),
            Ok(kind) => Ok(kind),
            Err(error) => Err(FileError::new(action, &self.path(), error.into())),
        }
    }

    /// Opens the folder that the path lies in, and gives the name in it. `None` where a folder on
    /// the way is missing and is not to be made.
    fn parent(
        &self,
        action: &'static str,
        make: bool,
    ) -> Result<Option<(OwnedFd, &OsStr)>, FileError> {
        let name = |part| match part {
            Component::Normal(name) => Some(name),
            _ => None,
        };
        let parts = self
            .path
            .components()
            .filter(|part| *part != Component::CurDir);
        let names: Option<Vec<&OsStr>> = parts.map(name).collect();
        let names = names.unwrap_or_default();
        let Some((name, folders)) = names.split_last() else {
            let reason = format!("it is not below `{}`", self.root.display());
            return Err(FileError {
                action,
                path: self.path(),
                reason,
                source: None,
            });
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let name = *name;
        if make {
            super::create_directory(&self.root)?;
        }
        let mut at = self.root.clone();
        let mut folder = match rustix::fs::openat(CWD, &at, flags, Mode::empty()) {
            Ok(folder) => folder,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(FileError::new(action, &at, error.into())),
        };
        for name in folders {
            at.push(name);
            let fault = |error: Errno| FileError::new(action, &at, error.into());
            if make {
                match rustix::fs::mkdirat(&folder, *name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(fault(error)),
                }
            }
            folder =
                match rustix::fs::openat(&folder, *name, flags | OFlags::NOFOLLOW, Mode::empty()) {
                    Ok(inner) => inner,
                    Err(Errno::NOENT) => return Ok(None),
                    // With `O_DIRECTORY`, a link is told as what is no folder.
                    Err(Errno::NOTDIR | Errno::LOOP)
                        if kind_at(&folder, name) == Ok(Some(FileType::Symlink)) =>
                    {
                        return Err(linked(action, &at));
                    }
                    Err(error) => return Err(fault(error)),
                };
        }
        Ok(Some((folder, name)))
    }
}

impl FileError {
    /// Returns the diagnostic for a symbolic link in place of one of our own files or folders;
    /// `None` for other errors.
    pub fn about_a_link(&self) -> Option<Diagnostic> {
        let is_linked = self.source.as_ref()?.get_ref()?.is::<LinkOnPath>();
        let told = || {
            Diagnostic::new(&codes::LINKED_FOLDER, self.to_string())
                .note(
                    "nothing is read, written or removed through a link that a build may have made",
                )
                .help("remove the link, then build again; `.rock` itself may be a link")
        };
        is_linked.then(told)
    }
}

fn linked(action: &'static str, path: &Path) -> FileError {
    FileError::new(action, path, io::Error::other(LinkOnPath))
}

fn kind_at(folder: impl AsFd, name: &OsStr) -> Result<Option<FileType>, Errno> {
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(there) => Ok(Some(FileType::from_raw_mode(there.st_mode))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

fn remove_at(folder: impl AsFd, name: &OsStr) -> Result<(), Errno> {
    use std::os::unix::ffi::OsStrExt as _;
    match rustix::fs::unlinkat(&folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        Err(Errno::ISDIR) => {}
        Err(error) => return Err(error),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let inner = rustix::fs::openat(&folder, name, flags, Mode::empty())?;
    for entry in Dir::read_from(&inner)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name != "." && name != ".." {
            remove_at(&inner, name)?;
        }
    }
    match rustix::fs::unlinkat(&folder, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct Bench {
        home: tempfile::TempDir,
    }

    impl Bench {
        /// A folder `job` and a folder `outside` with the file `build`, to which `job/LINK` leads.
        fn new(link: &str) -> Self {
            let home = tempfile::tempdir().unwrap();
            std::fs::create_dir_all(home.path().join("outside/in")).unwrap();
            std::fs::write(home.path().join("outside/build"), "kept").unwrap();
            let link = home.path().join("job").join(link);
            std::fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(home.path().join("outside"), link).unwrap();
            Self { home }
        }

        fn below(&self, path: &str) -> PathBelow {
            PathBelow::new(&self.home.path().join("job"), path)
        }

        #[track_caller]
        fn is_unharmed(&self) {
            let outside = self.home.path().join("outside");
            assert_eq!(super::super::names_in(&outside).unwrap(), ["build", "in"]);
            assert_eq!(std::fs::read(outside.join("build")).unwrap(), b"kept");
        }
    }

    #[test]
    fn a_link_on_the_way_is_neither_read_nor_written_nor_removed_through() {
        for (link, path) in [
            ("a", "a/build"),
            ("a/b", "a/b/build"),
            ("a", "a/in/x"),
            ("a", "a/in/new/x"),
        ] {
            let bench = Bench::new(link);
            let below = bench.below(path);
            for error in [
                below.check().unwrap_err(),
                below.exists().unwrap_err(),
                below.remove().unwrap_err(),
                below.open_log().unwrap_err(),
                below.read_text(9).unwrap_err(),
            ] {
                assert_eq!(error.path, bench.below(link).path());
                assert_eq!(error.about_a_link().unwrap().code.name, "linked-folder");
            }
            bench.is_unharmed();
        }
    }

    #[test]
    fn a_link_at_the_path_is_removed_and_not_opened() {
        let bench = Bench::new("a");
        let below = bench.below("a");
        assert!(below.check().unwrap_err().about_a_link().is_some());
        assert!(below.open_log().unwrap_err().about_a_link().is_some());
        assert!(below.read_text(9).unwrap_err().about_a_link().is_some());
        below.remove().unwrap();
        assert!(!below.exists().unwrap());
        bench.is_unharmed();
    }

    #[test]
    fn the_folder_itself_may_be_reached_by_a_link() {
        let bench = Bench::new("job");
        let below = PathBelow::new(&bench.home.path().join("job/job"), "new/log");
        std::io::Write::write_all(&mut below.open_log().unwrap(), b"x").unwrap();
        assert_eq!(below.read_text(1).unwrap(), "x");
        assert!(
            below
                .read_text(0)
                .unwrap_err()
                .reason
                .contains("larger than")
        );
        PathBelow::new(&bench.home.path().join("job/job"), "./new")
            .remove()
            .unwrap();
        bench.is_unharmed();
    }

    #[test]
    fn a_folder_is_removed_with_its_links_and_not_what_they_lead_to() {
        let bench = Bench::new("a/b/c");
        std::fs::write(bench.below("a/file").path(), "x").unwrap();
        bench.below("a").remove().unwrap();
        bench.below("a").remove().unwrap();
        bench.below("a/b").remove().unwrap();
        assert!(!bench.below("a").exists().unwrap());
        bench.is_unharmed();
    }

    #[test]
    fn a_pipe_is_not_waited_for_and_a_path_stays_below() {
        let bench = Bench::new("a");
        let pipe = bench.below("pipe");
        assert!(
            std::process::Command::new("mkfifo")
                .arg(pipe.path())
                .status()
                .unwrap()
                .success()
        );
        assert_eq!(
            pipe.read_text(9).unwrap_err().reason,
            "it is not a regular file"
        );
        assert!(pipe.open_log().is_err());
        for path in ["..", "../outside", "x/../../outside", "/", ""] {
            assert!(
                bench
                    .below(path)
                    .remove()
                    .unwrap_err()
                    .reason
                    .starts_with("it is not below"),
                "{path}"
            );
        }
        assert!(
            bench
                .below("none")
                .read_text(9)
                .unwrap_err()
                .about_a_link()
                .is_none()
        );
        bench.is_unharmed();
    }
}
