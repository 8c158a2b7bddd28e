//! The folders that the manifest of an artifact lists, and what lies in which of them.
//!
//! Folders and archives are told the same. What a manifest lists need not be there: a build lists
//! the folder of a project that installed nothing. What is there and not listed is a fault: nothing
//! of it would be packed.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::bad;
use crate::diagnostic::Diagnostic;
use crate::names::{parent_directories, without_dots};
use crate::sdk::limits::{MAX_FAULTS, MAX_ROOTS, beyond_limit};

/// The folders that a manifest lists, sorted, and lines of it that name none.
///
/// # Errors
/// When it lists more folders, or has more lines that name none, than any.
pub(in crate::cli::sdk) fn roots(
    text: &str,
    manifest: &Path,
) -> Result<(Vec<String>, Vec<Diagnostic>), Diagnostic> {
    let (mut roots, mut findings) = (Vec::new(), Vec::new());
    // Editors of Windows put a mark in front of texts.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match without_dots(line) {
            Some(root) if !line.starts_with('/') && !root.is_empty() => roots.push(root),
            _ => findings.push(bad(
                manifest,
                format!("`{line}` is no path in the artifact"),
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
                "the manifest lists {} folders; at most {MAX_ROOTS} are read",
                roots.len()
            ),
        ));
    }
    Ok((roots, findings))
}

/// Sorts the paths of an artifact into the folders of its manifest.
#[derive(Debug)]
pub(super) struct Sorter {
    artifact: PathBuf,
    pub(super) roots: Vec<String>,
    /// Paths that no package can hold. What lies below one of them is told with it.
    refused: BTreeSet<String>,
    pub(super) findings: Vec<Diagnostic>,
}

impl Sorter {
    /// For the artifact at a path, whose manifest lists these folders.
    pub(super) fn new(artifact: &Path, roots: Vec<String>) -> Self {
        Self {
            artifact: artifact.to_owned(),
            roots,
            refused: BTreeSet::new(),
            findings: Vec::new(),
        }
    }

    /// The numbers of the folders that a path is in, with what it is below each; none for a folder
    /// above them. `None` is a path that no package can hold, which is told.
    pub(super) fn place(&mut self, path: &str, is_folder: bool) -> Option<Vec<(usize, String)>> {
        if !self.refused.is_empty()
            && parent_directories(path)
                .chain([path])
                .any(|above| self.refused.contains(above))
        {
            return None;
        }
        if let Some((at, why)) = unpackable(path) {
            self.refuse(&path[..at], |place| {
                bad(place, format!("its name has {why}"))
                    .help("rename it in the build that made it")
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
        if found.is_empty() && !(is_folder && self.roots.iter().any(leads_on)) && !path.is_empty() {
            self.refuse(path, |place| {
                bad(
                    place,
                    "it is below none of the folders that the manifest lists".to_owned(),
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

/// Why installers do not take a path, and where the name ends that has it. They read their lists of
/// files by lines, as Python ends those, and take a backslash for the end of a folder's name on
/// Windows.
fn unpackable(path: &str) -> Option<(usize, &'static str)> {
    let (at, found) = path
        .char_indices()
        .find(|(_, c)| *c == '\\' || c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'))?;
    let end = path[at..]
        .find('/')
        .map_or(path.len(), |length| at + length);
    let why = match found {
        '\\' => "a backslash, which wheels cannot hold",
        _ => "a control character or a line break, which installers cannot list",
    };
    Some((end, why))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{MAX_FAULTS, MAX_ROOTS, Sorter, roots};

    #[test]
    fn a_manifest_may_begin_with_the_mark_of_an_editor() {
        let (listed, findings) =
            roots("\u{feff}hip/stage\n\n./b/../a/stage\r\n", Path::new("m")).unwrap();
        assert_eq!(
            (listed, findings.len()),
            (vec!["a/stage".to_owned(), "hip/stage".to_owned()], 0)
        );
        assert_eq!(roots("/abs\n..\n", Path::new("m")).unwrap().1.len(), 2);
    }

    #[test]
    fn a_manifest_lists_folders_up_to_a_limit() {
        let listed = |count: usize| {
            (0..count)
                .map(|number| format!("r{number}\n"))
                .collect::<String>()
        };
        assert_eq!(
            roots(&listed(MAX_ROOTS), Path::new("m")).unwrap().0.len(),
            MAX_ROOTS
        );
        assert_eq!(
            roots(&listed(MAX_ROOTS + 1), Path::new("m"))
                .unwrap_err()
                .code
                .id,
            "S050"
        );
        assert_eq!(
            roots(&"..\n".repeat(MAX_FAULTS), Path::new("m"))
                .unwrap()
                .1
                .len(),
            MAX_FAULTS
        );
        assert_eq!(
            roots(&"..\n".repeat(MAX_FAULTS + 1), Path::new("m"))
                .unwrap_err()
                .code
                .id,
            "S050"
        );
    }

    #[test]
    fn what_is_refused_is_told_once_with_all_that_lies_below_it() {
        let mut sorter = Sorter::new(
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
            "a file is no folder"
        );
        assert_eq!(sorter.place("hip/stage/lib/b", false), None, "below it");
        let mut sorter = Sorter::new(Path::new("a"), vec!["s".to_owned()]);
        for path in ["s/a\nb", "s/a\nb/c", "s/d\\e/f", "s/d\\e/g", "s/\u{2028}"] {
            assert_eq!(sorter.place(path, false), None, "{path}");
        }
        assert_eq!(sorter.findings.len(), 3);
    }
}
