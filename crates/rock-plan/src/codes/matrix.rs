//! The `M` codes, for errors in the YAML files of users.

use rock_diagnostic::Code;
pub(crate) use rock_yaml::codes::matrix::{
    BAD_NUMBER, CONTROL_CHARACTER, TOO_LONG, UNKNOWN_KEY, UNKNOWN_WORD, WRONG_KIND,
};

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[
    &OTHER_FORMAT,
    &UNQUOTED_NUMBER,
    &BAD_VALUE,
    &UNKNOWN_AXIS,
    &NOT_AN_AXIS,
    &IDLE_ENTRY,
    &EMPTY_AXIS,
    &DUPLICATE_VALUE,
    &BAD_GFX,
    &BAD_SECRET_NAME,
    &BAD_INDEX,
    &PATH_LEAVES,
    &UNKNOWN_RUNNER,
    &BAD_IMAGE,
    &BAD_NAME,
    &BAD_DOCKER_ARGUMENT,
    &EMPTY_ENTRY,
    &INCOMPLETE_CELL,
    &NO_CELLS,
    &NO_MATRIX_FILE,
    &UNKNOWN_GFX,
    &SAVED_PLAN,
    &CELL_TWICE,
    &BAD_ISSUE,
    &OTHER_SYSTEM,
    &SEVERAL_MATRIX_FILES,
    &TOO_MANY_ENTRIES,
];

