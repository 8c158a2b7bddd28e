//! Limits on matrix files, beside those of every YAML file ([`yaml::limits`](rock_yaml::limits)).

/// The longest text in bytes. A plan repeats values of axes and variables for each job; names of
/// images have up to 255 characters, and paths up to 4096 bytes (`PATH_MAX` of Linux, limits.h).
pub const LONGEST_TEXT_BYTES: usize = 4 << 10;
/// The most entries of `rows`, of `include` and of `exclude` each. Each entry is looked up in
/// tables, so that this many of all three take seconds.
pub const MOST_ENTRIES: usize = 20_000;
/// The most jobs of `workflow.max-parallel` and `workflow.max-jobs`: GitHub's bound on the jobs of
/// one matrix (docs.github.com, "Workflow syntax", `strategy.matrix`).
pub const MOST_PARALLEL: u32 = 256;
/// The most groups of a container. Linux takes 65,536 of a process (`NGROUPS_MAX`, limits.h);
/// builds need one or two.
pub const MOST_GROUPS: usize = 1000;
/// The most labels that select the runners of a job. Runners have a handful.
pub const MOST_RUNNER_LABELS: usize = 100;
/// The most names of libraries that stay outside of a repaired wheel; the longest preset has about
/// 100.
pub const MOST_LIBRARIES: usize = 1000;
/// The most secrets of one matrix file: GitHub gives a workflow at most 100 each of the
/// organization, the repository and the environment (docs.github.com, "Secrets reference", limits).
pub const MOST_SECRETS: usize = 300;
/// The most targets and families of one list, or of one value of the axis `gfx`. LLVM knows fewer
/// than 100 processors, each with few features.
pub const MOST_TARGETS: usize = 1000;
/// The most values of an axis that a wrong one is compared with, to say which may be meant.
pub const MOST_COMPARED: usize = 1000;
/// The longest value of an issue (`plan --from-issue`) in characters. The longest sensible one is a
/// family with a full commit.
pub const LONGEST_ISSUE_VALUE: usize = 64;
