//! The `M` codes: what is wrong in a YAML file of the user.

use crate::diagnostic::Code;
pub use rock_diagnostic::codes::matrix::*;
pub use rock_yaml::codes::matrix::*;

/// Every `M` code, in order.
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
    &TOO_MANY_ENTRIES,
];

/// Another version of the format.
pub const OTHER_FORMAT: Code = Code::error(
    "M025",
    "other-format",
    "`version` says which version of the matrix file's format this is. This program reads version 1. It is not the version of the package: those stand in an axis.",
);
/// A version without quotes that other tools misread.
pub const UNQUOTED_NUMBER: Code = Code::note(
    "M030",
    "unquoted-number",
    "A version without quotes is a number to most YAML readers, and `3.10` is the same number as `3.1`. This program keeps the text as it is written, so nothing is wrong here; other tools that read the file see another version.\n\nQuote versions: `\"3.10\"`.",
);
/// An axis value that cannot be read.
pub const BAD_VALUE: Code = Code::error(
    "M031",
    "bad-value",
    "A value of an axis is not what the axis holds.\n\n- `python`: major and minor, `3.12`, or `3.13t` for free-threaded.\n- `torch`: a release, `2.6.0`, or a nightly, `2.15.0.dev20261101`.\n- `rocm`: two to four numbers, `6.2` or `7.1.1`.\n- the distribution's own axis: a release, `2.8.3`, or a commit with its family, `fa2:4a948e9`. Branches and tags move, so they are refused: a wheel could not say what is in it.\n- `backend`: a name in lower case.",
);
/// An axis that means nothing.
pub const UNKNOWN_AXIS: Code = Code::error(
    "M032",
    "unknown-axis",
    "An axis is one of: the distribution's name or `version`, `python`, `torch`, `rocm`, `backend`, `gfx`; the fields `runner`, `gpu` and `python-from`; an axis or variable that the recipe declares. No two axes may mean the same.",
);
/// A key of an exclude or include entry that is no axis of the file.
pub const NOT_AN_AXIS: Code = Code::error(
    "M033",
    "not-an-axis",
    "A key of an `exclude` or `include` entry is not an axis of this file. In `exclude` it would match nothing here, and GitHub refuses a whole workflow for it.",
);
/// An entry without effect.
pub const IDLE_ENTRY: Code = Code::warning(
    "M034",
    "idle-entry",
    "An `exclude` or `include` entry has no effect: no cell has its values, or it changes nothing. Usually a version was changed in `axes` and not here.",
);
/// An axis without values.
pub const EMPTY_AXIS: Code = Code::error(
    "M035",
    "empty-axis",
    "An axis without values makes the whole product empty. To keep a file without building it, write `enabled: false`.",
);
/// A value listed twice.
pub const DUPLICATE_VALUE: Code = Code::error(
    "M036",
    "duplicate-value",
    "A list holds the same value twice, or two spellings of one version (`2.5` and `2.5.0`). Both would make wheels of the same name.",
);
/// Not a gfx target.
pub const BAD_GFX: Code = Code::error(
    "M037",
    "bad-gfx",
    "`gfx` lists GPU targets such as `gfx942`, with or without features (`gfx90a:xnack-`), families such as `gfx110X-all` that stand for their members, and products such as `mi300x` or `rx7900xtx` that stand for their target. `[host]` alone means the GPUs of this machine and is for local builds.\n\n`rock-matrix compat list families` and `compat list products` show the names.",
);
/// Not the name of a secret.
pub const BAD_SECRET_NAME: Code = Code::error(
    "M039",
    "bad-secret-name",
    "`secrets` lists names of secrets as GitHub spells them: capitals, digits and `_`, not beginning with a digit. If a value stands there, take it out of the file and of the history, and replace the secret.",
);
/// Not the address of an index.
pub const BAD_INDEX: Code = Code::error(
    "M040",
    "bad-index",
    "The address of a package index begins with `https://` (or `http://`) and holds no user name, password, space or quote. It is printed in logs and workflows.",
);
/// A path outside of the repository.
pub const PATH_LEAVES: Code = Code::error(
    "M041",
    "path-leaves",
    "A path climbs above the folder it starts in, or into a home folder. Builds run in other places than the machine where the file was written, so only paths below the repository mean the same everywhere.",
);
/// A runner that no fact knows.
pub const UNKNOWN_RUNNER: Code = Code::warning(
    "M042",
    "unknown-runner",
    "No runner of the facts has this name, label or alias. For a self-hosted runner with a label of its own that is fine; a mistyped label leaves jobs waiting until they time out.\n\n`rock-matrix compat list runners` shows those that are known.",
);
/// Not an image.
pub const BAD_IMAGE: Code = Code::error(
    "M043",
    "bad-image",
    "An image is a repository in lower case, optionally with a host before it, a tag and a digest: `rocm/pytorch:rocm6.2_ubuntu22.04_py3.10_pytorch_release_2.5.1@sha256:…`.",
);
/// Not a name.
pub const BAD_NAME: Code = Code::error(
    "M044",
    "bad-name",
    "The text is used as a name (of a distribution, recipe, runner, group or platform tag) and holds characters that such a name cannot have. Recipes are named, not given by path: `--recipes DIR` says where yours lie.",
);
/// A container argument that is not one word.
pub const BAD_DOCKER_ARGUMENT: Code = Code::error(
    "M045",
    "bad-docker-argument",
    "`docker.args` are handed to `docker run` as they stand, without a shell, so an option and its value are two items or joined with `=`. The list begins with an option, since docker takes the first other word for the image.",
);
/// An entry that names nothing.
pub const EMPTY_ENTRY: Code = Code::error(
    "M046",
    "empty-entry",
    "An `exclude` or `include` entry names no axis, so it would match every cell.",
);
/// A cell that does not name every axis.
pub const INCOMPLETE_CELL: Code = Code::error(
    "M047",
    "incomplete-cell",
    "A cell outside of the product has no other values than its own, so it names every axis; a row names at least the version to build.",
);
/// No axes and no rows.
pub const NO_CELLS: Code = Code::error(
    "M048",
    "no-cells",
    "The file has neither `axes` nor `rows`, so it describes nothing to build. To keep a file without building it, write `enabled: false` and leave its axes.",
);
/// Nothing to read.
pub const NO_MATRIX_FILE: Code = Code::error(
    "M049",
    "no-matrix-file",
    "Without files on the command line, the matrix files are those of the folder `matrices/`, and there are none. `rock-matrix init` writes a first one.",
);
/// A gfx target that no table names.
pub const UNKNOWN_GFX: Code = Code::warning(
    "M050",
    "unknown-gfx",
    "The text has the form of a gfx target, but no table of the facts names it: a typing error, or a target newer than the facts. It is kept; a compiler that does not know it fails.",
);
/// A saved plan where a matrix file is wanted.
pub const SAVED_PLAN: Code = Code::error(
    "M055",
    "saved-plan",
    "The file is what `rock-matrix plan --format json` wrote. `check` and `plan` read matrix files; commands that build, render or publish jobs also take a saved plan.",
);
/// Two entries about one cell.
pub const CELL_TWICE: Code = Code::error(
    "M052",
    "cell-twice",
    "Two entries of `rows` or `include` name the same cell. Where they disagree, for instance on the runner, only one of them could count, and the file does not say which: that is an error. Where they agree, or each sets something else, it is a warning.\n\nJoin them into one entry, or remove one.",
);
/// An issue that asks for no combination.
pub const BAD_ISSUE: Code = Code::error(
    "M053",
    "bad-issue",
    "`plan --from-issue` takes the body that an issue form makes: for each axis of the matrix file a line `### AXIS`, and below it one version or name. An axis that has one value in the file needs no answer.\n\nAn issue may only choose values of axes, so a value is one word of letters, digits and `.:+-_`. A commit (`fa2:COMMIT`) must have all 40 digits, because a short hash can become ambiguous. GitHub serves the commits of every fork under the project's URL, so check that a branch or tag of the project contains the commit, as `examples/workflows/one-cell.yml` does.",
);
/// A runner of another system than the wheels.
pub const OTHER_SYSTEM: Code = Code::error(
    "M054",
    "other-system",
    "The facts say that this runner has another system than `platform` asks for, so a job would fail there at its first step. Where no `runner` is named, it is the default, which has Linux; `platform: windows` needs one of its own.\n\n`rock-matrix compat list runners` shows the systems under `os`.",
);
/// A list with more entries than it may have.
pub const TOO_MANY_ENTRIES: Code = Code::error(
    "M071",
    "too-many-entries",
    "A list exceeds its limit: 300 entries of `secrets` (GitHub gives a workflow at most 100 secrets each of the organization, the repository and the environment), 1,000 of `gfx` and `docker.groups`, and 20,000 each of `rows`, `include` and `exclude`.\n\nPut values that many cells share on an axis.",
);
