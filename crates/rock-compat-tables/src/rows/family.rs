//! Rows about target families, and about the kinds of releases that are made of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Provenance;

/// A family of gfx targets.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FamilyRow {
    pub family: String,
    pub members: Vec<String>,
    pub origin: Provenance,
}

/// A GPU by the name it is sold under.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ProductRow {
    /// The word for it, `rx7900xtx`.
    pub product: String,
    /// `Radeon RX 7900 XTX`.
    pub name: String,
    pub gfx: String,
    /// The first ROCm that supports it, where a source says so.
    #[serde(default)]
    pub rocm: String,
    pub origin: Provenance,
}

/// How a family, or a single target, is built and tested on a platform.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FamilyBuildRow {
    pub family: String,
    /// `linux` or `windows`.
    pub platform: String,
    /// What builds it first: `presubmit`, `postsubmit` or `nightly`.
    pub trigger: String,
    /// Label or pool of the runner with such a GPU; empty: it is built only.
    #[serde(default)]
    pub test_runner: String,
    /// The same with several GPUs.
    #[serde(default)]
    pub multi_gpu_runner: String,
    /// The same for benchmarks.
    #[serde(default)]
    pub benchmark_runner: String,
    /// Targets of the test runner.
    #[serde(default)]
    pub fetch_gfx: Vec<String>,
    /// `release`, `asan`, `host-asan`, `tsan`.
    pub variants: Vec<String>,
    /// Whether a release is not held back by its tests.
    #[serde(default)]
    pub bypass_tests_for_releases: bool,
    #[serde(default)]
    pub sanity_check_only: bool,
    #[serde(default)]
    pub nightly_check_only: bool,
    pub origin: Provenance,
}

/// What a kind of release builds on a platform where nobody says otherwise.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ReleaseTypeRow {
    /// `nightly`.
    pub release_type: String,
    /// `linux` or `windows`.
    pub platform: String,
    /// Values by axis.
    pub axes: BTreeMap<String, Vec<String>>,
    /// Values of cells whose wheels are not tested.
    #[serde(default)]
    pub untested: Vec<BTreeMap<String, String>>,
    /// The word of its index in addresses, `{stream}`; empty: it has none.
    #[serde(default)]
    pub stream: String,
    pub origin: Provenance,
}

/// Families that cannot be built with a value of an axis.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct UnsupportedFamilyRow {
    /// `torch-ref`.
    pub axis: String,
    /// `release/2.13`.
    pub value: String,
    /// `linux` or `windows`; empty: both.
    #[serde(default)]
    pub platform: String,
    pub families: Vec<String>,
    pub origin: Provenance,
}

/// A layout of package indexes.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct IndexTemplateRow {
    pub name: String,
    /// With `{base}`, and `{family}` or `{stream}` where these are parts of the address.
    pub template: String,
    /// The public server of the layout, with `{stream}` where each stream has one; a matrix file
    /// may name another.
    #[serde(default)]
    pub base: String,
    /// The stream of builds that belong to none.
    #[serde(default)]
    pub stream: String,
    /// Whether device code is asked for by an extra for each target.
    #[serde(default)]
    pub device_extras: bool,
    pub origin: Provenance,
}
