//! The rows of `matrices/compat/*.yaml`, as written.
//!
//! Input: YAML tables, deserialized with serde; unknown tables and columns are errors. Output: one
//! struct per row, whose fields are the columns in kebab-case. `docs/compat.md` describes the
//! tables for users.
//!
//! **Invariant:** texts stay texts; versions are parsed when they are compared. An empty
//! text or list means that the column is missing.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

mod family;
mod group;
mod requirements;
mod run_time;
mod runners;
mod sdk;
mod source;
mod table_list;
mod torch_abi;
mod wheels;

pub use family::{
    FamilyBuildRow, FamilyRow, IndexTemplateRow, ProductRow, ReleaseTypeRow, UnsupportedFamilyRow,
};
pub use group::{
    ClaimTables, CoreTables, FamilyBuildTables, LibraryTables, MachineTables, ProductTables,
    RecipeTables, SdkTables, SourceTables, TableGroup, TorchAbiTables, WheelTables,
};
pub use requirements::{HipRow, ImportRequirementRow, TorchRequirementRow};
pub use run_time::{
    AttentionExpectRow, AttentionRow, KnownFailureRow, PathRow, ProfileRow, ToolRow, VariableRow,
    VariableRuleRow,
};
pub use runners::{ActionRow, PoolMember, RunnerAlias, RunnerPoolRow, RunnerRow};
pub use sdk::{
    ArtifactSelector, SdkBucketRow, SdkLibraryRow, SdkPackageRow, SdkScriptRow, SdkVersionRow,
};
pub use source::{
    PinRow, ProjectRow, SourceRow, TorchAotritonRow, TorchCompanionRow, TorchIndexRow,
    TorchSourceRow,
};
pub use torch_abi::{TorchAbiReadRow, TorchAbiRow};
pub use wheels::{
    DeviceBundleRow, DeviceWheelRow, EmbeddingRow, RequirementMatch, WheelContentRow,
};

