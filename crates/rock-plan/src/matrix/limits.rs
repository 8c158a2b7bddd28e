//! Limits on the expansion of one matrix file.

/// Maximum number of legs. GitHub runs 256 jobs per matrix, so this is thousands of
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
pub(super) const MOST_STORED_ANSWERS: usize = 1 << 16;

/// The matrix file exceeds a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MatrixSizeError {
    /// The number of cells exceeds 64 bits.
    #[error("the axes have more than 2^64 cells")]
    Cells,
    /// Too many legs.
    #[error("more than {MOST_LEGS} cells are legal")]
    Legs,
    /// Too many combinations to evaluate against the compatibility data.
    #[error(
        "the compatibility data would have to be evaluated for more than {MOST_COMBINATIONS} \
         combinations of two or three axes"
    )]
    Combinations,
    /// Too many steps, even if there are few legs.
    #[error("expanding the matrix takes more than {MOST_STEPS} steps")]
    Steps,
}
