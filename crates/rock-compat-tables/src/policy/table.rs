//! The rows of `matrices/compat/policies/*.yaml`, as written, and the form that the build script
//! embeds.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::rows::Origin;

/// One file: the policies of a family.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Table {
    /// The policies, the one that most systems meet first.
    pub policies: Vec<PolicyRow>,
    /// The architectures that have policies.
    pub arches: Vec<ArchRow>,
    /// Symbol versions that exist.
    pub ladders: Vec<LadderRow>,
    /// Libraries that every system has.
    pub libraries: Vec<LibraryRow>,
    /// Symbols that no wheel may need.
    pub blacklist: Vec<BlacklistRow>,
}

/// One policy.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PolicyRow {
    /// `manylinux_2_28`.
    pub policy: String,
    /// Older names, `manylinux2014`.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// More systems meet a policy with a higher number.
    pub priority: u32,
    /// Prefix → highest number permitted, `none` for none at all; a prefix that is absent keeps the
    /// row before's.
    #[serde(default)]
    pub ceilings: BTreeMap<String, String>,
    /// Architecture → ceilings that hold there, in this row only.
    #[serde(default)]
    pub except: BTreeMap<String, BTreeMap<String, String>>,
    /// Where it was read.
    pub origin: Origin,
}

/// The policies of one architecture.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchRow {
    /// `x86_64`.
    pub arch: String,
    /// First policy.
    pub since: String,
    /// Last policy; empty: the last of the table.
    #[serde(default)]
    pub until: String,
    /// What the C library is called on it, where that differs between architectures.
    #[serde(default)]
    pub libc: String,
    /// Where it was read.
    pub origin: Origin,
}

/// Symbol versions of a prefix.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LadderRow {
    /// `GLIBC`.
    pub prefix: String,
    /// Architectures that have them; none: all.
    #[serde(default)]
    pub arch: Vec<String>,
    /// `2.17 2.18 TM_1@1.3.6`.
    pub versions: String,
    /// Where it was read.
    pub origin: Origin,
}

/// Libraries outside of the wheel that it may need.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LibraryRow {
    /// SONAMEs.
    pub names: Vec<String>,
    /// First policy; empty: all.
    #[serde(default)]
    pub since: String,
    /// Where it was read.
    pub origin: Origin,
}

/// Symbols of a permitted library that no wheel may need.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BlacklistRow {
    /// SONAME.
    pub library: String,
    /// Symbol names.
    pub symbols: Vec<String>,
    /// Last policy; empty: all.
    #[serde(default)]
    pub until: String,
    /// Where it was read.
    pub origin: Origin,
}

/// A table with its sets written out: what the program carries. `S` is `String` where it is made
/// and `&'static str` where it is read from the program itself.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct Expanded<S> {
    /// The policies, highest priority first; bit `n` of a mask stands for the one with index `n`.
    pub policies: Vec<(S, Vec<S>, u32)>,
    /// Libraries with the policies that permit them.
    pub libraries: Vec<(S, u64)>,
    /// Libraries, their symbols, and the policies that forbid these.
    pub blacklist: Vec<(S, Vec<(S, u64)>)>,
    /// What differs between architectures.
    pub arches: Vec<ExpandedArch<S>>,
}

/// The part of one architecture.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
pub struct ExpandedArch<S> {
    /// `x86_64`.
    pub arch: S,
    /// The policies that it has.
    pub policies: u64,
    /// Its own name of the C library; empty where that is among `libraries`.
    pub libc: S,
    /// Prefixes, their versions, and the policies that permit these.
    pub versions: Vec<(S, Vec<(S, u64)>)>,
}
