//! The code of a [`Sink`](crate::Sink) that is full, whatever the diagnostics are about.

use crate::Code;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[&MORE_FAULTS];

/// More diagnostics than are shown.
pub const MORE_FAULTS: Code = Code::note(
    "M051",
    "more-faults",
    "There are more than a thousand diagnostics, and the rest is only counted. Often many of them have one cause.\n\nFix the ones that are shown, and run the command again.",
);
