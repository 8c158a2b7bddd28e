//! Members of archives, written into a folder.

use std::io::Read;
use std::os::unix::fs::{OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};

use super::FileError;

/// A folder that members of an archive are written into. Links are made when it ends, and nothing
/// is written where a link is among the folders above it, so that everything lands below the
/// folder. Paths must be without `..`.
#[derive(Debug)]
pub struct ArchiveUnpacker {
    folder: PathBuf,
    /// Where, and the text.
    links: Vec<(PathBuf, String)>,
}

impl ArchiveUnpacker {
    /// Begins to write into a folder, which is made where it is missing.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new(folder: &Path) -> Result<Self, FileError> {
        super::create_directory(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            links: Vec::new(),
        })
    }

    /// Makes a folder.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn folder(&mut self, path: &str) -> Result<(), FileError> {
        let place = self.folder.join(path);
        self.no_link_above(&place.join("."))?;
        super::create_directory(&place)
    }

    /// Writes a file with these permission bits; a file or link that was there gives way.
    ///
    /// # Errors
    /// When it cannot be written, or the content not be read.
    pub fn file(&mut self, path: &str, mode: u32, content: &mut dyn Read) -> Result<(), FileError> {
        let path = self.free(path)?;
        let fault = |error| FileError::new("write", &path, error);
        // Who unpacks a file may write to it.
        let mode = (mode & 0o777) | 0o200;
        let mut file = std::fs::File::options()
            .write(true)
            .create_new(true)
            .mode(mode)
            .open(&path)
            .map_err(fault)?;
        std::io::copy(content, &mut file).map(drop).map_err(fault)
    }

    /// Gives a file another name.
    ///
    /// # Errors
    /// When the file is not there.
    pub fn again(&mut self, path: &str, other: &str) -> Result<(), FileError> {
        let (other, path) = (self.folder.join(other), self.free(path)?);
        self.no_link_above(&other)?;
        std::fs::hard_link(&other, &path).map_err(|error| FileError::new("write", &path, error))
    }

    /// Whether a file is there, and no link.
    pub fn has_file(&self, path: &str) -> bool {
        std::fs::symlink_metadata(self.folder.join(path)).is_ok_and(|metadata| metadata.is_file())
    }

    /// Makes a symbolic link, at the end.
    pub fn link(&mut self, path: &str, text: &str) {
        self.links.push((self.folder.join(path), text.to_owned()));
    }

    /// Makes the links.
    ///
    /// # Errors
    /// When one cannot be made.
    pub fn finish(mut self) -> Result<(), FileError> {
        for (path, text) in std::mem::take(&mut self.links) {
            self.make_way(&path)?;
            symlink(text, &path).map_err(|error| FileError::new("write", &path, error))?;
        }
        Ok(())
    }

    /// The place of a path, where nothing is.
    fn free(&self, path: &str) -> Result<PathBuf, FileError> {
        let place = self.folder.join(path);
        self.make_way(&place)?;
        Ok(place)
    }

    /// Makes the folders above a place below the folder, and takes away what is no folder and has
    /// its name.
    fn make_way(&self, place: &Path) -> Result<(), FileError> {
        self.no_link_above(place)?;
        if let Some(folder) = place.parent() {
            super::create_directory(folder)?;
        }
        match std::fs::symlink_metadata(place) {
            Ok(metadata) if !metadata.is_dir() => super::remove(place),
            _ => Ok(()),
        }
    }

    /// What lies behind a link may be anywhere.
    fn no_link_above(&self, place: &Path) -> Result<(), FileError> {
        let above = place
            .ancestors()
            .skip(1)
            .take_while(|folder| *folder != self.folder);
        match above.filter(|folder| folder.is_symlink()).last() {
            None => Ok(()),
            Some(link) => Err(super::merge_tree::through_link(place, link)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::ArchiveUnpacker;

    #[test]
    fn members_give_way_to_later_ones_and_nothing_is_written_through_a_link() {
        let outside = tempfile::tempdir().unwrap();
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("new");
        let mut unpacking = ArchiveUnpacker::new(&root).unwrap();
        unpacking.link("lib", outside.path().to_str().unwrap());
        unpacking
            .file("bin/run", 0o4555, &mut b"one".as_slice())
            .unwrap();
        unpacking
            .file("bin/run", 0o555, &mut b"two".as_slice())
            .unwrap();
        unpacking.again("bin/same", "bin/run").unwrap();
        unpacking.folder("empty").unwrap();
        unpacking
            .file("etc/x", 0o644, &mut b"x".as_slice())
            .unwrap();
        unpacking.finish().unwrap();
        assert_eq!(std::fs::read(root.join("bin/same")).unwrap(), b"two");
        let mode = std::fs::metadata(root.join("bin/run"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o7777, 0o755 & !current_mask());
        assert!(root.join("empty").is_dir() && root.join("lib").is_symlink());
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0);
        // Not even through a link that a run before has left, or that was made a moment ago.
        std::fs::write(outside.path().join("secret"), b"secret").unwrap();
        let mut again = ArchiveUnpacker::new(&root).unwrap();
        assert!(again.file("lib/x", 0o644, &mut b"x".as_slice()).is_err());
        assert!(
            again
                .file("lib/deep/x", 0o644, &mut b"x".as_slice())
                .is_err()
        );
        assert!(again.folder("lib/new").is_err() && again.again("stolen", "lib/secret").is_err());
        again.link("one", outside.path().to_str().unwrap());
        again.link("one/two", "x");
        assert!(
            again
                .finish()
                .unwrap_err()
                .reason
                .contains("nothing is written through one")
        );
        let left: Vec<_> = std::fs::read_dir(outside.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["secret"]);
    }

    /// What new files may not be, here: read off a file of this process.
    fn current_mask() -> u32 {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("x"), b"").unwrap();
        0o666
            & !std::fs::metadata(folder.path().join("x"))
                .unwrap()
                .permissions()
                .mode()
    }
}
