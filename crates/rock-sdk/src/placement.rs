//! What becomes of one entry of an artifact in a package that is run from.

use globset::GlobSet;

use super::alias::LibraryAlias;
use super::artifact::{BuildArtifact, EntryKind, FileFacts, FileShape};
use super::resolve::{ArtifactPaths, LinkTarget};
use super::search_path;
use rock_names::Platform;

/// A file of an artifact, by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileOrigin {
    /// The number of the artifact.
    pub artifact: usize,
    /// The number of its entry.
    pub entry: usize,
}

/// What a file of a package holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileContent {
    /// What a file of an artifact holds.
    Copy(FileOrigin),
    /// The same with this search path, as an RPATH.
    Searching(FileOrigin, String),
    /// A library that stands for another name of a library beside it.
    Alias(LibraryAlias),
    /// A program that runs what lies at `text`, seen from its own folder.
    Stub {
        /// The processor, as in `e_machine`.
        machine: u16,
        /// The text of the link that it stands for, or the way to where that leads in the end.
        text: String,
    },
}

/// A file of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageFile {
    /// What it holds.
    pub content: FileContent,
    /// Whether it may be run.
    pub is_executable: bool,
    /// The link or file of an artifact that it is made for.
    pub from: FileOrigin,
}

/// Why a path of an artifact is not in a package.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropReason {
    /// It is another name of the library that is in the same folder under this name, which loaders
    /// ask for.
    Alias(String),
    /// It is a link to nothing in its artifact.
    Dangling,
    /// It is a link to a folder.
    ToFolder,
    /// It is a link that leads out of its artifact.
    Outside,
    /// It is a link that leads to itself.
    Loop,
    /// It is a link to a program, which no file of Windows can stand for.
    ProgramLink,
    /// There is no stub for the processor of the program that it is a link to.
    NoStub(u16),
}

/// What becomes of an entry.
pub(super) enum EntryFate {
    /// It is a folder, which wheels do not hold.
    Nothing,
    Placed(PackageFile),
    Dropped(DropReason),
}

/// How entries are placed in one package.
#[derive(Clone, Copy)]
pub(super) struct PlacementRules<'p> {
    pub(super) platform: Platform,
    /// The folder of the core package, and the folders of it that libraries search.
    pub(super) core: &'p str,
    pub(super) search: &'p [String],
    /// Whether a library is packed once, under the name that loaders ask for.
    pub(super) is_once: bool,
    /// Other names of libraries that are there, too.
    pub(super) aliases: &'p GlobSet,
}

impl PlacementRules<'_> {
    /// What becomes of entry `number` of an artifact.
    pub(super) fn fate(
        &self,
        artifact: &BuildArtifact,
        origin: FileOrigin,
        paths: &ArtifactPaths<'_>,
    ) -> EntryFate {
        let entry = &artifact.entries[origin.entry];
        match &entry.kind {
            EntryKind::Folder => EntryFate::Nothing,
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
                LinkTarget::Folder => EntryFate::Dropped(DropReason::ToFolder),
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

    /// What becomes of a path under which the bytes of a file are.
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

    /// What stands for another name of a library, where that is asked for.
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

    /// The bytes of a file with the search path that they get under a path.
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
