//! One step of a build: a process with everything it needs.

use std::collections::BTreeMap;

/// A process to run. Paths in `cwd`, `outputs` and `clean` are relative to the job's folder; those inside `argv` and
/// `env` are absolute where it matters, as the folder is seen on the host or inside the container.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Step {
    /// The stage it belongs to, a name for `--continue`. Unique within a build.
    pub stage: String,
    /// Program and arguments; no shell stands between.
    pub argv: Vec<String>,
    /// Variables set for this process, beside those inherited.
    pub env: BTreeMap<String, String>,
    /// Variables taken away.
    pub env_remove: Vec<String>,
    /// Variables whose inherited value is extended.
    pub env_extend: BTreeMap<String, Extend>,
    /// A variable that gets the number of parallel jobs, unless it is set already.
    pub jobs: Option<Jobs>,
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

/// Texts put before and after a variable's inherited value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extend {
    /// Put before.
    pub prepend: Option<String>,
    /// Put after.
    pub append: Option<String>,
    /// What stands between.
    pub separator: String,
}

impl Extend {
    /// The new value for an inherited one; an empty or missing one adds no separator.
    pub fn apply(&self, inherited: Option<&str>) -> String {
        let parts = [self.prepend.as_deref(), inherited.filter(|text| !text.is_empty()), self.append.as_deref()];
        parts.into_iter().flatten().collect::<Vec<_>>().join(&self.separator)
    }
}

/// A variable that gets the number of parallel jobs, counted where and when the step runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jobs {
    /// `MAX_JOBS`.
    pub variable: String,
    /// Memory that one job may take, in tenths of a GiB.
    pub tenths_gib_per_job: u32,
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
