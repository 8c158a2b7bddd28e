//! The `C` codes up to C099, for source trees and their patches.

use rock_diagnostic::Code;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[
    &UNCOMMITTED_CHANGES,
    &LOCAL_COMMITS,
    &UNDER_WAY,
    &FOLDER_IS_TAKEN,
    &NO_CHECKOUT,
    &CHECKOUT_IN_USE,
    &BAD_CHECKOUT_FILE,
    &BAD_REFERENCE,
    &NO_SUCH_REFERENCE,
    &FETCH_FAILED,
    &SUBMODULES_FAILED,
    &BROKEN_SUBMODULE,
    &PATCH_FAILED,
    &IDLE_PATCHES,
    &HIPIFY_FAILED,
    &HIPIFIED_NEEDS_COMMIT,
    &GIT_FAILED,
    &NO_GIT,
    &CHANGES_KEPT,
    &CHECKOUT_STOPPED,
    &NO_UPSTREAM_TAG,
    &STALE_HIPIFY_TAG,
    &MERGE_ABOVE_UPSTREAM,
    &PATCHES_DIFFER,
    &OTHER_REPOSITORY_NAME,
];

/// Uncommitted changes that a checkout would overwrite.
pub const UNCOMMITTED_CHANGES: Code = Code::error(
    "C001",
    "uncommitted-changes",
    "A repository of the source tree has uncommitted changes: modified, staged or new files. A checkout would revert them, or commit them together with the changes of hipify.\n\nCommit them and save them as patches with `rock-matrix source save-patches`, or pass `--discard-changes`. Files that git ignores are not touched.",
);
/// Local commits that a checkout would abandon.
pub const LOCAL_COMMITS: Code = Code::error(
    "C002",
    "local-commits",
    "A repository of the source tree has commits that no checkout created and that its remote repository does not have. The head is not on a branch, so after a checkout only the reflog would refer to them.\n\nSave them as patches with `rock-matrix source save-patches`, or keep them with `git branch NAME`; then pass `--discard-commits`.",
);
/// An unfinished rebase or `git am`.
pub const UNDER_WAY: Code = Code::error(
    "C003",
    "under-way",
    "A rebase or `git am` is in progress in a repository of the source tree. A checkout would lose its state.\n\nFinish it with `git am` or `git rebase` and `--continue`, `--abort` or `--quit`, or pass `--discard-changes`.",
);
/// A checkout directory that contains other files.
pub const FOLDER_IS_TAKEN: Code = Code::error(
    "C004",
    "folder-is-taken",
    "The directory for the checkout is not a repository and is not empty. A checkout never writes among other files.\n\nUse a directory that is empty or does not exist.",
);
/// A directory that is not a checkout.
pub const NO_CHECKOUT: Code = Code::error(
    "C005",
    "no-checkout",
    "The directory was not created by `rock-matrix source checkout`: it has no `.rock/checkout.json`.\n\nPass the directory of a checkout, or create one.",
);
/// A directory that another run uses.
pub const CHECKOUT_IN_USE: Code = Code::error(
    "C006",
    "checkout-in-use",
    "Another run of `rock-matrix source` is using this directory. Two runs at once would undo each other's steps.\n\nWait until the other run ends.",
);
/// An unreadable `.rock/checkout.json`.
pub const BAD_CHECKOUT_FILE: Code = Code::error(
    "C007",
    "bad-checkout-file",
    "`.rock/checkout.json` records the state after the last checkout, which distinguishes the commits of a checkout from yours. The file cannot be read: another version wrote it, or it was edited by hand.\n\nWithout the file, the tree is treated like any other clone: commits that upstream does not have are assumed to be yours.",
);
/// An invalid ref or URL.
pub const BAD_REFERENCE: Code = Code::error(
    "C008",
    "bad-reference",
    "The value of `--ref` cannot be a branch, tag or commit, or the value of `--origin` cannot be a URL. Git would interpret it as an option, a pattern, or several refs.",
);
/// A ref that the remote repository does not have.
pub const NO_SUCH_REFERENCE: Code = Code::error(
    "C009",
    "no-such-reference",
    "The remote repository responded, but has no such branch, tag or commit. A commit must be given as its full hash, because servers do not resolve abbreviated ones.",
);
/// A fetch that failed.
pub const FETCH_FAILED: Code = Code::error(
    "C010",
    "fetch-failed",
    "Git could not fetch from the repository, or the connection was interrupted. Existing files were not changed. Run the same command again to resume.",
);
/// A submodule that could not be checked out.
pub const SUBMODULES_FAILED: Code = Code::error(
    "C011",
    "submodules-failed",
    "The repository itself is checked out, but one of its submodules is not: its repository cannot be reached, or does not have the recorded commit. Run the same command again to check out the missing submodules.\n\nIf upstream changed the URL of a submodule, update it with `git submodule sync --recursive`.",
);
/// A submodule without its repository.
pub const BROKEN_SUBMODULE: Code = Code::error(
    "C012",
    "broken-submodule",
    "The directory of a submodule refers to a repository below `.git/modules` that is missing or cannot be read, so it is unknown whether its files have changes of yours.\n\nMove the directory away, then run the same command again.",
);
/// A patch that does not apply.
pub const PATCH_FAILED: Code = Code::error(
    "C013",
    "patch-failed",
    "A patch of the series does not apply. The patches before it in this repository were undone, so no patch is partly applied, and the same command starts over.\n\nCorrect the patch, or select the patch set for this ref with `--patchset`.",
);
/// Patches for a repository that does not exist.
pub const IDLE_PATCHES: Code = Code::warning(
    "C014",
    "idle-patches",
    "A directory of the patch set does not have the name of any repository in the source tree, so its patches are not applied. Upstream may have removed or moved a submodule, or submodules are turned off.\n\nMove the directory to the path of the submodule, or remove it.",
);
/// A hipify script that failed.
pub const HIPIFY_FAILED: Code = Code::error(
    "C015",
    "hipify-failed",
    "The script `tools/amd_build/build_amd.py` of the source tree failed. Its changes were undone, and the patches before it are kept.\n\nFix the error that it reports, or pass `--no-hipify`, then run the same command again.",
);
/// Patches of hipified sources without a commit to apply to.
pub const HIPIFIED_NEEDS_COMMIT: Code = Code::error(
    "C016",
    "hipified-needs-commit",
    "`git am` applies patches to commits. If the changes of hipify are not committed, patches of hipified sources have no commit to apply to.\n\nLeave out `--no-commit-hipify`, or pass `--no-patch`.",
);
/// A git command that failed.
pub const GIT_FAILED: Code = Code::error(
    "C017",
    "git-failed",
    "A git command of a checkout failed, for example because the disk is full, permissions are missing or the repository is damaged. The message contains git's output.\n\nFix the cause, then run the same command again to resume.",
);
/// A program that cannot be started.
pub const NO_GIT: Code = Code::error(
    "C018",
    "no-git",
    "A program that the checkout needs cannot be started: `git`, or the Python that runs hipify.\n\nInstall it, then run the same command again to resume.",
);
/// Changes that were saved from a killed checkout.
pub const CHANGES_KEPT: Code = Code::warning(
    "C019",
    "changes-kept",
    "An earlier checkout was killed and left uncommitted files. Most are partial results of the checkout, but some may be yours. All of them are saved in a commit under `refs/rock-matrix/saved`, and the tree is checked out again.\n\n`git show --stat REF` shows them, and `git update-ref -d REF` deletes them.",
);
/// A checkout that a signal stopped.
pub const CHECKOUT_STOPPED: Code = Code::warning(
    "C020",
    "checkout-stopped",
    "SIGINT or SIGTERM stopped the checkout. Run the same command again to resume: it recognizes its own changes.",
);
/// No tag that marks the upstream commit.
pub const NO_UPSTREAM_TAG: Code = Code::error(
    "C021",
    "no-upstream-tag",
    "Patches are the commits above the tag `THEROCK_UPSTREAM_DIFFBASE`, which a checkout creates in every repository. The tag is missing, or is not an ancestor of the head.",
);
/// A hipify tag that is not below the head.
pub const STALE_HIPIFY_TAG: Code = Code::warning(
    "C022",
    "stale-hipify-tag",
    "The tag `THEROCK_HIPIFY_DIFFBASE` points to a commit that is not between upstream and the head, so it is unknown which commits were made after hipify. All commits are saved as patches of `base`.",
);
/// A merge among the commits to save as patches.
pub const MERGE_ABOVE_UPSTREAM: Code = Code::error(
    "C023",
    "merge-above-upstream",
    "A merge commit has no patch, so the changes that it merged would be lost. Make the history linear, for example with `git rebase`.",
);
/// A patch set that differs from the commits.
pub const PATCHES_DIFFER: Code = Code::error(
    "C024",
    "patches-differ",
    "The patch set does not match the commits of the source tree. Without `--check`, the same command writes it.",
);
/// A patch set for an outer repository of another name.
pub const OTHER_REPOSITORY_NAME: Code = Code::error(
    "C025",
    "other-repository-name",
    "The patches of the outer repository are in the directory of the patch set that has the name of the repository: that of the project or of the tree's directory. The patch set has no such directory, but one whose name is not that of a submodule, so its patches would be silently ignored.\n\nName the directory with `--repo-name`.",
);
