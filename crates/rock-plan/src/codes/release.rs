//! The `G` codes, for releases in directories and on GitHub, and for published wheels.

use rock_diagnostic::Code;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[&BAD_TAG, &BAD_YANK_RULE];

/// An invalid tag.
pub const BAD_TAG: Code = Code::error(
    "G013",
    "bad-tag",
    "The tag of a local release is the name of its directory, so it may be any valid git tag without `/`. A rendered workflow creates such a directory for each tag that starts it, so a pattern in `workflow.tags` must not match tags with `/`.\n\nA release on GitHub (`--repo`) may have any valid git tag.",
);
/// An invalid yank rule, or one that matches no file.
pub const BAD_YANK_RULE: Code = Code::error(
    "G019",
    "bad-yank-rule",
    "`index yank` and `index unyank` accept a project with a PEP 440 specifier, `flash-attn<2.6`, a version with its label, `flash-attn==2.8.3+rocm62torch2.5`, or a filename. `index yank` accepts a reason after a colon. `yank-older-than` in a matrix file takes hours, days or weeks, `36h`, `30d` or `4w`, or `never`.\n\nA rule that matches no file of the index is also an error, because a typo would otherwise go unnoticed and yank nothing. A rule whose files are already yanked is not an error; its reason, if it has one, replaces theirs. Rules that are kept in a matrix file outlive their files, so a rule in `release.yank` that matches no file is a warning.",
);
