//! The `P` codes, for excluded cells and for plans and workflows that fail.

use rock_diagnostic::Code;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[
    &HOST_VALUE_IN_WORKFLOW,
    &OPTIONS_DIFFER,
    &PATH_NOT_IN_CHECKOUT,
    &ACTION_WITHOUT_COMMIT,
    &TOO_MANY_ARTIFACTS,
    &WORKFLOW_TOO_LARGE,
    &BUILDS_WITHOUT_CACHE,
    &BAD_OUTPUT,
    &MATRIX_KEY_MISSING,
    &TREE_ON_A_RUNNER,
    &TOO_MANY_SUBJECTS,
];

/// Values of the machine in a workflow.
pub const HOST_VALUE_IN_WORKFLOW: Code = Code::warning(
    "P094",
    "host-value-in-workflow",
    "`gfx: [host]` and `rocm: [host]` select the GPUs and ROCm of the machine that makes the \
     plan. A workflow makes its plan again in its first job, on a GitHub runner without a GPU and \
     without ROCm, where these values are errors.\n\nName the targets and versions, or list the \
     targets to build without a GPU under `gfx-fallback`.",
);
/// Matrix files of one workflow with different options.
pub const OPTIONS_DIFFER: Code = Code::error(
    "P040",
    "options-differ",
    "Matrix files that are rendered into one workflow share its plan, release and options, so `workflow` and `release` must be the same in each of them.\n\nUse the same options, or render several workflows: the help shows a command for each group of files that agree. A tag has one release with one plan, so the `workflow.tags` of the workflows must differ.",
);
/// A path that does not work in a checkout.
pub const PATH_NOT_IN_CHECKOUT: Code = Code::error(
    "P041",
    "path-not-in-checkout",
    "A rendered workflow repeats the paths of the command line and of the matrix files, and runs in a checkout of the repository. A path must therefore be relative, stay below the root, and contain no expression that GitHub evaluates and no invisible characters.\n\nRun `rock-matrix render workflow` in the repository's root, or rename the file.",
);
/// An action without a known commit.
pub const ACTION_WITHOUT_COMMIT: Code = Code::error(
    "P042",
    "action-without-commit",
    "Workflows pin every action by its full commit. The table `actions` of the compatibility data does not have this action.\n\nOmit `--compat`, or add a row for the action to the tables in its directory.",
);
/// More artifacts than one job can download.
pub const TOO_MANY_ARTIFACTS: Code = Code::error(
    "P043",
    "too-many-artifacts",
    "Each job of the plan uploads its wheel as an artifact of the workflow run, and the publishing job downloads all of them. GitHub allows 500 artifacts per job, so a plan with more jobs needs several workflows. Up to that, one workflow runs all jobs, with as many matrices of 256 jobs as the plan needs.\n\nGive each workflow fewer matrix files, or list fewer values.",
);
/// A workflow file that is too large.
pub const WORKFLOW_TOO_LARGE: Code = Code::error(
    "P044",
    "workflow-too-large",
    "GitHub reads workflow files of up to 500 KB. Above half of that, this is a warning.\n\nGive each workflow fewer matrix files.",
);
/// Long builds without a compiler cache.
pub const BUILDS_WITHOUT_CACHE: Code = Code::warning(
    "P045",
    "builds-without-cache",
    "The estimated time of a build exceeds the time limit of its runner. The workflow stops such \
     a build before the limit, with exit code 124. With `workflow: {cache: on}` the compiler \
     cache is then saved, and `Re-run failed jobs` continues with it. Without the cache, each \
     attempt starts over and ends the same way.\n\nTurn the cache on, choose a larger runner, or \
     make the build smaller as the estimate suggests.",
);
/// A value that cannot be an output of a step.
pub const BAD_OUTPUT: Code = Code::error(
    "P049",
    "bad-output",
    "The outputs of a step are written to the file that `GITHUB_OUTPUT` names, as `name=value`, or between two delimiter lines if the value has several lines. A value that contains NUL or the delimiter line, or a name that is not a word, would be read as other outputs, so nothing is written.\n\nCheck the source of the value: it should be text.",
);
/// A matrix key that legs do not have.
pub const MATRIX_KEY_MISSING: Code = Code::error(
    "P053",
    "matrix-key-missing",
    "A job of the workflow reads `matrix.KEY`, and a leg of its matrix does not have this key. GitHub would silently replace it with an empty string. Every workflow is compared with its legs before it is written.\n\nLegs have fewer keys if a plan is too large for the outputs of a job: give each workflow fewer matrix files.",
);
/// A workflow whose jobs produce no files.
pub const TREE_ON_A_RUNNER: Code = Code::error(
    "P054",
    "tree-on-a-runner",
    "A recipe with `leaves: tree` installs the build on the machine that it runs on and produces \
     no file. Runners are discarded after a job, so such a workflow would take hours and produce \
     nothing.\n\nBuild it with `rock-matrix build` on the machine that needs the tree, or write a \
     recipe that packs it: `leaves: archive`.",
);
/// Too many subjects for one attestation.
pub const TOO_MANY_SUBJECTS: Code = Code::error(
    "P067",
    "too-many-subjects",
    "The publishing job attests all files of the release in one attestation, and actions/attest takes at most 1,024 subjects. A job may produce several wheels, so files are counted, not jobs.\n\nGive each workflow fewer matrix files, list fewer values, or set `release: {attest: off}`.",
);
