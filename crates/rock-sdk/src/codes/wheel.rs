//! The `W` codes, for wheels as archives, their dist-info, and their names.

pub(crate) use rock_audit::codes::wheel::{BAD_PATTERN, COPIED_LIBRARY};
pub(crate) use rock_wheel::codes::wheel::PURELIB_MISMATCH;
