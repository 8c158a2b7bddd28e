//! Brings source trees to the desired state with git (fetched, with submodules, patched and
//! hipified), and saves the commits on top of upstream as patches.
//!
//! Input: a [`CheckoutSpec`], or a directory. Output: the tree with its `.rock/checkout.json`, or
//! patches.
//!
//! **Invariant:** Changes and commits of the user are discarded only on request. After an
//! interruption at any point, the same command resumes the checkout.

mod apply;
mod checkout_record;
mod error;
mod git;
mod hipify;
mod limits;
mod patch_target;
mod patches;
mod recover;
mod repository;
mod save;
mod series;
mod sparse_checkout;
mod stash;
mod worktree_status;

use std::sync::Mutex;

pub use checkout_record::{CheckoutRecord, read_record};
pub use error::CheckoutError;
pub use patch_target::PatchTargetOptions;
pub use patches::read_set;
pub use save::{PatchFileChange, PendingPatches, SavedPatches, create_patches};
pub use sparse_checkout::fetch_files;

use crate::{self as source, CheckoutOutcome, CheckoutSpec, CheckoutState, CheckoutStep};
use git::GitRunner;
use rock_diagnostic::Diagnostic;
use rock_sys::{self as sys, Environment, Signals};
use worktree_status::WorktreeStatus;

/// The state file of a checkout, relative to its directory.
pub const STATE: &str = ".rock/checkout.json";
/// The lock file of a checkout, relative to its directory.
const LOCK: &str = ".rock/checkout.lock";
/// The index with the uncommitted changes of hipify, in the git directory of a repository.
const HIPIFIED_INDEX: &str = "rock-hipified.index";

/// A progress event of a checkout.
#[derive(Debug, Clone, Copy)]
pub enum CheckoutEvent<'a> {
    /// A step starts.
    Step {
        /// The number of the step, from 1.
        number: usize,
        /// The total number of steps.
        of: usize,
        /// The description of the step.
        title: &'a str,
    },
    /// A command starts in a repository.
    Command(&'a str, &'a [String]),
    /// A program wrote a line to stderr.
    Line(&'a str),
    /// A diagnostic was reported.
    Diagnostic(&'a Diagnostic),
    /// Time has passed without output.
    Tick,
}

/// A callback for the events of a checkout.
pub type CheckoutListener<'a> = dyn FnMut(CheckoutEvent<'_>) + Send + 'a;

/// The result of a successful checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckoutResult {
    /// The new state of the checkout.
    pub state: CheckoutState,
    /// Whether the tree was already up to date.
    pub was_up_to_date: bool,
}

/// Returns the steps that a checkout would take; empty if the tree is up to date.
///
/// # Errors
/// When the checkout would be refused, or the current state cannot be determined.
pub fn plan(
    wanted: &CheckoutSpec,
    environment: &Environment,
    signals: &Signals,
) -> Result<Vec<CheckoutStep>, CheckoutError> {
    let git = GitRunner::new(&wanted.directory, environment, signals);
    match worktree_status::read_status(&git, wanted)? {
        WorktreeStatus::UpToDate(_) => Ok(Vec::new()),
        WorktreeStatus::Differs(facts) => {
            source::steps(wanted, &facts).map_err(CheckoutError::Refused)
        }
    }
}

/// Brings a directory to the desired state.
///
/// # Errors
/// When user changes would be lost, another run uses the directory, a step fails, or a signal
/// arrives.
pub fn check_out(
    wanted: &CheckoutSpec,
    environment: &Environment,
    signals: &Signals,
    listener: &mut CheckoutListener<'_>,
) -> Result<CheckoutResult, CheckoutError> {
    let git = GitRunner::new(&wanted.directory, environment, signals);
    // A refused first checkout leaves the directory untouched.
    let has_state = sys::exists(&wanted.directory.join(STATE));
    if !has_state
        && let WorktreeStatus::Differs(facts) = worktree_status::read_status(&git, wanted)?
    {
        source::steps(wanted, &facts).map_err(CheckoutError::Refused)?;
    }
    repository::exclude(&wanted.directory)?;
    let lock = sys::try_lock(&wanted.directory.join(LOCK))?;
    let _lock = lock.ok_or_else(|| CheckoutError::Busy(wanted.directory.clone()))?;
    let before = worktree_status::state(&git)?;
    if before
        .as_ref()
        .is_some_and(|state| state.outcome == CheckoutOutcome::Begun)
    {
        recover::recover(&git)?;
    }
    match worktree_status::read_status(&git, wanted)? {
        WorktreeStatus::UpToDate(facts) => apply::confirm(&git, wanted, &facts),
        WorktreeStatus::Differs(facts) => {
            let steps = source::steps(wanted, &facts).map_err(CheckoutError::Refused)?;
            apply::CheckoutRun::new(&git, wanted, facts, Mutex::new(listener)).all(&steps)
        }
    }
}
