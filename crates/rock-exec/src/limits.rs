//! Limits on the files in a job directory, which the steps of the build can write to.

/// Maximum size of `build.json`. Typical ones have a few KiB.
pub(super) const MAX_RECORD_BYTES: u64 = 16 << 20;
/// Maximum length of a path or value in `build.json`, in bytes: Linux's `PATH_MAX` (limits.h), with
/// room for a parent directory.
pub(super) const MAX_LINE_BYTES: usize = 8 << 10;
/// Maximum length of a text in `build.json` that is only shown, such as the reason of a failure, in
/// bytes: a path and the words around it.
pub(super) const MAX_SHOWN_BYTES: usize = 8 << 10;
/// Maximum size of a file in which a build reports the versions it used or its counters. Typical
/// ones have a few hundred bytes.
pub(super) const MAX_FACTS_BYTES: u64 = 1 << 20;
/// Maximum size of a deferred fact. They are paths and versions.
pub(super) const MAX_ANSWER_BYTES: u64 = 1 << 20;
/// Maximum size of a file that a recipe detects a fact from.
pub(super) const MAX_FACT_FILE_BYTES: u64 = 1 << 20;
/// Maximum size of a runner's device list (`gha-render-devices`). Typical ones have a few hundred
/// bytes.
pub(super) const MAX_DEVICES_BYTES: u64 = 4096;
/// Maximum lines of a stage that are kept for a message about its failure.
pub(super) const MAX_TAIL_LINES: usize = 20;
/// Maximum characters of such a line; the rest of it is in the log.
pub(super) const MAX_TAIL_LINE_CHARS: usize = 400;
/// Maximum length of an unterminated line, in bytes. A longer one is written in pieces.
pub(super) const MAX_UNFINISHED_LINE_BYTES: usize = 64 << 10;
/// Maximum characters that a reason quotes of a stage's last line.
pub(super) const MAX_REASON_CHARS: usize = 200;
/// Maximum lines of a failed stage's output in a message that also shows compiler errors.
pub(super) const MAX_TAIL_LINES_AFTER_ERRORS: usize = 5;
/// Maximum compiler errors in a message.
pub(super) const MAX_COMPILER_ERRORS: usize = 5;
/// Maximum lines of a CMake error after the one with the location.
pub(super) const MAX_CMAKE_LINES: usize = 3;
