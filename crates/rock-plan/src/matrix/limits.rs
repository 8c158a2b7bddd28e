//! Limits on the expansion of one matrix file.

/// The most legal cells. GitHub runs 256 jobs of a matrix, so this is thousands of workflows; a
/// cell takes 8 bytes until it becomes a job.
pub(super) const MOST_LEGS: usize = 10_000_000;
/// The most questions to rules about values bound one by one: a walk of seconds.
pub(super) const MOST_STEPS: u64 = 1_000_000_000;
/// The most combinations of values that facts judge, of torch and ROCm and the like. Each may have
/// a finding of some hundred bytes.
pub(super) const MOST_COMBINATIONS: usize = 100_000;
/// The most combinations for which an answer of 4 bytes each is kept, whether an exclude names them
/// or not; beyond that only those that are named are kept.
pub(super) const MOST_PLACES: usize = 1 << 16;
