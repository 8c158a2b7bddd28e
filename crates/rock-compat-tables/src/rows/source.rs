//! Rows of tables about source trees: the projects that torch is built from, their repositories and
//! pins, and the indexes with torch wheels.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Provenance;

/// A project that torch wheels are built from, on one or more platforms.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ProjectRow {
    /// The key, `audio`.
    pub project: String,
    /// Platforms to which the row applies, `linux`, `windows`.
    pub platforms: Vec<String>,
    /// The directory name of the worktree and the key in manifests, `pytorch_audio`.
    pub folder: String,
    /// The distribution that is built from it, `torchaudio`.
    pub distribution: String,
    /// The URL of the Git repository.
    pub url: String,
    /// The default Git ref (YAML key `ref`); empty if only a pin determines the commit.
    #[serde(default, rename = "ref")]
    pub reference: String,
    /// The name in torch's `related_commits`; empty if not listed there.
    #[serde(default)]
    pub related: String,
    /// The key of the row of `pins` with the commit; may be empty.
    #[serde(default)]
    pub pin: String,
    /// The key of the row of `pins` with the version for `release_ref`; may be empty.
    #[serde(default)]
    pub release_pin: String,
    /// The release branch, with `{major}` and `{minor}`; may be empty.
    #[serde(default)]
    pub release_ref: String,
    /// Whether hipify runs on the sources.
    pub hipify: bool,
    /// Whether command-line options cannot change `hipify`.
    #[serde(default)]
    pub hipify_is_fixed: bool,
    /// Number of parallel submodule fetches; `None` for Git's default.
    #[serde(default)]
    pub fetch_jobs: Option<u32>,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// A combination of sources that is known to build together (`--preset`).
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TorchSourceRow {
    /// The name of the preset.
    pub name: String,
    /// Differences from the rows of `projects`.
    pub sources: Vec<SourceRow>,
    /// Projects to build, by platform; a platform without an entry is not supported.
    pub packages: BTreeMap<String, Vec<String>>,
    /// Environment variables of the build.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// The source of a project in a combination. Empty fields default to the project's row.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SourceRow {
    /// The key of the project.
    pub project: String,
    /// The URL of the Git repository.
    #[serde(default)]
    pub url: String,
    /// The Git ref (YAML key `ref`).
    #[serde(default, rename = "ref")]
    pub reference: String,
    /// The patch set to apply if it exists below the patch root.
    #[serde(default)]
    pub patchset: String,
    /// Whether torch's `related_commits` must list the commit.
    #[serde(default)]
    pub related: bool,
}

/// The companion minors of a torch minor.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TorchCompanionRow {
    /// The torch minor, `2.13`.
    pub torch: String,
    /// Minors by project, `vision` → `0.28`.
    pub companions: BTreeMap<String, String>,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// A file of a checkout that pins a commit or version of another project, and how to parse it.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PinRow {
    /// The pinned project, `aotriton`. Of several rows, the first that matches the checkout
    /// applies.
    pub pin: String,
    /// The generation of a format that changed, `B`; may be empty.
    #[serde(default)]
    pub generation: String,
    /// The path of the file in the checkout.
    pub file: String,
    /// The checkout that contains the file: `torch`, or `project` for the working directory.
    #[serde(default = "torch")]
    pub beside: String,
    /// `text`, `lines`, `cmake` or `related-commits`.
    pub format: String,
    /// A text that the file must contain in this generation; may be empty.
    #[serde(default)]
    pub contains: String,
    /// Positions by field: line numbers from 0, or CMake variables of which the first one set
    /// applies.
    #[serde(default)]
    pub fields: BTreeMap<String, Vec<String>>,
    /// Conditions of CMake blocks whose lists are ignored.
    #[serde(default)]
    pub not_inside: Vec<String>,
    /// The environment variable that overrides the commit; may be empty.
    #[serde(default)]
    pub env: String,
    /// The environment variable with the path of an installed copy; may be empty.
    #[serde(default)]
    pub installed_env: String,
    /// The environment variable that, if set to any value, requests a build from source.
    #[serde(default)]
    pub from_source_env: String,
    /// The commit that `--default` falls back to, 40 hexadecimal digits; may be empty.
    #[serde(default)]
    pub default: String,
    /// The name of the archive with libraries, with fields in braces; may be empty.
    #[serde(default)]
    pub archive: String,
    /// The name of the archive with GPU images, with fields in braces; may be empty.
    #[serde(default)]
    pub image: String,
    /// How torch's build handles a ROCm version that is not listed: `clamp`, `refuse` or
    /// `build-runtime`; may be empty.
    #[serde(default)]
    pub unlisted_rocm: String,
    /// The installation directory in the project's own checkout; may be empty.
    #[serde(default)]
    pub installed: String,
    /// The library in an installation directory; may be empty.
    #[serde(default)]
    pub library: String,
    /// The prefix of the name of its Python module; may be empty.
    #[serde(default)]
    pub module: String,
    /// The provenance of the row.
    pub origin: Provenance,
}

fn torch() -> String {
    "torch".to_owned()
}

/// A package index with torch wheels.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TorchIndexRow {
    /// A value of `torch-from`, `pytorch-index`.
    pub from: String,
    /// Release kinds on the index: `final`, `candidate`, `nightly`; empty for all.
    #[serde(default)]
    pub versions: Vec<String>,
    /// The first ROCm version; of several rows for a release kind, the last one not newer than the
    /// ROCm version applies.
    #[serde(default)]
    pub since: String,
    /// The URL, with `{rocm}` unless several ROCm versions share the index.
    pub address: String,
    /// The local version label of the wheels, with `{rocm}`; empty if the version alone identifies
    /// a wheel.
    #[serde(default)]
    pub local: String,
    /// Whether the URL is a find-links page and not an index.
    #[serde(default)]
    pub links: bool,
    /// Whether device code is in separate packages, selected by one extra per gfx target.
    #[serde(default)]
    pub device_extras: bool,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// The AOTriton versions with which a torch minor was released.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TorchAotritonRow {
    /// The torch minor, `2.9`.
    pub torch: String,
    /// Versions for torch of the PyTorch project.
    pub upstream: Vec<String>,
    /// Versions for torch of AMD's fork.
    #[serde(default)]
    pub fork: Vec<String>,
    /// The provenance of the row.
    pub origin: Provenance,
}
