//! The `G` codes, for releases in directories and on GitHub, and for published wheels.

use rock_diagnostic::Code;
pub(crate) use rock_plan::codes::release::{BAD_TAG, BAD_YANK_RULE};

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[
    &UNREADABLE_NAME,
    &ASSET_DIFFERS,
    &SAME_CELL_TWICE,
    &MISSING_WHEEL,
    &UNPLANNED_WHEEL,
    &NOT_A_RELEASE,
    &DAMAGED_RELEASE,
    &NOTHING_TO_PUBLISH,
    &CANNOT_REPLACE_FOLDER,
    &AMBIGUOUS_READING,
    &NAME_NOT_KEPT,
    &SAME_NAME_TWICE,
    &CANNOT_INDEX,
    &BAD_KNOWN_FILE,
    &NOT_AN_INDEX,
    &WHEELS_IN_SUBFOLDERS,
    &PLANNED_TARGET_MISSING,
    &RELEASE_IN_RELEASE,
    &IMMUTABLE_RELEASE,
    &RELEASE_IS_PUBLISHED,
    &SEVERAL_RELEASES_OF_TAG,
    &TOKEN_WITHOUT_RIGHT,
    &FILE_NOT_TAKEN,
    &TOO_MANY_CALLS,
    &TAG_IS_NOT_THERE,
    &TAG_MOVED,
    &RELEASE_IS_FULL,
    &NO_SUCH_TARGET,
    &LABEL_NOT_NORMAL,
    &BUILT_WITH_OTHER_TORCH,
    &ROCM_NOT_IN_LABEL,
    &UNREADABLE_PUBLISHED_NAME,
    &NO_PUBLISHED_DIGEST,
    &OLDER_RELEASE_DIFFERS,
    &REPOSITORY_TAKES_NO_RELEASE,
    &ENTERPRISE_SERVER,
    &ATTESTATION_NOT_AVAILABLE,
    &ENVIRONMENT_REFUSES_TAG,
    &TAG_CREATION_RESTRICTED,
    &INDEX_DIFFERS,
];

