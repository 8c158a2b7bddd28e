//! Placement of artifact entries in runtime packages.

use globset::GlobSet;

use super::alias::LibraryAlias;
use super::artifact::{BuildArtifact, EntryKind, FileFacts, FileShape};
use super::resolve::{ArtifactPaths, LinkTarget};
use super::search_path;
use rock_names::Platform;

/// An entry of an artifact, by index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileOrigin {
    /// The index of the artifact.
    pub artifact: usize,
    /// The index of the entry in the artifact.
    pub entry: usize,
}

/// The content of a file in a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileContent {
    /// A copy of a file of an artifact.
    Copy(FileOrigin),
    /// A copy of a file of an artifact, with this search path as RPATH.
    Searching(FileOrigin, String),
    /// A stub library that makes a library in the same directory available under another name.
    Alias(LibraryAlias),
    /// A stub program that runs the program at `text`, relative to its own directory.
    Stub {
        /// The processor, as in `e_machine`.
        machine: u16,
        /// The target text of the symlink that it replaces, or the path to the final target of that
        /// symlink.
        text: String,
    },
}

/// A file of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageFile {
    /// The content.
    pub content: FileContent,
    /// Whether the file is executable.
    pub is_executable: bool,
    /// The symlink or file of an artifact that it is created for.
    pub from: FileOrigin,
}

/// The reason for which a path of an artifact is omitted from a package.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropReason {
    /// Another name of a library that is in the same directory under this SONAME.
    Alias(String),
    /// A symlink whose target is not in its artifact.
    Dangling,
    /// A symlink to a directory.
    ToDirectory,
    /// A symlink that leads out of its artifact.
    Outside,
    /// A symlink that forms a loop.
    Loop,
    /// A symlink to a program in a Windows package, where no stub program can replace it.
    ProgramLink,
    /// A symlink to a program for this processor (`e_machine`) that no stub program can replace.
    NoStub(u16),
}

/// The result of placing an entry.
pub(super) enum EntryFate {
    /// A directory, which wheels do not contain.
    Nothing,
    Placed(PackageFile),
    Dropped(DropReason),
}

/// Rules for placing entries in one package.
#[derive(Clone, Copy)]
pub(super) struct PlacementRules<'p> {
    pub(super) platform: Platform,
    /// The directory of the core package, and its subdirectories that libraries search.
    pub(super) core: &'p str,
    pub(super) search: &'p [String],
    /// Whether a library is packed once, under its SONAME.
    pub(super) is_once: bool,
    /// Globs of the library names that get a stub library.
    pub(super) aliases: &'p GlobSet,
}

impl PlacementRules<'_> {
    /// Places entry `origin` of an artifact.
    pub(super) fn fate(
        &self,
        artifact: &BuildArtifact,
        origin: FileOrigin,
        paths: &ArtifactPaths<'_>,
    ) -> EntryFate {
        let entry = &artifact.entries[origin.entry];
        match &entry.kind {
            EntryKind::Directory => EntryFate::Nothing,
            EntryKind::File(facts) => self.file(&entry.path, origin, facts, origin),
            EntryKind::Link(text) => match paths.follow(origin.entry, text) {
                LinkTarget::File(target) => self.link(
                    &entry.path,
                    text,
                    origin,
                    FileOrigin {
                        entry: target,
                        ..origin
                    },
                    artifact,
                ),
                LinkTarget::Directory => EntryFate::Dropped(DropReason::ToDirectory),
                LinkTarget::Nothing | LinkTarget::Elsewhere => {
                    EntryFate::Dropped(DropReason::Dangling)
                }
                LinkTarget::Outside => EntryFate::Dropped(DropReason::Outside),
                LinkTarget::Loop => EntryFate::Dropped(DropReason::Loop),
            },
        }
    }

    fn link(
        &self,
        path: &str,
        text: &str,
        from: FileOrigin,
        target: FileOrigin,
        artifact: &BuildArtifact,
    ) -> EntryFate {
        let EntryKind::File(facts) = &artifact.entries[target.entry].kind else {
            return EntryFate::Dropped(DropReason::Dangling);
        };
        match &facts.shape {
            FileShape::Program { machine, .. } if self.is_once => {
                if self.platform == Platform::Windows {
                    return EntryFate::Dropped(DropReason::ProgramLink);
                }
                if super::stub::stub(*machine, text).is_err() {
                    return EntryFate::Dropped(DropReason::NoStub(*machine));
                }
                let content = FileContent::Stub {
                    machine: *machine,
                    text: text.to_owned(),
                };
                EntryFate::Placed(PackageFile {
                    content,
                    is_executable: true,
                    from,
                })
            }
            _ => self.file(path, from, facts, target),
        }
    }

    /// Places a file with these bytes at a path.
    fn file(
        &self,
        path: &str,
        from: FileOrigin,
        facts: &FileFacts,
        bytes: FileOrigin,
    ) -> EntryFate {
        if let Some(soname) = facts.shape.soname().filter(|_| self.is_once)
            && path.rsplit('/').next() != Some(soname)
        {
            return match self.alias(path, soname, &facts.shape) {
                Some(alias) => {
                    let is_executable = facts.mode & 0o111 != 0;
                    EntryFate::Placed(PackageFile {
                        content: FileContent::Alias(alias),
                        is_executable,
                        from,
                    })
                }
                None => EntryFate::Dropped(DropReason::Alias(soname.to_owned())),
            };
        }
        let content = self.content(path, facts, bytes);
        EntryFate::Placed(PackageFile {
            content,
            is_executable: facts.mode & 0o111 != 0,
            from,
        })
    }

    /// Returns the stub library for another name of a library, if it is requested and can be made.
    fn alias(&self, path: &str, soname: &str, shape: &FileShape) -> Option<LibraryAlias> {
        let FileShape::Library { machine, .. } = shape else {
            return None;
        };
        let is_asked_for = self.aliases.is_match(path) && LibraryAlias::is_for(*machine);
        is_asked_for.then(|| LibraryAlias {
            machine: *machine,
            name: path.rsplit('/').next().unwrap_or(path).to_owned(),
            soname: soname.to_owned(),
            search: search_path(path, Some("$ORIGIN"), self.core, self.search),
        })
    }

    /// Returns the content of a file placed at a path, with the search path that it needs there.
    pub(super) fn content(&self, path: &str, facts: &FileFacts, bytes: FileOrigin) -> FileContent {
        match facts.shape.search() {
            Some(had) if self.platform == Platform::Linux && !self.search.is_empty() => {
                FileContent::Searching(
                    bytes,
                    search_path(path, had.as_deref(), self.core, self.search),
                )
            }
            _ => FileContent::Copy(bytes),
        }
    }
}
