//! Rows about the Python packages of the ROCm SDK, as written.
//!
//! **Invariant:** as for all rows, texts stay texts, and nothing of the crate is used.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Provenance;

/// A package of the SDK: what feeds it, and where its libraries search.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SdkPackageRow {
    /// The short name, `core`.
    pub package: String,
    /// The name of its project, without the GPUs that it is for: `rocm-sdk-libraries`.
    pub distribution: String,
    /// The platforms that it is made for; empty: all.
    #[serde(default)]
    pub platforms: Vec<String>,
    /// The artifacts that feed it.
    pub takes: Vec<ArtifactSelector>,
    /// Artifacts that never do, although another package is fed by them.
    #[serde(default)]
    pub without: Vec<String>,
    /// Globs of paths; one of them must match, where there are any.
    #[serde(default)]
    pub includes: Vec<String>,
    /// Globs of paths that stay out.
    #[serde(default)]
    pub excludes: Vec<String>,
    /// Folders of the core package that its libraries search, in order.
    #[serde(default)]
    pub search: Vec<String>,
    /// Globs of files that are there under their name without its last suffix, too.
    #[serde(default)]
    pub short_names: Vec<String>,
    /// Paths that hold what another path of the package holds.
    #[serde(default)]
    pub extra_links: BTreeMap<String, String>,
    pub origin: Provenance,
}

/// Artifacts by name and component.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ArtifactSelector {
    /// Names of artifacts.
    pub names: Vec<String>,
    /// Components; empty: all.
    #[serde(default)]
    pub components: Vec<String>,
    /// `legacy`, `kpack`; empty: both.
    #[serde(default)]
    pub modes: Vec<String>,
}

/// Where the artifacts of runs are kept.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SdkBucketRow {
    /// The kinds of release, `nightly`.
    pub release_types: Vec<String>,
    /// The address of the bucket, without a slash at its end.
    pub address: String,
    /// The repository whose runs it keeps, `OWNER/NAME`.
    pub repository: String,
    /// The address of the one that runs of other repositories go to; empty: there is none.
    #[serde(default)]
    pub shared: String,
    pub origin: Provenance,
}

/// A library that the SDK's Python finds by a short name.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SdkLibraryRow {
    /// The short name, `amdhip64`.
    pub library: String,
    /// The package that has it.
    pub package: String,
    /// Its folder there, on Linux.
    pub dir: String,
    /// The glob of its file on Linux; empty: it is not there.
    #[serde(default)]
    pub so: String,
    /// The glob of its file on Windows; empty: it is not there.
    #[serde(default)]
    pub dll: String,
    /// Whether a build may do without.
    #[serde(default)]
    pub may_be_absent: bool,
    pub origin: Provenance,
}

/// A console script of a package of the SDK.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SdkScriptRow {
    /// The command.
    pub script: String,
    /// The function behind it.
    pub function: String,
    /// The package that has it.
    pub package: String,
    /// Its program there.
    pub program: String,
    /// Where it is made.
    pub platforms: Vec<String>,
    /// Whether it wants the files to build against, where they are installed.
    #[serde(default)]
    pub expands: bool,
    /// Whether it is made only where the package has its program.
    #[serde(default)]
    pub if_packaged: bool,
    pub origin: Provenance,
}

/// How the versions of one kind of release are made.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SdkVersionRow {
    /// The kind of release, `nightly`.
    pub release_type: String,
    /// That of wheels, with `{base}`, `{date}`, `{base-date}`, `{number}`, `{sha}` and `{sha8}`.
    pub wheel: String,
    /// That of Debian's packages.
    pub deb: String,
    /// That of RPM's.
    pub rpm: String,
    /// What must be known although no version says it.
    #[serde(default)]
    pub asks: Vec<String>,
    pub origin: Provenance,
}
