//! The `R` codes, for ROCm wheels whose contents contradict their name or metadata.

pub use rock_audit::codes::rocm::{NAME_NOT_IN_CONTENTS, UNKNOWN_PLATFORM_TAG};
