//! Platform policies: the tables as written, and their expansion.
//!
//! **Invariant:** only tables whose sets grow from policy to policy (PEP 600) can be expanded.

mod expand;
mod tables;

pub use expand::{PolicyTableError, expand_policies};
pub use tables::{
    ArchPolicies, ArchRow, BlacklistRow, ExpandedPolicies, LadderRow, LibraryRow, PolicyRow,
    PolicyTable,
};
