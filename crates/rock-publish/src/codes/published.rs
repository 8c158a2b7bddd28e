//! The `G` codes for reading published releases.

use rock_diagnostic::Code;

/// All codes of this module, sorted by ID.
pub const ALL: &[&Code] = &[&BAD_MANIFEST, &NOT_A_LISTING, &NO_PUBLISHED_WHEELS];

/// An unreadable release manifest.
pub const BAD_MANIFEST: Code = Code::error(
    "G010",
    "bad-manifest",
    "The `rock-manifest.json` of a release cannot be read: another program or a later version wrote it, or it was edited. The contents of the release are therefore unknown, and nothing was written.\n\nPublish the release again, or use another directory.",
);
/// An invalid list of releases.
pub const NOT_A_LISTING: Code = Code::error(
    "G114",
    "not-a-listing",
    "The input is not a list of releases.\n\n`--published` takes a repository `OWNER/REPO`, whose releases are read from GitHub; a file written by `report listing`; GitHub's answer, saved with `gh api --paginate --slurp repos/OWNER/REPO/releases`: releases, pages of releases, one release, its assets, or a list of their names; a `rock-manifest.json`; and a directory of one release, of several, or of wheels.",
);
/// No published wheels.
pub const NO_PUBLISHED_WHEELS: Code = Code::error(
    "G203",
    "no-published-wheels",
    "The list of releases, manifest or directory contains no wheel that people can download. Drafts and incomplete uploads do not count.\n\nFor `pick` this is an error. `index build` and `report page` warn, and write an empty index or page. An index that lists files is never emptied because of this; that is an error. To stop offering its files, remove its directory.",
);
