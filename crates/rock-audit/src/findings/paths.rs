//! Search paths that lead elsewhere than meant.

use std::collections::BTreeMap;

use super::{Subject, also_in};
use crate::codes::rocm as codes;
use crate::search::{Entry, Folder, installed};
use rock_diagnostic::Diagnostic;

/// One finding for each kind of fault and each text, which builds give to many files at once.
pub(super) fn findings(subject: Subject<'_>) -> Vec<Diagnostic> {
    let mut files: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for (path, library) in subject.libraries() {
        for (tag, text) in [("RPATH", &library.rpath), ("RUNPATH", &library.runpath)] {
            if let Some(text) = text.as_deref().filter(|text| !text.is_empty()) {
                files.entry((tag, text)).or_default().push(path);
            }
        }
    }
    files
        .into_iter()
        .flat_map(|((tag, text), files)| of_text(subject, &files, tag, text))
        .collect()
}

fn of_text(subject: Subject<'_>, files: &[&str], tag: &str, text: &str) -> Vec<Diagnostic> {
    let Some(first) = files.first() else {
        return Vec::new();
    };
    let others = |finding: Diagnostic| also_in(finding, files.len());
    let mut found = Vec::new();
    let entries = || text.split(':').map(|text| (text, Entry::read(text)));
    if entries().any(|(text, _)| text.is_empty()) {
        let message =
            format!("{tag} has an empty entry, which is the folder that a program is started in");
        found.push(
            others(subject.on_member(&codes::EMPTY_RPATH_ENTRY, first, message))
                .help("remove the colon too many"),
        );
    }
    let like = |is_meant: &dyn Fn(Entry<'_>) -> bool| {
        let entries = entries().filter(|(text, entry)| !text.is_empty() && is_meant(*entry));
        entries
            .map(|(text, _)| text)
            .filter(|text| !subject.allowed_paths.has(text))
            .collect::<Vec<_>>()
    };
    for (code, entries, where_to) in [
        (
            &codes::EMPTY_RPATH_ENTRY,
            like(&|entry| matches!(entry, Entry::Current(_))),
            "below the folder that a program is started in",
        ),
        (
            &codes::ABSOLUTE_RPATH,
            like(&|entry| matches!(entry, Entry::Root(_))),
            "which other machines do not have",
        ),
    ] {
        if !entries.is_empty() {
            let finding = subject.on_member(
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
            .filter(|(_, entry)| leaves(file, *entry))
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
            subject.on_member(&codes::RPATH_LEAVES_WHEEL, files[0], message),
            files.len(),
        ));
    }
    found
}

/// The first entry, and how many more there are.
fn some(entries: &[&str]) -> String {
    match entries {
        [] => String::new(),
        [one] => format!("`{one}`"),
        [first, rest @ ..] => format!("`{first}` and {} more like it", rest.len()),
    }
}

/// Whether an entry from the folder of a member leads above site-packages. Files of
/// `NAME.data/platlib` and `purelib` are installed beside those at the top.
fn leaves(member: &str, entry: Entry<'_>) -> bool {
    let folder = installed(member)
        .rsplit_once('/')
        .map_or("", |(folder, _)| folder);
    // `$LIB` is one folder in each class of files.
    matches!(entry, Entry::Origin(_))
        && entry
            .place(&Folder::Wheel(folder.to_owned()), true)
            .is_none()
}

#[cfg(test)]
mod tests {
    use super::{Entry, leaves};

    #[test]
    fn a_sibling_package_is_inside_and_what_lies_above_is_not() {
        assert!(!leaves(
            "pkg/lib/a.so",
            Entry::Origin("/../../_rocm_sdk_core/lib")
        ));
        assert!(leaves("pkg/lib/a.so", Entry::Origin("/../../../lib")));
        assert!(!leaves(
            "x-1.data/platlib/pkg/a.so",
            Entry::Origin("/../other")
        ));
        assert!(leaves(
            "x-1.data/platlib/pkg/a.so",
            Entry::Origin("/../../other")
        ));
        assert!(!leaves("a.so", Entry::Origin("")));
    }
}
