//! The `G` codes, for releases in directories and on GitHub, and for published wheels.

use rock_diagnostic::Code;
pub use rock_exec::codes::release::*;
pub use rock_github::codes::release::*;
pub use rock_index::codes::release::*;
pub use rock_plan::codes::release::*;
pub use rock_publish::codes::published::*;
pub use rock_publish::codes::release::*;
pub use rock_report::codes::release::*;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[
    &UNREADABLE_NAME,
    &NOT_A_RELEASE,
    &RELEASE_IN_RELEASE,
    &DAMAGED_RELEASE,
    &NOTHING_TO_PUBLISH,
    &CANNOT_REPLACE_FOLDER,
    &AMBIGUOUS_READING,
    &BAD_BASE_URL,
    &CANNOT_INDEX,
    &NO_TARGET,
    &BAD_KNOWN_FILE,
    &KNOWN_DIGEST_IS_WRONG,
    &WHEELS_IN_SUBFOLDERS,
    &NOT_AN_INDEX,
    &MANIFEST_UNREADABLE,
    &NOT_IN_SUMS,
    &BAD_GITHUB_ADDRESS,
    &BAD_ENVIRONMENT,
    &INDEX_DIFFERS,
];

/// A filename that is neither of a wheel nor of an sdist.
pub const UNREADABLE_NAME: Code = Code::error(
    "G001",
    "unreadable-name",
    "The filename is neither that of a wheel nor of an sdist, so no installer accepts it.\n\nA wheel is named `{name}-{version}(-{build})-{python}-{abi}-{platform}.whl`, the name with `_` instead of `-`, for example `flash_attn-2.8.3+rocm62torch2.5-cp311-cp311-linux_x86_64.whl`. A file that was saved by hand may have `%2B` or a `.` instead of the `+`: restore its name.",
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
/// An ambiguous label.
pub const AMBIGUOUS_READING: Code = Code::error(
    "G011",
    "ambiguous-reading",
    "The digits of the label can be read as two ROCm versions: `rocm714` is 7.14 and 7.1.4. It is not known which directory of the index the file belongs to.\n\nUse a label with dots: `rock-matrix wheel label WHEEL --local rocm7.14torch2.14`.",
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
    "`publish` needs a target. `--repo OWNER/REPO --tag TAG` is a release on GitHub. `--out DIR` creates the same release in a directory: wheels, checksums, manifest and index, without an account and without network.",
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
/// A directory that is not an index.
pub const NOT_AN_INDEX: Code = Code::error(
    "G020",
    "not-an-index",
    "`--yanked-in` names a directory of pages that `index build` wrote, which is the only place where yanked files are recorded. The directory does not exist or contains no such pages, or a page with yanked files is damaged.\n\nPass the directory with the landing page, for example `dist/simple`.",
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
/// An invalid repository name or API URL.
pub const BAD_GITHUB_ADDRESS: Code = Code::error(
    "G111",
    "bad-github-address",
    "A repository is written `OWNER/REPO`, and the API is given as a URL, for example `https://github.example.com/api/v3`. A URL without encryption is accepted for this machine only, because the token would cross the network in plain text, and only from `--api-url`, not from `GITHUB_API_URL`. `--uploads-host` takes a host, with a port if it does not use the default one.",
);
/// An invalid environment.
pub const BAD_ENVIRONMENT: Code = Code::error(
    "G206",
    "bad-environment",
    "`--environment` takes the output of `rock-matrix doctor --format json` on the machine that the wheel is for.",
);
/// An index that a yank would change in other ways.
pub const INDEX_DIFFERS: Code = Code::error(
    "G366",
    "index-differs",
    "`index yank` and `index unyank` change only which files are yanked. The pages that they would write differ in more: the index was built with other options, for example `--base-url` or `--no-metadata`, or wheels were added or removed since. Nothing is written.\n\nPass the options that the index was built with. If the wheels changed, run `rock-matrix index build` first.",
);
