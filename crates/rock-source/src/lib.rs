//! Selects and checks out the sources of torch and its companions.
//!
//! Input: compatibility data, the texts of files, the options of the user, the [`State`] of the
//! last checkout, and the output of git. Output: the repository and ref of each project with the
//! origin of these values, the desired worktree as [`Wanted`], and the [`Step`]s to get there, or
//! the user's work that would be lost.
//!
//! **Invariant:** Only the module [`checkout`] runs git and reads files. Versions and addresses of
//! projects are rows of compatibility data.

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
