//! The `S` codes, for the Python packages of the ROCm SDK.

pub use rock_sdk::codes::sdk::*;
