//! The rows of `matrices/compat/*.yaml`, as written.
//!
//! **Invariant:** texts stay texts; versions are parsed where a question is asked.

#![allow(
    missing_docs,
    reason = "columns are named and described in docs/compat.md"
)]

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

mod family;
mod group;
mod requirements;
mod run_time;
mod sdk;
mod source;
mod wheels;

pub use family::{
    FamilyBuildRow, FamilyRow, IndexTemplateRow, ProductRow, ReleaseTypeRow, UnsupportedFamilyRow,
};
pub use group::{
    ClaimTables, CoreTables, FamilyBuildTables, MachineTables, RecipeTables, SdkTables,
    SourceTables, TableGroup, TorchAbiTables, WheelTables,
};
pub use requirements::{HipRow, ImportRequirementRow, TorchRequirementRow};
pub use run_time::{
    AttentionExpectRow, AttentionRow, KnownFailureRow, PathRow, ProfileRow, ToolRow, VariableRow,
    VariableRuleRow,
};
pub use sdk::{
    ArtifactSelector, SdkBucketRow, SdkLibraryRow, SdkPackageRow, SdkScriptRow, SdkVersionRow,
};
pub use source::{
    PinRow, ProjectRow, SourceRow, TorchAotritonRow, TorchCompanionRow, TorchIndexRow,
    TorchSourceRow,
};
pub use wheels::{
    DeviceBundleRow, DeviceWheelRow, EmbeddingRow, RequirementMatch, WheelContentRow,
};

/// All tables. A file holds one or several of them.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct CompatTables {
    /// Short name → what the source is.
    pub sources: BTreeMap<String, String>,
    pub torch: Vec<TorchRow>,
    pub torch_indexes: Vec<TorchIndexRow>,
    pub torch_requirements: Vec<TorchRequirementRow>,
    pub import_requirements: Vec<ImportRequirementRow>,
    pub rocm: Vec<RocmRow>,
    pub hip: Vec<HipRow>,
    pub torch_gfx: Vec<GfxRow>,
    pub rocm_gfx: Vec<GfxRow>,
    pub gfx_since: Vec<GfxSinceRow>,
    pub families: Vec<FamilyRow>,
    pub products: Vec<ProductRow>,
    pub family_builds: Vec<FamilyBuildRow>,
    pub release_types: Vec<ReleaseTypeRow>,
    pub unsupported_families: Vec<UnsupportedFamilyRow>,
    pub index_templates: Vec<IndexTemplateRow>,
    pub packages: Vec<PackageRow>,
    pub absent_families: Vec<AbsentFamilyRow>,
    pub images: Vec<ImageRow>,
    pub builders: Vec<BuilderRow>,
    pub runners: Vec<RunnerRow>,
    pub runner_pools: Vec<RunnerPoolRow>,
    pub actions: Vec<ActionRow>,
    pub libc: Vec<LibcRow>,
    pub build_costs: Vec<BuildCostRow>,
    pub build_needs: Vec<BuildNeedRow>,
    pub limits: Vec<LimitRow>,
    pub presets: Vec<PresetRow>,
    pub sonames: Vec<SonameRow>,
    pub claims: Vec<ClaimRow>,
    pub reach: Vec<ReachRow>,
    pub wheel_contents: Vec<WheelContentRow>,
    pub embeddings: Vec<EmbeddingRow>,
    pub device_wheels: Vec<DeviceWheelRow>,
    pub device_bundles: Vec<DeviceBundleRow>,
    pub projects: Vec<ProjectRow>,
    pub torch_sources: Vec<TorchSourceRow>,
    pub torch_companions: Vec<TorchCompanionRow>,
    pub pins: Vec<PinRow>,
    pub torch_aotriton: Vec<TorchAotritonRow>,
    pub recipe_rows: Vec<RecipeRow>,
    pub torch_abi_read: Vec<TorchAbiReadRow>,
    pub torch_abi: Vec<TorchAbiRow>,
    pub profiles: Vec<ProfileRow>,
    pub variables: Vec<VariableRow>,
    pub variable_rules: Vec<VariableRuleRow>,
    pub attention: Vec<AttentionRow>,
    pub attention_expects: Vec<AttentionExpectRow>,
    pub tools: Vec<ToolRow>,
    pub paths: Vec<PathRow>,
    pub known_failures: Vec<KnownFailureRow>,
    pub sdk_packages: Vec<SdkPackageRow>,
    pub sdk_libraries: Vec<SdkLibraryRow>,
    pub sdk_scripts: Vec<SdkScriptRow>,
    pub sdk_versions: Vec<SdkVersionRow>,
    pub sdk_buckets: Vec<SdkBucketRow>,
}

