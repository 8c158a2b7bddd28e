//! Source trees as they are wanted and as they were made: a commit of a repository with its submodules, and patches on
//! top of it before and after hipify.
//!
//! Input: what was asked for as [`Wanted`], and the [`State`] that the last checkout left. Output: what is to be done
//! about the difference.
//!
//! **Invariant:** no file is read and no program is run here.

mod series;
mod state;
mod wanted;

pub use series::{Patch, PatchSet, Series, Stage};
pub use state::{Outcome, PatchesRecord, RepositoryRecord, State, StateFault};
pub use wanted::{Discard, Hipify, Wanted};
