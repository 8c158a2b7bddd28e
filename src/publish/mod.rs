//! Wanted and present files to ordered changes; the documents of a release.
//!
//! Input: what a release should hold and what it holds. Output: [`Changes`], which a local folder and GitHub apply alike,
//! `SHA256SUMS` and `rock-manifest.json`, and the faults of a set of wheels as a release.
//!
//! **Invariant:** applying the changes leaves no changes; a file whose bytes differ from the published ones is never
//! replaced unless that was asked for; files that this program did not write are never touched.

mod cell;
mod changes;
mod checks;
mod manifest;
mod sums;
mod tag;

pub use cell::Cell;
pub use changes::{Change, Changes, Conflict, Difference, Present, Wanted, changes};
pub use checks::{Expected, MissingRule, Offered, against_plan, as_release};
pub use manifest::{Accelerated, MANIFEST, Manifest, ManifestError, ManifestFile};
pub use sums::{SUMS, sums};
pub use tag::{TagName, TagNameError};
