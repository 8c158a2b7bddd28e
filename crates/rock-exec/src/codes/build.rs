//! The `B` codes, for recipes, builds and containers.

use rock_diagnostic::Code;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[
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
    &NO_SIGNALS,
    &MISSING_SOURCE,
    &TORCH_NOT_OF_LABEL,
    &PYTHON_NOT_OF_PROJECT,
    &VERSION_NOT_OF_PROJECT,
];

/// A stage that failed.
pub const STEP_FAILED: Code = Code::error(
    "B050",
    "step-failed",
    "A stage of the build failed. The message contains its command, the last lines of its output and the path of the log.\n\nCompleted stages are kept. Fix the cause and run the same command with `--resume`, which starts at the first stage that changed or did not succeed, or with `--resume=STAGE`.",
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
    "A stage or the whole build succeeded, but its output files are missing, or there are more than expected.\n\nCheck in the log what was built instead, and compare it with `outputs` or `collect` in the recipe.",
);
/// A wheel with another name than planned.
pub const WRONG_WHEEL: Code = Code::error(
    "B054",
    "wrong-wheel",
    "The build produced a wheel, but not the planned one. Distribution, version with label, Python tag and ABI tag are compared; the platform tag is not, because repair changes it.\n\nA different label means that the build ignored the version that the recipe set; a different Python tag means that it used another interpreter.",
);
/// A build that reached its cap.
pub const BUILD_CAPPED: Code = Code::warning(
    "B055",
    "build-capped",
    "`--cap` stopped the build so that its work can be saved before the runner is shut down. The exit code is 124, and nothing has failed: the next attempt continues from here with `--resume`.",
);
/// A build that a signal stopped.
pub const BUILD_STOPPED: Code = Code::warning(
    "B056",
    "build-stopped",
    "SIGINT (exit code 130) or SIGTERM (143) stopped the build and all of its processes. Completed stages are kept; continue with `--resume`.",
);
/// A job that is already being built.
pub const JOB_BUSY: Code = Code::error(
    "B057",
    "job-busy",
    "Another build of this job is running in this directory. Two builds would corrupt each other's files, so the second one is refused.\n\nWait until the first one ends, or stop it: the lock is always released. To build at the same time, use another directory.",
);
/// An unknown stage.
pub const UNKNOWN_STAGE: Code = Code::error(
    "B058",
    "unknown-stage",
    "`--resume=STAGE` names a stage that the build of this job does not have. `rock-matrix build JOB --dry-run` lists the stages.",
);
/// An unreadable build record.
pub const BAD_BUILD_FILE: Code = Code::warning(
    "B059",
    "bad-build-file",
    "The `build.json` in the job directory cannot be read: another version wrote it, or it is damaged. The build starts at the first stage and writes the file again.",
);
/// A job directory that is not writable.
pub const BUILD_FOLDER: Code = Code::error(
    "B060",
    "build-folder",
    "A file in the job directory `.rock/JOB` cannot be written or removed: permissions are missing, the disk is full, or a container created files as another user.\n\nMake the directory writable, or remove it, and build again.",
);
/// A container engine that is not installed.
pub const ENGINE_MISSING: Code = Code::error(
    "B061",
    "engine-missing",
    "`--engine docker` or `--engine podman` needs that program on the `PATH`.\n\nInstall it, or build on this machine with `--engine local`.",
);
/// A container engine that does not respond.
pub const NO_ENGINE_ANSWERS: Code = Code::error(
    "B062",
    "no-engine-answers",
    "The client of the container engine is installed, but no daemon responds, or this user may not access it.\n\nStart the daemon, or join the group that owns its socket.",
);
/// An image that is not available.
pub const IMAGE_MISSING: Code = Code::error(
    "B063",
    "image-missing",
    "The container image is not on this machine and cannot be pulled: the tag does not exist, the registry requires a login, or there is no network.\n\nCorrect the tag, log in to the registry, or choose another image with `--image`.",
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
    "A name after `--group-add` is looked up in the group file of the image, and this image does not have the group; `render` is often missing.\n\nUse the number of the group, which always works.",
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
    "A stage failed because the disk is full. Builds for many gfx targets take tens of gigabytes; `rock-matrix doctor` shows the free space.\n\nFree some space, then continue with `--resume`.",
);
/// A `clean` path outside of the job directory.
pub const CLEANS_OUTSIDE: Code = Code::error(
    "B068",
    "cleans-outside",
    "`clean` in a recipe names a path outside of the job directory. Nothing was removed there.\n\nUse a path below the job directory.",
);
/// A job ID that cannot be a directory name.
pub const BAD_JOB_ID: Code = Code::error(
    "B069",
    "bad-job-id",
    "The ID of a job is the name of its directory, so it may contain only letters, digits, `-`, `_` and `.`, and must not start with a dot. The plan file was probably edited: use it as `rock-matrix plan` writes it.",
);
/// An output directory that is not writable.
pub const OUT_FOLDER: Code = Code::error(
    "B070",
    "out-folder",
    "The wheel was built, but could not be copied to the directory in `--out`. It is kept in the job directory; `--resume` copies it without building again.",
);
/// Failed builds of `--all`.
pub const BUILDS_FAILED: Code = Code::error(
    "B071",
    "builds-failed",
    "Some of the builds of `--all` failed. Each was reported separately; the last message lists them.\n\nFix the causes, then run the same command with `--resume`.",
);
/// A wheel that failed a check.
pub const WHEEL_REFUSED: Code = Code::error(
    "B072",
    "wheel-refused",
    "The wheel was built but failed one of the recipe's checks, so it is not copied to the output directory.\n\nThe errors above this one name the problems. The checks are under `gates` of the recipe; `rock-matrix recipe new` writes a recipe of yours, in which you can change them. For a wheel without code for a GPU (R120), set `device-code: false` for the backend in the recipe.",
);
/// Signal handlers that cannot be installed.
pub const NO_SIGNALS: Code = Code::error(
    "B074",
    "no-signals",
    "The system refused to install handlers for SIGINT and SIGTERM. The build is not started, because it could not be stopped cleanly.",
);
/// A missing source directory or archive.
pub const MISSING_SOURCE: Code = Code::error(
    "B077",
    "missing-source",
    "A variable of the recipe or the recipe itself names a directory or archive on this machine to build from, and it does not exist. This is checked before the first stage runs, because the checkouts and stages before it may take hours. `check` only warns, since an earlier step of a workflow may create it.\n\nRelative paths start at the directory in which rock-matrix is run.",
);
/// A build with another torch than the label of its wheel.
pub const TORCH_NOT_OF_LABEL: Code = Code::warning(
    "B095",
    "torch-not-of-label",
    "The build used another torch or ROCm than the label of the wheel names: torch has another version or no HIP, or the HIP compiler belongs to another ROCm. With `torch-from: host`, the build uses the torch that is installed.\n\n`publish` refuses such a wheel if it contains compiled code (G130). A wheel without compiled code is the same with every torch.",
);
/// A Python that the project does not support.
pub const PYTHON_NOT_OF_PROJECT: Code = Code::warning(
    "B096",
    "python-not-of-project",
    "`requires-python` in the `pyproject.toml` that a job is built from excludes the Python of the \
     job, so pip refuses to build or install the project. `check` and the text output of \
     `plan` compare literals of `pyproject.toml` in source trees of this machine; other sources \
     are unknown before the build.\n\nRemove the Python from the axis, or change `requires-python`.",
);
/// A version that the project does not have.
pub const VERSION_NOT_OF_PROJECT: Code = Code::warning(
    "B097",
    "version-not-of-project",
    "The `pyproject.toml` that a job is built from states another version than the matrix file. \
     The built wheel has the version of the project, so its name is not the expected one, and the \
     build fails (B054) unless the recipe sets the version.\n\nWrite the version of the project \
     into the matrix file, or change it in the project.",
);
