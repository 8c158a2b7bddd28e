//! The `G34x` codes, for files that the jobs of a workflow pass to each other.

use rock_diagnostic::Code;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[&PROGRAM_REPLACED];

/// A downloaded program that differs from the one that was built.
pub const PROGRAM_REPLACED: Code = Code::error(
    "G345",
    "program-replaced",
    "With `workflow.tool: source` a job builds rock-matrix, outputs its digest, and uploads it for the other jobs. The downloaded program has another digest, so another job of the run replaced it. The workflow does not run it.\n\nFind out which job replaced it, and publish nothing from this run.",
);
