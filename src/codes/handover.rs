//! The `G34x` codes, for files that the jobs of a workflow pass to each other.

use rock_diagnostic::Code;
pub use rock_publish::codes::handover::*;
pub use rock_recipe::codes::handover::*;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[
    &NOTHING_TO_HAND_OVER,
    &BUILT_FILE_CHANGED,
    &OUTPUT_NOT_EMPTY,
];

/// An incomplete build without files to pass on.
pub const NOTHING_TO_HAND_OVER: Code = Code::error(
    "G347",
    "nothing-to-hand-over",
    "`report leg` collects the files listed in the `build.json` of a job from the directory that the build copied them to. The build is incomplete or of another job, or a file is missing.\n\nRun `rock-matrix build` for this job first, in the same working directory.",
);
/// A file that changed after its build.
pub const BUILT_FILE_CHANGED: Code = Code::error(
    "G348",
    "built-file-changed",
    "`report leg` compares the files in the output directory of a build with the digests in the `build.json` of its job. This file has another digest: it changed after the build, for example by a process that the built code started and that still runs. Nothing is collected.\n\nFind the cause before you publish any file of this job.",
);
/// An output directory that is not empty.
pub const OUTPUT_NOT_EMPTY: Code = Code::error(
    "G349",
    "output-not-empty",
    "`report leg --out DIR` fills a directory that is uploaded as the artifact of a leg. The directory must be empty or missing, because files of an earlier run would be uploaded too.\n\nChoose another directory, or remove this one.",
);
