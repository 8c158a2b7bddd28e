//! Paths below a directory that others write to, such as build steps.
//!
//! **Invariant:** no symbolic link is followed between the directory and the path. Each component
//! is opened separately with `O_NOFOLLOW` (openat(2)), so a link that is created concurrently is
//! not followed either.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::FileError;
use super::files::read_open_text;
use crate::codes::build as codes;
use rock_diagnostic::Diagnostic;

/// A path below a trusted directory, which may itself be reached through links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathBelow {
    root: PathBuf,
    path: PathBuf,
}

/// The source of a [`FileError`] for a symbolic link on the path.
#[derive(Debug, thiserror::Error)]
#[error("it is a symbolic link")]
struct LinkOnPath;

impl PathBelow {
    /// Joins `path` to `root`. `path` must be relative; this is checked when it is used.
    pub fn new(root: &Path, path: impl AsRef<Path>) -> Self {
        Self {
            root: root.to_owned(),
            path: path.as_ref().components().collect(),
        }
    }

    /// Returns the joined path, for messages.
    pub fn path(&self) -> PathBuf {
        self.root.join(&self.path)
    }

    /// Checks that no component of the path is a symbolic link. A missing path is not an error.
    ///
    /// # Errors
    ///
    /// Returns an error if there is a link or the path cannot be examined.
    pub fn check(&self) -> Result<(), FileError> {
        self.kind("use").map(drop)
    }

    /// Returns whether anything is at the path.
    ///
    /// # Errors
    ///
    /// Returns an error if a component is a symbolic link or the path cannot be examined.
    pub fn exists(&self) -> Result<bool, FileError> {
        self.kind("read").map(|kind| kind.is_some())
    }

    /// Removes a file, a symbolic link, or a directory with its contents. Does nothing if the path
    /// does not exist.
    ///
    /// # Errors
    ///
    /// Returns an error if a parent is a symbolic link or something cannot be removed.
    pub fn remove(&self) -> Result<(), FileError> {
        let Some((directory, name)) = self.parent("remove", false)? else {
            return Ok(());
        };
        remove_at(&directory, name).map_err(FileError::context("remove", &self.path()))
    }

    /// Opens a file for appending and creates missing parents.
    ///
    /// # Errors
    ///
    /// Returns an error if a component is a symbolic link, or the file is not regular or cannot be
    /// opened.
    pub fn open_log(&self) -> Result<File, FileError> {
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::APPEND;
        self.open("write", flags, true)
    }

    /// Reads a UTF-8 file of at most `limit_bytes`.
    ///
    /// # Errors
    ///
    /// Returns an error if a component is a symbolic link, or the file is not regular, larger, not
    /// valid UTF-8, or cannot be read.
    pub fn read_text(&self, limit_bytes: u64) -> Result<String, FileError> {
        read_open_text(
            self.open("read", OFlags::RDONLY, false)?,
            &self.path(),
            limit_bytes,
        )
    }

