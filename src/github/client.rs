//! The calls that publishing needs.

use std::cell::{Cell, RefCell};
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
use super::call::{Caller, Kind, OnWait, Stop};
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
/// How many files are sent at once at most.
const MOST_AT_ONCE: usize = 4;

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
pub struct Upload<'u> {
    /// Where to: the release's `upload_url`.
    pub to: String,
    /// The name that it gets.
    pub name: String,
    /// Gives its bytes, when its turn has come.
    pub open: Box<dyn Fn() -> io::Result<Source> + 'u>,
    /// How many they are.
    pub size_bytes: u64,
    /// What they hash to.
    pub digest: Digest,
    /// Told of the bytes of each piece.
    pub on_sent: Arc<dyn Fn(u64) + Send + Sync>,
}

/// What came of a file; `None` where it was not begun.
pub type Sent = Option<Result<ListedAsset, GithubError>>;

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

    /// All releases, drafts among them where the token may see them. Of those that are not wanted, number and tag alone
    /// are kept: a repository may have thousands, with long texts and a thousand assets each.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn releases(&self, is_wanted: impl Fn(&ListedRelease) -> bool) -> Result<Vec<ListedRelease>, GithubError> {
        let kept = |release: ListedRelease| {
            if is_wanted(&release) {
                return release;
            }
            let ListedRelease { id, tag_name, draft, .. } = release;
            ListedRelease { id, tag_name, draft, ..ListedRelease::default() }
        };
        self.pages(&format!("/repos/{}/releases?per_page=100", self.repo), kept)
    }

    /// All releases with all their assets, for reading. A list of releases may leave out assets of one that has many.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn listing(&self) -> Result<Vec<ListedRelease>, GithubError> {
        let mut releases = self.releases(|_| true)?;
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
        self.pages(&format!("/repos/{}/releases/{release}/assets?per_page=100", self.repo), |asset| asset)
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
        let parts: Vec<String> = tag.split('/').map(percent_encode).collect();
        let path = format!("/repos/{}/git/ref/tags/{}", self.repo, parts.join("/"));
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
        .map_err(|error| match error {
            GithubError::Malformed { call, reason } => GithubError::Unsure { call, reason },
            error => error,
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

    /// Fetches a document that is an asset. Without a token it comes from the address that people click, which counts
    /// for no limit of the API.
    ///
    /// # Errors
    /// When it cannot be fetched, is larger than that, or has another size than is listed.
    pub fn document(&self, asset: &ListedAsset, most_bytes: usize) -> Result<Vec<u8>, GithubError> {
        let clicked = asset.browser_download_url.as_deref().filter(|_| self.caller.token.is_none());
        let uri = match clicked.and_then(|url| url.parse().ok()) {
            Some(uri) => uri,
            None => self.address_of(asset.id)?,
        };
        let content = self.block_on(self.caller.fetch(&uri, Vec::new, |content, piece| {
            content.extend_from_slice(piece);
            content.len() <= most_bytes
        }))?;
        if content.len() as u64 != asset.size {
            let reason = format!("`{}` has {} bytes, and {} came", asset.name, asset.size, content.len());
            return Err(GithubError::Malformed { call: format!("GET {}", uri.path()), reason });
        }
        Ok(content)
    }

    /// Fetches an asset and hashes it.
    ///
    /// # Errors
    /// When it cannot be fetched.
    pub fn hash(&self, asset: u64) -> Result<Digest, GithubError> {
        let uri = self.address_of(asset)?;
        let hash = self.block_on(self.caller.fetch(&uri, Sha256::new, |hash, piece| {
            hash.update(piece);
            true
        }))?;
        Ok(Digest::new(hash.finalize().into()))
    }

    fn address_of(&self, asset: u64) -> Result<Uri, GithubError> {
        Ok(self.caller.api.at(&format!("/repos/{}/releases/assets/{asset}", self.repo))?)
    }

    /// Sends files, up to four at once, and says of each what came of it, in their order. No other begins when it was
    /// stopped, when the next would fare no better, or when it is not known what one came to: that is looked at first.
    pub fn upload(&self, uploads: &[Upload<'_>], at_once: usize) -> Vec<Sent> {
        let results = RefCell::new(vec![None; uploads.len()]);
        let (next, is_over) = (Cell::new(0), Cell::new(false));
        let lane = async |lane: usize| {
            while lane < at_once.clamp(1, MOST_AT_ONCE) && !is_over.get() {
                let at = next.replace(next.get() + 1);
                let Some(upload) = uploads.get(at) else { return };
                let Some(result) = send(&self.caller, upload, &is_over).await else { return };
                let result = result.map_err(|error| error.without(self.caller.token.as_ref()));
                let ends = |error: &GithubError| error.is_final() || matches!(error, GithubError::Unsure { .. });
                is_over.set(is_over.get() || result.as_ref().is_err_and(ends));
                results.borrow_mut()[at] = Some(result);
            }
        };
        self.runtime.block_on(async { tokio::join!(lane(0), lane(1), lane(2), lane(3)) });
        results.into_inner()
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

    /// All items of a listing as `kept` leaves them, page after page as the `Link` header leads (RFC 8288), on the same
    /// host only.
    fn pages<T: serde::de::DeserializeOwned>(&self, first: &str, kept: impl Fn(T) -> T) -> Result<Vec<T>, GithubError> {
        let (mut all, mut path) = (Vec::new(), first.to_owned());
        for _ in 0..MOST_PAGES {
            let (page, headers): (Vec<T>, _) = self.get(&path)?;
            all.extend(page.into_iter().map(&kept));
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

/// The address of the relation `next` (RFC 8288). Addresses may hold commas and semicolons.
fn next_page(headers: &HeaderMap) -> Option<Uri> {
    headers.get_all(LINK).iter().filter_map(|value| value.to_str().ok()).find_map(|links| {
        links.split('<').skip(1).find_map(|link| {
            let (address, parameters) = link.split_once('>')?;
            let is_next = parameters.split([';', ',']).any(|part| part.trim() == "rel=\"next\"");
            address.trim().parse().ok().filter(|_| is_next)
        })
    })
}

/// Sends one file and checks that it arrived; a limit makes it wait and begin again. `None` where it was over before its
/// turn came.
async fn send(caller: &Caller, upload: &Upload<'_>, is_over: &Cell<bool>) -> Sent {
    let uri = match caller.api.upload(&upload.to, &upload.name) {
        Ok(uri) => uri,
        Err(error) => return Some(Err(error.into())),
    };
    let call = format!("POST {}?name={}", uri.path(), upload.name);
    for tries in 1.. {
        if let Err(error) = caller.turn(&call, Kind::Sends).await {
            return Some(Err(error));
        }
        if is_over.get() {
            return None;
        }
        match try_to_send(caller, upload, &uri, &call, tries).await {
            Ok(None) => {}
            Ok(Some(asset)) => return Some(Ok(asset)),
            Err(error) => return Some(Err(error)),
        }
    }
    None
}

/// One try; `None` where a limit turned it away.
async fn try_to_send(
    caller: &Caller,
    upload: &Upload<'_>,
    uri: &Uri,
    call: &str,
    tries: u32,
) -> Result<Option<ListedAsset>, GithubError> {
    let unreadable = |error: io::Error| GithubError::File { path: upload.name.clone(), reason: error.to_string() };
    let source = (upload.open)().map_err(unreadable)?;
    let on_sent = Arc::clone(&upload.on_sent);
    let content = body(source, upload.size_bytes, upload.digest, move |bytes| on_sent(bytes)).map_err(unreadable)?;
    let mut request = caller.request(&Method::POST, uri, "application/vnd.github+json");
    if let Some(headers) = request.headers_mut() {
        headers.insert(CONTENT_TYPE, http::HeaderValue::from_static(content_type(&upload.name)));
        headers.insert(CONTENT_LENGTH, upload.size_bytes.into());
    }
    let request = request
        .extension(upload.digest)
        .body(content)
        .map_err(|error| GithubError::Malformed { call: call.to_owned(), reason: error.to_string() })?;
    let Some(reply) = caller.send(request, tries).await? else { return Ok(None) };
    if reply.status >= 300 {
        return Err(reply.refusal(call.to_owned()));
    }
    // An answer that says yes in other words may come from something that stands between.
    serde_json::from_slice(&reply.body).map(Some).map_err(|error| GithubError::Unsure {
        call: call.to_owned(),
        reason: format!("the answer makes no sense: {error}"),
    })
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
        let commas = "<https://api.github.com/x?a=1,2;3&page=1>; rel=\"last\", <https://api.github.com/x?a=1,2>; a=b; rel=\"next\"";
        headers.insert("link", commas.parse().unwrap());
        assert_eq!(next_page(&headers).unwrap().to_string(), "https://api.github.com/x?a=1,2");
        headers.insert("link", "<https://api.github.com/x?page=1>; rel=\"last\"".parse().unwrap());
        assert_eq!(next_page(&headers), None);
    }
}
