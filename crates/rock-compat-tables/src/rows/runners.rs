//! Rows of the tables of GitHub Actions runners and actions.

use serde::{Deserialize, Serialize};

use super::Provenance;

/// A GitHub Actions runner.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RunnerRow {
    /// The name that matrix files use.
    pub name: String,
    /// Labels for `runs-on`.
    pub labels: Vec<String>,
    /// Former labels.
    #[serde(default)]
    pub aliases: Vec<RunnerAlias>,
    /// `hosted`, `self-hosted` or `arc` (Actions Runner Controller).
    pub kind: String,
    /// The operating system, `linux` or `windows`.
    #[serde(default = "linux")]
    pub os: String,
    /// The architecture, `x86_64`; part of job and artifact names.
    pub arch: String,
    /// Hardware threads; `None` if unknown.
    #[serde(default)]
    pub threads: Option<u32>,
    /// Memory in GiB; `None` if unknown.
    #[serde(default)]
    pub memory_gib: Option<u32>,
    /// Free disk space of a job in GiB; `None` if unknown.
    #[serde(default)]
    pub disk_gib: Option<u32>,
    /// Disk space in GiB that the workflow step "Free disk" adds.
    #[serde(default)]
    pub freed_gib: Option<u32>,
    /// Maximum run time of a job in minutes; `None` if unlimited or unknown.
    #[serde(default)]
    pub limit_min: Option<u32>,
    /// gfx targets that a job on the runner can execute.
    #[serde(default)]
    pub gpu: Vec<String>,
    /// Whether a job can start containers.
    #[serde(default = "yes")]
    pub docker: bool,
    /// The provenance of the row.
    pub origin: Provenance,
}

fn linux() -> String {
    "linux".to_owned()
}

fn yes() -> bool {
    true
}

/// A group of runners under one name; a hash of the job ID selects the runner of a job.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RunnerPoolRow {
    /// The name that matrix files use.
    pub name: String,
    /// The runners, all of the same operating system.
    pub members: Vec<PoolMember>,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// A runner of a pool and its weight.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PoolMember {
    /// The name of the runner.
    pub runner: String,
    /// The share of jobs relative to the other members, at least 1.
    pub weight: u32,
}

/// A former label of a runner.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RunnerAlias {
    /// The label.
    pub label: String,
    /// The month in which the label was removed; empty if it still works.
    #[serde(default)]
    pub until: String,
}

/// The pinned commit of a GitHub action.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ActionRow {
    /// `OWNER/REPOSITORY`.
    pub name: String,
    /// The release tag, `v7.0.1`.
    pub version: String,
    /// The commit of the tag, 40 hexadecimal digits.
    pub sha: String,
    /// The value of `runs.using` in `action.yml`: `composite`, or `node24` or later.
    pub runtime: String,
    /// The provenance of the row.
    pub origin: Provenance,
}

/// The oldest Node.js major on GitHub runners (GitHub changelog, 2026-09-23: Node 20 was removed).
const OLDEST_NODE: u32 = 24;

impl ActionRow {
    /// Returns whether runners support this value of `runs.using`, and actions with it may be
    /// pinned: `composite`, or `node` with a major of at least 24.
    pub fn is_supported_runtime(runtime: &str) -> bool {
        let node = runtime
            .strip_prefix("node")
            .filter(|number| !number.starts_with(['0', '+']));
        runtime == "composite"
            || node
                .and_then(|number| number.parse().ok())
                .is_some_and(|node: u32| node >= OLDEST_NODE)
    }
}
