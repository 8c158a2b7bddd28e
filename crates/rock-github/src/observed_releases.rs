//! The observed releases of a tag, from GitHub or from a saved listing.

use std::collections::BTreeSet;

use rock_diagnostic::{Diagnostic, Location, Severity, Sink};
use rock_publish::remote::{DesiredRelease, is_own_draft, standing};
use rock_publish::{
    LARGEST_MANIFEST_BYTES, ListedRelease, LocalAsset, MANIFEST, ManifestError, ReleaseListing,
    ReleaseManifest, SUMS,
};

use crate::codes::release as codes;
use crate::{GithubError, ReleaseClient, observe_releases};

/// The observed state: the existing releases of the tags of a desired release.
#[derive(Debug)]
pub struct ObservedReleases {
    /// The releases and their assets.
    pub releases: Vec<ListedRelease>,
    /// The manifest, if the release has files that this run does not publish.
    pub manifest: Option<ReleaseManifest>,
}

impl ObservedReleases {
    /// Creates the state of a saved listing, which does not contain the manifest.
    pub fn from_listing(listing: ReleaseListing) -> Self {
        Self {
            releases: listing.releases,
            manifest: None,
        }
    }

    /// Reads the releases from GitHub, and the manifest if the release has files that are not
    /// `offered`. Reports a tag at another commit than the desired one, and a manifest that cannot
    /// be read: an error unless it `may_replace` the manifest or the release is a draft of an
    /// earlier run, which may be repaired.
    ///
    /// # Errors
    /// A request failed.
    pub fn read(
        client: &ReleaseClient,
        desired: &DesiredRelease,
        offered: &[LocalAsset],
        may_replace: bool,
        sink: &mut Sink,
    ) -> Result<Self, GithubError> {
        let releases = observe_releases(client, desired)?;
        let is_published = releases
            .iter()
            .any(|release| release.tag_name == desired.tag && !release.draft);
        let target = client.tag_target(&desired.tag, desired.target.as_deref(), is_published)?;
        sink.extend(target.fault());
        let manifest = read_manifest(client, desired, &releases, offered)?;
        let with_manifest = || {
            releases
                .iter()
                .filter(|release| desired.has(release) && has_manifest(release))
        };
        let is_immutable = with_manifest().any(ListedRelease::is_immutable);
        let may_replace = may_replace || with_manifest().any(is_own_draft);
        let manifest = match manifest {
            None => None,
            Some(Ok(manifest)) => Some(manifest),
            // The manifest of an immutable release cannot be replaced; trying to is reported later.
            Some(Err(_)) if is_immutable => None,
            Some(Err(error)) => {
                sink.push(unreadable_manifest(&error, may_replace));
                None
            }
        };
        Ok(Self { releases, manifest })
    }
}

fn has_manifest(release: &ListedRelease) -> bool {
    release.assets.iter().any(|asset| asset.name == MANIFEST)
}

/// Reads the manifest of the release, if that has files that are not offered.
fn read_manifest(
    client: &ReleaseClient,
    desired: &DesiredRelease,
    releases: &[ListedRelease],
    offered: &[LocalAsset],
) -> Result<Option<Result<ReleaseManifest, ManifestError>>, GithubError> {
    let standing = standing(desired, releases);
    let own: BTreeSet<&str> = offered
        .iter()
        .map(LocalAsset::name)
        .chain([MANIFEST, SUMS])
        .collect();
    let has_others = standing.keys().any(|name| !own.contains(name));
    let Some(asset) = standing.get(MANIFEST).filter(|_| has_others) else {
        return Ok(None);
    };
    let content = client.document(asset, LARGEST_MANIFEST_BYTES)?;
    Ok(Some(ReleaseManifest::from_json(&String::from_utf8_lossy(
        &content,
    ))))
}

fn unreadable_manifest(error: &ManifestError, may_replace: bool) -> Diagnostic {
    let (severity, help) = if may_replace {
        (
            Severity::Warning,
            "publish all wheels of the release, so that the manifest contains all of them",
        )
    } else {
        (
            Severity::Error,
            "publish all wheels of the release, or replace the manifest with `--replace`, which keeps only what filenames contain",
        )
    };
    Diagnostic::new(
        &codes::MANIFEST_UNREADABLE,
        format!(
            "the `{MANIFEST}` of the release would be replaced, but it cannot be read: {error}"
        ),
    )
    .severity(severity)
    .at(Location::Url(MANIFEST.to_owned()), "")
    .help(help)
}
