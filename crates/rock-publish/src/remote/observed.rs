//! The state that a run knows from the responses to its own requests.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{AssetState, ListedAsset, ListedRelease};
use rock_diagnostic::counted;
use rock_names::Digest;

/// An asset whose listing differs from the response to its upload or rename.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListingContradiction {
    /// The name that it was given.
    pub name: String,
    /// The asset according to the response, in words.
    pub answered: String,
    /// The asset according to the listing, in words.
    pub listed: String,
}

/// The results of this run's own requests. A listing may lag behind: it can lack what was created a
/// second ago, and contain what was deleted.
#[derive(Debug, Clone, Default)]
pub struct ObservedOverlay {
    releases: BTreeMap<u64, ListedRelease>,
    gone_releases: BTreeSet<u64>,
    /// Assets by ID, each with the ID of its release.
    assets: BTreeMap<u64, (u64, ListedAsset)>,
    gone_assets: BTreeSet<u64>,
    hashes: BTreeMap<u64, Digest>,
    lost: BTreeSet<u64>,
}

impl ObservedOverlay {
    /// Records a release from a response; its assets are known from other responses.
    pub fn record_release(&mut self, release: &ListedRelease) {
        self.releases.insert(
            release.id,
            ListedRelease {
                assets: Vec::new(),
                ..release.clone()
            },
        );
    }

    /// Records that a release was deleted or no longer exists.
    pub fn record_release_deleted(&mut self, id: u64) {
        self.releases.remove(&id);
        self.gone_releases.insert(id);
    }

    /// Whether a release is known to be gone, although a listing may still contain it.
    pub fn is_gone(&self, release: u64) -> bool {
        self.gone_releases.contains(&release)
    }

    /// Records an asset from a response.
    pub fn record_asset(&mut self, release: u64, asset: &ListedAsset) {
        self.assets.insert(asset.id, (release, asset.clone()));
    }

    /// Records that an asset was deleted or no longer exists.
    pub fn record_asset_deleted(&mut self, id: u64) {
        self.assets.remove(&id);
        self.gone_assets.insert(id);
    }

    /// Records the digest of an asset that was downloaded and hashed.
    pub fn record_digest(&mut self, asset: u64, digest: Digest) {
        self.hashes.insert(asset, digest);
    }

    /// Records that an asset cannot be downloaded, although it is listed. It counts as an
    /// incomplete upload.
    pub fn record_asset_unreadable(&mut self, asset: u64) {
        self.lost.insert(asset);
    }

    /// Returns the IDs of assets that responses contained and this listing of a release lacks.
    pub fn missing_in(&self, release: &ListedRelease) -> Vec<u64> {
        let listed: BTreeSet<u64> = release.assets.iter().map(|asset| asset.id).collect();
        self.of_release(release.id)
            .map(|asset| asset.id)
            .filter(|id| !listed.contains(id))
            .collect()
    }

    /// Whether any response described an asset.
    pub fn has_assets(&self) -> bool {
        !self.assets.is_empty()
    }

    /// Returns the first asset of a listed release whose name, state, size or digest differs from
    /// the response.
    pub fn contradiction(&self, release: &ListedRelease) -> Option<ListingContradiction> {
        self.of_release(release.id).find_map(|answered| {
            let listed = release
                .assets
                .iter()
                .find(|listed| listed.id == answered.id)?;
            let digests = listed.digest.zip(answered.digest);
            let agrees = listed.name == answered.name
                && listed.state == answered.state
                && listed.size == answered.size
                && digests.is_none_or(|(listed, answered)| listed == answered);
            let name = answered.name.clone();
            (!agrees).then(|| ListingContradiction {
                name,
                answered: in_words(answered),
                listed: in_words(listed),
            })
        })
    }

    /// Returns the listing, corrected by the responses.
    pub fn over(&self, listed: &[ListedRelease]) -> Vec<ListedRelease> {
        let mut observed: Vec<ListedRelease> = listed.to_vec();
        let known =
            |observed: &[ListedRelease], id| observed.iter().any(|release| release.id == id);
        let unlisted: Vec<_> = self
            .releases
            .values()
            .filter(|release| !known(&observed, release.id))
            .cloned()
            .collect();
        observed.extend(unlisted);
        observed.retain(|release| !self.gone_releases.contains(&release.id));
        for release in &mut observed {
            if let Some(better) = self.releases.get(&release.id) {
                *release = ListedRelease {
                    assets: std::mem::take(&mut release.assets),
                    ..better.clone()
                };
            }
            for asset in self.of_release(release.id) {
                match release
                    .assets
                    .iter_mut()
                    .find(|listed| listed.id == asset.id)
                {
                    // The digest may be computed after the response.
                    Some(listed) => {
                        *listed = ListedAsset {
                            digest: asset.digest.or(listed.digest),
                            ..asset.clone()
                        }
                    }
                    None => release.assets.push(asset.clone()),
                }
            }
            release
                .assets
                .retain(|asset| !self.gone_assets.contains(&asset.id));
            for asset in &mut release.assets {
                asset.digest = asset.digest.or_else(|| self.hashes.get(&asset.id).copied());
                if self.lost.contains(&asset.id) {
                    asset.state = AssetState::Starter;
                }
            }
        }
        observed
    }

    fn of_release(&self, id: u64) -> impl Iterator<Item = &ListedAsset> {
        self.assets
            .values()
            .filter(move |(release, _)| *release == id)
            .map(|(_, asset)| asset)
    }
}

/// Describes an asset by name, state, size and digest.
fn in_words(asset: &ListedAsset) -> String {
    let state = match asset.state {
        AssetState::Uploaded => "uploaded",
        AssetState::Starter => "incomplete",
    };
    let digest = asset.digest.map_or_else(
        || "without a digest".to_owned(),
        |digest| digest.to_string(),
    );
    format!(
        "`{}`, {state}, {}, {digest}",
        asset.name,
        counted(asset.size, "byte")
    )
}
