//! Rows about source trees: which projects torch is built from, where each comes from, and how pins
//! are read.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Provenance;

/// A project that torch's wheels are built from, on one platform or several.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ProjectRow {
    /// `torch`, `audio`.
    pub project: String,
    /// The platforms it is built on from this row, `linux` and `windows`.
    pub platforms: Vec<String>,
    /// The name of its work tree and its key in manifests, `pytorch_audio`.
    pub folder: String,
    /// The wheel that it becomes, `torchaudio`.
    pub distribution: String,
    pub url: String,
    /// The ref without any other word about it; empty where only a pin says it.
    #[serde(default, rename = "ref")]
    pub reference: String,
    /// Its name in `related_commits`; empty where it has no row there.
    #[serde(default)]
    pub related: String,
    /// The pin of its commit, a name of the table `pins`.
    #[serde(default)]
    pub pin: String,
    /// The pin of the version that `release-ref` is made of.
    #[serde(default)]
    pub release_pin: String,
    /// The branch of a release, with `{major}` and `{minor}`.
    #[serde(default)]
    pub release_ref: String,
    pub hipify: bool,
    /// Whether hipify stays as the row says, whatever is asked for.
    #[serde(default)]
    pub hipify_is_fixed: bool,
    /// Parallel fetches of submodules, where git's own number is not used.
    #[serde(default)]
    pub fetch_jobs: Option<u32>,
    pub origin: Provenance,
}

/// Sources that are known to go together, under one name.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TorchSourceRow {
    pub name: String,
    pub sources: Vec<SourceRow>,
    /// Projects that are built, by platform; a platform without a list is not supported.
    pub packages: BTreeMap<String, Vec<String>>,
    /// Variables that its build needs.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    pub origin: Provenance,
}

/// Where one project of a combination comes from. What it does not say is said by the project's own
/// row.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SourceRow {
    pub project: String,
    #[serde(default)]
    pub url: String,
    #[serde(default, rename = "ref")]
    pub reference: String,
    /// The patch set that is applied where the patch root has it.
    #[serde(default)]
    pub patchset: String,
    /// Whether torch's `related_commits` must say its commit.
    #[serde(default)]
    pub related: bool,
}

/// The minors that belong to a torch minor.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TorchCompanionRow {
    /// `2.13`.
    pub torch: String,
    /// Minor by project, `vision` → `0.28`.
    pub companions: BTreeMap<String, String>,
    pub origin: Provenance,
}

/// Where a checkout of torch says which commit of another project it wants, and how that is read.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PinRow {
    /// What it pins, `aotriton`. Of several rows the first one counts that the checkout has.
    pub pin: String,
    /// The generation of a form that changed, `B`.
    #[serde(default)]
    pub generation: String,
    pub file: String,
    /// Whose file it is: `torch`, or `project` for one in the working folder.
    #[serde(default = "torch")]
    pub beside: String,
    /// `text`, `lines`, `cmake` or `related-commits`.
    pub format: String,
    /// A text that the file holds in this generation.
    #[serde(default)]
    pub contains: String,
    /// Where each value stands: line numbers from 0, or names of CMake variables of which the first
    /// one set counts.
    #[serde(default)]
    pub fields: BTreeMap<String, Vec<String>>,
    /// Conditions of CMake blocks whose lists do not count.
    #[serde(default)]
    pub not_inside: Vec<String>,
    /// The variable that says another commit.
    #[serde(default)]
    pub env: String,
    /// The variable that says where it is installed already.
    #[serde(default)]
    pub installed_env: String,
    /// The variable that asks for a build from source, whatever its value.
    #[serde(default)]
    pub from_source_env: String,
    /// The commit that `--default` takes where there is no other.
    #[serde(default)]
    pub default: String,
    /// The name of an archive of libraries, with fields in braces.
    #[serde(default)]
    pub archive: String,
    /// The name of an archive of images.
    #[serde(default)]
    pub image: String,
    /// What torch's build does with a ROCm that is not listed: `clamp`, `refuse` or
    /// `build-runtime`.
    #[serde(default)]
    pub unlisted_rocm: String,
    /// The folder in its own checkout that it is installed to.
    #[serde(default)]
    pub installed: String,
    /// The library in such a folder.
    #[serde(default)]
    pub library: String,
    /// The beginning of the name of its Python module.
    #[serde(default)]
    pub module: String,
    pub origin: Provenance,
}

fn torch() -> String {
    "torch".to_owned()
}

/// Where wheels of torch are found.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TorchIndexRow {
    /// A word of `torch-from`.
    pub from: String,
    /// Whose versions it is for: `final`, `candidate` or `nightly`; none: all.
    #[serde(default)]
    pub versions: Vec<String>,
    /// The first ROCm it is for; of several rows for the same versions the last that is not later
    /// counts.
    #[serde(default)]
    pub since: String,
    /// With `{rocm}` in it, unless the wheels of several ROCm versions share one index.
    pub address: String,
    /// The local version of its wheels, with `{rocm}` in it; empty: the version alone names one
    /// wheel.
    #[serde(default)]
    pub local: String,
    /// Whether the address is a page of links for `--find-links`, not an index.
    #[serde(default)]
    pub links: bool,
    /// Whether device code is in packages of its own, named by an extra for each target.
    #[serde(default)]
    pub device_extras: bool,
    pub origin: Provenance,
}

/// The AOTriton versions that a torch minor was released with.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TorchAotritonRow {
    /// `2.9`.
    pub torch: String,
    /// With torch of its own project.
    pub upstream: Vec<String>,
    /// With torch of AMD's fork.
    #[serde(default)]
    pub fork: Vec<String>,
    pub origin: Provenance,
}
