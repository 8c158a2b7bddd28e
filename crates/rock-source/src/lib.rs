//! Selects and checks out the sources of torch and its companions.
//!
//! Input: compatibility data, the contents of files, command-line options, the [`CheckoutState`] of
//! the last checkout, and the output of git. Output: the repository and ref of each project with
//! the origin of these values, the desired worktree as a [`CheckoutSpec`], and the
//! [`CheckoutStep`]s that produce it, or diagnostics about user changes that would be lost.
//!
//! [`SourcePlan`] lists the sources of projects, [`CheckoutOptions`] resolves the trees that
//! [`checkout`] makes, [`SourceLock`] makes a manifest of them, and [`PinReport`] lists the pins of
//! a torch checkout. A plan needs nothing but compatibility data:
//!
//! ```
//! use rock_compat::Compat;
//! use rock_source::{ExplicitSelection, ProjectSelection, SourcePlan};
//!
//! let temporary = tempfile::tempdir()?;
//! let (plan, warnings) = SourcePlan::resolve(
//!     &ProjectSelection::new("linux"),
//!     &["audio".to_owned()],
//!     &ExplicitSelection {
//!         reference: Some("v2.9.0".to_owned()),
//!         ..ExplicitSelection::default()
//!     },
//!     None,
//!     &Compat::embedded(),
//!     temporary.path(),
//! )?;
//! assert_eq!(plan.projects()[0].directory, "pytorch_audio");
//! assert_eq!(plan.projects()[0].reference.value.as_deref(), Some("v2.9.0"));
//! assert!(warnings.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Invariant:** Only [`checkout`] changes anything outside of memory; the entry points above read
//! files and ask git, and everything below them gets texts. Versions and URLs of projects are rows
//! of compatibility data.

pub mod checkout;
pub mod cmake;
pub mod codes;

mod checkout_options;
mod checkout_spec;
mod commit_range;
mod decide;
mod git_output;
mod git_query;
mod limits;
pub mod manifest;
mod manifest_checkout;
pub mod patch_sets;
mod pin_report;
pub mod pins;
pub mod projects;
pub mod related;
mod resolve;
mod selection;
mod series;
mod source_lock;
mod source_plan;
mod state;
mod step;

pub use checkout_options::{CheckoutOptions, RepositoryCheckout};
pub use checkout_spec::{CheckoutSpec, DiscardPolicy, HipifyMode};
pub use commit_range::{CommitRange, NoLine, RangeBounds};
pub use decide::{
    CheckoutFacts, DirectoryKind, FoundRepository, LocalCommit, is_up_to_date, known_commit, named,
    shown, steps,
};
pub use git_output::{
    GitStatus, REFLOG_MARK, bad_reference, commit_of, is_commit_hash, made_by_us,
    submodule_settings,
};
pub use limits::LARGEST_MANIFEST_BYTES;
pub use manifest_checkout::ManifestCheckout;
pub use pin_report::{
    AotritonArchive, AotritonPin, PinReport, PinReportOptions, PinValue, RelatedPin,
};
pub use resolve::{
    ExplicitSelection, PinFiles, ProjectQuery, ResolvedProject, SourceRef, Sourced, ValueOrigin,
    reads_related, resolve,
};
pub use selection::{DEFAULT_RELATED_OS, ProjectSelection, SelectedProjects};
pub use series::{PatchFile, PatchSeries, PatchSet, PatchStage};
pub use source_lock::{LockOptions, SourceLock};
pub use source_plan::{PlannedProject, PlannedValue, SourcePlan};
pub use state::{
    CheckoutOutcome, CheckoutState, CheckoutStateError, PatchesRecord, RepositoryRecord,
};
pub use step::{
    CheckoutCommand, CheckoutStep, CommandPlace, GitOperation, HIPIFY_MESSAGE, HIPIFY_SCRIPT,
    HIPIFY_TAG, UPSTREAM_TAG,
};
