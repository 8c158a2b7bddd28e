//! The state of a model as JSON, with the kept bytes separate, for a later run.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::github::FakeGithub;
use super::state::{StoredAsset, StoredRelease, StoredRepository};

#[derive(Serialize, Deserialize)]
struct SavedState {
    version: u32,
    last_id: u64,
    repositories: Vec<SavedRepository>,
}

#[derive(Serialize, Deserialize)]
struct SavedRepository {
    repository: StoredRepository,
    releases: Vec<SavedRelease>,
}

#[derive(Serialize, Deserialize)]
struct SavedRelease {
    release: StoredRelease,
    assets: Vec<StoredAsset>,
}

impl FakeGithub {
    /// Returns the repositories as JSON, without tokens, faults and the ledger. The bytes of assets
    /// are separate: [`FakeGithub::objects`].
    pub fn to_json(&self) -> String {
        let release = |release: &Arc<StoredRelease>| SavedRelease {
            release: StoredRelease::clone(release),
            assets: release
                .assets
                .iter()
                .map(|asset| StoredAsset::clone(asset))
                .collect(),
        };
        let repositories = self
            .repositories
            .values()
            .map(|repository| SavedRepository {
                repository: repository.clone(),
                releases: repository.releases.values().map(release).collect(),
            });
        let saved = SavedState {
            version: 1,
            last_id: self.last_id,
            repositories: repositories.collect(),
        };
        serde_json::to_string_pretty(&saved).unwrap_or_default()
    }

    /// Returns the kept bytes with their SHA-256 digests.
    pub fn objects(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let releases = self
            .repositories
            .values()
            .flat_map(|repository| repository.releases.values());
        let assets = releases.flat_map(|release| release.assets.iter());
        assets.filter_map(|asset| Some((asset.sha256.as_deref()?, asset.content.as_deref()?)))
    }

    /// Restores a saved state; `object` returns bytes by their SHA-256 digest.
    ///
    /// # Errors
    /// If the text is not the output of [`FakeGithub::to_json`].
    pub fn restore(
        &mut self,
        text: &str,
        object: impl Fn(&str) -> Option<Vec<u8>>,
    ) -> Result<(), String> {
        let saved: SavedState = serde_json::from_str(text).map_err(|error| error.to_string())?;
        self.repositories.clear();
        self.last_id = saved.last_id;
        for SavedRepository {
            mut repository,
            releases,
        } in saved.repositories
        {
            for SavedRelease {
                mut release,
                assets,
            } in releases
            {
                let with_bytes = |mut asset: StoredAsset| {
                    asset.content = asset.sha256.as_deref().and_then(&object).map(Arc::from);
                    Arc::new(asset)
                };
                release.assets = assets.into_iter().map(with_bytes).collect();
                repository.releases.insert(release.id, Arc::new(release));
            }
            self.repositories.insert(repository.id, repository);
        }
        Ok(())
    }
}
