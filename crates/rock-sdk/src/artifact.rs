//! Artifacts and the entries that were listed in them.

use rock_names::{ArtifactName, is_file_name};

/// An artifact with all its entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildArtifact {
    /// The name of the artifact.
    pub name: ArtifactName,
    /// The roots: directories that the manifest lists, whose contents are merged. Paths in the
    /// artifact, with slashes.
    pub roots: Vec<String>,
    /// The entries of all roots, sorted by root and path. Directories that exist only as parents of
    /// other entries may be missing.
    pub entries: Vec<ArtifactEntry>,
}

/// A file, symlink or directory of an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactEntry {
    /// The index of its root.
    pub root: usize,
    /// The path below the root, with slashes. This is also its path in an install tree.
    pub path: String,
    /// The kind of the entry.
    pub kind: EntryKind,
}

/// The kind of an artifact entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryKind {
    /// A directory.
    Directory,
    /// A symlink with its target text.
    Link(String),
    /// A regular file.
    File(FileFacts),
}

/// Properties of a regular file that are known without its whole content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFacts {
    /// The size of the file.
    pub size_bytes: u64,
    /// The permission bits.
    pub mode: u32,
    /// The file as the dynamic linker sees it.
    pub shape: FileShape,
}

/// A file as the dynamic linker sees it. This depends on the header and never on the name: a linker
/// script named `libx.so` is data, and so is a code object for a GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileShape {
    /// A file that is packed unchanged: text, archives, relocatable files, shared objects without a
    /// dynamic section, debug files, GPU code, files for other processors.
    Data,
    /// A shared library.
    Library {
        /// The processor, as in `e_machine`.
        machine: u16,
        /// The SONAME.
        soname: Option<String>,
        /// The RUNPATH or else the RPATH.
        search: Option<String>,
    },
    /// A program.
    Program {
        /// The processor, as in `e_machine`.
        machine: u16,
        /// Whether it is dynamically linked, so that it can have a search path.
        is_dynamic: bool,
        /// The RUNPATH or else the RPATH.
        search: Option<String>,
    },
}

impl FileShape {
    /// Returns the filename that the dynamic linker looks up, or `None` if the SONAME is not a
    /// filename, for example because it contains a slash.
    pub fn soname(&self) -> Option<&str> {
        match self {
            Self::Library { soname, .. } => soname.as_deref().filter(|soname| is_file_name(soname)),
            Self::Data | Self::Program { .. } => None,
        }
    }

    /// Returns the search path, or `None` if the file cannot have one. The inner `None` means that
    /// it has none yet.
    pub(super) fn search(&self) -> Option<&Option<String>> {
        match self {
            Self::Library { search, .. }
            | Self::Program {
                is_dynamic: true,
                search,
                ..
            } => Some(search),
            Self::Data
            | Self::Program {
                is_dynamic: false, ..
            } => None,
        }
    }
}
