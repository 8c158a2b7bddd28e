//! The `M` codes, for errors in the YAML files of users.

use rock_diagnostic::Code;

/// All `M` codes of this crate, sorted by ID.
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
    &CONTROL_CHARACTER,
    &TOO_MANY_VALUES,
    &TOO_LONG,
];

/// A key that occurs twice in a mapping.
pub const DUPLICATE_KEY: Code = Code::error(
    "M001",
    "duplicate-key",
    "A mapping has the same key twice. Most YAML readers silently keep one of the two values, but not all keep the same one, so different tools would read different values.\n\nRemove one of the two, or merge their values.",
);
/// Text that is not valid YAML.
pub const BAD_SYNTAX: Code = Code::error(
    "M002",
    "bad-syntax",
    "The file is not valid YAML at this position, so nothing after it can be parsed. The usual causes are a bracket or quote that is not closed, an unquoted string that contains `: `, and keys of one mapping with different indentation.",
);
/// A tab in the indentation.
pub const TAB: Code = Code::error(
    "M003",
    "tab",
    "YAML permits only spaces in indentation. Set your editor to insert spaces in `.yaml` files.",
);
/// A byte order mark at the start of a file.
pub const BYTE_ORDER_MARK: Code = Code::warning(
    "M005",
    "byte-order-mark",
    "The file starts with a UTF-8 byte order mark. This program skips it, but other readers take it as part of the first key.\n\nSave the file as UTF-8 without a byte order mark.",
);
/// A merge key `<<`.
pub const MERGE_KEY: Code = Code::error(
    "M006",
    "merge-key",
    "The merge key `<<` is not part of YAML 1.2, and readers disagree on which of two values it keeps.\n\nWrite the keys out. To repeat one whole value, mark it with `&name` and repeat it with `*name`.",
);
/// A value with a tag.
pub const TAG: Code = Code::error(
    "M007",
    "tag",
    "Tags (`!!str`, `!name`) change how a value is parsed. These files do not need them: every scalar is kept as it is written. Remove the tag.",
);
/// Aliases that expand to more than the limits allow.
pub const ALIAS_BUDGET: Code = Code::error(
    "M008",
    "alias-budget",
    "Nested aliases multiply: a file of one kilobyte can expand to gigabytes. The aliases of a file may add at most 100,000 values and 16 MiB, including the strings that anchors keep and aliases repeat. This file exceeds one of these limits.",
);
/// An alias without an anchor before it.
pub const UNKNOWN_ANCHOR: Code = Code::error(
    "M009",
    "unknown-anchor",
    "`*name` repeats the value that was marked with `&name` earlier in the same file. There is no such anchor before this position, or the alias is inside the value that the anchor marks.\n\nA string that starts with `*` must be quoted.",
);
/// Values that are nested too deeply.
pub const TOO_DEEP: Code = Code::error(
    "M010",
    "too-deep",
    "Lists and mappings are nested deeper than 64 levels. Matrix and recipe files need about six, so this is a mistake or an attack.",
);
/// A second document in a file.
pub const SECOND_DOCUMENT: Code = Code::error(
    "M011",
    "second-document",
    "A line `---` starts a second YAML document. Each matrix file is one document; several files can form one plan: `rock-matrix plan one.yaml two.yaml`.",
);
/// A file without values.
pub const EMPTY_FILE: Code = Code::error(
    "M012",
    "empty-file",
    "The file contains only blank lines and comments. `rock-matrix init` writes a matrix file to start with, and `rock-matrix recipe new` a recipe; `enabled: false` keeps a matrix file without building it.",
);
/// A key that is a list or a mapping.
pub const KEY_NOT_TEXT: Code = Code::error(
    "M013",
    "key-not-text",
    "YAML permits lists and mappings as keys, but the files of rock-matrix do not. The usual cause is an unquoted template expression such as `{{ name }}` at the start of a line.",
);
/// An unknown key.
pub const UNKNOWN_KEY: Code = Code::error(
    "M020",
    "unknown-key",
    "The key is not allowed here. Unknown keys are errors, because a typo would otherwise silently \
     leave a default in place.\n\n`docs/matrix-reference.md` lists all keys; `rock-matrix schema` \
     prints a JSON Schema for editors.",
);
/// A missing required key.
pub const MISSING_KEY: Code = Code::error(
    "M021",
    "missing-key",
    "A key without a default is missing or has an empty value. `docs/matrix-reference.md` describes its value.",
);
/// A value of the wrong kind, such as text instead of a list.
pub const WRONG_KIND: Code = Code::error(
    "M022",
    "wrong-kind",
    "The value is a string where a list or a mapping is required, or the reverse. Lists are always \
     written as lists, even with one item: `python: [\"3.12\"]`.",
);
/// A value that is not one of the allowed words.
pub const UNKNOWN_WORD: Code = Code::error(
    "M023",
    "unknown-word",
    "The value is not one of the allowed words. The message lists them.",
);
/// A value that is not a number, or is out of range.
pub const BAD_NUMBER: Code = Code::error(
    "M024",
    "bad-number",
    "The value must be an integer within the range in the message, written in digits and without quotes.",
);
/// A string with a control character.
pub const CONTROL_CHARACTER: Code = Code::error(
    "M038",
    "control-character",
    "A string contains a control character, such as a line break, a NUL or an escape. Such strings become command-line arguments, lines of a workflow output or filenames, where a control character ends the argument, adds a second line or hides the real text.",
);
/// A file with too many values.
pub const TOO_MANY_VALUES: Code = Code::error(
    "M070",
    "too-many-values",
    "A matrix or recipe file may have at most 500,000 values, including keys, to bound the memory of reading it.\n\nSplit it into several files.",
);
/// A key or string that is too long.
pub const TOO_LONG: Code = Code::error(
    "M072",
    "too-long",
    "A key of a YAML file may have at most 1,024 bytes and a string 64 KiB. In a matrix file a \
     string may have at most 4 KiB, because a plan repeats it for many jobs.\n\nShorten it, or put \
     it into a file and write the name of that file.",
);