    /// Opens a regular file. Does not block if it is a pipe (`O_NONBLOCK`).
    fn open(&self, action: &'static str, flags: OFlags, create: bool) -> Result<File, FileError> {
        let path = self.path();
        let (directory, name) = self
            .parent(action, create)?
            .ok_or_else(|| FileError::new(action, &path, Errno::NOENT.into()))?;
        let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = match rustix::fs::openat(&directory, name, flags, Mode::from_raw_mode(0o666)) {
            Ok(file) => File::from(file),
            Err(Errno::LOOP) => return Err(link_error(action, &path)),
            Err(error) => return Err(FileError::new(action, &path, error.into())),
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
        let Some((directory, name)) = self.parent(action, false)? else {
            return Ok(None);
        };
        match kind_at(&directory, name) {
            Ok(Some(FileType::Symlink)) => Err(link_error(action, &self.path())),
            Ok(kind) => Ok(kind),
            Err(error) => Err(FileError::new(action, &self.path(), error.into())),
        }
    }

    /// Opens the parent directory of the path and returns it with the last component. Returns
    /// `None` if a directory is missing and `create` is false.
    fn parent(
        &self,
        action: &'static str,
        create: bool,
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
        let Some((name, directories)) = names.split_last() else {
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
        if create {
            super::create_directory(&self.root)?;
        }
        let mut at = self.root.clone();
        let mut directory = match rustix::fs::openat(CWD, &at, flags, Mode::empty()) {
            Ok(directory) => directory,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(FileError::new(action, &at, error.into())),
        };
        for name in directories {
            at.push(name);
            if create {
                match rustix::fs::mkdirat(&directory, *name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(FileError::new(action, &at, error.into())),
                }
            }
            directory = match rustix::fs::openat(
                &directory,
                *name,
                flags | OFlags::NOFOLLOW,
                Mode::empty(),
            ) {
                Ok(inner) => inner,
                Err(Errno::NOENT) => return Ok(None),
                // With `O_DIRECTORY`, a link fails with `ENOTDIR`.
                Err(Errno::NOTDIR | Errno::LOOP)
                    if kind_at(&directory, name) == Ok(Some(FileType::Symlink)) =>
                {
                    return Err(link_error(action, &at));
                }
                Err(error) => return Err(FileError::new(action, &at, error.into())),
            };
        }
        Ok(Some((directory, name)))
    }
}

impl FileError {
    /// Returns the diagnostic for a symbolic link in place of a build file or directory; `None` for
    /// other errors.
    pub fn link_diagnostic(&self) -> Option<Diagnostic> {
        let is_linked = self.source.as_ref()?.get_ref()?.is::<LinkOnPath>();
        let diagnostic = || {
            Diagnostic::new(&codes::LINKED_FOLDER, self.to_string())
                .note(
                    "nothing is read, written or removed through a link that a build may have \
                     created",
                )
                .help("remove the link, then build again; `.rock` itself may be a link")
        };
        is_linked.then(diagnostic)
    }
}

fn link_error(action: &'static str, path: &Path) -> FileError {
    FileError::new(action, path, io::Error::other(LinkOnPath))
}

fn kind_at(directory: impl AsFd, name: &OsStr) -> Result<Option<FileType>, Errno> {
    match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(there) => Ok(Some(FileType::from_raw_mode(there.st_mode))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

fn remove_at(directory: impl AsFd, name: &OsStr) -> Result<(), Errno> {
    use std::os::unix::ffi::OsStrExt as _;
    match rustix::fs::unlinkat(&directory, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        Err(Errno::ISDIR) => {}
        Err(error) => return Err(error),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let inner = rustix::fs::openat(&directory, name, flags, Mode::empty())?;
    for entry in Dir::read_from(&inner)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name != "." && name != ".." {
            remove_at(&inner, name)?;
        }
    }
    match rustix::fs::unlinkat(&directory, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    struct Fixture {
        home: tempfile::TempDir,
    }

    impl Fixture {
        /// Creates `job` and `outside` with the file `build`; `job/LINK` is a link to `outside`.
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
        fn assert_outside_unchanged(&self) {
            let outside = self.home.path().join("outside");
            assert_eq!(
                super::super::entry_names(&outside).unwrap(),
                ["build", "in"]
            );
            assert_eq!(std::fs::read(outside.join("build")).unwrap(), b"kept");
        }
    }

    #[test]
    fn a_link_among_the_parents_is_not_followed() {
        for (link, path) in [
            ("a", "a/build"),
            ("a/b", "a/b/build"),
            ("a", "a/in/x"),
            ("a", "a/in/new/x"),
        ] {
            let fixture = Fixture::new(link);
            let below = fixture.below(path);
            for error in [
                below.check().unwrap_err(),
                below.exists().unwrap_err(),
                below.remove().unwrap_err(),
                below.open_log().unwrap_err(),
                below.read_text(9).unwrap_err(),
            ] {
                assert_eq!(error.path, fixture.below(link).path());
                assert_eq!(error.link_diagnostic().unwrap().code.name, "linked-folder");
            }
            fixture.assert_outside_unchanged();
        }
    }

    #[test]
    fn a_link_at_the_path_is_removed_but_not_opened() {
        let fixture = Fixture::new("a");
        let below = fixture.below("a");
        assert!(below.check().unwrap_err().link_diagnostic().is_some());
        assert!(below.open_log().unwrap_err().link_diagnostic().is_some());
        assert!(below.read_text(9).unwrap_err().link_diagnostic().is_some());
        below.remove().unwrap();
        assert!(!below.exists().unwrap());
        fixture.assert_outside_unchanged();
    }

    #[test]
    fn the_root_may_be_reached_through_a_link() {
        let fixture = Fixture::new("job");
        let below = PathBelow::new(&fixture.home.path().join("job/job"), "new/log");
        std::io::Write::write_all(&mut below.open_log().unwrap(), b"x").unwrap();
        assert_eq!(below.read_text(1).unwrap(), "x");
        assert!(
            below
                .read_text(0)
                .unwrap_err()
                .reason
                .contains("larger than")
        );
        PathBelow::new(&fixture.home.path().join("job/job"), "./new")
            .remove()
            .unwrap();
        fixture.assert_outside_unchanged();
    }

    #[test]
    fn remove_does_not_follow_links_in_a_directory() {
        let fixture = Fixture::new("a/b/c");
        std::fs::write(fixture.below("a/file").path(), "x").unwrap();
        fixture.below("a").remove().unwrap();
        fixture.below("a").remove().unwrap();
        fixture.below("a/b").remove().unwrap();
        assert!(!fixture.below("a").exists().unwrap());
        fixture.assert_outside_unchanged();
    }

    #[test]
    fn pipes_do_not_block_and_paths_stay_below_the_root() {
        let fixture = Fixture::new("a");
        let pipe = fixture.below("pipe");
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
                fixture
                    .below(path)
                    .remove()
                    .unwrap_err()
                    .reason
                    .starts_with("it is not below"),
                "{path}"
            );
        }
        assert!(
            fixture
                .below("none")
                .read_text(9)
                .unwrap_err()
                .link_diagnostic()
                .is_none()
        );
        fixture.assert_outside_unchanged();
    }
}
