//! The `C` codes up to C099, for source trees and their patches.

pub use rock_source::codes::checkout::*;
