//! Rows of tables about the Python packages of the ROCm SDK.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Provenance;

/// A Python package of the ROCm SDK.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SdkPackageRow {
    /// The key, `core`.
    pub package: String,
    /// The distribution name without target family, `rocm-sdk-libraries`.
    pub distribution: String,
    /// `linux`, `windows`; empty for both.
    #[serde(default)]
    pub platforms: Vec<String>,
    /// ROCm artifacts whose files the package contains.
    pub takes: Vec<ArtifactSelector>,
    /// Names of ROCm artifacts that the package never contains. The devel package otherwise also
    /// takes the artifacts of other packages.
    #[serde(default)]
    pub without: Vec<String>,
    /// Globs of paths; if there are any, a file must match one.
    #[serde(default)]
    pub includes: Vec<String>,
    /// Globs of paths to leave out.
    #[serde(default)]
    pub excludes: Vec<String>,
    /// Directories of the core package in which its libraries search, in order.
    #[serde(default)]
    pub search: Vec<String>,
    /// Globs of files that are also present under their name without the last suffix.
    #[serde(default)]
    pub short_names: Vec<String>,
    /// Additional paths, and the path in the package whose content each has.
    #[serde(default)]
    pub extra_links: BTreeMap<String, String>,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// A selection of ROCm artifacts by name and component.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ArtifactSelector {
    /// Artifact names, `core-hip`.
    pub names: Vec<String>,
    /// Components, `lib`, `run`; empty for all.
    #[serde(default)]
    pub components: Vec<String>,
    /// `legacy`, `kpack`; empty for both.
    #[serde(default)]
    pub modes: Vec<String>,
}

/// A bucket with the ROCm artifacts of workflow runs.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SdkBucketRow {
    /// Release types, `nightly`.
    pub release_types: Vec<String>,
    /// The URL of the bucket, without a trailing slash.
    pub address: String,
    /// The repository whose runs upload to it, `OWNER/NAME`.
    pub repository: String,
    /// The URL of the bucket for runs of other repositories; empty if there is none.
    #[serde(default)]
    pub shared: String,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// A library that the SDK's Python package finds by short name.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SdkLibraryRow {
    /// The short name, `amdhip64`.
    pub library: String,
    /// The key of the package that contains it.
    pub package: String,
    /// The directory in the package on Linux.
    pub dir: String,
    /// A glob of the file name on Linux; empty if not available there.
    #[serde(default)]
    pub so: String,
    /// A glob of the file name on Windows; empty if not available there.
    #[serde(default)]
    pub dll: String,
    /// Whether a build may lack the library.
    #[serde(default)]
    pub may_be_absent: bool,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// A console script of an SDK package.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SdkScriptRow {
    /// The command name, `amdclang++`.
    pub script: String,
    /// The Python function of the entry point, `amdclangpp`.
    pub function: String,
    /// The key of the package that contains it.
    pub package: String,
    /// The path of the program in the package.
    pub program: String,
    /// Platforms with the script, `linux`, `windows`.
    pub platforms: Vec<String>,
    /// Whether the script unpacks the devel tree first, if it is installed.
    #[serde(default)]
    pub expands: bool,
    /// Whether the script exists only if the package contains its program.
    #[serde(default)]
    pub if_packaged: bool,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// The version scheme of a release type.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SdkVersionRow {
    /// The release type, `nightly`.
    pub release_type: String,
    /// The version of wheels (PEP 440), with `{base}`, `{date}`, `{base-date}`, `{number}`, `{sha}`
    /// and `{sha8}`.
    pub wheel: String,
    /// The version of Debian packages, with the same placeholders.
    pub deb: String,
    /// The version of RPM packages, with the same placeholders.
    pub rpm: String,
    /// Placeholders that must be given although no version contains them.
    #[serde(default)]
    pub asks: Vec<String>,
    /// The provenance of the row.
    pub origin: Provenance,
}
