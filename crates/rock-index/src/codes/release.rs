//! The `G` codes, for releases in directories and on GitHub, and for published wheels.

use rock_diagnostic::Code;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[&LABELS_MISORDERED];

/// Labels that sort differently from ROCm versions.
pub const LABELS_MISORDERED: Code = Code::warning(
    "G124",
    "labels-misordered",
    "Two wheels of one project have the same public version, and local version labels that installers sort differently from their ROCm versions. A segment of a label that is not a number is compared as text (PEP 440), so `rocm10.2.0` sorts before `rocm7.14.0`, `devrocm` before every `rocm`, and `rocmsdk` after. An installer that sees both, on one flat page or in one directory with `--find-links`, installs the wheel for the earlier ROCm.\n\nInstall from the directory of one ROCm version in the index, or request the version with its label.",
);
