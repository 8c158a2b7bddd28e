//! Finds and removes the build directories in the sources of a job.
//!
//! A directory counts as created by a build if it is called `build`, contains a marker of a build
//! tool, and git tracks nothing in it. Sources, checkouts and files added by hand are left alone.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::job_directory::{JobDirectory, OpenDirectoryError, SOURCES};
use rock_sys::{self as sys, DirectoryEntry, DirectoryEntryKind, Environment};

/// The name of build directories.
const BUILD: &str = "build";
/// Files that cmake, meson and ninja leave in a build directory.
const MARKS: [&str; 3] = ["CMakeCache.txt", "build.ninja", ".ninja_log"];
/// Prefixes of the directories that setuptools creates in a build directory.
const BEGINNINGS: [&str; 3] = ["temp.", "lib.", "bdist."];
/// Time limit for git to read its index.
const PATIENCE: Duration = Duration::from_mins(1);

/// A build directory of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BuildDirectory {
    /// The path of the directory.
    pub(crate) path: PathBuf,
    /// Its size in bytes; 0 if it is kept.
    pub(crate) bytes: u64,
    /// The reason why it is kept; `None` if it may be removed.
    pub(crate) kept: Option<&'static str>,
}

/// Returns the build directories in a job's sources, sorted: those directly in each source, and
/// those one directory below. `None` if the job has no directory.
///
/// # Errors
/// If a directory cannot be read.
pub(crate) fn build_directories(
    directory: &JobDirectory,
    environment: &Environment,
) -> Result<Option<Vec<BuildDirectory>>, OpenDirectoryError> {
    if !sys::exists(directory.path()) {
        return Ok(None);
    }
    directory.at(SOURCES).check()?;
    let mut found = Vec::new();
    for source in directories_in(&directory.path().join(SOURCES))? {
        let below = directories_in(&source)?
            .into_iter()
            .filter(|path| !path.ends_with(BUILD) && !path.ends_with(".git"));
        for parent in std::iter::once(source.clone()).chain(below) {
            let path = parent.join(BUILD);
            if sys::is_real_directory(&path) {
                let kept = kept(&source, &path, environment)?;
                let bytes = if kept.is_some() {
                    0
                } else {
                    sys::disk_usage(&path)?
                };
                found.push(BuildDirectory { path, bytes, kept });
            }
        }
    }
    Ok(Some(found))
}

/// Removes the build directories that are not kept.
///
/// # Errors
/// If a build of the job is running, or the system refuses.
pub(crate) fn remove_build_directories(
    directory: &JobDirectory,
    found: &[BuildDirectory],
) -> Result<(), OpenDirectoryError> {
    let _lock = directory.lock()?;
    for one in found.iter().filter(|one| one.kept.is_none()) {
        directory
            .at(one.path.strip_prefix(directory.path()).unwrap_or(&one.path))
            .remove()?;
    }
    Ok(())
}

/// Returns the subdirectories of a directory, without symlinks; empty if it does not exist.
fn directories_in(directory: &Path) -> Result<Vec<PathBuf>, OpenDirectoryError> {
    let entries = sys::read_entries(directory)?
        .into_iter()
        .filter(|DirectoryEntry { kind, .. }| *kind == DirectoryEntryKind::Directory);
    Ok(entries
        .map(|entry| entry.path)
        .filter(|path| sys::is_real_directory(path))
        .collect())
}

/// Returns the reason why a directory is kept, if it is.
fn kept(
    source: &Path,
    build: &Path,
    environment: &Environment,
) -> Result<Option<&'static str>, OpenDirectoryError> {
    if !has_mark(build)? {
        return Ok(Some("it does not contain files of a build tool"));
    }
    if !sys::exists(&source.join(".git")) {
        return Ok(None);
    }
    let Some(git) = sys::find_program("git", environment) else {
        return Ok(Some(
            "git is not installed, so it may belong to the sources",
        ));
    };
    let (source, build) = (source.display().to_string(), build.display().to_string());
    let answer = sys::probe(
        &git,
        &["-C", &source, "ls-files", "--", &build],
        environment,
        PATIENCE,
    );
    Ok(match (answer.succeeded, answer.first_line()) {
        (true, None) => None,
        (true, Some(_)) => Some("git tracks files in it"),
        (false, _) => Some("git did not report whether it belongs to the sources"),
    })
}

