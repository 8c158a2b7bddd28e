//! Expands a matrix into legs, with the reason for every missing cell.
//!
//! Input: a validated [`crate::config::MatrixConfig`], a [`crate::config::RecipeProfile`] and the
//! compatibility data. Output: a [`MatrixExpansion`]: the legal cells as ranks in the product, and
//! [`ExclusionRow`]s whose counts add up to the rest.
//!
//! Cells are not enumerated one by one if a prefix of axes already excludes them: the axes that
//! compatibility data constrains are bound first, each rule is evaluated as soon as the axes that
//! it reads are bound, and one row covers all cells below.
//!
//! **Invariant:** the legs and the excluded counts add up to the product plus the explicit cells,
//! and no cell is counted twice.

mod axis_space;
mod cell_selection;
mod excluded;
mod expand;
mod gfx;
mod limits;
mod partial;
mod rules;
mod walk;

pub use axis_space::{AxisSpace, CellRank};
pub use cell_selection::CellSelection;
pub use excluded::{ExclusionRow, table_command};
pub use expand::{MatrixExpansion, expand};
pub use gfx::{GfxChoice, choose_gfx};
pub use partial::PartialCells;
