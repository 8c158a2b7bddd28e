//! Limits on matrix files, in addition to those of every YAML file
//! ([`yaml::limits`](rock_yaml::limits)).

/// The maximum length of a text in bytes. A plan repeats values of axes and variables for each job;
/// names of images have up to 255 characters, and paths up to 4096 bytes (`PATH_MAX` of Linux,
/// limits.h).
pub const LONGEST_TEXT_BYTES: usize = 4 << 10;
/// The maximum number of entries of `rows`, of `include` and of `exclude` each. Each entry is
/// looked up in tables, so that the maximum of all three takes seconds.
pub const MOST_ENTRIES: usize = 20_000;
/// The maximum of `workflow.max-parallel` and `workflow.max-jobs`: GitHub's limit on the jobs of
/// one matrix (docs.github.com, "Workflow syntax", `strategy.matrix`).
pub const MOST_PARALLEL: u32 = 256;
/// The maximum number of groups of a container. Linux allows a process 65,536 (`NGROUPS_MAX`,
/// limits.h); builds need one or two.
pub const MOST_GROUPS: usize = 1000;
/// The maximum number of labels that select the runners of a job. Runners have a handful.
pub const MOST_RUNNER_LABELS: usize = 100;
/// The maximum number of library names and patterns that a repair excludes; the longest preset has
/// about 100.
pub const MOST_LIBRARIES: usize = 1000;
/// The maximum number of secrets of one matrix file: GitHub gives a workflow at most 100 each of
/// the organization, the repository and the environment (docs.github.com, "Secrets reference",
/// limits).
pub const MOST_SECRETS: usize = 300;
/// The maximum number of targets and families in one list, or in one value of the axis `gfx`. LLVM
/// knows fewer than 100 processors, each with few features.
pub const MOST_TARGETS: usize = 1000;
/// The maximum number of values of an axis that an unknown value is compared with, to suggest the
/// nearest one.
pub const MOST_COMPARED: usize = 1000;
/// The maximum length of a value in an issue (`plan --from-issue`), in characters. The longest
/// sensible one is a family with a full commit.
pub const LONGEST_ISSUE_VALUE: usize = 64;
