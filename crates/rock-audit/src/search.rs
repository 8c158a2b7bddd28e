//! Where a loader searches for libraries.

use super::Library;
use rock_names::without_dots;

/// The folders that a loader searches besides those that files name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchPath {
    /// From the environment, searched before RUNPATH.
    pub environment: Vec<String>,
    /// From the configuration of the loader, and the folders that it trusts.
    pub system: Vec<String>,
}

/// A folder in which a library may lie.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Folder {
    /// A folder of the wheel, without a slash at its ends; empty for its root.
    Wheel(String),
    /// A folder of the machine.
    Machine(String),
}

impl Folder {
    /// What a path below it leads to, such as the file of this name.
    pub(super) fn join(&self, path: &str) -> Self {
        match self {
            Self::Wheel(folder) if folder.is_empty() => Self::Wheel(path.to_owned()),
            Self::Wheel(folder) => Self::Wheel(format!("{folder}/{path}")),
            Self::Machine(folder) => {
                Self::Machine(format!("{}/{path}", folder.trim_end_matches('/')))
            }
        }
    }
}

/// An entry of RPATH or RUNPATH, or the name of a needed library that has a slash in it and so is a
/// path (ld.so(8)): from where it leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry<'t> {
    /// From the folder of the file that it stands in; what is behind `$ORIGIN` is empty or begins
    /// with a slash.
    Origin(&'t str),
    /// From the root of the machine.
    Root(&'t str),
    /// From the folder that a program happens to be started in. An empty entry is that folder.
    Current(&'t str),
}

impl<'t> Entry<'t> {
    /// Reads an entry; `$ORIGINAL` is no `$ORIGIN`.
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

    /// The entries of one RPATH or RUNPATH.
    pub(super) fn all(text: &'t str) -> impl Iterator<Item = Self> {
        text.split(':').map(Self::read)
    }

    /// Where it leads for a file in this folder; what leads out of the wheel, and what depends on
    /// where a program is started, leads nowhere.
    pub(super) fn place(self, origin: &Folder, is_64: bool) -> Option<Folder> {
        // ld.so(8), "Dynamic string tokens".
        let library_folder = if is_64 { "lib64" } else { "lib" };
        let expanded = |text: &str| {
            text.replace("${LIB}", "$LIB")
                .replace("$LIB", library_folder)
        };
        let from_root =
            |path: &str| without_dots(path).map(|path| Folder::Machine(format!("/{path}")));
        match (self, origin) {
            (Self::Origin(rest), Folder::Wheel(folder)) => {
                without_dots(&format!("{folder}{}", expanded(rest))).map(Folder::Wheel)
            }
            (Self::Origin(rest), Folder::Machine(folder)) => {
                from_root(&format!("{folder}{}", expanded(rest)))
            }
            (Self::Root(path), _) => from_root(&expanded(path)),
            (Self::Current(_), _) => None,
        }
    }
}

/// Where a member lies once the wheel is installed, below site-packages: what `NAME.data/platlib`
/// and `purelib` hold goes to the top (binary distribution format, "The .data directory").
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

/// The search path by which one file of a wheel finds another, both where they are installed.
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

/// Whether a folder at the top of a wheel is the one whose parts are installed elsewhere.
pub(super) fn is_data(folder: &str) -> bool {
    folder.strip_suffix(".data").is_some()
}

/// The folders that are searched for what `own` needs, where `main` is what was loaded first, in
/// order (ld.so(8)).
pub(super) fn search_order(
    main: (&Library, &Folder),
    own: (&Library, &Folder),
    path: &SearchPath,
) -> Vec<Folder> {
    let expand = |text: &Option<String>, origin: &Folder, is_64| {
        let entries = text.iter().flat_map(|text| Entry::all(text));
        entries
            .filter_map(|entry| entry.place(origin, is_64))
            .collect::<Vec<_>>()
    };
    let is_64 = main.0.header.format.is_64();
    // RPATH does not count beside a RUNPATH.
    let rpath = |(library, origin): (&Library, &Folder)| match library.runpath {
        Some(_) => Vec::new(),
        None => expand(&library.rpath, origin, is_64),
    };
    let runpath = |(library, origin): (&Library, &Folder)| expand(&library.runpath, origin, is_64);
    let machine = |paths: &[String]| paths.iter().cloned().map(Folder::Machine).collect();
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
    use super::{Entry, Folder, from_origin};

    fn folders(text: &str, origin: &Folder) -> Vec<Folder> {
        Entry::all(text)
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
        let origin = Folder::Wheel("pkg/lib".to_owned());
        let found = folders(
            "$ORIGIN:${ORIGIN}/../x:$ORIGIN/../../../y:/opt/$LIB:rel:",
            &origin,
        );
        let wheel = |path: &str| Folder::Wheel(path.to_owned());
        assert_eq!(
            found,
            [
                wheel("pkg/lib"),
                wheel("pkg/x"),
                Folder::Machine("/opt/lib64".to_owned())
            ]
        );
        assert_eq!(folders("$ORIGINAL/x", &origin), []);
        assert_eq!(
            folders("$ORIGIN/../lib", &Folder::Machine("/opt/bin".to_owned())),
            [Folder::Machine("/opt/lib".to_owned())]
        );
    }

    #[test]
    fn an_entry_that_only_begins_like_origin_leads_from_where_a_program_is_started() {
        assert_eq!(Entry::read("$ORIGIN"), Entry::Origin(""));
        assert_eq!(Entry::read("${ORIGIN}/x"), Entry::Origin("/x"));
        assert_eq!(Entry::read("/x"), Entry::Root("/x"));
        for text in ["", "x", "$ORIGINAL/x", "${ORIGIN}x", "./$ORIGIN"] {
            assert_eq!(Entry::read(text), Entry::Current(text));
        }
    }
}
