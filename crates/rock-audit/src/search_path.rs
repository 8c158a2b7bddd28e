//! Directories in which the dynamic linker searches for libraries.

use super::ElfLibrary;
use rock_names::without_dots;

/// The directories that the dynamic linker searches besides RPATH and RUNPATH.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LibrarySearchPath {
    /// Directories from the environment, searched after the file's own RUNPATH and before that of
    /// the main file; the order is that of auditwheel's lddtree, not of ld.so(8).
    pub environment: Vec<String>,
    /// Directories from the configuration of the dynamic linker, and its trusted ones.
    pub system: Vec<String>,
}

/// A directory, or a file below it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SearchDir {
    /// A path in the wheel, without leading and trailing slashes; empty for its root.
    Wheel(String),
    /// A path of the system.
    System(String),
}

impl SearchDir {
    /// Appends a path, such as a file name.
    pub(super) fn join(&self, path: &str) -> Self {
        match self {
            Self::Wheel(directory) if directory.is_empty() => Self::Wheel(path.to_owned()),
            Self::Wheel(directory) => Self::Wheel(format!("{directory}/{path}")),
            Self::System(directory) => {
                Self::System(format!("{}/{path}", directory.trim_end_matches('/')))
            }
        }
    }
}

/// An entry of RPATH or RUNPATH, or a needed name with a slash, which is a path (ld.so(8)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SearchPathEntry<'t> {
    /// Relative to the directory of the file; the text after `$ORIGIN` is empty or starts with a
    /// slash.
    Origin(&'t str),
    /// An absolute path.
    Root(&'t str),
    /// Relative to the working directory. An empty entry is the working directory.
    Current(&'t str),
}

impl<'t> SearchPathEntry<'t> {
    /// Parses an entry; `$ORIGINAL` is not `$ORIGIN`.
    pub(super) fn read(text: &'t str) -> Self {
        let after_origin = text
            .strip_prefix("$ORIGIN")
            .or_else(|| text.strip_prefix("${ORIGIN}"));
        match after_origin.filter(|rest| rest.is_empty() || rest.starts_with('/')) {
            Some(rest) => Self::Origin(rest),
            None if text.starts_with('/') => Self::Root(text),
            None => Self::Current(text),
        }
    }

    /// Parses the entries of an RPATH or RUNPATH.
    pub(super) fn all(text: &'t str) -> impl Iterator<Item = Self> {
        text.split(':').map(Self::read)
    }

    /// Resolves the entry for a file in this directory; `None` if it is outside of the wheel or
    /// depends on the working directory.
    pub(super) fn resolve(self, origin: &SearchDir, is_64: bool) -> Option<SearchDir> {
        // ld.so(8), "Dynamic string tokens".
        let library_dir = if is_64 { "lib64" } else { "lib" };
        let expanded = |text: &str| text.replace("${LIB}", "$LIB").replace("$LIB", library_dir);
        let from_root =
            |path: &str| without_dots(path).map(|path| SearchDir::System(format!("/{path}")));
        match (self, origin) {
            (Self::Origin(rest), SearchDir::Wheel(directory)) => {
                without_dots(&format!("{directory}{}", expanded(rest))).map(SearchDir::Wheel)
            }
            (Self::Origin(rest), SearchDir::System(directory)) => {
                from_root(&format!("{directory}{}", expanded(rest)))
            }
            (Self::Root(path), _) => from_root(&expanded(path)),
            (Self::Current(_), _) => None,
        }
    }
}

/// Returns the installed path of a member below site-packages: files of `NAME.data/platlib` and
/// `purelib` are installed at the top level (binary distribution format, "The .data directory").
pub(super) fn installed(path: &str) -> &str {
    let inner = path
        .split_once('/')
        .filter(|(top, _)| is_data(top))
        .map(|(_, inner)| inner);
    inner
        .and_then(|inner| {
            inner
                .strip_prefix("platlib/")
                .or_else(|| inner.strip_prefix("purelib/"))
        })
        .unwrap_or(path)
}

/// Returns the search path by which one file of a wheel finds another, with both at their installed
/// paths.
pub(super) fn from_origin(file: &str, target: &str) -> String {
    let (own_dirs, target_dirs) = (directories(file), directories(target));
    relative_entry(&own_dirs, &target_dirs)
}

/// Returns the search path entry that leads from one directory to another.
pub(super) fn relative_entry(own_dirs: &[&str], target_dirs: &[&str]) -> String {
    let shared = own_dirs
        .iter()
        .zip(target_dirs)
        .take_while(|(own, target)| own == target)
        .count();
    let up = std::iter::repeat_n("..", own_dirs.len() - shared);
    std::iter::once("$ORIGIN")
        .chain(up)
        .chain(target_dirs[shared..].iter().copied())
        .collect::<Vec<_>>()
        .join("/")
}

/// Returns the names of the directories above an installed file, outermost first.
fn directories(path: &str) -> Vec<&str> {
    let mut names: Vec<&str> = installed(path).split('/').collect();
    names.pop();
    names
}

/// Returns whether a top-level directory of a wheel is `NAME.data`, whose parts are installed
/// elsewhere.
pub(super) fn is_data(directory: &str) -> bool {
    directory.strip_suffix(".data").is_some()
}

/// A library, and the directory that `$ORIGIN` stands for in its search path.
#[derive(Debug, Clone, Copy)]
pub(super) struct LocatedLibrary<'l> {
    pub elf: &'l ElfLibrary,
    pub origin: &'l SearchDir,
}

impl LocatedLibrary<'_> {
    /// Returns the directories of RPATH, which is ignored if there is a RUNPATH.
    fn rpath_dirs(self, is_64: bool) -> Vec<SearchDir> {
        match self.elf.runpath {
            Some(_) => Vec::new(),
            None => self.directories(self.elf.rpath.as_deref(), is_64),
        }
    }

    fn runpath_dirs(self, is_64: bool) -> Vec<SearchDir> {
        self.directories(self.elf.runpath.as_deref(), is_64)
    }

    fn directories(self, search_path: Option<&str>, is_64: bool) -> Vec<SearchDir> {
        search_path
            .into_iter()
            .flat_map(SearchPathEntry::all)
            .filter_map(|entry| entry.resolve(self.origin, is_64))
            .collect()
    }
}

