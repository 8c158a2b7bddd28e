//! Resolution of the libraries that a file needs, in the order of auditwheel's lddtree.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::installed_libraries::{InstalledLibraries, InstalledLibrary};
use super::library::ElfLibrary;
use super::pattern::LibraryPatterns;
use super::provider::{LibraryCache, SystemLibrary};
use super::search_path::{
    LibrarySearchPath, LocatedLibrary, SearchDir, SearchPathEntry, search_order,
};

/// A needed library and its origin.
#[derive(Debug, Clone)]
pub enum ResolvedLibrary {
    /// A library of the wheel, by the index of its file.
    Wheel(usize),
    /// A library of the system.
    System(Arc<SystemLibrary>),
    /// A library that every policy permits; it was not searched for.
    Permitted,
    /// No such library was found.
    Missing,
}

/// A library that a file needs, directly or through other libraries.
#[derive(Debug, Clone)]
pub struct DependencyNode {
    /// The library, with its origin.
    pub library: ResolvedLibrary,
    /// The names of the libraries that it needs, without excluded ones.
    pub needed: Vec<String>,
}

/// The libraries that one file needs, directly or through other libraries.
#[derive(Debug, Clone, Default)]
pub struct DependencyTree {
    /// The names that the file itself needs, without excluded ones.
    pub needed: Vec<String>,
    /// All libraries, by the name they are needed under.
    pub nodes: BTreeMap<String, DependencyNode>,
    /// The names of excluded libraries.
    pub excluded: BTreeSet<String>,
    /// The indexes of the exclude patterns that matched.
    pub matching_excludes: BTreeSet<usize>,
}

/// The libraries and settings that needed names are resolved with.
#[derive(Clone, Copy)]
pub(crate) struct ResolveContext<'a> {
    /// The libraries of the wheel.
    pub wheel: &'a InstalledLibraries<'a>,
    /// The libraries of the system.
    pub libraries: &'a LibraryCache<'a>,
    /// The directories in which the dynamic linker searches.
    pub search_path: &'a LibrarySearchPath,
    /// Libraries that are not resolved.
    pub exclude: &'a LibraryPatterns,
    /// Returns whether every policy permits a library; it is not searched for then.
    pub is_permitted: &'a dyn Fn(&str) -> bool,
}

impl std::fmt::Debug for ResolveContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResolveContext")
            .field("search_path", &self.search_path)
            .finish_non_exhaustive()
    }
}

/// Returns whether a name is that of `libpython`, which extension modules must not need (PEP 513).
pub(crate) fn is_libpython(name: &str) -> bool {
    let Some(version) = name
        .strip_prefix("libpython")
        .and_then(|rest| rest.split_once(".so"))
        .map(|(v, _)| v)
    else {
        return false;
    };
    let Some((major, minor)) = version.split_once('.') else {
        return false;
    };
    is_number(major) && is_number(minor.trim_end_matches(['m', 't', 'd', 'u']))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Resolves the libraries that a library of the wheel needs.
pub(crate) fn resolve_dependencies(
    library: InstalledLibrary<'_>,
    context: ResolveContext<'_>,
) -> DependencyTree {
    let origin = SearchDir::Wheel(directory(library.path).to_owned());
    let main = LocatedLibrary {
        elf: library.elf,
        origin: &origin,
    };
    Resolver {
        main,
        context,
        tree: DependencyTree::default(),
        stack: Vec::new(),
        in_progress: BTreeSet::new(),
    }
    .resolve()
}

fn directory(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(directory, _)| directory)
}

/// A library whose needed names are being resolved.
struct PendingLibrary {
    /// The name it is needed under; `None` for the main file.
    name: Option<String>,
    library: ResolvedLibrary,
    /// Names that are not resolved yet.
    remaining: VecDeque<String>,
    /// Resolved names, without excluded ones.
    needed: Vec<String>,
    origin: SearchDir,
    search_order: Vec<SearchDir>,
}

/// The resolution of the dependencies of one file.
struct Resolver<'c> {
    main: LocatedLibrary<'c>,
    context: ResolveContext<'c>,
    tree: DependencyTree,
    /// The libraries on the way from the main file to the current one. An explicit stack, since a
    /// hostile wheel may contain arbitrarily long chains of libraries.
    stack: Vec<PendingLibrary>,
    /// The names on the stack.
    in_progress: BTreeSet<String>,
}

