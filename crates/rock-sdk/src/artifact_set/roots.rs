//! The roots of an artifact: the directories that its manifest lists.
//!
//! A root need not exist: a build also lists the directory of a project that installed nothing. A
//! file outside of all roots is an error, because it would not be packed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::bad_artifact;
use crate::limits::{MAX_FAULTS, MAX_ROOTS, beyond_limit};
use rock_diagnostic::Diagnostic;
use rock_names::{parent_directories, without_dots};

/// Parses the manifest of an artifact. Returns the roots, sorted, and diagnostics of invalid lines.
///
/// # Errors
/// When it has more roots or more invalid lines than are read.
pub fn parse_artifact_manifest(
    text: &str,
    manifest: &Path,
) -> Result<(Vec<String>, Vec<Diagnostic>), Diagnostic> {
    let (mut roots, mut findings) = (Vec::new(), Vec::new());
    // Windows editors write a byte order mark at the start of text files.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match without_dots(line) {
            Some(root) if !line.starts_with('/') && !root.is_empty() => roots.push(root),
            _ => findings.push(bad_artifact(
                manifest,
                format!("`{line}` is not a path in the artifact"),
            )),
        }
        if findings.len() > MAX_FAULTS {
            return Err(beyond_limit(
                manifest,
                &format!("the manifest has more than {MAX_FAULTS} faults"),
            ));
        }
    }
    roots.sort();
    roots.dedup();
    if roots.len() > MAX_ROOTS {
        return Err(beyond_limit(
            manifest,
            &format!(
                "the manifest lists {} directories; at most {MAX_ROOTS} are read",
                roots.len()
            ),
        ));
    }
    Ok((roots, findings))
}

/// Assigns the paths of an artifact to its roots.
#[derive(Debug)]
pub(super) struct RootSorter {
    artifact: PathBuf,
    pub(super) roots: Vec<String>,
    /// Paths that no package can contain. Entries below them are not reported again.
    refused: BTreeSet<String>,
    pub(super) findings: Vec<Diagnostic>,
}

impl RootSorter {
    /// Creates a sorter for the artifact at a path, which has these roots.
    pub(super) fn new(artifact: &Path, roots: Vec<String>) -> Self {
        Self {
            artifact: artifact.to_owned(),
            roots,
            refused: BTreeSet::new(),
            findings: Vec::new(),
        }
    }

    /// Returns the indices of the roots that contain a path, with the path below each; none for a
    /// directory above the roots. Returns `None` for a path that no package can contain, and
    /// reports it.
    pub(super) fn place(&mut self, path: &str, is_directory: bool) -> Option<Vec<(usize, String)>> {
        if !self.refused.is_empty()
            && parent_directories(path)
                .chain([path])
                .any(|above| self.refused.contains(above))
        {
            return None;
        }
        if let Some((at, why)) = unpackable(path) {
            self.refuse(&path[..at], |place| {
                bad_artifact(place, format!("its name has {why}"))
                    .help("rename it in the build that created it")
            });
            return None;
        }
        let below = |whole: &str, above: &str| {
            whole
                .strip_prefix(above)?
                .strip_prefix('/')
                .map(str::to_owned)
        };
        let roots = self.roots.iter().enumerate();
        let found: Vec<(usize, String)> = roots
            .filter_map(|(number, root)| Some((number, below(path, root)?)))
            .collect();
        let leads_on =
            |root: &String| path == root || path.is_empty() || below(root, path).is_some();
        if found.is_empty()
            && !(is_directory && self.roots.iter().any(leads_on))
            && !path.is_empty()
        {
            self.refuse(path, |place| {
                bad_artifact(
                    place,
                    "it is below none of the directories that the manifest lists".to_owned(),
                )
            });
            return None;
        }
        Some(found)
    }

    fn refuse(&mut self, path: &str, tell: impl FnOnce(&Path) -> Diagnostic) {
        self.findings.push(tell(&self.artifact.join(path)));
        self.refused.insert(path.to_owned());
    }
}

/// Returns the reason for which installers do not accept a path, and the end of the component with
/// the invalid character. Installers read their file lists line by line, with Python's line
/// endings, and treat a backslash as a directory separator on Windows.
fn unpackable(path: &str) -> Option<(usize, &'static str)> {
    let (at, found) = path
        .char_indices()
        .find(|(_, c)| *c == '\\' || c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'))?;
    let end = path[at..]
        .find('/')
        .map_or(path.len(), |length| at + length);
    let why = match found {
        '\\' => "a backslash, which wheels cannot contain",
        _ => "a control character or a line break, which installers cannot list",
    };
    Some((end, why))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{MAX_FAULTS, MAX_ROOTS, RootSorter, parse_artifact_manifest};

    #[test]
    fn a_manifest_may_begin_with_the_mark_of_an_editor() {
        let (listed, findings) =
            parse_artifact_manifest("\u{feff}hip/stage\n\n./b/../a/stage\r\n", Path::new("m"))
                .unwrap();
        assert_eq!(
            (listed, findings.len()),
            (vec!["a/stage".to_owned(), "hip/stage".to_owned()], 0)
        );
        assert_eq!(
            parse_artifact_manifest("/abs\n..\n", Path::new("m"))
                .unwrap()
                .1
                .len(),
            2
        );
    }

    #[test]
    fn a_manifest_lists_directories_up_to_a_limit() {
        let listed = |count: usize| {
            (0..count)
                .map(|number| format!("r{number}\n"))
                .collect::<String>()
        };
        assert_eq!(
            parse_artifact_manifest(&listed(MAX_ROOTS), Path::new("m"))
                .unwrap()
                .0
                .len(),
            MAX_ROOTS
        );
        assert_eq!(
            parse_artifact_manifest(&listed(MAX_ROOTS + 1), Path::new("m"))
                .unwrap_err()
                .code
                .id,
            "S050"
        );
        assert_eq!(
            parse_artifact_manifest(&"..\n".repeat(MAX_FAULTS), Path::new("m"))
                .unwrap()
                .1
                .len(),
            MAX_FAULTS
        );
        assert_eq!(
            parse_artifact_manifest(&"..\n".repeat(MAX_FAULTS + 1), Path::new("m"))
                .unwrap_err()
                .code
                .id,
            "S050"
        );
    }

    #[test]
    fn a_refused_directory_is_reported_once_with_its_content() {
        let mut sorter = RootSorter::new(
            Path::new("a"),
            vec!["hip/stage".to_owned(), "hip/stage/sub".to_owned()],
        );
        assert_eq!(sorter.place("hip", true), Some(Vec::new()));
        assert_eq!(
            sorter.place("hip/stage/lib/a", false),
            Some(vec![(0, "lib/a".to_owned())])
        );
        let both = vec![(0, "sub/a".to_owned()), (1, "a".to_owned())];
        assert_eq!(sorter.place("hip/stage/sub/a", false), Some(both));
        for path in ["other", "other/stage", "other/stage/x"] {
            assert_eq!(sorter.place(path, true), None);
        }
        assert_eq!(
            sorter.place("hip/stage", false),
            None,
            "a file is not a directory"
        );
        assert_eq!(sorter.place("hip/stage/lib/b", false), None, "below it");
        let mut sorter = RootSorter::new(Path::new("a"), vec!["s".to_owned()]);
        for path in ["s/a\nb", "s/a\nb/c", "s/d\\e/f", "s/d\\e/g", "s/\u{2028}"] {
            assert_eq!(sorter.place(path, false), None, "{path}");
        }
        assert_eq!(sorter.findings.len(), 3);
    }
}
