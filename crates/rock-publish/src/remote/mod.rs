//! What a release on GitHub lacks, as the next steps.
//!
//! Input: a [`Goal`], the releases as they were last seen, and what this run learned itself
//! ([`Memory`]). Output: [`Next`]: steps, refusals, or that all is done. A publish is these two in
//! turns until nothing is left to do, so that a run that was killed at any moment is only another
//! state to go on from.
//!
//! **Invariant:** a release is published only when every wanted file is there under its name with
//! its size and digest; a file with other bytes is replaced in a draft that a run made, elsewhere
//! only where that was asked for; files that nobody wanted are left alone; what is published
//! already is written to, text and all, only where that was allowed.

mod files;
mod goal;
mod memory;
mod next;
mod refusal;
mod spread;

pub use files::LONGEST_NAME_BYTES;
pub(super) use goal::is_marked;
pub use goal::{Allowed, Description, Goal, MakeLatest, continued_tag, is_own_draft};
pub use memory::{Contradiction, Memory};
pub use next::{DeleteReason, Next, Step, locked, next, standing};
pub use refusal::Refusal;
pub use spread::{Share, spread};

#[cfg(test)]
mod tests;
