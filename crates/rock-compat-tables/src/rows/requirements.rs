//! Rows about versions that packages require of each other, and about the HIP of a ROCm.
//!
//! This file is also compiled into the build script, so it uses nothing of the crate.

use serde::{Deserialize, Serialize};

use super::Provenance;

/// A version of another package that wheels of torch require.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TorchRequirementRow {
    /// Versions of torch, `2.5.1`.
    pub torch: Vec<String>,
    /// The required package, `triton`.
    pub package: String,
    /// Its versions as a specifier with one clause, `==3.1.0` or `~=3.8.0`.
    pub versions: String,
    pub origin: Provenance,
}

/// Versions of another package that a package needs to be imported.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ImportRequirementRow {
    /// Normalized distribution name, `flash-attn`.
    pub package: String,
    /// Its versions.
    pub of: Vec<String>,
    /// Families of commit-pinned versions, `[fa2]`.
    #[serde(default)]
    pub commit_families: Vec<String>,
    /// The backend; empty for all.
    #[serde(default)]
    pub backend: String,
    /// The needed package, `triton`.
    pub needs: String,
    /// Its versions as a specifier, `>=3.2`; empty for all.
    #[serde(default)]
    pub versions: String,
    /// The failure with other versions.
    #[serde(default)]
    pub otherwise: String,
    /// Versions with which the package was imported.
    pub tried: Vec<String>,
    pub origin: Provenance,
}

/// The HIP minor of a ROCm minor whose number is another one.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct HipRow {
    /// `10.0`.
    pub rocm: String,
    /// `7.15`.
    pub hip: String,
    pub origin: Provenance,
}
