//! The `P` codes, for excluded cells and for plans and workflows that fail.

use rock_diagnostic::{Code, ExitClass};

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[
    &TORCH_WITHOUT_ROCM,
    &TORCH_WITHOUT_PYTHON,
    &TORCH_NOT_IN_IMAGE,
    &BACKEND_NOT_IN_VERSION,
    &PYTHON_TOO_OLD,
    &FREE_THREADED_OFF,
    &ROCM_POLICY,
    &EXCLUDED_BY_USER,
    &UNKNOWN_COMBINATION,
    &NO_GFX_LEFT,
    &TOO_MANY_CELLS,
    &COLLIDING_WHEELS,
    &AMBIGUOUS_LABEL,
    &EMPTY_PLAN,
    &UNKNOWN_RECIPE,
    &UNKNOWN_BACKEND,
    &UNKNOWN_SELECTION,
    &BAD_PLAN_FILE,
    &UNKNOWN_TORCH_RELEASE,
    &OUTPUT_TOO_LARGE,
    &COLLIDING_IDS,
    &VALUE_WITHOUT_JOB,
    &NO_VERSION_AXIS,
    &HOST_WITHOUT_GPU,
    &MISSING_AXIS,
    &INCLUDE_LEFT_OUT,
    &BAD_JOB_VARIABLE,
    &BAD_RUN_FILE,
    &HOST_WITHOUT_ROCM,
    &MORE_JOBS,
    &FAMILY_NOT_SUPPORTED,
    &JOB_DOES_NOT_FIT,
    &CACHES_EXCEED_LIMIT,
    &MISSING_VARIABLE,
    &IMPORT_CONFLICT,
    &IMPORT_UNTRIED,
    &NO_STARTER,
    &CANNOT_COLLAPSE,
    &ARCHITECTURE_CONFLICT,
    &UNKNOWN_VERSION,
];

