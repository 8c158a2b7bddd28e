//! Rows of the tables of symbols that torch exports.

use serde::{Deserialize, Serialize};

use super::Provenance;

/// A torch minor whose exported symbols are known.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TorchAbiReadRow {
    /// The minor, `2.6`; rows are in ascending order.
    pub torch: String,
    /// The wheels that were read, as version and architecture, `2.6.0 aarch64`.
    pub wheels: Vec<String>,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// Symbols that a library of torch exports in some minors only.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TorchAbiRow {
    /// The library, `libc10.so`.
    pub library: String,
    /// The first minor with the symbols.
    pub since: String,
    /// The last minor with the symbols; empty if the newest known minor has them.
    #[serde(default)]
    pub until: String,
    /// Mangled C++ names (Itanium C++ ABI).
    pub symbols: Vec<String>,
    /// The provenance of the row.
    pub origin: Provenance,
}
