//! The current state of a checkout directory.

use std::path::Path;

use super::error::CheckoutError;
use super::git::GitRunner;
use super::worktree_status;
use crate::{CheckoutState, FoundRepository};
use rock_sys::{Environment, Signals};

/// The last checkout of a directory, and the current state of its repositories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutRecord {
    /// The state file of the last checkout.
    pub state: CheckoutState,
    /// The outer repository and every existing submodule.
    pub repositories: Vec<FoundRepository>,
}

/// Reads the state of a checkout without changing anything.
///
/// # Errors
/// When the directory is not a checkout, or git fails.
pub fn read_record(
    directory: &Path,
    environment: &Environment,
    signals: &Signals,
) -> Result<CheckoutRecord, CheckoutError> {
    let git = GitRunner::new(directory, environment, signals);
    let state = worktree_status::state(&git)?
        .ok_or_else(|| CheckoutError::NoCheckout(directory.to_owned()))?;
    let repositories = worktree_status::everything(&git, Some(&state), &[])?;
    Ok(CheckoutRecord {
        state,
        repositories,
    })
}
