//! Unpacks archive members below a directory.

use std::io::Read;
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};

use super::FileError;

/// A writer of archive members below a directory.
///
/// Symbolic links are created last, by [`Self::finish`], and nothing is written through a link, so
/// that every member is written below the directory. Member paths must not contain `..`.
#[derive(Debug)]
pub struct ArchiveUnpacker {
    directory: PathBuf,
    /// Path and target text of each symbolic link.
    links: Vec<(PathBuf, String)>,
}

impl ArchiveUnpacker {
    /// Creates an unpacker, and the directory if it is missing.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory cannot be created.
    pub fn new(directory: &Path) -> Result<Self, FileError> {
        super::create_directory(directory)?;
        Ok(Self {
            directory: directory.to_owned(),
            links: Vec::new(),
        })
    }

    /// Creates a directory and its parents.
    ///
    /// # Errors
    ///
    /// Returns an error if the directory cannot be created or a symbolic link is above it.
    pub fn create_directory(&mut self, path: &str) -> Result<(), FileError> {
        let target = self.directory.join(path);
        self.reject_link_above(&target.join("."))?;
        super::create_directory(&target)
    }

    /// Writes a file with the permission bits of `mode`, always writable by its owner and without
    /// set-user-ID and set-group-ID. Replaces an existing file or link.
    ///
    /// # Errors
    ///
    /// Returns an error if the content cannot be read, the file cannot be written, or a symbolic
    /// link is above it.
    pub fn write_file(
        &mut self,
        path: &str,
        mode: u32,
        content: &mut dyn Read,
    ) -> Result<(), FileError> {
        let path = self.cleared_path(path)?;
        // Keep files writable by their owner.
        let mode = (mode & 0o777) | 0o200;
        let mut file = std::fs::File::options()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(&path)
            .map_err(FileError::context("write", &path))?;
        std::io::copy(content, &mut file)
            .map(drop)
            .map_err(FileError::context("write", &path))
    }

    /// Creates a hard link at `path` to the unpacked file `other`.
    ///
    /// # Errors
    ///
    /// Returns an error if `other` does not exist, the link cannot be created, or a symbolic link
    /// is above either path.
    pub fn hard_link(&mut self, path: &str, other: &str) -> Result<(), FileError> {
        let (other, path) = (self.directory.join(other), self.cleared_path(path)?);
        self.reject_link_above(&other)?;
        std::fs::hard_link(&other, &path).map_err(FileError::context("write", &path))
    }

    /// Returns whether a regular file, not a link, is at the path.
    pub fn has_file(&self, path: &str) -> bool {
        std::fs::symlink_metadata(self.directory.join(path))
            .is_ok_and(|metadata| metadata.is_file())
    }

    /// Adds a symbolic link, which [`Self::finish`] creates.
    pub fn add_symlink(&mut self, path: &str, text: &str) {
        self.links
            .push((self.directory.join(path), text.to_owned()));
    }

    /// Creates the symbolic links in the order in which they were added.
    ///
    /// # Errors
    ///
    /// Returns an error if a link cannot be created or another link is above it.
    pub fn finish(mut self) -> Result<(), FileError> {
        for (path, text) in std::mem::take(&mut self.links) {
            self.clear_path(&path)?;
            symlink(text, &path).map_err(FileError::context("write", &path))?;
        }
        Ok(())
    }

    /// Returns the path of a member after removing a file or link there.
    fn cleared_path(&self, path: &str) -> Result<PathBuf, FileError> {
        let target = self.directory.join(path);
        self.clear_path(&target)?;
        Ok(target)
    }

    /// Creates the parents of a path and removes the path itself unless it is a directory.
    fn clear_path(&self, target: &Path) -> Result<(), FileError> {
        self.reject_link_above(target)?;
        if let Some(directory) = target.parent() {
            super::create_directory(directory)?;
        }
        match std::fs::symlink_metadata(target) {
            Ok(metadata) if !metadata.is_dir() => super::remove(target),
            _ => Ok(()),
        }
    }

    /// Returns an error if a symbolic link is among the parents of a path: it could lead anywhere.
    fn reject_link_above(&self, target: &Path) -> Result<(), FileError> {
        let above = target
            .ancestors()
            .skip(1)
            .take_while(|directory| *directory != self.directory);
        match above.filter(|directory| directory.is_symlink()).last() {
            None => Ok(()),
            Some(link) => Err(super::merge_tree::through_link(target, link)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::ArchiveUnpacker;

    #[test]
    fn later_members_replace_earlier_ones_and_links_are_not_followed() {
        let outside = tempfile::tempdir().unwrap();
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("new");
        let mut unpacker = ArchiveUnpacker::new(&root).unwrap();
        unpacker.add_symlink("lib", outside.path().to_str().unwrap());
        unpacker
            .write_file("bin/run", 0o4555, &mut b"one".as_slice())
            .unwrap();
        unpacker
            .write_file("bin/run", 0o555, &mut b"two".as_slice())
            .unwrap();
        unpacker.hard_link("bin/same", "bin/run").unwrap();
        unpacker.create_directory("empty").unwrap();
        unpacker
            .write_file("etc/x", 0o644, &mut b"x".as_slice())
            .unwrap();
        unpacker.finish().unwrap();
        assert_eq!(std::fs::read(root.join("bin/same")).unwrap(), b"two");
        let mode = std::fs::metadata(root.join("bin/run"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o7777, 0o755 & !current_umask());
        assert!(root.join("empty").is_dir() && root.join("lib").is_symlink());
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
        // Neither through a link of an earlier run nor through one that was just created.
        std::fs::write(outside.path().join("secret"), b"secret").unwrap();
        let mut again = ArchiveUnpacker::new(&root).unwrap();
        assert!(
            again
                .write_file("lib/x", 0o644, &mut b"x".as_slice())
                .is_err()
        );
        assert!(
            again
                .write_file("lib/deep/x", 0o644, &mut b"x".as_slice())
                .is_err()
        );
        assert!(
            again.create_directory("lib/new").is_err()
                && again.hard_link("stolen", "lib/secret").is_err()
        );
        again.add_symlink("one", outside.path().to_str().unwrap());
        again.add_symlink("one/two", "x");
        assert!(
            again
                .finish()
                .unwrap_err()
                .reason
                .contains("nothing is written through links")
        );
        let left: Vec<_> = std::fs::read_dir(outside.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["secret"]);
    }

    /// Returns the umask, read from the mode of a new file.
    fn current_umask() -> u32 {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("x"), b"").unwrap();
        0o666
            & !std::fs::metadata(directory.path().join("x"))
                .unwrap()
                .permissions()
                .mode()
    }
}
