//! The `G` codes, for releases in directories and on GitHub, and for published wheels.

use rock_diagnostic::Code;
pub(crate) use rock_publish::codes::release::UNREADABLE_PUBLISHED_NAME;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[&AMBIGUOUS_PUBLISHED_LABEL];

/// An ambiguous label of a published wheel.
pub const AMBIGUOUS_PUBLISHED_LABEL: Code = Code::warning(
    "G301",
    "ambiguous-published-label",
    "The digits in the label of a published wheel can be read as two ROCm versions: `rocm714` is 7.14 and 7.1.4. Documents show it under the version named here, which may be the wrong one.\n\nPublish such wheels with dots in the label: `rock-matrix wheel label WHEEL --local rocm7.14torch2.14`.",
);