/// Another version of the matrix file format.
pub const OTHER_FORMAT: Code = Code::error(
    "M025",
    "other-format",
    "`version` is the version of the matrix file format, and this program reads only version 1. The version of the package is the value of an axis.",
);
/// A version without quotes.
pub const UNQUOTED_NUMBER: Code = Code::note(
    "M030",
    "unquoted-number",
    "Most YAML readers parse a version without quotes as a number, and `3.10` is the same number as `3.1`. This program keeps the text as it is written, so this is not an error, but other tools that read the file see another version.\n\nQuote versions: `\"3.10\"`.",
);
/// An invalid axis value.
pub const BAD_VALUE: Code = Code::error(
    "M031",
    "bad-value",
    "A value is not valid for its axis.\n\n- `python`: major and minor, `3.12`, or `3.13t` for free-threaded.\n- `torch`: a release, `2.6.0`, or a nightly, `2.15.0.dev20261101`.\n- `rocm`: two to four numbers, `6.2` or `7.1.1`.\n- the distribution's own axis: a release, `2.8.3`, or a commit with its family, `fa2:4a948e9`. Branches and tags are refused because they move, so a wheel's version would not identify its sources.\n- `backend`: a name in lower case.",
);
/// An unknown axis.
pub const UNKNOWN_AXIS: Code = Code::error(
    "M032",
    "unknown-axis",
    "A key of `axes` is not an axis, or has the same meaning as another key. An axis is one of: the distribution's name or `version`, `python`, `torch`, `rocm`, `backend`, `gfx`; the fields `runner`, `gpu` and `python-from`; an axis or variable that the recipe declares.",
);
/// A key of an `exclude` or `include` entry that is not an axis.
pub const NOT_AN_AXIS: Code = Code::error(
    "M033",
    "not-an-axis",
    "A key of an `exclude` or `include` entry is not an axis of this file, so an `exclude` entry with it would match nothing.\n\nCorrect the key, or add the axis.",
);
/// An `exclude` or `include` entry without effect.
pub const IDLE_ENTRY: Code = Code::warning(
    "M034",
    "idle-entry",
    "An `exclude` or `include` entry has no effect: no cell has its values, or it changes \
     nothing. The usual cause is a version that was changed in `axes` but not in the entry.",
);
/// An axis without values.
pub const EMPTY_AXIS: Code = Code::error(
    "M035",
    "empty-axis",
    "An axis without values makes the whole product empty. To keep a file without building it, write `enabled: false`.",
);
/// A duplicate value.
pub const DUPLICATE_VALUE: Code = Code::error(
    "M036",
    "duplicate-value",
    "A list contains the same value twice, or two spellings of one version (`2.5` and `2.5.0`). Both would produce wheels of the same name.",
);
/// An invalid gfx target.
pub const BAD_GFX: Code = Code::error(
    "M037",
    "bad-gfx",
    "`gfx` lists GPU targets such as `gfx942`, with or without features (`gfx90a:xnack-`), \
     families such as `gfx110X-all`, which expand to their members, and products such as `mi300x` \
     or `rx7900xtx`, which select their target. `[host]` as the only entry selects the GPUs of \
     this \
     machine, for local builds.\n\n`rock-matrix compat list families` and `compat list products` \
     show the names.",
);
/// An invalid secret name.
pub const BAD_SECRET_NAME: Code = Code::error(
    "M039",
    "bad-secret-name",
    "`secrets` lists names of secrets as GitHub spells them: capitals, digits and `_`, not starting with a digit. If this is the secret itself, remove it from the file and from the git history, and replace the secret.",
);
/// An invalid index URL.
pub const BAD_INDEX: Code = Code::error(
    "M040",
    "bad-index",
    "The URL of a package index must start with `https://` (or `http://`). It must not contain a user name, password, space or quote, because it appears in logs and workflows.",
);
/// A path that leaves its directory.
pub const PATH_LEAVES: Code = Code::error(
    "M041",
    "path-leaves",
    "A path leads above the directory that it is relative to, or into a home directory. Builds run on other machines than the one on which the file was written, and only paths below the repository exist on all of them.",
);
/// An unknown runner.
pub const UNKNOWN_RUNNER: Code = Code::warning(
    "M042",
    "unknown-runner",
    "No runner in the compatibility data has this name, label or alias. Jobs with a mistyped label wait until they time out. For the custom label of a self-hosted runner, write a list, whose labels are not checked: `runner: [self-hosted, LABEL]`. In an axis, ignore the warning.\n\n`rock-matrix compat list runners` shows the known runners.",
);
/// An invalid image.
pub const BAD_IMAGE: Code = Code::error(
    "M043",
    "bad-image",
    "This is not the name of a container image: a repository in lower case, optionally with a host before it, a tag and a digest: `rocm/pytorch:rocm6.2_ubuntu22.04_py3.10_pytorch_release_2.5.1@sha256:…`.",
);
/// An invalid name.
pub const BAD_NAME: Code = Code::error(
    "M044",
    "bad-name",
    "The name of a distribution, recipe, runner, group or platform tag has characters that are not permitted in it. Recipes are selected by name, not by path; `--recipes DIR` adds a directory of your own recipes.",
);
/// An invalid container argument.
pub const BAD_DOCKER_ARGUMENT: Code = Code::error(
    "M045",
    "bad-docker-argument",
    "`docker.args` are passed to `docker run` as they are, without a shell, so an option and its value are two items or joined with `=`. The list must start with an option, because docker treats the first other argument as the image.",
);
/// An entry without an axis.
pub const EMPTY_ENTRY: Code = Code::error(
    "M046",
    "empty-entry",
    "An `exclude` or `include` entry names no axis, so it would match every cell.",
);
/// A cell that does not name every axis.
pub const INCOMPLETE_CELL: Code = Code::error(
    "M047",
    "incomplete-cell",
    "An entry that adds a cell outside of the product must name every axis, because the cell has no other values. A row must name at least the version to build.",
);
/// A file without axes and rows.
pub const NO_CELLS: Code = Code::error(
    "M048",
    "no-cells",
    "The file has neither `axes` nor `rows`, so there is nothing to build. To keep a file without building it, write `enabled: false` and keep its axes.",
);
/// No matrix files.
pub const NO_MATRIX_FILE: Code = Code::error(
    "M049",
    "no-matrix-file",
    "Without files on the command line, the matrix files in the directory `matrices/` are used, and there are none. `rock-matrix init` writes a first one.",
);
/// A gfx target that no table contains.
pub const UNKNOWN_GFX: Code = Code::warning(
    "M050",
    "unknown-gfx",
    "The text has the form of a gfx target, but no table of the compatibility data contains it: \
     it is a typo, or the target is newer than the data. The target is kept, and a compiler that \
     does not support it fails.",
);
/// A saved plan in place of a matrix file.
pub const SAVED_PLAN: Code = Code::error(
    "M055",
    "saved-plan",
    "The file was written by `rock-matrix plan --format json`. `check` reads matrix \
     files, and `plan` shows a saved plan only if it is the only file; commands that build, render \
     or publish jobs also take a saved plan.",
);
/// Two entries for one cell.
pub const CELL_TWICE: Code = Code::error(
    "M052",
    "cell-twice",
    "Two entries of `rows` or `include` name the same cell. If they set the same key to different values, such as the runner, it is unclear which value applies, so this is an error. If they agree, or set different keys, it is a warning.\n\nCombine them into one entry, or remove one.",
);
/// An issue that does not describe a cell.
pub const BAD_ISSUE: Code = Code::error(
    "M053",
    "bad-issue",
    "The issue does not describe a cell. `plan --from-issue` takes the body that an issue form produces: for each axis of the matrix file a line `### AXIS`, and below it one version or name. An axis that has one value in the file needs no answer.\n\nAn issue may only choose values of axes, so a value is one word of letters, digits and `.:+-_`. A commit (`fa2:COMMIT`) must have all 40 digits, because a short hash can become ambiguous. GitHub serves the commits of every fork under the project's URL, so check that a branch or tag of the project contains the commit, as `examples/workflows/one-cell.yml` does.",
);
/// A runner with another system than the wheels.
pub const OTHER_SYSTEM: Code = Code::error(
    "M054",
    "other-system",
    "According to the compatibility data, this runner has a different operating system than \
     `platform`, so a job would fail at its first step. Without `runner`, the default runner is \
     used, which runs Linux; `platform: windows` needs its own runner.\n\n`rock-matrix compat list \
     runners` shows the systems in the column `os`.",
);
/// Several matrix files where one is required.
pub const SEVERAL_MATRIX_FILES: Code = Code::error(
    "M056",
    "several-matrix-files",
    "`plan --from-issue` adds the combination that an issue requests to one matrix file, and several are given. Without files on the command line, all files in `matrices/` are.\n\nName the matrix file whose axes the issue form has.",
);
/// A list with too many entries.
pub const TOO_MANY_ENTRIES: Code = Code::error(
    "M071",
    "too-many-entries",
    "A list exceeds its limit: 300 entries of `secrets` (GitHub gives a workflow at most 100 secrets each of the organization, the repository and the environment), 1,000 of `gfx` and `docker.groups`, and 20,000 each of `rows`, `include` and `exclude`.\n\nPut values that many cells share on an axis.",
);
