//! Source trees: where the sources of torch and its companions come from (projects, named
//! combinations, pins that a checkout of torch holds, patch sets), what tree is wanted of each,
//! what the last checkout made, and the steps from the one to the other.
//!
//! Input: facts, texts of files as they were read, what the user asks for, the [`State`] that the
//! last checkout left, and what git tells of the repositories that are there. Output: an address
//! and a ref for each project with what says so, a tree as [`Wanted`], and its [`Step`]s, or what
//! of the user's would be lost.
//!
//! **Invariant:** no file is read and no program is run here; no version and no address of a
//! project stands in this code, all are rows of the facts.

pub mod checkout;
pub mod cmake;
pub mod codes;

mod decide;
mod line;
pub mod manifest;
pub mod patch_sets;
pub mod pins;
pub mod projects;
pub mod related;
mod resolve;
mod series;
mod state;
mod step;
mod told;
mod wanted;

pub use decide::{
    Above, Facts, FolderKind, Found, is_up_to_date, known_commit, named, shown, steps,
};
pub use line::{Line, NoLine, Range};
pub use resolve::{
    Explicit, From, PinFiles, Question, Reference, Resolved, Told, reads_related, resolve,
};
pub use series::{Patch, PatchSet, Series, Stage};
pub use state::{Outcome, PatchesRecord, RepositoryRecord, State, StateFault};
pub use step::{
    HIPIFY_MESSAGE, HIPIFY_SCRIPT, HIPIFY_TAG, Order, Place, Session, Step, UPSTREAM_TAG,
};
pub use told::{
    REFLOG_MARK, Status, bad_reference, commit_of, is_commit_hash, made_by_us, submodule_settings,
};
pub use wanted::{Discard, Hipify, Wanted};
