//! Selects and checks out the sources of torch and its companions.
//!
//! Input: compatibility data, the contents of files, command-line options, the [`CheckoutState`] of
//! the last checkout, and the output of git. Output: the repository and ref of each project with
//! the origin of these values, the desired worktree as a [`CheckoutSpec`], and the
//! [`CheckoutStep`]s that produce it, or diagnostics about user changes that would be lost.
//!
//! **Invariant:** Only the module [`checkout`] runs git and reads files. Versions and URLs of
//! projects are rows of compatibility data.

pub mod checkout;
pub mod cmake;
pub mod codes;

mod checkout_spec;
mod commit_range;
mod decide;
mod git_output;
pub mod manifest;
pub mod patch_sets;
pub mod pins;
pub mod projects;
pub mod related;
mod resolve;
mod series;
mod state;
mod step;

pub use checkout_spec::{CheckoutSpec, DiscardPolicy, HipifyMode};
pub use commit_range::{CommitRange, NoLine, RangeBounds};
pub use decide::{
    CheckoutFacts, FolderKind, FoundRepository, LocalCommit, is_up_to_date, known_commit, named,
    shown, steps,
};
pub use git_output::{
    GitStatus, REFLOG_MARK, bad_reference, commit_of, is_commit_hash, made_by_us,
    submodule_settings,
};
pub use resolve::{
    ExplicitSelection, PinFiles, ProjectQuery, ResolvedProject, SourceRef, Sourced, ValueOrigin,
    reads_related, resolve,
};
pub use series::{PatchFile, PatchSeries, PatchSet, PatchStage};
pub use state::{
    CheckoutOutcome, CheckoutState, CheckoutStateError, PatchesRecord, RepositoryRecord,
};
pub use step::{
    CheckoutCommand, CheckoutStep, CommandPlace, GitOperation, HIPIFY_MESSAGE, HIPIFY_SCRIPT,
    HIPIFY_TAG, UPSTREAM_TAG,
};
