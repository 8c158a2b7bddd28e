//! Renders release notes, changelogs, package tables, coverage and missing wheels.
//!
//! Input: the [`ExpectedCells`] of a plan, a [`WheelListing`], and the outcomes of jobs. Output:
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
mod coverage_share;
mod documents;
mod expected_cells;
mod failures;
mod heatmap;
mod history;
mod machine_tag;
mod markdown;
mod markers;
mod matched_cells;
mod missing;
mod missing_report;
mod notes;
mod outcomes;
mod packages;
mod pythons;
mod release_inventory;
mod split_release;
mod target_shortfalls;
#[cfg(test)]
mod tests;
mod wheels;

pub use addresses::{repository_in, repository_of};
pub use archives::{
    ArchiveName, ExpectedArchive, MatchedArchive, PublishedArchive, called, matched_archives,
};
pub use coverage::{Coverage, CoverageRow, badges, coverage, coverage_table, updated};
pub use coverage_share::{CoverageGrade, CoverageShare};
pub use documents::{coverage_json, packages_json};
pub use expected_cells::{ExpectedCell, ExpectedCells};
pub use failures::{MissingFile, RunFailures, failures};
pub use heatmap::{ColorScheme, Heatmap, heatmaps, svg};
pub use history::with_section;
pub use machine_tag::MachineTag;
pub use markers::MarkerError;
pub use matched_cells::{MatchedCell, matched};
pub use missing::{
    CellState, GridCell, GridColumn, GridRow, MissingGrid, archives_text, grids, listed,
    missing_text,
};
pub use missing_report::MissingReport;
pub use notes::{ReleaseNotes, history_section, notes};
pub use outcomes::{JobOutcomes, OutcomesError};
pub use packages::{PackageRow, package_rows, packages};
pub use pythons::WheelPythons;
pub use release_inventory::ReleaseInventory;
pub use rock_names::Combination;
pub use split_release::split_release;
pub use target_shortfalls::{target_shortfalls, unread_targets};
pub use wheels::{ListingContext, PublishedWheel, UnreadableName, WheelListing};
