//! One step of a build: a process with everything it needs.

use std::collections::BTreeMap;

/// A process to run. Paths are relative to the job's folder, which is the working folder on the host and the mount
/// inside a container, so that one step is right in both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The stage it belongs to, a name for `--continue`. Unique within a build.
    pub stage: String,
    /// Program and arguments; no shell stands between.
    pub argv: Vec<String>,
    /// Variables set for this process, beside those inherited.
    pub env: BTreeMap<String, String>,
    /// Variables taken away.
    pub env_remove: Vec<String>,
    /// Working folder, relative to the job's folder; empty: the job's folder.
    pub cwd: String,
    /// Seconds until it is stopped; `None`: as long as the build may take.
    pub timeout_s: Option<u64>,
    /// Files it must leave behind.
    pub outputs: Vec<Output>,
    /// Paths removed before it runs, relative to the job's folder.
    pub clean: Vec<String>,
    /// How often it is tried again after a failure.
    pub retries: u32,
}

/// Files that a step leaves behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// What the recipe calls them, `wheel`.
    pub name: String,
    /// A glob, relative to the job's folder.
    pub glob: String,
    /// How many files must match.
    pub count: usize,
}
