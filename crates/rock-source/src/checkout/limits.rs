//! Limits on the output of git and the files of a checkout, because repositories and patches are
//! untrusted.

/// The largest output of a program, in bytes: that of `ls-remote` for a repository with 700,000
/// refs.
pub(super) const LARGEST_OUTPUT_BYTES: usize = 64 << 20;
/// The largest part of a progress line that is kept, in bytes.
pub(super) const LONGEST_LINE_BYTES: usize = 64 << 10;
/// The size of the end of stderr that is kept, in bytes.
pub(super) const KEPT_BYTES: usize = 64 << 10;
/// The largest git file other than a reflog that is read, in bytes: `HEAD`, `commondir`,
/// `info/exclude` and the like have a few lines.
pub(super) const LARGEST_GIT_FILE_BYTES: u64 = 1 << 20;
/// The largest reflog of a head, in bytes; a line has about 200.
pub(super) const LARGEST_REFLOG_BYTES: u64 = 64 << 20;
/// The largest file with the number of the next patch of a series (`rebase-apply/next`), in bytes.
pub(super) const LARGEST_SERIES_BYTES: u64 = 64;
/// The largest state file of a checkout, in bytes; typical ones have a few kB.
pub(super) const LARGEST_STATE_BYTES: u64 = 16 << 20;
/// The largest patch, in bytes; patches are held in memory. GitHub accepts files of at most 100 MiB
/// (GitHub Docs, "About large files on GitHub"), and a binary patch contains both sides of a
/// change.
pub(super) const LARGEST_PATCH_BYTES: u64 = 256 << 20;
/// The limit on commits listed on top of the last checkout, as an option of `git log`.
pub(super) const MOST_ABOVE: &str = "--max-count=100";
