//! The `H` codes, for problems of the machine.

use rock_diagnostic::Code;
pub use rock_diagnostic::codes::host::*;
pub use rock_doctor::codes::host::*;
pub use rock_recipe::codes::host::*;
pub use rock_source::codes::host::*;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[
    &NO_SUCH_TREE,
    &UNKNOWN_CODE,
    &VARIABLES_LEFT_OUT,
    &LISTS_REPLACED,
    &NO_ROCM_SDK,
    &NO_TARGET_NAMED,
    &NO_ROCM_DIRECTORY,
    &BAD_PROJECT_FILE,
];

/// A `--sysfs-root` without `sys`.
pub const NO_SUCH_TREE: Code = Code::error(
    "H019",
    "no-such-tree",
    "The directory in `--sysfs-root` has no subdirectory `sys`. It must contain a copy of `/sys`, as in `DIR/sys/class/kfd/kfd/topology/nodes`.\n\nPass the directory above `sys`, not `sys` itself.",
);
/// An unknown diagnostic code.
pub const UNKNOWN_CODE: Code = Code::error(
    "H022",
    "unknown-code",
    "There is no diagnostic code of this name. `rock-matrix explain` takes a code from a message, such as `M001`, or its name, `duplicate-key`; without an argument it lists all codes.",
);
/// Variables that depend on unknown values.
pub const VARIABLES_LEFT_OUT: Code = Code::note(
    "H023",
    "variables-left-out",
    "Some variables of the environment profile depend on the ROCm directory or on the gfx targets, which are not known. These variables are left out.\n\nPass the ROCm directory with `--rocm`, or with `--python` a Python that has the packages of the ROCm SDK. Pass the targets with `--gfx`.",
);
/// An output form that replaces lists of directories.
pub const LISTS_REPLACED: Code = Code::note(
    "H024",
    "lists-replaced",
    "Variables such as `LD_LIBRARY_PATH` are lists of directories. The output for shells prepends the directory to the existing list, once. conda, the `env:` of a workflow and a file for `docker run --env-file` take plain values, so there the list consists of this directory alone.\n\nTo keep an existing list, source the output for shells.",
);
/// A Python without the packages of the ROCm SDK.
pub const NO_ROCM_SDK: Code = Code::error(
    "H025",
    "no-rocm-sdk",
    "The interpreter in `--python` was run with `-m rocm_sdk path --root` to find the ROCm directory, and did not print an absolute path: it cannot be started, or the packages of the ROCm SDK are not installed in it.\n\nInstall `rocm[libraries,devel]` there, or pass the directory with `--rocm`.",
);
/// No GPU to check attention for.
pub const NO_TARGET_NAMED: Code = Code::error(
    "H030",
    "no-target-named",
    "`rock-matrix attention report` covers the GPUs of this machine, and it has none. Select a target with `--gfx`.",
);
/// A ROCm directory that does not exist.
pub const NO_ROCM_DIRECTORY: Code = Code::warning(
    "H036",
    "no-rocm-directory",
    "The directory in `--rocm` of `rock-matrix env` does not exist on this machine. The output names it nevertheless, and programs that use these variables find no ROCm there. Formats for containers, workflows and other systems are not checked.\n\nCorrect the path, or pass a Python that has the packages of the ROCm SDK with `--python`.",
);
/// A project file with an unknown key or an invalid value.
pub const BAD_PROJECT_FILE: Code = Code::error(
    "H046",
    "bad-project-file",
    "`rock-matrix.toml`, or `[tool.rock-matrix]` in `pyproject.toml`, sets defaults of `compat`, `recipes`, `color`, `message-format`, `jobs` and `engine`. The nearest file, from the working directory upwards, is used; environment variables such as `ROCK_MATRIX_ENGINE` override it, and options override both.\n\nUse only these keys:\n\n```toml\njobs = 4\nengine = \"docker\"\n```",
);