/// Where a fact comes from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Provenance {
    pub status: Confidence,
    /// A key of `sources`.
    pub source: String,
    /// Commit, page or issue in that source.
    #[serde(default)]
    pub r#ref: String,
    /// The day it was read, `2026-11-21`.
    pub checked: String,
    #[serde(default)]
    pub note: String,
}

/// How far a fact can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Confidence {
    /// Read in the named source.
    Verified,
    /// A person or project states it.
    Reported,
    /// Used with the same value by several projects.
    Cited,
    /// Follows from other rows.
    Inferred,
    /// Sources disagree.
    Contested,
}

impl Confidence {
    /// The word of the files.
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

/// One torch minor and the wheels its official ROCm index has.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TorchRow {
    /// `2.6`.
    pub torch: String,
    pub patches: Vec<String>,
    /// Literal suffixes of the index path: `6.2.4` keeps its patch.
    pub rocm_index: Vec<String>,
    pub python: Vec<String>,
    #[serde(default)]
    pub free_threaded: Vec<String>,
    pub origin: Provenance,
}

/// One ROCm version that exists.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RocmRow {
    pub rocm: String,
    /// `7.2.53211`, where known.
    #[serde(default)]
    pub hip: String,
    pub origin: Provenance,
}

/// A set of gfx targets for some ROCm versions.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GfxRow {
    /// ROCm minors, or patches, this row is about.
    pub rocm: Vec<String>,
    pub gfx: Vec<String>,
    pub origin: Provenance,
}

/// The first ROCm whose toolchain compiles for a target.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GfxSinceRow {
    pub gfx: String,
    pub rocm: String,
    pub origin: Provenance,
}

/// A family of commit-pinned versions that cannot be built for AMD GPUs at all.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AbsentFamilyRow {
    pub package: String,
    pub family: String,
    pub reason: String,
    pub origin: Provenance,
}

/// One row of a table that recipes ask; a new table needs no code.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RecipeRow {
    /// The table it belongs to.
    pub table: String,
    /// Its columns; one value is a list of one.
    pub columns: BTreeMap<String, Vec<String>>,
    pub origin: Provenance,
}

/// One version of a package whose legality or build depends on the version.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PackageRow {
    /// Normalized distribution name, `flash-attn`.
    pub package: String,
    pub version: String,
    /// Versions with the same facts.
    #[serde(default)]
    pub same: Vec<String>,
    /// Git tag, empty for a row that describes a branch head.
    #[serde(default)]
    pub tag: String,
    /// Commit that a tagless row was read at.
    #[serde(default)]
    pub commit: String,
    /// Families of commit-pinned versions that this row answers for, `[fa2]`.
    #[serde(default)]
    pub commit_families: Vec<String>,
    pub python_min: String,
    pub backends: Vec<String>,
    /// Targets that the build accepts, by backend; a backend without an entry is not constrained.
    #[serde(default)]
    pub gfx: BTreeMap<String, Vec<String>>,
    /// Environment variables that the build reads.
    pub env: Vec<String>,
    /// C++ standard its sources ask for, `c++17`.
    #[serde(default)]
    pub cxx_std: String,
    /// Objects that a default build compiles, by number of gfx targets measured (`3` → 2782).
    #[serde(default)]
    pub objects: BTreeMap<String, u64>,
    /// SHA-256 of the source distribution by version; a version without one was not released as
    /// such.
    #[serde(default)]
    pub sdist_sha256: BTreeMap<String, String>,
    #[serde(default)]
    pub submodules: BTreeMap<String, String>,
    /// Text shown with every job of a backend, by backend.
    #[serde(default)]
    pub warnings: BTreeMap<String, String>,
    pub origin: Provenance,
}