/// All tables. A YAML file contains one or more of them, under the field names in kebab-case.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct CompatTables {
    /// Descriptions of sources by short name; [`Provenance::source`] refers to them.
    pub sources: BTreeMap<String, String>,
    /// torch minors and the wheels of the official ROCm indexes.
    pub torch: Vec<TorchRow>,
    /// Package indexes with torch wheels.
    pub torch_indexes: Vec<TorchIndexRow>,
    /// Requirements of torch wheels on other distributions.
    pub torch_requirements: Vec<TorchRequirementRow>,
    /// Versions of other distributions with which a distribution can be imported.
    pub import_requirements: Vec<ImportRequirementRow>,
    /// ROCm versions.
    pub rocm: Vec<RocmRow>,
    /// HIP minors that differ from the ROCm minor.
    pub hip: Vec<HipRow>,
    /// gfx targets of torch's official wheels, by ROCm version.
    pub torch_gfx: Vec<GfxRow>,
    /// gfx targets that a ROCm release supports or can be built for.
    pub rocm_gfx: Vec<GfxRow>,
    /// First ROCm version that compiles for a gfx target.
    pub gfx_since: Vec<GfxSinceRow>,
    /// Target families.
    pub families: Vec<FamilyRow>,
    /// Product names of GPUs and APUs.
    pub products: Vec<ProductRow>,
    /// Builds and tests of target families in `TheRock`'s workflows.
    pub family_builds: Vec<FamilyBuildRow>,
    /// Default axes of release types.
    pub release_types: Vec<ReleaseTypeRow>,
    /// Target families that an axis value does not support.
    pub unsupported_families: Vec<UnsupportedFamilyRow>,
    /// URL layouts of package indexes.
    pub index_templates: Vec<IndexTemplateRow>,
    /// Versions of distributions that are built for ROCm.
    pub packages: Vec<PackageRow>,
    /// Families of commit-pinned versions that cannot be built for AMD GPUs.
    pub absent_families: Vec<AbsentFamilyRow>,
    /// Container images with ROCm and torch.
    pub images: Vec<ImageRow>,
    /// Container images with ROCm and an old glibc.
    pub builders: Vec<BuilderRow>,
    /// GitHub Actions runners.
    pub runners: Vec<RunnerRow>,
    /// Groups of runners under one name.
    pub runner_pools: Vec<RunnerPoolRow>,
    /// Commits of the GitHub actions that rendered workflows pin.
    pub actions: Vec<ActionRow>,
    /// C and C++ library versions of build hosts.
    pub libc: Vec<LibcRow>,
    /// Measured builds.
    pub build_costs: Vec<BuildCostRow>,
    /// Minimum resources of the builds of a recipe.
    pub build_needs: Vec<BuildNeedRow>,
    /// Limits of GitHub and package indexes.
    pub limits: Vec<LimitRow>,
    /// Named sets of libraries that a repair does not graft.
    pub presets: Vec<PresetRow>,
    /// ROCm majors by SONAME.
    pub sonames: Vec<SonameRow>,
    /// Facts in prose.
    pub claims: Vec<ClaimRow>,
    /// Compatibility of wheels with versions other than those they were built for.
    pub reach: Vec<ReachRow>,
    /// Expected contents of wheels.
    pub wheel_contents: Vec<WheelContentRow>,
    /// Rules for embedding ROCm into wheels.
    pub embeddings: Vec<EmbeddingRow>,
    /// Distributions that are split into host and device wheels.
    pub device_wheels: Vec<DeviceWheelRow>,
    /// Names of device wheels for several gfx targets.
    pub device_bundles: Vec<DeviceBundleRow>,
    /// Projects that torch wheels are built from.
    pub projects: Vec<ProjectRow>,
    /// Combinations of sources that are known to build together.
    pub torch_sources: Vec<TorchSourceRow>,
    /// Minors of companions by torch minor.
    pub torch_companions: Vec<TorchCompanionRow>,
    /// Files of a torch checkout that pin another project.
    pub pins: Vec<PinRow>,
    /// AOTriton versions by torch minor.
    pub torch_aotriton: Vec<TorchAotritonRow>,
    /// Rows of tables that only recipes look up.
    pub recipe_rows: Vec<RecipeRow>,
    /// torch minors whose exported symbols are known.
    pub torch_abi_read: Vec<TorchAbiReadRow>,
    /// Symbols that torch exports in some minors only.
    pub torch_abi: Vec<TorchAbiRow>,
    /// Environment profiles.
    pub profiles: Vec<ProfileRow>,
    /// Environment variables of profiles.
    pub variables: Vec<VariableRow>,
    /// Allowed values of environment variables.
    pub variable_rules: Vec<VariableRuleRow>,
    /// Attention libraries of torch by gfx target.
    pub attention: Vec<AttentionRow>,
    /// Expected output of the attention validation script.
    pub attention_expects: Vec<AttentionExpectRow>,
    /// Minimum versions of build tools.
    pub tools: Vec<ToolRow>,
    /// Restrictions on paths of a build machine.
    pub paths: Vec<PathRow>,
    /// Build failures that are recognized by their output.
    pub known_failures: Vec<KnownFailureRow>,
    /// Python packages of the ROCm SDK.
    pub sdk_packages: Vec<SdkPackageRow>,
    /// Libraries that the SDK's Python package finds by short name.
    pub sdk_libraries: Vec<SdkLibraryRow>,
    /// Console scripts of SDK packages.
    pub sdk_scripts: Vec<SdkScriptRow>,
    /// Version schemes by release type.
    pub sdk_versions: Vec<SdkVersionRow>,
    /// Buckets with the ROCm artifacts of workflow runs.
    pub sdk_buckets: Vec<SdkBucketRow>,
}

/// The provenance of a row.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    /// How the fact is known.
    pub status: Confidence,
    /// A key of the table `sources`.
    pub source: String,
    /// The commit, page, issue or file in the source; may be empty.
    #[serde(default)]
    pub r#ref: String,
    /// The date of the last check, in the form of ISO 8601, `2026-11-21`.
    pub checked: String,
    /// A remark for readers; may be empty.
    #[serde(default)]
    pub note: String,
}

