//! The `G` codes, for releases in directories and on GitHub, and for published wheels.

use crate::diagnostic::Code;

/// All `G` codes of this module.
pub const ALL: &[&Code] = &[
    &UNREADABLE_NAME,
    &ASSET_DIFFERS,
    &SAME_CELL_TWICE,
    &MISSING_WHEEL,
    &UNPLANNED_WHEEL,
    &PLANNED_TARGET_MISSING,
    &RELEASE_IN_RELEASE,
    &NOT_A_RELEASE,
    &DAMAGED_RELEASE,
    &NOTHING_TO_PUBLISH,
    &CANNOT_REPLACE_FOLDER,
    &BAD_MANIFEST,
    &AMBIGUOUS_READING,
    &NAME_NOT_KEPT,
    &BAD_TAG,
    &SAME_NAME_TWICE,
    &BAD_BASE_URL,
    &CANNOT_INDEX,
    &NO_TARGET,
    &BAD_KNOWN_FILE,
    &KNOWN_DIGEST_IS_WRONG,
    &WHEELS_IN_SUBFOLDERS,
    &BAD_YANK_RULE,
    &NOT_AN_INDEX,
    &IMMUTABLE_RELEASE,
    &RELEASE_IS_PUBLISHED,
    &MANIFEST_UNREADABLE,
    &NOT_IN_SUMS,
    &TAG_IS_SPENT,
    &RELEASE_IS_FULL,
    &SEVERAL_RELEASES_OF_TAG,
    &BAD_TOKEN,
    &TOKEN_WITHOUT_RIGHT,
    &NOT_ON_GITHUB,
    &CALL_REFUSED,
    &NO_ANSWER,
    &API_LEADS_ELSEWHERE,
    &FILE_CANNOT_BE_SENT,
    &ASSET_RENAMED,
    &BAD_GITHUB_ADDRESS,
    &FILE_NOT_TAKEN,
    &TOO_MANY_CALLS,
    &NOT_A_LISTING,
    &TAG_IS_NOT_THERE,
    &TAG_MOVED,
    &NO_SUCH_TARGET,
    &LABEL_NOT_NORMAL,
    &ASSET_DAMAGED,
    &LISTING_CONTRADICTS,
    &REPLACED_AGAIN,
    &NO_WHEEL_FITS,
    &NO_SUCH_PROJECT,
    &SEVERAL_PROJECTS,
    &NO_PUBLISHED_WHEELS,
    &BAD_ENVIRONMENT,
    &TORCH_NOT_FOR_ROCM,
    &NO_TORCH,
    &UNREADABLE_PUBLISHED_NAME,
    &AMBIGUOUS_PUBLISHED_LABEL,
    &NO_MARKER,
    &UNKNOWN_RELEASE,
    &BAD_RESULTS,
    &NO_PUBLISHED_DIGEST,
    &OLDER_RELEASE_DIFFERS,
    &ADDRESS_OF_THIS_MACHINE,
    &LABELS_MISORDERED,
    &REPOSITORY_TAKES_NO_RELEASE,
    &ENTERPRISE_SERVER,
    &ATTESTATION_NOT_AVAILABLE,
    &ENVIRONMENT_REFUSES_TAG,
    &STRANGE_DEVICE,
    &TAG_CREATION_RESTRICTED,
    &BUILT_WITH_OTHER_TORCH,
];

