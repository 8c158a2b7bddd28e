//! Checks of RPATH and RUNPATH entries.

use std::collections::BTreeMap;

use super::{CheckContext, also_in};
use crate::codes::rocm as codes;
use crate::search_path::{SearchDir, SearchPathEntry, installed};
use rock_diagnostic::Diagnostic;

/// Reports each problem once for each search path; builds give the same one to many files.
pub(super) fn findings(context: CheckContext<'_>) -> Vec<Diagnostic> {
    let mut files: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for (path, library) in context.libraries() {
        for (tag, text) in [("RPATH", &library.rpath), ("RUNPATH", &library.runpath)] {
            if let Some(text) = text.as_deref().filter(|text| !text.is_empty()) {
                files.entry((tag, text)).or_default().push(path);
            }
        }
    }
    files
        .into_iter()
        .flat_map(|((tag, text), files)| of_text(context, &files, tag, text))
        .collect()
}

fn of_text(context: CheckContext<'_>, files: &[&str], tag: &str, text: &str) -> Vec<Diagnostic> {
    let Some(first) = files.first() else {
        return Vec::new();
    };
    let others = |finding: Diagnostic| also_in(finding, files.len());
    let mut found = Vec::new();
    let entries = || {
        text.split(':')
            .map(|text| (text, SearchPathEntry::read(text)))
    };
    if entries().any(|(text, _)| text.is_empty()) {
        let message =
            format!("{tag} has an empty entry, which is the folder that a program is started in");
        found.push(
            others(context.on_member(&codes::EMPTY_RPATH_ENTRY, first, message))
                .help("remove the colon too many"),
        );
    }
    let like = |is_meant: &dyn Fn(SearchPathEntry<'_>) -> bool| {
        let entries = entries().filter(|(text, entry)| !text.is_empty() && is_meant(*entry));
        entries
            .map(|(text, _)| text)
            .filter(|text| !context.allowed_rpaths.has(text))
            .collect::<Vec<_>>()
    };
    for (code, entries, where_to) in [
        (
            &codes::EMPTY_RPATH_ENTRY,
            like(&|entry| matches!(entry, SearchPathEntry::Current(_))),
            "below the folder that a program is started in",
        ),
        (
            &codes::ABSOLUTE_RPATH,
            like(&|entry| matches!(entry, SearchPathEntry::Root(_))),
            "which other machines do not have",
        ),
    ] {
        if !entries.is_empty() {
            let finding = context.on_member(
                code,
                first,
                format!("{tag} names {}, {where_to}", some(&entries)),
            );
            let help = "drop it with `rock-matrix wheel repair --fix-rpath`, or link with a path from `$ORIGIN`";
            found.push(others(finding).help(help));
        }
    }
    // Where an entry leads depends on how deep a file lies.
    let mut leaving: BTreeMap<Vec<&str>, Vec<&str>> = BTreeMap::new();
    for file in files {
        let of_file = entries()
            .filter(|(_, entry)| is_outside(file, *entry))
            .map(|(text, _)| text);
        leaving.entry(of_file.collect()).or_default().push(file);
    }
    for (entries, files) in leaving
        .into_iter()
        .filter(|(entries, _)| !entries.is_empty())
    {
        let message = format!(
            "{tag} names {}, above the folder that the wheel is installed into",
            some(&entries)
        );
        found.push(also_in(
            context.on_member(&codes::RPATH_LEAVES_WHEEL, files[0], message),
            files.len(),
        ));
    }
    found
}

/// Returns the first entry and the number of others, in words.
fn some(entries: &[&str]) -> String {
    match entries {
        [] => String::new(),
        [one] => format!("`{one}`"),
        [first, rest @ ..] => format!("`{first}` and {} more like it", rest.len()),
    }
}

/// Returns whether an entry of a member resolves to a directory above site-packages. Files of
/// `NAME.data/platlib` and `purelib` are installed next to those at the top level.
fn is_outside(member: &str, entry: SearchPathEntry<'_>) -> bool {
    let folder = installed(member)
        .rsplit_once('/')
        .map_or("", |(folder, _)| folder);
    // `$LIB` is one folder in each class of files.
    matches!(entry, SearchPathEntry::Origin(_))
        && entry
            .place(&SearchDir::Wheel(folder.to_owned()), true)
            .is_none()
}

#[cfg(test)]
mod tests {
    use super::{SearchPathEntry, is_outside};

    #[test]
    fn a_sibling_package_is_inside_and_what_lies_above_is_not() {
        assert!(!is_outside(
            "pkg/lib/a.so",
            SearchPathEntry::Origin("/../../_rocm_sdk_core/lib")
        ));
        assert!(is_outside(
            "pkg/lib/a.so",
            SearchPathEntry::Origin("/../../../lib")
        ));
        assert!(!is_outside(
            "x-1.data/platlib/pkg/a.so",
            SearchPathEntry::Origin("/../other")
        ));
        assert!(is_outside(
            "x-1.data/platlib/pkg/a.so",
            SearchPathEntry::Origin("/../../other")
        ));
        assert!(!is_outside("a.so", SearchPathEntry::Origin("")));
    }
}
