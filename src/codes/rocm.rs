//! The `R` codes, for ROCm wheels whose contents contradict their name or metadata.

#[expect(
    ambiguous_glob_reexports,
    reason = "each crate has its own list of all codes, which is not used through this module"
)]
pub use rock_audit::codes::rocm::*;
pub use rock_wheel::codes::rocm::*;
