//! Renders release notes, changelogs, package tables, coverage and missing wheels.
//!
//! Input: [`Expected`] cells of a plan, [`Wheels`] of listings, and the outcomes of jobs. Output:
//! Markdown, SVG, and plain values for programs.
//!
//! **Invariant:** Documents are generated from the plan and the listings only, never from an
//! earlier document, and equal input in any order gives equal bytes. External names are escaped.
//! Wheels with unreadable names are listed.

pub mod codes;
pub mod finder;
pub mod pick;

mod addresses;
mod archives;
mod bands;
mod coverage;
mod dealt;
mod expected;
mod failures;
mod heatmap;
mod history;
mod machine;
mod markdown;
mod markers;
mod matched;
mod missing;
mod notes;
mod outcomes;
mod packages;
mod pythons;
mod share;
mod target_shortfalls;
#[cfg(test)]
mod tests;
mod wheels;

pub use addresses::{repository_in, repository_of};
pub use archives::{
    ArchiveName, ExpectedArchive, MatchedArchive, PublishedArchive, called, matched_archives,
};
pub use coverage::{Coverage, CoverageRow, badges, coverage, coverage_table, updated};
pub use dealt::dealt_out;
pub use expected::{Expected, ExpectedCell};
pub use failures::{Failed, Failures, failures};
pub use heatmap::{Heatmap, Scheme, heatmaps, svg};
pub use history::with_section;
pub use machine::Machine;
pub use markers::MarkerError;
pub use matched::{Matched, matched};
pub use missing::{Cell, Column, Grid, Row, State, archives_text, grids, listed, missing_text};
pub use notes::{Notes, history_section, notes, release_of};
pub use outcomes::{Outcomes, OutcomesError};
pub use packages::{PackageRow, package_rows, packages};
pub use pythons::Pythons;
pub use rock_names::Combination;
pub use share::{Grade, Share};
pub use target_shortfalls::{target_shortfalls, unread_targets};
pub use wheels::{Beside, PublishedWheel, Unread, Wheels};
