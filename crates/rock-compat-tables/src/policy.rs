//! Platform policies: the tables as written, and their expansion.
//!
//! Input: YAML tables of a policy family (manylinux, PEP 600; musllinux, PEP 656). Output: the
//! permitted libraries and symbol versions of each policy, or all errors of the table.
//!
//! **Invariant:** only tables in which each policy permits at least as much as the previous one
//! (PEP 600) can be expanded.

mod expand;
mod tables;

pub use expand::{PolicyTableError, expand_policies};
pub use tables::{
    ArchPolicies, ArchRow, BlacklistRow, ExpandedPolicies, LadderRow, LibraryRow, PolicyRow,
    PolicyTable,
};
