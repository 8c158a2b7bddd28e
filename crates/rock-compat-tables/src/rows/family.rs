//! Rows of tables about target families, products, release types and index layouts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Provenance;

/// A target family.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FamilyRow {
    /// The name, `gfx94X-dcgpu`.
    pub family: String,
    /// gfx targets of the family, at least one.
    pub members: Vec<String>,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// A GPU or APU by its product name.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ProductRow {
    /// The name for matrix files and options: lower-case letters, digits and hyphens, `rx7900xtx`.
    pub product: String,
    /// The full product name, `Radeon RX 7900 XTX`.
    pub name: String,
    /// The gfx target, `gfx1100`.
    pub gfx: String,
    /// The first ROCm version that supports it; empty if unknown.
    #[serde(default)]
    pub rocm: String,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// How `TheRock`'s workflows build and test a target family or single gfx target on a platform.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FamilyBuildRow {
    /// The family or gfx target.
    pub family: String,
    /// `linux` or `windows`.
    pub platform: String,
    /// The first workflow that builds it: `presubmit`, `postsubmit` or `nightly`.
    pub trigger: String,
    /// Label or pool of a runner with such a GPU; empty if the build is not tested.
    #[serde(default)]
    pub test_runner: String,
    /// Label or pool of a runner with several such GPUs; may be empty.
    #[serde(default)]
    pub multi_gpu_runner: String,
    /// Label or pool of a runner for benchmarks; may be empty.
    #[serde(default)]
    pub benchmark_runner: String,
    /// gfx targets of the test runner.
    #[serde(default)]
    pub fetch_gfx: Vec<String>,
    /// Build variants: `release`, `asan`, `host-asan`, `tsan`.
    pub variants: Vec<String>,
    /// Whether a release is published regardless of test results.
    #[serde(default)]
    pub bypass_tests_for_releases: bool,
    /// Whether only sanity checks are run.
    #[serde(default)]
    pub sanity_check_only: bool,
    /// Whether tests run only in nightly builds.
    #[serde(default)]
    pub nightly_check_only: bool,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// The default axes of a release type on a platform.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ReleaseTypeRow {
    /// The release type, `nightly`.
    pub release_type: String,
    /// `linux` or `windows`.
    pub platform: String,
    /// Values by axis.
    pub axes: BTreeMap<String, Vec<String>>,
    /// Axis values of cells whose wheels are not tested.
    #[serde(default)]
    pub untested: Vec<BTreeMap<String, String>>,
    /// The value of `{stream}` in index URLs; empty if the release type has no index.
    #[serde(default)]
    pub stream: String,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// Target families that cannot be built with an axis value.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct UnsupportedFamilyRow {
    /// The axis, `torch-ref`.
    pub axis: String,
    /// The axis value, `release/2.13`.
    pub value: String,
    /// `linux` or `windows`; empty for both.
    #[serde(default)]
    pub platform: String,
    /// The families or gfx targets, compared case-insensitively.
    pub families: Vec<String>,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// The URL layout of a package index.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct IndexTemplateRow {
    /// The name of the layout, `v2`.
    pub name: String,
    /// The URL template, starting with `{base}/`; may contain `{family}` and `{stream}`.
    pub template: String,
    /// The public server, with `{stream}` if each stream has its own; matrix files may override it.
    #[serde(default)]
    pub base: String,
    /// The stream of builds whose release type has none.
    #[serde(default)]
    pub stream: String,
    /// Whether device code is selected by one extra per gfx target.
    #[serde(default)]
    pub device_extras: bool,
    /// The provenance of the row.
    pub origin: Provenance,
}
