//! The `R` codes: what a wheel for ROCm says of itself against what it holds.

use crate::diagnostic::Code;
pub use rock_audit::codes::rocm::*;
pub use rock_wheel::codes::rocm::*;

/// Every `R` code, in order.
pub const ALL: &[&Code] = &[&FOREIGN_SYSTEM];

/// A Linux platform for a wheel of another system.
pub const FOREIGN_SYSTEM: Code = Code::error(
    "R161",
    "foreign-system",
    "`wheel repair --plat` names a Linux platform, but all tags of the wheel are for another system: Android, iOS, macOS, Windows, WebAssembly or a BSD. Wheels for other systems are not audited or changed. Nothing was written.",
);
