//! Makes source trees what they are wanted to be, by git: fetched, with submodules, patched and
//! hipified; and saves the commits above upstream as patches again.
//!
//! Input: a [`Wanted`], or a folder. Output: the tree with its `.rock/checkout.json`, or patches.
//!
//! **Invariant:** nothing that a person changed or committed is lost without a wish for it; a run
//! that is ended at any moment is gone on from by the same command.

mod apply;
mod fault;
mod git;
mod glimpse;
mod hipify;
mod limits;
mod look;
mod patches;
mod recover;
mod repository;
mod save;
mod seen;
mod series;
mod stash;

use std::sync::Mutex;

pub use fault::CheckoutFault;
pub use glimpse::glimpse;
pub use patches::read_set;
pub use save::{Change, Saved, Target, Unsaved, patches};
pub use seen::{Seen, seen};

use crate::{self as source, Outcome, State, Step, Wanted};
use git::Git;
use look::Looked;
use rock_diagnostic::Diagnostic;
use rock_sys::{self as sys, Environment, Signals};

/// The state of a checkout, below its folder.
pub const STATE: &str = ".rock/checkout.json";
/// The lock of a checkout, below its folder.
const LOCK: &str = ".rock/checkout.lock";
/// The index that has what hipify changed without a commit, in the git folder of a repository.
const HIPIFIED_INDEX: &str = "rock-hipified.index";

/// What is told while a checkout runs.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
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
pub type Listener<'a> = dyn FnMut(Event<'_>) + Send + 'a;

/// How a checkout ended well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// What was made.
    pub state: State,
    /// Whether it was there already.
    pub was_there: bool,
}

/// The steps that a checkout would take; none where nothing is to be done.
///
/// # Errors
/// When it would be refused, or what is there cannot be told.
pub fn plan(
    wanted: &Wanted,
    environment: &Environment,
    signals: &Signals,
) -> Result<Vec<Step>, CheckoutFault> {
    let git = Git::new(&wanted.folder, environment, signals);
    match look::look(&git, wanted)? {
        Looked::UpToDate(_) => Ok(Vec::new()),
        Looked::Differs(facts) => source::steps(wanted, &facts).map_err(CheckoutFault::Refused),
    }
}

/// Makes a folder what is wanted.
///
/// # Errors
/// When something of the user's would be lost, a step fails, or a signal comes.
pub fn check_out(
    wanted: &Wanted,
    environment: &Environment,
    signals: &Signals,
    tell: &mut Listener<'_>,
) -> Result<Made, CheckoutFault> {
    let git = Git::new(&wanted.folder, environment, signals);
    // What is refused leaves no trace, where nothing of ours was before.
    let has_state = sys::exists(&wanted.folder.join(STATE));
    if !has_state && let Looked::Differs(facts) = look::look(&git, wanted)? {
        source::steps(wanted, &facts).map_err(CheckoutFault::Refused)?;
    }
    repository::exclude(&wanted.folder)?;
    let lock = sys::try_lock(&wanted.folder.join(LOCK))?;
    let _lock = lock.ok_or_else(|| CheckoutFault::Busy(wanted.folder.clone()))?;
    let before = look::state(&git)?;
    if before
        .as_ref()
        .is_some_and(|state| state.outcome == Outcome::Begun)
    {
        recover::recover(&git)?;
    }
    match look::look(&git, wanted)? {
        Looked::UpToDate(facts) => apply::confirm(&git, wanted, &facts),
        Looked::Differs(facts) => {
            let steps = source::steps(wanted, &facts).map_err(CheckoutFault::Refused)?;
            apply::Run::new(&git, wanted, facts, Mutex::new(tell)).all(&steps)
        }
    }
}
