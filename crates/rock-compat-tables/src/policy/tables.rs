//! The rows of `matrices/compat/policies/*.yaml`, and their expanded form, which the build script
//! of `rock-compat` embeds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::rows::Provenance;

/// The policies of a family, manylinux or musllinux: the content of one file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PolicyTable {
    /// The policies, by decreasing priority.
    pub policies: Vec<PolicyRow>,
    /// The architectures that have policies.
    pub arches: Vec<ArchRow>,
    /// The symbol versions of each prefix.
    pub ladders: Vec<LadderRow>,
    /// Libraries that policies permit.
    pub libraries: Vec<LibraryRow>,
    /// Forbidden symbols of permitted libraries.
    pub blacklist: Vec<BlacklistRow>,
}

/// One policy.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyRow {
    /// The name, `manylinux_2_28`.
    pub policy: String,
    /// Older names, `manylinux2014`.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// The priority; more systems comply with a policy of higher priority. 0 is reserved for
    /// `linux`.
    pub priority: u32,
    /// The highest permitted version of each prefix, or `none`. A prefix without a ceiling inherits
    /// that of the previous row.
    #[serde(default)]
    pub ceilings: BTreeMap<String, String>,
    /// Ceilings for single architectures; later rows do not inherit them.
    #[serde(default)]
    pub except: BTreeMap<String, BTreeMap<String, String>>,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// The policies of one architecture.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchRow {
    /// The architecture, `x86_64`.
    pub arch: String,
    /// The first policy.
    pub since: String,
    /// The last policy; empty for the last of the table.
    #[serde(default)]
    pub until: String,
    /// The SONAME of the C library, if it differs between architectures.
    #[serde(default)]
    pub libc: String,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// The symbol versions of a prefix that exist.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LadderRow {
    /// The prefix, `GLIBC`.
    pub prefix: String,
    /// The architectures that have them; empty for all.
    #[serde(default)]
    pub arch: Vec<String>,
    /// Versions without the prefix, separated by spaces: `2.17 2.18 TM_1@1.3.6`. The number after
    /// `@` is compared with the ceiling, if the version is not a number itself.
    pub versions: String,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// External libraries that a wheel may need.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LibraryRow {
    /// SONAMEs, `libgcc_s.so.1`.
    pub names: Vec<String>,
    /// The first policy that permits them; empty for all.
    #[serde(default)]
    pub since: String,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// Symbols of a permitted library that a wheel must not need.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlacklistRow {
    /// The SONAME of the library, `libc.so.6`.
    pub library: String,
    /// Names of symbols, without versions.
    pub symbols: Vec<String>,
    /// The last policy that forbids them; empty for all.
    #[serde(default)]
    pub until: String,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// A policy table with all sets expanded. `S` is `String` in the build script, and `&'static str`
/// when decoded from the program.
///
/// A mask is a set of policies: bit `n` is the policy with index `n`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct ExpandedPolicies<S> {
    /// Name, aliases and priority of each policy, by decreasing priority.
    pub policies: Vec<(S, Vec<S>, u32)>,
    /// Libraries, with masks of the policies that permit them.
    pub libraries: Vec<(S, u64)>,
    /// Libraries and symbols, with masks of the policies that forbid them.
    pub blacklist: Vec<(S, Vec<(S, u64)>)>,
    /// The architectures.
    pub arches: Vec<ArchPolicies<S>>,
}

/// The policies and symbol versions of one architecture.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct ArchPolicies<S> {
    /// The architecture, `x86_64`.
    pub arch: S,
    /// The mask of its policies.
    pub policies: u64,
    /// The SONAME of its C library; empty if `libraries` has it.
    pub libc: S,
    /// Prefixes and versions, with masks of the policies that permit them.
    pub versions: Vec<(S, Vec<(S, u64)>)>,
}
