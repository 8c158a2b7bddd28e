//! Which libraries a file leads to: the walk that its loader makes.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use globset::{Glob, GlobBuilder, GlobMatcher};

use super::library::Library;
use super::search::{Entry, Folder, SearchPath, search_order};
use rock_bytes::ReadAt;

/// A library of the machine.
#[derive(Debug)]
pub struct MachineLibrary {
    /// Where it was found.
    pub path: String,
    /// The file that this path leads to, links followed.
    pub real_path: String,
    /// Its facts.
    pub library: Library,
}

/// Libraries of the machine, or of a folder that stands for its root.
pub trait MachineLibraries: Sync {
    /// The library at a path; `None` where there is none or it is no ELF file.
    fn read(&self, path: &str) -> Option<MachineLibrary>;

    /// The bytes of a file.
    ///
    /// # Errors
    /// When it cannot be opened.
    fn open(&self, real_path: &str) -> io::Result<Box<dyn ReadAt>>;
}

/// A machine that has none: reports do not depend on where they are made.
#[derive(Debug, Clone, Copy)]
pub struct NoLibraries;

impl MachineLibraries for NoLibraries {
    fn read(&self, _: &str) -> Option<MachineLibrary> {
        None
    }

    fn open(&self, _: &str) -> io::Result<Box<dyn ReadAt>> {
        Err(io::ErrorKind::NotFound.into())
    }
}

/// Reads each library of the machine once.
pub struct Known<'a> {
    libraries: &'a dyn MachineLibraries,
    read: Mutex<BTreeMap<String, Option<Arc<MachineLibrary>>>>,
}

impl<'a> Known<'a> {
    /// Nothing is read yet.
    pub fn new(libraries: &'a dyn MachineLibraries) -> Self {
        Self {
            libraries,
            read: Mutex::default(),
        }
    }

    fn read(&self, path: &str) -> Option<Arc<MachineLibrary>> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        read.entry(path.to_owned())
            .or_insert_with(|| self.libraries.read(path).map(Arc::new))
            .clone()
    }
}

impl std::fmt::Debug for Known<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Known")
    }
}

/// Libraries that are left where they are, by shell patterns.
#[derive(Debug, Clone, Default)]
pub struct Excludes {
    patterns: Vec<Pattern>,
}

/// A shell pattern that is made ready once a text begins as it does: presets have many, and most
/// match nothing.
#[derive(Debug, Clone)]
struct Pattern {
    begins: String,
    glob: Glob,
    matcher: OnceLock<GlobMatcher>,
}

impl Pattern {
    fn is_match(&self, text: &str) -> bool {
        text.starts_with(&self.begins)
            && self
                .matcher
                .get_or_init(|| self.glob.compile_matcher())
                .is_match(text)
    }
}

impl Excludes {
    /// Patterns with `*`, `?` and `[…]`, which match needed names and whole paths of files, case
    /// counting. `*` matches slashes too.
    ///
    /// # Errors
    /// The pattern that cannot be read, and why.
    pub fn new<'p>(patterns: impl IntoIterator<Item = &'p str>) -> Result<Self, String> {
        let build = |pattern: &str| {
            let glob = GlobBuilder::new(pattern)
                .literal_separator(false)
                .backslash_escape(false)
                .build();
            let begins = pattern
                .split(['*', '?', '[', ']', '{', '}', '\\', '!'])
                .next()
                .unwrap_or_default()
                .to_owned();
            glob.map(|glob| Pattern {
                begins,
                glob,
                matcher: OnceLock::new(),
            })
            .map_err(|error| error.to_string())
        };
        Ok(Self {
            patterns: patterns.into_iter().map(build).collect::<Result<_, _>>()?,
        })
    }

    /// The patterns that match a name or path, by their places in the list.
    pub fn matching<'e>(&'e self, text: &'e str) -> impl Iterator<Item = usize> + 'e {
        self.patterns
            .iter()
            .enumerate()
            .filter(move |(_, one)| one.is_match(text))
            .map(|(at, _)| at)
    }

    /// Whether a name or path is left where it is.
    pub fn has(&self, text: &str) -> bool {
        self.matching(text).next().is_some()
    }
}

/// Where a library was found.
#[derive(Debug, Clone)]
pub enum Found {
    /// In the wheel: the number of the file.
    Wheel(usize),
    /// On the machine.
    Machine(Arc<MachineLibrary>),
    /// Every platform has it; nobody looked.
    Given,
    /// Nowhere.
    Nowhere,
}

/// A library that a file leads to.
#[derive(Debug, Clone)]
pub struct Node {
    /// Where it was found.
    pub found: Found,
    /// What it needs in turn, without what is left out.
    pub needed: Vec<String>,
}

/// What one file leads to.
#[derive(Debug, Clone)]
pub struct Tree {
    /// What the file itself needs, without what is left out.
    pub needed: Vec<String>,
    /// All that was walked to, by the name it is needed under.
    pub nodes: BTreeMap<String, Node>,
    /// What was left out.
    pub excluded: BTreeSet<String>,
    /// The patterns that left it out, by their places in the list.
    pub matched: BTreeSet<usize>,
}

