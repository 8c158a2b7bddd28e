//! The `M` codes: what is wrong in a YAML file of the user.

use crate::diagnostic::Code;
pub use rock_diagnostic::codes::matrix::*;

/// Every `M` code, in order.
pub const ALL: &[&Code] = &[
    &DUPLICATE_KEY,
    &BAD_SYNTAX,
    &TAB,
    &BYTE_ORDER_MARK,
    &MERGE_KEY,
    &TAG,
    &ALIAS_BUDGET,
    &UNKNOWN_ANCHOR,
    &TOO_DEEP,
    &SECOND_DOCUMENT,
    &EMPTY_FILE,
    &KEY_NOT_TEXT,
    &UNKNOWN_KEY,
    &MISSING_KEY,
    &WRONG_KIND,
    &UNKNOWN_WORD,
    &BAD_NUMBER,
    &OTHER_FORMAT,
    &UNQUOTED_NUMBER,
    &BAD_VALUE,
    &UNKNOWN_AXIS,
    &NOT_AN_AXIS,
    &IDLE_ENTRY,
    &EMPTY_AXIS,
    &DUPLICATE_VALUE,
    &BAD_GFX,
    &CONTROL_CHARACTER,
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
    &TOO_MANY_VALUES,
    &TOO_MANY_ENTRIES,
    &TOO_LONG,
];

/// One key twice in one mapping.
pub const DUPLICATE_KEY: Code = Code::error(
    "M001",
    "duplicate-key",
    "A mapping holds the same key twice. Most YAML readers keep one of the two values without a word, and not all keep the same one, so the file would mean different things to different tools.\n\nRemove one of the two, or join their values.",
);
/// Text that is not YAML.
pub const BAD_SYNTAX: Code = Code::error(
    "M002",
    "bad-syntax",
    "The file is not YAML at this place, so nothing after it can be read. The usual causes are a bracket or quote that is not closed, a text with `: ` in it that is not quoted, and keys of one mapping that are not indented alike.",
);
/// A tab in the indentation.
pub const TAB: Code = Code::error(
    "M003",
    "tab",
    "YAML allows spaces only in indentation. Set your editor to insert spaces in `.yaml` files.",
);
/// A byte order mark.
pub const BYTE_ORDER_MARK: Code = Code::warning(
    "M005",
    "byte-order-mark",
    "The file begins with the three bytes of a UTF-8 byte order mark. It is skipped here, but other readers take it as part of the first key.\n\nSave the file as UTF-8 without a byte order mark.",
);
/// A merge key.
pub const MERGE_KEY: Code = Code::error(
    "M006",
    "merge-key",
    "The merge key `<<` is not part of YAML 1.2, and readers disagree on which side wins. Write the keys out. To repeat one whole value, name it with `&name` and use it with `*name`.",
);
/// A tag.
pub const TAG: Code = Code::error(
    "M007",
    "tag",
    "Tags (`!!str`, `!name`) change how a value is read, and nothing in these files needs them: every scalar is kept as the text that is written. Remove the tag.",
);
/// Aliases that expand to too much.
pub const ALIAS_BUDGET: Code = Code::error(
    "M008",
    "alias-budget",
    "Nested aliases multiply: a file of one kilobyte can expand to gigabytes. The aliases of a file may add at most 100,000 values and 16 MiB, including the strings that anchors keep and aliases repeat. This file exceeds one of these limits.",
);
/// An alias of nothing.
pub const UNKNOWN_ANCHOR: Code = Code::error(
    "M009",
    "unknown-anchor",
    "`*name` repeats the value that was marked with `&name` earlier in the same file. There is no such mark before this place, or the alias stands inside the value that it names.\n\nA text that begins with `*` must be quoted.",
);
/// Nesting beyond the limit.
pub const TOO_DEEP: Code = Code::error(
    "M010",
    "too-deep",
    "Lists and mappings are nested deeper than 64 levels. Matrix and recipe files need about six, so this is a mistake or an attack.",
);
/// A second document.
pub const SECOND_DOCUMENT: Code = Code::error(
    "M011",
    "second-document",
    "A line `---` begins a second YAML document. One file holds one matrix; several files make one plan: `rock-matrix plan one.yaml two.yaml`.",
);
/// Nothing in the file.
pub const EMPTY_FILE: Code = Code::error(
    "M012",
    "empty-file",
    "The file holds nothing but blank lines and comments. `rock-matrix init` writes a matrix file to begin with; `enabled: false` keeps a file without building it.",
);
/// A key that is a list or a mapping.
pub const KEY_NOT_TEXT: Code = Code::error(
    "M013",
    "key-not-text",
    "YAML allows lists and mappings as keys; no file of this program does. The usual cause is a template expression such as `{{ name }}` at the beginning of a line without quotes.",
);
/// A key that is not known.
pub const UNKNOWN_KEY: Code = Code::error(
    "M020",
    "unknown-key",
    "The key is not one of those that may stand here. Unknown keys are errors because a typing error would otherwise silently leave a default in place.\n\n`docs/matrix-reference.md` lists all keys; `rock-matrix schema` gives a JSON Schema for editors.",
);
/// A key that must be there.
pub const MISSING_KEY: Code = Code::error(
    "M021",
    "missing-key",
    "A key that has no default is not there, or has an empty value. `docs/matrix-reference.md` shows what it holds.",
);
/// A value of the wrong kind.
pub const WRONG_KIND: Code = Code::error(
    "M022",
    "wrong-kind",
    "The value is text where a list or a mapping belongs, or the other way round. Lists are always written as lists, also with one item: `python: [\"3.12\"]`.",
);
/// A word that is not in its list.
pub const UNKNOWN_WORD: Code = Code::error(
    "M023",
    "unknown-word",
    "The value must be one of a few words, and it is none of them. The message lists them.",
);
/// Not a number, or out of its range.
pub const BAD_NUMBER: Code = Code::error(
    "M024",
    "bad-number",
    "The value must be a whole number within the range that the message gives, in digits and without quotes.",
);
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
/// A control character.
pub const CONTROL_CHARACTER: Code = Code::error(
    "M038",
    "control-character",
    "A text holds a control character: a line break, a NUL, an escape. Such texts become words of a command line, lines of a workflow output or names of files, where a control character ends the word, adds a second line or hides what is really there.",
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
/// More values than a file may hold.
pub const TOO_MANY_VALUES: Code = Code::error(
    "M070",
    "too-many-values",
    "A matrix or recipe file may have at most 500,000 values, including keys, to bound the memory of reading it.\n\nSplit it into several files.",
);
/// A list with more entries than it may have.
pub const TOO_MANY_ENTRIES: Code = Code::error(
    "M071",
    "too-many-entries",
    "A list exceeds its limit: 300 entries of `secrets` (GitHub gives a workflow at most 100 secrets each of the organization, the repository and the environment), 1,000 of `gfx` and `docker.groups`, and 20,000 each of `rows`, `include` and `exclude`.\n\nPut values that many cells share on an axis.",
);
/// A key or text that is longer than it may be.
pub const TOO_LONG: Code = Code::error(
    "M072",
    "too-long",
    "A key of a YAML file has at most 1,024 bytes and a text 64 KiB; a text of a matrix file has at most 4 KiB, since a plan repeats it for many jobs.\n\nShorten it, or put it into a file and name that.",
);
