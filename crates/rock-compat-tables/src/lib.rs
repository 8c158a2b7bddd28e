//! Compatibility tables: the rows of `matrices/compat` as types, their validation, and the
//! expansion of platform policies.
//!
//! Input: tables that serde deserialized from YAML. Output: rows, or one error for each invalid
//! row.
//!
//! The build script of `rock-compat` depends on this crate, so it has few dependencies.
//!
//! **Invariant:** rows hold texts as they were written; versions are parsed when they are compared.
//!
//! ```
//! use rock_compat_tables::{rows::CompatTables, validate_tables};
//!
//! let tables: CompatTables = serde_yaml::from_str(
//!     "
//!     sources: {docs: ROCm documentation}
//!     rocm:
//!       - {rocm: '6.4', origin: {status: verified, source: docs, checked: 2026-11-21}}
//!       - {rocm: six, origin: {status: verified, source: docs, checked: 2026-11-21}}
//!     ",
//! )?;
//! let errors = validate_tables(&tables);
//! assert_eq!(
//!     errors[0].to_string(),
//!     "rocm six: it is not a ROCm version such as 6.2 or 6.2.4"
//! );
//! # Ok::<(), serde_yaml::Error>(())
//! ```

#![warn(missing_docs)]

mod overlay;
pub mod policy;
pub mod rows;
mod validate;

pub use overlay::TableOverlay;
pub use validate::{RowError, validate_tables};

#[cfg(test)]
mod shipped;
