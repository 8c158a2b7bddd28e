//! What a release on GitHub lacks, as the next steps.
//!
//! Input: a [`DesiredRelease`], the releases as they were last seen, and what this run learned itself
//! ([`ObservedOverlay`]). Output: [`Reconciliation`]: steps, refusals, or that all is done. A publish is these two in
//! turns until nothing is left to do, so that a run that was killed at any moment is only another
//! state to go on from.
//!
//! **Invariant:** a release is published only when every wanted file is there under its name with
//! its size and digest; a file with other bytes is replaced in a draft that a run made, elsewhere
//! only where that was asked for; files that nobody wanted are left alone; what is published
//! already is written to, text and all, only where that was allowed.

mod asset_diff;
mod desired;
mod observed;
mod partition;
mod reconcile;
mod refusal;

pub use asset_diff::LONGEST_NAME_BYTES;
pub(super) use desired::is_marked;
pub use desired::{
    DesiredRelease, MakeLatest, PublishPolicy, ReleaseDescription, continued_tag, is_own_draft,
};
pub use observed::{ListingContradiction, ObservedOverlay};
pub use partition::{ReleasePart, partition_assets};
pub use reconcile::{DeleteReason, PublishStep, Reconciliation, locked, reconcile, standing};
pub use refusal::ReleaseRefusal;

#[cfg(test)]
mod tests;
