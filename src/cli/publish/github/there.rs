//! The existing releases of the tag, from GitHub or from a saved listing.

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

/// The existing releases.
pub(super) struct There {
    /// The releases with the tags of the goal, and their assets.
    pub(super) listed: Vec<ListedRelease>,
    /// The manifest, if the release has files that are not published by this run.
    pub(super) manifest: Option<ReleaseManifest>,
}

impl There {
    /// Reads a saved listing, which does not contain the manifest.
    pub(super) fn saved(path: &Path, sink: &mut Sink) -> Result<Self, Exit> {
        Ok(Self {
            listed: saved_listing(path, sink)?.releases,
            manifest: None,
        })
    }

    /// Reads the releases from GitHub.
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
        // The manifest of a locked release cannot be replaced; trying to is reported later.
        let has_it =
            |release: &ListedRelease| release.assets.iter().any(|asset| asset.name == MANIFEST);
        let is_locked = listed
            .iter()
            .any(|release| goal.has(release) && release.is_locked() && has_it(release));
        // A draft of an earlier run may be repaired.
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

/// Reads a saved listing of releases.
pub(in crate::cli) fn saved_listing(path: &Path, sink: &mut Sink) -> Result<ReleaseListing, Exit> {
    let source = load::read_limited(path, LARGEST_LISTING_BYTES, sink)?;
    ReleaseListing::from_json(&source.text).map_err(|error| {
        sink.push(no_listing(&source, &error));
        Exit::Fault
    })
}

/// Reads the manifest of the release, if that has files that are not published by this run.
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

/// Returns a readable manifest, and reports an unreadable one: an error unless `replace` is set.
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
                    "publish all wheels of the release, so that the manifest contains all of them",
                )
            } else {
                let help = "publish all wheels of the release, or replace the manifest with `--replace`, which keeps only what filenames contain";
                (Severity::Error, help)
            };
            sink.push(
                Diagnostic::new(
                    &codes::MANIFEST_UNREADABLE,
                    format!("the `{MANIFEST}` of the release would be replaced, but it cannot be read: {error}"),
                )
                .severity(severity)
                .at(Location::Url(MANIFEST.to_owned()), "")
                .help(help),
            );
            None
        }
    }
}
