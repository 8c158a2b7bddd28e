//! The `E` codes: ELF files in wheels.

pub use rock_audit::codes::elf::*;
