//! The `G34x` codes, for files that the jobs of a workflow pass to each other.

use rock_diagnostic::Code;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[
    &PLAN_REPLACED,
    &BAD_LEG_REPORT,
    &ARTIFACT_REPLACED,
    &UNREPORTED_FILE,
    &FILE_OF_ANOTHER_JOB,
    &LEG_NOT_REPORTED,
];

/// A plan that is not from the job `plan`.
pub const PLAN_REPLACED: Code = Code::error(
    "G340",
    "plan-replaced",
    "The job `plan` of a rendered workflow outputs the digest of its plan, and this plan has another digest: another job of the run, or code that it ran, replaced it. Nothing is published, because the plan decides which wheels are.\n\nFind out which job replaced it, for example a build with compromised sources.",
);
/// An invalid report of a leg.
pub const BAD_LEG_REPORT: Code = Code::error(
    "G341",
    "bad-leg-report",
    "The environment variable in `--legs-env NAME` must contain the outputs of a matrix job, `${{ toJSON(needs.build.outputs) }}`. Each leg has one output `leg_NUMBER`: an empty string, or a JSON object with the strings `job`, `artifact` (an artifact ID) and `digest` (SHA-256 of the `SHA256SUMS` in it). Each job of the plan is reported once, and each artifact belongs to one job.\n\nRender the workflow again if it was edited or rendered by another version.",
);
/// An artifact that does not match the report of its leg.
pub const ARTIFACT_REPLACED: Code = Code::error(
    "G342",
    "artifact-replaced",
    "A leg uploads its wheel in an artifact with a `SHA256SUMS`, and outputs the digest of that file. The downloaded artifact has different content, lacks a file, or has a `SHA256SUMS` that cannot be read or lists no file, so it was replaced after the upload, or was never complete. Nothing is published.\n\nFind out which job of the run replaced it. The code that is built cannot write the outputs of its leg, unless it takes over the runner.",
);
/// A file that no build record lists.
pub const UNREPORTED_FILE: Code = Code::error(
    "G343",
    "unreported-file",
    "Every wheel in the output directory of a leg, and every file of its artifact, must be listed in the `build.json` of its job. This file is not, so something else added it, for example the code that is built. It may have the name of another job's wheel.\n\nFind out what wrote it. If the repository contains wheels in `dist`, move them elsewhere.",
);
/// A wheel in the artifact of another job.
pub const FILE_OF_ANOTHER_JOB: Code = Code::error(
    "G344",
    "file-of-another-job",
    "The artifact `wheel-ID` contains a wheel or archive that the plan does not expect from the job `ID`. Each wheel must come from its own job, so that no build can replace the wheel of another.\n\nDownload the artifacts again, into an empty directory. If the file is still there, find out which job wrote it.",
);
/// A job without a report.
pub const LEG_NOT_REPORTED: Code = Code::error(
    "G346",
    "leg-not-reported",
    "Every job of the plan needs a leg that reports its artifact. This job has no report, for example because its leg failed.\n\nRe-run the failed jobs. If none failed, re-run all jobs.",
);