/// Whether a build tool left a marker in the directory or one level below.
fn has_mark(build: &Path) -> Result<bool, OpenDirectoryError> {
    let is_marked = |directory: &Path| MARKS.iter().any(|mark| sys::exists(&directory.join(mark)));
    let inside = directories_in(build)?;
    let of_setuptools = |path: &PathBuf| {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        BEGINNINGS
            .iter()
            .any(|beginning| name.starts_with(beginning))
    };
    Ok(is_marked(build)
        || inside
            .iter()
            .any(|path| of_setuptools(path) || is_marked(path)))
}

#[cfg(test)]
mod tests {
    use super::{BuildDirectory, build_directories};
    use crate::JobDirectory;
    use rock_sys::{self as sys, Environment};

    #[test]
    fn only_directories_that_a_build_tool_made_may_go() {
        let base = tempfile::tempdir().unwrap();
        let job = JobDirectory::new(base.path(), "torch-1").unwrap();
        let file =
            |path: &str| sys::write_atomic(&job.path().join("src").join(path), b"x").unwrap();
        file("torch/build/CMakeCache.txt");
        file("torch/setup.py");
        file("audio/build/temp.linux-x86_64-cpython-312/x.o");
        file("triton/python/build/cp312/build.ninja");
        file("vision/build/notes.txt");
        file("apex/builds/CMakeCache.txt");
        std::os::unix::fs::symlink(
            job.path().join("src/torch/build"),
            job.path().join("src/apex/build"),
        )
        .unwrap();
        let found = build_directories(&job, &Environment::default())
            .unwrap()
            .unwrap();
        let directories: Vec<(String, bool)> = found
            .iter()
            .map(|BuildDirectory { path, kept, .. }| {
                let path = path.strip_prefix(job.path()).unwrap().display().to_string();
                (path, kept.is_none())
            })
            .collect();
        let expect = [
            ("src/audio/build", true),
            ("src/torch/build", true),
            ("src/triton/python/build", true),
            ("src/vision/build", false),
        ];
        assert_eq!(
            directories,
            expect.map(|(path, is_cleaned)| (path.to_owned(), is_cleaned))
        );
        let none = JobDirectory::new(base.path(), "other").unwrap();
        assert_eq!(
            build_directories(&none, &Environment::default()).unwrap(),
            None
        );
    }

    #[test]
    fn a_directory_of_a_checkout_that_git_tracks_stays() {
        let base = tempfile::tempdir().unwrap();
        let job = JobDirectory::new(base.path(), "torch-1").unwrap();
        let source = job.path().join("src/torch");
        sys::write_atomic(&source.join("build/CMakeCache.txt"), b"x").unwrap();
        let environment = Environment::snapshot();
        let git = sys::find_program("git", &environment).unwrap();
        let directory = source.display().to_string();
        let run = |words: &[&str]| {
            let all = [&["-C", &directory, "-c", "core.hooksPath=/dev/null"], words].concat();
            assert!(
                sys::probe(&git, &all, &environment, super::PATIENCE).succeeded,
                "{words:?}"
            );
        };
        run(&["init"]);
        let kept = || build_directories(&job, &environment).unwrap().unwrap()[0].kept;
        assert_eq!(kept(), None);
        run(&["add", "-f", "build/CMakeCache.txt"]);
        assert_eq!(kept(), Some("git tracks files in it"));
        sys::write_atomic(&source.join(".git/index"), b"broken").unwrap();
        assert_eq!(
            kept(),
            Some("git did not report whether it belongs to the sources")
        );
    }
}
