//! Rows of tables about the contents of wheels, embedded ROCm libraries and device wheels.

use serde::{Deserialize, Serialize};

use super::Provenance;

/// Requirements on the contents of wheels of a distribution. Empty columns require nothing.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct WheelContentRow {
    /// The normalized name.
    pub distribution: String,
    /// `linux` or `windows`; empty for both.
    #[serde(default)]
    pub platform: String,
    /// The location of ROCm: `packages` for separate wheels, `inside` after `wheel embed`; empty
    /// for both.
    #[serde(default)]
    pub rocm: String,
    /// The feature that selects the row, `aotriton` (`--with aotriton`); empty for all wheels.
    #[serde(default)]
    pub feature: String,
    /// Whether the row applies only to wheels without device wheels.
    #[serde(default)]
    pub whole: bool,
    /// Shell patterns, each of which must match a non-empty member; `*` also matches `/`.
    #[serde(default)]
    pub holds: Vec<String>,
    /// A regular expression that must match a requirement in METADATA; may be empty.
    #[serde(default)]
    pub requires: String,
    /// A text in a member that must equal a text in a requirement.
    #[serde(default)]
    pub equal: Option<RequirementMatch>,
    /// Projects that must be required at the version of their wheel in the same directory.
    #[serde(default)]
    pub beside: Vec<String>,
    /// Minimum size of the wheel in bytes.
    #[serde(default)]
    pub least_bytes: u64,
    /// Whether no wheel is expected for the platform.
    #[serde(default)]
    pub absent: bool,
    /// The reason that is shown to users.
    pub reason: String,
    /// The action to take; may be empty.
    #[serde(default)]
    pub help: String,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// How ROCm is embedded into wheels of a distribution.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct EmbeddingRow {
    /// The normalized name.
    pub distribution: String,
    /// `linux` or `windows`.
    pub platform: String,
    /// The directory in the wheel that receives the files, `torch/lib/rocm`.
    pub into: String,
    /// Shell patterns of ROCm files to leave out; `*` also matches `/`.
    pub excludes: Vec<String>,
    /// The Python module into which a statement is inserted; empty for none.
    #[serde(default)]
    pub module: String,
    /// A text that exactly one line of the module contains; the statement is inserted before it.
    #[serde(default)]
    pub marker: String,
    /// The statement.
    #[serde(default)]
    pub insert: String,
    /// The directory below `into` that libraries of the wheel search; empty for none.
    #[serde(default)]
    pub search: String,
    /// Projects whose requirements are removed.
    pub drops: Vec<String>,
    /// Members to remove: modules that import those projects.
    #[serde(default)]
    pub removes: Vec<String>,
    /// Whether the result has not been tested.
    #[serde(default)]
    pub experimental: bool,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// Two texts that must be equal: the first groups of two regular expressions.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RequirementMatch {
    /// The member that the first expression is applied to.
    pub member: String,
    /// The first expression.
    pub find: String,
    /// The second expression, applied to the requirements in METADATA.
    pub requires: String,
}

/// A distribution that is split into a host wheel and device wheels.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DeviceWheelRow {
    /// The normalized name, `torch`.
    pub distribution: String,
    /// The common prefix of the names of its device wheels, `amd-torch-device`.
    pub device: String,
    /// The directory of the wheel that contains `.kpack` with the kpack archives.
    pub root: String,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// The gfx targets of a device wheel for several targets.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DeviceBundleRow {
    /// The bundle in the name of the device wheel, `gfx12-0`.
    pub bundle: String,
    /// gfx targets, at least one.
    pub members: Vec<String>,
    /// The generic target that covers all members; empty if there is none.
    #[serde(default)]
    pub generic: String,
    /// The provenance of the row.
    pub origin: Provenance,
}
