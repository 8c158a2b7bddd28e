//! Lays out the Python packages of the ROCm SDK from the artifacts of a build.
//!
//! Input: the listings of artifacts, with the properties of their ELF files, and the rows of
//! `matrices/compat/sdk-packages.yaml`. Output: a [`PackageLayout`] with the source of each file of
//! each package, and the reason for each path that is left out.
//!
//! **Invariant:** This crate does not read files, and the order in which a file system lists
//! directories has no effect.

pub mod codes;

mod alias;
mod artifact;
pub mod bucket;
mod case_clash;
mod cmake_names;
mod devel;
mod foreign;
mod layout;
pub mod limits;
mod lint;
mod package_builder;
mod placement;
pub mod python;
mod resolve;
mod search;
mod select;
mod shape;
pub mod stub;
mod targets;
pub mod verify;
pub mod version;

pub use alias::LibraryAlias;
pub use artifact::{ArtifactEntry, BuildArtifact, EntryKind, FileFacts, FileShape};
pub use cmake_names::{DeclaredError, declared_families};
pub use devel::{DevelEntry, DevelKind, DevelTree, devel_trees};
pub use foreign::refuse_foreign;
pub use layout::{
    LayoutRequest, PackageKind, PackageLayout, PathOverlap, RuntimePackage, SELECTOR, SplitMode,
    is_package, lay_out, shown,
};
pub use lint::{ContentComparison, overlaps, spellings, told};
pub use placement::{DropReason, FileContent, FileOrigin, PackageFile};
pub use search::search_path;
pub use select::globs;
pub use targets::{base_target, expand, words};
