//! The `B` codes, for recipes, builds and containers.

use rock_diagnostic::Code;
pub use rock_exec::codes::build::*;
pub use rock_plan::codes::build::*;
pub use rock_recipe::codes::build::*;
pub use rock_sys::codes::build::*;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[&BUILDS_FAILED];

/// Failed builds of `--all`.
pub const BUILDS_FAILED: Code = Code::error(
    "B071",
    "builds-failed",
    "Some of the builds of `--all` failed. Each was reported separately; the last message lists them.\n\nFix the causes, then run the same command with `--resume`.",
);
