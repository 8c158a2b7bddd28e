//! The state as one JSON text and the kept bytes, to go on with another day.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::github::Github;
use super::state::{Asset, Release, Repository};

#[derive(Serialize, Deserialize)]
struct Saved {
    version: u32,
    last_id: u64,
    repositories: Vec<SavedRepository>,
}

#[derive(Serialize, Deserialize)]
struct SavedRepository {
    repository: Repository,
    releases: Vec<SavedRelease>,
}

#[derive(Serialize, Deserialize)]
struct SavedRelease {
    release: Release,
    assets: Vec<Asset>,
}

impl Github {
    /// What it holds, without tokens, faults and the ledger; bytes of assets are kept apart, by
    /// [`Github::objects`].
    pub fn to_json(&self) -> String {
        let release = |release: &Arc<Release>| SavedRelease {
            release: Release::clone(release),
            assets: release
                .assets
                .iter()
                .map(|asset| Asset::clone(asset))
                .collect(),
        };
        let repositories = self
            .repositories
            .values()
            .map(|repository| SavedRepository {
                repository: repository.clone(),
                releases: repository.releases.values().map(release).collect(),
            });
        let saved = Saved {
            version: 1,
            last_id: self.last_id,
            repositories: repositories.collect(),
        };
        serde_json::to_string_pretty(&saved).unwrap_or_default()
    }

    /// The bytes that are kept, by their SHA-256.
    pub fn objects(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let releases = self
            .repositories
            .values()
            .flat_map(|repository| repository.releases.values());
        let assets = releases.flat_map(|release| release.assets.iter());
        assets.filter_map(|asset| Some((asset.sha256.as_deref()?, asset.content.as_deref()?)))
    }

    /// Takes over what was saved; `object` gives bytes by their SHA-256.
    ///
    /// # Errors
    /// When the text is not what [`Github::to_json`] writes.
    pub fn restore(
        &mut self,
        text: &str,
        object: impl Fn(&str) -> Option<Vec<u8>>,
    ) -> Result<(), String> {
        let saved: Saved = serde_json::from_str(text).map_err(|error| error.to_string())?;
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
                let with_bytes = |mut asset: Asset| {
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
