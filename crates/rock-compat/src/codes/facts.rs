//! The `K` codes: facts.

use rock_diagnostic::Code;

/// All of them, sorted by ID.
pub const ALL: &[&Code] = &[
    &BAD_POLICY_FILE,
    &POLICY_SHRINKS,
    &MOVED_TAG,
    &VARIABLE_AGAINST_PROFILE,
];

/// A policy file that cannot be read as one.
pub const BAD_POLICY_FILE: Code = Code::error(
    "K007",
    "bad-policy-file",
    "A file of platform policies names a policy or an architecture that there cannot be, or gives two policies one name or one priority.\n\nThe file has the form of auditwheel's policy files: a list of objects with `name`, `aliases`, `priority`, `symbol_versions` (architecture, prefix, versions), `lib_whitelist` and `blacklist`. `linux` has priority 0; a higher number means that more systems meet the policy.",
);
/// A policy that permits less than an older one.
pub const POLICY_SHRINKS: Code = Code::error(
    "K008",
    "policy-shrinks",
    "A policy lacks a library or a symbol version that a policy of higher priority permits. By PEP 600 a wheel that meets a policy meets every later one, so libraries and symbol versions are only added from one policy to the next.",
);
/// The tag of a pinned action leads elsewhere than it did.
pub const MOVED_TAG: Code = Code::warning(
    "K009",
    "moved-tag",
    "The tag that a row of the table `actions` was read from leads to another commit now. Tags of releases stay where they are; whoever takes over a repository moves them, so that everybody who names the tag runs other code. The row is kept, `compat refresh` proposes nothing newer of that repository, and `--check` fails.\n\nLook at the releases and the security advisories of the repository. Where the move was meant, read the new commit and write it into the row by hand.",
);
/// A value that does harm for the purpose it is set for.
pub const VARIABLE_AGAINST_PROFILE: Code = Code::warning(
    "K011",
    "variable-against-profile",
    "A variable has a value that does harm for what is run: `AMD_SERIALIZE_KERNEL=1` in a benchmark makes kernels wait for each other, so the numbers are not what users get. The table `variable-rules` has the values that do none, and why.\n\nA step of a recipe is of a profile where a word in the name of its stage says so, such as `bench`. Its own variables are looked at, and those that the container gets by `docker: {args: …}`.",
);