impl PackageRow {
    /// Whether the version it names was released; else it is what the head of a branch says of
    /// itself.
    pub fn is_released(&self) -> bool {
        self.commit.is_empty() || !self.tag.is_empty()
    }
}

/// One `rocm/pytorch` image tag.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ImageRow {
    pub repository: String,
    pub tag: String,
    #[serde(default)]
    pub digest: String,
    pub origin: Provenance,
}

/// An image with ROCm and an old glibc, for portable wheels.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BuilderRow {
    /// Reference with `{rocm}` where the version goes.
    pub image: String,
    /// ROCm versions it exists for; empty: any.
    #[serde(default)]
    pub rocm: Vec<String>,
    pub base: String,
    pub origin: Provenance,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RunnerRow {
    pub name: String,
    pub labels: Vec<String>,
    #[serde(default)]
    pub aliases: Vec<RunnerAlias>,
    pub kind: String,
    /// The system, `linux` or `windows`.
    #[serde(default = "linux")]
    pub os: String,
    pub arch: String,
    #[serde(default)]
    pub threads: Option<u32>,
    #[serde(default)]
    pub memory_gib: Option<u32>,
    /// Free disk that a job may count on.
    #[serde(default)]
    pub disk_gib: Option<u32>,
    /// Disk that the workflow's step "Free disk" adds.
    #[serde(default)]
    pub freed_gib: Option<u32>,
    #[serde(default)]
    pub limit_min: Option<u32>,
    #[serde(default)]
    pub gpu: Vec<String>,
    /// Whether jobs there can start containers.
    #[serde(default = "yes")]
    pub docker: bool,
    pub origin: Provenance,
}

fn linux() -> String {
    "linux".to_owned()
}

fn yes() -> bool {
    true
}

/// Several runners under one name; each job gets one of them.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RunnerPoolRow {
    pub name: String,
    pub members: Vec<PoolMember>,
    pub origin: Provenance,
}

/// A runner by name with how often it is chosen.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PoolMember {
    pub runner: String,
    pub weight: u32,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RunnerAlias {
    pub label: String,
    #[serde(default)]
    pub until: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ActionRow {
    pub name: String,
    pub version: String,
    pub sha: String,
    pub runtime: String,
    pub origin: Provenance,
}

/// The oldest Node that runners have (GitHub's changelog, 2026-09-23: Node 20 was removed).
const OLDEST_NODE: u32 = 24;

impl ActionRow {
    /// Whether runners run what `runs.using` of an action names, and pins take it: a Node that they
    /// have, or steps.
    pub fn is_supported_runtime(runtime: &str) -> bool {
        let node = runtime
            .strip_prefix("node")
            .filter(|number| !number.starts_with(['0', '+']));
        runtime == "composite"
            || node
                .and_then(|number| number.parse().ok())
                .is_some_and(|node: u32| node >= OLDEST_NODE)
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LibcRow {
    pub host: String,
    pub glibc: String,
    pub glibcxx_max: String,
    pub origin: Provenance,
}

/// A measured build.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BuildCostRow {
    pub package: String,
    pub backend: String,
    /// gfx targets compiled for.
    pub targets: u32,
    pub threads: u32,
    pub objects: u64,
    pub wall_min: u32,
    /// Growth of the compiler cache in kB an object, where measured.
    #[serde(default)]
    pub cache_kb_per_object: u64,
    pub origin: Provenance,
}

/// The least that a runner must have for the jobs of a recipe.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BuildNeedRow {
    pub recipe: String,
    #[serde(default)]
    pub disk_gib: Option<u32>,
    /// Hours of one hardware thread.
    #[serde(default)]
    pub thread_hours: Option<u32>,
    pub origin: Provenance,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LimitRow {
    /// Key used by code, `jobs-per-matrix`.
    pub name: String,
    pub what: String,
    pub value: u64,
    pub unit: String,
    pub origin: Provenance,
}

/// A named set of libraries that repairing leaves to what the wheel is installed beside.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PresetRow {
    pub name: String,
    /// What they are, in words.
    pub about: String,
    /// Shell patterns of needed names.
    pub patterns: Vec<String>,
    pub origin: Provenance,
}

/// The ROCm that a library of this name belongs to.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SonameRow {
    pub soname: String,
    /// The major version.
    pub rocm: String,
    pub origin: Provenance,
}

