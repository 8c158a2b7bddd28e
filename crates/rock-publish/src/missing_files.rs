//! Files that the manifest of a release in a directory lists, but that are missing.

use std::collections::BTreeSet;
use std::path::Path;

use rock_diagnostic::{Diagnostic, Location, Severity, list_first, shell_line};

use crate::MANIFEST;
use crate::codes::release::DAMAGED_RELEASE;

/// Maximum number of files that a message lists.
const MAX_LISTED_FILES: usize = 5;

/// Returns the warning about files of the release in this directory that are listed but missing;
/// `None` if there are none. `tag` is the tag of the release.
pub(crate) fn missing_files_warning(
    directory: &Path,
    tag: Option<&str>,
    missing: &BTreeSet<String>,
) -> Option<Diagnostic> {
    let names: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
    let listed = list_first(&names, MAX_LISTED_FILES, " and ");
    let (message, them) = match names.len() {
        0 => return None,
        1 => (
            format!("a file of the release is listed but missing: {listed}"),
            "it",
        ),
        count => (
            format!("{count} files of the release are listed but missing: {listed}"),
            "them",
        ),
    };
    let line = republish_line(directory, tag);
    let manifest = directory.join(MANIFEST).display().to_string();
    Some(
        Diagnostic::new(&DAMAGED_RELEASE, message)
            .severity(Severity::Warning)
            .at(Location::File(manifest.into()), "")
            .help(format!(
                "restore {them}, or remove {them} from the release with `{line}`"
            )),
    )
}

/// Returns the command that publishes the files in the directory of a release again.
fn republish_line(directory: &Path, tag: Option<&str>) -> String {
    let files = directory.display().to_string();
    let tag = tag.filter(|tag| directory.file_name().is_some_and(|name| name == *tag));
    let parent = match directory.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.display().to_string(),
        _ => ".".to_owned(),
    };
    let mut line = vec!["rock-matrix", "publish", files.as_str(), "--out"];
    match tag {
        Some(tag) => line.extend([parent.as_str(), "--tag", tag]),
        None => line.push(&files),
    }
    line.push("--replace");
    shell_line(line)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::missing_files_warning;

    #[test]
    fn the_command_keeps_the_tag_of_the_release() {
        let help = |directory: &str, tag| {
            let missing = BTreeSet::from(["a.whl".to_owned(), "b.whl".to_owned()]);
            let warning = missing_files_warning(Path::new(directory), tag, &missing).unwrap();
            assert_eq!(
                warning.message,
                "2 files of the release are listed but missing: `a.whl`, `b.whl`"
            );
            warning.help.unwrap()
        };
        for (directory, tag, line) in [
            ("r", None, "publish r --out r --replace"),
            ("r", Some("v1"), "publish r --out r --replace"),
            (
                "r/v1",
                Some("v1"),
                "publish r/v1 --out r --tag v1 --replace",
            ),
            ("v1", Some("v1"), "publish v1 --out . --tag v1 --replace"),
        ] {
            let help = help(directory, tag);
            let expected = format!("with `rock-matrix {line}`");
            assert!(help.ends_with(&expected), "{help}");
        }
        assert!(missing_files_warning(Path::new("r"), None, &BTreeSet::new()).is_none());
    }
}
