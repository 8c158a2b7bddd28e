//! A repository on disk: its git directory, head, and submodules.

use std::path::{Path, PathBuf};

use super::error::CheckoutError;
use super::git::{GitCall, GitRunner};
use super::limits::{LARGEST_GIT_FILE_BYTES, LARGEST_REFLOG_BYTES};
use crate::{GitOperation, is_commit_hash, submodule_settings};
use rock_names::without_dots;
use rock_sys as sys;

/// The pattern that excludes the directory of this program.
const EXCLUDED: &str = "/.rock/";

/// Returns the git directory of a worktree: `.git`, or the target of the file of that name.
pub(super) fn git_directory(directory: &Path) -> Option<PathBuf> {
    let dot = directory.join(".git");
    if !sys::is_file(&dot) {
        return sys::exists(&dot).then_some(dot);
    }
    let text = sys::read_text(&dot, LARGEST_GIT_FILE_BYTES).ok()?;
    Some(directory.join(text.strip_prefix("gitdir:")?.trim()))
}

/// Returns the commit of the head. A detached head is read from its file, otherwise git is called.
pub(super) fn head(git: &GitRunner<'_>, repository: &str) -> Result<String, CheckoutError> {
    let directory = git.directory(repository);
    let text = git_directory(&directory)
        .and_then(|directory| sys::read_text(&directory.join("HEAD"), LARGEST_GIT_FILE_BYTES).ok());
    match text
        .map(|text| text.trim().to_owned())
        .filter(|text| is_commit_hash(text))
    {
        Some(hash) => Ok(hash),
        None => Ok(git
            .succeed(&GitCall::git(
                repository,
                &["rev-parse", "--verify", "HEAD"],
            ))?
            .line()),
    }
}

/// Returns the reflog of the head; empty if it is missing or cannot be read.
pub(super) fn reflog(directory: &Path) -> String {
    let text = git_directory(directory)
        .map(|directory| sys::read_bytes(&directory.join("logs/HEAD"), LARGEST_REFLOG_BYTES));
    text.and_then(Result::ok)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .unwrap_or_default()
}

/// Returns the operation in progress, if there is one.
pub(super) fn session(directory: &Path) -> Option<GitOperation> {
    let directory = git_directory(directory)?;
    match () {
        () if sys::exists(&directory.join("rebase-apply/applying")) => Some(GitOperation::Apply),
        () if sys::exists(&directory.join("rebase-apply"))
            || sys::exists(&directory.join("rebase-merge")) =>
        {
            Some(GitOperation::Rebase)
        }
        () => None,
    }
}

/// Returns the checked-out submodules of a repository: name and relative path, sorted by path.
pub(super) fn submodules_of(
    git: &GitRunner<'_>,
    repository: &str,
) -> Result<Vec<(String, String)>, CheckoutError> {
    let directory = git.directory(repository);
    if !sys::is_file(&directory.join(".gitmodules")) {
        return Ok(Vec::new());
    }
    let words = [
        "config",
        "--file",
        ".gitmodules",
        "--null",
        "--get-regexp",
        r"^submodule\..*\.path$",
    ];
    let call = GitCall::git(repository, &words);
    let output = git.run(&call, &mut |_| ())?;
    match output.status {
        // There are no matching keys.
        sys::process::ProcessStatus::Code(1) => return Ok(Vec::new()),
        _ if !output.is_success() => return Err(CheckoutError::git(&call, output)),
        _ => {}
    }
    let mut found = submodule_settings(&output.stdout);
    let is_there = |path: &str| {
        without_dots(path).as_deref() == Some(path)
            && sys::exists(&directory.join(path).join(".git"))
    };
    found.retain(|(_, path)| is_there(path));
    found.sort_by(|a, b| a.1.cmp(&b.1));
    found.dedup_by(|a, b| a.1 == b.1);
    Ok(found)
}

/// Returns all checked-out submodules, each followed by its own, as paths below the directory.
pub(super) fn submodules(git: &GitRunner<'_>) -> Result<Vec<String>, CheckoutError> {
    let mut found = Vec::new();
    below(git, "", &mut found)?;
    Ok(found)
}

fn below(
    git: &GitRunner<'_>,
    repository: &str,
    found: &mut Vec<String>,
) -> Result<(), CheckoutError> {
    for (_, path) in submodules_of(git, repository)? {
        let path = if repository.is_empty() {
            path
        } else {
            format!("{repository}/{path}")
        };
        found.push(path.clone());
        below(git, &path, found)?;
    }
    Ok(())
}

/// Returns all git directories below `.git/modules`.
pub(super) fn module_directories(directory: &Path) -> Result<Vec<PathBuf>, sys::FileError> {
    let mut found = Vec::new();
    let mut unseen: Vec<PathBuf> = git_directory(directory)
        .map(|git| git.join("modules"))
        .into_iter()
        .collect();
    while let Some(directory) = unseen.pop() {
        for entry in sys::read_entries(&directory)? {
            if entry.kind != sys::DirectoryEntryKind::Directory {
                continue;
            }
            if sys::exists(&entry.path.join("objects")) || sys::exists(&entry.path.join("HEAD")) {
                unseen.push(entry.path.join("modules"));
                found.push(entry.path);
            } else {
                unseen.push(entry.path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Excludes the directory of this program from git.
pub(super) fn exclude(directory: &Path) -> Result<(), sys::FileError> {
    let Some(git) = git_directory(directory) else {
        return Ok(());
    };
    // A linked worktree uses the excludes of the main repository.
    let shared = sys::read_text(&git.join("commondir"), LARGEST_GIT_FILE_BYTES)
        .map(|text| git.join(text.trim()));
    let file = shared.unwrap_or(git).join("info/exclude");
    let text = if sys::is_file(&file) {
        sys::read_text(&file, LARGEST_GIT_FILE_BYTES)?
    } else {
        String::new()
    };
    if text.lines().any(|line| line == EXCLUDED) {
        return Ok(());
    }
    let gap = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    sys::write_unsynced(&file, format!("{text}{gap}{EXCLUDED}\n").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::{LARGEST_REFLOG_BYTES, reflog};
    use rock_sys as sys;

    #[test]
    fn a_reflog_at_the_limit_is_read_and_a_larger_one_is_not() {
        let directory = tempfile::tempdir().unwrap();
        let logs = directory.path().join(".git/logs");
        sys::create_directory(&logs).unwrap();
        let read = |bytes: u64| {
            let head = tempfile::Builder::new()
                .prefix("HEAD")
                .rand_bytes(0)
                .tempfile_in(&logs)
                .unwrap();
            head.as_file().set_len(bytes).unwrap();
            reflog(directory.path()).len() as u64
        };
        assert_eq!(read(LARGEST_REFLOG_BYTES), LARGEST_REFLOG_BYTES);
        assert_eq!(read(LARGEST_REFLOG_BYTES + 1), 0);
    }
}