/// The way in which a fact is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// The value was read in the named source.
    Verified,
    /// A person or project states it.
    Reported,
    /// Several projects use the same value.
    Cited,
    /// The value follows from other rows.
    Inferred,
    /// Sources disagree.
    Contested,
}

impl Confidence {
    /// Returns the name in YAML files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Reported => "reported",
            Self::Cited => "cited",
            Self::Inferred => "inferred",
            Self::Contested => "contested",
        }
    }
}

/// A torch minor and the wheels in its official ROCm indexes.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TorchRow {
    /// The minor, `2.6`.
    pub torch: String,
    /// Released patch versions, `2.6.0`, oldest first; empty if there are only nightlies.
    pub patches: Vec<String>,
    /// Suffixes of the index paths after `rocm`: `6.2.4` for `whl/rocm6.2.4`.
    pub rocm_index: Vec<String>,
    /// Python minors with wheels, `3.12`.
    pub python: Vec<String>,
    /// Free-threaded Python minors with wheels, `3.13t`.
    #[serde(default)]
    pub free_threaded: Vec<String>,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// A ROCm version.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RocmRow {
    /// The minor or patch version, `6.2` or `6.2.4`.
    pub rocm: String,
    /// The version that `hipcc --version` prints, `7.2.53211`; empty if unknown.
    #[serde(default)]
    pub hip: String,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// The gfx targets of some ROCm versions.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GfxRow {
    /// ROCm versions; a minor applies to its patches.
    pub rocm: Vec<String>,
    /// gfx targets, `gfx942`.
    pub gfx: Vec<String>,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// The first ROCm version whose toolchain compiles for a gfx target.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GfxSinceRow {
    /// The gfx target.
    pub gfx: String,
    /// The ROCm version, `6.4`.
    pub rocm: String,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// A family of commit-pinned versions that cannot be built for AMD GPUs.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AbsentFamilyRow {
    /// The normalized name of the distribution.
    pub package: String,
    /// The prefix of the versions, `fa3` for `fa3:<commit>`.
    pub family: String,
    /// The reason that is shown to users.
    pub reason: String,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// A row of a table that recipes look up. Such a table needs no code.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RecipeRow {
    /// The name of the table, `preloads`.
    pub table: String,
    /// Values by column; a single value is a list of one.
    pub columns: BTreeMap<String, Vec<String>>,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// A version of a distribution whose build or allowed combinations depend on the version.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PackageRow {
    /// The normalized name, `flash-attn`.
    pub package: String,
    /// The version, `2.8.3`.
    pub version: String,
    /// Other versions to which the row applies.
    #[serde(default)]
    pub same: Vec<String>,
    /// The Git tag; empty for a row that describes the head of a branch.
    #[serde(default)]
    pub tag: String,
    /// The commit that a row without a tag describes, 40 hexadecimal digits.
    #[serde(default)]
    pub commit: String,
    /// Families of commit-pinned versions to which the row applies, `[fa2]`.
    #[serde(default)]
    pub commit_families: Vec<String>,
    /// The oldest supported Python minor, `3.9`.
    pub python_min: String,
    /// The backends of this version, `ck`, `triton`.
    pub backends: Vec<String>,
    /// gfx targets that the build accepts, by backend; a backend without an entry accepts all.
    #[serde(default)]
    pub gfx: BTreeMap<String, Vec<String>>,
    /// Environment variables that the build reads.
    pub env: Vec<String>,
    /// The C++ standard of the sources, `c++17`; empty if unknown.
    #[serde(default)]
    pub cxx_std: String,
    /// Object files that a default build compiles, by number of gfx targets (`3` → 2782).
    #[serde(default)]
    pub objects: BTreeMap<String, u64>,
    /// SHA-256 digests of sdists by version, 64 hexadecimal digits; versions without an sdist are
    /// missing.
    #[serde(default)]
    pub sdist_sha256: BTreeMap<String, String>,
    /// Commits of submodules by path.
    #[serde(default)]
    pub submodules: BTreeMap<String, String>,
    /// Texts shown with every job, by backend.
    #[serde(default)]
    pub warnings: BTreeMap<String, String>,
    /// The provenance of the row.
    pub origin: Provenance,
}

