//! The `B` codes, for recipes, builds and containers.

use crate::diagnostic::Code;
pub use rock_sys::codes::build::*;

/// All `B` codes of the command line.
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

/// An invalid recipe.
pub const BAD_RECIPE: Code = Code::error(
    "B001",
    "bad-recipe",
    "The recipe file is invalid: a key is unknown or missing, or a value has the wrong form.\n\n`docs/recipes.md` describes the format.",
);
/// An invalid expression in a recipe.
pub const BAD_EXPRESSION: Code = Code::error(
    "B002",
    "bad-expression",
    "A `{{ }}` expression of the recipe does not parse, or uses an undefined name.\n\nExpressions can use the job (`version`, `label`, `gfx`, `backend`, the axes with `-` as `_`), `vars`, `package` (its row in the compatibility data) and the recipe's own facts.",
);
/// A combination that the recipe refuses.
pub const REFUSED_BY_RECIPE: Code = Code::error(
    "B003",
    "refused-by-recipe",
    "The recipe refuses this combination, for example because this version of the package ignores a variable that is set.",
);
/// Recipe facts that depend on each other.
pub const FACT_CYCLE: Code = Code::error(
    "B004",
    "fact-cycle",
    "Facts of the recipe depend on each other in a cycle, so none of them can be computed first.",
);
/// No known image for a job.
pub const NO_IMAGE: Code = Code::error(
    "B005",
    "no-image",
    "No container image is known for this job: the table has no tag for its versions, and no builder image for its ROCm.\n\nSet one with `--image`, with `image: {tag: …}` in the matrix file, or for some cells in `include`.",
);
/// An image without a digest.
pub const UNPINNED_IMAGE: Code = Code::warning(
    "B006",
    "unpinned-image",
    "The container image is named by a tag, which may later point to another image. For reproducible builds, pin it as `tag@sha256:…`. `image: {digest: require}` makes this an error, `ignore` silences it.",
);
/// A Windows job that cannot run here.
pub const WINDOWS_JOB: Code = Code::error(
    "B007",
    "windows-job",
    "Jobs for Windows can be planned, and `render script` writes a PowerShell or cmd script that builds them there. `build`, containers and workflows support Linux only, and so do the Pythons of `python-from: manylinux` and `deadsnakes`. `render workflow` without files skips the matrix files for Windows, with a note.",
);
/// An unknown recipe variable.
pub const UNKNOWN_VARIABLE: Code = Code::error(
    "B008",
    "unknown-variable",
    "The matrix file sets a variable that the recipe does not have. `docs/recipes.md` lists the variables of each built-in recipe.",
);
/// An image with another Python than the job's.
pub const WRONG_PYTHON: Code = Code::error(
    "B009",
    "wrong-python",
    "With `python-from: image` the Python inside the container image is used, and the image's tag names another version than the job's.\n\nUse an image with this Python, or `python-from: uv`.",
);
/// An installed torch with another Python.
pub const TORCH_OF_ANOTHER_PYTHON: Code = Code::error(
    "B010",
    "torch-of-another-python",
    "With `torch-from: image` or `host`, torch is already installed, for one Python of that image or machine. Another Python, such as one from uv, does not find it.\n\nSet `python-from` to the same value, or take torch from an index.",
);
/// Sources that may change.
pub const UNPINNED_SOURCE: Code = Code::warning(
    "B011",
    "unpinned-source",
    "The sources are fetched without a digest, or by a name that can move. Tomorrow's build may use other sources without anyone noticing.\n\nSet the `sha256` of an archive; name a commit in full.",
);
/// A recipe path outside of the job directory.
pub const PATH_OUTSIDE: Code = Code::error(
    "B012",
    "path-outside",
    "A recipe may only edit, remove and collect files in the job directory. This path is absolute or leads out of it with `..`.",
);
/// A warning of the recipe.
pub const WARNED_BY_RECIPE: Code = Code::warning(
    "B013",
    "warned-by-recipe",
    "The recipe builds this combination but warns about it, for example because nobody has checked this version and it is built like the newest known one.",
);
/// A stage that failed.
pub const STEP_FAILED: Code = Code::error(
    "B050",
    "step-failed",
    "A stage of the build failed. The message contains its command, its last lines of output and the log file.\n\nCompleted stages are kept. Fix the cause and run the same command with `--continue auto`, which starts at the first stage that changed or did not succeed, or with `--continue STAGE`.",
);
/// A stage that exceeded its time limit.
pub const STEP_TIMED_OUT: Code = Code::error(
    "B051",
    "step-timed-out",
    "A stage exceeded its time limit and was stopped with all of its processes.\n\nThe limit is that of the recipe's step, or `--timeout MINUTES` if the step has none.",
);
/// A stage that could not be started.
pub const STEP_NOT_STARTED: Code = Code::error(
    "B052",
    "step-not-started",
    "The program of a stage, or its working directory, does not exist.\n\nWith `--engine local` the tools that the recipe uses must be installed on this machine; in a container they are part of the image.",
);
/// Missing or unexpected outputs.
pub const OUTPUT_MISSING: Code = Code::error(
    "B053",
    "output-missing",
    "A stage or the whole build succeeded, but its output files are missing, or there are more than expected.",
);
/// A wheel with another name than planned.
pub const WRONG_WHEEL: Code = Code::error(
    "B054",
    "wrong-wheel",
    "The build produced a wheel, but not the planned one. Distribution, version with label, Python tag and ABI tag are compared; the platform tag is not, because repair changes it.\n\nA different label means that the build ignored the version that it was given; a different Python tag means that another interpreter was used.",
);
/// A build that reached its cap.
pub const BUILD_CAPPED: Code = Code::warning(
    "B055",
    "build-capped",
    "`--cap` stopped the build so that its work can be saved before the runner is shut down. The exit code is 124, and nothing has failed: the next attempt continues from here with `--continue auto`.",
);
/// A build that a signal stopped.
pub const BUILD_STOPPED: Code = Code::warning(
    "B056",
    "build-stopped",
    "SIGINT (exit code 130) or SIGTERM (143) stopped the build and all of its processes. Completed stages are kept; continue with `--continue auto`.",
);
/// A job that is already being built.
pub const JOB_BUSY: Code = Code::error(
    "B057",
    "job-busy",
    "Another build of this job is running in this directory. The two would corrupt each other's files, so the second one is refused. The lock is released when the first one ends, however it ends.",
);
/// An unknown stage.
pub const UNKNOWN_STAGE: Code = Code::error(
    "B058",
    "unknown-stage",
    "`--continue` names a stage that the build of this job does not have. `rock-matrix build JOB --dry-run` lists the stages.",
);
/// An unreadable build record.
pub const BAD_BUILD_FILE: Code = Code::warning(
    "B059",
    "bad-build-file",
    "The `build.json` in the job directory cannot be read: another version wrote it, or it is damaged. The build starts at the first stage.",
);
/// A job directory that is not writable.
pub const BUILD_FOLDER: Code = Code::error(
    "B060",
    "build-folder",
    "A file in the job directory `.rock/JOB` cannot be written or removed: missing permissions, a full disk, or files that a container created as another user.",
);
/// A container engine that is not installed.
pub const ENGINE_MISSING: Code = Code::error(
    "B061",
    "engine-missing",
    "`--engine docker` or `--engine podman` needs that program on the `PATH`.",
);
/// A container engine that does not respond.
pub const NO_ENGINE_ANSWERS: Code = Code::error(
    "B062",
    "no-engine-answers",
    "The client of the container engine is installed, but no daemon responds, or this user may not access it.",
);
/// An image that is not available.
pub const IMAGE_MISSING: Code = Code::error(
    "B063",
    "image-missing",
    "The container image is not on this machine and cannot be pulled: the tag does not exist, the registry requires a login, or there is no network.",
);
/// Missing GPU devices.
pub const DEVICE_MISSING: Code = Code::error(
    "B064",
    "device-missing",
    "The container needs `/dev/kfd` and `/dev/dri`, and this machine does not have them, so the engine does not start it.\n\nBuilds do not need a GPU. With `gpu: auto` the devices are passed only if they exist.",
);
/// A group that the image does not have.
pub const GROUP_MISSING: Code = Code::error(
    "B065",
    "group-missing",
    "A name after `--group-add` is looked up in the group file of the image, which often has no `render`. Group numbers always work.",
);
/// A container engine that failed.
pub const ENGINE_FAILED: Code = Code::error(
    "B066",
    "engine-failed",
    "The container engine failed before the build script printed anything, for an unknown reason. The message contains its output.",
);
/// A full disk.
pub const DISK_FULL: Code = Code::error(
    "B067",
    "disk-full",
    "A stage failed with an error that no space is left. Builds for many gfx targets take tens of gigabytes; `rock-matrix doctor` shows the free space.",
);
/// A `clean` path outside of the job directory.
pub const CLEANS_OUTSIDE: Code = Code::error(
    "B068",
    "cleans-outside",
    "`clean` in a recipe names a path that is not below the job directory. Nothing outside of it is ever removed.",
);
/// A job ID that cannot be a directory name.
pub const BAD_JOB_ID: Code = Code::error(
    "B069",
    "bad-job-id",
    "The ID of a job is the name of its directory, so it may contain only letters, digits, `-`, `_` and `.`, and must not start with a dot. Plans from this program have such IDs; an edited plan file may not.",
);
/// An output directory that is not writable.
pub const OUT_FOLDER: Code = Code::error(
    "B070",
    "out-folder",
    "The wheel was built, but could not be copied to the directory in `--out`. It is kept in the job directory; `--continue auto` copies it without building again.",
);
/// Failed builds of `--all`.
pub const BUILDS_FAILED: Code = Code::error(
    "B071",
    "builds-failed",
    "Some of the builds of `--all` failed. Each was reported separately; the last message lists them.",
);
/// A wheel that failed a check.
pub const WHEEL_REFUSED: Code = Code::error(
    "B072",
    "wheel-refused",
    "The wheel was built but failed one of the recipe's checks, so it is not copied to the output directory.",
);
/// A recipe fact without a value.
pub const FACT_UNKNOWN: Code = Code::error(
    "B073",
    "fact-unknown",
    "The recipe detects a fact on this machine (with a command, file or variable). There is no result, and the recipe has no default.\n\nCommands run where the steps run on this machine; for a container, pass the value with `--fact NAME=VALUE`.",
);
/// Signal handlers that cannot be installed.
pub const NO_SIGNALS: Code = Code::error(
    "B074",
    "no-signals",
    "The system refused the handlers for SIGINT and SIGTERM. The build is not started, because it could not be stopped cleanly.",
);
/// A recipe directory without recipes.
pub const NO_RECIPES: Code = Code::error(
    "B075",
    "no-recipes",
    "The directory in `--recipes` does not exist, or contains no YAML files. Its recipes override the built-in ones, so without them something else than intended would be built.",
);
/// A missing source directory or archive.
pub const MISSING_SOURCE: Code = Code::error(
    "B077",
    "missing-source",
    "A variable of the recipe or the recipe itself names a directory or archive on this machine to build from, and it does not exist. This is checked before the first stage runs, because the checkouts and stages before it may take hours. `check` only warns, since an earlier step of a workflow may create it.\n\nRelative paths start at the directory in which rock-matrix is run.",
);
/// A fact that no recipe has.
pub const UNKNOWN_FACT: Code = Code::error(
    "B076",
    "unknown-fact",
    "`--fact NAME=VALUE` sets a fact that none of the selected jobs' recipes has, so the value would be ignored.\n\nA recipe lists its facts under `facts`.",
);
/// An invalid escape in the replacement of an edit.
pub const BAD_REPLACEMENT: Code = Code::error(
    "B080",
    "bad-replacement",
    "The replacement of an edit (`replace`) has an unknown escape. `\\1` to `\\99`, `\\g<N>` and `\\g<NAME>` insert groups of the match, `\\n` a line break, `\\t` a tab, and `\\\\` a backslash. Other escapes of Python's `re` are not supported. Values of expressions are inserted literally.\n\nWrite `\\\\` for a backslash, or remove it.",
);
/// A build with another torch than the label of its wheel.
pub const TORCH_NOT_OF_LABEL: Code = Code::warning(
    "B095",
    "torch-not-of-label",
    "The build used another torch or ROCm than the label of the wheel names: torch has another version or no HIP, or the HIP compiler belongs to another ROCm. `torch-from: host` uses whatever is installed.\n\n`publish` refuses such a wheel if it contains compiled code (G130). A wheel without compiled code is the same with every torch.",
);
