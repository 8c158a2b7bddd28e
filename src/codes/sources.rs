//! The `C` codes from C101 on, for commits, pins, patch sets and manifests of sources.

pub use rock_source::codes::sources::*;
