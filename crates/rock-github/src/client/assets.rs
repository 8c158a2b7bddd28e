//! Lists, downloads, renames and deletes the assets of a release.

use http::Uri;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::{ReleaseClient, found};
use crate::error::GithubError;
use rock_names::Digest;
use rock_publish::ListedAsset;

/// The media type for the bytes of an asset instead of its metadata (REST API, "Get a release
/// asset").
const BYTES: &str = "application/octet-stream";

impl ReleaseClient {
    /// Lists the assets of a release.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn assets(&self, release: u64) -> Result<Vec<ListedAsset>, GithubError> {
        let path = format!(
            "/repos/{}/releases/{release}/assets?per_page=100",
            self.repo
        );
        // octocrab's model demands fields that `RecordingTransport` does not have.
        self.pages(&path, |asset: ListedAsset| asset)
    }

    /// Renames an asset.
    ///
    /// # Errors
    /// If it was not renamed.
    pub fn rename(&self, asset: u64, name: &str) -> Result<ListedAsset, GithubError> {
        let path = format!("/repos/{}/releases/assets/{asset}", self.repo);
        // octocrab's model demands fields that `RecordingTransport` does not have.
        self.call(self.octocrab.patch(&path, Some(&json!({ "name": name }))))
    }

    /// Deletes an asset. One that does not exist is not an error.
    ///
    /// # Errors
    /// If it was not deleted.
    pub fn delete_asset(&self, asset: u64) -> Result<(), GithubError> {
        found(self.call(self.handler().release_assets().delete(asset))).map(|_| ())
    }

    /// Downloads a document that is an asset. Without a token, uses the browser URL, which does not
    /// count towards the rate limits of the API.
    ///
    /// # Errors
    /// If it cannot be downloaded, is larger than `most_bytes`, or does not have the listed size.
    pub fn document(&self, asset: &ListedAsset, most_bytes: u64) -> Result<Vec<u8>, GithubError> {
        let clicked = asset
            .browser_download_url
            .as_deref()
            .filter(|_| self.executor.token.is_none());
        let uri = match clicked.and_then(|url| url.parse().ok()) {
            Some(uri) => uri,
            None => self.address_of(asset.id)?,
        };
        let content =
            self.block_on(
                self.executor
                    .fetch(&uri, BYTES, Vec::new, |content, piece| {
                        content.extend_from_slice(piece);
                        content.len() as u64 <= most_bytes
                    }),
            )?;
        if content.len() as u64 != asset.size {
            let reason = format!(
                "`{}` has {} bytes, but {} were received",
                asset.name,
                asset.size,
                content.len()
            );
            return Err(GithubError::Malformed {
                call: format!("GET {}", uri.path()),
                reason,
            });
        }
        Ok(content)
    }

    /// Downloads an asset and returns its digest and the number of bytes received.
    ///
    /// # Errors
    /// If it cannot be downloaded.
    pub fn hash(&self, asset: u64) -> Result<(Digest, u64), GithubError> {
        let uri = self.address_of(asset)?;
        let begin = || (Sha256::new(), 0_u64);
        let (hash, size_bytes) =
            self.block_on(
                self.executor
                    .fetch(&uri, BYTES, begin, |(hash, size_bytes), piece| {
                        hash.update(piece);
                        *size_bytes += piece.len() as u64;
                        true
                    }),
            )?;
        Ok((Digest::new(hash.finalize().into()), size_bytes))
    }

    fn address_of(&self, asset: u64) -> Result<Uri, GithubError> {
        Ok(self
            .executor
            .api
            .at(&format!("/repos/{}/releases/assets/{asset}", self.repo))?)
    }
}
