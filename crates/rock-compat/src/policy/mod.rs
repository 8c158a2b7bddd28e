//! Platform policies (PEP 600, PEP 656): the libraries and symbol versions that a platform tag
//! permits, and the policies that a wheel complies with.
//!
//! Input: the embedded tables of `matrices/compat/policies`, or a policy file in the format of
//! auditwheel. Output: the [`PlatformPolicies`] of one family and architecture.
//!
//! **Invariant:** a policy permits everything that a policy of higher priority permits; tables and
//! files that violate this are rejected.

mod file;
mod policies;

pub use file::PolicyFile;
pub use policies::{
    PlatformPolicies, PlatformPolicy, PolicyFamily, SymbolCompliance, SymbolVersionNeed,
    UnmetPolicy, is_loader,
};
