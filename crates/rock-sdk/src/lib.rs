//! Lays out the Python packages of the ROCm SDK from the artifacts of a build.
//!
//! Input: the listings of artifacts, with the properties of their ELF files, and the rows of
//! `matrices/compat/sdk-packages.yaml`. Output: a [`Layout`] with the source of each file of each
//! package, and the reason for each path that is left out.
//!
//! **Invariant:** This crate does not read files, and the order in which a file system lists
//! directories has no effect.

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
