//! Platform policies: what a manylinux or musllinux tag permits, and which policies a wheel's needs
//! meet.
//!
//! Input: the tables of `matrices/compat/policies`, embedded at build time, or a file in
//! auditwheel's JSON form. Output: [`Policies`] of one architecture, asked for libraries and symbol
//! versions.
//!
//! **Invariant:** what a policy permits, each policy of lower priority permits too (PEP 600); a
//! table or file in which that fails never becomes [`Policies`].

mod file;
mod policies;

pub use file::PolicyFile;
pub use policies::{
    PlatformPolicies, PlatformPolicy, PolicyFamily, SymbolCompliance, SymbolVersionNeed,
    UnmetPolicy, is_loader,
};
