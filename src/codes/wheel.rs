//! The `W` codes: wheels as containers, their dist-info, and changing their names.

use crate::diagnostic::{Code, ExitClass};
pub use rock_audit::codes::wheel::*;
pub use rock_wheel::codes::wheel::*;

/// Every `W` code, in order.
pub const ALL: &[&Code] = &[
    &UNKNOWN_PRESET,
    &UNMATCHED_EXCLUDE,
    &BAD_SOURCE_DATE,
    &EMBEDDED_ALREADY,
];

/// A set of libraries that does not exist.
pub const UNKNOWN_PRESET: Code = Code::error(
    "W030",
    "unknown-preset",
    "`--exclude-preset` names a set of libraries that repairing leaves alone. The sets are rows of the facts: `rock-matrix compat list presets`.",
)
.exits_with(ExitClass::Usage);
/// A pattern that left nothing out.
pub const UNMATCHED_EXCLUDE: Code = Code::warning(
    "W031",
    "unmatched-exclude",
    "A pattern of `--exclude` matched no library that the wheel needs. Patterns match whole names, so `libamdhip64.so` does not match `libamdhip64.so.6`: end it with `.so*`.",
);
/// A bad `SOURCE_DATE_EPOCH`.
pub const BAD_SOURCE_DATE: Code = Code::error(
    "W063",
    "bad-source-date",
    "`SOURCE_DATE_EPOCH` must be a whole number of seconds since 1970-01-01 UTC. Members get that time; zip archives hold times from 1980 to 2107 in steps of two seconds, and others are moved to the nearest of these.",
);
/// A wheel that holds ROCm.
pub const EMBEDDED_ALREADY: Code = Code::note(
    "W093",
    "embedded-already",
    "The wheel has files in the folder that ROCm goes into, so it stays as it is. To put another ROCm into it, begin with the wheel as it was built.",
);
