//! The `P` codes: why cells yield no job, and what makes a plan fail.

use crate::diagnostic::Code;

/// Every `P` code, in order.
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
    &UNKNOWN_JOB,
    &BAD_PLAN_FILE,
    &OUTPUT_TOO_LARGE,
    &COLLIDING_IDS,
    &VALUE_WITHOUT_JOB,
    &NO_VERSION_AXIS,
    &MISSING_AXIS,
    &OUT_IS_INPUT,
    &INCLUDE_LEFT_OUT,
    &HOST_WITHOUT_GPU,
    &HOST_WITHOUT_ROCM,
    &HOST_VALUE_IN_WORKFLOW,
    &OPTIONS_DIFFER,
    &PATH_NOT_IN_CHECKOUT,
    &ACTION_WITHOUT_COMMIT,
    &TOO_MANY_ARTIFACTS,
    &WORKFLOW_TOO_LARGE,
    &BUILDS_WITHOUT_CACHE,
    &NOT_RENDERED,
    &MORE_MATRICES,
    &BAD_JOB_VARIABLE,
    &BAD_OUTPUT,
    &BAD_RUN_FILE,
    &WORKFLOW_ELSEWHERE,
    &FAMILY_NOT_SUPPORTED,
    &MATRIX_KEY_MISSING,
    &TREE_ON_A_RUNNER,
    &JOB_DOES_NOT_FIT,
    &CACHES_EXCEED_LIMIT,
    &TOO_MANY_SUBJECTS,
    &MISSING_VARIABLE,
    &IMPORT_CONFLICT,
    &IMPORT_UNTRIED,
    &NO_STARTER,
    &CANNOT_COLLAPSE,
    &ARCHITECTURE_CONFLICT,
];

