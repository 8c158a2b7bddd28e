//! Where a loader searches for libraries.

use super::Library;
use crate::names::without_dots;

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

/// The folders of one RPATH or RUNPATH; what leads out of the wheel, and what is neither absolute nor begins with
/// `$ORIGIN`, leads nowhere.
pub(super) fn folders(text: &str, origin: &Folder, is_64: bool) -> Vec<Folder> {
    text.split(':').filter_map(|entry| folder(entry, origin, is_64)).collect()
}

fn folder(entry: &str, origin: &Folder, is_64: bool) -> Option<Folder> {
    // ld.so(8), "Rpath token expansion".
    let entry = entry.replace("${LIB}", "$LIB").replace("$LIB", if is_64 { "lib64" } else { "lib" });
    let entry = entry.replace("${PLATFORM}", "$PLATFORM").replace("${ORIGIN}", "$ORIGIN");
    match entry.strip_prefix("$ORIGIN") {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => match origin {
            Folder::Wheel(folder) => without_dots(&format!("{folder}{rest}")).map(Folder::Wheel),
            Folder::Machine(folder) => {
                without_dots(&format!("{folder}{rest}")).map(|path| Folder::Machine(format!("/{path}")))
            }
        },
        _ if entry.starts_with('/') => without_dots(&entry).map(|path| Folder::Machine(format!("/{path}"))),
        _ => None,
    }
}

/// Where a member lies once the wheel is installed, below site-packages: what `NAME.data/platlib` and `purelib` hold
/// goes to the top (binary distribution format, "The .data directory").
pub(super) fn installed(path: &str) -> &str {
    let inner = path.split_once('/').filter(|(top, _)| is_data(top)).map(|(_, inner)| inner);
    inner.and_then(|inner| inner.strip_prefix("platlib/").or_else(|| inner.strip_prefix("purelib/"))).unwrap_or(path)
}

/// The search path by which one file of a wheel finds another, both where they are installed.
pub(super) fn from_origin(file: &str, other: &str) -> String {
    let folders = |path| installed(path).split('/').rev().skip(1).collect::<Vec<_>>().into_iter().rev();
    let (own, others): (Vec<&str>, Vec<&str>) = (folders(file).collect(), folders(other).collect());
    let shared = own.iter().zip(&others).take_while(|(one, other)| one == other).count();
    let up = std::iter::repeat_n("..", own.len() - shared);
    std::iter::once("$ORIGIN").chain(up).chain(others[shared..].iter().copied()).collect::<Vec<_>>().join("/")
}

/// Whether a folder at the top of a wheel is the one whose parts are installed elsewhere.
pub(super) fn is_data(folder: &str) -> bool {
    folder.strip_suffix(".data").is_some()
}

/// The folders that are searched for what `own` needs, where `main` is what was loaded first, in order (ld.so(8)).
pub(super) fn search_order(main: (&Library, &Folder), own: (&Library, &Folder), path: &SearchPath) -> Vec<Folder> {
    let expand = |text: &Option<String>, origin: &Folder, is_64| {
        text.as_ref().map(|text| folders(text, origin, is_64)).unwrap_or_default()
    };
    let is_64 = main.0.header.format.is_64();
    // RPATH does not count beside a RUNPATH.
    let rpath = |(library, origin): (&Library, &Folder)| match library.runpath {
        Some(_) => Vec::new(),
        None => expand(&library.rpath, origin, is_64),
    };
    let runpath = |(library, origin): (&Library, &Folder)| expand(&library.runpath, origin, is_64);
    let machine = |paths: &[String]| paths.iter().cloned().map(Folder::Machine).collect();
    let interpreter = main.0.interpreter.as_deref().and_then(|path| path.rsplit_once('/'));
    let beside_interpreter = interpreter.map(|(folder, _)| vec![folder.to_owned(), format!("/usr{folder}")]);
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
    use super::{Folder, folders, from_origin};

    #[test]
    fn a_file_finds_another_from_its_own_folder() {
        assert_eq!(from_origin("pkg/a/b/m.so", "pkg/lib/x.so"), "$ORIGIN/../../lib");
        assert_eq!(from_origin("pkg/m.so", "pkg/x.so"), "$ORIGIN");
        assert_eq!(from_origin("m.so", "x-1.data/platlib/x.libs/x.so"), "$ORIGIN/x.libs");
    }

    #[test]
    fn origin_expands_inside_the_wheel_and_what_leads_out_of_it_leads_nowhere() {
        let origin = Folder::Wheel("pkg/lib".to_owned());
        let found = folders("$ORIGIN:${ORIGIN}/../x:$ORIGIN/../../../y:/opt/$LIB:rel:", &origin, true);
        let wheel = |path: &str| Folder::Wheel(path.to_owned());
        assert_eq!(found, [wheel("pkg/lib"), wheel("pkg/x"), Folder::Machine("/opt/lib64".to_owned())]);
        assert_eq!(folders("$ORIGINAL/x", &origin, true), []);
        assert_eq!(
            folders("$ORIGIN/../lib", &Folder::Machine("/opt/bin".to_owned()), true),
            [Folder::Machine("/opt/lib".to_owned())]
        );
    }
}
