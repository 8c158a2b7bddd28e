//! Search paths that stay inside the wheel.

use std::collections::BTreeSet;

use crate::library::Library;
use crate::search::{Entry, Folder, installed, is_data};
use crate::tree::Excludes;
use rock_elf::SearchPathEdit;
use rock_names::WheelName;

/// A program below `NAME.data/scripts`, which is installed nobody knows where: the path in the
/// wheel that it moves to when it needs libraries of the wheel.
pub(super) fn program_outside(path: &str, name: &WheelName) -> Option<String> {
    let (top, inner) = path.split_once('/')?;
    let script = inner.strip_prefix("scripts/").filter(|_| is_data(top))?;
    Some(format!("{}.scripts/{script}", name.distribution))
}

/// The path, or where it is taken the same with the first number from 2 that makes it another.
pub(super) fn free(path: String, taken: &BTreeSet<String>) -> String {
    let numbered = (2_u64..).map(|number| format!("{path}-{number}"));
    let free = std::iter::once(path.clone())
        .chain(numbered)
        .find(|one| !taken.contains(one));
    free.unwrap_or(path)
}

/// The search path of a file that needs libraries of the folder: its own entries that lead to
/// places in the wheel or are allowed, then the folder.
pub(super) fn with_folder(
    library: &Library,
    path: &str,
    folder: &str,
    allowed: &Excludes,
) -> String {
    let mut entries = kept(library, path, allowed);
    let own = installed(path);
    let depth = own.matches('/').count();
    let up = if depth == 0 {
        String::new()
    } else {
        format!("/{}", vec![".."; depth].join("/"))
    };
    let entry = format!("$ORIGIN{up}/{folder}");
    if !entries.contains(&entry) {
        entries.push(entry);
    }
    entries.join(":")
}

/// Entries that are allowed or lead from the file to a place in the wheel, each once.
fn kept(library: &Library, path: &str, allowed: &Excludes) -> Vec<String> {
    let own = installed(path);
    let origin = Folder::Wheel(
        own.rsplit_once('/')
            .map_or("", |(folder, _)| folder)
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
            Entry::read(entry).place(&origin, is_64),
            Some(Folder::Wheel(_))
        );
        let stays = is_inside || allows(allowed, entry);
        if stays && !entries.iter().any(|one| one == entry) {
            entries.push(entry.to_owned());
        }
    }
    entries
}

/// Whether somebody says that an entry is meant; an empty one never is.
fn allows(allowed: &Excludes, entry: &str) -> bool {
    !entry.is_empty() && allowed.has(entry)
}

/// The search path without entries from the root that are not allowed, relative and empty ones.
pub(super) fn mended(library: &Library, allowed: &Excludes) -> SearchPathEdit {
    let (text, is_runpath) = match (&library.runpath, &library.rpath) {
        (Some(text), _) => (text, true),
        (None, Some(text)) => (text, false),
        (None, None) => return SearchPathEdit::Keep,
    };
    let is_from_here = |entry: &str| matches!(Entry::read(entry), Entry::Origin(_));
    let kept: Vec<&str> = text
        .split(':')
        .filter(|entry| is_from_here(entry) || allows(allowed, entry))
        .collect();
    let mended = kept.join(":");
    match (mended.is_empty(), is_runpath) {
        _ if mended == *text => SearchPathEdit::Keep,
        (true, _) => SearchPathEdit::Remove,
        (false, true) => SearchPathEdit::Runpath(mended),
        (false, false) => SearchPathEdit::Rpath(mended),
    }
}

#[cfg(test)]
mod tests {
    use super::{free, installed, program_outside};

    #[test]
    fn a_path_that_is_taken_gets_a_number() {
        let taken = ["x/a", "x/a-2"].map(str::to_owned).into();
        assert_eq!(free("x/a".to_owned(), &taken), "x/a-3");
        assert_eq!(free("x/b".to_owned(), &taken), "x/b");
    }

    #[test]
    fn files_of_data_are_installed_at_the_top_and_programs_move_into_the_wheel() {
        assert_eq!(installed("x-1.data/platlib/pkg/a.so"), "pkg/a.so");
        assert_eq!(installed("pkg/a.so"), "pkg/a.so");
        let name = "x-1-py3-none-any.whl".parse().unwrap();
        assert_eq!(
            program_outside("x-1.data/scripts/tool", &name).as_deref(),
            Some("x.scripts/tool")
        );
        assert_eq!(program_outside("pkg/tool", &name), None);
    }
}