/// A filename that is neither that of a wheel nor that of an sdist.
pub const UNREADABLE_NAME: Code = Code::error(
    "G001",
    "unreadable-name",
    "The filename is neither that of a wheel nor of an sdist, so no installer accepts it.\n\nA wheel is named `{name}-{version}(-{build})-{python}-{abi}-{platform}.whl`, the name with `_` instead of `-`, for example `flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl`. A file that was saved by hand may have `%2B` or a `.` instead of the `+`: restore its name.\n\n`WHEEL.metadata` next to a wheel is skipped with a note: it is generated from the wheel.",
);
/// A published file with other bytes.
pub const ASSET_DIFFERS: Code = Code::error(
    "G002",
    "asset-differs",
    "The release already has a file of this name with different content. It is not replaced by default, because users who pinned its hash could not install the new file.\n\nPublish the file under another version or build tag, or replace it with `--replace`.",
);
/// Two wheels for one cell.
pub const SAME_CELL_TWICE: Code = Code::error(
    "G003",
    "same-cell-twice",
    "Two wheels differ only in their platform tag for the same machine, such as `linux_x86_64` and `manylinux_2_28_x86_64`, so the installer decides which one is used. The same applies to two sdists of one version, such as `a_b-1.0.tar.gz` and `a.b-1.0.tar.gz`.\n\nPublish one, usually the repaired one. If the release has the other one, `--replace` removes it.",
);
/// A planned wheel that is missing.
pub const MISSING_WHEEL: Code = Code::error(
    "G004",
    "missing-wheel",
    "With `--plan`, every job of the plan must have its wheel, or the archive of its install tree, among the given files or in the release.\n\nA wheel matches a job by project, version with label, Python, ABI and machine; repair may have changed the platform tag. Build the missing ones, or publish the rest with `--allow G004`.",
);
/// A wheel that is not in the plan.
pub const UNPLANNED_WHEEL: Code = Code::error(
    "G005",
    "unplanned-wheel",
    "With `--plan`, every wheel and every archive of an install tree must belong to a job of the plan. This one is left over from another plan, or its name or label is not the planned one.\n\nLeave it out, or publish without `--plan`.",
);
/// A directory with other files than a release.
pub const NOT_A_RELEASE: Code = Code::error(
    "G006",
    "not-a-release",
    "The directory contains files that are not part of a release of this program. A release is replaced as a whole directory, so they would be lost; nothing was written.\n\nChoose another directory, which is created if it does not exist, or move the files elsewhere.",
);
/// A release that does not match its manifest.
pub const DAMAGED_RELEASE: Code = Code::error(
    "G007",
    "damaged-release",
    "A file of the release is missing, or does not have the digest in the release's own `rock-manifest.json`. Its index would give installers a wrong hash. For missing files, `index build` and `pick` warn, and `pick` does not recommend them.\n\nPublish the right file with `--replace`, or publish the files of the release again with `--replace` to remove missing ones from its manifest.",
);
/// No files to publish.
pub const NOTHING_TO_PUBLISH: Code = Code::error(
    "G008",
    "nothing-to-publish",
    "There is no wheel or sdist among the given files and directories. Subdirectories are not searched.\n\nAn index that lists files is never emptied because of this: it is not changed. To stop offering its files, remove the directory with the pages.",
);
/// A directory that cannot be replaced.
pub const CANNOT_REPLACE_FOLDER: Code = Code::error(
    "G009",
    "cannot-replace-folder",
    "A release is written next to its directory, and then replaces it in one step. That was not possible, for example because the directory is a mount point, its parent is not writable, or another process changed it in the meantime. This run changed nothing.\n\nPublish to a subdirectory, for example with `--tag`.",
);
/// An ambiguous label.
pub const AMBIGUOUS_READING: Code = Code::error(
    "G011",
    "ambiguous-reading",
    "The digits of the label can be read as two ROCm versions: `rocm714` is 7.14 and 7.1.4. It is not known which directory of the index the file belongs to.\n\nUse a label with dots: `rock-matrix wheel label WHEEL rocm7.14torch2.14`.",
);
/// A filename that GitHub changes.
pub const NAME_NOT_KEPT: Code = Code::warning(
    "G012",
    "name-not-kept",
    "GitHub keeps letters, digits, `.`, `_`, `+` and `-` in the names of release assets, and replaces other characters by dots. The file can be published in a directory, where this is a warning, but not under its name in a GitHub release, where it is an error.\n\nThe usual cause is an epoch (`1!2.0`): remove it.",
);
/// Two files with the same name.
pub const SAME_NAME_TWICE: Code = Code::error(
    "G014",
    "same-name-twice",
    "Two of the given files have the same name, or names that differ only in case, and are not the same file. Names in a release are unique.\n\nPass only one of them.",
);
/// A directory that cannot be replaced by an index.
pub const CANNOT_INDEX: Code = Code::error(
    "G016",
    "cannot-index",
    "An index needs its own directory, which is replaced as a whole. This directory was not written by this program, or it is the directory of the files themselves.\n\nChoose a new directory with `--out`.",
);
/// An invalid file of digests.
pub const BAD_KNOWN_FILE: Code = Code::error(
    "G018",
    "bad-known-file",
    "The file in `--known` has no digests that can be used instead of reading wheels again.\n\nPass a `rock-manifest.json` of this program, or a `SHA256SUMS` in the format of `sha256sum`.",
);
/// A directory that is not an index.
pub const NOT_AN_INDEX: Code = Code::error(
    "G020",
    "not-an-index",
    "`--yanked-in`, `index yank` and `index unyank` read the pages that `index build` wrote, which are the only place where yanked files are recorded. The directory does not exist or contains no such pages, or a page with yanked files is damaged.\n\nPass the directory with the landing page, for example `--yanked-in dist/simple`, or `--out site` for an index that is not in `DIR/simple`. If there is no index, run `rock-matrix index build` first.",
);
/// Wheels in subdirectories.
pub const WHEELS_IN_SUBFOLDERS: Code = Code::warning(
    "G021",
    "wheels-in-subfolders",
    "Subdirectories are not searched, and these contain wheels or sdists that are therefore skipped. `actions/download-artifact` creates a directory for each artifact unless `merge-multiple: true` is set.\n\nMove the files into one directory, or pass the subdirectories too, if the command takes several.",
);
/// A wheel without code for a planned target.
pub const PLANNED_TARGET_MISSING: Code = Code::error(
    "G023",
    "planned-target-missing",
    "A library of a wheel has GPU code, but none for a target of its job in the plan: it is left over from a build for other targets, whose wheels have the same names. On a GPU of the missing target it would install and then fail. Targets are compared as by `wheel check --expect`, including features such as `gfx90a:xnack+` and generic targets. Additional targets are fine. Wheels without GPU code, or whose code was not read, are not compared.\n\n`publish --plan` refuses the wheel: build it for the planned targets, or publish it anyway with `--allow G023`.\n\nFor a wheel that is already published, `plan --published` and `report missing` warn: its name is taken, so it counts as published and has no job. Its targets are those in the release's `rock-manifest.json`. To publish it with all targets, plan without `--published`, build it, and publish it with `publish --replace`, which is impossible in an immutable release. Or give it a build number with `wheel retag --build 1`: installers prefer the file with the higher number, and both can be in the release.",
);
/// A release inside another release.
pub const RELEASE_IN_RELEASE: Code = Code::error(
    "G024",
    "release-in-release",
    "The directory of the release is inside a directory that is a release itself, with `rock-manifest.json` and `SHA256SUMS`. A release is replaced as a whole directory, so nothing could be published to the outer one any more. Nothing was written.\n\nPublish to the outer release without `--tag`, or use a directory that contains only releases, each in a directory named after its tag.",
);
/// An immutable release.
pub const IMMUTABLE_RELEASE: Code = Code::error(
    "G100",
    "immutable-release",
    "The release is published and immutable: its tag and assets cannot change, so nothing can be added, replaced or removed. The tag cannot be used again even if the release is deleted. Nothing was uploaded.\n\nPublish under a new tag.",
);
/// A release that is already published.
pub const RELEASE_IS_PUBLISHED: Code = Code::error(
    "G101",
    "release-is-published",
    "The release is published, and this run would change its files, title or text after people may have downloaded it. Nothing was uploaded. A run that finds everything in place changes nothing and needs no permission.\n\nPublish under a new tag, or allow the change with `--allow G101`.",
);
/// Several releases with one tag.
pub const SEVERAL_RELEASES_OF_TAG: Code = Code::error(
    "G102",
    "several-releases-of-tag",
    "Several releases, including drafts, have the same tag. This happens when two runs start at once, because GitHub permits it for drafts. Files could be uploaded to one release while users look at the other, so nothing was uploaded. A draft of an earlier run that contains only files of this publish is deleted automatically.\n\nDelete all but one; `--clean-duplicates` deletes drafts without files.",
);
/// A token without the required permission.
pub const TOKEN_WITHOUT_RIGHT: Code = Code::error(
    "G104",
    "token-without-right",
    "The token is valid but does not have the required permission. Releases need write access to contents.\n\nIn a workflow: `permissions: contents: write` for the publishing job. A fine-grained token needs \"Contents: read and write\" for the repository. Rulesets for tags of an organization can also forbid it.",
);
/// A file that GitHub does not accept.
pub const FILE_NOT_TAKEN: Code = Code::error(
    "G112",
    "file-not-taken",
    "GitHub accepts files of 1 to 2,147,483,647 bytes, with names of up to 255 bytes. A file that can be replaced may have a name of at most 238 bytes, because its new bytes are first uploaded under a longer name. This is checked before anything is uploaded.\n\nBuild for fewer gfx targets, or split the wheel.",
);
/// More uploads than GitHub allows in an hour.
pub const TOO_MANY_CALLS: Code = Code::error(
    "G113",
    "too-many-calls",
    "Each file needs a request that creates content, and GitHub allows about 500 of them per hour; clients that continue are blocked for longer. Nothing was uploaded.\n\n`--slow` permits it, and extends the deadline.",
);
/// A tag that does not exist.
pub const TAG_IS_NOT_THERE: Code = Code::error(
    "G115",
    "tag-is-not-there",
    "A release needs a tag. This one does not exist, and GitHub would create it at the newest commit of the default branch, which may not be the commit that the wheels were built from.\n\nPush the tag, or name the commit with `--target`.",
);
/// A tag at another commit.
pub const TAG_MOVED: Code = Code::error(
    "G116",
    "tag-moved",
    "The tag points to another commit than the wheels were built from: it was moved during the build, or `--target` is wrong. Publishing would attach wheels to sources that they were not built from.\n\nBuild again at the commit of the tag, pass that commit with `--target`, or publish under another tag.",
);
/// A release without room for more files.
pub const RELEASE_IS_FULL: Code = Code::error(
    "G120",
    "release-is-full",
    "A release can have 1,000 files. `SHA256SUMS` and `rock-manifest.json` must be in the first release of a tag, and the new bytes of a published file are uploaded next to the old ones. There is no room for that. If GitHub itself reported the limit, nothing more was uploaded.\n\nDelete unneeded files from the release, or publish under a new tag.",
);
/// A target that is not a commit.
pub const NO_SUCH_TARGET: Code = Code::error(
    "G122",
    "no-such-target",
    "`--target` names the commit for the tag, or a branch whose current commit is used. The repository has no such commit or branch. Nothing was uploaded, because GitHub would report this only after all uploads.\n\nPush the commit or branch, or name the commit that the wheels were built from.",
);
/// A label that is not in normal form.
pub const LABEL_NOT_NORMAL: Code = Code::error(
    "G123",
    "label-not-normal",
    "The local version label of a wheel is not in the normal form of PEP 440: lower case, with dots between its parts. Installers compare normalized versions, but people and scripts compare names, and a GitHub release keeps the name as it is.\n\nNormalize the label with `rock-matrix wheel label`.",
);
/// A wheel that was built with another torch than its label names.
pub const BUILT_WITH_OTHER_TORCH: Code = Code::error(
    "G130",
    "built-with-other-torch",
    "According to the `build.json` next to the wheel, it was built with another torch or ROCm than its label names. Compiled code depends on the torch that it was built with: with the torch in the label, importing it may fail or crash, and the filename gives no hint of this.\n\nBuild it with the torch in the label, or change the label with `rock-matrix wheel label`. `--allow G130` publishes it anyway. For a wheel without compiled code this is a note, because its contents are the same with every torch.",
);
/// A wheel for ROCm whose label does not name it.
pub const ROCM_NOT_IN_LABEL: Code = Code::warning(
    "G131",
    "rocm-not-in-label",
    "The libraries of a wheel need ROCm, but its name does not contain a ROCm version. Installers may select it for any ROCm, no index lists it, and `pick` compares only the major version that its libraries need, which `rock-manifest.json` records.\n\nSet the version that it was built with: `rock-matrix wheel label WHEEL rocm7.0`. This writes another wheel: remove the one without the version, or both are published. A release that already has that wheel keeps it, so publish to a new one.",
);
/// A published `.whl` file with an unreadable name.
pub const UNREADABLE_PUBLISHED_NAME: Code = Code::warning(
    "G300",
    "unreadable-published-name",
    "A release has a `.whl` file whose name is not a wheel name, or whose label cannot be parsed. Installers do not accept a file of the first kind, and the torch and ROCm of the second kind are unknown.\n\nDocuments list such files by name but do not count them, a plan does not skip their jobs, and `pick` ignores them. Names without a `+` usually come from an upload that did not encode it: publish the file again under its name.",
);
/// A published file without a known digest.
pub const NO_PUBLISHED_DIGEST: Code = Code::warning(
    "G305",
    "no-published-digest",
    "GitHub computes digests of release assets since June 2025 and has none for older ones. The index lists this file without a hash, so installers cannot verify it.\n\nPublish the file again, or pass the `rock-manifest.json` of its release along with the list of releases.",
);
/// An older release with other bytes.
pub const OLDER_RELEASE_DIFFERS: Code = Code::warning(
    "G306",
    "older-release-differs",
    "Two releases have different files of the same name, for example because a wheel was built again. The newest release wins: the one published last, or the one with the highest tag if publication times are unknown. The index, `pick`, the wheel finder and `report packages` offer only its file. `pick` does not mention the other file, because its users cannot change the release.\n\nInstallers reject the new file for anyone who pinned the digest of the older one. Delete the older file from its release to end this warning. Yanking does not help, because yanking the name also yanks the file that is offered. Give a later build of a wheel its own build tag, `NAME-VERSION-1-PYTHON-ABI-PLATFORM.whl`.",
);
/// An archived or disabled repository.
pub const REPOSITORY_TAKES_NO_RELEASE: Code = Code::error(
    "G360",
    "repository-takes-no-release",
    "The repository is archived or disabled, so no release can be created in it.\n\nUnarchive it in its settings, or publish to another repository.",
);
/// A server that does not support rendered workflows.
pub const ENTERPRISE_SERVER: Code = Code::error(
    "G361",
    "enterprise-server",
    "Rendered workflows need actions/upload-artifact and actions/download-artifact of version 4 or later, and actions/attest. GitHub Enterprise Server supports neither; github.com and GitHub Enterprise Cloud with data residency (`*.ghe.com`) support both.\n\nOn Enterprise Server, write your own workflow that calls `rock-matrix plan`, `rock-matrix build` and `rock-matrix publish --api-url`, or publish to a directory with `publish --out`.",
);
/// Attestations that the repository does not support.
pub const ATTESTATION_NOT_AVAILABLE: Code = Code::error(
    "G362",
    "attestation-not-available",
    "`release.attest: on` needs attestations, which private repositories have only with GitHub Enterprise Cloud. Private repositories of user accounts never have them, so attesting would fail after all builds.\n\nSet `attest: auto`, which attests unless the repository is private, or `attest: off`.",
);
/// An environment that does not allow the tag.
pub const ENVIRONMENT_REFUSES_TAG: Code = Code::error(
    "G363",
    "environment-refuses-tag",
    "The environment of the job that publishes does not allow deployments from the tag (\"Deployment branches and tags\"), so GitHub would refuse to start that job after all builds.\n\nAdd a rule for the tag, such as `v*`, in the settings of the environment.",
);
/// A ruleset that restricts the creation of a tag.
pub const TAG_CREATION_RESTRICTED: Code = Code::error(
    "G365",
    "tag-creation-restricted",
    "The tag does not exist, so publishing would create it. An active ruleset of the repository or its organization restricts who creates tags of this name (\"Restrict creations\"), and the token may not bypass it, so GitHub would refuse the release after all builds.\n\nPush the tag as a user who may create it, then publish; or add the user or app that publishes to the bypass list of the ruleset.",
);
/// An index that a yank would change in other ways.
pub const INDEX_DIFFERS: Code = Code::error(
    "G366",
    "index-differs",
    "`index yank` and `index unyank` change only which files are yanked. The pages that they would write differ in more: the index was built with other options, for example `--base-url` or `--no-metadata`, or wheels or their `.metadata` files were added or removed since. Nothing is written.\n\nPass exactly the options that the index was built with: the help names `--base-url` with its value and `--no-metadata` if nothing else changes with them. If the wheels or their `.metadata` files changed, run `rock-matrix index build` first.",
);
