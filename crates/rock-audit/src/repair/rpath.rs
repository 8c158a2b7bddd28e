//! RPATH entries that stay inside the wheel.

use crate::library::ElfLibrary;
use crate::pattern::LibraryPatterns;
use crate::search_path::{SearchDir, SearchPathEntry, installed, is_data};
use rock_elf::SearchPathEdit;
use rock_names::WheelName;

/// Returns the path to which a program below `NAME.data/scripts` is moved if it needs libraries of
/// the wheel: the directory that scripts are installed to is unknown.
pub(super) fn moved_program_path(path: &str, name: &WheelName) -> Option<String> {
    let (top, inner) = path.split_once('/')?;
    let script = inner.strip_prefix("scripts/").filter(|_| is_data(top))?;
    Some(format!("{}.scripts/{script}", name.distribution()))
}

/// Returns the path, with the first free number from 2 appended if a member has it.
pub(super) fn unused_path(path: String, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2_u64..).map(|suffix| format!("{path}-{suffix}"));
    let free = std::iter::once(path.clone())
        .chain(numbered)
        .find(|candidate| !is_taken(candidate));
    free.unwrap_or(path)
}

/// Returns the RPATH of a file that needs libraries of the directory: the entries of its RUNPATH or
/// RPATH that are inside the wheel or allowed, then the directory.
///
/// A RUNPATH becomes an RPATH, because it does not apply to the dependencies of dependencies
/// (ld.so(8)), which are in the same directory.
pub(super) fn with_directory(
    library: &ElfLibrary,
    path: &str,
    library_dir: &str,
    allowed: &LibraryPatterns,
) -> String {
    let mut entries = portable_entries(library, path, allowed);
    let installed_path = installed(path);
    let depth = installed_path.matches('/').count();
    let up = if depth == 0 {
        String::new()
    } else {
        format!("/{}", vec![".."; depth].join("/"))
    };
    let entry = format!("$ORIGIN{up}/{library_dir}");
    if !entries.contains(&entry) {
        entries.push(entry);
    }
    entries.join(":")
}

/// Returns the entries that are inside the wheel or allowed, each once.
fn portable_entries(library: &ElfLibrary, path: &str, allowed: &LibraryPatterns) -> Vec<String> {
    let installed_path = installed(path);
    let origin = SearchDir::Wheel(
        installed_path
            .rsplit_once('/')
            .map_or("", |(directory, _)| directory)
            .to_owned(),
    );
    let is_64 = library.header.format.is_64();
    let text = library
        .runpath
        .as_ref()
        .or(library.rpath.as_ref())
        .map_or("", String::as_str);
    let mut entries: Vec<String> = Vec::new();
    for entry in text.split(':') {
        let is_inside = matches!(
            SearchPathEntry::read(entry).resolve(&origin, is_64),
            Some(SearchDir::Wheel(_))
        );
        let stays = is_inside || allows(allowed, entry);
        if stays && !entries.iter().any(|kept| kept == entry) {
            entries.push(entry.to_owned());
        }
    }
    entries
}

/// Returns whether an entry is allowed; an empty one never is.
fn allows(allowed: &LibraryPatterns, entry: &str) -> bool {
    !entry.is_empty() && allowed.has(entry)
}

/// Returns the search path without empty and relative entries, and without absolute ones that are
/// not allowed.
pub(super) fn fixed_search_path(library: &ElfLibrary, allowed: &LibraryPatterns) -> SearchPathEdit {
    let (text, is_runpath) = match (&library.runpath, &library.rpath) {
        (Some(text), _) => (text, true),
        (None, Some(text)) => (text, false),
        (None, None) => return SearchPathEdit::Keep,
    };
    let kept: Vec<&str> = text
        .split(':')
        .filter(|entry| {
            matches!(SearchPathEntry::read(entry), SearchPathEntry::Origin(_))
                || allows(allowed, entry)
        })
        .collect();
    let fixed = kept.join(":");
    match (fixed.is_empty(), is_runpath) {
        _ if fixed == *text => SearchPathEdit::Keep,
        (true, _) => SearchPathEdit::Remove,
        (false, true) => SearchPathEdit::Runpath(fixed),
        (false, false) => SearchPathEdit::Rpath(fixed),
    }
}

#[cfg(test)]
mod tests {
    use super::{installed, moved_program_path, unused_path};

    #[test]
    fn a_path_that_is_taken_gets_a_number() {
        let is_taken = |path: &str| ["x/a", "x/a-2"].contains(&path);
        assert_eq!(unused_path("x/a".to_owned(), is_taken), "x/a-3");
        assert_eq!(unused_path("x/b".to_owned(), is_taken), "x/b");
    }

    #[test]
    fn files_of_data_are_installed_at_the_top_and_programs_move_into_the_wheel() {
        assert_eq!(installed("x-1.data/platlib/pkg/a.so"), "pkg/a.so");
        assert_eq!(installed("pkg/a.so"), "pkg/a.so");
        let name = "x-1-py3-none-any.whl".parse().unwrap();
        assert_eq!(
            moved_program_path("x-1.data/scripts/tool", &name).as_deref(),
            Some("x.scripts/tool")
        );
        assert_eq!(moved_program_path("pkg/tool", &name), None);
    }
}
