//! Search paths that lead elsewhere than meant.

use std::collections::BTreeMap;

use super::Subject;
use crate::audit::search::installed;
use crate::diagnostic::registry::rocm as codes;
use crate::diagnostic::{Diagnostic, counted};
use crate::names::without_dots;

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
    files.into_iter().flat_map(|((tag, text), files)| of_text(subject, &files, tag, text)).collect()
}

fn of_text(subject: Subject<'_>, files: &[&str], tag: &str, text: &str) -> Vec<Diagnostic> {
    let Some(first) = files.first() else { return Vec::new() };
    let others = |finding: Diagnostic| also_in(finding, files.len());
    let mut found = Vec::new();
    if text.split(':').any(str::is_empty) {
        let message = format!("{tag} has an empty entry, which is the folder that a program is started in");
        found.push(
            others(subject.on_member(&codes::EMPTY_RPATH_ENTRY, first, message)).help("remove the colon too many"),
        );
    }
    let origin = |entry: &'_ str| {
        let rest = entry.strip_prefix("$ORIGIN").or_else(|| entry.strip_prefix("${ORIGIN}"));
        rest.filter(|rest| rest.is_empty() || rest.starts_with('/')).map(str::to_owned)
    };
    let entries = || text.split(':').filter(|entry| !entry.is_empty());
    let fixed: Vec<&str> = entries().filter(|one| origin(one).is_none() && !subject.allowed_paths.has(one)).collect();
    if !fixed.is_empty() {
        let message = format!("{tag} names {}, which other machines do not have", some(&fixed));
        found.push(
            others(subject.on_member(&codes::ABSOLUTE_RPATH, first, message))
                .help("drop it with `rock-matrix wheel repair --fix-rpath`, or link with a path from `$ORIGIN`"),
        );
    }
    // Where an entry leads depends on how deep a file lies.
    let mut leaving: BTreeMap<Vec<&str>, Vec<&str>> = BTreeMap::new();
    for file in files {
        let of_file = entries().filter(|one| origin(one).is_some_and(|rest| leaves(file, &rest)));
        leaving.entry(of_file.collect()).or_default().push(file);
    }
    for (entries, files) in leaving.into_iter().filter(|(entries, _)| !entries.is_empty()) {
        let message = format!("{tag} names {}, above the folder that the wheel is installed into", some(&entries));
        found.push(also_in(subject.on_member(&codes::RPATH_LEAVES_WHEEL, files[0], message), files.len()));
    }
    found
}

/// A finding about the first of so many files.
fn also_in(finding: Diagnostic, files: usize) -> Diagnostic {
    match files {
        0 | 1 => finding,
        more => finding.note(format!("the same in {}", counted(more - 1, "other file"))),
    }
}

/// The first entry, and how many more there are.
fn some(entries: &[&str]) -> String {
    match entries {
        [] => String::new(),
        [one] => format!("`{one}`"),
        [first, rest @ ..] => format!("`{first}` and {} more like it", rest.len()),
    }
}

/// Whether a path from the folder of a member leads above site-packages. Files of `NAME.data/platlib` and `purelib`
/// are installed beside those at the top.
fn leaves(member: &str, rest: &str) -> bool {
    let installed = installed(member);
    let folder = installed.rsplit_once('/').map_or("", |(folder, _)| folder);
    without_dots(&format!("{folder}{rest}")).is_none()
}

#[cfg(test)]
mod tests {
    use super::leaves;

    #[test]
    fn a_sibling_package_is_inside_and_what_lies_above_is_not() {
        assert!(!leaves("pkg/lib/a.so", "/../../_rocm_sdk_core/lib"));
        assert!(leaves("pkg/lib/a.so", "/../../../lib"));
        assert!(!leaves("x-1.data/platlib/pkg/a.so", "/../other"));
        assert!(leaves("x-1.data/platlib/pkg/a.so", "/../../other"));
        assert!(!leaves("a.so", ""));
    }
}
