//! The `B` codes: recipes, building, containers.

use crate::diagnostic::Code;
pub use rock_sys::codes::build::*;

/// Every `B` code, in order.
pub const ALL: &[&Code] = &[
    &BAD_RECIPE,
    &BAD_EXPRESSION,
    &REFUSED_BY_RECIPE,
    &FACT_CYCLE,
    &NO_IMAGE,
    &UNPINNED_IMAGE,
    &WINDOWS_JOB,
    &UNKNOWN_VARIABLE,
    &WRONG_PYTHON,
    &TORCH_OF_ANOTHER_PYTHON,
    &UNPINNED_SOURCE,
    &PATH_OUTSIDE,
    &WARNED_BY_RECIPE,
    &STEP_FAILED,
    &STEP_TIMED_OUT,
    &STEP_NOT_STARTED,
    &OUTPUT_MISSING,
    &WRONG_WHEEL,
    &BUILD_CAPPED,
    &BUILD_STOPPED,
    &JOB_BUSY,
    &UNKNOWN_STAGE,
    &BAD_BUILD_FILE,
    &BUILD_FOLDER,
    &ENGINE_MISSING,
    &NO_ENGINE_ANSWERS,
    &IMAGE_MISSING,
    &DEVICE_MISSING,
    &GROUP_MISSING,
    &ENGINE_FAILED,
    &DISK_FULL,
    &CLEANS_OUTSIDE,
    &BAD_JOB_ID,
    &OUT_FOLDER,
    &BUILDS_FAILED,
    &WHEEL_REFUSED,
    &FACT_UNKNOWN,
    &NO_SIGNALS,
    &NO_RECIPES,
    &MISSING_SOURCE,
    &UNKNOWN_FACT,
    &BAD_REPLACEMENT,
    &TORCH_NOT_OF_LABEL,
];

