//! Source trees: where the sources of torch and its companions come from (projects, named combinations, pins that a
//! checkout of torch holds, patch sets), what tree is wanted of each, and what the last checkout made.
//!
//! Input: facts, texts of files as they were read, what the user asks for, and the [`State`] that the last checkout
//! left. Output: an address and a ref for each project with what says so, and a tree as [`Wanted`].
//!
//! **Invariant:** no file is read and no program is run here; no version, address or file name of a project stands in
//! this code, all are rows of the facts.

pub mod manifest;
pub mod patch_sets;
pub mod pins;
pub mod projects;
pub mod related;
mod resolve;
mod series;
mod state;
mod wanted;

pub use resolve::{Explicit, From, PinFiles, Question, Reference, Resolved, Told, reads_related, resolve};
pub use series::{Patch, PatchSet, Series, Stage};
pub use state::{Outcome, PatchesRecord, RepositoryRecord, State, StateFault};
pub use wanted::{Discard, Hipify, Wanted};
