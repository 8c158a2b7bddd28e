//! The `E` codes: ELF files in wheels.

use crate::diagnostic::Code;
pub use rock_audit::codes::elf::*;

/// Every `E` code, in order.
pub const ALL: &[&Code] = &[&UNEDITABLE_ELF];

/// A library that cannot be changed.
pub const UNEDITABLE_ELF: Code = Code::error(
    "E007",
    "uneditable-elf",
    "A library had to be changed, and its layout leaves no way to do so without moving bytes, or is damaged already. Nothing was written.\n\nTake the library as the linker made it: tools that edited it before may have left it in this state. `rock-matrix wheel verify` tells what is wrong with its layout.",
);