/// A recipe file that does not follow the format.
pub const BAD_RECIPE: Code = Code::error(
    "B001",
    "bad-recipe",
    "The recipe file does not follow the format: a key is unknown or missing, or a value has the wrong form.\n\n`docs/recipes.md` lists what a recipe may hold.",
);
/// An expression of a recipe that cannot be evaluated.
pub const BAD_EXPRESSION: Code = Code::error(
    "B002",
    "bad-expression",
    "A `{{ }}` expression of the recipe does not parse, or names something that is not there.\n\nExpressions see the job (`version`, `label`, `gfx`, `backend`, the axes with `-` as `_`), `vars`, `package` (the row of the facts) and the recipe's own facts.",
);
/// The recipe refuses this combination.
pub const REFUSED_BY_RECIPE: Code = Code::error(
    "B003",
    "refused-by-recipe",
    "The recipe itself refuses this combination, for example a variable that this version of the package does not read.",
);
/// Facts of a recipe that need each other.
pub const FACT_CYCLE: Code = Code::error(
    "B004",
    "fact-cycle",
    "Facts of the recipe need each other in a circle, so none of them can be computed first.",
);
/// A container is asked for, and no image is known.
pub const NO_IMAGE: Code = Code::error(
    "B005",
    "no-image",
    "No container image is known for this job: the table has no tag for its versions, and no builder image for its ROCm.\n\nName one with `--image`, with `image: {tag: …}` in the matrix file, or for some cells in `include`.",
);
/// An image without a digest.
pub const UNPINNED_IMAGE: Code = Code::warning(
    "B006",
    "unpinned-image",
    "The container image is named by a tag, which may come to mean another image. Pin it as `tag@sha256:…` where builds must be reproducible; `image: {digest: require}` makes this an error, `ignore` silences it.",
);
/// Windows jobs are planned and rendered, not run.
pub const WINDOWS_JOB: Code = Code::error(
    "B007",
    "windows-job",
    "Jobs for Windows are planned, and `render script` writes what builds them there, for PowerShell or cmd. `build`, containers and workflows are for Linux only, and so are the Pythons of `python-from: manylinux` and `deadsnakes`. `render workflow` without files leaves out the matrix files for Windows, with a note.",
);
/// A variable that the recipe does not know.
pub const UNKNOWN_VARIABLE: Code = Code::error(
    "B008",
    "unknown-variable",
    "The matrix file sets a recipe variable that the recipe does not have. `docs/recipes.md` lists the variables of each shipped recipe.",
);
/// The image's Python is not the job's.
pub const WRONG_PYTHON: Code = Code::error(
    "B009",
    "wrong-python",
    "With `python-from: image` the Python is the one inside the container image, and this image's tag names another one than the job's.\n\nUse an image for this Python, or `python-from: uv`.",
);
/// An installed torch is asked for together with another Python.
pub const TORCH_OF_ANOTHER_PYTHON: Code = Code::error(
    "B010",
    "torch-of-another-python",
    "With `torch-from: image` or `host` the torch is one that is installed already, for one Python of that image or machine. Another Python, made with uv or taken from elsewhere, does not see it.\n\nSet `python-from` to the same word, or take torch from an index.",
);
/// A source that may change under the same name.
pub const UNPINNED_SOURCE: Code = Code::warning(
    "B011",
    "unpinned-source",
    "What is built is fetched without a digest or by a name that may move. A build of tomorrow may then be of other sources, and nobody would see it.\n\nGive an archive its `sha256`, and name a commit in full.",
);
/// A path of a recipe that leaves the job's folder.
pub const PATH_OUTSIDE: Code = Code::error(
    "B012",
    "path-outside",
    "A recipe edits, removes and collects files of the job's folder and nowhere else. This path is absolute or goes up with `..`.",
);
/// The recipe warns of a combination.
pub const WARNED_BY_RECIPE: Code = Code::warning(
    "B013",
    "warned-by-recipe",
    "The recipe builds this combination and warns of it, for example of a version that nobody has looked at, which is built as the newest known one.",
);
/// A stage of the build ended with an error.
pub const STEP_FAILED: Code = Code::error(
    "B050",
    "step-failed",
    "A stage of the build ended with an error. The message has its command, its last lines and the log file.\n\nNothing is lost: stages that are done stay done. Fix the cause and run the same command with `--continue auto`, which begins at the first stage that changed or did not succeed, or with `--continue STAGE`.",
);
/// A stage took longer than it may.
pub const STEP_TIMED_OUT: Code = Code::error(
    "B051",
    "step-timed-out",
    "A stage took longer than its time limit and was ended with everything it had started.\n\nThe limit is that of the recipe's step, else that of `--timeout MINUTES`.",
);
/// A stage whose program is not there.
pub const STEP_NOT_STARTED: Code = Code::error(
    "B052",
    "step-not-started",
    "The program of a stage, or the folder it runs in, is not there.\n\nWith `--engine local` the tools of the recipe must be installed on this machine; in a container they come with the image.",
);
/// A stage left other files than it should.
pub const OUTPUT_MISSING: Code = Code::error(
    "B053",
    "output-missing",
    "A stage or the build as a whole succeeded, but the files it should leave are not there, or there are more than there should be.",
);
/// A wheel of another name than planned.
pub const WRONG_WHEEL: Code = Code::error(
    "B054",
    "wrong-wheel",
    "The build made a wheel, but not the one that the plan expects: distribution, version with label, Python tag and ABI tag are compared, the platform tag is not, because repair changes it.\n\nA label that differs means that the build did not take the version it was given; a Python tag that differs means that another interpreter ran.",
);
/// The cap ended the build.
pub const BUILD_CAPPED: Code = Code::warning(
    "B055",
    "build-capped",
    "The build was ended by `--cap` so that its work can be saved before the runner is taken away. The exit code is 124, and nothing has failed: the next attempt goes on from here with `--continue auto`.",
);
/// A signal ended the build.
pub const BUILD_STOPPED: Code = Code::warning(
    "B056",
    "build-stopped",
    "SIGINT (exit code 130) or SIGTERM (143) ended the build and everything it had started. Stages that are done stay done; go on with `--continue auto`.",
);
/// Another build of the job runs.
pub const JOB_BUSY: Code = Code::error(
    "B057",
    "job-busy",
    "Two builds of one job in one folder would spoil each other's files, so the second is refused. The lock goes away by itself when the first one ends, in whatever way.",
);
/// A stage that the build does not have.
pub const UNKNOWN_STAGE: Code = Code::error(
    "B058",
    "unknown-stage",
    "`--continue` names a stage that this job's build does not have. `rock-matrix build JOB --dry-run` lists them.",
);
/// A record that cannot be read.
pub const BAD_BUILD_FILE: Code = Code::warning(
    "B059",
    "bad-build-file",
    "The `build.json` in the job's folder cannot be read: it was written by another version, or damaged. The build begins with the first stage.",
);
/// A file of the job's folder cannot be written.
pub const BUILD_FOLDER: Code = Code::error(
    "B060",
    "build-folder",
    "A file in the job's folder `.rock/JOB` cannot be written or removed: rights, a full disk, or files that a container left as another user.",
);
/// The container engine is not installed.
pub const ENGINE_MISSING: Code = Code::error(
    "B061",
    "engine-missing",
    "`--engine docker` or `--engine podman` needs that program on the `PATH`.",
);
/// No container engine answers.
pub const NO_ENGINE_ANSWERS: Code = Code::error(
    "B062",
    "no-engine-answers",
    "The engine's client is there, but no daemon answers it, or this user may not talk to it.",
);
/// The image is not there.
pub const IMAGE_MISSING: Code = Code::error(
    "B063",
    "image-missing",
    "The container image is neither on this machine nor can it be fetched: the tag does not exist, the registry asks for a login, or there is no network.",
);
/// The GPU's device nodes are missing.
pub const DEVICE_MISSING: Code = Code::error(
    "B064",
    "device-missing",
    "The container is to get `/dev/kfd` and `/dev/dri`, and this machine does not have them, so the engine starts nothing.\n\nBuilding needs no GPU. With `gpu: auto` the devices are passed only where they are.",
);
/// The image lacks a group.
pub const GROUP_MISSING: Code = Code::error(
    "B065",
    "group-missing",
    "A name after `--group-add` is looked up in the image's own group file, which often has no `render`. Numbers always work.",
);
/// The container engine failed.
pub const ENGINE_FAILED: Code = Code::error(
    "B066",
    "engine-failed",
    "The container engine ended before the build script wrote a word, for a reason that is not known here. Its words are in the message.",
);
/// The disk is full.
pub const DISK_FULL: Code = Code::error(
    "B067",
    "disk-full",
    "A stage failed and said that there is no space left. Builds of many gfx targets take tens of gigabytes; `rock-matrix doctor` shows what is free.",
);
/// A step that would remove something elsewhere.
pub const CLEANS_OUTSIDE: Code = Code::error(
    "B068",
    "cleans-outside",
    "A recipe's `clean` names a path that is not below the job's folder. Nothing outside it is ever removed.",
);
/// An id that is no folder name.
pub const BAD_JOB_ID: Code = Code::error(
    "B069",
    "bad-job-id",
    "The job's id is used as the name of its folder, and this one cannot be: letters, digits, `-`, `_` and `.` may stand in it, not at the beginning a dot. Plans made here have such ids; a plan file changed by hand may not.",
);
/// The output folder cannot be written.
pub const OUT_FOLDER: Code = Code::error(
    "B070",
    "out-folder",
    "The wheel is built and could not be copied to the folder of `--out`. It stays in the job's folder; with `--continue auto` it is copied without building again.",
);
/// Some of several builds failed.
pub const BUILDS_FAILED: Code = Code::error(
    "B071",
    "builds-failed",
    "Of the builds of `--all`, some failed. Each was reported by itself; the last message lists them.",
);
/// A built wheel did not pass its checks.
pub const WHEEL_REFUSED: Code = Code::error(
    "B072",
    "wheel-refused",
    "The wheel was built, but one of the recipe's checks found a fault in it, so it is not copied to the output folder.",
);
/// A fact of the recipe without a value.
pub const FACT_UNKNOWN: Code = Code::error(
    "B073",
    "fact-unknown",
    "The recipe asks this machine for a fact (a command, a file, a variable), there is no answer, and the recipe has no default.\n\nCommands are asked where the steps run on this machine; for a container their answer is given with `--fact NAME=VALUE`.",
);
/// Signals cannot be caught.
pub const NO_SIGNALS: Code = Code::error(
    "B074",
    "no-signals",
    "The system refused the handlers for SIGINT and SIGTERM. A build that could not be ended cleanly is not begun.",
);
/// A recipes folder without recipes.
pub const NO_RECIPES: Code = Code::error(
    "B075",
    "no-recipes",
    "The folder given by `--recipes` is not there, or holds no YAML files. Its recipes stand before the shipped ones, so without them something else would be built than was meant.",
);
/// A folder or an archive that a source is copied from is not there.
pub const MISSING_SOURCE: Code = Code::error(
    "B077",
    "missing-source",
    "A variable of the recipe or the recipe itself names a folder or an archive on this machine to build from, and there is none. It is looked for before the first stage runs, since checkouts and stages before it may take hours. `check` only warns of it, since an earlier step of a workflow may put it there.\n\nRelative paths start where rock-matrix is called.",
);
/// A fact given by hand that no recipe asks for.
pub const UNKNOWN_FACT: Code = Code::error(
    "B076",
    "unknown-fact",
    "`--fact NAME=VALUE` answers a question of the recipe, and no recipe of the jobs named here asks for this one. The value would be used nowhere.\n\nThe facts of a recipe stand under its `facts`.",
);
/// The replacement of an edit has an escape that is none.
pub const BAD_REPLACEMENT: Code = Code::error(
    "B080",
    "bad-replacement",
    "The replacement of an edit (`replace`) has an unknown escape. `\\1` to `\\99`, `\\g<N>` and `\\g<NAME>` insert groups of the match, `\\n` a line break, `\\t` a tab, and `\\\\` a backslash. Other escapes of Python's `re` are not supported. Values of expressions are inserted literally.\n\nWrite `\\\\` for a backslash, or remove it.",
);
/// A build with another torch than the label of its wheel names.
pub const TORCH_NOT_OF_LABEL: Code = Code::warning(
    "B095",
    "torch-not-of-label",
    "The label of the wheel names a torch and a ROCm, and what the build used is another one: the torch has another version or no HIP, or the HIP that compiled is that of another ROCm. `torch-from: host` takes whatever is there.\n\nA wheel with compiled code is then refused by `publish` (G130). A wheel without compiled code is the same, whatever torch was there.",
);
