//! The calls that publishing needs.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::header::{CONTENT_LENGTH, CONTENT_TYPE, LINK};
use http::{HeaderMap, Method, Uri};
use octocrab::Octocrab;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::api::Api;
use super::apply::fields;
use super::call::{Caller, OnWait, Stop};
use super::clock::Clock;
use super::error::GithubError;
use super::octo::{octocrab, read, reply};
use super::pace::Pace;
use super::token::Token;
use super::upload::{Source, body};
use super::wire::Wire;
use crate::names::{Digest, RepoName, percent_encode};
use crate::publish::remote::Description;
use crate::publish::{ListedAsset, ListedRelease};

/// Pages of one listing that are read: 5,000 releases.
const MOST_PAGES: usize = 50;
/// How many assets a release in a list has at least when some may be left out: a page of anything is no longer (GitHub
/// Docs, "Using pagination in the REST API"); how many assets such a list holds is written nowhere.
const LISTED_WHOLE: usize = 100;

/// The releases of one repository.
pub struct Client {
    runtime: tokio::runtime::Runtime,
    caller: Arc<Caller>,
    octocrab: Octocrab,
    repo: RepoName,
}

/// How calls are made.
pub struct Calls {
    /// Where.
    pub api: Api,
    /// As whom; without a token only what everybody sees is read.
    pub token: Option<Token>,
    /// Over what.
    pub wire: Arc<dyn Wire>,
    /// By which clock.
    pub clock: Arc<dyn Clock>,
    /// How long all of them may take.
    pub time: Duration,
    /// Whether to stop.
    pub stop: Box<Stop>,
    /// Told before each wait: the call, why, how long.
    pub on_wait: Box<OnWait>,
}

/// A file to be sent.
pub struct Upload {
    /// Where to: the release's `upload_url`.
    pub to: String,
    /// The name that it gets.
    pub name: String,
    /// Its bytes.
    pub source: Source,
    /// How many they are.
    pub size_bytes: u64,
    /// What they hash to.
    pub digest: Digest,
    /// Told of the bytes of each piece.
    pub on_sent: Box<dyn Fn(u64) + Send>,
}

