//! What is checked out in a folder.

use std::path::Path;

use super::fault::CheckoutFault;
use super::git::Git;
use super::look;
use crate::{Found, State};
use rock_sys::{Environment, Signals};

/// What was made in a folder, and what became of it since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// What the last checkout wrote down.
    pub state: State,
    /// The outer repository and every submodule that is there.
    pub repositories: Vec<Found>,
}

/// Looks at a checkout, and changes nothing.
///
/// # Errors
/// When the folder is no checkout, or git cannot tell.
pub fn seen(
    folder: &Path,
    environment: &Environment,
    signals: &Signals,
) -> Result<Seen, CheckoutFault> {
    let git = Git::new(folder, environment, signals);
    let state = look::state(&git)?.ok_or_else(|| CheckoutFault::NoCheckout(folder.to_owned()))?;
    let repositories = look::everything(&git, Some(&state), &[])?;
    Ok(Seen {
        state,
        repositories,
    })
}
