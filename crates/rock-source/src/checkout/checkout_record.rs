//! What is checked out in a folder.

use std::path::Path;

use super::error::CheckoutError;
use super::git::GitRunner;
use super::worktree_status;
use crate::{CheckoutState, FoundRepository};
use rock_sys::{Environment, Signals};

/// What was made in a folder, and what became of it since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutRecord {
    /// What the last checkout wrote down.
    pub state: CheckoutState,
    /// The outer repository and every submodule that is there.
    pub repositories: Vec<FoundRepository>,
}

/// Looks at a checkout, and changes nothing.
///
/// # Errors
/// When the folder is no checkout, or git cannot tell.
pub fn seen(
    folder: &Path,
    environment: &Environment,
    signals: &Signals,
) -> Result<CheckoutRecord, CheckoutError> {
    let git = GitRunner::new(folder, environment, signals);
    let state = worktree_status::state(&git)?
        .ok_or_else(|| CheckoutError::NoCheckout(folder.to_owned()))?;
    let repositories = worktree_status::everything(&git, Some(&state), &[])?;
    Ok(CheckoutRecord {
        state,
        repositories,
    })
}
