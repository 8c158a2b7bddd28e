//! Size limits of input files whose format has no limit.

/// Maximum size of files without another limit: logs, reports of machines, lists of runs and results, checksums,
/// rendered files.
pub(super) const MAX_FILE_BYTES: u64 = 64 << 20;
/// Maximum size of a workflow to compare with the rendered one: twice GitHub's limit.
pub(super) const MAX_WORKFLOW_BYTES: u64 = 1 << 20;
