//! Builds the Python packages of the ROCm SDK from the artifacts of a ROCm build.
//!
//! [`ResolvedLayout::resolve`] reads the artifacts of a directory as an [`ArtifactSet`] and assigns
//! their files to packages by the rows of `matrices/compat/sdk-packages.yaml`. Its
//! [`PackageLayout`] has the source of each file of each package, and the reason for each path that
//! is left out. [`SdkBuilder::build`] writes the packages, and [`verify::VerifiedPackages::verify`]
//! checks them. [`fetch::ArtifactFetcher`] downloads artifacts.
//!
//! **Invariant:** The same artifacts give the same bytes: neither the order in which a file system
//! lists directories nor the number of threads has an effect.

pub mod codes;

mod alias;
mod artifact;
mod artifact_set;
pub mod bucket;
mod build_error;
mod build_manifest;
mod build_options;
mod builder;
mod case_clash;
mod cmake_names;
mod devel;
pub mod fetch;
mod file_contents;
mod foreign;
mod layout;
pub mod limits;
mod lint;
mod mixed_builds;
mod package_builder;
mod placed_paths;
mod placement;
pub mod python;
mod resolve;
mod resolved_layout;
mod search;
mod search_path_change;
mod select;
mod selection_options;
mod shape;
mod stoppable;
pub mod stub;
mod targets;
pub mod verify;
pub mod version;

pub use alias::LibraryAlias;
pub use artifact::{ArtifactEntry, BuildArtifact, EntryKind, FileFacts, FileShape};
pub use artifact_set::{ARTIFACT_MANIFEST, ArtifactSet, parse_artifact_manifest, safe_member_path};
pub use build_error::SdkBuildError;
pub use build_manifest::parse_json_object;
pub use build_options::{
    PLATFORM_TAG_VARIABLE, RequestedTargets, package_version, parse_name_suffix, platform_tag,
};
pub use builder::{DEVEL_TARBALL, SdkBuilder, WrittenPackage, XZ_EXTENSION};
pub use cmake_names::{DeclaredError, declared_families};
pub use devel::{DevelEntry, DevelKind, DevelTree, devel_trees};
pub use foreign::check_output;
pub use layout::{
    LayoutRequest, PackageKind, PackageLayout, PathOverlap, RuntimePackage, SELECTOR, SplitMode,
    entry_path, lay_out,
};
pub use lint::{ContentComparison, lint_layout, lint_spellings, overlaps};
pub use placed_paths::{PathAction, PlacedPath};
pub use placement::{DropReason, FileContent, FileOrigin, PackageFile};
pub use resolved_layout::{LayoutOptions, ResolvedLayout};
pub use search::search_path;
pub use search_path_change::{
    FileSearchPath, SearchPathChange, SearchPathTag, parse_search_entry, parse_search_path,
};
pub use select::globs;
pub use selection_options::SelectionOptions;
pub use targets::{TargetList, base_target, expand, read_families, words};
