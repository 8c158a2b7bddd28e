//! Expands a matrix into legs, with the reason for every missing cell.
//!
//! Input: a checked [`crate::config::MatrixConfig`], a [`crate::config::RecipeProfile`] and the
//! facts. Output: a [`MatrixExpansion`]: the legal cells as ranks in the product, and
//! [`ExclusionRow`]s whose counts add up to the rest.
//!
//! Cells are not enumerated one by one where a prefix of axes already rules them out: the axes that
//! facts constrain are bound first, each rule is asked as soon as the axes it reads are bound, and
//! one row stands for all the cells below.
//!
//! **Invariant:** legs and excluded counts together are the raw product plus the explicit cells, no
//! cell twice.

mod axis_space;
mod excluded;
mod expand;
mod gfx;
mod limits;
mod partial;
mod rules;
mod walk;

pub use axis_space::{AxisSpace, CellRank};
pub use excluded::ExclusionRow;
pub use expand::{MatrixExpansion, expand};
pub use gfx::{GfxChoice, choose_gfx};
pub use partial::PartialCells;
