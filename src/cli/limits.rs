//! Sizes of the files that commands read, where no format has a limit of its own.

/// The largest matrix or recipe file. A matrix of ten thousand explicit rows takes about one MiB.
pub(super) const MAX_DOCUMENT_BYTES: u64 = 16 << 20;
/// The largest file of another format: logs, reports of machines, lists of runs and of results,
/// sums, rendered files.
pub(super) const MAX_FILE_BYTES: u64 = 64 << 20;
/// The largest workflow that is compared with the rendered one: twice what GitHub reads.
pub(super) const MAX_WORKFLOW_BYTES: u64 = 1 << 20;
/// The largest page of an index: about 100,000 files.
pub(super) const MAX_INDEX_PAGE_BYTES: u64 = 64 << 20;
/// The largest METADATA that is read from beside a wheel, as large as it may be in the wheel.
pub(super) const MAX_METADATA_BYTES: u64 = 16 << 20;
/// The largest file of the machine that a recipe reads a fact from.
pub(super) const MAX_FACT_FILE_BYTES: u64 = 1 << 20;
