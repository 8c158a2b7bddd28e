//! The Python packages of the ROCm SDK: which file of which artifact goes into which package, and
//! in what shape.
//!
//! Input: the listings of artifacts with what the head of each ELF file tells, and the rows of
//! `matrices/compat/sdk-packages.yaml`. Output: a [`Layout`], in which every file of every package
//! stands with where its bytes come from, and every path that is left out with the reason.
//!
//! **Invariant:** nothing is read here; the order in which a file system lists folders changes
//! nothing.

pub mod codes;

mod alias;
mod artifact;
pub mod bucket;
mod case;
mod declared;
mod devel;
mod fill;
mod foreign;
mod layout;
pub mod limits;
mod place;
pub mod python;
mod resolve;
mod search;
mod select;
mod shape;
pub mod stub;
mod targets;
mod told;
pub mod verify;
pub mod version;

pub use alias::Alias;
pub use artifact::{Artifact, Entry, EntryKind, FileFacts, Shape};
pub use declared::{DeclaredError, declared_families};
pub use devel::{DevelEntry, DevelKind, DevelTree, devel_trees};
pub use foreign::refuse_foreign;
pub use layout::{
    Layout, Mode, Overlap, Package, PackageKind, SELECTOR, Wish, is_package, lay_out, shown,
};
pub use place::{Content, Dropped, Origin, Placed};
pub use search::search_path;
pub use select::globs;
pub use targets::{base_target, expand, words};
pub use told::{Sameness, overlaps, spellings, told};
