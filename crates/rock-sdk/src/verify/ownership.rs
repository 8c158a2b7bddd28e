//! Checks that every path of `site-packages` belongs to one package.

use std::collections::BTreeMap;

use super::packages::{OpenedPackages, OpenedWheel};
use crate::case_clash;
use crate::codes::sdk as codes;
use rock_diagnostic::{Diagnostic, counted};
use rock_names::parent_directories;

/// The maximum length of a path below `site-packages`. Longer paths do not fit below the
/// directories that Windows users have (`MAX_PATH` is 260).
const LONGEST_PATH: usize = 200;

/// Reports paths at which packages would overwrite each other, and paths that some systems do not
/// accept.
pub(super) fn findings(opened: &OpenedPackages) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut owners: BTreeMap<&str, Vec<&OpenedWheel>> = BTreeMap::new();
    let mut folded: BTreeMap<String, (&OpenedWheel, &str)> = BTreeMap::new();
    for wheel in &opened.wheels {
        for path in wheel.files.keys().map(String::as_str) {
            owners.entry(path).or_default().push(wheel);
        }
    }
    for (path, wheels) in &owners {
        for (number, wheel) in wheels.iter().enumerate() {
            if let Some(other) = wheels[..number]
                .iter()
                .find(|other| OpenedPackages::are_together(&other.path, &wheel.path))
            {
                found.push(clash(
                    wheel,
                    path,
                    format!("`{}` has the same path", other.path),
                ));
            }
        }
        for directory in parent_directories(path) {
            for (file, wheel) in owners
                .get(directory)
                .into_iter()
                .flatten()
                .map(|wheel| (directory, wheel))
            {
                if let Some(other) = wheels
                    .iter()
                    .find(|other| OpenedPackages::are_together(&other.path, &wheel.path))
                {
                    found.push(clash(
                        wheel,
                        file,
                        format!("it is a file here and a directory in `{}`", other.path),
                    ));
                }
            }
        }
        // Clashes within one wheel are reported by the checks of its archive.
        if let Some((wheel, other)) = folded.insert(path.to_lowercase(), (wheels[0], path))
            && !wheels.iter().any(|own| own.path == wheel.path)
        {
            let message = format!("its name differs from `{path}` only in case");
            found.push(
                wheel
                    .fault_at(&codes::CASE_CLASH, other, message)
                    .help(case_clash::HELP),
            );
        }
    }
    for wheel in &opened.wheels {
        if let Some((longest, message)) = too_long(wheel.files.keys().map(String::as_str)) {
            found.push(wheel.fault_at(&codes::LONG_SDK_PATH, longest, message));
        }
    }
    found
}

/// Returns the longest of the paths below `site-packages` that are too long, with a message about
/// all of them.
pub(super) fn too_long<'p>(paths: impl Iterator<Item = &'p str>) -> Option<(&'p str, String)> {
    let long: Vec<&str> = paths.filter(|path| path.len() > LONGEST_PATH).collect();
    let longest = long.iter().copied().max_by_key(|path| path.len())?;
    let more = match long.len() - 1 {
        0 => String::new(),
        more => format!(", as have {}", counted(more, "other path")),
    };
    let bytes = longest.len();
    Some((
        longest,
        format!("its path has {bytes} bytes below site-packages, more than {LONGEST_PATH}{more}"),
    ))
}

fn clash(wheel: &OpenedWheel, path: &str, message: String) -> Diagnostic {
    wheel.fault_at(&codes::PATH_OF_TWO, path, message).help(
        "installers overwrite one with the other, and uninstalling one package breaks the other; \
         leave it out of one",
    )
}
