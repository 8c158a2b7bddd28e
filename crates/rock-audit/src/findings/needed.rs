//! Checks of needed libraries that are named by a path.

use std::collections::BTreeMap;

use super::{CheckContext, also_in};
use crate::codes::rocm as codes;
use crate::search_path::SearchPathEntry;
use rock_diagnostic::Diagnostic;

/// Reports each path once; builds give the same one to many files. A path that starts with
/// `$ORIGIN` is valid on every machine.
pub(super) fn findings(context: CheckContext<'_>) -> Vec<Diagnostic> {
    let mut files: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (path, library) in context.libraries() {
        for needed in library.needed.iter().filter(|needed| needed.contains('/')) {
            files.entry(needed).or_default().push(path);
        }
    }
    files
        .into_iter()
        .filter_map(|(needed, files)| check_path(context, needed, &files))
        .collect()
}

fn check_path(context: CheckContext<'_>, needed: &str, files: &[&str]) -> Option<Diagnostic> {
    let kind = match SearchPathEntry::read(needed) {
        SearchPathEntry::Origin(_) => return None,
        _ if context.allowed_rpaths.has(needed) => return None,
        SearchPathEntry::Root(_) => "a path that other machines do not have",
        SearchPathEntry::Current(_) => "a path relative to the working directory",
    };
    let message = format!("it needs `{needed}`, {kind}; search paths do not apply to it");
    let finding = context.on_member(&codes::NEEDED_BY_PATH, files.first()?, message);
    let help = "link with `-lNAME`, give the library a SONAME, or graft it with `rock-matrix wheel \
                repair`";
    Some(also_in(
        finding.help(help),
        context.file_name,
        files.iter().copied(),
    ))
}
