//! Resolution of the libraries that a file needs, in the order of the dynamic linker.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use super::library::ElfLibrary;
use super::pattern::LibraryPatterns;
use super::provider::{LibraryCache, SystemLibrary};
use super::search_path::{LibrarySearchPath, SearchDir, SearchPathEntry, search_order};

/// A needed library and its origin.
#[derive(Debug, Clone)]
pub enum ResolvedLibrary {
    /// A file of the wheel, by its index.
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
    /// Its origin.
    pub found: ResolvedLibrary,
    /// The names of the libraries that it needs, without excluded ones.
    pub needed: Vec<String>,
}

/// The libraries that one file needs, directly or through other libraries.
#[derive(Debug, Clone)]
pub struct DependencyTree {
    /// The names that the file itself needs, without excluded ones.
    pub needed: Vec<String>,
    /// All libraries, by the name they are needed under.
    pub nodes: BTreeMap<String, DependencyNode>,
    /// The names of excluded libraries.
    pub excluded: BTreeSet<String>,
    /// The indexes of the exclude patterns that matched.
    pub matched: BTreeSet<usize>,
}

/// The libraries and settings that needed names are resolved with.
#[derive(Clone, Copy)]
pub(crate) struct ResolveContext<'a> {
    /// The libraries of the wheel by path, sorted.
    pub files: &'a [(&'a str, &'a ElfLibrary)],
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
        write!(f, "ResolveContext({} files)", self.files.len())
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
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(major) && digits(minor.trim_end_matches(['m', 't', 'd', 'u']))
}

/// Resolves the libraries that the file of the wheel with the index `start` needs.
pub(crate) fn resolve_dependencies(start: usize, around: ResolveContext<'_>) -> DependencyTree {
    let (path, main) = around.files[start];
    let origin = dir_of_member(path);
    let mut tree = DependencyTree {
        needed: Vec::new(),
        nodes: BTreeMap::new(),
        excluded: BTreeSet::new(),
        matched: BTreeSet::new(),
    };
    tree.needed = expand((main, &origin), (main, &origin), around, &mut tree);
    tree
}

fn dir_of_member(path: &str) -> SearchDir {
    SearchDir::Wheel(
        path.rsplit_once('/')
            .map_or(String::new(), |(folder, _)| folder.to_owned()),
    )
}

/// A library whose needed names are being resolved.
struct PendingLibrary {
    name: Option<String>,
    found: ResolvedLibrary,
    needed: VecDeque<String>,
    kept: Vec<String>,
    origin: SearchDir,
    order: Vec<SearchDir>,
}

/// Resolves the needs of `own` depth-first, and returns their names without excluded ones.
fn expand(
    main: (&ElfLibrary, &SearchDir),
    own: (&ElfLibrary, &SearchDir),
    around: ResolveContext<'_>,
    tree: &mut DependencyTree,
) -> Vec<String> {
    let DependencyTree {
        nodes,
        excluded,
        matched,
        ..
    } = tree;
    let visit = |name, found, library: &ElfLibrary, origin: &SearchDir| PendingLibrary {
        name,
        found,
        needed: library.needed.iter().cloned().collect(),
        kept: Vec::new(),
        origin: origin.clone(),
        order: search_order(main, (library, origin), around.search_path),
    };
    // An explicit stack: a hostile wheel may contain arbitrarily long chains of libraries.
    let mut stack = vec![visit(None, ResolvedLibrary::Missing, own.0, own.1)];
    // The names on the stack.
    let mut begun: BTreeSet<String> = BTreeSet::new();
    loop {
        let top = stack.last_mut().expect("the first visit returns below");
        let Some(needed) = top.needed.pop_front() else {
            let done = stack.pop().expect("it was the last");
            match done.name {
                None => return done.kept,
                Some(name) => {
                    begun.remove(&name);
                    nodes.insert(
                        name,
                        DependencyNode {
                            found: done.found,
                            needed: done.kept,
                        },
                    );
                }
            }
            continue;
        };
        if excluded.contains(&needed) || around.exclude.has(&needed) {
            matched.extend(around.exclude.matching(&needed));
            excluded.insert(needed);
            continue;
        }
        if nodes.contains_key(&needed) || begun.contains(&needed) {
            stack.last_mut().expect("it is there").kept.push(needed);
            continue;
        }
        let top = stack.last().expect("it is there");
        let found = match () {
            () if (around.is_permitted)(&needed) => ResolvedLibrary::Permitted,
            () if is_libpython(&needed) => ResolvedLibrary::Missing,
            () => find(&needed, main.0, top, around),
        };
        if let ResolvedLibrary::System(library) = &found
            && around.exclude.has(&library.real_path)
        {
            matched.extend(around.exclude.matching(&library.real_path));
            excluded.insert(needed);
            continue;
        }
        let top = stack.last_mut().expect("it is there");
        top.kept.push(needed.clone());
        let next = match &found {
            ResolvedLibrary::Missing | ResolvedLibrary::Permitted => {
                nodes.insert(
                    needed,
                    DependencyNode {
                        found,
                        needed: Vec::new(),
                    },
                );
                continue;
            }
            ResolvedLibrary::Wheel(at) => {
                let (path, library) = around.files[*at];
                visit(Some(needed), found.clone(), library, &dir_of_member(path))
            }
            ResolvedLibrary::System(machine) => {
                let folder = machine
                    .real_path
                    .rsplit_once('/')
                    .map_or("", |(folder, _)| folder);
                visit(
                    Some(needed),
                    found.clone(),
                    &machine.library,
                    &SearchDir::System(folder.to_owned()),
                )
            }
        };
        begun.extend(next.name.clone());
        stack.push(next);
    }
}

/// Resolves a name for the library that needs it. A name with a slash is a path, for which no
/// directory is searched (ld.so(8)).
fn find(
    name: &str,
    main: &ElfLibrary,
    from: &PendingLibrary,
    around: ResolveContext<'_>,
) -> ResolvedLibrary {
    let found = if name.contains('/') {
        let place = SearchPathEntry::read(name).place(&from.origin, main.header.format.is_64());
        place.and_then(|place| at(&place, main, around))
    } else {
        from.order
            .iter()
            .find_map(|folder| at(&folder.join(name), main, around))
    };
    found.unwrap_or(ResolvedLibrary::Missing)
}

/// Returns the library at a path.
fn at(place: &SearchDir, main: &ElfLibrary, around: ResolveContext<'_>) -> Option<ResolvedLibrary> {
    match place {
        SearchDir::Wheel(path) => {
            let at = around
                .files
                .binary_search_by(|(other, _)| (*other).cmp(path))
                .ok()?;
            around.files[at]
                .1
                .is_loadable_by(main)
                .then_some(ResolvedLibrary::Wheel(at))
        }
        SearchDir::System(path) => around
            .libraries
            .read(path)
            .filter(|found| found.library.is_loadable_by(main))
            .map(ResolvedLibrary::System),
    }
}
