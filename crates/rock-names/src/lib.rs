//! Names and versions of Python wheels for ROCm: wheel names, labels, versions, gfx targets.
//!
//! Names and labels parse with [`FromStr`](std::str::FromStr) and print with
//! [`Display`](std::fmt::Display). The crate does no I/O and contains no data: callers pass the
//! known ROCm versions.
//!
//! ```
//! use rock_names::{Combination, WheelIdentity, WheelName};
//!
//! let name: WheelName =
//!     "flash_attn-2.8.3+rocm62torch2.5triton-cp312-cp312-linux_x86_64.whl".parse()?;
//! assert_eq!(name.requirement(), "flash-attn==2.8.3+rocm62torch2.5triton");
//!
//! let identity = WheelIdentity::of(&name, &["6.2".parse()?])?;
//! assert_eq!(Combination::of(&identity).runs_with(), "ROCm 6.2, torch 2.5, triton");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! **Invariant:** parts that callers compare have types of their own, and tags are lower-case text;
//! nothing here knows which versions exist.

#![warn(missing_docs)]

mod age;
mod arch;
mod artifact;
mod build_label;
mod build_tag;
mod combination;
mod day;
mod digest;
mod distribution;
mod expected_wheel;
mod gfx;
mod implementation_tag;
mod job_output;
mod label;
mod new_label;
mod path;
mod percent;
mod platform;
mod platform_system;
mod product;
mod python;
mod replaced_plus;
mod repo_name;
mod requirement;
mod rocm;
mod rocm_order;
mod specifier;
mod tag_set;
mod torch_build;
mod version;
mod web_address;
mod wheel_identity;
mod wheel_name;
mod yank_selection;
mod yanked_files;

pub use age::{Age, AgeError};
pub use arch::{Arch, ArchError};
pub use artifact::{ArtifactComponent, ArtifactName, ArtifactNameError};
pub use build_label::{BuildLabelError, git_label, join_labels, rocm_label, rocmsdk_label};
pub use build_tag::{BuildTag, BuildTagError};
pub use combination::{Combination, torch_text};
pub use day::day_digits;
pub use digest::{Digest, DigestError, to_base64};
pub use distribution::{DistributionName, DistributionNameError};
pub use expected_wheel::ExpectedWheel;
pub use gfx::{GfxTarget, GfxTargetError};
pub use implementation_tag::{is_abi_tag, is_python_tag, nearest_python_tag};
pub use job_output::{
    SDIST_SUFFIX, TREE_ARCHIVE_SUFFIX, TREE_SUFFIX, is_asset_name, is_sdist, is_tree_archive,
};
pub use label::{
    Accelerator, LabelError, LabelParts, LabelPartsError, LabelStyle, LocalLabel, ParsedLabel,
    cuda_version, is_compact_unambiguous,
};
pub use new_label::{NewLabelError, parse_new_label};
pub use path::{
    is_absolute, is_file_name, is_path_below, parent_directories, resolve_link, without_dots,
};
pub use percent::{percent_decode, percent_encode, push_percent_encoded};
pub use platform::Platform;
pub use platform_system::{ForeignSystem, PlatformSystem};
pub use product::ProductName;
pub use python::{PythonVersion, PythonVersionError};
pub use repo_name::{RepoName, RepoNameError};
pub use requirement::{Requirement, RequirementError};
pub use rocm::{RocmVersion, RocmVersionError};
pub use rocm_order::{VersionOrderConflict, find_order_conflict};
pub use specifier::VersionSpecifiers;
pub use tag_set::{
    AbiKind, AbiTags, PlatformKind, PlatformTags, PythonKind, PythonTags, TagSet, TagSetError,
    is_free_threaded_abi, plain_linux_tag,
};
pub use torch_build::TorchBuild;
pub use version::{PackageVersion, Version, VersionError};
pub use web_address::web_address;
pub use wheel_identity::{WheelIdentity, WheelIdentityError};
pub use wheel_name::{WheelName, WheelNameError, WheelNameErrorKind, has_wheel_extension};
pub use yank_selection::{YankSelection, YankSelectionError, YankSelector};
pub use yanked_files::YankedFiles;

/// The examples of the README, which are tested as documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
