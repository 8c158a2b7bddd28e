//! The `M` codes, for errors in the YAML files of users.

pub use rock_plan::codes::matrix::BAD_GFX;
