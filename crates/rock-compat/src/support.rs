//! The answer to "does this go together?".

/// Whether two things go together, and what the answer rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Support {
    /// A row says yes.
    Supported {
        /// Table, row and date: `torch.yaml, torch 2.6, checked 2026-11-21`.
        source: String,
    },
    /// A row says no.
    Unsupported(SupportReason),
    /// No row speaks about it.
    Unknown(SupportReason),
}

/// Why a combination is refused or unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupportReason {
    /// One line in the user's words: `torch 2.6.0 has ROCm wheels for 6.1 and 6.2.4, not 6.2`.
    pub reason: String,
    /// The nearest thing that works: `use rocm 6.2.4`; empty when nothing is known.
    pub hint: String,
    /// Table, row and date; empty for an unknown.
    pub source: String,
}