impl PackageRow {
    /// Returns whether the version was released. Other rows describe the head of a branch.
    pub fn is_released(&self) -> bool {
        self.commit.is_empty() || !self.tag.is_empty()
    }
}

/// A container image with ROCm and torch, such as a tag of `rocm/pytorch`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ImageRow {
    /// The repository, `rocm/pytorch`.
    pub repository: String,
    /// The tag, `rocm6.3_ubuntu24.04_py3.12_pytorch_release_2.4.0`.
    pub tag: String,
    /// The digest, `sha256:` and 64 hexadecimal digits; empty if unknown.
    #[serde(default)]
    pub digest: String,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// A container image with ROCm and an old glibc, for portable wheels.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BuilderRow {
    /// The image reference, with `{rocm}` for the version.
    pub image: String,
    /// ROCm versions for which the image exists; empty for all.
    #[serde(default)]
    pub rocm: Vec<String>,
    /// The distribution of the image and its version, `almalinux 8`.
    pub base: String,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// The C and C++ library versions of a build host.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LibcRow {
    /// The host, `ubuntu 22.04` or `manylinux_2_34`.
    pub host: String,
    /// The glibc version, `2.35`.
    pub glibc: String,
    /// The newest `GLIBCXX` symbol version of libstdc++, `3.4.30`, with an optional remark.
    pub glibcxx_max: String,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// A measured build.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BuildCostRow {
    /// The normalized name of the distribution.
    pub package: String,
    /// The backend, `ck`.
    pub backend: String,
    /// The number of gfx targets.
    pub targets: u32,
    /// The number of hardware threads.
    pub threads: u32,
    /// The number of compiled object files.
    pub objects: u64,
    /// The elapsed time in minutes.
    pub wall_min: u32,
    /// Growth of the compiler cache in kB per object file; 0 if not measured.
    #[serde(default)]
    pub cache_kb_per_object: u64,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// The minimum resources of a runner for the jobs of a recipe.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BuildNeedRow {
    /// The name of the recipe.
    pub recipe: String,
    /// Free disk space in GiB; `None` if not known.
    #[serde(default)]
    pub disk_gib: Option<u32>,
    /// Run time in hours of one hardware thread; `None` if not known.
    #[serde(default)]
    pub thread_hours: Option<u32>,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// A limit of GitHub or a package index.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LimitRow {
    /// The key that the code uses, `jobs-per-matrix`.
    pub name: String,
    /// A description, `jobs from a job matrix per workflow run`.
    pub what: String,
    /// The limit, at least 1.
    pub value: u64,
    /// The unit of the value, `jobs`, `minutes` or `bytes`.
    pub unit: String,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// A named set of libraries that `wheel repair --exclude-preset` does not graft.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PresetRow {
    /// The name, `rocm`.
    pub name: String,
    /// A description of the libraries.
    pub about: String,
    /// Shell patterns of NEEDED names, `libhip*.so*`.
    pub patterns: Vec<String>,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// The ROCm major to which a SONAME belongs.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SonameRow {
    /// The SONAME, `libamdhip64.so.6`.
    pub soname: String,
    /// The ROCm major, `6`.
    pub rocm: String,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// A fact in prose that only `compat explain` uses.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ClaimRow {
    /// The subject, `github`.
    pub about: String,
    /// The fact.
    pub claim: String,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// The compatibility of a wheel with a version other than the one it was built for.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ReachRow {
    /// `rocm` or `torch`.
    pub about: String,
    /// The machine's version relative to the wheel's: `other-patch`, `newer-minor`, `older-minor`,
    /// `other-minor` or `other-major`; `no-compiled-code` for wheels without compiled code, and
    /// `no-rocm-library` for wheels whose libraries need no ROCm library.
    pub when: String,
    /// Whether the wheel works there.
    pub fits: bool,
    /// The reason that is shown to users.
    pub why: String,
    /// The provenance of the row.
    pub origin: Provenance,
}
