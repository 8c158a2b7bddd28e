//! A file without a name until it is complete, so that an interrupted run leaves nothing behind.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

use super::atomic_dir::NEW_SUFFIX;
use super::umask::new_file_mode;

/// Mode of the file before it is named: accessible to its owner only.
const UNNAMED_MODE: u32 = 0o600;

/// A file being written in a directory.
#[derive(Debug)]
pub(super) enum PendingFile {
    /// Opened with `O_TMPFILE`: disappears when the process ends.
    Unnamed(File, PathBuf),
    /// The fallback for file systems without `O_TMPFILE`: removed unless the process is killed.
    Named(tempfile::NamedTempFile),
}

impl PendingFile {
    /// Creates a pending file in an existing directory.
    pub(super) fn new_in(directory: &Path) -> io::Result<Self> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        match rustix::fs::openat(CWD, directory, flags, Mode::from_raw_mode(UNNAMED_MODE)) {
            Ok(file) => Ok(Self::Unnamed(file.into(), directory.to_owned())),
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => {
                // `make_in` keeps the temporary name out of the error message.
                let open = |path: &Path| {
                    File::options()
                        .read(true)
                        .write(true)
                        .create_new(true)
                        .open(path)
                };
                tempfile::Builder::new()
                    .make_in(directory, open)
                    .map(Self::Named)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the open file.
    pub(super) fn file(&self) -> &File {
        match self {
            Self::Unnamed(file, _) => file,
            Self::Named(file) => file.as_file(),
        }
    }

    /// Sets the permissions, those of a new file if `mode` is `None`, and syncs the file.
    pub(super) fn sync(&self, mode: Option<u32>) -> io::Result<()> {
        self.file().set_permissions(PermissionsExt::from_mode(
            mode.unwrap_or_else(new_file_mode),
        ))?;
        self.file().sync_all()
    }

    /// Syncs the file like [`Self::sync`] and renames it to `path`, replacing an existing file.
    pub(super) fn persist(self, path: &Path, mode: Option<u32>) -> io::Result<()> {
        self.sync(mode)?;
        match self {
            Self::Named(file) => file.persist(path).map(drop).map_err(|error| error.error),
            Self::Unnamed(file, directory) => {
                // linkat(2) does not replace an existing file, so link it under a temporary name
                // first.
                let source = format!("/proc/self/fd/{}", file.as_raw_fd());
                let named = tempfile::Builder::new()
                    .prefix(".")
                    .suffix(NEW_SUFFIX)
                    .make_in(directory, |free| {
                        rustix::fs::linkat(CWD, &source, CWD, free, AtFlags::SYMLINK_FOLLOW)
                            .map_err(io::Error::from)
                    })?;
                named
                    .into_temp_path()
                    .persist(path)
                    .map_err(|error| error.error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_pending_file_is_unnamed_and_replaces_on_persist() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x");
        for text in ["one", "two"] {
            let pending = PendingFile::new_in(directory.path()).unwrap();
            pending.file().write_all(text.as_bytes()).unwrap();
            if matches!(pending, PendingFile::Unnamed(..)) {
                let names = directory.path().read_dir().unwrap().count();
                assert_eq!(names, usize::from(text == "two"), "nothing to leave behind");
            }
            pending.persist(&path, None).unwrap();
            assert_eq!(crate::read_text(&path, 99).unwrap(), text);
        }
        assert_eq!(
            path.metadata().unwrap().permissions().mode() & 0o777,
            new_file_mode()
        );
        drop(PendingFile::new_in(directory.path()).unwrap());
        assert_eq!(directory.path().read_dir().unwrap().count(), 1);
    }
}
