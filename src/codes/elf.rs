//! The `E` codes, for ELF files in wheels.

pub use rock_audit::codes::elf::*;
