//! What is there: the releases of the tag as GitHub lists them, or as they were saved.

use std::collections::BTreeSet;
use std::path::Path;

use crate::cli::publish::connect::Opened;
use crate::cli::publish::{Args, Exit, Gathered, load};
use crate::cli::published::no_listing;
use crate::codes::release as codes;
use crate::diagnostic::{Diagnostic, Location, Severity, Sink};
use crate::github::{GithubError, of_goal};
use crate::publish::remote::{DesiredRelease, is_own_draft, standing};
use crate::publish::{
    LARGEST_LISTING_BYTES, LARGEST_MANIFEST_BYTES, ListedRelease, MANIFEST, ManifestError,
    ReleaseListing, ReleaseManifest, SUMS,
};

/// What is there.
pub(super) struct There {
    /// The releases of the goal's tags, with their assets.
    pub(super) listed: Vec<ListedRelease>,
    /// The manifest that tells of files that are not offered.
    pub(super) manifest: Option<ReleaseManifest>,
}

impl There {
    /// As it was saved in a file. What is in its files is not known.
    pub(super) fn saved(path: &Path, sink: &mut Sink) -> Result<Self, Exit> {
        Ok(Self {
            listed: saved_listing(path, sink)?.releases,
            manifest: None,
        })
    }

    /// As GitHub tells it.
    pub(super) fn asked(
        opened: &Opened,
        goal: &DesiredRelease,
        offered: &[Gathered],
        args: &Args,
        sink: &mut Sink,
    ) -> Result<Self, GithubError> {
        let listed = of_goal(&opened.client, goal)?;
        let is_published = listed
            .iter()
            .any(|release| release.tag_name == goal.tag && !release.draft);
        let target = opened
            .client
            .tag_target(&goal.tag, goal.target.as_deref(), is_published)?;
        sink.extend(target.fault());
        let found = manifest(opened, goal, &listed, offered)?;
        // Of a release that is locked none can be replaced, which is told when that is tried.
        let has_it =
            |release: &ListedRelease| release.assets.iter().any(|asset| asset.name == MANIFEST);
        let is_locked = listed
            .iter()
            .any(|release| goal.has(release) && release.is_locked() && has_it(release));
        // A draft that a run of this program made is its own to put right.
        let is_own = listed
            .iter()
            .any(|release| goal.has(release) && is_own_draft(release) && has_it(release));
        let may_replace = args.replace || is_own;
        let manifest = if is_locked {
            found.and_then(Result::ok)
        } else {
            unread(found, may_replace, sink)
        };
        Ok(Self { listed, manifest })
    }
}

/// The releases that were saved in a file.
pub(in crate::cli::publish) fn saved_listing(
    path: &Path,
    sink: &mut Sink,
) -> Result<ReleaseListing, Exit> {
    let source = load::read_limited(path, LARGEST_LISTING_BYTES, sink)?;
    ReleaseListing::from_json(&source.text).map_err(|error| {
        sink.push(no_listing(&source, &error));
        Exit::Fault
    })
}

/// The manifest that the release has, where it tells of files that are not offered.
fn manifest(
    opened: &Opened,
    goal: &DesiredRelease,
    listed: &[ListedRelease],
    offered: &[Gathered],
) -> Result<Option<Result<ReleaseManifest, ManifestError>>, GithubError> {
    let standing = standing(goal, listed);
    let own: BTreeSet<&str> = offered
        .iter()
        .map(|gathered| gathered.asset.name())
        .chain([MANIFEST, SUMS])
        .collect();
    let has_others = standing.keys().any(|name| !own.contains(name));
    let Some(found) = standing.get(MANIFEST).filter(|_| has_others) else {
        return Ok(None);
    };
    let content = opened.client.document(found, LARGEST_MANIFEST_BYTES)?;
    Ok(Some(ReleaseManifest::from_json(&String::from_utf8_lossy(
        &content,
    ))))
}

/// A manifest that could be read. Another is replaced only where that was asked for.
fn unread(
    found: Option<Result<ReleaseManifest, ManifestError>>,
    replace: bool,
    sink: &mut Sink,
) -> Option<ReleaseManifest> {
    match found? {
        Ok(manifest) => Some(manifest),
        Err(error) => {
            let (severity, help) = if replace {
                (
                    Severity::Warning,
                    "offer all wheels of the release to have all of it told",
                )
            } else {
                let help = "offer all wheels of the release, or replace it by what their names tell with `--replace`";
                (Severity::Error, help)
            };
            sink.push(
                Diagnostic::new(
                    &codes::MANIFEST_UNREADABLE,
                    format!("the `{MANIFEST}` of the release would be replaced, and it cannot be read: {error}"),
                )
                .severity(severity)
                .at(Location::Url(MANIFEST.to_owned()), "")
                .help(help),
            );
            None
        }
    }
}