impl Client {
    /// The releases of a repository.
    ///
    /// # Errors
    /// When the system has no room for what waits on the network.
    pub fn new(repo: RepoName, calls: Calls) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let deadline = calls.clock.now() + calls.time;
        let caller = Arc::new(Caller {
            api: calls.api,
            token: calls.token,
            wire: calls.wire,
            clock: calls.clock,
            pace: Pace::default(),
            deadline,
            stop: calls.stop,
            on_wait: calls.on_wait,
        });
        let octocrab = {
            let _entered = runtime.enter();
            octocrab(&caller)
        };
        Ok(Self { runtime, caller, octocrab, repo })
    }

    /// All releases, drafts among them where the token may see them.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn releases(&self) -> Result<Vec<ListedRelease>, GithubError> {
        self.pages(&format!("/repos/{}/releases?per_page=100", self.repo))
    }

    /// All releases with all their assets, for reading. A list of releases may leave out assets of one that has many.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn listing(&self) -> Result<Vec<ListedRelease>, GithubError> {
        let mut releases = self.releases()?;
        for release in releases.iter_mut().filter(|release| release.assets.len() >= LISTED_WHOLE) {
            release.assets = self.assets(release.id)?;
        }
        Ok(releases)
    }

    /// The assets of a release.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn assets(&self, release: u64) -> Result<Vec<ListedAsset>, GithubError> {
        self.pages(&format!("/repos/{}/releases/{release}/assets?per_page=100", self.repo))
    }

    /// The object that a tag names, `None` where there is no such tag.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn tag(&self, tag: &str) -> Result<Option<TagObject>, GithubError> {
        #[derive(serde::Deserialize)]
        struct Reference {
            object: TagObject,
        }
        let path = format!("/repos/{}/git/ref/tags/{}", self.repo, percent_encode(tag));
        match self.get::<Reference>(&path) {
            Ok((found, _)) => Ok(Some(found.object)),
            Err(GithubError::Status { status: 404, .. }) => Ok(None),
            Err(error) => Err(error),
        }
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

    /// Makes a draft.
    ///
    /// # Errors
    /// [`GithubError::Unsure`] when it may have been made all the same.
    pub fn create(&self, tag: &str, description: &Description) -> Result<ListedRelease, GithubError> {
        let mut fields = fields(description);
        fields["tag_name"] = json!(tag);
        fields["draft"] = json!(true);
        let path = format!("/repos/{}/releases", self.repo);
        self.block_on(async {
            read(&format!("POST {path}"), self.octocrab._post(path.as_str(), Some(&fields)).await)
                .await
                .map(|(made, _)| made)
        })
    }

    /// Changes fields of a release.
    ///
    /// # Errors
    /// When they are not changed.
    pub fn update(&self, release: u64, fields: &serde_json::Value) -> Result<ListedRelease, GithubError> {
        self.patch(&format!("/repos/{}/releases/{release}", self.repo), fields)
    }

    /// Gives an asset another name.
    ///
    /// # Errors
    /// When it keeps its own.
    pub fn rename(&self, asset: u64, name: &str) -> Result<ListedAsset, GithubError> {
        self.patch(&format!("/repos/{}/releases/assets/{asset}", self.repo), &json!({ "name": name }))
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
        match self.get::<ListedRelease>(&format!("/repos/{}/releases/latest", self.repo)) {
            Ok((found, _)) => Ok(Some(found.id)),
            Err(GithubError::Status { status: 404, .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Deletes a tag. One that is not there is as good; GitHub says of such that the reference does not exist.
    ///
    /// # Errors
    /// When it stays.
    pub fn delete_tag(&self, tag: &str) -> Result<(), GithubError> {
        match self.delete(&format!("/repos/{}/git/refs/tags/{}", self.repo, percent_encode(tag))) {
            Err(GithubError::Status { status: 422, message, .. }) if message.contains("does not exist") => Ok(()),
            done => done,
        }
    }

    /// Deletes an asset. One that is not there is as good.
    ///
    /// # Errors
    /// When it stays.
    pub fn delete_asset(&self, asset: u64) -> Result<(), GithubError> {
        self.delete(&format!("/repos/{}/releases/assets/{asset}", self.repo))
    }

    /// Fetches a short asset.
    ///
    /// # Errors
    /// When it cannot be fetched.
    pub fn content(&self, asset: u64) -> Result<Vec<u8>, GithubError> {
        let uri = self.caller.api.at(&format!("/repos/{}/releases/assets/{asset}", self.repo))?;
        let mut content = Vec::new();
        self.block_on(self.caller.fetch(&uri, |bytes| content.extend_from_slice(bytes)))?;
        Ok(content)
    }

    /// Fetches a document that is an asset. Without a token it comes from the address that people click, which counts
    /// for no limit of the API.
    ///
    /// # Errors
    /// When it cannot be fetched, or is larger than that.
    pub fn document(&self, asset: &ListedAsset, most_bytes: usize) -> Result<Vec<u8>, GithubError> {
        let clicked = asset.browser_download_url.as_deref().filter(|_| self.caller.token.is_none());
        let uri = match clicked.and_then(|url| url.parse().ok()) {
            Some(uri) => uri,
            None => self.caller.api.at(&format!("/repos/{}/releases/assets/{}", self.repo, asset.id))?,
        };
        let mut content = Vec::new();
        for tries in 1.. {
            let mut is_too_large = false;
            content.clear();
            let take = |bytes: &[u8]| {
                is_too_large |= content.len() + bytes.len() > most_bytes;
                if !is_too_large {
                    content.extend_from_slice(bytes);
                }
            };
            match self.runtime.block_on(self.caller.fetch(&uri, take)) {
                Ok(()) if is_too_large => {
                    let reason = format!("`{}` is larger than {most_bytes} bytes", asset.name);
                    return Err(GithubError::Malformed { call: format!("GET {}", uri.path()), reason });
                }
                Ok(()) => break,
                Err(error @ GithubError::NoAnswer { is_lasting: false, .. }) => self.pause(error, tries)?,
                Err(error) => return Err(error),
            }
        }
        Ok(content)
    }

    /// Fetches an asset and hashes it.
    ///
    /// # Errors
    /// When it cannot be fetched.
    pub fn hash(&self, asset: u64) -> Result<Digest, GithubError> {
        let uri = self.caller.api.at(&format!("/repos/{}/releases/assets/{asset}", self.repo))?;
        let mut hash = Sha256::new();
        self.block_on(self.caller.fetch(&uri, |bytes| hash.update(bytes)))?;
        Ok(Digest::new(hash.finalize().into()))
    }

    /// Sends files, so many at once, and says of each what came of it, in their order. Once stopped, no other begins.
    pub fn upload(&self, uploads: Vec<Upload>, at_once: usize) -> Vec<Result<ListedAsset, GithubError>> {
        self.runtime.block_on(async {
            let gate = Arc::new(tokio::sync::Semaphore::new(at_once.max(1)));
            let tasks: Vec<_> = uploads
                .into_iter()
                .map(|upload| {
                    let (caller, gate) = (Arc::clone(&self.caller), Arc::clone(&gate));
                    tokio::spawn(async move {
                        let Ok(_permit) = gate.acquire().await else { return Err(GithubError::Stopped) };
                        send(&caller, upload).await
                    })
                })
                .collect();
            let mut results = Vec::with_capacity(tasks.len());
            for task in tasks {
                let result = task.await.unwrap_or(Err(GithubError::Stopped));
                results.push(result.map_err(|error| error.without(self.caller.token.as_ref())));
            }
            results
        })
    }

    /// Waits before looking again after a call of unknown outcome, for the time of this try.
    ///
    /// # Errors
    /// When it was the last, or the time is over.
    pub(super) fn pause(&self, error: GithubError, tries: u32) -> Result<(), GithubError> {
        match self.caller.doubled(tries) {
            Some(wait) => self.wait(&error, wait),
            None => Err(error),
        }
    }

    /// Waits so long, because of this.
    ///
    /// # Errors
    /// When the time is over.
    pub(super) fn wait(&self, why: &GithubError, wait: Duration) -> Result<(), GithubError> {
        let (call, reason) = match why {
            GithubError::Unsure { call, reason } => (call.as_str(), reason.as_str()),
            _ => ("", ""),
        };
        self.runtime.block_on(self.caller.wait(call, reason, wait))
    }

    /// Whether it was asked to stop.
    pub(super) fn glance(&self) -> Result<(), GithubError> {
        self.caller.glance()
    }

    /// Waits for a call. Whatever the server wrote, the token is not in the error.
    fn block_on<T>(&self, call: impl Future<Output = Result<T, GithubError>>) -> Result<T, GithubError> {
        self.runtime.block_on(call).map_err(|error| error.without(self.caller.token.as_ref()))
    }

    fn get<T: serde::de::DeserializeOwned>(&self, path: &str) -> Result<(T, HeaderMap), GithubError> {
        let call = format!("GET {}", path.split('?').next().unwrap_or(path));
        self.block_on(async { read(&call, self.octocrab._get(path).await).await })
    }

    fn patch<T: serde::de::DeserializeOwned>(&self, path: &str, fields: &serde_json::Value) -> Result<T, GithubError> {
        self.block_on(async {
            read(&format!("PATCH {path}"), self.octocrab._patch(path, Some(fields)).await)
                .await
                .map(|(changed, _)| changed)
        })
    }

    fn delete(&self, path: &str) -> Result<(), GithubError> {
        let done = self
            .block_on(async { reply(&format!("DELETE {path}"), self.octocrab._delete(path, None::<&()>).await).await });
        match done {
            Ok(_) | Err(GithubError::Status { status: 404, .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// All items of a listing, page after page as the `Link` header leads (RFC 8288), on the same host only.
    fn pages<T: serde::de::DeserializeOwned>(&self, first: &str) -> Result<Vec<T>, GithubError> {
        let (mut all, mut path) = (Vec::new(), first.to_owned());
        for _ in 0..MOST_PAGES {
            let (mut page, headers): (Vec<T>, _) = self.get(&path)?;
            all.append(&mut page);
            match next_page(&headers) {
                None => return Ok(all),
                Some(next) if self.caller.api.may_have_token(&next) => path = next.to_string(),
                Some(next) => return Err(self.caller.api.elsewhere(&next).into()),
            }
        }
        let reason = format!("it has more than {MOST_PAGES} pages");
        Err(GithubError::Malformed { call: format!("GET {first}"), reason })
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("repo", &self.repo).finish_non_exhaustive()
    }
}

/// What a tag names: a commit, or an object of the tag's own.
#[derive(Debug, Clone, serde::Deserialize)]
pub struct TagObject {
    /// Its hash.
    pub sha: String,
    /// `commit` or `tag`.
    #[serde(rename = "type")]
    pub kind: String,
}

/// The address of the relation `next`.
fn next_page(headers: &HeaderMap) -> Option<Uri> {
    headers.get_all(LINK).iter().filter_map(|value| value.to_str().ok()).flat_map(|links| links.split(',')).find_map(
        |link| {
            let (address, relation) = link.split_once(';')?;
            let is_next = relation.split(';').any(|part| part.trim() == "rel=\"next\"");
            address.trim().strip_prefix('<')?.strip_suffix('>')?.parse().ok().filter(|_| is_next)
        },
    )
}

/// Sends one file and checks what arrived.
async fn send(caller: &Caller, upload: Upload) -> Result<ListedAsset, GithubError> {
    caller.glance()?;
    let uri = caller.api.upload(&upload.to, &upload.name)?;
    let unreadable = |reason: String| GithubError::File { path: upload.name.clone(), reason };
    let content = body(upload.source, upload.size_bytes, upload.digest, upload.on_sent)
        .map_err(|error| unreadable(error.to_string()))?;
    let mut request = caller.request(&Method::POST, &uri, "application/vnd.github+json");
    if let Some(headers) = request.headers_mut() {
        headers.insert(CONTENT_TYPE, http::HeaderValue::from_static(content_type(&upload.name)));
        headers.insert(CONTENT_LENGTH, upload.size_bytes.into());
    }
    let call = format!("POST {}?name={}", uri.path(), upload.name);
    let malformed = |reason: String| GithubError::Malformed { call: call.clone(), reason };
    let request = request.extension(upload.digest).body(content).map_err(|error| malformed(error.to_string()))?;
    let reply = caller.send(request).await?;
    if reply.status != 201 {
        return Err(super::call::status(call, &reply));
    }
    serde_json::from_slice(&reply.body).map_err(|error| malformed(error.to_string()))
}

/// Wheels are bytes; the sums and the manifest open in a browser.
fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.') {
        Some((_, "json")) => "application/json",
        _ if name == crate::publish::SUMS => "text/plain",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::next_page;
    use http::HeaderMap;

    #[test]
    fn the_next_page_is_that_of_the_relation_next() {
        let mut headers = HeaderMap::new();
        let links = "<https://api.github.com/x?page=1>; rel=\"prev\", <https://api.github.com/x?page=3>; rel=\"next\"";
        headers.insert("link", links.parse().unwrap());
        assert_eq!(next_page(&headers).unwrap().to_string(), "https://api.github.com/x?page=3");
        headers.insert("link", "<https://api.github.com/x?page=1>; rel=\"last\"".parse().unwrap());
        assert_eq!(next_page(&headers), None);
    }
}
