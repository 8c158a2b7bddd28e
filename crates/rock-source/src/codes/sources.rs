//! The `C` codes from C101 on, for commits, pins, patch sets and manifests of sources.

use rock_diagnostic::Code;

/// All codes of this module, sorted by ID.
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

/// A line of `related_commits` that is not a row.
pub const BAD_RELATED_ROW: Code = Code::error(
    "C101",
    "bad-related-row",
    "A line of torch's `related_commits` is not a row. A row has the six fields `os|source|project|branch|commit|origin`, none of them empty, and a commit of 7 to 40 hex digits. Empty lines and lines that start with `#` are skipped.\n\n`--lenient` skips invalid lines with a warning.",
);
/// Rows of `related_commits` that name different commits.
pub const RELATED_ROWS_DISAGREE: Code = Code::error(
    "C102",
    "related-rows-disagree",
    "Two rows of torch's `related_commits` for the same project name different commits or repositories. The commit of a build would depend on the requested system, so neither is used.\n\nCorrect the file, or set the commit of the project with `--ref`.",
);
/// A project without a row in `related_commits`.
pub const NO_RELATED_COMMIT: Code = Code::error(
    "C103",
    "no-related-commit",
    "With `--require-related-commit`, or with a preset that requires it, `related_commits` in the torch checkout must name the commit of the project, and it does not.\n\nBranches of upstream torch do not have this file; the release branches of AMD's fork do.",
);
/// A pin that cannot be read.
pub const NO_PIN: Code = Code::error(
    "C104",
    "no-pin",
    "The commit of this project is pinned by a file in the torch checkout, and this file is missing or has unexpected content.\n\nCheck out torch first and pass its directory with `--torch-dir`, or set the commit of the project with `--ref`.",
);
/// An unknown project.
pub const UNKNOWN_PROJECT: Code = Code::error(
    "C105",
    "unknown-project",
    "No project of torch's sources has this name, or the project is not built on this platform. `rock-matrix compat list projects` shows them with their platforms.",
);
/// An unknown preset of sources.
pub const UNKNOWN_SOURCE_PRESET: Code = Code::error(
    "C106",
    "unknown-source-preset",
    "There is no preset of this name, or it does not support the platform. `rock-matrix compat list torch-sources` shows the presets: sets of sources that are known to build together.",
);
/// A patch set name that leads out of the patch root.
pub const BAD_PATCH_SET_NAME: Code = Code::error(
    "C109",
    "bad-patch-set-name",
    "A patch set is a directory below the patch root, so its name must be a relative path without `.` and `..`. Otherwise patches from another place would be applied.",
);
/// A named patch set without a directory.
pub const NO_PATCH_SET: Code = Code::error(
    "C110",
    "no-patch-set",
    "The requested patch set has no directory below the patch root. Continuing would build the sources without their patches.\n\nA patch set that belongs to the ref without being requested may be missing: then no patches are applied, and a message reports this.",
);
/// A torch checkout that does not pin one commit of AOTriton.
pub const UNKNOWN_PIN: Code = Code::error(
    "C111",
    "unknown-pin",
    "The torch checkout does not pin one commit of AOTriton: no file names one, a file names several, or the file cannot be read, for example because it has conflict markers of an unfinished merge. A value from an environment variable is not a commit.\n\nSet the commit in `PYTORCH_AOTRITON_COMMIT`, or use the one in the compatibility data with `--default`. If AOTriton is already installed, and `AOTRITON_INSTALLED_PREFIX` says so, no commit is needed.",
);
/// A checkout at another commit than the pinned one.
pub const OTHER_COMMIT: Code = Code::warning(
    "C112",
    "other-commit",
    "The AOTriton checkout is at another commit than the one that torch pins. A torch built against it may fail to load, or run kernels that were not tested with it.\n\nCheck out the pinned commit, or ignore this if the other one is used on purpose.",
);
/// A ROCm version without an AOTriton archive.
pub const NO_ARCHIVE: Code = Code::warning(
    "C113",
    "no-archive",
    "The AOTriton release that torch pins has no archive for the requested ROCm version: the list does not contain the version, or its digest is all zeros, which stands for an archive that was never built. A torch build that downloads it fails.\n\nBuild AOTriton from source, or use a ROCm version with an archive.",
);
/// An AOTriton version that this torch minor was not released with.
pub const UNUSUAL_VERSION: Code = Code::warning(
    "C114",
    "unusual-version",
    "The AOTriton version that the torch checkout pins is neither one that this torch minor was released with nor a point release of one. `rock-matrix compat list torch-aotriton` shows the versions.\n\nCheck that the pin was changed on purpose: point releases are compatible, others may not be.",
);
/// An invalid source manifest.
pub const BAD_SOURCE_MANIFEST: Code = Code::error(
    "C115",
    "bad-source-manifest",
    "The file is not a source manifest: a JSON object with `schema_version` 1 and an object for each project, with at least `repo` and `commit`. Without `schema_version` it is read as version 1; unknown keys are ignored.\n\n`rock-matrix source lock` writes such a file.",
);
/// A manifest with another torch than expected.
pub const OTHER_TORCH: Code = Code::error(
    "C116",
    "other-torch",
    "`--expected-pytorch-git-ref` names the ref that the torch of the manifest was taken from. The manifest names another one, or none.\n\nUse the manifest of that ref, or create one with `rock-matrix source lock`.",
);
/// A companion that belongs to another torch.
pub const STRANGE_COMPANION: Code = Code::warning(
    "C117",
    "strange-companion",
    "The version of a source tree belongs to another torch minor than the torch tree next to it, so its wheel may not load. `rock-matrix compat list torch-companions` shows which versions belong together.\n\nCheck out the ref that fits this torch, or ignore this if it is on purpose.",
);
/// No source tree to lock.
pub const NO_TREE: Code = Code::error(
    "C118",
    "no-tree",
    "A manifest is made from source trees that are checked out with git. There is no such tree, or neither git nor the record of its checkout shows the repository and commit of a tree.\n\nPass the directory that contains the trees with `--checkout-root`, or create them with `rock-matrix source checkout`.",
);
/// A tree with commits above its checkout.
pub const TREE_MOVED: Code = Code::error(
    "C119",
    "tree-moved",
    "A tree has commits above the ones that the checkout and its patches made. A manifest names commits of the repository that was fetched, so a tree made from it would lack these commits.\n\nSave them with `rock-matrix source save-patches`, and check out again with the patches.",
);
/// Patches other than those of the manifest.
pub const OTHER_PATCHES: Code = Code::error(
    "C120",
    "other-patches",
    "A manifest records the digests of the patches that were applied to a tree. The patches here have other digests, or are missing, so a tree made with them would not be the locked one.\n\nPass the directory of the right patches with `--patch-dir`, or apply none with `--no-patch`.",
);
