//! The `B` codes, for recipes, builds and containers.

#[expect(
    ambiguous_glob_reexports,
    reason = "each crate has its own list of all codes, which is not used through this module"
)]
pub use rock_exec::codes::build::*;
pub use rock_plan::codes::build::*;
pub use rock_recipe::codes::build::*;
pub use rock_sys::codes::build::*;
