//! Cleans up after a killed run: processes, locks, and incomplete repositories.

use std::path::Path;
use std::time::Duration;

use super::error::CheckoutError;
use super::git::{GitCall, GitRunner, MARK};
use super::repository;
use rock_sys::{self as sys, FileError};

/// The time that processes of a killed run get to end.
const GRACE: Duration = Duration::from_secs(10);
/// Lock files that git leaves in a git directory when it is killed.
const LOCKS: [&str; 6] = [
    "index.lock",
    "HEAD.lock",
    "config.lock",
    "shallow.lock",
    "packed-refs.lock",
    "rock-hipified.index.lock",
];

/// Stops running processes and removes locks and incomplete clones that cannot be resumed. Files of
/// the worktrees stay unchanged.
pub(super) fn recover(git: &GitRunner<'_>) -> Result<(), CheckoutError> {
    let directory = git.directory("");
    sys::process::terminate_marked(MARK, &directory.display().to_string(), GRACE);
    let Some(outer) = repository::git_directory(&directory) else {
        return Ok(());
    };
    unlock(&outer)?;
    for module in repository::module_directories(&directory)? {
        unlock(&module)?;
        // A clone has a head once it is complete. Without one it contains no work.
        let place = module.display().to_string();
        let call = GitCall::git(
            "",
            &[
                "--git-dir",
                &place,
                "rev-parse",
                "--verify",
                "--quiet",
                "HEAD^{commit}",
            ],
        );
        if !git.run(&call, &mut |_| ())?.is_success() {
            sys::remove(&module)?;
        }
    }
    // Their worktrees must be cloned again.
    for path in repository::submodules(git)? {
        let submodule = directory.join(&path);
        let is_lost = repository::git_directory(&submodule).is_some_and(|git| !sys::exists(&git));
        if is_lost && sys::entry_names(&submodule)? == [".git"] {
            sys::remove(&submodule.join(".git"))?;
        }
    }
    Ok(())
}

fn unlock(git_directory: &Path) -> Result<(), FileError> {
    for lock in LOCKS {
        sys::remove(&git_directory.join(lock))?;
    }
    let tags = git_directory.join("refs/tags");
    for name in sys::entry_names(&tags)?
        .iter()
        .filter(|name| name.starts_with("THEROCK_") && is_lock(name))
    {
        sys::remove(&tags.join(name))?;
    }
    // Fetched but not indexed.
    let packs = git_directory.join("objects/pack");
    for name in sys::entry_names(&packs)?
        .iter()
        .filter(|name| name.starts_with("tmp_"))
    {
        sys::remove(&packs.join(name))?;
    }
    Ok(())
}

fn is_lock(name: &str) -> bool {
    name.strip_suffix(".lock")
        .is_some_and(|tag| !tag.is_empty())
}
