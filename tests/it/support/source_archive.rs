//! Source distributions and other `.tar.gz` archives, written member by member.

use std::io::Write as _;

use flate2::{Compression, write::GzEncoder};

use super::artifacts::{append, append_other};

/// An archive being written.
pub struct SourceArchive {
    builder: tar::Builder<Vec<u8>>,
}

impl SourceArchive {
    /// A source distribution of the project and version that a file name has, with what installers
    /// need.
    pub fn named(name: &str) -> Self {
        let top = name
            .strip_suffix(".tar.gz")
            .expect("the name of a source distribution");
        let (project, version) = top.rsplit_once('-').expect("a version behind the last `-`");
        Self::empty()
            .file(
                &format!("{top}/PKG-INFO"),
                format!("Metadata-Version: 2.2\nName: {project}\nVersion: {version}\n"),
            )
            .file(
                &format!("{top}/pyproject.toml"),
                "[build-system]\nrequires = []\n",
            )
    }

    /// An archive of an install tree with one file.
    pub fn tree(content: &str) -> Self {
        Self::empty().file("aotriton/include/aotriton/flash.h", content)
    }

    /// An archive without members.
    pub fn empty() -> Self {
        Self {
            builder: tar::Builder::new(Vec::new()),
        }
    }

    /// Adds a file under a path that need not be a safe one.
    pub fn file(mut self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let content = content.as_ref();
        if path.len() <= 100 {
            append(&mut self.builder, path, content);
            return self;
        }
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(tar::EntryType::Regular);
        header.set_mode(0o644);
        header.set_size(content.len() as u64);
        self.builder
            .append_data(&mut header, path, content)
            .unwrap();
        self
    }

    /// Adds a member that is not a file: a link of either kind, a folder or a device.
    pub fn other(mut self, kind: tar::EntryType, path: &str, target: &str) -> Self {
        append_other(&mut self.builder, kind, path, target);
        self
    }

    /// The archive without compression.
    pub fn tar(self) -> Vec<u8> {
        self.builder.into_inner().unwrap()
    }

    /// The archive.
    pub fn bytes(self) -> Vec<u8> {
        gzip(&self.tar(), Compression::fast())
    }
}

/// One gzip member of these bytes.
pub fn gzip(bytes: &[u8], compression: Compression) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), compression);
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}
