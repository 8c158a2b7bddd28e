//! The `C` codes up to C099: source trees, and the patches on them.

use crate::diagnostic::Code;

/// Every one of these codes, in order.
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

/// Uncommitted changes that a checkout would lose.
pub const UNCOMMITTED_CHANGES: Code = Code::error(
    "C001",
    "uncommitted-changes",
    "A repository of the source tree has files that are changed, staged or new and not committed. A checkout would put them back, or commit them together with what hipify changes.\n\nCommit them and save them as patches with `rock-matrix source save-patches`, or pass `--discard-changes`. Files that git ignores are left alone.",
);
/// Commits that a checkout would leave behind.
pub const LOCAL_COMMITS: Code = Code::error(
    "C002",
    "local-commits",
    "A repository of the source tree is at commits that no checkout made and that the repository it was fetched from does not have. The head is on no branch, so a checkout would leave them to the reflog alone.\n\nSave them as patches with `rock-matrix source save-patches`, or keep them with `git branch NAME`; then pass `--discard-commits`.",
);
/// A rebase or a series of patches that was not ended.
pub const UNDER_WAY: Code = Code::error(
    "C003",
    "under-way",
    "A series of patches or a rebase was begun in a repository of the source tree and not ended. What it holds would be lost.\n\nEnd it with `git am` or `git rebase` and `--continue`, `--abort` or `--quit`, or pass `--discard-changes`.",
);
/// The folder for a checkout holds other things.
pub const FOLDER_IS_TAKEN: Code = Code::error(
    "C004",
    "folder-is-taken",
    "The folder that was named for a checkout is no repository and is not empty. Nothing is put between other files.",
);
/// The folder is no checkout.
pub const NO_CHECKOUT: Code = Code::error(
    "C005",
    "no-checkout",
    "A command about a source tree was given a folder that `rock-matrix source checkout` made no tree in: it has no `.rock/checkout.json`.",
);
/// Another run works in the folder.
pub const CHECKOUT_IN_USE: Code = Code::error(
    "C006",
    "checkout-in-use",
    "Another run of `rock-matrix source` works in this folder. Two at once would undo each other's steps.",
);
/// `.rock/checkout.json` cannot be read.
pub const BAD_CHECKOUT_FILE: Code = Code::error(
    "C007",
    "bad-checkout-file",
    "`.rock/checkout.json` says what the last checkout made; by it the commits of a checkout are told from those of a person. It is of another version or was changed by hand.\n\nWithout the file the tree is judged as any other clone: commits that upstream does not have count as a person's.",
);
/// What was given is no ref or no address.
pub const BAD_REFERENCE: Code = Code::error(
    "C008",
    "bad-reference",
    "What was given for `--ref` cannot be a branch, a tag or a commit, or what was given for `--origin` cannot be an address. Git would take it for an option, for a pattern, or for more than one ref.",
);
/// Upstream does not have the ref.
pub const NO_SUCH_REFERENCE: Code = Code::error(
    "C009",
    "no-such-reference",
    "The repository was reached and has no such branch, tag or commit. A commit must be given as its whole hash; servers do not look up the first digits.",
);
/// The repository cannot be fetched.
pub const FETCH_FAILED: Code = Code::error(
    "C010",
    "fetch-failed",
    "Git could not fetch from the repository, or was cut off. What was there before is as it was; the same command goes on.",
);
/// Submodules cannot be checked out.
pub const SUBMODULES_FAILED: Code = Code::error(
    "C011",
    "submodules-failed",
    "The repository itself is checked out, one of its submodules is not: its repository cannot be reached, or does not have the commit that is recorded. The same command goes on with those that are missing.\n\nAn address that upstream changed is taken over with `git submodule sync --recursive`.",
);
/// A submodule whose repository is gone.
pub const BROKEN_SUBMODULE: Code = Code::error(
    "C012",
    "broken-submodule",
    "The folder of a submodule says that its repository lies below `.git/modules`, and there is none, or it cannot be read. Whether its files hold somebody's work cannot be told.",
);
/// A patch that does not apply.
pub const PATCH_FAILED: Code = Code::error(
    "C013",
    "patch-failed",
    "A patch of the series does not apply to what lies below it. The patches before it in this repository are taken back and nothing half applied is left; the same command begins anew.\n\nMend the patch, or name the set that was made for this ref with `--patchset`.",
);
/// Patches for a repository that is not there.
pub const IDLE_PATCHES: Code = Code::warning(
    "C014",
    "idle-patches",
    "A folder of the patch set is named like no repository of the source tree, so its patches are not applied. Upstream may have removed or moved a submodule, or submodules are off.",
);
/// The script that hipifies failed.
pub const HIPIFY_FAILED: Code = Code::error(
    "C015",
    "hipify-failed",
    "The script `tools/amd_build/build_amd.py` of the source tree did not succeed. What it changed is put back, the patches before it stay; the same command begins anew.",
);
/// Patches of hipified sources without the commit they lie on.
pub const HIPIFIED_NEEDS_COMMIT: Code = Code::error(
    "C016",
    "hipified-needs-commit",
    "`git am` applies patches to commits. Without a commit of what hipify changed, patches of hipified sources have nothing to lie on.",
);
/// A git command failed.
pub const GIT_FAILED: Code = Code::error(
    "C017",
    "git-failed",
    "A git command of a checkout failed, for a reason that is not of the input: a full disk, a permission, a repository that is damaged. What git said is shown. The same command goes on once the cause is gone.",
);
/// Git cannot be started.
pub const NO_GIT: Code = Code::error(
    "C018",
    "no-git",
    "A program that a checkout needs cannot be started: `git`, or the Python that hipify is run with.",
);
/// What a killed run left is kept.
pub const CHANGES_KEPT: Code = Code::warning(
    "C019",
    "changes-kept",
    "An earlier checkout was ended by force, and files were left that are not committed. Most are the checkout's own, half written; some may be a person's. All of them are kept in a commit under `refs/rock-matrix/saved`, and the tree is made anew.\n\nLook with `git show --stat REF`, and forget it with `git update-ref -d REF`.",
);
/// A signal ended a checkout.
pub const CHECKOUT_STOPPED: Code = Code::warning(
    "C020",
    "checkout-stopped",
    "SIGINT or SIGTERM ended a checkout under way. The same command goes on, and knows what is its own.",
);
/// No tag says where upstream ends.
pub const NO_UPSTREAM_TAG: Code = Code::error(
    "C021",
    "no-upstream-tag",
    "Patches are the commits above the tag `THEROCK_UPSTREAM_DIFFBASE`, which a checkout sets in every repository. It is not there, or is not below the head.",
);
/// A tag of hipify that is not below the head.
pub const STALE_HIPIFY_TAG: Code = Code::warning(
    "C022",
    "stale-hipify-tag",
    "The tag `THEROCK_HIPIFY_DIFFBASE` is on a commit that is not between upstream and the head, so it says nothing about which commits lie above hipify. All of them are taken for patches of `base`.",
);
/// A merge among the commits that become patches.
pub const MERGE_ABOVE_UPSTREAM: Code = Code::error(
    "C023",
    "merge-above-upstream",
    "A merge commit has no patch, and what it brought in would be lost. Make the commits one line, for example with `git rebase`.",
);
/// `--check` found a difference.
pub const PATCHES_DIFFER: Code = Code::error(
    "C024",
    "patches-differ",
    "The patch set is not what the commits of the source tree make. Without `--check` the same command writes it.",
);
/// A patch set whose outer repository has another name.
pub const OTHER_REPOSITORY_NAME: Code = Code::error(
    "C025",
    "other-repository-name",
    "The patches of the outer repository lie in a folder of the patch set that has the repository's name, which is that of the project or of the tree's folder. The set has no such folder, and one that is named like no submodule, so its patches would be left out without a word.\n\nName the folder with `--repo-name`.",
);
