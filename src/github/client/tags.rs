//! Tags: what they name, and deleted.

use super::Client;
use crate::github::error::GithubError;
use crate::names::percent_encode;

/// What a tag names: a commit, or an object of the tag's own.
#[derive(Debug, Clone, serde::Deserialize)]
pub struct TagObject {
    /// Its hash.
    pub sha: String,
    /// `commit` or `tag`.
    #[serde(rename = "type")]
    pub kind: String,
}

/// The name of a reference in an address: its slashes stand for themselves (REST API, "Git references").
fn segments(name: &str) -> String {
    name.split('/').map(percent_encode).collect::<Vec<_>>().join("/")
}

impl Client {
    /// The object that a tag names, `None` where there is no such tag.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn tag(&self, tag: &str) -> Result<Option<TagObject>, GithubError> {
        #[derive(serde::Deserialize)]
        struct Reference {
            object: TagObject,
        }
        let path = format!("/repos/{}/git/ref/tags/{}", self.repo, segments(tag));
        Ok(self.find::<Reference>(&path)?.map(|found| found.object))
    }

    /// The commit that a tag's own object names.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn commit_of_tag_object(&self, sha: &str) -> Result<String, GithubError> {
        #[derive(serde::Deserialize)]
        struct Annotated {
            object: TagObject,
        }
        let path = format!("/repos/{}/git/tags/{}", self.repo, percent_encode(sha));
        self.get::<Annotated>(&path).map(|(found, _)| found.object.sha)
    }

    /// The commit that a branch, a tag or the beginning of a hash names, `None` where there is none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn commit(&self, name: &str) -> Result<Option<String>, GithubError> {
        #[derive(serde::Deserialize)]
        struct Commit {
            sha: String,
        }
        let name = name.strip_prefix("refs/").unwrap_or(name);
        // Its list of files, which may be long, is in pages.
        let path = format!("/repos/{}/commits/{}?per_page=1", self.repo, segments(name));
        match self.find::<Commit>(&path) {
            Ok(found) => Ok(found.map(|commit| commit.sha)),
            // REST API version 2022-11-28, "Get a commit": no commit found for this name.
            Err(GithubError::Status { status: 422, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Deletes a tag. One that is not there is as good; GitHub says of such that the reference does not exist.
    ///
    /// # Errors
    /// When it stays.
    pub fn delete_tag(&self, tag: &str) -> Result<(), GithubError> {
        match self.delete(&format!("/repos/{}/git/refs/tags/{}", self.repo, segments(tag))) {
            Err(GithubError::Status { status: 422, message, .. }) if message.contains("does not exist") => Ok(()),
            done => done,
        }
    }
}
