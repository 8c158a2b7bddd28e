//! Checks of the output directory: no run may remove files that are not packages.

use std::collections::BTreeSet;
use std::path::Path;

use super::verify::identify;
use crate::codes::sdk as codes;
use rock_compat::rows::SdkTables;
use rock_diagnostic::{Diagnostic, Location};
use rock_names::{WheelName, parent_directories};
use rock_sys::WalkEntryKind;

/// The maximum number of files that are named in the diagnostic.
const SHOWN: usize = 5;

/// Checks that `dist` is empty, or may be overwritten and contains only packages of the SDK.
///
/// # Errors
/// When it has packages and `overwrite` is false, or has other files.
pub fn check_output(dist: &Path, overwrite: bool, facts: &SdkTables) -> Result<(), Diagnostic> {
    if rock_sys::read_entries(dist)?.is_empty() {
        return Ok(());
    }
    if !overwrite {
        return Err(Diagnostic::new(
            &codes::SDK_OUTPUT_EXISTS,
            "the directory already contains packages",
        )
        .at(Location::File(dist.display().to_string().into()), "")
        .help("choose another directory, or replace this one as a whole (`--replace`)"));
    }
    let is_link = !rock_sys::is_real_directory(dist);
    let found = if is_link {
        Vec::new()
    } else {
        rock_sys::walk(dist)?
    };
    let found = found
        .into_iter()
        .map(|entry| (entry.path, entry.kind == WalkEntryKind::Directory));
    refuse_foreign(dist, is_link, found, facts).map_or(Ok(()), Err)
}

/// Returns an error if the package directory `dist` must not be replaced: because it is a symlink,
/// or contains anything but SDK packages. `found` yields the path of everything below it, with
/// slashes, and whether it is a directory.
fn refuse_foreign(
    dist: &Path,
    is_link: bool,
    found: impl Iterator<Item = (String, bool)>,
    facts: &SdkTables,
) -> Option<Diagnostic> {
    let place = Location::File(dist.display().to_string().into());
    if is_link {
        let fault = Diagnostic::new(
            &codes::FOREIGN_OUTPUT,
            "the package directory is a link, and its target would be removed",
        );
        return Some(
            fault
                .at(place, "")
                .help("remove the link, or write to its target (`--out`)"),
        );
    }
    let (directories, files): (Vec<_>, Vec<_>) = found.partition(|(_, is_directory)| *is_directory);
    let (packages, foreign): (Vec<_>, Vec<_>) = files
        .iter()
        .map(|(path, _)| path.as_str())
        .partition(|path| is_package(path, facts));
    // A directory with packages in it belongs to a family.
    let of_packages: BTreeSet<&str> = packages
        .iter()
        .flat_map(|path| parent_directories(path))
        .collect();
    let empty = directories
        .iter()
        .map(|(path, _)| path.as_str())
        .filter(|path| {
            !of_packages.contains(path)
                && !foreign
                    .iter()
                    .any(|file| parent_directories(file).any(|above| above == *path))
        });
    let mut foreign: Vec<&str> = foreign.iter().copied().chain(empty).collect();
    foreign.sort_unstable();
    let first = foreign.first()?;
    let message = match foreign.len() {
        1 => format!("`{first}` is not a package of the SDK and would be removed"),
        more => format!("{more} files are not packages of the SDK and would be removed"),
    };
    let mut fault = Diagnostic::new(&codes::FOREIGN_OUTPUT, message).at(place, "");
    if foreign.len() > 1 {
        let shown: Vec<String> = foreign
            .iter()
            .take(SHOWN)
            .map(|path| format!("`{path}`"))
            .collect();
        let more = if foreign.len() > SHOWN {
            ", and more"
        } else {
            ""
        };
        fault = fault.note(format!("they are {}{more}", shown.join(", ")));
    }
    Some(fault.help("move them elsewhere, or choose another directory (`--out`)"))
}

/// Whether a path is a file that a build of packages writes, directly in the directory or in the
/// subdirectory of a family. This includes the index that `index build` writes next to the
/// packages, which a new build removes without replacing it.
fn is_package(path: &str, facts: &SdkTables) -> bool {
    let (above, file) = path.rsplit_once('/').unwrap_or(("", path));
    if above
        .split('/')
        .take(2)
        .any(|directory| directory == "simple")
    {
        return matches!(file, "index.html" | "index.json");
    }
    let file = file.strip_suffix(".metadata").unwrap_or(file);
    let is_sdk = |name: WheelName| {
        identify(&name.distribution().as_str().replace('_', "-"), facts).is_some()
    };
    let is_source = file
        .strip_prefix("rocm-")
        .is_some_and(|rest| rest.ends_with(".tar.gz"));
    !above.contains('/') && (is_source || file.parse::<WheelName>().is_ok_and(is_sdk))
}
