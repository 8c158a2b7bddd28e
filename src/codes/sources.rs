//! The `C` codes from C101 on: where sources come from.

use crate::diagnostic::Code;

/// Every one of these codes, in order.
pub const ALL: &[&Code] = &[
    &BAD_RELATED_ROW,
    &RELATED_ROWS_DISAGREE,
    &NO_RELATED_COMMIT,
    &NO_PIN,
    &UNKNOWN_PROJECT,
    &UNKNOWN_SOURCE_PRESET,
    &BAD_PATCH_SET_NAME,
    &NO_PATCH_SET,
    &UNKNOWN_PIN,
    &OTHER_COMMIT,
    &NO_ARCHIVE,
    &UNUSUAL_VERSION,
    &BAD_SOURCE_MANIFEST,
    &OTHER_TORCH,
    &STRANGE_COMPANION,
    &NO_TREE,
    &TREE_MOVED,
    &OTHER_PATCHES,
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
pub const UNKNOWN_SOURCE_PRESET: Code = Code::error(
    "C106",
    "unknown-source-preset",
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
/// The commit of AOTriton cannot be told.
pub const UNKNOWN_PIN: Code = Code::error(
    "C111",
    "unknown-pin",
    "A checkout of torch names no certain commit of AOTriton: no file names one, a file names several, or the file cannot be read, for example because it has the marks of a merge that was not finished. A value that comes from a variable of the environment is no commit.\n\nName the commit in `PYTORCH_AOTRITON_COMMIT`, or take the one of the facts with `--default`. Where AOTriton is installed already, and `AOTRITON_INSTALLED_PREFIX` says so, no commit is needed.",
);
/// A checkout is at another commit than the pinned one.
pub const OTHER_COMMIT: Code = Code::warning(
    "C112",
    "other-commit",
    "The checkout of AOTriton here is at another commit than the one that torch pins. torch built against it may not load, or compute with kernels that nobody tested with it.",
);
/// Nothing to download for a ROCm.
pub const NO_ARCHIVE: Code = Code::warning(
    "C113",
    "no-archive",
    "The release of AOTriton that torch pins has no archive for the ROCm that was asked for: the ROCm is not in the list, or the digest in the list is only zeros, which stands for an archive that was never made. A build of torch that downloads it fails.",
);
/// A version of AOTriton that this torch was not released with.
pub const UNUSUAL_VERSION: Code = Code::warning(
    "C114",
    "unusual-version",
    "The version of AOTriton that a checkout of torch pins is none that this minor of torch was released with, nor a point release of one. `rock-matrix compat list torch-aotriton` shows which those are.",
);
/// A manifest that cannot be read.
pub const BAD_SOURCE_MANIFEST: Code = Code::error(
    "C115",
    "bad-source-manifest",
    "A manifest is a JSON object with `schema_version` 1 and an object for each project, which has at least `repo` and `commit`. A manifest without `schema_version` is taken for one of version 1; keys that are not known are passed over.",
);
/// A manifest of another torch than expected.
pub const OTHER_TORCH: Code = Code::error(
    "C116",
    "other-torch",
    "`--expected-pytorch-git-ref` says from which ref the torch of a manifest was taken, and the manifest says another one, or none.",
);
/// A project whose version belongs to another torch.
pub const STRANGE_COMPANION: Code = Code::warning(
    "C117",
    "strange-companion",
    "The version of a tree belongs to another minor of torch than the tree of torch beside it. Its wheel may not load. `rock-matrix compat list torch-companions` shows what belongs together.",
);
/// No tree to lock.
pub const NO_TREE: Code = Code::error(
    "C118",
    "no-tree",
    "A manifest is made of source trees that are checked out with git, and there is none, or one of which git or the record of its checkout does not tell where it is.",
);
/// A tree that is not at what was checked out.
pub const TREE_MOVED: Code = Code::error(
    "C119",
    "tree-moved",
    "A tree has commits above what was checked out and patched. A manifest names commits of the repository that it was fetched from, so these would be missing from a tree that is made of it.",
);
/// Patches other than those of a manifest.
pub const OTHER_PATCHES: Code = Code::error(
    "C120",
    "other-patches",
    "A manifest names the patches that a tree was made with by their digests, and the patches here are others, or missing. A tree made of them would not be the one that was locked.",
);
