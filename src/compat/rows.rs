//! The rows of `matrices/compat/*.yaml`, as written.
//!
//! This file is also compiled into the build script, which checks the shipped tables and embeds them, so it uses
//! nothing of the crate.
//!
//! **Invariant:** texts stay texts; versions are parsed where a question is asked.

#![allow(missing_docs, reason = "columns are named and described in docs/compat.md")]

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// All tables. A file holds one or several of them.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Tables {
    /// Short name → what the source is.
    pub sources: BTreeMap<String, String>,
    pub torch: Vec<TorchRow>,
    pub rocm: Vec<RocmRow>,
    pub torch_gfx: Vec<GfxRow>,
    pub rocm_gfx: Vec<GfxRow>,
    pub gfx_since: Vec<GfxSinceRow>,
    pub families: Vec<FamilyRow>,
    pub packages: Vec<PackageRow>,
    pub absent_families: Vec<AbsentFamilyRow>,
    pub images: Vec<ImageRow>,
    pub builders: Vec<BuilderRow>,
    pub runners: Vec<RunnerRow>,
    pub actions: Vec<ActionRow>,
    pub libc: Vec<LibcRow>,
    pub build_costs: Vec<BuildCostRow>,
    pub limits: Vec<LimitRow>,
    pub claims: Vec<ClaimRow>,
}

/// Where a fact comes from.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    pub status: Status,
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
pub enum Status {
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
    pub origin: Origin,
}

/// One ROCm version that exists.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RocmRow {
    pub rocm: String,
    /// `7.2.53211`, where known.
    #[serde(default)]
    pub hip: String,
    pub origin: Origin,
}

/// A set of gfx targets for some ROCm versions.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GfxRow {
    /// ROCm minors, or patches, this row is about.
    pub rocm: Vec<String>,
    pub gfx: Vec<String>,
    pub origin: Origin,
}

/// The first ROCm whose toolchain compiles for a target.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GfxSinceRow {
    pub gfx: String,
    pub rocm: String,
    pub origin: Origin,
}

/// A family of commit-pinned versions that cannot be built for AMD GPUs at all.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct AbsentFamilyRow {
    pub package: String,
    pub family: String,
    pub reason: String,
    pub origin: Origin,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FamilyRow {
    pub family: String,
    pub members: Vec<String>,
    pub origin: Origin,
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
    /// SHA-256 of the source distribution by version; a version without one was not released as such.
    #[serde(default)]
    pub sdist_sha256: BTreeMap<String, String>,
    #[serde(default)]
    pub submodules: BTreeMap<String, String>,
    /// Text shown with every job of a backend, by backend.
    #[serde(default)]
    pub warnings: BTreeMap<String, String>,
    pub origin: Origin,
}

/// One `rocm/pytorch` image tag.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ImageRow {
    pub repository: String,
    pub tag: String,
    #[serde(default)]
    pub digest: String,
    pub origin: Origin,
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
    pub origin: Origin,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RunnerRow {
    pub name: String,
    pub labels: Vec<String>,
    #[serde(default)]
    pub aliases: Vec<RunnerAlias>,
    pub kind: String,
    pub arch: String,
    #[serde(default)]
    pub threads: Option<u32>,
    #[serde(default)]
    pub memory_gib: Option<u32>,
    #[serde(default)]
    pub disk_gib: Option<u32>,
    #[serde(default)]
    pub limit_min: Option<u32>,
    #[serde(default)]
    pub gpu: Vec<String>,
    pub origin: Origin,
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
    pub origin: Origin,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LibcRow {
    pub host: String,
    pub glibc: String,
    pub glibcxx_max: String,
    pub origin: Origin,
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
    pub origin: Origin,
}

#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LimitRow {
    /// Key used by code, `jobs-per-matrix`.
    pub name: String,
    pub what: String,
    pub value: u64,
    pub unit: String,
    pub origin: Origin,
}

/// A fact in words that code does not compute with; shown by `compat explain`.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ClaimRow {
    pub about: String,
    pub claim: String,
    pub origin: Origin,
}

