//! The `K` codes, for problems of the compatibility data.

use rock_diagnostic::{Code, ExitClass};

/// All `K` codes of this crate, sorted by ID.
pub const ALL: &[&Code] = &[
    &UNKNOWN_TABLE,
    &BAD_QUESTION,
    &BAD_POLICY_FILE,
    &POLICY_SHRINKS,
    &MOVED_TAG,
    &UNKNOWN_PROFILE,
    &VARIABLE_AGAINST_PROFILE,
];

/// An unknown table.
pub const UNKNOWN_TABLE: Code = Code::error(
    "K005",
    "unknown-table",
    "The compatibility data has no table of this name. `rock-matrix compat list` shows all tables.",
)
.exits_with(ExitClass::Usage);
/// A question that the compatibility data cannot answer.
pub const BAD_QUESTION: Code = Code::error(
    "K006",
    "bad-question",
    "A value is invalid or in no table, such as a misspelled gfx target, or no compatibility data covers these values together. `compat explain` takes AXIS=VALUE pairs that a table relates to each other: torch with rocm, torch with python, flash-attn with backend or python. An unknown value next to values with an answer is a warning.\n\n`rock-matrix compat list` shows the tables with the known values.",
)
.exits_with(ExitClass::Usage);
/// An invalid policy file.
pub const BAD_POLICY_FILE: Code = Code::error(
    "K007",
    "bad-policy-file",
    "A policy file does not have the right format, names an unknown policy or architecture, or gives two policies the same name or priority.\n\nUse the format of auditwheel's policy files: a list of objects with `name`, `aliases`, `priority`, `symbol_versions` (architecture, prefix, versions), `lib_whitelist` and `blacklist`. `linux` has priority 0; a higher priority means that more systems satisfy the policy.",
);
/// A policy that permits less than an older one.
pub const POLICY_SHRINKS: Code = Code::error(
    "K008",
    "policy-shrinks",
    "A policy does not permit a library or symbol version that a policy of higher priority permits. By PEP 600 a wheel that complies with a policy complies with every later one, so later policies may only add libraries and symbol versions.\n\nAdd the entry to this policy, or remove it from the older one.",
);
/// A tag of an action that points to another commit than before.
pub const MOVED_TAG: Code = Code::warning(
    "K009",
    "moved-tag",
    "The tag in a row of the table `actions` now points to another commit. Tags of releases \
     normally never move, but an attacker who takes over a repository can move them, so that \
     every workflow that uses the tag runs other code. The row is kept, `compat refresh` does not \
     propose anything newer from that repository, and `compat refresh --check` fails.\n\nCheck \
     the releases and security advisories of the repository. If the move was intended, review the \
     new commit and write it into the row by hand.",
);
/// An unknown environment profile.
pub const UNKNOWN_PROFILE: Code = Code::error(
    "K010",
    "unknown-profile",
    "There is no environment profile of this name. Profiles are rows of the table `profiles`, and their variables are in the table `variables`: `rock-matrix compat list profiles` shows them.",
);
/// A value that is harmful for an environment profile.
pub const VARIABLE_AGAINST_PROFILE: Code = Code::warning(
    "K011",
    "variable-against-profile",
    "An environment variable has a value that is harmful for the purpose of the command. For example, `AMD_SERIALIZE_KERNEL=1` in a benchmark serializes kernels, so its results differ from those of users. The table `variable-rules` lists the permitted values and the reasons.\n\nA build step belongs to an environment profile if the name of its stage contains a word of the profile, such as `bench`. Its own variables are checked, and so are those in `docker: {args: …}`.",
);