impl Resolver<'_> {
    /// Resolves all dependencies depth-first.
    fn resolve(mut self) -> DependencyTree {
        let main = self.pending(None, ResolvedLibrary::Missing, self.main);
        self.stack.push(main);
        while let Some(mut library) = self.stack.pop() {
            match library.remaining.pop_front() {
                Some(name) => {
                    let next = self.visit(name, &mut library);
                    self.stack.push(library);
                    self.stack.extend(next);
                }
                None => self.finish(library),
            }
        }
        self.tree
    }

    fn pending(
        &self,
        name: Option<String>,
        library: ResolvedLibrary,
        located: LocatedLibrary<'_>,
    ) -> PendingLibrary {
        PendingLibrary {
            name,
            library,
            remaining: located.elf.needed.iter().cloned().collect(),
            needed: Vec::new(),
            origin: located.origin.clone(),
            search_order: search_order(self.main, located, self.context.search_path),
        }
    }

    /// Resolves a name that `user` needs. Returns the library if its own needs must be resolved.
    fn visit(&mut self, name: String, user: &mut PendingLibrary) -> Option<PendingLibrary> {
        if self.tree.excluded.contains(&name) || self.matches_exclude(&name) {
            self.tree.excluded.insert(name);
            return None;
        }
        if self.tree.nodes.contains_key(&name) || self.in_progress.contains(&name) {
            user.needed.push(name);
            return None;
        }
        let library = if (self.context.is_permitted)(&name) {
            ResolvedLibrary::Permitted
        } else if is_libpython(&name) {
            ResolvedLibrary::Missing
        } else {
            self.find(&name, user).unwrap_or(ResolvedLibrary::Missing)
        };
        if let ResolvedLibrary::System(system) = &library
            && self.matches_exclude(&system.real_path)
        {
            self.tree.excluded.insert(name);
            return None;
        }
        user.needed.push(name.clone());
        let (elf, origin): (&ElfLibrary, SearchDir) = match &library {
            ResolvedLibrary::Missing | ResolvedLibrary::Permitted => {
                let needed = Vec::new();
                self.tree
                    .nodes
                    .insert(name, DependencyNode { library, needed });
                return None;
            }
            ResolvedLibrary::Wheel(file_index) => {
                let installed = self.context.wheel.of_file(*file_index)?;
                let directory = directory(installed.path).to_owned();
                (installed.elf, SearchDir::Wheel(directory))
            }
            ResolvedLibrary::System(system) => {
                let directory = directory(&system.real_path).to_owned();
                (&system.elf, SearchDir::System(directory))
            }
        };
        self.in_progress.insert(name.clone());
        let located = LocatedLibrary {
            elf,
            origin: &origin,
        };
        Some(self.pending(Some(name), library.clone(), located))
    }

    /// Adds a library to the tree, after all its needs were resolved.
    fn finish(&mut self, resolved: PendingLibrary) {
        let PendingLibrary {
            name,
            library,
            needed,
            ..
        } = resolved;
        match name {
            Some(name) => {
                self.in_progress.remove(&name);
                self.tree
                    .nodes
                    .insert(name, DependencyNode { library, needed });
            }
            None => self.tree.needed = needed,
        }
    }

    /// Returns whether an exclude pattern matches a name or path, and records all that do.
    fn matches_exclude(&mut self, text: &str) -> bool {
        let matching: Vec<usize> = self.context.exclude.matching(text).collect();
        self.tree.matching_excludes.extend(&matching);
        !matching.is_empty()
    }

    /// Searches for a library that `user` needs. A name with a slash is a path, for which no
    /// directory is searched (ld.so(8)).
    fn find(&self, name: &str, user: &PendingLibrary) -> Option<ResolvedLibrary> {
        if name.contains('/') {
            let is_64 = self.main.elf.header.format.is_64();
            let path = SearchPathEntry::read(name).resolve(&user.origin, is_64)?;
            return self.library_at(&path);
        }
        user.search_order
            .iter()
            .find_map(|directory| self.library_at(&directory.join(name)))
    }

    /// Returns the library at a path, if the dynamic linker would load it for the main file.
    fn library_at(&self, path: &SearchDir) -> Option<ResolvedLibrary> {
        match path {
            SearchDir::Wheel(path) => {
                let installed = self.context.wheel.at_path(path)?;
                installed
                    .elf
                    .is_loadable_by(self.main.elf)
                    .then_some(ResolvedLibrary::Wheel(installed.file_index))
            }
            SearchDir::System(path) => self
                .context
                .libraries
                .read(path)
                .filter(|system| system.elf.is_loadable_by(self.main.elf))
                .map(ResolvedLibrary::System),
        }
    }
}
