//! Artifacts as they were listed.

use rock_names::{ArtifactName, is_file_name};

/// One artifact with everything in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildArtifact {
    /// Its name.
    pub name: ArtifactName,
    /// The folders that its manifest lists, which lie over each other: paths in it, with slashes.
    pub roots: Vec<String>,
    /// What is in them, sorted by root and path; folders that only a path names need not be listed.
    pub entries: Vec<ArtifactEntry>,
}

/// A file, link or folder of an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactEntry {
    /// Which of the roots it is below.
    pub root: usize,
    /// Its path below the root, with slashes: where it is in an install tree.
    pub path: String,
    /// What it is.
    pub kind: EntryKind,
}

/// What is under a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryKind {
    /// A folder.
    Folder,
    /// A symbolic link with its text.
    Link(String),
    /// A regular file.
    File(FileFacts),
}

/// What is known of a regular file before its content is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileFacts {
    /// Its size.
    pub size_bytes: u64,
    /// Its permission bits.
    pub mode: u32,
    /// What a loader would make of it.
    pub shape: FileShape,
}

/// What a loader would make of a file. Read from its head, never from its name, so that a linker
/// script named `libx.so` is data and a code object for a GPU is, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileShape {
    /// Nothing, or nothing that is changed: texts, archives, relocatable files, programs without a
    /// dynamic table, code for GPUs, files for other processors.
    Data,
    /// A shared library.
    Library {
        /// The processor, as in `e_machine`.
        machine: u16,
        /// The name that loaders ask for.
        soname: Option<String>,
        /// RPATH or RUNPATH as it is.
        search: Option<String>,
    },
    /// A program that can be run.
    Program {
        /// The processor, as in `e_machine`.
        machine: u16,
        /// Whether it has a dynamic table, which a search path can go into.
        is_dynamic: bool,
        /// RPATH or RUNPATH as it is.
        search: Option<String>,
    },
}

impl FileShape {
    /// The name of the file that loaders look for. A SONAME that no file can have, such as one with
    /// a slash, is none.
    pub fn soname(&self) -> Option<&str> {
        match self {
            Self::Library { soname, .. } => soname.as_deref().filter(|soname| is_file_name(soname)),
            Self::Data | Self::Program { .. } => None,
        }
    }

    /// The search path that it has, where it may have one.
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