/// A filename that is neither of a wheel nor of an sdist.
pub const UNREADABLE_NAME: Code = Code::error(
    "G001",
    "unreadable-name",
    "The filename is neither that of a wheel nor of an sdist, so no installer accepts it.\n\nA wheel is named `{name}-{version}(-{build})-{python}-{abi}-{platform}.whl`, the name with `_` instead of `-`, for example `flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl`. A file that was saved by hand may have `%2B` or a `.` instead of the `+`: restore its name.",
);
/// A published file with other bytes.
pub const ASSET_DIFFERS: Code = Code::error(
    "G002",
    "asset-differs",
    "The release already has a file of this name with other bytes. Anyone who pinned its hash could not install the new file, so it is not replaced by default.\n\nPublish the file under another version or build tag, or replace it with `--replace`.",
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
    "With `--plan`, every job of the plan must have its wheel, or the archive of its install tree, among the given files or in the release.\n\nA wheel matches a job by project, version with label, Python, ABI and machine; repair may have changed the platform tag. Build the missing ones, or publish the rest with `--allow-missing`.",
);
/// A wheel that is not in the plan.
pub const UNPLANNED_WHEEL: Code = Code::error(
    "G005",
    "unplanned-wheel",
    "With `--plan`, a wheel or an archive of an install tree that no job of the plan produces is refused: it is left over from another plan, or its name or label is not the planned one.",
);
/// A wheel without code for a planned target.
pub const PLANNED_TARGET_MISSING: Code = Code::error(
    "G023",
    "planned-target-missing",
    "A wheel has GPU code, but none for a target of its job in the plan: it is left over from a build for other targets, whose wheels have the same names. On a GPU of the missing target it would install and then fail. Targets are compared as by `wheel check --expect`, including features such as `gfx90a:xnack+` and generic targets. Additional targets are fine. Wheels without GPU code, or whose code was not read, are not compared.\n\n`publish --plan` refuses the wheel: build it for the planned targets, or publish it anyway with `--allow G023`.\n\nFor a wheel that is already published, `plan --published` and `report missing` warn: its name is taken, so it counts as published and has no job. Its targets are those in the release's `rock-manifest.json`. To publish it with all targets, plan without `--published`, build it, and publish it with `publish --replace`, which is impossible in an immutable release. Or give it a build number with `wheel retag --build 1`: installers prefer the file with the higher number, and both can be in the release.",
);
/// A directory with other files than a release.
pub const NOT_A_RELEASE: Code = Code::error(
    "G006",
    "not-a-release",
    "The directory contains files that are not part of a release of this program. A release is replaced as a whole directory, so they would be lost; nothing was written.\n\nChoose another directory, which is created if it does not exist, or move the files elsewhere.",
);
/// A release inside another release.
pub const RELEASE_IN_RELEASE: Code = Code::error(
    "G024",
    "release-in-release",
    "The directory of the release is inside a directory that is a release itself, with `rock-manifest.json` and `SHA256SUMS`. A release is replaced as a whole directory, so nothing could be published to the outer one any more. Nothing was written.\n\nPublish to the outer release without `--tag`, or use a directory that contains only releases, each in a directory named after its tag.",
);
/// A release that does not match its manifest.
pub const DAMAGED_RELEASE: Code = Code::error(
    "G007",
    "damaged-release",
    "A file of the release is missing, or does not have the digest in the release's own `rock-manifest.json`. Its index would give installers a wrong hash.\n\nPublish the right file with `--replace`.",
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
    "A release is written next to its directory, and then replaces it in one step. That was not possible, for example because the directory is a mount point or its parent is not writable. The release is unchanged.\n\nPublish to a subdirectory, for example with `--tag`.",
);
/// An unreadable release manifest.
pub const BAD_MANIFEST: Code = Code::error(
    "G010",
    "bad-manifest",
    "This program did not write the `rock-manifest.json` of a release, or a later version did, so the contents of the release are not known. Nothing was written.",
);
/// An ambiguous label.
pub const AMBIGUOUS_READING: Code = Code::error(
    "G011",
    "ambiguous-reading",
    "The digits of the label can be read as two ROCm versions: `rocm714` is 7.14 and 7.1.4. It is not known which directory of the index the file belongs to.\n\nUse a label with dots: `rock-matrix wheel label WHEEL --local rocm7.14torch2.14`.",
);
/// A filename that GitHub changes.
pub const NAME_NOT_KEPT: Code = Code::warning(
    "G012",
    "name-not-kept",
    "GitHub keeps letters, digits, `.`, `_`, `+` and `-` in the names of release assets, and replaces other characters by dots. The file can be published in a directory, where this is a warning, but not under its name in a GitHub release, where it is an error.\n\nThe usual cause is an epoch (`1!2.0`): remove it.",
);
/// An invalid tag.
pub const BAD_TAG: Code = Code::error(
    "G013",
    "bad-tag",
    "The tag of a local release is the name of its directory, so it may be any valid git tag without `/`. A rendered workflow creates such a directory for each tag that starts it, so a pattern in `workflow.tags` must not match tags with `/`.\n\nA release on GitHub (`--repo`) may have any valid git tag.",
);
/// Two files with the same name.
pub const SAME_NAME_TWICE: Code = Code::error(
    "G014",
    "same-name-twice",
    "Two of the given files have the same name, or names that differ only in case, and are not the same file. Names in a release are unique.",
);
/// An invalid base URL.
pub const BAD_BASE_URL: Code = Code::error(
    "G015",
    "bad-base-url",
    "`--base-url` is the URL under which the files will be served: a link is that URL, a slash and the filename. It must be an `https`, `http` or `file` URL without query, fragment or password.",
);
/// A directory that cannot be replaced by an index.
pub const CANNOT_INDEX: Code = Code::error(
    "G016",
    "cannot-index",
    "The index is a directory of its own that is replaced as a whole. This directory was not written by this program, or it is the directory of the files themselves.\n\nChoose a new directory with `--out`.",
);
/// A `publish` without a target.
pub const NO_TARGET: Code = Code::error(
    "G017",
    "no-target",
    "`publish` needs a target. `--repo OWNER/REPO --tag TAG` is a release on GitHub. `--to DIR` creates the same release in a directory: wheels, checksums, manifest and index, without an account and without network.",
);
/// An invalid file of digests.
pub const BAD_KNOWN_FILE: Code = Code::error(
    "G018",
    "bad-known-file",
    "`--known` names a file with digests, so that wheels need not be read again: a `rock-manifest.json` of this program, or a `SHA256SUMS` in the format of `sha256sum`. This file is neither.",
);
/// A file with another digest than recorded.
pub const KNOWN_DIGEST_IS_WRONG: Code = Code::error(
    "G022",
    "known-digest-is-wrong",
    "Files are hashed while they are uploaded, and this one does not have the digest that the file of `--known`, or the `rock-manifest.json` next to it, records. The file is not in the release, and neither are checksums or a manifest with the wrong digest.\n\nPublish again with `--read-all`, which ignores recorded digests, or provide the right file.",
);
/// Wheels in subdirectories.
pub const WHEELS_IN_SUBFOLDERS: Code = Code::warning(
    "G021",
    "wheels-in-subfolders",
    "Subdirectories are not searched, and these contain wheels or sdists that are therefore skipped. `actions/download-artifact` creates a directory for each artifact unless `merge-multiple: true` is set.\n\nMove the files into one directory, or pass the subdirectories too, if the command takes several.",
);
/// An invalid yank rule, or one that matches no file.
pub const BAD_YANK_RULE: Code = Code::error(
    "G019",
    "bad-yank-rule",
    "`--yank` and `--unyank` take a project with a PEP 440 specifier, `flash-attn<2.6`, a version with its label, `flash-attn==2.8.3+rocm62torch2.5`, or a filename. `--yank` takes a reason after a colon. `yank-older-than` in a matrix file takes hours, days or weeks, `36h`, `30d` or `4w`, or `never`.\n\nA rule that matches no file of the index is also an error, because a typo would otherwise go unnoticed and yank nothing. A rule whose files are already yanked is not an error. Rules that are kept in a matrix file outlive their files, so a rule in `release.yank` that matches no file is a warning.",
);
/// A directory that is not an index.
pub const NOT_AN_INDEX: Code = Code::error(
    "G020",
    "not-an-index",
    "`--withdrawn-in` names a directory of pages that `index build` wrote, which is the only place where yanked files are recorded. The directory does not exist or contains no such pages, or a page with yanked files is damaged.\n\nPass the directory with the landing page, for example `dist/simple`.",
);
/// An immutable release.
pub const IMMUTABLE_RELEASE: Code = Code::error(
    "G100",
    "immutable-release",
    "The release is published and immutable: GitHub has locked its tag and assets, so nothing can be added, replaced or removed. The tag cannot be used again even if the release is deleted. Nothing was uploaded.\n\nPublish under a new tag.",
);
/// A release that is already published.
pub const RELEASE_IS_PUBLISHED: Code = Code::error(
    "G101",
    "release-is-published",
    "The release is published, and this run would change its files, title or text after people may have downloaded it. Nothing was uploaded. A run that finds everything in place changes nothing and needs no permission.\n\nPublish under a new tag, or allow the change with `--allow-published`.",
);
/// An unreadable manifest of a GitHub release.
pub const MANIFEST_UNREADABLE: Code = Code::error(
    "G118",
    "manifest-unreadable",
    "The release has wheels that are not among the given files, and the `rock-manifest.json` that describes them cannot be read: it was edited, or a later version of this program wrote it. Publishing would replace it. Nothing was uploaded.\n\nPass all wheels of the release, or use `--replace`: then the manifest is generated from the names and digests of the assets, and its other contents are lost.",
);
/// Wheels that are missing from the checksums.
pub const NOT_IN_SUMS: Code = Code::warning(
    "G119",
    "not-in-sums",
    "The release has wheels that are not among the given files and cannot be described: neither GitHub (they were uploaded before June 2025) nor the release's manifest has their digest, or their label can be read in two ways. They stay in the release, but are not in its `SHA256SUMS` and `rock-manifest.json`.\n\nPublish them again together with the others.",
);
/// A tag that an immutable release has used.
pub const TAG_IS_SPENT: Code = Code::error(
    "G121",
    "tag-is-spent",
    "An immutable release had this tag. GitHub never lets another release use it, even if the first one was deleted. It reports this only when the draft is published; the draft then stays a draft.\n\nDelete the draft, and publish under a new tag.",
);
/// A release without room for more files.
pub const RELEASE_IS_FULL: Code = Code::error(
    "G120",
    "release-is-full",
    "A release can have 1,000 files. `SHA256SUMS` and `rock-manifest.json` must be in the first release of a tag, and the new bytes of a published file are uploaded next to the old ones. There is no room for that. If GitHub itself reported the limit, nothing more was uploaded.\n\nDelete unneeded files from the release, or publish under a new tag.",
);
/// Several releases with one tag.
pub const SEVERAL_RELEASES_OF_TAG: Code = Code::error(
    "G102",
    "several-releases-of-tag",
    "Several releases, including drafts, have the same tag. This happens when two runs start at once, because GitHub permits it for drafts. Files would end up in one release while people look at the other. Nothing was uploaded. A draft of an earlier run that contains only files of this publish is deleted automatically.\n\nDelete all but one; `--clean-duplicates` deletes drafts without files.",
);
/// An invalid token.
pub const BAD_TOKEN: Code = Code::error(
    "G103",
    "bad-token",
    "GitHub does not accept the token: it is wrong, expired or revoked. The token of a job expires when the job ends, after at most 24 hours.\n\nPass a valid token in `GITHUB_TOKEN` or `GH_TOKEN`, or in a file with `--token-file`. There is no option for the token itself, because everyone on the machine could read it.",
);
/// A token without the required permission.
pub const TOKEN_WITHOUT_RIGHT: Code = Code::error(
    "G104",
    "token-without-right",
    "The token is valid but does not have the required permission. Releases need write access to contents.\n\nIn a workflow: `permissions: contents: write` for the publishing job. A fine-grained token needs \"Contents: read and write\" for the repository. Rulesets for tags of an organization can also forbid it.",
);
/// A repository, release or asset that does not exist.
pub const NOT_ON_GITHUB: Code = Code::error(
    "G105",
    "not-on-github",
    "GitHub does not know this repository, release or asset. It gives the same answer for a private repository that the token may not see.\n\nCheck `--repo OWNER/REPO` and the token.",
);
/// A request that GitHub refused.
pub const CALL_REFUSED: Code = Code::error(
    "G106",
    "call-refused",
    "GitHub refused the request for a reason that a retry would not change. Completed steps are kept: a draft remains a draft, and the same command continues from there.",
);
/// GitHub does not respond.
pub const NO_ANSWER: Code = Code::error(
    "G107",
    "no-answer",
    "GitHub could not be reached, did not respond, was rate-limiting requests, or asked to wait longer than publishing may take (`--deadline`). Requests were retried with increasing delays. Completed steps are kept: a draft remains a draft, and the same command continues from there.\n\nThe message says if a certificate is not trusted, or if a proxy refused the connection.",
);
/// A redirect to another host.
pub const API_LEADS_ELSEWHERE: Code = Code::error(
    "G108",
    "api-leads-elsewhere",
    "The API redirected a request, or the files of a release, to another host. Nothing was sent there, in particular not the token.\n\nIf it is your own server, set it with `--api-url`, and its upload host with `--uploads-host`. URLs without encryption are accepted for this machine only.",
);
/// A file that could not be uploaded.
pub const FILE_CANNOT_BE_SENT: Code = Code::error(
    "G109",
    "file-cannot-be-sent",
    "A file could not be read, or changed during the upload. The last part of a file is sent only if its size and digest are as planned, so that no other content is ever uploaded completely.\n\nRun the same command again.",
);
/// An asset that GitHub renamed.
pub const ASSET_RENAMED: Code = Code::error(
    "G110",
    "asset-renamed",
    "GitHub stored a file under another name than it was uploaded with. GitHub keeps letters, digits, `.`, `_`, `+` and `-`, and replaces everything else by `.`. The asset was deleted, and the release stays a draft.",
);
/// An invalid repository name or API URL.
pub const BAD_GITHUB_ADDRESS: Code = Code::error(
    "G111",
    "bad-github-address",
    "A repository is written `OWNER/REPO`, and the API is given as a URL, for example `https://github.example.com/api/v3`. A URL without encryption is accepted for this machine only, because the token would cross the network in plain text, and only from `--api-url`, not from `GITHUB_API_URL`. `--uploads-host` takes a host, with a port if it does not use the default one.",
);
/// A file that GitHub does not accept.
pub const FILE_NOT_TAKEN: Code = Code::error(
    "G112",
    "file-not-taken",
    "GitHub accepts files of 1 to 2,147,483,647 bytes, with names of up to 255 bytes. Of these, 17 are reserved: new bytes are uploaded under a longer name before they replace old ones. This is checked before anything is uploaded.\n\nBuild for fewer gfx targets, or split the wheel.",
);
/// More uploads than GitHub allows in an hour.
pub const TOO_MANY_CALLS: Code = Code::error(
    "G113",
    "too-many-calls",
    "Each file needs a request that creates content, and GitHub allows about 500 of them per hour; clients that continue are blocked for longer. Nothing was uploaded.\n\n`--slow` permits it, and extends the deadline.",
);
/// An invalid list of releases.
pub const NOT_A_LISTING: Code = Code::error(
    "G114",
    "not-a-listing",
    "The input does not contain releases.\n\n`--published` takes a repository `OWNER/REPO`, whose releases are read from GitHub; a file written by `report listing`; GitHub's answer, saved with `gh api --paginate --slurp repos/OWNER/REPO/releases`: releases, pages of releases, one release, its assets, or a list of their names; a `rock-manifest.json`; and a directory of one release, of several, or of wheels.",
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
    "The tag points to another commit than the wheels were built from: it was moved during the build, or `--target` is wrong. Publishing would attach wheels to sources that they were not built from.",
);
/// A label that is not in normal form.
pub const LABEL_NOT_NORMAL: Code = Code::error(
    "G123",
    "label-not-normal",
    "The local version label of a wheel is not in the normal form of PEP 440: lower case, with dots between its parts. Installers compare normalized versions, but people and scripts compare names, and a GitHub release keeps the name as it is.\n\nNormalize the label with `rock-matrix wheel label`.",
);
/// A target that is not a commit.
pub const NO_SUCH_TARGET: Code = Code::error(
    "G122",
    "no-such-target",
    "`--target` is the commit at which the tag is created, or must be: a commit, or a branch, which stands for its current commit. The repository has neither. GitHub would report this only after all uploads. Nothing was uploaded.\n\nPush the commit or branch, or name the commit that the wheels were built from.",
);
/// An asset that GitHub stored with other bytes.
pub const ASSET_DAMAGED: Code = Code::error(
    "G117",
    "asset-damaged",
    "GitHub stored a file with another size or digest than it was uploaded with. The asset was deleted, and the release stays a draft.\n\nRun the same command again: it uploads this file again and keeps the others.",
);
/// A listing that contradicts the answer to an upload.
pub const LISTING_CONTRADICTS: Code = Code::error(
    "G320",
    "listing-contradicts",
    "GitHub's listing of the release contradicts its answer to an upload: the name, state, size or digest of a file differs, even after several tries. The release was not made public.\n\nRun the same command again. It trusts the listing, deletes the file from the draft and uploads it again.",
);
/// A file that another run replaced again.
pub const REPLACED_AGAIN: Code = Code::error(
    "G321",
    "replaced-again",
    "This run replaced a file in the draft, and then the file changed again: another run is publishing different wheels to the same release. This run made nothing public.\n\nLet one run publish at a time, for example with `concurrency` in the workflow, and run the same command again.",
);
/// No wheel for this machine.
pub const NO_WHEEL_FITS: Code = Code::error(
    "G200",
    "no-wheel-fits",
    "Every published wheel needs something that this machine does not have: system and C library, GPU, ROCm, torch, Python, or the selected backend. The closest wheels are listed with all differences, the hardest to change first.\n\nInstall what the closest wheel needs, or build a wheel for this machine. `compat list reach` shows with which other ROCm versions a wheel works.",
);
/// No wheel of the selected project.
pub const NO_SUCH_PROJECT: Code = Code::error(
    "G201",
    "no-such-project",
    "None of the published wheels belongs to the project that `--distribution` selects.",
);
/// Wheels of several projects.
pub const SEVERAL_PROJECTS: Code = Code::error(
    "G202",
    "several-projects",
    "Wheels of more than one project are published. Select one with `--distribution`.",
);
/// No published wheels.
pub const NO_PUBLISHED_WHEELS: Code = Code::error(
    "G203",
    "no-published-wheels",
    "The list of releases, manifest or directory contains no wheel that people can download. Drafts and incomplete uploads do not count.\n\nFor `pick` this is an error. `index build` and `report page` warn, and write an empty index or page. An index that lists files is never emptied because of this; that is an error. To stop offering its files, remove its directory.",
);
/// An invalid environment.
pub const BAD_ENVIRONMENT: Code = Code::error(
    "G206",
    "bad-environment",
    "`--environment` takes the output of `rock-matrix doctor --format json` on the machine that the wheel is for.",
);
/// A torch that is not built for ROCm.
pub const TORCH_NOT_FOR_ROCM: Code = Code::warning(
    "G207",
    "torch-not-for-rocm",
    "The installed torch is built for the CPU or for CUDA. A wheel for ROCm does not load with it.\n\nInstall torch from an index for ROCm first.",
);
/// A Python without torch.
pub const NO_TORCH: Code = Code::warning(
    "G208",
    "no-torch",
    "The selected wheel needs torch, and the Python that it was selected for has none, so the wheel cannot be imported.\n\nThe command that `pick` prints also installs torch, if the official index has it for the ROCm version of the wheel. Otherwise, install it from an index for ROCm first.",
);
/// A published `.whl` file with an unreadable name.
pub const UNREADABLE_PUBLISHED_NAME: Code = Code::warning(
    "G300",
    "unreadable-published-name",
    "A release has a `.whl` file whose name is not a wheel name, or whose label cannot be parsed. Installers do not accept the former, and it is not known what the latter is for.\n\nDocuments list such files by name but do not count them, a plan does not skip their jobs, and they are never picked. Names without a `+` usually come from an upload that did not encode it: publish the file again under its name.",
);
/// An ambiguous label of a published wheel.
pub const AMBIGUOUS_PUBLISHED_LABEL: Code = Code::warning(
    "G301",
    "ambiguous-published-label",
    "The digits in the label of a published wheel can be read as two ROCm versions: `rocm714` is 7.14 and 7.1.4. Documents show it under the version named here, which may be the wrong one.\n\nPublish such wheels with dots in the label: `rock-matrix wheel label WHEEL --local rocm7.14torch2.14`.",
);
/// A document without the markers to write between.
pub const NO_MARKER: Code = Code::error(
    "G302",
    "no-marker",
    "A document that people maintain is changed only between two marker comments, or below a heading, each of which must occur once. Nothing was written.\n\nCoverage goes between `<!-- COVERAGE_BADGE_START -->` and `<!-- COVERAGE_BADGE_END -->`, and between `<!-- COVERAGE_TABLE_START -->` and `<!-- COVERAGE_TABLE_END -->`; one pair is enough. The release history goes below the line `## History`.",
);
/// An unknown release.
pub const UNKNOWN_RELEASE: Code = Code::error(
    "G303",
    "unknown-release",
    "No release in the list has this tag, so there is nothing to write notes about.\n\nOnly a token with write access sees drafts. Save the list again, for example with `gh api --paginate --slurp repos/OWNER/REPO/releases`, or name the repository.",
);
/// An invalid results file.
pub const BAD_RESULTS: Code = Code::error(
    "G304",
    "bad-results",
    "A results file contains the outcomes of the jobs of a plan: the `build.json` of each build, a list of such objects, or one object per line, each with `job` and `outcome` and an optional `reason`.\n\nIt is a warning if a result belongs to a job that is not in the plan: the result is ignored. Use the plan that the run was started with.",
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
    "Two releases have different files of the same name, for example because a wheel was built again. The newest release wins: the one published last, or the one with the highest tag if publication times are unknown. The index, `pick`, the wheel finder and `report packages` offer only its file. `pick` does not mention the other one, because its users only install.\n\nInstallers reject the new file for anyone who pinned the digest of the older one. Delete the older file from its release to end this warning. Yanking does not help, because yanking the name also yanks the file that is offered. Give a later build of a wheel its own build tag, `NAME-VERSION-1-PYTHON-ABI-PLATFORM.whl`.",
);
/// A page with links to this machine.
pub const ADDRESS_OF_THIS_MACHINE: Code = Code::warning(
    "G307",
    "address-of-this-machine",
    "The page was made from a directory, and its links and install commands refer to that directory on this machine. That is right for a local page, but such links are dead on a deployed one.\n\nSet the URL under which the files will be served with `--base-url`, or make the page from releases on GitHub, whose files have URLs.",
);
/// Labels that sort differently from ROCm versions.
pub const LABELS_MISORDERED: Code = Code::warning(
    "G124",
    "labels-misordered",
    "Two wheels of one project have the same public version, and local version labels that installers sort differently from their ROCm versions. A segment of a label that is not a number is compared as text (PEP 440), so `rocm10.2.0` sorts before `rocm7.14.0`, `devrocm` before every `rocm`, and `rocmsdk` after. An installer that sees both, on one flat page or in one directory with `--find-links`, installs the wheel for the earlier ROCm.\n\nThe index has a directory for each ROCm version: install from one of these. Otherwise, request the version with its label.",
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
    "Rendered workflows need actions/upload-artifact and actions/download-artifact of version 4 or later, and actions/attest. GitHub Enterprise Server supports neither; github.com and GitHub Enterprise Cloud with data residency (`*.ghe.com`) support both.\n\nOn Enterprise Server, write your own workflow that calls `rock-matrix plan`, `rock-matrix build` and `rock-matrix publish --api-url`, or publish into a folder with `publish --to`.",
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
/// A device option of a runner that is not a render node.
pub const STRANGE_DEVICE: Code = Code::error(
    "G364",
    "strange-device",
    "AMD's runners list the render nodes that a job may use in `/etc/podinfo/gha-render-devices`, as docker options such as `--device /dev/dri/renderD128`. The file has another word, which would become an option of the container engine, so nothing is started.\n\nAsk the operator of the machine to correct the file.",
);
/// A ruleset that restricts the creation of a tag.
pub const TAG_CREATION_RESTRICTED: Code = Code::error(
    "G365",
    "tag-creation-restricted",
    "The tag does not exist, so publishing would create it. An active ruleset of the repository or its organization restricts who creates tags of this name (\"Restrict creations\"), and the token may not bypass it, so GitHub would refuse the release after all builds.\n\nPush the tag as someone who may, and publish then; or add the user or app that publishes to the bypass list of the ruleset.",
);
/// A wheel that was built with another torch than its label names.
pub const BUILT_WITH_OTHER_TORCH: Code = Code::error(
    "G130",
    "built-with-other-torch",
    "According to the `build.json` next to the wheel, it was built with another torch or ROCm than its label names. Compiled code depends on the torch that it was built with: with the torch in the label, importing it may fail, or worse, and the name gives no hint.\n\nBuild it with the torch in the label, or change the label with `rock-matrix wheel label`. `--allow G130` publishes it anyway. For a wheel without compiled code this is a note, because its contents are the same with every torch.",
);
