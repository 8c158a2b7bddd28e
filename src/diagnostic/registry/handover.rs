//! The `G34x` codes: what jobs of a workflow hand to each other.

use super::super::Code;

/// Every one of them, in order.
pub const ALL: &[&Code] = &[
    &PLAN_REPLACED,
    &BAD_LEG_REPORT,
    &ARTIFACT_REPLACED,
    &UNREPORTED_FILE,
    &FILE_OF_ANOTHER_JOB,
    &PROGRAM_REPLACED,
    &LEG_NOT_REPORTED,
    &NOTHING_TO_HAND_OVER,
];

/// The plan is not the one of the job `plan`.
pub const PLAN_REPLACED: Code = Code::error(
    "G340",
    "plan-replaced",
    "The job `plan` of a rendered workflow reports the digest of the plan that it made. The plan at hand has another one, so some other job of the run, or code that it ran, wrote it. A plan says which wheels are published, so nothing is.\n\nFind out which job did that, for example a build whose sources are not what they should be.",
);
/// What a leg reports cannot be used.
pub const BAD_LEG_REPORT: Code = Code::error(
    "G341",
    "bad-leg-report",
    "`--legs-env NAME` reads the outputs of a job with a matrix from a variable, `${{ toJSON(needs.build.outputs) }}`. Each leg has one output `leg_NUMBER`: a JSON object with the texts `job`, `artifact` (the ID of an artifact) and `digest` (SHA-256 of the `SHA256SUMS` in it), or an empty text. Each job of the plan is reported once, each artifact belongs to one job.\n\nRender the workflow again where it was edited or is of another version.",
);
/// An artifact does not hold what its leg reported.
pub const ARTIFACT_REPLACED: Code = Code::error(
    "G342",
    "artifact-replaced",
    "A leg keeps the wheel that its build made in an artifact with a `SHA256SUMS`, and reports the digest of that file through a job output. The artifact that was downloaded holds other bytes or lacks a file, so it was changed after the leg kept it. Nothing is published.\n\nFind out which job of the run did that. A leg reports through outputs that the code it builds cannot write; code that takes over the runner can.",
);
/// A file that no build has reported.
pub const UNREPORTED_FILE: Code = Code::error(
    "G343",
    "unreported-file",
    "Every wheel of a leg's output folder, and every file of its artifact, must be one that the `build.json` of its job names. A further one was put there by something else, for example by the code that is built, and may bear the name of another job's wheel.\n\nFind out what wrote it. A repository that holds wheels in `dist` should keep them elsewhere.",
);
/// A wheel in the artifact of another job.
pub const FILE_OF_ANOTHER_JOB: Code = Code::error(
    "G344",
    "file-of-another-job",
    "The artifact `wheel-ID` holds a wheel or an archive that the plan does not expect of the job `ID`. Each wheel must come from its own job, so that no build can replace the wheel of another one.",
);
/// The program is not the one that was built.
pub const PROGRAM_REPLACED: Code = Code::error(
    "G345",
    "program-replaced",
    "With `workflow.tool: source` a job builds rock-matrix, reports the digest of the program, and keeps it as an artifact for the other jobs. The program at hand has another digest, so some other job of the run wrote it. It is not started; the step of the workflow says so by itself.\n\nFind out which job did that, and publish nothing of the run.",
);
/// A job without a report.
pub const LEG_NOT_REPORTED: Code = Code::error(
    "G346",
    "leg-not-reported",
    "Every job of the plan must have a leg of the run that reports its artifact. A leg that failed reports none; a workflow that was rendered for fewer jobs than the plan has is refused by the job `plan` already.\n\nRun the failed jobs again. Where none failed, run all jobs of the run again.",
);
/// A build that has nothing to hand over.
pub const NOTHING_TO_HAND_OVER: Code = Code::error(
    "G347",
    "nothing-to-hand-over",
    "`report leg` collects the files that the `build.json` of a job names, from the folder that the build copied them to. The build is not done, is of another job, or a file is missing or has other bytes than the build reported.\n\nBuild the job in the same step of the workflow's job, and let nothing else write into the folder.",
);
