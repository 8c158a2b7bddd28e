//! The `G` codes, for releases in directories and on GitHub, and for published wheels.

use rock_diagnostic::Code;
pub(crate) use rock_publish::codes::published::BAD_MANIFEST;
pub(crate) use rock_publish::codes::release::{
    IMMUTABLE_RELEASE, RELEASE_IS_FULL, TOKEN_WITHOUT_RIGHT,
};

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[
    &KNOWN_DIGEST_IS_WRONG,
    &BAD_TOKEN,
    &NOT_ON_GITHUB,
    &CALL_REFUSED,
    &NO_ANSWER,
    &API_LEADS_ELSEWHERE,
    &FILE_CANNOT_BE_SENT,
    &ASSET_RENAMED,
    &ASSET_DAMAGED,
    &MANIFEST_UNREADABLE,
    &NOT_IN_SUMS,
    &TAG_IS_SPENT,
    &LISTING_CONTRADICTS,
    &REPLACED_AGAIN,
];

/// A file with another digest than recorded.
pub const KNOWN_DIGEST_IS_WRONG: Code = Code::error(
    "G022",
    "known-digest-is-wrong",
    "Files are hashed while they are uploaded, and the digest of this one differs from the one in the file of `--known`, or in the `rock-manifest.json` next to it. The file is not in the release, and neither are checksums or a manifest with the wrong digest.\n\nPublish again with `--read-all`, which ignores recorded digests, or provide the right file.",
);
/// An invalid token.
pub const BAD_TOKEN: Code = Code::error(
    "G103",
    "bad-token",
    "GitHub does not accept the token: it is wrong, expired or revoked. The token of a job expires when the job ends, after at most 24 hours.\n\nPass a valid token in `GITHUB_TOKEN` or `GH_TOKEN`, or in a file with `--token-file`. There is no option for the token itself, because everyone on the machine could read it.",
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
    "GitHub refused the request for a reason that a retry would not change. Completed steps are kept, and a draft remains a draft.\n\nFix the cause that the message names, and run the same command again to resume.",
);
/// GitHub does not respond.
pub const NO_ANSWER: Code = Code::error(
    "G107",
    "no-answer",
    "GitHub could not be reached, did not respond, could not process a request, was rate-limiting requests, or asked to wait longer than publishing may take (`--deadline`). Requests were retried with increasing delays. Completed steps are kept: a draft remains a draft, and the same command continues from there.\n\nIf a certificate is not trusted or a proxy refused the connection, the message names this cause.",
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
    "GitHub stored an uploaded file under another name, and the asset was deleted. Or GitHub renamed an asset to another name than requested; this asset remains in the release. GitHub keeps letters, digits, `.`, `_`, `+` and `-`, and replaces everything else by `.`. A draft remains a draft.\n\nDelete an asset that remains under another name. Rename the file so that it has only these characters, and publish again.",
);
/// An asset that GitHub stored with other bytes.
pub const ASSET_DAMAGED: Code = Code::error(
    "G117",
    "asset-damaged",
    "GitHub stored a file with another size or digest than it was uploaded with. The asset was deleted, and the release stays a draft.\n\nRun the same command again: it uploads this file again and keeps the others.",
);
/// An unreadable manifest of a GitHub release.
pub const MANIFEST_UNREADABLE: Code = Code::error(
    "G118",
    "manifest-unreadable",
    "The release has wheels that are not among the given files, and the `rock-manifest.json` that describes them cannot be read: it was edited, or a later version of this program wrote it. Publishing would replace it. Nothing was uploaded.\n\nPass all wheels of the release, or use `--replace`, which generates the manifest from the names and digests of the assets and loses its other contents.",
);
/// Wheels that are missing from the checksums.
pub const NOT_IN_SUMS: Code = Code::warning(
    "G119",
    "not-in-sums",
    "The release has wheels that are not among the given files and cannot be described: neither GitHub (they were uploaded before June 2025) nor the release's manifest has their digest, or their label can be read in two ways. They stay in the release, but are not in its `SHA256SUMS` and `rock-manifest.json`.\n\nPublish them again together with the others.",
);
/// A tag that belonged to an immutable release.
pub const TAG_IS_SPENT: Code = Code::error(
    "G121",
    "tag-is-spent",
    "An immutable release had this tag. GitHub never lets another release use it, even if the first one was deleted. It reports this only when the draft is published; the draft then stays a draft.\n\nDelete the draft, and publish under a new tag.",
);
/// A listing that contradicts the response to an upload.
pub const LISTING_CONTRADICTS: Code = Code::error(
    "G320",
    "listing-contradicts",
    "GitHub's listing of the release contradicts its answer to an upload: the name, state, size or digest of a file differs, even after several tries. The release was not made public.\n\nRun the same command again. It trusts the listing, deletes the file from the draft and uploads it again.",
);
/// A file that another run replaced again.
pub const REPLACED_AGAIN: Code = Code::error(
    "G321",
    "replaced-again",
    "A file that this run had replaced in the draft changed again: another run is publishing different wheels to the same release. This run made nothing public.\n\nLet one run publish at a time, for example with `concurrency` in the workflow, and run the same command again.",
);
