//! The `R` codes, for ROCm wheels whose contents contradict their name or metadata.

pub(crate) use rock_audit::codes::rocm::{PURELIB_WITH_LIBRARIES, VENDORED_ROCM};
