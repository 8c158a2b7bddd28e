//! The `W` codes, for wheels as archives, their dist-info, and their names.

pub use rock_audit::codes::wheel::*;
use rock_diagnostic::{Code, ExitClass};
pub use rock_wheel::codes::wheel::*;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[&UNKNOWN_PRESET, &UNMATCHED_EXCLUDE, &EMBEDDED_ALREADY];

/// An unknown preset of excluded libraries.
pub const UNKNOWN_PRESET: Code = Code::error(
    "W030",
    "unknown-preset",
    "`--exclude-preset` names a set of libraries that repairs leave alone. The sets are in the compatibility data: `rock-matrix compat list presets`.",
)
.exits_with(ExitClass::Usage);
/// An exclude pattern that matches nothing.
pub const UNMATCHED_EXCLUDE: Code = Code::warning(
    "W031",
    "unmatched-exclude",
    "A pattern of `--exclude` matched no library that the wheel needs. Patterns match whole names, so `libamdhip64.so` does not match `libamdhip64.so.6`; `libamdhip64.so*` does.",
);
/// A wheel in which ROCm is already embedded.
pub const EMBEDDED_ALREADY: Code = Code::note(
    "W093",
    "embedded-already",
    "The wheel already has files in the directory for the embedded ROCm, so it is not changed. To embed another ROCm, start from the wheel as it was built.",
);
