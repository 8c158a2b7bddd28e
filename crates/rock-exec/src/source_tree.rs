//! The state of the files in a source tree that a build copies.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use rock_compat::Compat;
use rock_plan::Plan;
use rock_plan::config::MATRICES;
use rock_plan::config::recipe::RecipeDocument;
use rock_recipe::{Build, BuildSite};
use rock_sys::process::{self, Control, Invocation, ProcessEvent, ProcessStatus, StderrTarget};
use rock_sys::{self as sys, FileError};

/// Time limit for git to list a tree.
const PATIENCE: Duration = Duration::from_mins(2);
/// Size limit of the list of ignored paths.
const MAX_IGNORED_BYTES: usize = 64 << 20;
/// Files at the top of a release that was published into the tree, and of a virtual environment
/// (PEP 405). Neither contains sources.
const MARKS: [&str; 2] = ["rock-manifest.json", "pyvenv.cfg"];
/// Environment variables that make git use another repository than that of the directory.
const OTHER_REPOSITORY: [&str; 4] = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"];

/// Lists the files of a source tree that are copied: all except those that match `left_out`, those
/// that git ignores, releases and virtual environments. Also contains the checked-out commit, which
/// a copy records for version numbers. If the text has not changed, there is nothing to copy. The
/// step that copies selects the same files (`templates/recipe/copy.py`).
///
/// # Errors
/// If a directory cannot be read.
pub fn source_listing(tree: &Path, left_out: &[String]) -> Result<String, FileError> {
    let (paths, names) = (globs(left_out, true), globs(left_out, false));
    let mut ignored = ignored_by_git(tree, Path::new(""));
    let commit = ask_git(tree, &["rev-parse", "HEAD"]).unwrap_or_default();
    let files = sys::file_listing(tree, &mut |path, is_directory| {
        let name = path.file_name().unwrap_or_default();
        if ignored.contains(path) || paths.is_match(path) || names.is_match(name) {
            return true;
        }
        if !is_directory {
            return false;
        }
        if MARKS
            .iter()
            .any(|mark| sys::exists(&tree.join(path).join(mark)))
        {
            return true;
        }
        // A submodule or a nested repository has its own ignore rules.
        if sys::exists(&tree.join(path).join(".git")) {
            ignored.extend(ignored_by_git(tree, path));
        }
        false
    })?;
    Ok(files + &String::from_utf8_lossy(&commit))
}

/// Returns the patterns that match paths from the top of a tree, which start with a slash, or those
/// that match names.
fn globs(patterns: &[String], for_paths: bool) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let (pattern, is_path) = match pattern.strip_prefix('/') {
            Some(path) => (path, true),
            None => (pattern.as_str(), false),
        };
        if let (true, Ok(glob)) = (
            is_path == for_paths,
            GlobBuilder::new(pattern).literal_separator(true).build(),
        ) {
            set.add(glob);
        }
    }
    set.build().unwrap_or_default()
}

/// Returns the paths, relative to the tree, that git ignores in a directory of it. Empty if the
/// directory is not in a repository, git is missing, or the repository around the tree ignores the
/// whole tree.
fn ignored_by_git(tree: &Path, directory: &Path) -> BTreeSet<PathBuf> {
    let place = tree.join(directory);
    if directory.as_os_str().is_empty() && ask_git(&place, &["check-ignore", "."]).is_some() {
        return BTreeSet::new();
    }
    let words = [
        "ls-files",
        "--others",
        "--ignored",
        "--exclude-standard",
        "--directory",
        "-z",
    ];
    let listed = ask_git(&place, &words).unwrap_or_default();
    let paths = listed
        .split(|byte| *byte == 0)
        .filter(|path| !path.is_empty());
    paths
        .map(|path| directory.join(OsStr::from_bytes(path.strip_suffix(b"/").unwrap_or(path))))
        .collect()
}

/// Returns the output of git for a directory; `None` if it fails.
fn ask_git(directory: &Path, words: &[&str]) -> Option<Vec<u8>> {
    let options = [
        "git",
        "-c",
        "safe.directory=*",
        "-c",
        "core.fsmonitor=false",
    ];
    let invocation = Invocation {
        argv: options
            .iter()
            .chain(words)
            .map(|&word| word.to_owned())
            .collect(),
        remove_env: OTHER_REPOSITORY.map(str::to_owned).into(),
        current_dir: directory.to_owned(),
        stderr: StderrTarget::Separate,
        ..Invocation::default()
    };
    let (begun, mut output) = (rock_sys::monotonic_now(), Vec::new());
    let status = process::run(&invocation, Duration::from_secs(1), &mut |heard| {
        if let ProcessEvent::Output(bytes) = heard {
            output.extend_from_slice(bytes);
        }
        if output.len() > MAX_IGNORED_BYTES || begun.elapsed() > PATIENCE {
            Control::Terminate
        } else {
            Control::Continue
        }
    });
    status
        .is_ok_and(|status| status == ProcessStatus::Code(0))
        .then_some(output)
}

/// Excludes the matrices directory from the source trees that a build copies, if it contains only
/// matrix files, recipes and tables: setuptools would take it for a second top-level package and
/// reject the project.
pub fn exclude_matrix_directory(build: &mut Build, site: &BuildSite, current_dir: &Path) {
    if holds_only_matrix_files(&current_dir.join(MATRICES)) {
        build.leave_out(&format!("{}/{MATRICES}", site.caller()));
    }
}

/// Describes the source trees of this machine that the jobs of a plan copy; `recipes` are those of
/// its groups, in order. All jobs of a group copy the same trees, so its first one is examined.
pub fn copied_source_trees<'r>(
    plan: &Plan,
    recipes: impl IntoIterator<Item = &'r RecipeDocument>,
    compat: &Compat,
    current_dir: &Path,
) -> BTreeSet<String> {
    let site = BuildSite::Container;
    let mut copies = BTreeSet::new();
    for (number, (group, recipe)) in plan.groups.iter().zip(recipes).enumerate() {
        let Some(job) = group.jobs(number).next() else {
            continue;
        };
        if !recipe.has_sources_of_this_machine() {
            continue;
        }
        let job = job.to_job();
        if let Ok(mut build) = rock_recipe::build(&job, recipe, compat, &site, &BTreeMap::new()) {
            exclude_matrix_directory(&mut build, &site, current_dir);
            copies.extend(build.copies());
        }
    }
    copies
}

fn holds_only_matrix_files(directory: &Path) -> bool {
    let is_known = |name: &String| {
        [".yaml", ".yml"]
            .iter()
            .any(|ending| name.ends_with(ending))
            || matches!(name.as_str(), "recipes" | "compat")
    };
    sys::entry_names(directory).is_ok_and(|names| !names.is_empty() && names.iter().all(is_known))
}

#[cfg(test)]
mod tests {
    use super::holds_only_matrix_files;
    use rock_sys as sys;

    #[test]
    fn a_package_called_matrices_is_a_source() {
        let directory = tempfile::tempdir().unwrap();
        assert!(!holds_only_matrix_files(&directory.path().join("none")));
        sys::write_atomic(&directory.path().join("own.yaml"), b"").unwrap();
        sys::write_atomic(&directory.path().join("recipes/own.yaml"), b"").unwrap();
        assert!(holds_only_matrix_files(directory.path()));
        sys::write_atomic(&directory.path().join("__init__.py"), b"").unwrap();
        assert!(!holds_only_matrix_files(directory.path()));
    }
}
