//! The `C` codes from C101 on, for commits, pins, patch sets and manifests of sources.

use rock_diagnostic::Code;
pub use rock_source::codes::sources::*;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[
    &UNKNOWN_PIN,
    &OTHER_COMMIT,
    &NO_ARCHIVE,
    &UNUSUAL_VERSION,
    &STRANGE_COMPANION,
    &NO_TREE,
    &TREE_MOVED,
    &OTHER_PATCHES,
];

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
    "The AOTriton checkout is at another commit than the one that torch pins. A torch built against it may fail to load, or run kernels that nobody has tested with it.",
);
/// A ROCm version without an AOTriton archive.
pub const NO_ARCHIVE: Code = Code::warning(
    "C113",
    "no-archive",
    "The AOTriton release that torch pins has no archive for the requested ROCm version: the list does not contain the version, or its digest is all zeros, which stands for an archive that was never made. A torch build that downloads it fails.",
);
/// An AOTriton version that this torch minor was not released with.
pub const UNUSUAL_VERSION: Code = Code::warning(
    "C114",
    "unusual-version",
    "The AOTriton version that the torch checkout pins is neither one that this torch minor was released with nor a point release of one. `rock-matrix compat list torch-aotriton` shows the versions.",
);
/// A companion that belongs to another torch.
pub const STRANGE_COMPANION: Code = Code::warning(
    "C117",
    "strange-companion",
    "The version of a source tree belongs to another torch minor than the torch tree next to it, so its wheel may not load. `rock-matrix compat list torch-companions` shows which versions belong together.",
);
/// No source tree to lock.
pub const NO_TREE: Code = Code::error(
    "C118",
    "no-tree",
    "A manifest is made from source trees that are checked out with git. There is no such tree, or neither git nor the record of its checkout says at which commit of which repository a tree is.",
);
/// A tree with commits above its checkout.
pub const TREE_MOVED: Code = Code::error(
    "C119",
    "tree-moved",
    "A tree has commits above the ones that the checkout and its patches made. A manifest names commits of the repository that was fetched, so a tree made from it would lack these commits.",
);
/// Patches other than those of the manifest.
pub const OTHER_PATCHES: Code = Code::error(
    "C120",
    "other-patches",
    "A manifest records the digests of the patches that were applied to a tree. The patches here have other digests, or are missing, so a tree made with them would not be the locked one.",
);
