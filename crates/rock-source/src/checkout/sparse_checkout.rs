//! Sparse checkout of a few files of one commit.

use std::path::Path;

use super::error::CheckoutError;
use super::git::{GitCall, GitRunner};
use rock_sys::{Environment, Signals};

/// Creates a sparse checkout of only these files in an empty directory, at one commit without
/// history. A server that supports partial clones sends little more than the files.
///
/// # Errors
/// When the commit cannot be fetched, git fails, or a signal arrives.
pub fn fetch_files(
    directory: &Path,
    origin: &str,
    reference: &str,
    files: &[&str],
    environment: &Environment,
    signals: &Signals,
) -> Result<(), CheckoutError> {
    let git = GitRunner::new(directory, environment, signals);
    git.succeed(&GitCall::git("", &["init", "--quiet"]))?;
    git.succeed(&GitCall::git("", &["remote", "add", "origin", origin]))?;
    let words = [
        "fetch",
        "--quiet",
        "--depth=1",
        "--no-tags",
        "--filter=blob:none",
        "origin",
        reference,
    ];
    let output = git.run(&GitCall::git("", &words).long(), &mut |_| ())?;
    if !output.is_success() {
        return Err(CheckoutError::fetch(origin, reference, output));
    }
    let patterns = files.iter().map(|file| format!("/{file}"));
    let words = ["git", "sparse-checkout", "set", "--no-cone"]
        .map(str::to_owned)
        .into_iter()
        .chain(patterns);
    git.succeed(&GitCall {
        argv: words.collect(),
        ..GitCall::default()
    })?;
    git.succeed(&GitCall::git("", &["checkout", "--quiet", "--detach", "FETCH_HEAD"]).long())?;
    Ok(())
}
