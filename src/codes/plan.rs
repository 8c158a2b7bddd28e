//! The `P` codes, for excluded cells and for plans and workflows that fail.

use rock_diagnostic::Code;
pub use rock_plan::codes::plan::*;
pub use rock_recipe::codes::plan::*;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[
    &UNKNOWN_JOB,
    &OUT_IS_INPUT,
    &HOST_WITHOUT_GPU,
    &NOT_RENDERED,
    &BAD_JOB_VARIABLE,
    &BAD_RUN_FILE,
    &WORKFLOW_ELSEWHERE,
];

/// An unknown job.
pub const UNKNOWN_JOB: Code = Code::error(
    "P017",
    "unknown-job",
    "No job of the plan has this ID or wheel name, or several start with it; or no matrix file has the axis or value given to `plan --only`.\n\n`rock-matrix plan` lists the jobs.",
);
/// An output that is also an input.
pub const OUT_IS_INPUT: Code = Code::error(
    "P031",
    "out-is-input",
    "`--out` names a file that this command reads, such as the matrix file itself. Writing to it would destroy it, so nothing was written.",
);
/// `gfx: [host]` on a machine without a GPU.
pub const HOST_WITHOUT_GPU: Code = Code::error(
    "P027",
    "host-without-gpu",
    "`gfx: [host]` stands for the targets of the GPUs in this machine, for local builds. The driver shows no GPU here.\n\nName the targets in the matrix file; `rock-matrix doctor` shows the GPUs of a machine. If the file is also built on machines without a GPU, list the targets to build there under `gfx-fallback`; then this is a warning.",
);
/// An existing file that was not rendered.
pub const NOT_RENDERED: Code = Code::error(
    "P046",
    "not-rendered",
    "`render workflow --out` replaces only files that it rendered before, which start with `# Rendered by rock-matrix`. This file starts differently, so it is not replaced.",
);
/// An invalid leg in the variable of `--job-env`.
pub const BAD_JOB_VARIABLE: Code = Code::error(
    "P048",
    "bad-job-variable",
    "`build --job-env NAME` reads the job from an environment variable that contains a leg of the workflow's matrix as JSON, `${{ toJSON(matrix) }}`: an object whose `id` is a job of the plan.",
);
/// An invalid list of the jobs of a run.
pub const BAD_RUN_FILE: Code = Code::error(
    "P050",
    "bad-run-file",
    "`plan --only-failed` takes the jobs of a workflow run as GitHub lists them: `gh api \"repos/OWNER/REPO/actions/runs/ID/jobs\" --paginate > run.json`, with or without `--slurp`.\n\nAs a warning, it lists jobs that failed in the run but are not in the plan: the run used other matrix files, or the failed job was not a leg.",
);
/// A workflow outside of `.github/workflows`.
pub const WORKFLOW_ELSEWHERE: Code = Code::warning(
    "P051",
    "workflow-elsewhere",
    "GitHub runs only files that are directly in `.github/workflows`, with names that end in `.yml` or `.yaml`. A workflow that is written elsewhere can be reviewed, but never runs.",
);
