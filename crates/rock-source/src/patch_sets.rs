//! Patch set lookup. Patch sets are directories of patches below a root, named after the ref that
//! they apply to.
//!
//! Input: a ref or a name, and the existing directories. Output: the directory to use, or the
//! reason why there is none.

use std::path::{Path, PathBuf};

use crate::codes::sources as codes;
use rock_diagnostic::{Diagnostic, Location};
use rock_names::without_dots;

/// The directory with the patch sets of all repositories, relative to the working directory.
const ROOT: &str = "patches";

/// The requested patch set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatchSetSelection {
    /// The set with this name; its directory must exist.
    Named(String),
    /// The set that belongs to this ref or preset, if it exists.
    Fitting(String),
    /// No set: the commit is pinned, so no patches exist for it.
    Pinned,
}

/// The selected patch set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SelectedPatchSet {
    /// The directory of this name below the root.
    Found(String),
    /// No patches are applied; contains the names that were looked up.
    Absent(Vec<String>),
    /// No patches are applied to a pinned commit.
    Pinned,
}

/// Returns the default directory of the patch sets of an outer repository, relative to the working
/// directory: `patches/NAME`.
pub fn default_root(name: &str) -> PathBuf {
    Path::new(ROOT).join(name)
}

/// Looks up a patch set. `has` returns whether the root contains a directory of this name.
///
/// # Errors
/// When an explicit name leads outside the root, or no directory has that name.
pub fn look_up(
    wanted: &PatchSetSelection,
    root: &str,
    has: impl Fn(&str) -> bool,
) -> Result<SelectedPatchSet, Diagnostic> {
    match wanted {
        PatchSetSelection::Pinned => Ok(SelectedPatchSet::Pinned),
        PatchSetSelection::Named(name) => {
            check(name)?;
            if has(name) {
                return Ok(SelectedPatchSet::Found(name.clone()));
            }
            let message = format!("`{root}` has no patch set `{name}`");
            Err(Diagnostic::new(&codes::NO_PATCH_SET, message)
                .at(Location::Argument(name.clone()), "")
                .help(
                    "create the directory, or pass `--allow-empty-patchset` to continue without \
                     patches",
                ))
        }
        PatchSetSelection::Fitting(name) => {
            let names = candidates(name);
            Ok(match names.iter().find(|name| has(name)) {
                Some(found) => SelectedPatchSet::Found(found.clone()),
                None => SelectedPatchSet::Absent(names),
            })
        }
    }
}

/// Checks that a name stays below the root.
///
/// # Errors
/// When the name is empty, absolute or not normalized (with `.`, `..` or empty components),
/// contains a backslash or NUL, or starts with a drive letter.
pub fn check(name: &str) -> Result<(), Diagnostic> {
    let is_plain = !name.is_empty()
        && without_dots(name).as_deref() == Some(name)
        && !name.contains(['\\', '\0'])
        // `C:` is a drive letter.
        && name.as_bytes().get(1) != Some(&b':');
    if is_plain {
        return Ok(());
    }
    Err(Diagnostic::new(
        &codes::BAD_PATCH_SET_NAME,
        format!("`{name}` is not the name of a directory in the patch root"),
    )
    .at(Location::Argument(name.to_owned()), "")
    .help("pass the name of a directory, such as `rocm_2.7`; the root is `--patch-dir`"))
}

/// Returns the names to look up for a ref: the ref itself, and the part before its first `-`.
fn candidates(reference: &str) -> Vec<String> {
    let cut = reference.split_once('-').map(|(before, _)| before);
    [Some(reference), cut]
        .into_iter()
        .flatten()
        .filter(|name| check(name).is_ok())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{PatchSetSelection, SelectedPatchSet, look_up};

    fn fitting(reference: &str, directories: &[&str]) -> SelectedPatchSet {
        look_up(
            &PatchSetSelection::Fitting(reference.into()),
            "patches",
            |name| directories.contains(&name),
        )
        .unwrap()
    }

    fn named(name: &str, directories: &[&str]) -> Result<SelectedPatchSet, String> {
        look_up(&PatchSetSelection::Named(name.into()), "patches", |name| {
            directories.contains(&name)
        })
        .map_err(|fault| format!("{}: {}", fault.code, fault.message))
    }

    /// A ref selects its own set, or else that of its version.
    #[test]
    fn a_ref_finds_its_own_set_then_that_of_the_part_before_its_dash_and_then_none() {
        assert_eq!(
            fitting("v2.7.0", &["v2.7.0"]),
            SelectedPatchSet::Found("v2.7.0".into())
        );
        assert_eq!(
            fitting("v2.7.0-rc9", &["v2.7.0"]),
            SelectedPatchSet::Found("v2.7.0".into())
        );
        assert_eq!(
            fitting("v2.7.0-rc9", &["v2.7.0", "v2.7.0-rc9"]),
            SelectedPatchSet::Found("v2.7.0-rc9".into())
        );
        assert_eq!(
            fitting("v2.7.0-rc9-x", &["v2.7.0-rc9"]),
            SelectedPatchSet::Absent(vec!["v2.7.0-rc9-x".into(), "v2.7.0".into()])
        );
        assert_eq!(
            fitting("release/2.7", &["release/2.7"]),
            SelectedPatchSet::Found("release/2.7".into())
        );
        assert_eq!(
            fitting("main", &["v2.7.0"]),
            SelectedPatchSet::Absent(vec!["main".into()])
        );
        assert_eq!(
            fitting("../main", &["../main", ".."]),
            SelectedPatchSet::Absent(Vec::new())
        );
    }

    /// An explicit name is used unchanged and must stay below the root.
    #[test]
    fn a_named_set_must_be_there_and_must_not_lead_elsewhere() {
        assert_eq!(
            named("main", &["main"]),
            Ok(SelectedPatchSet::Found("main".into()))
        );
        assert_eq!(
            named("rocm_2.7", &["main"]).unwrap_err(),
            "C110 no-patch-set: `patches` has no patch set `rocm_2.7`"
        );
        for name in ["../x", "/etc", "a/../b", "", ".", "a//b", "a\\b", "C:/x"] {
            let error = named(name, &[name]).unwrap_err();
            assert!(
                error.starts_with("C109 bad-patch-set-name: "),
                "{name}: {error}"
            );
        }
    }

    /// No patch set exists for the commit of a pin.
    #[test]
    fn a_pinned_commit_has_no_set() {
        assert_eq!(
            look_up(&PatchSetSelection::Pinned, "patches", |_| true).unwrap(),
            SelectedPatchSet::Pinned
        );
    }
}
