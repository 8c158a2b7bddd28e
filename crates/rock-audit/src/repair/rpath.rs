//! RPATH entries that stay inside the wheel.

use crate::codes::rocm as codes;
use crate::library::ElfLibrary;
use crate::locations::in_member;
use crate::pattern::LibraryPatterns;
use crate::search_path::{SearchDir, SearchPathEntry, installed, is_data};
use rock_diagnostic::{Diagnostic, Severity};
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
    let origin = SearchDir::Wheel(installed_directory(path).to_owned());
    let is_64 = library.header.format.is_64();
    let mut entries: Vec<String> = Vec::new();
    for entry in search_path(library).split(':') {
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

/// Returns the directory of an installed file; empty for the top level.
fn installed_directory(path: &str) -> &str {
    installed(path)
        .rsplit_once('/')
        .map_or("", |(directory, _)| directory)
}

/// Returns the RUNPATH of a library, or its RPATH.
fn search_path(library: &ElfLibrary) -> &str {
    let text = library.runpath.as_ref().or(library.rpath.as_ref());
    text.map_or("", String::as_str)
}

/// Returns the absolute entries that an edit drops from the search path of the file at `path`; none
/// if an entry that it keeps leads out of the file's top-level directory and `library_dir`.
pub(super) fn dropped_entries<'l>(
    library: &'l ElfLibrary,
    path: &str,
    edit: &SearchPathEdit,
    library_dir: &str,
) -> Vec<&'l str> {
    fn top(directory: &str) -> &str {
        directory.split('/').next().unwrap_or_default()
    }
    if *edit == SearchPathEdit::Keep {
        return Vec::new();
    }
    let kept: Vec<&str> = edit.text().unwrap_or_default().split(':').collect();
    let directory = installed_directory(path);
    let origin = SearchDir::Wheel(directory.to_owned());
    let is_64 = library.header.format.is_64();
    let leads_elsewhere = |entry: &str| match SearchPathEntry::read(entry).resolve(&origin, is_64) {
        Some(SearchDir::Wheel(found)) => ![top(directory), library_dir].contains(&top(&found)),
        Some(SearchDir::System(_)) => true,
        None => false,
    };
    if kept.iter().any(|entry| leads_elsewhere(entry)) {
        return Vec::new();
    }
    search_path(library)
        .split(':')
        .filter(|entry| matches!(SearchPathEntry::read(entry), SearchPathEntry::Root(_)))
        .collect()
}

/// Returns the warning that files need libraries outside of the wheel to which only dropped entries
/// may have led.
pub(super) fn lost_search_path(
    file_name: &str,
    entries: &[&str],
    needed: &[&str],
    files: &[&str],
) -> Diagnostic {
    let message = format!(
        "the repair drops `{}` and leaves no search path to `{}`, which is not in the wheel",
        entries.join("` and `"),
        needed.join("` and `")
    );
    let first = files.first().copied().unwrap_or_default();
    let others = files.iter().skip(1);
    Diagnostic::new(&codes::ABSOLUTE_RPATH, message)
        .severity(Severity::Warning)
        .at(in_member(file_name, first), "")
        .same_in_other_files(others.map(|file| in_member(file_name, file)).collect())
        .help(
            "where the wheel is installed, add the directory to `LD_LIBRARY_PATH` or run \
             `ldconfig` for it, or keep the search path with `--allow-rpath`",
        )
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
