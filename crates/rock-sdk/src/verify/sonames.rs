//! Checks of the filenames of libraries.

use super::MAKE_AGAIN;
use super::packages::OpenedWheel;
use crate::PackageKind;
use crate::codes::sdk as codes;
use crate::select::globs;
use rock_compat::rows::SdkTables;
use rock_diagnostic::{Diagnostic, Severity};
use rock_names::is_file_name;

/// Reports libraries whose filename is not their SONAME. Device packages are skipped, because their
/// libraries are copied unchanged.
pub(super) fn findings(wheel: &OpenedWheel, facts: &SdkTables) -> Vec<Diagnostic> {
    if wheel.kind == PackageKind::Device {
        return Vec::new();
    }
    // Short names are intended copies, for programs that do not look up the SONAME.
    let short = wheel
        .row(facts)
        .and_then(|row| globs(&row.short_names).ok());
    let is_short = |directory: &str, name: &str, soname: &str| {
        let inside = format!("{directory}/{soname}");
        let path = inside.split_once('/').map_or("", |(_, path)| path);
        let is_of_it = soname
            .rsplit_once('.')
            .is_some_and(|(stem, _)| stem == name);
        is_of_it
            && wheel.files.contains_key(&inside)
            && short.as_ref().is_some_and(|short| short.is_match(path))
    };
    let mut found = Vec::new();
    for (path, linked) in wheel.linked() {
        let (Some(soname), Some((directory, name))) = (&linked.soname, path.rsplit_once('/'))
        else {
            continue;
        };
        if soname != name && !is_short(directory, name, soname) {
            let message = format!(
                "the dynamic linker looks it up as `{soname}`, but the file has another name"
            );
            let fault = wheel.fault_at(&codes::OTHER_SONAME, path, message);
            let is_twice =
                is_file_name(soname) && wheel.files.contains_key(&format!("{directory}/{soname}"));
            // A library that is opened by its path may have any filename.
            let opened =
                "rename the file in the build that created it, unless programs open it by its path";
            found.push(if is_twice {
                fault.help(MAKE_AGAIN)
            } else {
                fault.severity(Severity::Warning).help(opened)
            });
        }
    }
    found
}
