//! Tags and what they lead to: listed, read, deleted.

use super::{ReleaseClient, found};
use crate::error::GithubError;
use crate::limits::LARGEST_FILE_BYTES;
use rock_compat::refresh::actions::ActionTag;
use rock_names::percent_encode;
use rock_publish::{TagTarget, TargetCommitish};

/// The content of a file, not what is known of it (REST API, "Get repository content").
const RAW: &str = "application/vnd.github.raw+json";

/// What a tag names: a commit, or an object of the tag's own.
#[derive(Debug, Clone, serde::Deserialize)]
pub struct TagObject {
    /// Its hash.
    pub sha: String,
    /// `commit` or `tag`.
    #[serde(rename = "type")]
    pub kind: String,
}

/// The name of a reference in an address: its slashes stand for themselves (REST API, "Git
/// references").
fn segments(name: &str) -> String {
    name.split('/')
        .map(percent_encode)
        .collect::<Vec<_>>()
        .join("/")
}

impl ReleaseClient {
    /// All tags of the repository with their commits, `None` where no such repository is seen.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn tags(&self) -> Result<Option<Vec<ActionTag>>, GithubError> {
        found(
            self.pages(&format!("/repos/{}/tags?per_page=100", self.repo), |tag| {
                tag
            }),
        )
    }

    /// The text of a file at a commit, `None` where there is none.
    ///
    /// # Errors
    /// When it cannot be read.
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

    /// The object that a tag names, `None` where there is no such tag.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn tag(&self, tag: &str) -> Result<Option<TagObject>, GithubError> {
        #[derive(serde::Deserialize)]
        struct GitReference {
            object: TagObject,
        }
        let path = format!("/repos/{}/git/ref/tags/{}", self.repo, segments(tag));
        Ok(self.find::<GitReference>(&path)?.map(|found| found.object))
    }

    /// The commit that a tag's own object names.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn commit_of_tag_object(&self, sha: &str) -> Result<String, GithubError> {
        #[derive(serde::Deserialize)]
        struct AnnotatedTag {
            object: TagObject,
        }
        let path = format!("/repos/{}/git/tags/{}", self.repo, percent_encode(sha));
        self.get::<AnnotatedTag>(&path)
            .map(|(found, _)| found.object.sha)
    }

    /// The commit that a branch, a tag or the beginning of a hash names, `None` where there is
    /// none.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn commit(&self, name: &str) -> Result<Option<String>, GithubError> {
        #[derive(serde::Deserialize)]
        struct CommitId {
            sha: String,
        }
        let name = name.strip_prefix("refs/").unwrap_or(name);
        // Its list of files, which may be long, is in pages.
        let path = format!("/repos/{}/commits/{}?per_page=1", self.repo, segments(name));
        match self.find::<CommitId>(&path) {
            Ok(found) => Ok(found.map(|commit| commit.sha)),
            // REST API version 2022-11-28, "Get a commit": no commit found for this name.
            Err(GithubError::Status { status: 422, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads where a tag is and where its target is. A branch is not looked up for a published
    /// release: it goes on after a release was made from it.
    ///
    /// # Errors
    /// When they cannot be read.
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
            // GitHub refuses branches that are named like a whole hash.
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

    /// Deletes a tag. One that is not there is as good; GitHub says of such that the reference does
    /// not exist.
    ///
    /// # Errors
    /// When it stays.
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
