//! Config and facts to legs, and the reason for every missing cell.
//!
//! Input: a checked [`crate::config::Config`], a [`crate::config::Profile`] and the facts. Output:
//! an [`Expansion`]: the legal cells as ranks in the product, and [`Excluded`] rows whose counts
//! add up to the rest.
//!
//! Cells are not enumerated one by one where a prefix of axes already rules them out: the axes that
//! facts constrain are bound first, each rule is asked as soon as the axes it reads are bound, and
//! one row stands for all the cells below.
//!
//! **Invariant:** legs and excluded counts together are the raw product plus the explicit cells, no
//! cell twice.

mod excluded;
mod expand;
mod gfx;
mod limits;
mod partial;
mod rules;
mod universe;
mod walk;

pub use excluded::Excluded;
pub use expand::{Expansion, expand};
pub use gfx::{GfxChoice, choose_gfx};
pub use partial::PartialCells;
pub use universe::{Cell, Universe};
