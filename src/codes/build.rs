//! The `B` codes, for recipes, builds and containers.

use rock_diagnostic::Code;
pub use rock_exec::codes::build::*;
pub use rock_plan::codes::build::*;
pub use rock_recipe::codes::build::*;
pub use rock_sys::codes::build::*;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[
    &BAD_BUILD_FILE,
    &BUILDS_FAILED,
    &WHEEL_REFUSED,
    &TORCH_NOT_OF_LABEL,
];

/// An unreadable build record.
pub const BAD_BUILD_FILE: Code = Code::warning(
    "B059",
    "bad-build-file",
    "The `build.json` in the job directory cannot be read: another version wrote it, or it is damaged. The build starts at the first stage.",
);
/// Failed builds of `--all`.
pub const BUILDS_FAILED: Code = Code::error(
    "B071",
    "builds-failed",
    "Some of the builds of `--all` failed. Each was reported separately; the last message lists them.",
);
/// A wheel that failed a check.
pub const WHEEL_REFUSED: Code = Code::error(
    "B072",
    "wheel-refused",
    "The wheel was built but failed one of the recipe's checks, so it is not copied to the output directory.",
);
/// A build with another torch than the label of its wheel.
pub const TORCH_NOT_OF_LABEL: Code = Code::warning(
    "B095",
    "torch-not-of-label",
    "The build used another torch or ROCm than the label of the wheel names: torch has another version or no HIP, or the HIP compiler belongs to another ROCm. `torch-from: host` uses whatever is installed.\n\n`publish` refuses such a wheel if it contains compiled code (G130). A wheel without compiled code is the same with every torch.",
);
