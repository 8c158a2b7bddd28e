//! Limits on the expansion of one matrix file.

/// Maximum number of legal cells. GitHub runs 256 jobs per matrix, so this is thousands of
/// workflows; a cell takes 8 bytes until it becomes a job.
pub(super) const MOST_LEGS: usize = 10_000_000;
/// Maximum number of steps of a walk (bound values and rule evaluations); reaching it takes
/// seconds.
pub(super) const MOST_STEPS: u64 = 1_000_000_000;
/// Maximum number of value combinations that a rule evaluates against the compatibility data, such
/// as torch and ROCm. Each of them may have a finding, which takes a few hundred bytes.
pub(super) const MOST_COMBINATIONS: usize = 100_000;
/// Maximum number of combinations for which an exclude rule stores an answer (4 bytes each) for
/// every combination; beyond it, only the excluded ones are stored.
pub(super) const MOST_PLACES: usize = 1 << 16;