/// The official index has no wheels of this torch for this ROCm.
pub const TORCH_WITHOUT_ROCM: Code = Code::note(
    "P001",
    "torch-without-rocm",
    "The official PyTorch index has no wheels of this torch release for this ROCm version, so the cell is left out.\n\nEach torch minor is released for two ROCm versions; `rock-matrix compat list torch` shows them. Use one of those, or build against the image's torch (`torch-from: image`) or AMD's index (`torch-from: amd-index`).",
);
/// The official index has no wheels of this torch for this Python.
pub const TORCH_WITHOUT_PYTHON: Code = Code::note(
    "P002",
    "torch-without-python",
    "The official PyTorch index has no wheels of this torch release for this Python, so the cell is left out.\n\n`rock-matrix compat list torch` shows which Pythons each release has, free-threaded ones in a column of their own.",
);
/// No image of the table carries this torch with this ROCm.
pub const TORCH_NOT_IN_IMAGE: Code = Code::note(
    "P003",
    "torch-not-in-image",
    "With `torch-from: image` the torch is the one inside the container image, and no image of the table carries this torch with this ROCm.\n\n`rock-matrix compat list images` shows the tags. Choose one of them, or set `torch-from: pytorch-index`.",
);
/// This version of the package has no such backend.
pub const BACKEND_NOT_IN_VERSION: Code = Code::note(
    "P004",
    "backend-not-in-version",
    "This version of the package has no such backend on ROCm, so the cell is left out.\n\nflash-attn, for instance, has its Triton backend since 2.7, and FlashAttention 3 has no path for AMD GPUs at all.",
);
/// The package needs a later Python.
pub const PYTHON_TOO_OLD: Code = Code::note(
    "P005",
    "python-too-old",
    "This version of the package asks for a later Python than the cell's, so the cell is left out.",
);
/// Free-threaded Python while `free-threaded` is off.
pub const FREE_THREADED_OFF: Code = Code::note(
    "P006",
    "free-threaded-off",
    "The cell's Python is free-threaded (`3.13t`), which is built only with `free-threaded: true`: sources disagree on whether torch has such wheels for ROCm.",
);
/// The ROCm policy keeps another version.
pub const ROCM_POLICY: Code = Code::note(
    "P007",
    "rocm-policy",
    "`rocm-policy` is `oldest` or `newest`, which keeps one ROCm version for each torch release and leaves the others out.",
);
/// Left out by hand.
pub const EXCLUDED_BY_USER: Code = Code::note(
    "P008",
    "excluded-by-user",
    "An entry of `exclude` in the matrix file names these values, so the cells are left out.",
);
/// No fact speaks about this combination.
pub const UNKNOWN_COMBINATION: Code = Code::error(
    "P009",
    "unknown-combination",
    "No fact speaks about this combination: it is unknown, which is not the same as illegal.\n\nWith `unknown: strict` (the default) the plan fails, so that a typing error does not become an hours-long build. With `unknown: lenient` the cells are kept with a warning. `rock-matrix compat refresh --help` says how new releases are added to the facts.",
);
/// None of the wanted gfx targets is left.
pub const NO_GFX_LEFT: Code = Code::error(
    "P010",
    "no-gfx-left",
    "None of the wanted gfx targets can be compiled for this combination: the package's own list, the toolchain and the torch wheels each rule some out.\n\nA wheel without device code would install and then fail at the first call, so this fails the plan.",
);
/// The axes have more cells than can be counted.
pub const TOO_MANY_CELLS: Code = Code::error(
    "P011",
    "too-many-cells",
    "One matrix file may have 10 million legal cells, and those that are not legal must be ruled out with a thousand million questions to the rules; facts judge 100,000 combinations of two or three axes, such as torch and ROCm; the product of all axes must fit 64 bits. GitHub runs 256 jobs of one matrix, so this is far above what anyone builds, and usually one axis too many.\n\nList fewer values, or split the matrix into several files.",
);
/// Two jobs would produce the same wheel.
pub const COLLIDING_WHEELS: Code = Code::error(
    "P012",
    "colliding-wheels",
    "Two jobs would produce wheels of the same name, so one would overwrite the other in the release.\n\nA wheel's name holds the version, the label (ROCm cut to `rocm-precision`, torch to its minor, backend), the Python and the platform, and nothing else: two torch patches of one minor, two ROCm patches of one minor, or a gfx axis end up with one name. Drop one of the values, or set `rocm-precision: patch`.",
);
/// A compact label has two readings.
pub const AMBIGUOUS_LABEL: Code = Code::error(
    "P013",
    "ambiguous-label",
    "`label-style: compact` was asked for, but the digits have two readings: `rocm714` is ROCm 7.14 and 7.1.4.\n\nUse `label-style: auto`, which writes such labels with dots, or `dotted`.",
);
/// The plan has no jobs.
pub const EMPTY_PLAN: Code = Code::warning(
    "P014",
    "empty-plan",
    "The plan has no jobs: every cell is left out, published already, in a file with `enabled: false`, or did not fail in the run of `--only-failed`.\n\n`rock-matrix plan --explain` shows the reasons. With `--fail-empty` this fails.",
);
/// No recipe has this name.
pub const UNKNOWN_RECIPE: Code = Code::error(
    "P015",
    "unknown-recipe",
    "The matrix file names a recipe that is neither shipped nor in the folder given by `--recipes`.",
);
/// The recipe has no such backend.
pub const UNKNOWN_BACKEND: Code = Code::error(
    "P016",
    "unknown-backend",
    "The `backend` axis names a backend that the recipe does not know.",
);
/// No job has this id or wheel name.
pub const UNKNOWN_JOB: Code = Code::error(
    "P017",
    "unknown-job",
    "No job of the plan has this id or wheel name, or several begin with it; or no matrix file has the axis or the value of `plan --only`.\n\n`rock-matrix plan` lists the jobs.",
);
/// A plan file that cannot be read back.
pub const BAD_PLAN_FILE: Code = Code::error(
    "P018",
    "bad-plan-file",
    "The file is not a plan of this program: it is not the JSON that `rock-matrix plan --format json` writes, or it is of another version.",
);
/// The GitHub form is larger than an output may be.
pub const OUTPUT_TOO_LARGE: Code = Code::error(
    "P022",
    "output-too-large",
    "The plan in GitHub's form is larger than a job output may be (1 MiB, counted in UTF-16). Hand the plan on as an artifact instead, or split the matrix.\n\nFrom half of that on, it is told of as a warning. Where whole legs do not fit, they first lose what only people read (`wheel`, `image`, `recipe`, `matrix`, `gfx`, `label`), then everything but `id`, `runner` and `gpu`; that is a warning too, and the output `slim` is `true`.",
);
/// Two jobs have one id.
pub const COLLIDING_IDS: Code = Code::error(
    "P023",
    "colliding-ids",
    "Two jobs of different matrix files have the same id although their wheels differ. Rename an axis or join the files.",
);
/// An axis value that no job has.
pub const VALUE_WITHOUT_JOB: Code = Code::warning(
    "P025",
    "value-without-job",
    "Every cell with this value is left out, so writing it in the matrix has no effect.\n\nEither the value is wrong, or the others it goes with are missing from the matrix.",
);
/// No axis names the versions of the distribution.
pub const NO_VERSION_AXIS: Code = Code::error(
    "P026",
    "no-version-axis",
    "A wheel's name begins with its version, so an axis must name the versions to build: one named after the distribution, `flash-attn: [\"2.8.3\"]`, or `version`.",
);
/// An axis that the recipe needs is missing.
pub const MISSING_AXIS: Code = Code::error(
    "P030",
    "missing-axis",
    "The recipe needs an axis that the matrix file does not have: without `torch`, say, the build would not know which torch to compile against, and the wheel's label would not tell.\n\nAdd the axis with at least one value. A recipe names what it needs under `requires`.",
);
/// `--out` names a file that is read.
pub const OUT_IS_INPUT: Code = Code::error(
    "P031",
    "out-is-input",
    "`--out` names a file that this command reads, such as the matrix file itself. Writing there would lose it, so nothing was written.",
);
/// An include without a legal cell.
pub const INCLUDE_LEFT_OUT: Code = Code::warning(
    "P032",
    "include-left-out",
    "An `include` entry changes or adds nothing, because every cell that it names is left out. An entry that names every axis brings back a cell that `exclude` takes away; what the facts or a policy rule out stays out.",
);
/// `gfx: [host]` on a machine without a GPU.
pub const HOST_WITHOUT_GPU: Code = Code::error(
    "P027",
    "host-without-gpu",
    "`gfx: [host]` stands for the targets of the GPUs in this machine, for local builds. This machine has none that the driver shows.\n\nName the targets in the matrix file; `rock-matrix doctor` shows what the machine has. A file that is also built without a GPU lists under `gfx-fallback` what it is built for then, which makes this a warning.",
);
/// `rocm: [host]` on a machine without ROCm, or with several.
pub const HOST_WITHOUT_ROCM: Code = Code::error(
    "P093",
    "host-without-rocm",
    "`rocm: [host]` stands for the ROCm of this machine, for local builds: that of ROCM_PATH or /opt/rocm, else the only one in /opt, else the one that `hipconfig --version` names. There is none, or there are several and none is chosen.",
);
/// A workflow of a matrix file that asks for values of the machine.
pub const HOST_VALUE_IN_WORKFLOW: Code = Code::warning(
    "P094",
    "host-value-in-workflow",
    "`gfx: [host]` and `rocm: [host]` stand for what the machine that makes the plan has. A workflow makes its plan again in its first job, on a runner of GitHub without a GPU and without ROCm, where that is an error.\n\nName the values, or list under `gfx-fallback` the targets that are built without a GPU.",
);
/// Matrix files of one workflow that want different things of it.
pub const OPTIONS_DIFFER: Code = Code::error(
    "P040",
    "options-differ",
    "Matrix files that are rendered into one workflow share its plan, its release and its options, so `workflow` and `release` must say the same in each.\n\nWrite the same, or render several workflows: the help has a command for each group of files that agree. A tag is one release of one plan, so their `workflow.tags` must differ.",
);
/// A path of the command line that means nothing in a checkout.
pub const PATH_NOT_IN_CHECKOUT: Code = Code::error(
    "P041",
    "path-not-in-checkout",
    "A rendered workflow repeats the paths of the command line and of the matrix files, and runs them in a checkout of the repository. A path must therefore be relative, stay below the root, and hold nothing that GitHub evaluates and nothing that cannot be seen.\n\nRun `rock-matrix render workflow` in the repository's root, or rename the file.",
);
/// No commit is known of an action that a workflow uses.
pub const ACTION_WITHOUT_COMMIT: Code = Code::error(
    "P042",
    "action-without-commit",
    "A workflow names every action by its full commit, and commits stand in the table `actions` of the facts. One that is missing there is never made up.",
);
/// More wheels than a job can fetch.
pub const TOO_MANY_ARTIFACTS: Code = Code::error(
    "P043",
    "too-many-artifacts",
    "Each job of the plan keeps its wheel as an artifact of the workflow run, and the job that publishes fetches them all. GitHub takes 500 artifacts of a job, so a plan with more jobs needs several workflows. Up to that, one workflow runs them all: it has as many matrices of 256 jobs as the plan needs.\n\nGive each workflow fewer matrix files, or list fewer values.",
);
/// The workflow file is larger than GitHub reads.
pub const WORKFLOW_TOO_LARGE: Code = Code::error(
    "P044",
    "workflow-too-large",
    "GitHub reads workflow files of up to 500 KB. From half of that on, the file is told of as a warning.",
);
/// Long builds without anything to go on from.
pub const BUILDS_WITHOUT_CACHE: Code = Code::warning(
    "P045",
    "builds-without-cache",
    "A build is estimated to take longer than its runner lets a job run. The workflow caps such a build before that, with exit code 124; with `workflow: {cache: on}` the compiler cache is kept then, and `Re-run failed jobs` goes on from it. Without the cache each attempt begins anew and ends the same.\n\nTurn the cache on, name a larger runner, or make the build smaller with what the estimate names.",
);
/// A file that would be overwritten is not one of ours.
pub const NOT_RENDERED: Code = Code::error(
    "P046",
    "not-rendered",
    "`render workflow --out` writes over files that it rendered before, which begin with `# Rendered by rock-matrix`. A file that begins otherwise was written by someone, and stays as it is.",
);
/// The plan has outgrown the workflow that runs it.
pub const MORE_MATRICES: Code = Code::error(
    "P047",
    "more-matrices",
    "A rendered workflow has one job per matrix and one output per leg of the plan that it was rendered for. The current plan has more matrices or legs, so some legs would not run or could not report their wheels.\n\nRender the workflow again with `rock-matrix render workflow`.",
);
/// `--job-env` names a variable that holds no leg.
pub const BAD_JOB_VARIABLE: Code = Code::error(
    "P048",
    "bad-job-variable",
    "`build --job-env NAME` takes the job out of a variable that holds a leg of the workflow's matrix as JSON, `${{ toJSON(matrix) }}`: an object whose `id` is a job of the plan.",
);
/// A value that cannot be an output of a step.
pub const BAD_OUTPUT: Code = Code::error(
    "P049",
    "bad-output",
    "What a step hands on is written to the file that `GITHUB_OUTPUT` names, as `name=value`, or between two lines of a delimiter where the value has several lines. A value with a NUL, with a line that is the delimiter, or under a name that is no word would be read as something else, so nothing is written.\n\nLook where the value comes from: it should be text.",
);
/// `--only-failed` names a file that lists no jobs of a run.
pub const BAD_RUN_FILE: Code = Code::error(
    "P050",
    "bad-run-file",
    "`plan --only-failed` takes the jobs of a workflow's run as GitHub lists them: `gh api \"repos/OWNER/REPO/actions/runs/ID/jobs\" --paginate > run.json`, with `--slurp` or without.\n\nAs a warning it names jobs that failed in the run and are none of the plan: the run was of other matrix files, or it was no leg that failed.",
);
/// A workflow where GitHub does not look for any.
pub const WORKFLOW_ELSEWHERE: Code = Code::warning(
    "P051",
    "workflow-elsewhere",
    "GitHub runs the files of `.github/workflows` itself, not of folders in it, whose names end in `.yml` or `.yaml`. A workflow that is written elsewhere can be looked at, and never runs.",
);
/// None of the wanted families can be built with a value of an axis.
pub const FAMILY_NOT_SUPPORTED: Code = Code::note(
    "P052",
    "family-not-supported",
    "A table of the facts, `unsupported-families`, says that a branch of the sources cannot be built for these families. Such families are left out of a job, and a job that has no other is left out itself.\n\n`rock-matrix compat list unsupported-families` shows the rows.",
);
/// A workflow reads what its legs do not have.
pub const MATRIX_KEY_MISSING: Code = Code::error(
    "P053",
    "matrix-key-missing",
    "A job of the workflow reads `matrix.KEY`, and a leg of its matrix has no such key. GitHub would put nothing in its place, without a word. Every workflow is compared with its legs before it is written.\n\nLegs have less where a plan is too large for the outputs of a job: give each workflow fewer matrix files.",
);
/// A job of a workflow would leave nothing.
pub const TREE_ON_A_RUNNER: Code = Code::error(
    "P054",
    "tree-on-a-runner",
    "A recipe with `leaves: tree` installs what it builds where it is built, and leaves no file. A runner is thrown away with what is on it, so a workflow of such jobs would take hours for nothing.\n\nBuild it with `rock-matrix build` on the machine that needs the tree, or write a recipe that packs it: `leaves: archive`.",
);
/// A job that its runner cannot run to its end.
pub const JOB_DOES_NOT_FIT: Code = Code::error(
    "P065",
    "job-does-not-fit",
    "The table `build-needs` has the minimum disk space and hours of one hardware thread for builds of a recipe, the table `runners` what a runner has. A job that needs more would fail after hours: the disk fills up, or the runner stops the job.\n\nSet `runner` to a larger one: `self-hosted`, your own label, or one of `rock-matrix compat list runners`. Runners without known disk or threads are not checked, and neither are builds on this machine with `rock-matrix build`. `check` and `plan` only warn, unless `plan` writes the matrices of a workflow with `--github-output`.",
);
/// More caches than GitHub keeps.
pub const CACHES_EXCEED_LIMIT: Code = Code::warning(
    "P066",
    "caches-exceed-limit",
    "With `workflow: {cache: on}` a build that reaches its cap saves its compiler cache for the next attempt. The estimated total exceeds GitHub's limit per repository, beyond which the least recently used caches are evicted; a build that loses its cache starts over and may never finish. Each build is therefore limited to its share (`CCACHE_MAXSIZE`), and its older caches are deleted.\n\nThe limit is that of the repository, so several workflows share it. Build fewer combinations or gfx targets, build some of them in another repository, or choose a runner that is large enough to build without a cap.",
);
/// More files than one attestation takes.
pub const TOO_MANY_SUBJECTS: Code = Code::error(
    "P067",
    "too-many-subjects",
    "The job that publishes attests all files of the release in one attestation, and actions/attest takes at most 1,024 subjects. A job may leave several wheels, so the files are counted and not the jobs.\n\nGive each workflow fewer matrix files, list fewer values, or set `release: {attest: off}`.",
);
/// A variable that the recipe needs is not set.
pub const MISSING_VARIABLE: Code = Code::error(
    "P070",
    "missing-variable",
    "The recipe needs a variable that has no default: without `source`, say, the recipe of HIP extensions would not know which project to build.\n\nSet it under `vars`, for single cells in `rows` or `include`, or list its values as an axis. `rock-matrix recipe show NAME` lists the variables of a recipe with their meaning and default. A recipe names what it needs under `required-vars`.",
);
/// A wheel that could not be imported.
pub const IMPORT_CONFLICT: Code = Code::note(
    "P078",
    "import-conflict",
    "The package needs another one in a version that this torch does not bring: `pip` installs the version that torch requires, and importing the package fails. Such a wheel would be of no use to anyone, so it is not built.\n\nThe tables `import-requirements` and `torch-requirements` say so; `rock-matrix compat explain flash-attn=2.8.3 backend=triton torch=2.5.1` shows the rows. `plan --explain` says which version works.",
);
/// A package and a torch that nobody has tried together.
pub const IMPORT_UNTRIED: Code = Code::note(
    "P079",
    "import-untried",
    "The package needs another one, and nobody has tried to import it with the version that this torch requires. Its wheels are planned all the same; install one with this torch and import the package before you publish it.\n\nA version that was imported belongs to `tried` of the table `import-requirements`. Torch of an image or of AMD's index may bring another version than the official wheels of it, so that a conflict is a note there.",
);
/// No starter for what is asked for.
pub const NO_STARTER: Code = Code::error(
    "P090",
    "no-starter",
    "`rock-matrix init` starts from the Python project of a folder, whose name and version it reads from `pyproject.toml`, `setup.cfg` or `setup.py` without running anything; or from flash-attn with Triton's kernels.\n\nA version that is computed when the project is built, from tags for example, is given with `--set version=1.2`, and a name with `--distribution`. Other recipes have matrix files of their own under `matrices/` of this program's repository.",
);
/// An axis that the recipe does not let share a wheel.
pub const CANNOT_COLLAPSE: Code = Code::error(
    "P091",
    "cannot-collapse",
    "`collapse` of the matrix file names an axis whose values cannot share one wheel: the wheels of no backend are the same for several of its values, or the file has no such axis.\n\nA recipe lists under `collapsible` of a backend what a matrix file may collapse: versions of torch and ROCm for wheels without compiled code, such as the Triton backend of flash-attn.",
);
/// A runner whose architecture contradicts something else.
pub const ARCHITECTURE_CONFLICT: Code = Code::error(
    "P092",
    "architecture-conflict",
    "Wheels are built for the architecture of their runner: on `ubuntu-24.04-arm` a job plans `linux_aarch64`. Labels for two architectures, the members of a pool, the runner that tests a wheel, the tag under `repair` or the fixed tag of a recipe's backend contradict that.\n\nThe table `runners` has the architecture of each known runner. Of other runners the labels `X64` and `ARM64` say it, as GitHub gives them to self-hosted runners; without one it is x86_64.",
);
