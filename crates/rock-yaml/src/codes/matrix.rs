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

/// A mapping has the same key twice.
pub const DUPLICATE_KEY: Code = Code::error(
    "M001",
    "duplicate-key",
    "A mapping holds the same key twice. Most YAML readers keep one of the two values without a word, and not all keep the same one, so the file would mean different things to different tools.\n\nRemove one of the two, or join their values.",
);
/// The text is not YAML.
pub const BAD_SYNTAX: Code = Code::error(
    "M002",
    "bad-syntax",
    "The file is not YAML at this place, so nothing after it can be read. The usual causes are a bracket or quote that is not closed, a text with `: ` in it that is not quoted, and keys of one mapping that are not indented alike.",
);
/// There is a tab in the indentation.
pub const TAB: Code = Code::error(
    "M003",
    "tab",
    "YAML allows spaces only in indentation. Set your editor to insert spaces in `.yaml` files.",
);
/// The file starts with a byte order mark.
pub const BYTE_ORDER_MARK: Code = Code::warning(
    "M005",
    "byte-order-mark",
    "The file begins with the three bytes of a UTF-8 byte order mark. It is skipped here, but other readers take it as part of the first key.\n\nSave the file as UTF-8 without a byte order mark.",
);
/// There is a merge key `<<`.
pub const MERGE_KEY: Code = Code::error(
    "M006",
    "merge-key",
    "The merge key `<<` is not part of YAML 1.2, and readers disagree on which side wins. Write the keys out. To repeat one whole value, name it with `&name` and use it with `*name`.",
);
/// A value has a tag.
pub const TAG: Code = Code::error(
    "M007",
    "tag",
    "Tags (`!!str`, `!name`) change how a value is read, and nothing in these files needs them: every scalar is kept as the text that is written. Remove the tag.",
);
/// Aliases expand to more than the limits allow.
pub const ALIAS_BUDGET: Code = Code::error(
    "M008",
    "alias-budget",
    "Nested aliases multiply: a file of one kilobyte can expand to gigabytes. The aliases of a file may add at most 100,000 values and 16 MiB, including the strings that anchors keep and aliases repeat. This file exceeds one of these limits.",
);
/// An alias has no anchor before it.
pub const UNKNOWN_ANCHOR: Code = Code::error(
    "M009",
    "unknown-anchor",
    "`*name` repeats the value that was marked with `&name` earlier in the same file. There is no such mark before this place, or the alias stands inside the value that it names.\n\nA text that begins with `*` must be quoted.",
);
/// Values are nested too deeply.
pub const TOO_DEEP: Code = Code::error(
    "M010",
    "too-deep",
    "Lists and mappings are nested deeper than 64 levels. Matrix and recipe files need about six, so this is a mistake or an attack.",
);
/// A second document starts.
pub const SECOND_DOCUMENT: Code = Code::error(
    "M011",
    "second-document",
    "A line `---` begins a second YAML document. One file holds one matrix; several files make one plan: `rock-matrix plan one.yaml two.yaml`.",
);
/// The file contains no values.
pub const EMPTY_FILE: Code = Code::error(
    "M012",
    "empty-file",
    "The file holds nothing but blank lines and comments. `rock-matrix init` writes a matrix file to begin with; `enabled: false` keeps a file without building it.",
);
/// A key is a list or a mapping.
pub const KEY_NOT_TEXT: Code = Code::error(
    "M013",
    "key-not-text",
    "YAML allows lists and mappings as keys; no file of this program does. The usual cause is a template expression such as `{{ name }}` at the beginning of a line without quotes.",
);
/// A key is unknown.
pub const UNKNOWN_KEY: Code = Code::error(
    "M020",
    "unknown-key",
    "The key is not one of those that may stand here. Unknown keys are errors because a typing error would otherwise silently leave a default in place.\n\n`docs/matrix-reference.md` lists all keys; `rock-matrix schema` gives a JSON Schema for editors.",
);
/// A required key is missing.
pub const MISSING_KEY: Code = Code::error(
    "M021",
    "missing-key",
    "A key that has no default is not there, or has an empty value. `docs/matrix-reference.md` shows what it holds.",
);
/// A value has the wrong kind, such as text instead of a list.
pub const WRONG_KIND: Code = Code::error(
    "M022",
    "wrong-kind",
    "The value is text where a list or a mapping belongs, or the other way round. Lists are always written as lists, also with one item: `python: [\"3.12\"]`.",
);
/// A value is not one of the allowed words.
pub const UNKNOWN_WORD: Code = Code::error(
    "M023",
    "unknown-word",
    "The value must be one of a few words, and it is none of them. The message lists them.",
);
/// A value is not a number, or out of range.
pub const BAD_NUMBER: Code = Code::error(
    "M024",
    "bad-number",
    "The value must be a whole number within the range that the message gives, in digits and without quotes.",
);
/// A text contains a control character.
pub const CONTROL_CHARACTER: Code = Code::error(
    "M038",
    "control-character",
    "A text holds a control character: a line break, a NUL, an escape. Such texts become words of a command line, lines of a workflow output or names of files, where a control character ends the word, adds a second line or hides what is really there.",
);
/// The file has too many values.
pub const TOO_MANY_VALUES: Code = Code::error(
    "M070",
    "too-many-values",
    "A matrix or recipe file may have at most 500,000 values, including keys, to bound the memory of reading it.\n\nSplit it into several files.",
);
/// A key or text is too long.
pub const TOO_LONG: Code = Code::error(
    "M072",
    "too-long",
    "A key of a YAML file has at most 1,024 bytes and a text 64 KiB; a text of a matrix file has at most 4 KiB, since a plan repeats it for many jobs.\n\nShorten it, or put it into a file and name that.",
);
