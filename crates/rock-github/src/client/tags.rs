//! Lists, resolves and deletes tags.

use octocrab::models::repos::{CommitObject, Object, Tag};
use octocrab::params::repos::Reference;

use super::{ReleaseClient, found};
use crate::error::GithubError;
use crate::limits::LARGEST_FILE_BYTES;
use rock_compat::refresh::actions::{ActionTag, TagCommit};
use rock_names::percent_encode;
use rock_publish::{TagTarget, TargetCommitish};

/// The media type for the content of a file instead of its metadata (REST API, "Get repository
/// content").
const RAW: &str = "application/vnd.github.raw+json";

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
        let path = format!("/repos/{}/tags?per_page=100", self.repo);
        found(self.pages(&path, action_tag))
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
        let uri = self.executor.api.at(&path)?;
        let content =
            found(
                self.block_on(self.executor.fetch(&uri, RAW, Vec::new, |content, piece| {
                    content.extend_from_slice(piece);
                    content.len() <= LARGEST_FILE_BYTES
                })),
            )?;
        Ok(content.map(|content| String::from_utf8_lossy(&content).into_owned()))
    }

    /// Resolves a tag to its commit; `None` if there is no such tag.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn commit_of_tag(&self, tag: &str) -> Result<Option<String>, GithubError> {
        let (handler, reference) = (self.handler(), Reference::Tag(segments(tag)));
        let malformed = |reason: &str| GithubError::Malformed {
            call: ["GET /repos/", &self.repo.to_string(), "/git/ref/tags/", tag].concat(),
            reason: reason.to_owned(),
        };
        let found = found(self.call(handler.get_ref(&reference)))?;
        match found.map(|found| found.object) {
            None => Ok(None),
            // An annotated tag, which refers to an object itself.
            Some(Object::Tag { sha, .. }) => {
                let annotated = self.call(handler.get_tag(percent_encode(sha)))?;
                let object = annotated
                    .object
                    .ok_or_else(|| malformed("the tag has no object"))?;
                Ok(Some(object.sha))
            }
            Some(
                Object::Commit { sha, .. } | Object::Tree { sha, .. } | Object::Blob { sha, .. },
            ) => Ok(Some(sha)),
            Some(_) => Err(malformed("the tag has an object of an unknown kind")),
        }
    }

    /// Resolves a branch, a tag or an abbreviated hash to a commit; `None` if there is none.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn commit(&self, name: &str) -> Result<Option<String>, GithubError> {
        let name = name.strip_prefix("refs/").unwrap_or(name);
        let path = format!("/repos/{}/commits/{}?per_page=1", self.repo, segments(name));
        // octocrab's request cannot shorten the commit's list of files, which is paginated.
        let commit = self.call(self.octocrab.get(&path, None::<&()>));
        match found(commit) {
            Ok(found) => Ok(found.map(|commit: CommitObject| commit.sha)),
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
        let commit = self.commit_of_tag(tag)?;
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
        let reference = Reference::Tag(segments(tag));
        match found(self.call(self.handler().delete_ref(&reference))) {
            Err(GithubError::Status {
                status: 422,
                message,
                ..
            }) if message.contains("does not exist") => Ok(()),
            deleted => deleted.map(|_| ()),
        }
    }
}

fn action_tag(tag: Tag) -> ActionTag {
    ActionTag {
        name: tag.name,
        commit: TagCommit {
            sha: tag.commit.sha,
        },
    }
}
