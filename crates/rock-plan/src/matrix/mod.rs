//! Expands a matrix into legs, with the reason for every cell that a rule excludes.
//!
//! Input: a validated [`crate::config::MatrixConfig`], a [`crate::config::RecipeProfile`] and the
//! compatibility data. Output: a [`MatrixExpansion`]: the legs as ranks in the product, and
//! [`ExclusionRow`]s whose counts add up to the rest. Planning adds rows for legs whose families
//! cannot be built (P052, `unsupported_families`), and for legs without a target of `--gfx` (P010,
//! `device_code`). Jobs that are skipped because their wheels are published, and cells that the job
//! of another cell covers, are not exclusions; ARCHITECTURE.md lists all stages at which a cell can
//! disappear.
//!
//! Cells are not enumerated one by one if a prefix of axes already excludes them: the axes that
//! compatibility data constrains are bound first, each rule is evaluated as soon as the axes that
//! it reads are bound, and one row covers all cells below.
//!
//! # Example
//!
//! Two versions of torch and two of ROCm are four cells. A cell's rank counts through the values
//! with the last axis as the fastest; axes with one value add nothing.
//!
//! ```yaml
//! axes: {flash-attn: ["2.8.3"], python: ["3.12"], torch: ["2.5.1", "2.6.0"], rocm: ["6.1", "6.2"]}
//! ```
//!
//! | rank | torch | ROCm | result |
//! |---|---|---|---|
//! | 0 | 2.5.1 | 6.1 | leg |
//! | 1 | 2.5.1 | 6.2 | leg |
//! | 2 | 2.6.0 | 6.1 | leg |
//! | 3 | 2.6.0 | 6.2 | excluded: P001 |
//!
//! [`expand`] returns the legs with the ranks 0, 1 and 2, and one [`ExclusionRow`] with the axes
//! `{torch: 2.6.0, rocm: 6.2}`, the count 1 and the reason that torch 2.6.0 has no wheels for
//! ROCm 6.2. With three values of `python`, the row is the same with a count of 3: torch and ROCm
//! are bound first, and a prefix that is excluded ends there. The steps of an expansion are:
//!
//! 1. `rules` evaluates each rule for all combinations of the axes that it reads, and keeps the
//!    findings: here, one rule with one finding. The module describes how to add a rule.
//! 2. `walk` binds one axis after another and looks the answers up. A finding that excludes ends
//!    the prefix; an unknown combination (P009), a warning or a note counts for the cells below
//!    that no other rule excludes.
//! 3. `explicit_cells` adds the cells of `rows` and `include`.
//! 4. `excluded` turns the findings that exclude cells into rows, and `findings` the others into
//!    diagnostics.
//!
//! `tests/it/expansion_is_exact.rs` compares the result with an enumeration of all cells.
//!
//! **Invariant:** the legs and the excluded counts add up to the product plus the explicit cells,
//! and no cell is counted twice.

mod axis_space;
mod cell_rule;
mod cell_selection;
mod excluded;
mod expand;
mod explicit_cells;
mod findings;
mod limits;
mod partial;
mod rocm_policy;
mod rule_inputs;
mod rules;
#[cfg(test)]
mod tests;
mod user_excludes;
mod walk;

pub use axis_space::{AxisSpace, AxisValueIndex, CellRank};
pub use cell_selection::CellSelection;
pub use excluded::{ExclusionRow, table_command};
pub use expand::{MatrixExpansion, expand};
pub use partial::PartialCells;
