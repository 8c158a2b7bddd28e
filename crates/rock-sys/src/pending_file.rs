//! A file that has no name until it is whole, so that nothing is left of it however the program
//! ends.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;

use super::umask::new_file_mode;

/// Before it has a name, a file is for nobody else.
const UNNAMED_MODE: u32 = 0o600;

/// A file being written into a folder.
#[derive(Debug)]
pub(super) enum PendingFile {
    /// It has no name (`O_TMPFILE`): the system forgets it with the process.
    Unnamed(File, PathBuf),
    /// The file system knows no files without a name; this one is removed unless the process is
    /// killed.
    Named(tempfile::NamedTempFile),
}

impl PendingFile {
    /// Begins a file in a folder, which must be there.
    pub(super) fn new_in(folder: &Path) -> io::Result<Self> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        match rustix::fs::openat(CWD, folder, flags, Mode::from_raw_mode(UNNAMED_MODE)) {
            Ok(file) => Ok(Self::Unnamed(file.into(), folder.to_owned())),
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL) => {
                // Opened here: an error out of the crate tells the name of the moment, which says
                // nothing to anybody.
                let open = |path: &Path| {
                    File::options()
                        .read(true)
                        .write(true)
                        .create_new(true)
                        .open(path)
                };
                tempfile::Builder::new()
                    .make_in(folder, open)
                    .map(Self::Named)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// The file, for reading and writing.
    pub(super) fn file(&self) -> &File {
        match self {
            Self::Unnamed(file, _) => file,
            Self::Named(file) => file.as_file(),
        }
    }

    /// Gives it permissions and waits until the disk has it. Without a mode the permissions are
    /// those of any new file.
    pub(super) fn sync(&self, mode: Option<u32>) -> io::Result<()> {
        self.file().set_permissions(PermissionsExt::from_mode(
            mode.unwrap_or_else(new_file_mode),
        ))?;
        self.file().sync_all()
    }

    /// Syncs it, as [`Self::sync`] does, and gives it its name, in the place of what has it.
    pub(super) fn persist(self, path: &Path, mode: Option<u32>) -> io::Result<()> {
        self.sync(mode)?;
        match self {
            Self::Named(file) => file.persist(path).map(drop).map_err(|error| error.error),
            Self::Unnamed(file, folder) => {
                // A link takes no name that is taken, so the file gets one of its own first.
                let source = format!("/proc/self/fd/{}", file.as_raw_fd());
                let named = tempfile::Builder::new().make_in(folder, |free| {
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
    fn a_file_has_no_name_before_it_is_whole_and_takes_that_of_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        for text in ["one", "two"] {
            let unfinished = PendingFile::new_in(folder.path()).unwrap();
            unfinished.file().write_all(text.as_bytes()).unwrap();
            if matches!(unfinished, PendingFile::Unnamed(..)) {
                let names = folder.path().read_dir().unwrap().count();
                assert_eq!(names, usize::from(text == "two"), "nothing to leave behind");
            }
            unfinished.persist(&path, None).unwrap();
            assert_eq!(crate::read_text(&path, 99).unwrap(), text);
        }
        assert_eq!(
            path.metadata().unwrap().permissions().mode() & 0o777,
            new_file_mode()
        );
        drop(PendingFile::new_in(folder.path()).unwrap());
        assert_eq!(folder.path().read_dir().unwrap().count(), 1);
    }
}
