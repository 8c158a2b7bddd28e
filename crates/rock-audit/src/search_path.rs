//! Directories in which the dynamic linker searches for libraries.

use super::ElfLibrary;
use rock_names::without_dots;

/// The directories that the dynamic linker searches besides RPATH and RUNPATH.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LibrarySearchPath {
    /// Directories from the environment, searched before RUNPATH.
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
            Self::Wheel(folder) if folder.is_empty() => Self::Wheel(path.to_owned()),
            Self::Wheel(folder) => Self::Wheel(format!("{folder}/{path}")),
            Self::System(folder) => {
                Self::System(format!("{}/{path}", folder.trim_end_matches('/')))
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
        let behind = text
            .strip_prefix("$ORIGIN")
            .or_else(|| text.strip_prefix("${ORIGIN}"));
        match behind.filter(|rest| rest.is_empty() || rest.starts_with('/')) {
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
    pub(super) fn place(self, origin: &SearchDir, is_64: bool) -> Option<SearchDir> {
        // ld.so(8), "Dynamic string tokens".
        let library_folder = if is_64 { "lib64" } else { "lib" };
        let expanded = |text: &str| {
            text.replace("${LIB}", "$LIB")
                .replace("$LIB", library_folder)
        };
        let from_root =
            |path: &str| without_dots(path).map(|path| SearchDir::System(format!("/{path}")));
        match (self, origin) {
            (Self::Origin(rest), SearchDir::Wheel(folder)) => {
                without_dots(&format!("{folder}{}", expanded(rest))).map(SearchDir::Wheel)
            }
            (Self::Origin(rest), SearchDir::System(folder)) => {
                from_root(&format!("{folder}{}", expanded(rest)))
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
pub(super) fn from_origin(file: &str, other: &str) -> String {
    let folders = |path| {
        installed(path)
            .split('/')
            .rev()
            .skip(1)
            .collect::<Vec<_>>()
            .into_iter()
            .rev()
    };
    let (own, others): (Vec<&str>, Vec<&str>) = (folders(file).collect(), folders(other).collect());
    let shared = own
        .iter()
        .zip(&others)
        .take_while(|(one, other)| one == other)
        .count();
    let up = std::iter::repeat_n("..", own.len() - shared);
    std::iter::once("$ORIGIN")
        .chain(up)
        .chain(others[shared..].iter().copied())
        .collect::<Vec<_>>()
        .join("/")
}

/// Returns whether a top-level directory of a wheel is `NAME.data`, whose parts are installed
/// elsewhere.
pub(super) fn is_data(folder: &str) -> bool {
    folder.strip_suffix(".data").is_some()
}

/// Returns the directories that are searched for the needs of `own`, in order, where `main` was
/// loaded first (ld.so(8)).
pub(super) fn search_order(
    main: (&ElfLibrary, &SearchDir),
    own: (&ElfLibrary, &SearchDir),
    path: &LibrarySearchPath,
) -> Vec<SearchDir> {
    let expand = |text: &Option<String>, origin: &SearchDir, is_64| {
        let entries = text.iter().flat_map(|text| SearchPathEntry::all(text));
        entries
            .filter_map(|entry| entry.place(origin, is_64))
            .collect::<Vec<_>>()
    };
    let is_64 = main.0.header.format.is_64();
    // RPATH is ignored if there is a RUNPATH.
    let rpath = |(library, origin): (&ElfLibrary, &SearchDir)| match library.runpath {
        Some(_) => Vec::new(),
        None => expand(&library.rpath, origin, is_64),
    };
    let runpath =
        |(library, origin): (&ElfLibrary, &SearchDir)| expand(&library.runpath, origin, is_64);
    let machine = |paths: &[String]| paths.iter().cloned().map(SearchDir::System).collect();
    let interpreter = main
        .0
        .interpreter
        .as_deref()
        .and_then(|path| path.rsplit_once('/'));
    let beside_interpreter =
        interpreter.map(|(folder, _)| vec![folder.to_owned(), format!("/usr{folder}")]);
    [
        rpath(main),
        rpath(own),
        runpath(own),
        machine(&path.environment),
        runpath(main),
        machine(&path.system),
        machine(&beside_interpreter.unwrap_or_default()),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::{SearchDir, SearchPathEntry, from_origin};

    fn folders(text: &str, origin: &SearchDir) -> Vec<SearchDir> {
        SearchPathEntry::all(text)
            .filter_map(|entry| entry.place(origin, true))
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
        let found = folders(
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
        assert_eq!(folders("$ORIGINAL/x", &origin), []);
        assert_eq!(
            folders("$ORIGIN/../lib", &SearchDir::System("/opt/bin".to_owned())),
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