/// What a walk takes place in.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    /// The files of the wheel, with their paths.
    pub files: &'a [(&'a str, &'a Library)],
    /// The libraries of the machine.
    pub known: &'a Known<'a>,
    /// Where the loader searches.
    pub path: &'a SearchPath,
    /// What is left where it is.
    pub excludes: &'a Excludes,
    /// Libraries that every platform has: nobody looks behind them.
    pub is_given: &'a dyn Fn(&str) -> bool,
}

impl std::fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Surroundings({} files)", self.files.len())
    }
}

/// Whether a name is that of a library of Python, which extension modules must not need (PEP 513).
pub fn is_libpython(name: &str) -> bool {
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

/// Walks from a file of the wheel to all libraries that it leads to.
pub fn walk(start: usize, around: Surroundings<'_>) -> Tree {
    let (path, main) = around.files[start];
    let origin = folder_of_member(path);
    let mut tree = Tree {
        needed: Vec::new(),
        nodes: BTreeMap::new(),
        excluded: BTreeSet::new(),
        matched: BTreeSet::new(),
    };
    tree.needed = expand((main, &origin), (main, &origin), around, &mut tree);
    tree
}

fn folder_of_member(path: &str) -> Folder {
    Folder::Wheel(
        path.rsplit_once('/')
            .map_or(String::new(), |(folder, _)| folder.to_owned()),
    )
}

/// One library on the way down: what it is named, what of its needs is still to be looked for, and
/// what was kept.
struct Visit {
    name: Option<String>,
    found: Found,
    needed: VecDeque<String>,
    kept: Vec<String>,
    origin: Folder,
    order: Vec<Folder>,
}

/// What `own` needs, each found and walked to before the next, and returned without what is left
/// out.
fn expand(
    main: (&Library, &Folder),
    own: (&Library, &Folder),
    around: Surroundings<'_>,
    tree: &mut Tree,
) -> Vec<String> {
    let Tree {
        nodes,
        excluded,
        matched,
        ..
    } = tree;
    let visit = |name, found, library: &Library, origin: &Folder| Visit {
        name,
        found,
        needed: library.needed.iter().cloned().collect(),
        kept: Vec::new(),
        origin: origin.clone(),
        order: search_order(main, (library, origin), around.path),
    };
    // As a stack of its own: a chain of libraries may be as long as a hostile wheel makes it.
    let mut stack = vec![visit(None, Found::Nowhere, own.0, own.1)];
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
                        Node {
                            found: done.found,
                            needed: done.kept,
                        },
                    );
                }
            }
            continue;
        };
        if excluded.contains(&needed) || around.excludes.has(&needed) {
            matched.extend(around.excludes.matching(&needed));
            excluded.insert(needed);
            continue;
        }
        if nodes.contains_key(&needed) || begun.contains(&needed) {
            stack.last_mut().expect("it is there").kept.push(needed);
            continue;
        }
        let top = stack.last().expect("it is there");
        let found = match () {
            () if (around.is_given)(&needed) => Found::Given,
            () if is_libpython(&needed) => Found::Nowhere,
            () => find(&needed, main.0, top, around),
        };
        if let Found::Machine(library) = &found
            && around.excludes.has(&library.real_path)
        {
            matched.extend(around.excludes.matching(&library.real_path));
            excluded.insert(needed);
            continue;
        }
        let top = stack.last_mut().expect("it is there");
        top.kept.push(needed.clone());
        let next = match &found {
            Found::Nowhere | Found::Given => {
                nodes.insert(
                    needed,
                    Node {
                        found,
                        needed: Vec::new(),
                    },
                );
                continue;
            }
            Found::Wheel(at) => {
                let (path, library) = around.files[*at];
                visit(
                    Some(needed),
                    found.clone(),
                    library,
                    &folder_of_member(path),
                )
            }
            Found::Machine(machine) => {
                let folder = machine
                    .real_path
                    .rsplit_once('/')
                    .map_or("", |(folder, _)| folder);
                visit(
                    Some(needed),
                    found.clone(),
                    &machine.library,
                    &Folder::Machine(folder.to_owned()),
                )
            }
        };
        begun.extend(next.name.clone());
        stack.push(next);
    }
}

/// What a name leads to from the library that needs it. A name with a slash is a path, for which no
/// folder is searched (ld.so(8)).
fn find(name: &str, main: &Library, from: &Visit, around: Surroundings<'_>) -> Found {
    let found = if name.contains('/') {
        let place = Entry::read(name).place(&from.origin, main.header.format.is_64());
        place.and_then(|place| at(&place, main, around))
    } else {
        from.order
            .iter()
            .find_map(|folder| at(&folder.join(name), main, around))
    };
    found.unwrap_or(Found::Nowhere)
}

/// The library that lies at a place.
fn at(place: &Folder, main: &Library, around: Surroundings<'_>) -> Option<Found> {
    match place {
        Folder::Wheel(path) => {
            let at = around
                .files
                .binary_search_by(|(other, _)| (*other).cmp(path))
                .ok()?;
            around.files[at]
                .1
                .is_loadable_by(main)
                .then_some(Found::Wheel(at))
        }
        Folder::Machine(path) => around
            .known
            .read(path)
            .filter(|found| found.library.is_loadable_by(main))
            .map(Found::Machine),
    }
}