impl Tables {
    /// Adds the rows of another file. A source or a table may stand in several files.
    pub fn merge(&mut self, other: Self) {
        self.sources.extend(other.sources);
        self.torch.extend(other.torch);
        self.rocm.extend(other.rocm);
        self.torch_gfx.extend(other.torch_gfx);
        self.rocm_gfx.extend(other.rocm_gfx);
        self.gfx_since.extend(other.gfx_since);
        self.families.extend(other.families);
        self.packages.extend(other.packages);
        self.absent_families.extend(other.absent_families);
        self.images.extend(other.images);
        self.builders.extend(other.builders);
        self.runners.extend(other.runners);
        self.actions.extend(other.actions);
        self.libc.extend(other.libc);
        self.build_costs.extend(other.build_costs);
        self.limits.extend(other.limits);
        self.claims.extend(other.claims);
    }

    /// Every origin with a name for its row, for checks that are the same in all tables.
    fn origins(&self) -> Vec<(String, &Origin)> {
        let mut origins = Vec::new();
        macro_rules! collect {
            ($($table:ident: $row:ident => $name:expr),+ $(,)?) => {
                $(for $row in &self.$table {
                    origins.push((format!("{} {}", stringify!($table).replace('_', "-"), $name), &$row.origin));
                })+
            };
        }
        collect! {
            torch: row => row.torch,
            rocm: row => row.rocm,
            torch_gfx: row => row.rocm.join(","),
            rocm_gfx: row => row.rocm.join(","),
            gfx_since: row => row.gfx,
            families: row => row.family,
            packages: row => format!("{} {}", row.package, row.version),
            absent_families: row => row.family,
            images: row => row.tag,
            builders: row => row.image,
            runners: row => row.name,
            actions: row => row.name,
            libc: row => row.host,
            build_costs: row => format!("{} targets {} threads {}", row.package, row.targets, row.threads),
            limits: row => row.name,
            claims: row => row.claim,
        }
        origins
    }

    /// What is wrong with the tables, a line each: unknown sources, dates that are none, rows that stand twice,
    /// versions and targets of the wrong form.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        for (row, origin) in self.origins() {
            if !self.sources.contains_key(&origin.source) {
                faults.push(format!("{row}: source `{}` is not in the table of sources", origin.source));
            }
            if !is_date(&origin.checked) {
                faults.push(format!("{row}: `{}` is not a date such as 2026-11-21", origin.checked));
            }
            if !seen.insert(row.clone()) {
                faults.push(format!("{row}: the row stands twice"));
            }
        }
        let rocm = self.torch.iter().flat_map(|row| &row.rocm_index).chain(self.rocm.iter().map(|row| &row.rocm));
        for version in rocm.filter(|version| !is_dotted(version)) {
            faults.push(format!("`{version}` is not a ROCm version"));
        }
        for row in &self.torch {
            if !is_dotted(&row.torch) || row.torch.matches('.').count() != 1 {
                faults.push(format!("torch {}: the row is named by major and minor, such as 2.6", row.torch));
            }
            for patch in row.patches.iter().filter(|patch| !patch.starts_with(&format!("{}.", row.torch))) {
                faults.push(format!("torch {}: `{patch}` is not one of its patches", row.torch));
            }
        }
        let lists = self.torch_gfx.iter().chain(&self.rocm_gfx).flat_map(|row| &row.gfx);
        let targets = lists
            .chain(self.families.iter().flat_map(|row| &row.members))
            .chain(self.packages.iter().flat_map(|row| row.gfx.values().flatten()))
            .chain(self.gfx_since.iter().map(|row| &row.gfx));
        for target in targets.filter(|target| !target.starts_with("gfx") || target.len() < 6) {
            faults.push(format!("`{target}` is not a gfx target"));
        }
        for action in self.actions.iter().filter(|row| row.sha.len() != 40) {
            faults.push(format!("action {}: `{}` is not a commit of 40 hex digits", action.name, action.sha));
        }
        for row in &self.packages {
            for (version, sha) in row.sdist_sha256.iter().filter(|(_, sha)| sha.len() != 64) {
                faults.push(format!("{} {version}: `{sha}` is not a SHA-256", row.package));
            }
        }
        faults
    }
}

fn is_dotted(text: &str) -> bool {
    text.contains('.') && text.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
}

fn is_date(text: &str) -> bool {
    text.len() == 10
        && text.split('-').map(str::len).eq([4, 2, 2])
        && text.bytes().all(|b| b.is_ascii_digit() || b == b'-')
}
