//! Expansion of paths to wheels.

use std::path::{Path, PathBuf};

use crate::codes::wheel as codes;
use rock_diagnostic::codes::host;
use rock_diagnostic::{Diagnostic, Location};
use rock_names::has_wheel_extension;

/// Expands directories to the wheels in them; other paths stay. Also returns an error for each
/// directory that contains no wheel or cannot be read, and for `-`.
pub fn find_wheels(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<Diagnostic>) {
    let (mut files, mut errors) = (Vec::new(), Vec::new());
    for path in paths {
        if path == Path::new("-") {
            errors.push(standard_input());
            continue;
        }
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        match rock_sys::read_entries(path) {
            Ok(entries) => {
                let wheels: Vec<PathBuf> = entries
                    .into_iter()
                    .map(|entry| entry.path)
                    .filter(|path| is_wheel(path))
                    .collect();
                if wheels.is_empty() {
                    errors.push(no_wheels(path));
                }
                files.extend(wheels);
            }
            Err(error) => errors.push(error.into()),
        }
    }
    (files, errors)
}

fn is_wheel(path: &Path) -> bool {
    path.file_name()
        .is_some_and(|name| has_wheel_extension(&name.to_string_lossy()))
}

fn standard_input() -> Diagnostic {
    let message = "wheels are not read from standard input: `-` is not a path";
    Diagnostic::new(&host::CANNOT_READ_FILE, message)
        .help("pass the paths as arguments, for example with `xargs`")
}

fn no_wheels(directory: &Path) -> Diagnostic {
    let message = format!("there are no wheels in `{}`", directory.display());
    Diagnostic::new(&codes::WHEEL_NOT_THERE, message)
        .at(Location::File(directory.display().to_string().into()), "")
        .help("check the path, or see the log of the build that should have written wheels there")
}
