//! Lists, resolves and deletes tags.

use super::{ReleaseClient, found};
use crate::error::GithubError;
use crate::limits::LARGEST_FILE_BYTES;
use rock_compat::refresh::actions::ActionTag;
use rock_names::percent_encode;
use rock_publish::{TagTarget, TargetCommitish};

/// The media type for the content of a file instead of its metadata (REST API, "Get repository
/// content").
const RAW: &str = "application/vnd.github.raw+json";

/// The object that a tag refers to: a commit, or the tag object of an annotated tag.
#[derive(Debug, Clone, serde::Deserialize)]
pub struct TagObject {
    /// The hash of the object.
    pub sha: String,
    /// `commit` or `tag`.
    #[serde(rename = "type")]
    pub kind: String,
}

/// Encodes a ref name for a URL, with its slashes kept (REST API, "Git references").
fn segments(name: &str) -> String {
    name.split('/')
        .map(percent_encode)
        .collect::<Vec<_>>()
        .join("/")
}

impl ReleaseClient {
    /// Lists all tags of the repository with their commits; `None` if the repository cannot be
    /// seen.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn tags(&self) -> Result<Option<Vec<ActionTag>>, GithubError> {
        found(
            self.pages(&format!("/repos/{}/tags?per_page=100", self.repo), |tag| {
                tag
            }),
        )
    }

    /// Reads the text of a file at a commit; `None` if it does not exist.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn file(&self, path: &str, commit: &str) -> Result<Option<String>, GithubError> {
        let path = format!(
            "/repos/{}/contents/{}?ref={}",
            self.repo,
            segments(path),
            percent_encode(commit)
        );
        let uri = self.caller.api.at(&path)?;
        let content =
            found(
                self.block_on(self.caller.fetch(&uri, RAW, Vec::new, |content, piece| {
                    content.extend_from_slice(piece);
                    content.len() <= LARGEST_FILE_BYTES
                })),
            )?;
        Ok(content.map(|content| String::from_utf8_lossy(&content).into_owned()))
    }

    /// Reads the object that a tag refers to; `None` if there is no such tag.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn tag(&self, tag: &str) -> Result<Option<TagObject>, GithubError> {
        #[derive(serde::Deserialize)]
        struct GitReference {
            object: TagObject,
        }
        let path = format!("/repos/{}/git/ref/tags/{}", self.repo, segments(tag));
        Ok(self.find::<GitReference>(&path)?.map(|found| found.object))
    }

    /// Reads the object that an annotated tag refers to, usually a commit.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn commit_of_tag_object(&self, sha: &str) -> Result<String, GithubError> {
        #[derive(serde::Deserialize)]
        struct AnnotatedTag {
            object: TagObject,
        }
        let path = format!("/repos/{}/git/tags/{}", self.repo, percent_encode(sha));
        self.get::<AnnotatedTag>(&path)
            .map(|(found, _)| found.object.sha)
    }

    /// Resolves a branch, a tag or an abbreviated hash to a commit; `None` if there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn commit(&self, name: &str) -> Result<Option<String>, GithubError> {
        #[derive(serde::Deserialize)]
        struct CommitId {
            sha: String,
        }
        let name = name.strip_prefix("refs/").unwrap_or(name);
        // The commit's list of files, which may be long, is paginated.
        let path = format!("/repos/{}/commits/{}?per_page=1", self.repo, segments(name));
        match self.find::<CommitId>(&path) {
            Ok(found) => Ok(found.map(|commit| commit.sha)),
            // REST API version 2022-11-28, "Get a commit": no commit found for this name.
            Err(GithubError::Status { status: 422, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Resolves a tag and its target. A branch is not resolved for a published release, because it
    /// advances after the release.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn tag_target(
        &self,
        tag: &str,
        target: Option<&str>,
        is_published: bool,
    ) -> Result<TagTarget, GithubError> {
        let commit = match self.tag(tag)? {
            Some(object) if object.kind == "tag" => Some(self.commit_of_tag_object(&object.sha)?),
            Some(object) => Some(object.sha),
            None => None,
        };
        let target = match target {
            None => None,
            // GitHub rejects branch names that look like a full hash.
            Some(text)
                if TargetCommitish::may_be_hash(text) && text.len() == 40 && commit.is_some() =>
            {
                Some(TargetCommitish::Commit(text.to_owned()))
            }
            Some(text) if TargetCommitish::may_be_hash(text) && commit.is_some() => {
                Some(TargetCommitish::of_hash(text, self.commit(text)?))
            }
            Some(name) if is_published && commit.is_some() => Some(TargetCommitish::Name {
                name: name.to_owned(),
                commit: None,
            }),
            Some(name) => Some(TargetCommitish::Name {
                name: name.to_owned(),
                commit: self.commit(name)?,
            }),
        };
        Ok(TagTarget {
            tag: tag.to_owned(),
            commit,
            target,
            is_published,
        })
    }

    /// Deletes a tag. One that does not exist is not an error; GitHub responds that the reference
    /// does not exist.
    ///
    /// # Errors
    /// If it was not deleted.
    pub fn delete_tag(&self, tag: &str) -> Result<(), GithubError> {
        match self.delete(&format!(
            "/repos/{}/git/refs/tags/{}",
            self.repo,
            segments(tag)
        )) {
            Err(GithubError::Status {
                status: 422,
                message,
                ..
            }) if message.contains("does not exist") => Ok(()),
            done => done,
        }
    }
}
