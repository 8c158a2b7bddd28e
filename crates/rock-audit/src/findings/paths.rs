//! Checks of RPATH and RUNPATH entries.

use std::collections::BTreeMap;

use super::{CheckContext, also_in};
use crate::codes::rocm as codes;
use crate::search_path::{SearchDir, SearchPathEntry, installed};
use rock_diagnostic::{Diagnostic, Severity, count_more};

/// The help about entries that a repair may drop.
const DROP: &str = "drop it with `--fix-rpath` of `rock-matrix wheel repair`";

/// Reports each problem once for each search path; builds give the same one to many files.
pub(super) fn findings(context: CheckContext<'_>) -> Vec<Diagnostic> {
    findings_in(context, &|_| true)
}

/// Reports, as warnings, the entries that a repair keeps and `--fix-rpath` would drop.
/// `is_kept` returns whether the file at a path keeps its search path.
pub(crate) fn kept_entries(
    context: CheckContext<'_>,
    is_kept: &dyn Fn(&str) -> bool,
) -> Vec<Diagnostic> {
    let droppable = [&codes::ABSOLUTE_RPATH, &codes::EMPTY_RPATH_ENTRY];
    findings_in(context, is_kept)
        .into_iter()
        .filter(|finding| droppable.contains(&finding.code))
        .map(|finding| {
            finding
                .severity(Severity::Warning)
                .note("the repair keeps it, and `wheel check` refuses it")
        })
        .collect()
}

/// Reports the problems of the files that are selected by their path.
fn findings_in(context: CheckContext<'_>, is_selected: &dyn Fn(&str) -> bool) -> Vec<Diagnostic> {
    let mut files: BTreeMap<(&str, &str), Vec<&str>> = BTreeMap::new();
    for (path, library) in context.libraries().filter(|(path, _)| is_selected(path)) {
        for (tag, text) in [("RPATH", &library.rpath), ("RUNPATH", &library.runpath)] {
            if let Some(text) = text.as_deref().filter(|text| !text.is_empty()) {
                files.entry((tag, text)).or_default().push(path);
            }
        }
    }
    files
        .into_iter()
        .flat_map(|((tag, text), files)| check_search_path(context, &files, (tag, text)))
        .collect()
}

/// Checks a search path, RPATH or RUNPATH with its text, of several files.
fn check_search_path(
    context: CheckContext<'_>,
    files: &[&str],
    (tag, text): (&str, &str),
) -> Vec<Diagnostic> {
    let Some(first) = files.first() else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    let entries = || {
        text.split(':')
            .map(|text| (text, SearchPathEntry::read(text)))
    };
    if entries().any(|(text, _)| text.is_empty()) {
        let message = format!("{tag} has an empty entry, which means the working directory");
        let finding = context.on_member(&codes::EMPTY_RPATH_ENTRY, first, message);
        let help = format!("{DROP}, or link without the extra colon");
        findings.push(also_in(finding, context.file_name, files.iter().copied()).help(help));
    }
    let (mut relative, mut absolute) = (Vec::new(), Vec::new());
    for (text, entry) in
        entries().filter(|(text, _)| !text.is_empty() && !context.allowed_rpaths.has(text))
    {
        match entry {
            SearchPathEntry::Current(_) => relative.push(text),
            SearchPathEntry::Root(_) => absolute.push(text),
            SearchPathEntry::Origin(_) => {}
        }
    }
    for (code, entries, problem) in [
        (
            &codes::EMPTY_RPATH_ENTRY,
            relative,
            "relative to the working directory",
        ),
        (
            &codes::ABSOLUTE_RPATH,
            absolute,
            "which other machines do not have",
        ),
    ] {
        if !entries.is_empty() {
            let finding = context.on_member(
                code,
                first,
                format!("{tag} names {}, {problem}", first_and_count(&entries)),
            );
            let help = format!("{DROP}, or link with a path from `$ORIGIN`");
            findings.push(also_in(finding, context.file_name, files.iter().copied()).help(help));
        }
    }
    // The directory of an entry depends on the depth of the file.
    let mut leaving: BTreeMap<Vec<&str>, Vec<&str>> = BTreeMap::new();
    for file in files {
        let outside: Vec<&str> = entries()
            .filter(|(_, entry)| is_outside(file, *entry))
            .map(|(text, _)| text)
            .collect();
        leaving.entry(outside).or_default().push(file);
    }
    for (entries, files) in leaving
        .into_iter()
        .filter(|(entries, _)| !entries.is_empty())
    {
        let message = format!(
            "{tag} names {}, above the directory into which the wheel is installed",
            first_and_count(&entries)
        );
        let finding = context.on_member(&codes::RPATH_LEAVES_WHEEL, files[0], message);
        findings.push(also_in(finding, context.file_name, files));
    }
    findings
}

/// Returns the first entry and the number of others, in words.
fn first_and_count(entries: &[&str]) -> String {
    match entries {
        [] => String::new(),
        [entry] => format!("`{entry}`"),
        [first, rest @ ..] => format!("`{first}`{} like it", count_more(rest.len(), " and ")),
    }
}

/// Returns whether an entry of a member resolves to a directory above site-packages. Files of
/// `NAME.data/platlib` and `purelib` are installed next to those at the top level.
fn is_outside(member: &str, entry: SearchPathEntry<'_>) -> bool {
    let directory = installed(member)
        .rsplit_once('/')
        .map_or("", |(directory, _)| directory);
    // `$LIB` is one directory for either class of files.
    matches!(entry, SearchPathEntry::Origin(_))
        && entry
            .resolve(&SearchDir::Wheel(directory.to_owned()), true)
            .is_none()
}

#[cfg(test)]
mod tests {
    use super::{SearchPathEntry, is_outside};

    #[test]
    fn entries_above_site_packages_are_outside() {
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
