//! Reconciles a release on GitHub with its desired state.
//!
//! Input: a [`DesiredRelease`], the releases as last observed, and the changes this run made since
//! ([`ObservedOverlay`]). Output: a [`Reconciliation`]: the next steps, refusals, or that nothing
//! is left to do. A publish observes and reconciles in turns, so a run that was killed at any
//! moment leaves a state that the next run resumes from.
//!
//! **Invariant:** A release is published only when every desired file is present under its name
//! with its size and digest. A file with different content is replaced in a draft that a run
//! created, elsewhere only on request. Generated files are the exception
//! ([`generated`](crate::DesiredFile::generated)): one that differs is replaced in every release
//! that may be changed, even if somebody else uploaded it. Files that are not desired are left
//! alone; a leftover of an earlier run is recognized by its temporary name together with its
//! digest. A published release, including its metadata, is changed only if the policy allows it.

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
pub use reconcile::{
    DeleteReason, PublishStep, Reconciliation, StepKey, immutable_refusal, reconcile, standing,
};
pub use refusal::ReleaseRefusal;

#[cfg(test)]
mod tests;
