//! Words of the field as value types: each parses, prints, and round-trips.
//!
//! **Invariant:** after the edge there are no bare strings for versions, tags, targets or hashes;
//! nothing here knows which versions exist.

mod age;
mod arch;
mod artifact;
mod combination;
mod day;
mod digest;
mod distribution;
mod expected_wheel;
mod gfx;
mod label;
mod path;
mod percent;
mod platform_system;
mod product;
mod python;
mod repo_name;
mod requirement;
mod rocm;
mod rocm_order;
mod specifier;
mod suffix;
mod tree;
mod version;
mod web_address;
mod wheel_identity;
mod wheel_name;
mod wheel_tag;
mod withdrawal;
mod withdrawn;

pub use age::{Age, AgeError};
pub use arch::{Arch, ArchError};
pub use artifact::{ArtifactName, ArtifactNameError, Component};
pub use combination::{Combination, torch_text};
pub use day::day_digits;
pub use digest::{Digest, DigestError, to_base64};
pub use distribution::{DistributionName, DistributionNameError};
pub use expected_wheel::ExpectedWheel;
pub use gfx::{GfxTarget, GfxTargetError};
pub use label::{
    Accelerator, LabelError, LabelParts, LabelPartsError, LabelStyle, LocalLabel, ParsedLabel,
    cuda_version, is_compact_unambiguous,
};
pub use path::{beside, folders_above, is_absolute, is_file_name, is_path_below, without_dots};
pub use percent::{percent_decode, percent_encode, push_percent_encoded};
pub use platform_system::PlatformSystem;
pub use product::ProductName;
pub use python::{PythonVersion, PythonVersionError};
pub use repo_name::{RepoName, RepoNameError};
pub use requirement::{Requirement, RequirementError};
pub use rocm::{RocmVersion, RocmVersionError};
pub use rocm_order::{Misordered, misordered};
pub use specifier::VersionSpecifiers;
pub use suffix::{git_segment, local_version, rocm_suffix, rocmsdk_suffix};
pub use tree::{SDIST, TREE, TREE_ARCHIVE, is_sdist, is_tree_archive};
pub use version::{PackageVersion, Version, VersionError};
pub use web_address::web_address;
pub use wheel_identity::{IdentifiedNames, WheelIdentity, WheelIdentityError, identify};
pub use wheel_name::{WheelName, WheelNameError, is_wheel_file};
pub use wheel_tag::{TagSet, TagSetError, machine};
pub use withdrawal::{Selector, Withdrawal, WithdrawalError};
pub use withdrawn::Withdrawn;
