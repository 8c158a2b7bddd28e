//! The `R` codes: what a wheel for ROCm says of itself against what it holds.

#[expect(
    ambiguous_glob_reexports,
    reason = "each crate has its own list of all codes, which is not used through this module"
)]
pub use rock_audit::codes::rocm::*;
pub use rock_wheel::codes::rocm::*;
