//! The `G` codes: releases, local and on GitHub.

use crate::diagnostic::Code;

/// Every `G` code, in order.
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

/// The name is neither a wheel's nor a source distribution's.
pub const UNREADABLE_NAME: Code = Code::error(
    "G001",
    "unreadable-name",
    "The file's name is neither that of a wheel nor of a source distribution, so no installer would take it.\n\nA wheel is called `{name}-{version}(-{build})-{python}-{abi}-{platform}.whl`, the name with `_` instead of `-`, for example `flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl`. A file saved by hand may have got `%2B` for the `+`, or a `.`: give it its name back.",
);
/// A published file has other bytes.
pub const ASSET_DIFFERS: Code = Code::error(
    "G002",
    "asset-differs",
    "The release already holds a file of this name with other bytes. Whoever pinned its hash could not install the new one, so it is not replaced on its own.\n\nPublish it under another version or build tag, or replace it with `--replace`.",
);
/// Two wheels for one cell.
pub const SAME_CELL_TWICE: Code = Code::error(
    "G003",
    "same-cell-twice",
    "Two wheels differ in nothing but their platform tag for one machine, such as `linux_x86_64` and `manylinux_2_28_x86_64`. An installer would take one of them by its own rule. The same holds for two source distributions of one version, such as `a_b-1.0.tar.gz` and `a.b-1.0.tar.gz`.\n\nPublish one, usually the repaired one. Where the release holds the other one, `--replace` takes it out.",
);
/// The plan expects a wheel that is not there.
pub const MISSING_WHEEL: Code = Code::error(
    "G004",
    "missing-wheel",
    "With `--plan`, every job of the plan must have its wheel, or the archive of its install tree, among the files given or in the release.\n\nA wheel fits a job by project, version with label, Python, ABI and machine; the platform tag may have been changed by repair. Build what is missing, or publish the rest with `--allow-missing`.",
);
/// No job of the plan makes this wheel.
pub const UNPLANNED_WHEEL: Code = Code::error(
    "G005",
    "unplanned-wheel",
    "With `--plan`, a wheel or an archive of an install tree that no job of the plan makes is refused: it is left over from another plan, or its name or label is not what was planned.",
);
/// A wheel lacks code for a target of its job.
pub const PLANNED_TARGET_MISSING: Code = Code::error(
    "G023",
    "planned-target-missing",
    "A wheel holds code for GPUs, and none for a target that its job of the plan is for: it is left over from a build for other targets, whose wheels have the same names. On a GPU of that target it would install and then fail. Targets are compared as `wheel check --expect` compares them, features such as `gfx90a:xnack+` and generic targets too. More targets than planned are no fault, and a wheel without code for GPUs, or whose code was not read, is not compared.\n\n`publish --plan` refuses the wheel: build it for the targets of the plan, or publish it all the same with `--allow G023`.\n\nOf a wheel that is published already, `plan --published` and `report missing` warn: its name is taken, so it counts as published and has no job. Its targets are those of the release's `rock-manifest.json`. To publish it with all targets, plan without `--published`, build it, and publish it with `publish --replace`, which GitHub does not let happen in an immutable release; or give it a build number with `wheel retag --build 1`: installers prefer the file with the higher one, and it can stand beside the other.",
);
/// The folder holds other things.
pub const NOT_A_RELEASE: Code = Code::error(
    "G006",
    "not-a-release",
    "The folder holds files that a release of this program does not have. A release is replaced as one folder, so they would be lost; nothing was written.\n\nGive another folder, a new one is made, or move the files away.",
);
/// A release would lie inside of another one.
pub const RELEASE_IN_RELEASE: Code = Code::error(
    "G024",
    "release-in-release",
    "The folder of the release lies in a folder that is a release itself, with `rock-manifest.json` and `SHA256SUMS`. A release is replaced as one folder, so the outer one could not be published to any more. Nothing was written.\n\nPublish into the outer release without `--tag`, or give a folder that holds nothing but releases, each in a folder of its tag.",
);
/// A file of the release is not what its manifest says.
pub const DAMAGED_RELEASE: Code = Code::error(
    "G007",
    "damaged-release",
    "A file of the release is missing or does not have the bytes that the release's own `rock-manifest.json` names. Its index would give installers a wrong hash.\n\nPublish the right file with `--replace`.",
);
/// No files were given.
pub const NOTHING_TO_PUBLISH: Code = Code::error(
    "G008",
    "nothing-to-publish",
    "There is no wheel and no source distribution among the files and folders given. Folders are looked at without their subfolders.\n\nAn index that lists files is not emptied for it: it stays as it was. Remove the folder of the pages if nothing is to be offered from then on.",
);
/// The file system does not let the folder be replaced.
pub const CANNOT_REPLACE_FOLDER: Code = Code::error(
    "G009",
    "cannot-replace-folder",
    "A release is written beside its folder and then put in its place in one step. That was not possible here, for example because the folder is a mount point or its parent cannot be written. The release is as it was.\n\nPublish into a folder below it, for example with `--tag`.",
);
/// The manifest cannot be read.
pub const BAD_MANIFEST: Code = Code::error(
    "G010",
    "bad-manifest",
    "The `rock-manifest.json` of a release is none that this program wrote, or a later version wrote it, so what the release holds is not known. Nothing was written.",
);
/// A compact label with two readings.
pub const AMBIGUOUS_READING: Code = Code::error(
    "G011",
    "ambiguous-reading",
    "The digits of the label can be read as two ROCm versions, `rocm714` as 7.14 and 7.1.4, so the folder of the index that the file belongs to is not known.\n\nGive it a label with dots: `rock-matrix wheel label WHEEL --local rocm7.14torch2.14`.",
);
/// A name that GitHub changes.
pub const NAME_NOT_KEPT: Code = Code::warning(
    "G012",
    "name-not-kept",
    "GitHub keeps letters, digits, `.`, `_`, `+` and `-` in the names of release assets and turns the rest into dots. The file can be published in a folder, where this is a warning, but not in a GitHub release under its name, where it is an error.\n\nAn epoch (`1!2.0`) is the usual reason: leave it out.",
);
/// A tag that cannot name a folder.
pub const BAD_TAG: Code = Code::error(
    "G013",
    "bad-tag",
    "The tag of a local release is the name of its folder, so it may be any tag that is valid in git and has no `/`. A rendered workflow creates such a folder for each tag that starts it, so a pattern in `workflow.tags` must not match tags with `/`.\n\nA release on GitHub (`--repo`) may have any tag that is valid in git.",
);
/// Two files of one name.
pub const SAME_NAME_TWICE: Code = Code::error(
    "G014",
    "same-name-twice",
    "Two of the files given have the same name, or names that differ only in case, and are not the same file. A release holds one file under a name.",
);
/// An address that names cannot be appended to.
pub const BAD_BASE_URL: Code = Code::error(
    "G015",
    "bad-base-url",
    "`--base-url` is the address below which the files will be served: links are that address, a slash, and the file's name. It is an `https`, `http` or `file` address without query, fragment or password.",
);
/// No index can be written there.
pub const CANNOT_INDEX: Code = Code::error(
    "G016",
    "cannot-index",
    "The index is written as one folder of its own, which is replaced as a whole. The folder named is not one that this program wrote, or it is the folder of the files themselves.\n\nGive a new folder with `--out`.",
);
/// `publish` without a target.
pub const NO_TARGET: Code = Code::error(
    "G017",
    "no-target",
    "`publish` was not told where to. `--repo OWNER/REPO --tag TAG` is a release on GitHub. `--to DIR` makes the same release in a folder: wheels, sums, manifest and index, with no account and no network.",
);
/// A file that tells no digests.
pub const BAD_KNOWN_FILE: Code = Code::error(
    "G018",
    "bad-known-file",
    "`--known` names a file that tells digests, so that wheels need not be read again: a `rock-manifest.json` of this program, or a `SHA256SUMS` with lines as `sha256sum` writes them. The file named is neither.",
);
/// A manifest or sums tell another digest than the file has.
pub const KNOWN_DIGEST_IS_WRONG: Code = Code::error(
    "G022",
    "known-digest-is-wrong",
    "What is sent is hashed on its way, and it has another digest than the file of `--known`, or the `rock-manifest.json` beside it, tells of it. Nothing of it is in the release, nor are sums or a manifest with the wrong digest.\n\nPublish again with `--read-all`, which believes no such file, or bring the file that was meant.",
);
/// Wheels lie where nothing looks for them.
pub const WHEELS_IN_SUBFOLDERS: Code = Code::warning(
    "G021",
    "wheels-in-subfolders",
    "Folders are looked at without their subfolders, and these hold wheels or source distributions: they are left out. `actions/download-artifact` makes a folder for each artifact where it is not told `merge-multiple: true`.\n\nBring the files into one folder, or name the subfolders as well where a command takes several.",
);
/// A rule for yanking that cannot be read, or that means no file.
pub const BAD_YANK_RULE: Code = Code::error(
    "G019",
    "bad-yank-rule",
    "`--yank` and `--unyank` take a project with a PEP 440 specifier, `flash-attn<2.6`, a version with its label, `flash-attn==2.8.3+rocm62torch2.5`, or the name of a file. `--yank` takes a reason after a colon. `yank-older-than` of a matrix file takes hours, days or weeks, `36h`, `30d` or `4w`, or `never`.\n\nA rule that means no file of the index is an error too, since nobody would hear that a mistyped one withdraws nothing. A rule whose files are all withdrawn already is none. Rules that are kept outlive their files, so one of `release.yank` of a matrix file that means no file is a warning.",
);
/// A folder that holds no index.
pub const NOT_AN_INDEX: Code = Code::error(
    "G020",
    "not-an-index",
    "`--withdrawn-in` names a folder of pages that `index build` wrote: what is withdrawn stands there and nowhere else. The folder named is not there, or holds no such pages, or one that withdraws files is damaged.\n\nGive the folder with the landing page, for example `dist/simple`.",
);
/// The release is locked.
pub const IMMUTABLE_RELEASE: Code = Code::error(
    "G100",
    "immutable-release",
    "The release is published and immutable: GitHub has locked its tag and assets, so nothing can be added, replaced or taken away, and the tag cannot be used again even when the release is deleted. Nothing was sent.\n\nPublish under a new tag.",
);
/// The release is out already.
pub const RELEASE_IS_PUBLISHED: Code = Code::error(
    "G101",
    "release-is-published",
    "The release is published, and publishing would write to it, or change its title or text: people may have fetched from it already. Nothing was sent. A run that finds everything in place writes nothing and needs no permission.\n\nPublish under a new tag, or allow it with `--allow-published`.",
);
/// The release's manifest is none that this program reads.
pub const MANIFEST_UNREADABLE: Code = Code::error(
    "G118",
    "manifest-unreadable",
    "The release holds wheels that are not offered, and its `rock-manifest.json`, which tells of them, cannot be read: somebody changed it, or a later version of this program wrote it. Publishing replaces it. Nothing was sent.\n\nOffer all wheels of the release, or say `--replace`: then it is made from the names and digests of what is there, and what else it said is lost.",
);
/// Wheels of the release whose digest nobody tells.
pub const NOT_IN_SUMS: Code = Code::warning(
    "G119",
    "not-in-sums",
    "The release holds wheels that are not offered, whose digest GitHub does not tell (they were sent before June 2025) and the release's manifest does not either, or whose label can be read in two ways. They stay in the release, and are not in its `SHA256SUMS` and `rock-manifest.json`.\n\nOffer them again with the others.",
);
/// A tag of a deleted immutable release.
pub const TAG_IS_SPENT: Code = Code::error(
    "G121",
    "tag-is-spent",
    "An immutable release had this tag. GitHub never lets another release have it, also where the first was deleted. It says so when the draft is to be published, which then stays a draft.\n\nDelete the draft, and publish under a new tag.",
);
/// A release that can take nothing more.
pub const RELEASE_IS_FULL: Code = Code::error(
    "G120",
    "release-is-full",
    "A release takes 1,000 files. `SHA256SUMS` and `rock-manifest.json` must be in the first release of a tag, and the new bytes of a published file are sent beside the old ones. There is no room for that. Where GitHub itself says so, nothing more was sent.\n\nDelete what is not needed from the release, or publish under a new tag.",
);
/// Two releases have one tag.
pub const SEVERAL_RELEASES_OF_TAG: Code = Code::error(
    "G102",
    "several-releases-of-tag",
    "Several releases, drafts among them, have the same tag; this happens when two runs begin at once, and GitHub allows it for drafts. Files would end up in one while people look at the other. Nothing was sent. A draft that an earlier run left, and that holds nothing but files of this publish, is deleted without being asked for.\n\nDelete all but one; drafts without files are deleted by `--clean-duplicates`.",
);
/// The token is not one.
pub const BAD_TOKEN: Code = Code::error(
    "G103",
    "bad-token",
    "GitHub does not take the token: it is wrong, has expired, or was withdrawn. The token of a job ends with the job, after 24 hours at the latest.\n\nGive a valid one in `GITHUB_TOKEN` or `GH_TOKEN`, or in a file with `--token-file`. It is never given as an argument, where everybody on the machine could read it.",
);
/// The token may not do this.
pub const TOKEN_WITHOUT_RIGHT: Code = Code::error(
    "G104",
    "token-without-right",
    "The token is valid and may not do this. Releases need the right to write contents.\n\nIn a workflow: `permissions: contents: write` of the job that publishes. A fine-grained token needs \"Contents: read and write\" for the repository. Organisations can also forbid it by rules for tags.",
);
/// There is no such thing.
pub const NOT_ON_GITHUB: Code = Code::error(
    "G105",
    "not-on-github",
    "GitHub knows no such repository, release or asset. A private repository that the token may not see is answered in the same way.\n\nCheck `--repo OWNER/REPO` and the token.",
);
/// A call was refused.
pub const CALL_REFUSED: Code = Code::error(
    "G106",
    "call-refused",
    "GitHub refuses the call and gives a reason that trying again would not change. What was done before stays: a draft remains a draft, and the same command goes on from there.",
);
/// Nobody answers.
pub const NO_ANSWER: Code = Code::error(
    "G107",
    "no-answer",
    "GitHub could not be reached, did not answer, took no more calls for now, or asked to wait for longer than publishing may take (`--deadline`). Calls were repeated with growing waits. What was done before stays: a draft remains a draft, and the same command goes on from there.\n\nA certificate that is not trusted, and a proxy that refuses, are told in the message.",
);
/// The API leads to another host.
pub const API_LEADS_ELSEWHERE: Code = Code::error(
    "G108",
    "api-leads-elsewhere",
    "The API sent a call, or the files of a release, to another host. The token was not sent there, and nothing was.\n\nWhere it is your own server, name it with `--api-url`, and the host that it takes files at with `--uploads-host`. Addresses that are not encrypted are taken on this machine only.",
);
/// A file cannot be sent.
pub const FILE_CANNOT_BE_SENT: Code = Code::error(
    "G109",
    "file-cannot-be-sent",
    "A file could not be read, or was changed while it was sent. Its last piece is only sent when size and digest are those that were planned, so that nothing else arrives as a whole.\n\nRun the same command again.",
);
/// GitHub stored something else.
pub const ASSET_RENAMED: Code = Code::error(
    "G110",
    "asset-renamed",
    "GitHub stored a file under another name than it was sent with. It keeps letters, digits, `.`, `_`, `+` and `-`, and makes a `.` of everything else. What arrived was deleted, and the release stays a draft.",
);
/// An address or a repository that is none.
pub const BAD_GITHUB_ADDRESS: Code = Code::error(
    "G111",
    "bad-github-address",
    "The repository is named as `OWNER/REPO`, and the API by its address, for example `https://github.example.com/api/v3`. An address that is not encrypted is taken on this machine only, because the token would go over the network in plain text, and from `--api-url` only, not from `GITHUB_API_URL`. `--uploads-host` takes a host, with a port where it has one of its own.",
);
/// A file that GitHub would not take.
pub const FILE_NOT_TAKEN: Code = Code::error(
    "G112",
    "file-not-taken",
    "GitHub takes files of 1 byte up to 2,147,483,647 bytes, with names of up to 255 bytes, of which 17 are kept free: new bytes wait under a longer name to take the place of old ones. This is looked at before anything is sent.\n\nBuild for fewer gfx targets, or split the wheel.",
);
/// More than an hour's worth.
pub const TOO_MANY_CALLS: Code = Code::error(
    "G113",
    "too-many-calls",
    "Each file is a call that makes something, and GitHub takes about 500 of these in an hour; whoever goes on is locked out for longer. Nothing was sent.\n\n`--slow` allows it, and lengthens the deadline.",
);
/// A saved listing that is none.
pub const NOT_A_LISTING: Code = Code::error(
    "G114",
    "not-a-listing",
    "What was named holds no releases.\n\n`--published` takes a repository `OWNER/REPO`, whose releases GitHub is asked for; what `report listing` saved; what GitHub answers, saved with `gh api --paginate --slurp repos/OWNER/REPO/releases`: releases, pages of them, one release, its assets, or a list of their names; a `rock-manifest.json`; and a folder of a release, of several, or of wheels.",
);
/// The tag does not exist.
pub const TAG_IS_NOT_THERE: Code = Code::error(
    "G115",
    "tag-is-not-there",
    "A release is made of a tag. This one does not exist, and GitHub would make it at the newest commit of the default branch, which need not be the one that the wheels were built from.\n\nPush the tag, or name the commit with `--target`.",
);
/// The tag is at another commit.
pub const TAG_MOVED: Code = Code::error(
    "G116",
    "tag-moved",
    "The tag names another commit than the wheels were built from: it was moved while they were built, or `--target` is not right. Publishing would attach wheels to sources that they are not made of.",
);
/// A label as nobody looks for it.
pub const LABEL_NOT_NORMAL: Code = Code::error(
    "G123",
    "label-not-normal",
    "The local version label of a wheel is not in the normal form of PEP 440: lower case, with dots between its parts. Installers compare normal forms, people and scripts compare names, and a release on GitHub keeps the name as it is.\n\nWrite the label in its normal form with `rock-matrix wheel label`.",
);
/// The target is no commit.
pub const NO_SUCH_TARGET: Code = Code::error(
    "G122",
    "no-such-target",
    "`--target` names the commit that the tag is made at, or must be at: a commit, or a branch, which is the commit it is at now. The repository has none of this name. GitHub would say so when everything was sent. Nothing was sent.\n\nPush the commit or the branch, or name the commit that the wheels were built from.",
);
/// GitHub stored other bytes.
pub const ASSET_DAMAGED: Code = Code::error(
    "G117",
    "asset-damaged",
    "GitHub stored a file with another size or digest than it was sent with. What arrived was deleted, and the release stays a draft.\n\nRun the same command again: it sends the file again and leaves the others.",
);
/// GitHub lists a file otherwise than it answered.
pub const LISTING_CONTRADICTS: Code = Code::error(
    "G320",
    "listing-contradicts",
    "GitHub's listing of the release contradicts its answer to an upload: the name, state, size or digest of a file differs, even after several tries. The release was not made public.\n\nRun the same command again. It trusts the listing, deletes the file from the draft and uploads it again.",
);
/// A file that was replaced has other bytes again.
pub const REPLACED_AGAIN: Code = Code::error(
    "G321",
    "replaced-again",
    "This run replaced a file in the draft, and then the file changed again: another run is publishing different wheels to the same release. This run made nothing public.\n\nLet one run publish at a time, for example with `concurrency` in the workflow, and run the same command again.",
);
/// No published wheel is for this machine.
pub const NO_WHEEL_FITS: Code = Code::error(
    "G200",
    "no-wheel-fits",
    "Every published wheel differs from the machine in something that it needs: system and C library, GPU, ROCm, torch, Python, or the backend that was asked for. The nearest are told with all that differs, the hardest to change first.\n\nInstall what the nearest wheel is for, or build one for this machine. Which ROCm a wheel runs on beside its own is in `compat list reach`.",
);
/// No wheel of this project.
pub const NO_SUCH_PROJECT: Code = Code::error(
    "G201",
    "no-such-project",
    "None of the published wheels is of the project that `--distribution` names.",
);
/// Wheels of several projects, and none was named.
pub const SEVERAL_PROJECTS: Code = Code::error(
    "G202",
    "several-projects",
    "Wheels of more than one project are published, so which one is wanted must be said with `--distribution`.",
);
/// Nothing to choose from.
pub const NO_PUBLISHED_WHEELS: Code = Code::error(
    "G203",
    "no-published-wheels",
    "The list of releases, manifest or folder holds no wheel that people can fetch. Drafts and assets whose upload did not end do not count.\n\nFor `pick` that is an error. `index build` and `report page` warn of it: they write an index and a page that offer none. An index that lists files is not emptied for it, which is an error too: remove its folder if nothing is to be offered from then on.",
);
/// Not what doctor prints.
pub const BAD_ENVIRONMENT: Code = Code::error(
    "G206",
    "bad-environment",
    "`--environment` takes what `rock-matrix doctor --format json` printed on the machine that the wheel is for.",
);
/// A torch that is no build for ROCm.
pub const TORCH_NOT_FOR_ROCM: Code = Code::warning(
    "G207",
    "torch-not-for-rocm",
    "The torch that is installed is a build for the CPU or for CUDA. A wheel for ROCm does not load beside it.\n\nInstall torch from an index for ROCm first.",
);
/// A Python without torch.
pub const NO_TORCH: Code = Code::warning(
    "G208",
    "no-torch",
    "The Python that a wheel was chosen for has no torch, and the wheel is for one. It does not import without.\n\nThe line that `pick` prints installs that torch, too, where the official index has it for the ROCm of the wheel. Else install it from an index for ROCm first.",
);
/// A published wheel file whose name says nothing.
pub const UNREADABLE_PUBLISHED_NAME: Code = Code::warning(
    "G300",
    "unreadable-published-name",
    "A release holds a file that ends in `.whl` and whose name is no wheel's, or has a label that cannot be taken apart. No installer takes the first, and what the second is for is not known.\n\nDocuments list such files by name and count them nowhere, a plan does not skip their jobs, and none is ever picked. Names that lost their `+` are usually from an upload that did not encode it: publish the file again under its name.",
);
/// A published label with two readings.
pub const AMBIGUOUS_PUBLISHED_LABEL: Code = Code::warning(
    "G301",
    "ambiguous-published-label",
    "The digits of a published wheel's label can be read as two ROCm versions, `rocm714` as 7.14 and 7.1.4. Documents show it under the one named here, which may be the wrong one.\n\nPublish such wheels with a dotted label: `rock-matrix wheel label WHEEL --local rocm7.14torch2.14`.",
);
/// A document without the place that is written to.
pub const NO_MARKER: Code = Code::error(
    "G302",
    "no-marker",
    "A document that a person keeps is written to only between two comments, or below a heading, that stand in it once. Nothing was written.\n\nCoverage goes between `<!-- COVERAGE_BADGE_START -->` and `<!-- COVERAGE_BADGE_END -->`, and between `<!-- COVERAGE_TABLE_START -->` and `<!-- COVERAGE_TABLE_END -->`; one pair is enough. The history of releases goes below the line `## History`.",
);
/// The tag is in no listing.
pub const UNKNOWN_RELEASE: Code = Code::error(
    "G303",
    "unknown-release",
    "No release of the listing has this tag, so there is nothing to write notes about.\n\nA token that may write sees drafts. Save the listing anew, for example with `gh api --paginate --slurp repos/OWNER/REPO/releases`, or name the repository.",
);
/// Not a results file.
pub const BAD_RESULTS: Code = Code::error(
    "G304",
    "bad-results",
    "A results file says what the jobs of a plan came to: the `build.json` that each build leaves, a list of such objects, or one object a line, each with `job` and `outcome` and perhaps a `reason`.\n\nIt is a warning where a result is of a job that the plan has not: it explains nothing. Give the plan that the run was made of.",
);
/// A published file of which nothing tells the digest.
pub const NO_PUBLISHED_DIGEST: Code = Code::warning(
    "G305",
    "no-published-digest",
    "GitHub has made digests of release assets since June 2025 and tells none of older ones. The index lists such a file without hash, so an installer cannot see whether it got the bytes that were published.\n\nPublish the file again, or give the `rock-manifest.json` of its release beside the list of releases.",
);
/// A file of which an older release holds other bytes.
pub const OLDER_RELEASE_DIFFERS: Code = Code::warning(
    "G306",
    "older-release-differs",
    "Two releases hold a file of one name with other bytes, as when a wheel was built again. The newest release has its way, that is the one published last, or the one of the highest tag where no time is told. The index, `pick`, the wheel finder and `report packages` offer its file alone, and `pick`, which people run who only install, says nothing of the other.\n\nWhoever pinned the digest of the older file is refused by installers. Delete the older file from its release; then nothing is said of it. To withdraw the name is no way out, because that withdraws the file that is offered too. Give a later build of a wheel a build tag of its own, `NAME-VERSION-1-PYTHON-ABI-PLATFORM.whl`.",
);
/// A page that leads to files of this machine.
pub const ADDRESS_OF_THIS_MACHINE: Code = Code::warning(
    "G307",
    "address-of-this-machine",
    "The page was made of a folder, and its links and install lines lead to that folder on this machine. That is right for a page that is looked at here, and dead on one that is deployed.\n\nGive the address below which the files will be served with `--base-url`, or make the page of releases on GitHub, whose files have addresses.",
);
/// Labels that are ordered against ROCm.
pub const LABELS_MISORDERED: Code = Code::warning(
    "G124",
    "labels-misordered",
    "Two wheels of one project have the same public version, and local version labels that installers order otherwise than the ROCm releases they name. A segment of a label that is no number is compared as a text (PEP 440), so `rocm10.2.0` stands below `rocm7.14.0`; `devrocm` stands below every `rocm`, and `rocmsdk` above. Whoever sees both, on one flat page or in one folder with `--find-links`, gets the wheel of the earlier ROCm.\n\nThe index has a folder for each ROCm: install from that of one. Else name the version with its label.",
);
/// Nothing can be written there.
pub const REPOSITORY_TAKES_NO_RELEASE: Code = Code::error(
    "G360",
    "repository-takes-no-release",
    "The repository is archived or disabled, so no release can be created in it.\n\nUnarchive it in its settings, or publish to another repository.",
);
/// A server that rendered workflows do not run on.
pub const ENTERPRISE_SERVER: Code = Code::error(
    "G361",
    "enterprise-server",
    "Rendered workflows need actions/upload-artifact and actions/download-artifact of version 4 or later, and actions/attest. GitHub Enterprise Server supports neither; github.com and GitHub Enterprise Cloud with data residency (`*.ghe.com`) support both.\n\nOn Enterprise Server, write your own workflow that calls `rock-matrix plan`, `rock-matrix build` and `rock-matrix publish --api-url`, or publish into a folder with `publish --to`.",
);
/// Attestations that the repository cannot have.
pub const ATTESTATION_NOT_AVAILABLE: Code = Code::error(
    "G362",
    "attestation-not-available",
    "`release.attest: on` needs attestations, which private repositories have only with GitHub Enterprise Cloud. Private repositories of user accounts never have them, so attesting would fail after all builds.\n\nSet `attest: auto`, which attests unless the repository is private, or `attest: off`.",
);
/// An environment whose rules keep the publishing job from starting.
pub const ENVIRONMENT_REFUSES_TAG: Code = Code::error(
    "G363",
    "environment-refuses-tag",
    "The environment of the job that publishes does not allow deployments from the tag (\"Deployment branches and tags\"), so GitHub would refuse to start that job after all builds.\n\nAdd a rule for the tag, such as `v*`, in the settings of the environment.",
);
/// A runner assigns a path that is not a render device.
pub const STRANGE_DEVICE: Code = Code::error(
    "G364",
    "strange-device",
    "AMD's runners list the render nodes that a job may use in `/etc/podinfo/gha-render-devices`, as docker options such as `--device /dev/dri/renderD128`. The file has another word, which would become an option of the container engine, so nothing is started.\n\nAsk the operator of the machine to correct the file.",
);
/// A ruleset that keeps a tag from being created.
pub const TAG_CREATION_RESTRICTED: Code = Code::error(
    "G365",
    "tag-creation-restricted",
    "The tag does not exist, so publishing would create it. An active ruleset of the repository or its organization restricts who creates tags of this name (\"Restrict creations\"), and the token may not bypass it, so GitHub would refuse the release after all builds.\n\nPush the tag as someone who may, and publish then; or add the user or app that publishes to the bypass list of the ruleset.",
);
/// A wheel whose build used another torch than its label names.
pub const BUILT_WITH_OTHER_TORCH: Code = Code::error(
    "G130",
    "built-with-other-torch",
    "The `build.json` next to the wheel says that it was built with another torch or ROCm than its label names. Compiled code is bound to the torch that it was built with: with the one of the label its import may fail, or worse. Nobody could tell from the name.\n\nBuild it with the torch of the label, or change the label with `rock-matrix wheel label`. `--allow G130` publishes it all the same. For a wheel without compiled code it is a note: its contents are the same, whatever torch was there.",
);
