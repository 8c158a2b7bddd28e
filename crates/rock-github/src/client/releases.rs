//! Releases: listed, made, changed, deleted.

use serde_json::json;

use super::ReleaseClient;
use crate::apply::fields;
use crate::error::GithubError;
use rock_publish::ListedRelease;
use rock_publish::remote::ReleaseDescription;

/// How many assets a release in a list has at least when some may be left out: a page of anything
/// is no longer (GitHub Docs, "Using pagination in the REST API"); how many assets such a list
/// holds is written nowhere.
const LISTED_WHOLE: usize = 100;

impl ReleaseClient {
    /// All releases, drafts among them where the token may see them. Of those that are not wanted,
    /// number and tag alone are kept: a repository may have thousands, with long texts and a
    /// thousand assets each.
    ///
    /// # Errors
    /// When they cannot be read.
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
        self.pages(&format!("/repos/{}/releases?per_page=100", self.repo), kept)
    }

    /// All releases with all their assets, for reading. A list of releases may leave out assets of
    /// one that has many.
    ///
    /// # Errors
    /// When they cannot be read.
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

    /// A release by its number, `None` where there is none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn release(&self, id: u64) -> Result<Option<ListedRelease>, GithubError> {
        self.find(&format!("/repos/{}/releases/{id}", self.repo))
    }

    /// Makes a draft.
    ///
    /// # Errors
    /// [`GithubError::Unsure`] when it may have been made all the same.
    pub fn create(
        &self,
        tag: &str,
        description: &ReleaseDescription,
    ) -> Result<ListedRelease, GithubError> {
        let mut fields = fields(description);
        fields["tag_name"] = json!(tag);
        fields["draft"] = json!(true);
        self.post(&format!("/repos/{}/releases", self.repo), &fields)
    }

    /// Changes fields of a release.
    ///
    /// # Errors
    /// When they are not changed.
    pub fn update(
        &self,
        release: u64,
        fields: &serde_json::Value,
    ) -> Result<ListedRelease, GithubError> {
        self.patch(&format!("/repos/{}/releases/{release}", self.repo), fields)
    }

    /// Deletes a release. One that is not there is as good.
    ///
    /// # Errors
    /// When it stays.
    pub fn delete_release(&self, release: u64) -> Result<(), GithubError> {
        self.delete(&format!("/repos/{}/releases/{release}", self.repo))
    }

    /// The release that is marked as the latest, `None` where none is.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn latest(&self) -> Result<Option<u64>, GithubError> {
        let found = self.find::<ListedRelease>(&format!("/repos/{}/releases/latest", self.repo))?;
        Ok(found.map(|release| release.id))
    }
}
