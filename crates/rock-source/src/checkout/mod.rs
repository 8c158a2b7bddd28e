//! Makes source trees what they are wanted to be, by git: fetched, with submodules, patched and
//! hipified; and saves the commits above upstream as patches again.
//!
//! Input: a [`CheckoutSpec`], or a folder. Output: the tree with its `.rock/checkout.json`, or patches.
//!
//! **Invariant:** nothing that a person changed or committed is lost without a wish for it; a run
//! that is ended at any moment is gone on from by the same command.

mod apply;
mod checkout_record;
mod error;
mod git;
mod hipify;
mod limits;
mod patches;
mod recover;
mod repository;
mod save;
mod series;
mod sparse_checkout;
mod stash;
mod worktree_status;

use std::sync::Mutex;

pub use checkout_record::{CheckoutRecord, seen};
pub use error::CheckoutError;
pub use patches::read_set;
pub use save::{PatchFileChange, PatchTarget, PendingPatches, SavedPatches, patches};
pub use sparse_checkout::glimpse;

use crate::{self as source, CheckoutOutcome, CheckoutSpec, CheckoutState, CheckoutStep};
use git::GitRunner;
use rock_diagnostic::Diagnostic;
use rock_sys::{self as sys, Environment, Signals};
use worktree_status::WorktreeStatus;

/// The state of a checkout, below its folder.
pub const STATE: &str = ".rock/checkout.json";
/// The lock of a checkout, below its folder.
const LOCK: &str = ".rock/checkout.lock";
/// The index that has what hipify changed without a commit, in the git folder of a repository.
const HIPIFIED_INDEX: &str = "rock-hipified.index";

/// What is told while a checkout runs.
#[derive(Debug, Clone, Copy)]
pub enum CheckoutEvent<'a> {
    /// A step begins.
    Step {
        /// Its number, from 1.
        number: usize,
        /// How many there are.
        of: usize,
        /// What it does.
        title: &'a str,
    },
    /// A command is run in a repository.
    Command(&'a str, &'a [String]),
    /// A program said this.
    Line(&'a str),
    /// Something to look at.
    Told(&'a Diagnostic),
    /// Time went by.
    Tick,
}

/// Who is told.
pub type CheckoutListener<'a> = dyn FnMut(CheckoutEvent<'_>) + Send + 'a;

/// How a checkout ended well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutResult {
    /// What was made.
    pub state: CheckoutState,
    /// Whether it was there already.
    pub was_there: bool,
}

/// The steps that a checkout would take; none where nothing is to be done.
///
/// # Errors
/// When it would be refused, or what is there cannot be told.
pub fn plan(
    wanted: &CheckoutSpec,
    environment: &Environment,
    signals: &Signals,
) -> Result<Vec<CheckoutStep>, CheckoutError> {
    let git = GitRunner::new(&wanted.folder, environment, signals);
    match worktree_status::look(&git, wanted)? {
        WorktreeStatus::UpToDate(_) => Ok(Vec::new()),
        WorktreeStatus::Differs(facts) => {
            source::steps(wanted, &facts).map_err(CheckoutError::Refused)
        }
    }
}

/// Makes a folder what is wanted.
///
/// # Errors
/// When something of the user's would be lost, a step fails, or a signal comes.
pub fn check_out(
    wanted: &CheckoutSpec,
    environment: &Environment,
    signals: &Signals,
    tell: &mut CheckoutListener<'_>,
) -> Result<CheckoutResult, CheckoutError> {
    let git = GitRunner::new(&wanted.folder, environment, signals);
    // What is refused leaves no trace, where nothing of ours was before.
    let has_state = sys::exists(&wanted.folder.join(STATE));
    if !has_state && let WorktreeStatus::Differs(facts) = worktree_status::look(&git, wanted)? {
        source::steps(wanted, &facts).map_err(CheckoutError::Refused)?;
    }
    repository::exclude(&wanted.folder)?;
    let lock = sys::try_lock(&wanted.folder.join(LOCK))?;
    let _lock = lock.ok_or_else(|| CheckoutError::Busy(wanted.folder.clone()))?;
    let before = worktree_status::state(&git)?;
    if before
        .as_ref()
        .is_some_and(|state| state.outcome == CheckoutOutcome::Begun)
    {
        recover::recover(&git)?;
    }
    match worktree_status::look(&git, wanted)? {
        WorktreeStatus::UpToDate(facts) => apply::confirm(&git, wanted, &facts),
        WorktreeStatus::Differs(facts) => {
            let steps = source::steps(wanted, &facts).map_err(CheckoutError::Refused)?;
            apply::CheckoutRun::new(&git, wanted, facts, Mutex::new(tell)).all(&steps)
        }
    }
}
