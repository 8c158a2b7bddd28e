//! Wheels on disk.

use std::path::Path;

use rock_diagnostic::{Diagnostic, Location, shell_quoted};
use rock_names::WheelName;
use rock_sys::PositionalFile;

use crate::codes::wheel as codes;

/// A wheel file and its name.
#[derive(Debug)]
pub struct WheelFile {
    /// The name of the file, for messages. Bytes that are not UTF-8 are replaced.
    pub file_name: String,
    /// The parsed name.
    pub name: WheelName,
    /// The file.
    pub file: PositionalFile,
}

impl WheelFile {
    /// Opens a wheel. Its name may be percent-encoded, as in a URL.
    ///
    /// # Errors
    /// When the file cannot be opened or its name is invalid.
    pub fn open(path: &Path) -> Result<Self, Diagnostic> {
        let file_name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        // A missing file is reported even if its name is invalid, too.
        let file = PositionalFile::open(path)
            .map_err(|error| with_path_help(error.into(), path, &file_name))?;
        let name = WheelName::from_percent_encoded(&file_name).map_err(|error| {
            Diagnostic::new(&codes::BAD_WHEEL_NAME, error.to_string())
                .at(Location::File(path.display().to_string().into()), "")
        })?;
        Ok(Self {
            file_name,
            name,
            file,
        })
    }
}

/// Adds a hint for a shell pattern or a directory in place of a file.
fn with_path_help(error: Diagnostic, path: &Path, file_name: &str) -> Diagnostic {
    if file_name.contains(['*', '?', '[']) {
        error.help("no file matches the pattern, so the shell passed it on")
    } else if rock_sys::is_real_directory(&rock_sys::real_path(path)) {
        error.help(format!(
            "pass the wheels in it: `{}/*.whl`",
            shell_quoted(path.display().to_string())
        ))
    } else {
        error
    }
}

#[cfg(test)]
mod tests {
    use super::WheelFile;

    #[cfg(unix)]
    #[test]
    fn a_directory_and_a_link_to_one_get_the_same_hint() {
        let temporary = tempfile::tempdir().unwrap();
        let link = temporary.path().join("link");
        rock_sys::create_directory(&temporary.path().join("dist")).unwrap();
        std::os::unix::fs::symlink("dist", &link).unwrap();
        for path in [temporary.path().join("dist"), link] {
            let pattern = format!("pass the wheels in it: `{}/*.whl`", path.display());
            assert_eq!(WheelFile::open(&path).unwrap_err().help, Some(pattern));
        }
    }
}
