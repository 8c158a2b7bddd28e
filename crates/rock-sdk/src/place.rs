//! What becomes of one entry of an artifact in a package that is run from.

use globset::GlobSet;

use super::alias::Alias;
use super::artifact::{Artifact, EntryKind, FileFacts, Shape};
use super::resolve::{Paths, Target};
use super::search_path;
use rock_names::Platform;

/// A file of an artifact, by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// The number of the artifact.
    pub artifact: usize,
    /// The number of its entry.
    pub entry: usize,
}

/// What a file of a package holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// What a file of an artifact holds.
    Copy(Origin),
    /// The same with this search path, as an RPATH.
    Searching(Origin, String),
    /// A library that stands for another name of a library beside it.
    Alias(Alias),
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
pub struct Placed {
    /// What it holds.
    pub content: Content,
    /// Whether it may be run.
    pub is_executable: bool,
    /// The link or file of an artifact that it is made for.
    pub from: Origin,
}

/// Why a path of an artifact is not in a package.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dropped {
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
pub(super) enum Fate {
    /// It is a folder, which wheels do not hold.
    Nothing,
    Placed(Placed),
    Dropped(Dropped),
}

/// How entries are placed in one package.
#[derive(Clone, Copy)]
pub(super) struct Placing<'p> {
    pub(super) platform: Platform,
    /// The folder of the core package, and the folders of it that libraries search.
    pub(super) core: &'p str,
    pub(super) search: &'p [String],
    /// Whether a library is packed once, under the name that loaders ask for.
    pub(super) is_once: bool,
    /// Other names of libraries that are there, too.
    pub(super) aliases: &'p GlobSet,
}

impl Placing<'_> {
    /// What becomes of entry `number` of an artifact.
    pub(super) fn fate(&self, artifact: &Artifact, origin: Origin, paths: &Paths<'_>) -> Fate {
        let entry = &artifact.entries[origin.entry];
        match &entry.kind {
            EntryKind::Folder => Fate::Nothing,
            EntryKind::File(facts) => self.file(&entry.path, origin, facts, origin),
            EntryKind::Link(text) => match paths.follow(origin.entry, text) {
                Target::File(target) => self.link(
                    &entry.path,
                    text,
                    origin,
                    Origin {
                        entry: target,
                        ..origin
                    },
                    artifact,
                ),
                Target::Folder => Fate::Dropped(Dropped::ToFolder),
                Target::Nothing | Target::Elsewhere => Fate::Dropped(Dropped::Dangling),
                Target::Outside => Fate::Dropped(Dropped::Outside),
                Target::Loop => Fate::Dropped(Dropped::Loop),
            },
        }
    }

    fn link(
        &self,
        path: &str,
        text: &str,
        from: Origin,
        target: Origin,
        artifact: &Artifact,
    ) -> Fate {
        let EntryKind::File(facts) = &artifact.entries[target.entry].kind else {
            return Fate::Dropped(Dropped::Dangling);
        };
        match &facts.shape {
            Shape::Program { machine, .. } if self.is_once => {
                if self.platform == Platform::Windows {
                    return Fate::Dropped(Dropped::ProgramLink);
                }
                if super::stub::stub(*machine, text).is_err() {
                    return Fate::Dropped(Dropped::NoStub(*machine));
                }
                let content = Content::Stub {
                    machine: *machine,
                    text: text.to_owned(),
                };
                Fate::Placed(Placed {
                    content,
                    is_executable: true,
                    from,
                })
            }
            _ => self.file(path, from, facts, target),
        }
    }

    /// What becomes of a path under which the bytes of a file are.
    fn file(&self, path: &str, from: Origin, facts: &FileFacts, bytes: Origin) -> Fate {
        if let Some(soname) = facts.shape.soname().filter(|_| self.is_once)
            && path.rsplit('/').next() != Some(soname)
        {
            return match self.alias(path, soname, &facts.shape) {
                Some(alias) => {
                    let is_executable = facts.mode & 0o111 != 0;
                    Fate::Placed(Placed {
                        content: Content::Alias(alias),
                        is_executable,
                        from,
                    })
                }
                None => Fate::Dropped(Dropped::Alias(soname.to_owned())),
            };
        }
        let content = self.content(path, facts, bytes);
        Fate::Placed(Placed {
            content,
            is_executable: facts.mode & 0o111 != 0,
            from,
        })
    }

    /// What stands for another name of a library, where that is asked for.
    fn alias(&self, path: &str, soname: &str, shape: &Shape) -> Option<Alias> {
        let Shape::Library { machine, .. } = shape else {
            return None;
        };
        let is_asked_for = self.aliases.is_match(path) && Alias::is_for(*machine);
        is_asked_for.then(|| Alias {
            machine: *machine,
            name: path.rsplit('/').next().unwrap_or(path).to_owned(),
            soname: soname.to_owned(),
            search: search_path(path, Some("$ORIGIN"), self.core, self.search),
        })
    }

    /// The bytes of a file with the search path that they get under a path.
    pub(super) fn content(&self, path: &str, facts: &FileFacts, bytes: Origin) -> Content {
        match facts.shape.search() {
            Some(had) if self.platform == Platform::Linux && !self.search.is_empty() => {
                Content::Searching(
                    bytes,
                    search_path(path, had.as_deref(), self.core, self.search),
                )
            }
            _ => Content::Copy(bytes),
        }
    }
}