/// A fact in words that code does not compute with; shown by `compat explain`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ClaimRow {
    pub about: String,
    pub claim: String,
    pub origin: Provenance,
}

/// Whether a wheel runs with another version than it was built for.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ReachRow {
    /// `rocm` or `torch`.
    pub about: String,
    /// The machine's version seen from the wheel's: `other-patch`, `newer-minor`, `older-minor`,
    /// `other-minor` or `other-major`.
    pub when: String,
    pub fits: bool,
    pub why: String,
    pub origin: Provenance,
}

/// A torch minor whose exported symbols were read.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TorchAbiReadRow {
    /// `2.6`.
    pub torch: String,
    /// Version and architecture, `2.6.0 aarch64`.
    pub wheels: Vec<String>,
    pub origin: Provenance,
}

/// Symbols that a library of torch exports in some minors only.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TorchAbiRow {
    /// `libc10.so`.
    pub library: String,
    /// First minor that has them.
    pub since: String,
    /// Last minor that has them; empty: the newest that was read still does.
    #[serde(default)]
    pub until: String,
    /// Mangled names.
    pub symbols: Vec<String>,
    pub origin: Provenance,
}

macro_rules! impl_compat_tables {
    ($($table:ident),+ $(,)?) => {
        impl CompatTables {
            /// Appends the rows of another file. A table may be split over several files; a source
            /// that is already there is replaced.
            pub fn merge(&mut self, other: Self) {
                self.sources.extend(other.sources);
                $(self.$table.extend(other.$table);)+
            }

            /// Returns the YAML keys of all tables but `sources`, in the order of the fields.
            pub fn names() -> Vec<String> {
                vec![$(stringify!($table).replace('_', "-")),+]
            }

            /// Returns the YAML key and the number of rows of each table but `sources`.
            pub fn row_counts(&self) -> Vec<(String, usize)> {
                vec![$((stringify!($table).replace('_', "-"), self.$table.len())),+]
            }
        }
    };
}

impl_compat_tables!(
    torch,
    torch_indexes,
    torch_requirements,
    import_requirements,
    rocm,
    hip,
    torch_gfx,
    rocm_gfx,
    gfx_since,
    families,
    products,
    family_builds,
    release_types,
    unsupported_families,
    index_templates,
    packages,
    absent_families,
    images,
    builders,
    runners,
    runner_pools,
    actions,
    libc,
    build_costs,
    build_needs,
    limits,
    presets,
    sonames,
    claims,
    reach,
    wheel_contents,
    embeddings,
    device_wheels,
    device_bundles,
    projects,
    torch_sources,
    torch_companions,
    pins,
    torch_aotriton,
    recipe_rows,
    torch_abi_read,
    torch_abi,
    profiles,
    variables,
    variable_rules,
    attention,
    attention_expects,
    tools,
    paths,
    known_failures,
    sdk_packages,
    sdk_libraries,
    sdk_scripts,
    sdk_versions,
    sdk_buckets,
);