/// Returns the directories that are searched for the needs of `library`, where `main` was loaded
/// first.
///
/// They are in the order of auditwheel's lddtree, which differs from ld.so(8): the file's RUNPATH
/// precedes the environment, and the RUNPATH of the main file applies to all.
pub(super) fn search_order(
    main: LocatedLibrary<'_>,
    library: LocatedLibrary<'_>,
    path: &LibrarySearchPath,
) -> Vec<SearchDir> {
    let is_64 = main.elf.header.format.is_64();
    [
        main.rpath_dirs(is_64),
        library.rpath_dirs(is_64),
        library.runpath_dirs(is_64),
        system_dirs(&path.environment),
        main.runpath_dirs(is_64),
        system_dirs(&path.system),
        system_dirs(&interpreter_dirs(main.elf)),
    ]
    .concat()
}

fn system_dirs(paths: &[String]) -> Vec<SearchDir> {
    paths.iter().cloned().map(SearchDir::System).collect()
}

/// Returns the directories of a program's interpreter, on either side of the merged `/usr`.
fn interpreter_dirs(program: &ElfLibrary) -> Vec<String> {
    let interpreter = program.interpreter.as_deref();
    match interpreter.and_then(|path| path.rsplit_once('/')) {
        Some((directory, _)) => vec![directory.to_owned(), format!("/usr{directory}")],
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::{SearchDir, SearchPathEntry, from_origin};

    fn directories(text: &str, origin: &SearchDir) -> Vec<SearchDir> {
        SearchPathEntry::all(text)
            .filter_map(|entry| entry.resolve(origin, true))
            .collect()
    }

    #[test]
    fn a_file_finds_another_from_its_own_folder() {
        assert_eq!(
            from_origin("pkg/a/b/m.so", "pkg/lib/x.so"),
            "$ORIGIN/../../lib"
        );
        assert_eq!(from_origin("pkg/m.so", "pkg/x.so"), "$ORIGIN");
        assert_eq!(
            from_origin("m.so", "x-1.data/platlib/x.libs/x.so"),
            "$ORIGIN/x.libs"
        );
    }

    #[test]
    fn origin_expands_inside_the_wheel_and_what_leads_out_of_it_leads_nowhere() {
        let origin = SearchDir::Wheel("pkg/lib".to_owned());
        let found = directories(
            "$ORIGIN:${ORIGIN}/../x:$ORIGIN/../../../y:/opt/$LIB:rel:",
            &origin,
        );
        let wheel = |path: &str| SearchDir::Wheel(path.to_owned());
        assert_eq!(
            found,
            [
                wheel("pkg/lib"),
                wheel("pkg/x"),
                SearchDir::System("/opt/lib64".to_owned())
            ]
        );
        assert_eq!(directories("$ORIGINAL/x", &origin), []);
        assert_eq!(
            directories("$ORIGIN/../lib", &SearchDir::System("/opt/bin".to_owned())),
            [SearchDir::System("/opt/lib".to_owned())]
        );
    }

    #[test]
    fn an_entry_that_only_begins_like_origin_leads_from_where_a_program_is_started() {
        assert_eq!(
            SearchPathEntry::read("$ORIGIN"),
            SearchPathEntry::Origin("")
        );
        assert_eq!(
            SearchPathEntry::read("${ORIGIN}/x"),
            SearchPathEntry::Origin("/x")
        );
        assert_eq!(SearchPathEntry::read("/x"), SearchPathEntry::Root("/x"));
        for text in ["", "x", "$ORIGINAL/x", "${ORIGIN}x", "./$ORIGIN"] {
            assert_eq!(SearchPathEntry::read(text), SearchPathEntry::Current(text));
        }
    }
}
