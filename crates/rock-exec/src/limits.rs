//! Limits on what a build leaves in the folder of its job, where its own steps write.

/// The largest `build.json`. Real ones have a few KiB.
pub(super) const MAX_RECORD_BYTES: u64 = 16 << 20;
/// A path or a value in `build.json`, in bytes: `PATH_MAX` of Linux (limits.h), with room for a
/// folder above it.
pub(super) const MAX_LINE_BYTES: usize = 8 << 10;
/// A text of `build.json` that is only shown, such as the reason of a failure: a path and the words
/// around it, in bytes.
pub(super) const MAX_SHOWN_BYTES: usize = 8 << 10;
/// The largest file in which a build says what it used or counted. Real ones have some hundred
/// bytes.
pub(super) const MAX_FACTS_BYTES: u64 = 1 << 20;
/// The largest answer of a step that asks the machine. Answers are paths and versions.
pub(super) const MAX_ANSWER_BYTES: u64 = 1 << 20;
/// The largest list of devices of a runner (`gha-render-devices`). One has some hundred bytes.
pub(super) const MAX_DEVICES_BYTES: u64 = 4096;
/// The lines that are kept of a stage for a message about its failure.
pub(super) const MAX_TAIL_LINES: usize = 20;
/// The length of such a line, in characters; the rest of it is in the log.
pub(super) const MAX_TAIL_LINE_CHARS: usize = 400;
/// A line without an end that is longer is written in pieces, in bytes.
pub(super) const MAX_UNFINISHED_LINE_BYTES: usize = 64 << 10;
/// Maximum characters that a reason quotes of a stage's last line.
pub(super) const MAX_REASON_CHARS: usize = 200;
/// Maximum lines of a failed stage's output that a message shows where it also shows errors of
/// compilers.
pub(super) const MAX_TAIL_LINES_AFTER_ERRORS: usize = 5;
/// Maximum errors of compilers that a message shows.
pub(super) const MAX_COMPILER_ERRORS: usize = 5;
/// Maximum lines of a CMake error after the one that names the place.
pub(super) const MAX_CMAKE_LINES: usize = 3;
