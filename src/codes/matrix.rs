//! The `M` codes, for errors in the YAML files of users.

#[expect(
    ambiguous_glob_reexports,
    reason = "each crate has its own list of all codes, which is not used through this module"
)]
pub use rock_diagnostic::codes::matrix::*;
pub use rock_plan::codes::matrix::*;
pub use rock_yaml::codes::matrix::*;
