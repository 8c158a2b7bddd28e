//! Limits on what git and the folder of a checkout say: a repository and its patches are those of
//! others.

/// The longest answer of a program in bytes: `ls-remote` of a repository with 700,000 refs.
pub(super) const LARGEST_OUTPUT_BYTES: usize = 64 << 20;
/// The most of a line of progress that is kept, in bytes.
pub(super) const LONGEST_LINE_BYTES: usize = 64 << 10;
/// The most of what a program says on stderr that is kept, in bytes from its end.
pub(super) const KEPT_BYTES: usize = 64 << 10;
/// The largest file of git that is read, in bytes, but for reflogs: `HEAD`, `commondir`,
/// `info/exclude` and the like have some lines.
pub(super) const LARGEST_GIT_FILE_BYTES: u64 = 1 << 20;
/// The largest reflog of a head in bytes; a line has about 200.
pub(super) const LARGEST_REFLOG_BYTES: u64 = 64 << 20;
/// The largest file with the number of the next patch of a series in bytes (`rebase-apply/next`).
pub(super) const LARGEST_SERIES_BYTES: u64 = 64;
/// The largest state of a checkout in bytes; one has a few kB.
pub(super) const LARGEST_STATE_BYTES: u64 = 16 << 20;
/// The largest patch in bytes, which is held in memory. GitHub takes files of at most 100 MiB
/// (GitHub Docs, "About large files on GitHub"), and a binary patch holds both sides of a change.
pub(super) const LARGEST_PATCH_BYTES: u64 = 256 << 20;
/// The most commits that are looked at above what was made, as an option of `git log`.
pub(super) const MOST_ABOVE: &str = "--max-count=100";
