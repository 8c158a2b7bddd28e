//! Needed libraries that are named by a path.

use std::collections::BTreeMap;

use super::{Subject, also_in};
use crate::codes::rocm as codes;
use crate::search::Entry;
use rock_diagnostic::Diagnostic;

/// One finding for each path, which builds give to many files at once. A path from `$ORIGIN` leads
/// somewhere on every machine.
pub(super) fn findings(subject: Subject<'_>) -> Vec<Diagnostic> {
    let mut files: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (path, library) in subject.libraries() {
        for needed in library.needed.iter().filter(|needed| needed.contains('/')) {
            files.entry(needed).or_default().push(path);
        }
    }
    let told = |(needed, files): (&str, Vec<&str>)| {
        let where_to = match Entry::read(needed) {
            Entry::Origin(_) => return None,
            _ if subject.allowed_paths.has(needed) => return None,
            Entry::Root(_) => "a path that other machines do not have",
            Entry::Current(_) => "a path from the folder that a program is started in",
        };
        let message = format!("it needs `{needed}`, {where_to}; no search path counts for it");
        let finding = subject.on_member(&codes::NEEDED_BY_PATH, files.first()?, message);
        let help = "link with `-lNAME` or give the library a SONAME, or bring it along with `rock-matrix wheel repair`";
        Some(also_in(finding.help(help), files.len()))
    };
    files.into_iter().filter_map(told).collect()
}
