//! The `C` codes from C101 on: where sources come from.

use super::super::Code;

/// Every one of these codes, in order.
pub const ALL: &[&Code] = &[
    &BAD_RELATED_ROW,
    &RELATED_ROWS_DISAGREE,
    &NO_RELATED_COMMIT,
    &NO_PIN,
    &UNKNOWN_PROJECT,
    &UNKNOWN_PRESET,
    &BAD_PATCH_SET_NAME,
    &NO_PATCH_SET,
];

/// A row of `related_commits` that is none.
pub const BAD_RELATED_ROW: Code = Code::error(
    "C101",
    "bad-related-row",
    "A line of torch's `related_commits` is no row: a row has the six fields `os|source|project|branch|commit|origin`, none of them empty, and a commit of 7 to 40 hex digits. Empty lines and lines that begin with `#` are skipped.\n\n`--lenient` leaves out such lines with a warning.",
);
/// Rows of `related_commits` that name different commits.
pub const RELATED_ROWS_DISAGREE: Code = Code::error(
    "C102",
    "related-rows-disagree",
    "Two rows of torch's `related_commits` are about one project and name different commits or repositories. Which of them a build takes would depend on the system that is asked for, so none is taken.\n\nMend the file, or name the ref of the project yourself.",
);
/// A commit that must be pinned is not.
pub const NO_RELATED_COMMIT: Code = Code::error(
    "C103",
    "no-related-commit",
    "With `--require-related-commit`, or with a preset that asks for it, the commit of a project must stand in `related_commits` of the checkout of torch, and it does not.\n\nBranches of upstream torch have no such file; the release branches of AMD's fork have.",
);
/// A pin that cannot be read.
pub const NO_PIN: Code = Code::error(
    "C104",
    "no-pin",
    "A project is checked out at the commit that a file of the checkout of torch names, and the file is not there or holds something else.\n\nCheck out torch first and name its folder with `--torch-dir`, or name the ref of the project yourself.",
);
/// No project has this name.
pub const UNKNOWN_PROJECT: Code = Code::error(
    "C105",
    "unknown-project",
    "There is no project of this name among those that torch's wheels are built from, or it is not built on this platform. `rock-matrix compat list projects` shows them with their platforms.",
);
/// No preset has this name.
pub const UNKNOWN_PRESET: Code = Code::error(
    "C106",
    "unknown-preset",
    "There is no preset of this name, or it does not support the platform. `rock-matrix compat list torch-sources` shows the presets: sources that are known to be built together.",
);
/// The name of a patch set that leads out of the patch root.
pub const BAD_PATCH_SET_NAME: Code = Code::error(
    "C109",
    "bad-patch-set-name",
    "A patch set is a folder under the patch root. Its name is a relative path without `.` and `..`, so that no patch is applied that lies elsewhere.",
);
/// A named patch set has no folder.
pub const NO_PATCH_SET: Code = Code::error(
    "C110",
    "no-patch-set",
    "The patch set that was asked for has no folder under the patch root. Going on would build something else than what was asked for: a source without its patches.\n\nA patch set that was not asked for, but belongs to the ref, may be missing: then no patches are applied, and that is said.",
);
