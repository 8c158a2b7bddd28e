//! Rows about finished wheels, as written.
//!
//! **Invariant:** as for all rows, texts stay texts, and nothing of the crate is used.

use serde::{Deserialize, Serialize};

use super::Provenance;

/// What a finished wheel of a distribution must be like. Every column that is not empty is asked
/// for.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct WheelContentRow {
    /// Normalized name.
    pub distribution: String,
    /// `linux` or `windows`; empty: any.
    #[serde(default)]
    pub platform: String,
    /// Where the wheel has ROCm from: `packages` beside it, or `inside`, where `wheel embed` puts
    /// it; empty: any.
    #[serde(default)]
    pub rocm: String,
    /// What the wheel was built with, `aotriton`; empty: the row is asked of every wheel.
    #[serde(default)]
    pub feature: String,
    /// Whether it applies only to wheels that have no device wheels.
    #[serde(default)]
    pub whole: bool,
    /// Shell patterns of members, of which each has one that is not empty; `*` matches slashes too.
    #[serde(default)]
    pub holds: Vec<String>,
    /// A regular expression that one of its requirements matches.
    #[serde(default)]
    pub requires: String,
    /// A text of a member that one of its requirements has, too.
    #[serde(default)]
    pub equal: Option<RequirementMatch>,
    /// Projects of which a wheel that lies beside is required, at its version.
    #[serde(default)]
    pub beside: Vec<String>,
    /// The size below which it is no finished one.
    #[serde(default)]
    pub least_bytes: u64,
    /// Whether there are no wheels of it for the platform.
    #[serde(default)]
    pub absent: bool,
    /// Why it is so, in words.
    pub reason: String,
    /// What to do where it is not.
    #[serde(default)]
    pub help: String,
    pub origin: Provenance,
}

/// How ROCm is put into wheels of a distribution.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct EmbeddingRow {
    pub distribution: String,
    pub platform: String,
    /// The folder of the wheel that it goes into, `torch/lib/rocm`.
    pub into: String,
    /// Shell patterns of files of ROCm that stay out; `*` matches slashes too.
    pub excludes: Vec<String>,
    /// A module in which a statement is inserted; empty: none.
    #[serde(default)]
    pub module: String,
    /// What the line before which it goes holds; there must be one.
    #[serde(default)]
    pub marker: String,
    #[serde(default)]
    pub insert: String,
    /// The folder below `into` that libraries of the wheel search; empty: none.
    #[serde(default)]
    pub search: String,
    /// Projects whose requirement goes.
    pub drops: Vec<String>,
    /// Members that go with it: modules that look for those projects.
    #[serde(default)]
    pub removes: Vec<String>,
    /// Whether nobody has run the result yet.
    #[serde(default)]
    pub experimental: bool,
    pub origin: Provenance,
}

/// Two texts that must be the same: the first groups of two regular expressions.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RequirementMatch {
    /// The member that the first is in.
    pub member: String,
    pub find: String,
    /// The second, of the requirements.
    pub requires: String,
}

/// A wheel that is split into one without code for GPUs and device wheels with it.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DeviceWheelRow {
    /// Normalized name, `torch`.
    pub distribution: String,
    /// Common prefix of the names of its device wheels, `amd-torch-device`.
    pub device: String,
    /// The folder of the wheel below which archives of code lie in `.kpack`.
    pub root: String,
    pub origin: Provenance,
}

/// Targets that one device wheel is for.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DeviceBundleRow {
    /// As in the names of device wheels, `gfx12-0`.
    pub bundle: String,
    pub members: Vec<String>,
    /// The generic target of all of them; empty: none.
    #[serde(default)]
    pub generic: String,
    pub origin: Provenance,
}
