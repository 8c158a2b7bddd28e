//! Rows of the tables `torch-requirements`, `import-requirements` and `hip`.

use serde::{Deserialize, Serialize};

use super::Provenance;

/// A requirement of torch wheels on another distribution.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TorchRequirementRow {
    /// torch versions, `2.5.1`.
    pub torch: Vec<String>,
    /// The required distribution, `triton`.
    pub package: String,
    /// A version specifier with one clause, `==3.1.0` or `~=3.8.0` (PEP 440).
    pub versions: String,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// The versions of another distribution with which a distribution can be imported.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ImportRequirementRow {
    /// The normalized name, `flash-attn`.
    pub package: String,
    /// Versions of the distribution.
    pub of: Vec<String>,
    /// Families of commit-pinned versions to which the row applies, `[fa2]`.
    #[serde(default)]
    pub commit_families: Vec<String>,
    /// The backend; empty for all.
    #[serde(default)]
    pub backend: String,
    /// The needed distribution, `triton`.
    pub needs: String,
    /// The version specifier of the needed distribution, `>=3.2` (PEP 440); empty for all versions.
    #[serde(default)]
    pub versions: String,
    /// The failure with other versions; empty if and only if `versions` is.
    #[serde(default)]
    pub otherwise: String,
    /// Versions of the needed distribution with which the import was tested.
    pub tried: Vec<String>,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// The HIP minor of a ROCm minor with a different number.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct HipRow {
    /// The ROCm minor, `10.0`.
    pub rocm: String,
    /// The HIP minor, `7.15`.
    pub hip: String,
    /// The provenance of the row.
    pub origin: Provenance,
}
