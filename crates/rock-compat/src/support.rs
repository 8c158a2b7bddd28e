//! Support: whether a combination of versions works, and why.

/// Whether a combination of versions is supported, with the row that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Support {
    /// A row lists the combination, or no row restricts it.
    Supported {
        /// File, row and date: `compat/torch.yaml, torch 2.6, checked 2026-11-21`; empty without a
        /// row.
        source: String,
    },
    /// A row rules the combination out.
    Unsupported(SupportReason),
    /// No row covers the combination.
    Unknown(SupportReason),
}

/// The reason why a combination is unsupported or unknown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SupportReason {
    /// One line: `torch 2.6.0 has ROCm wheels for 6.1 and 6.2.4, not 6.2`.
    pub reason: String,
    /// The nearest alternative, `use ROCm 6.2.4`; empty if there is none.
    pub hint: String,
    /// File, row and date; empty without a row.
    pub source: String,
}
