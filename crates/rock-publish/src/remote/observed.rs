//! What a run learned itself.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{AssetState, ListedAsset, ListedRelease};
use rock_diagnostic::counted;
use rock_names::Digest;

/// An asset that a listing shows otherwise than the answer to its upload or renaming did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListingContradiction {
    /// The name it was given.
    pub name: String,
    /// The asset as it was answered, in words.
    pub answered: String,
    /// The asset as it is listed, in words.
    pub listed: String,
}

/// What this run did and was told in the answers to it. A listing may lag behind: what was made a
/// second ago may be missing in it, and what was deleted may be there.
#[derive(Debug, Clone, Default)]
pub struct ObservedOverlay {
    releases: BTreeMap<u64, ListedRelease>,
    gone_releases: BTreeSet<u64>,
    /// Release and asset.
    assets: BTreeMap<u64, (u64, ListedAsset)>,
    gone_assets: BTreeSet<u64>,
    hashes: BTreeMap<u64, Digest>,
    lost: BTreeSet<u64>,
}

impl ObservedOverlay {
    /// An answer said that this release is so; its assets are known from other answers.
    pub fn has_release(&mut self, release: &ListedRelease) {
        self.releases.insert(
            release.id,
            ListedRelease {
                assets: Vec::new(),
                ..release.clone()
            },
        );
    }

    /// A release was deleted, or is not there any more.
    pub fn release_is_gone(&mut self, id: u64) {
        self.releases.remove(&id);
        self.gone_releases.insert(id);
    }

    /// Whether it is known that a release is not there any more, though a listing may still have
    /// it.
    pub fn is_gone(&self, release: u64) -> bool {
        self.gone_releases.contains(&release)
    }

    /// An answer said that this asset is so.
    pub fn has_asset(&mut self, release: u64, asset: &ListedAsset) {
        self.assets.insert(asset.id, (release, asset.clone()));
    }

    /// An asset was deleted, or is not there any more.
    pub fn asset_is_gone(&mut self, id: u64) {
        self.assets.remove(&id);
        self.gone_assets.insert(id);
    }

    /// The bytes of an asset were fetched and hashed.
    pub fn has_hash(&mut self, asset: u64, digest: Digest) {
        self.hashes.insert(asset, digest);
    }

    /// The bytes of an asset cannot be fetched, though it is listed: it counts as an upload that
    /// did not end.
    pub fn asset_is_lost(&mut self, asset: u64) {
        self.lost.insert(asset);
    }

    /// Assets that answers told of and this listing of a release lacks.
    pub fn missing_in(&self, release: &ListedRelease) -> Vec<u64> {
        let listed: BTreeSet<u64> = release.assets.iter().map(|asset| asset.id).collect();
        self.of_release(release.id)
            .map(|asset| asset.id)
            .filter(|id| !listed.contains(id))
            .collect()
    }

    /// Returns whether any answer described an asset.
    pub fn has_assets(&self) -> bool {
        !self.assets.is_empty()
    }

    /// The first asset of a listed release that answers told otherwise of: its name, state, size or
    /// digest.
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

    /// The listing with what is known better.
    pub fn over(&self, listed: &[ListedRelease]) -> Vec<ListedRelease> {
        let mut seen: Vec<ListedRelease> = listed.to_vec();
        let known = |seen: &[ListedRelease], id| seen.iter().any(|release| release.id == id);
        let unlisted: Vec<_> = self
            .releases
            .values()
            .filter(|release| !known(&seen, release.id))
            .cloned()
            .collect();
        seen.extend(unlisted);
        seen.retain(|release| !self.gone_releases.contains(&release.id));
        for release in &mut seen {
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
                    // A digest may be known later than the answer came.
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
        seen
    }

    fn of_release(&self, id: u64) -> impl Iterator<Item = &ListedAsset> {
        self.assets
            .values()
            .filter(move |(release, _)| *release == id)
            .map(|(_, asset)| asset)
    }
}

/// Name, state, size and digest of an asset.
fn in_words(asset: &ListedAsset) -> String {
    let state = match asset.state {
        AssetState::Uploaded => "uploaded",
        AssetState::Starter => "not uploaded to its end",
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
