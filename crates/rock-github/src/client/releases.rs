//! Lists, creates, updates and deletes releases.

use serde_json::json;

use super::{ReleaseClient, found};
use crate::apply::fields;
use crate::error::GithubError;
use rock_publish::ListedRelease;
use rock_publish::remote::ReleaseDescription;

/// The number of assets from which a release in a listing may lack some. It is the maximum page
/// size (GitHub Docs, "Using pagination in the REST API"); the maximum for assets in a listing of
/// releases is not documented.
const LISTED_WHOLE: usize = 100;

impl ReleaseClient {
    /// Lists all releases, including drafts if the token may see them. Of those for which
    /// `is_wanted` is false, only ID, tag and draft state are kept: a repository may have
    /// thousands, with long texts and a thousand assets each.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn releases(
        &self,
        is_wanted: impl Fn(&ListedRelease) -> bool,
    ) -> Result<Vec<ListedRelease>, GithubError> {
        let kept = |release: ListedRelease| {
            if is_wanted(&release) {
                return release;
            }
            let ListedRelease {
                id,
                tag_name,
                draft,
                ..
            } = release;
            ListedRelease {
                id,
                tag_name,
                draft,
                ..ListedRelease::default()
            }
        };
        // octocrab's model has no `updated_at`, and rejects a release for a URL that is only shown.
        self.pages(&format!("/repos/{}/releases?per_page=100", self.repo), kept)
    }

    /// Lists all releases with all their assets. A listing of releases may lack assets of one that
    /// has many, so those are listed separately.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn listing(&self) -> Result<Vec<ListedRelease>, GithubError> {
        let mut releases = self.releases(|_| true)?;
        for release in releases
            .iter_mut()
            .filter(|release| release.assets.len() >= LISTED_WHOLE)
        {
            release.assets = self.assets(release.id)?;
        }
        Ok(releases)
    }

    /// Reads a release by its ID; `None` if it does not exist.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn release(&self, id: u64) -> Result<Option<ListedRelease>, GithubError> {
        let path = format!("/repos/{}/releases/{id}", self.repo);
        // octocrab's model demands fields that `RecordingTransport` does not have.
        found(self.call(self.octocrab.get(&path, None::<&()>)))
    }

    /// Creates a draft.
    ///
    /// # Errors
    /// [`GithubError::UnknownOutcome`] if it may have been created anyway.
    pub fn create(
        &self,
        tag: &str,
        description: &ReleaseDescription,
    ) -> Result<ListedRelease, GithubError> {
        let mut fields = fields(description);
        fields["tag_name"] = json!(tag);
        fields["draft"] = json!(true);
        let path = format!("/repos/{}/releases", self.repo);
        // octocrab's model would reject a draft for a URL that is only shown.
        let created = self.call(self.octocrab.post(&path, Some(&fields)));
        created.map_err(|error| match error {
            GithubError::Malformed { call, reason } => GithubError::UnknownOutcome {
                call,
                reason,
                status: None,
            },
            error => error,
        })
    }

    /// Updates fields of a release.
    ///
    /// # Errors
    /// If they were not updated.
    pub fn update(
        &self,
        release: u64,
        fields: &serde_json::Value,
    ) -> Result<ListedRelease, GithubError> {
        let path = format!("/repos/{}/releases/{release}", self.repo);
        // octocrab's builder sends a field `release_id`, which the API does not have.
        self.call(self.octocrab.patch(&path, Some(fields)))
    }

    /// Deletes a release. One that does not exist is not an error.
    ///
    /// # Errors
    /// If it was not deleted.
    pub fn delete_release(&self, release: u64) -> Result<(), GithubError> {
        found(self.call(self.handler().releases().delete(release))).map(|_| ())
    }

    /// Returns the ID of the release that is marked as the latest; `None` if there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn latest(&self) -> Result<Option<u64>, GithubError> {
        #[derive(serde::Deserialize)]
        struct ReleaseId {
            id: u64,
        }
        let path = format!("/repos/{}/releases/latest", self.repo);
        // octocrab's model rejects a release for a URL that is only shown.
        let latest: Option<ReleaseId> = found(self.call(self.octocrab.get(&path, None::<&()>)))?;
        Ok(latest.map(|release| release.id))
    }
}