/// Torch without official wheels for this ROCm.
pub const TORCH_WITHOUT_ROCM: Code = Code::note(
    "P001",
    "torch-without-rocm",
    "The official PyTorch index has no wheels of this torch release for this ROCm version, so the cell is excluded.\n\nEach torch minor is released for two ROCm versions; `rock-matrix compat list torch` shows them. Use one of them, or build against the image's torch (`torch-from: image`) or, if it has this release, that of AMD's index (`torch-from: amd-index`), whose wheels no table lists.",
);
/// Torch without official wheels for this Python.
pub const TORCH_WITHOUT_PYTHON: Code = Code::note(
    "P002",
    "torch-without-python",
    "The official PyTorch index has no wheels of this torch release for this Python, so the cell is excluded.\n\n`rock-matrix compat list torch` shows the Pythons of each release; free-threaded ones have a separate column.",
);
/// No known image with this torch and ROCm.
pub const TORCH_NOT_IN_IMAGE: Code = Code::note(
    "P003",
    "torch-not-in-image",
    "With `torch-from: image` the torch inside the container image is used, and no image in the table contains this torch with this ROCm. Versions are compared as written: an image of ROCm 6.4.1 is not one of 6.4.\n\n`rock-matrix compat list images` shows the tags. Write the ROCm version of one of them, or set `torch-from: pytorch-index`.",
);
/// A backend that this version of the package does not have.
pub const BACKEND_NOT_IN_VERSION: Code = Code::note(
    "P004",
    "backend-not-in-version",
    "This version of the package does not have this backend on ROCm, so the cell is excluded.\n\nFor example, flash-attn has had its Triton backend since 2.7, and FlashAttention 3 does not support AMD GPUs at all.",
);
/// A Python older than the package requires.
pub const PYTHON_TOO_OLD: Code = Code::note(
    "P005",
    "python-too-old",
    "This version of the package requires a later Python than the cell's, so the cell is excluded.",
);
/// Free-threaded Python while `free-threaded` is off.
pub const FREE_THREADED_OFF: Code = Code::note(
    "P006",
    "free-threaded-off",
    "The cell's Python is free-threaded (`3.13t`) and is only built with `free-threaded: true`, because sources disagree on whether such wheels of torch for ROCm exist.",
);
/// A ROCm version that `rocm-policy` excludes.
pub const ROCM_POLICY: Code = Code::note(
    "P007",
    "rocm-policy",
    "`rocm-policy` is `oldest` or `newest`, which keeps one ROCm version for each torch release \
     and excludes the others. With `torch-from: image` and `python-from: image` it keeps one for each \
     torch release and Python, because not every image has every Python.\n\nThe version is chosen \
     among those that the matrix combines with this torch. Versions that are excluded for P001 or \
     P003, or by an entry of `exclude` that names only torch, ROCm or, in the second case, Python, are \
     not chosen; other exclusions are not considered. An entry of `include` that names every axis \
     keeps its cell with any version, and does not change the choice.",
);
/// A cell that `exclude` matches.
pub const EXCLUDED_BY_USER: Code = Code::note(
    "P008",
    "excluded-by-user",
    "An entry of `exclude` in the matrix file matches these cells.",
);
/// A combination without compatibility data.
pub const UNKNOWN_COMBINATION: Code = Code::error(
    "P009",
    "unknown-combination",
    "The compatibility data does not cover this combination, so it is not known whether it \
     works.\n\nWith `unknown: strict` (the default) the plan fails, so that a typo does not start \
     a build of hours. With `unknown: lenient` the cells are kept with a warning. Cells that \
     another rule or an entry of `exclude` excludes are not reported, so add the combination to \
     `exclude` if it is not needed: `exclude: [{torch: \"2.99.0\", rocm: \"7.2\"}]`. `rock-matrix \
     compat refresh --help` explains how to add new releases to the data.",
);
/// No gfx target is left.
pub const NO_GFX_LEFT: Code = Code::error(
    "P010",
    "no-gfx-left",
    "None of the selected gfx targets can be compiled for this combination: the package's own \
     list, the toolchain and the torch wheels each exclude some. The message lists the reason for \
     each target.\n\nThe plan fails, because a wheel without device code would install and then \
     fail at its first call. Add a target that this combination supports, or exclude the \
     combination. With `plan --gfx`, combinations without a target are excluded instead, unless \
     none is left. `rock-matrix compat explain gfx=TARGET` shows what works with a target.",
);
/// Too many cells.
pub const TOO_MANY_CELLS: Code = Code::error(
    "P011",
    "too-many-cells",
    "The numbers of values of all axes multiply, and the matrix file exceeds a limit: 10 million \
     combinations that are built, a billion checks of combinations that are excluded, 100,000 \
     combinations of two or three axes, such as torch and ROCm, that are looked up in the \
     compatibility data, or a product of more than 64 bits. GitHub runs 256 jobs of one matrix, so \
     these limits are far above any real build; the usual cause is one axis too many.\n\nList \
     fewer values, or split the matrix into several files.",
);
/// Two jobs with the same wheel name.
pub const COLLIDING_WHEELS: Code = Code::error(
    "P012",
    "colliding-wheels",
    "Two jobs would build wheels of the same name, so one would overwrite the other in the \
     release.\n\nThe name of a wheel contains the version, the label, the Python and the platform. \
     The label contains the ROCm version without its patch (see `rocm-precision`), the minor \
     version of torch, and the backend. Jobs that differ only in other values get the same name: \
     two patch versions of torch or ROCm, two gfx targets, or one combination in two \
     files.\n\nRemove one of the values, or set `rocm-precision: patch` to distinguish patch \
     versions of ROCm. To build one wheel for several GPUs, list their targets under the top-level \
     key `gfx` instead of an axis: `gfx: [gfx90a, gfx942]`.",
);
/// An ambiguous compact label.
pub const AMBIGUOUS_LABEL: Code = Code::error(
    "P013",
    "ambiguous-label",
    "With `label-style: compact` the digits of the label can be read in two ways: `rocm714` is ROCm 7.14 and 7.1.4.\n\nUse `label-style: auto`, which writes such labels with dots, or `dotted`.",
);
/// A plan without jobs.
pub const EMPTY_PLAN: Code = Code::warning(
    "P014",
    "empty-plan",
    "The plan has no jobs: every cell is excluded, is already published, belongs to a file with `enabled: false`, or did not fail in the run given to `--only-failed`.\n\n`rock-matrix plan --explain` shows the reasons. With `--fail-empty` this is an error.",
);
/// An unknown recipe.
pub const UNKNOWN_RECIPE: Code = Code::error(
    "P015",
    "unknown-recipe",
    "The matrix file names a recipe that is neither built in nor in the directory given by `--recipes`.\n\n`rock-matrix recipe list` lists the recipes, and `rock-matrix recipe new` writes one to start from; `rock-matrix help recipes` explains the format.",
);
/// A backend that the recipe does not have.
pub const UNKNOWN_BACKEND: Code = Code::error(
    "P016",
    "unknown-backend",
    "The `backend` axis has a value that is not a backend of the recipe.",
);
/// An unknown job, axis or value.
pub const UNKNOWN_SELECTION: Code = Code::error(
    "P017",
    "unknown-selection",
    "No job of the plan has this ID or wheel name, or several jobs begin with this text; or no \
     matrix file has the axis or value in `plan --only`.\n\n`rock-matrix plan` lists the wheels of \
     the jobs, and `rock-matrix plan --format ids` their IDs. If `--axis` or `--gfx` replaces the \
     values of an axis, `--only` selects from the new values.",
)
.exits_with(ExitClass::Usage);
/// An invalid plan file.
pub const BAD_PLAN_FILE: Code = Code::error(
    "P018",
    "bad-plan-file",
    "The file is not a plan of this program: it is not the JSON that `rock-matrix plan --format json` writes, or another version wrote it.",
);
/// A torch release that the compatibility data does not list.
pub const UNKNOWN_TORCH_RELEASE: Code = Code::warning(
    "P019",
    "unknown-torch-release",
    "The compatibility data lists other releases of this minor version of torch: it is a typo, or \
     the release is newer than the data. The jobs are kept, and installing a release that does not \
     exist fails. `rock-matrix compat list torch` shows the known releases.",
);
/// A plan that is too large for a job output.
pub const OUTPUT_TOO_LARGE: Code = Code::error(
    "P022",
    "output-too-large",
    "The outputs of a job on GitHub may have 1 MiB, counted in UTF-16, and the matrices of this \
     plan are larger. Pass the plan on as an artifact instead, or split the matrix.\n\nAbove half \
     of the limit, this is a warning. If complete matrix entries do not fit, the keys that only \
     people read are left out first (`wheel`, `image`, `recipe`, `matrix`, `gfx`, `label`), then \
     everything except `id`, `runner` and `gpu`; that is also a warning, and the output `slim` is \
     `true`.",
);
/// Two jobs with the same ID.
pub const COLLIDING_IDS: Code = Code::error(
    "P023",
    "colliding-ids",
    "Two jobs of different matrix files have the same ID, although their wheels differ. Merge the files, or add another axis to one of them.",
);
/// An axis value without a job.
pub const VALUE_WITHOUT_JOB: Code = Code::warning(
    "P025",
    "value-without-job",
    "Every combination with this value is excluded, so the value has no effect. `rock-matrix plan \
     --explain` shows the reasons. Values that may have jobs without `--gfx` are not reported.\n\nEither the value is wrong, or the matrix lacks the values of \
     other axes that it works with.",
);
/// No axis with the versions to build.
pub const NO_VERSION_AXIS: Code = Code::error(
    "P026",
    "no-version-axis",
    "The name of a wheel contains its version, so an axis must list the versions to build: one named after the distribution, `flash-attn: [\"2.8.3\"]`, or `version`.",
);
/// `gfx: [host]` on a machine without a GPU.
pub const HOST_WITHOUT_GPU: Code = Code::error(
    "P027",
    "host-without-gpu",
    "`gfx: [host]` stands for the targets of the GPUs in this machine, for local builds. The driver of this machine lists no GPU.\n\nName the targets in the matrix file; `rock-matrix doctor` shows the GPUs of a machine. If the file is also built on machines without a GPU, list the targets to build there under `gfx-fallback`; then this is a warning.",
);
/// A missing axis that the recipe needs.
pub const MISSING_AXIS: Code = Code::error(
    "P030",
    "missing-axis",
    "The recipe needs an axis that the matrix file does not have. Without `torch`, for example, the build would not know which torch to compile against, and the wheel's label would not name it.\n\nAdd the axis with at least one value. The axes that a recipe needs are listed under `requires`.",
);
/// An `include` entry whose cells are all excluded.
pub const INCLUDE_LEFT_OUT: Code = Code::warning(
    "P032",
    "include-left-out",
    "An `include` entry changes or adds nothing, because every cell that it names is excluded. An entry that names every axis restores a cell that `exclude` or `rocm-policy` removes, but not one that the compatibility data or `free-threaded` excludes.",
);
/// An invalid leg in the variable of `--job-env`.
pub const BAD_JOB_VARIABLE: Code = Code::error(
    "P048",
    "bad-job-variable",
    "The environment variable in `build --job-env NAME` must contain an entry of the workflow's \
     matrix as JSON, `${{ toJSON(matrix) }}`: an object whose `id` is a job of the plan.",
);
/// An invalid list of the jobs of a run.
pub const BAD_RUN_FILE: Code = Code::error(
    "P050",
    "bad-run-file",
    "The file is not a list of the jobs of a workflow run. `plan --only-failed` takes the list as \
     GitHub returns it: `gh api \"repos/OWNER/REPO/actions/runs/ID/jobs\" --paginate > run.json`, \
     with or without `--slurp`.\n\nThe warning names jobs that failed in the run but are not in \
     the plan: the run used other matrix files, or the failed job did not build a wheel of the \
     matrix.",
);
/// `rocm: [host]` on a machine without ROCm, or with several.
pub const HOST_WITHOUT_ROCM: Code = Code::error(
    "P093",
    "host-without-rocm",
    "`rocm: [host]` selects the ROCm of this machine, for local builds: the one in `ROCM_PATH` or \
     `/opt/rocm`, otherwise the only one in `/opt`, otherwise the version that `hipconfig \
     --version` prints. This machine has none, or has several and none of them is selected.",
);
/// A plan with more jobs or matrices than the workflow that runs it.
pub const MORE_JOBS: Code = Code::error(
    "P047",
    "more-jobs",
    "A rendered workflow has a job for each GitHub matrix of the plan that it was rendered for, and \
     an output for each job of that plan. The current plan has more, because the matrix files or \
     the compatibility data changed, so some jobs would not run or could not report their \
     wheels.\n\nRender the workflow again and commit it: `rock-matrix render workflow --out \
     .github/workflows/FILE`. The second line of the workflow has the whole command; with \
     `--check` it shows the differences.",
);
/// Families that cannot be built with an axis value.
pub const FAMILY_NOT_SUPPORTED: Code = Code::note(
    "P052",
    "family-not-supported",
    "According to the table `unsupported-families`, these families cannot be built from this branch of the sources. They are removed from the job, and a job without other families is excluded.\n\n`rock-matrix compat list unsupported-families` shows the rows.",
);
/// A job that does not fit its runner.
pub const JOB_DOES_NOT_FIT: Code = Code::error(
    "P065",
    "job-does-not-fit",
    "The table `build-needs` lists the minimum disk space and thread-hours (hours of one hardware thread) for builds of a recipe, and the table `runners` the resources of each runner. A job that needs more would fail after hours: the disk fills up, or the runner stops the job.\n\nSet `runner` to a larger one: `self-hosted`, `[self-hosted, LABEL]` for a runner of yours with a label, or one of `rock-matrix compat list runners`. Runners whose disk or threads are unknown are not checked, and neither are builds on this machine with `rock-matrix build`. `check` and `plan` only warn, unless `plan` writes the matrices of a workflow with `--github-output`.",
);
/// Compiler caches that exceed GitHub's limit.
pub const CACHES_EXCEED_LIMIT: Code = Code::warning(
    "P066",
    "caches-exceed-limit",
    "With `workflow: {cache: on}` a build that reaches its cap saves its compiler cache for the next attempt. The estimated total exceeds GitHub's limit per repository, beyond which the least recently used caches are evicted; a build that loses its cache starts over and may never finish. Each build is therefore limited to its share (`CCACHE_MAXSIZE`), and its older caches are deleted.\n\nThe limit is that of the repository, so several workflows share it. Build fewer combinations or gfx targets, build some of them in another repository, or choose a runner that is large enough to build without a cap.",
);
/// A required recipe variable that is not set.
pub const MISSING_VARIABLE: Code = Code::error(
    "P070",
    "missing-variable",
    "The recipe needs a variable that has no default. Without `source`, for example, the recipe for HIP extensions would not know which project to build.\n\nSet it under `vars`, set it for single cells in `rows` or `include`, or list its values as an axis. `rock-matrix recipe show NAME` lists the variables of a recipe with their meaning and default. The required ones are listed under `required-vars`.",
);
/// A wheel that cannot be imported with its torch.
pub const IMPORT_CONFLICT: Code = Code::note(
    "P078",
    "import-conflict",
    "The package needs a version of another package that this torch does not permit: `pip` installs the version that torch requires, and importing the package fails. Such a wheel would be useless, so it is not built.\n\nThis follows from the tables `import-requirements` and `torch-requirements`; `rock-matrix compat explain flash-attn=2.8.3 backend=triton torch=2.5.1` shows the rows. `plan --explain` shows the version that works.",
);
/// A package that has not been imported with this torch.
pub const IMPORT_UNTRIED: Code = Code::note(
    "P079",
    "import-untried",
    "The package needs another package, and importing it with the version that this torch \
     requires is untested. Its wheels are planned anyway. Before you publish one, install it with \
     this torch and import the package.\n\nAfter a successful import, add the version to `tried` \
     in the table `import-requirements`. The torch of an image or of AMD's index may have other \
     requirements than the official wheels, so with those a conflict is only a note.",
);
/// No starter for this project.
pub const NO_STARTER: Code = Code::error(
    "P090",
    "no-starter",
    "`rock-matrix init` cannot write a matrix file for this request. It can write one for the Python project in a directory, for a package on PyPI (`--distribution NAME==1.2`), for a built-in recipe such as `torch`, or for a recipe of yours in `matrices/recipes` or `--recipes` (`--recipe NAME`). A package on PyPI gets a recipe that builds its source distribution; torch has none, and is built from its repository. Recipes that are only parts of others have no matrix file. The name and version of the project are read from `pyproject.toml`, `setup.cfg` or `setup.py` without running them.\n\nIf the version is computed during the build, from tags for example, pass it with `--set version=1.2`; pass a name with `--distribution`. The argument is a directory, which is created; `rock-matrix recipe new NAME` writes a recipe of your own.",
);
/// An axis whose values cannot share a wheel.
pub const CANNOT_COLLAPSE: Code = Code::error(
    "P091",
    "cannot-collapse",
    "`collapse` in the matrix file names an axis whose values cannot share one wheel: every backend has different wheels for them, or the file has no such axis.\n\nA recipe lists the axes that may be collapsed under `collapsible` of a backend: versions of torch and ROCm for wheels without compiled code, such as the Triton backend of flash-attn.",
);
/// A conflict between architectures.
pub const ARCHITECTURE_CONFLICT: Code = Code::error(
    "P092",
    "architecture-conflict",
    "Wheels are built for the architecture of their runner: on `ubuntu-24.04-arm` a job builds for `linux_aarch64`. This contradicts another setting: labels for two architectures, the members of a runner pool, the runner that tests a wheel, the tag under `repair`, or the fixed tag of a recipe's backend.\n\nThe table `runners` has the architecture of each known runner. The labels `X64` and `ARM64`, which GitHub gives to self-hosted runners, determine that of other runners; without one it is x86_64.",
);
/// A Python or ROCm version that the compatibility data does not list.
pub const UNKNOWN_VERSION: Code = Code::warning(
    "P095",
    "unknown-version",
    "The compatibility data lists no release of this minor version of Python or ROCm: it is a \
     typo, or the version is older or newer than the data. The jobs are kept, and fail if the \
     version does not exist. `rock-matrix compat list rocm` shows the known versions of ROCm, and \
     `rock-matrix compat list torch` the Pythons that torch has wheels for.",
);
