//! The API requests that publishing needs. The submodules contain them by subject.

mod assets;
mod releases;
mod repository;
mod send;
mod tags;

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::header::LINK;
use http::{HeaderMap, Uri};
use octocrab::Octocrab;
use serde::de::DeserializeOwned;

use super::api::ApiEndpoint;
use super::clock::Clock;
use super::error::GithubError;
use super::executor::{Executor, OnWait, StopRequested};
use super::limits::MOST_PAGES;
use super::octocrab_service::{octocrab, read, reply};
use super::rate_limiter::{RateLimiter, RateLimits};
use super::token::Token;
use super::transport::Transport;
use rock_names::RepoName;

pub use send::{PendingUpload, UploadResult};
pub use tags::TagObject;

/// A client for the releases of one repository.
pub struct ReleaseClient {
    runtime: tokio::runtime::Runtime,
    caller: Arc<Executor>,
    octocrab: Octocrab,
    repo: RepoName,
}

/// The settings of a client.
pub struct CallOptions {
    /// The API endpoint.
    pub api: ApiEndpoint,
    /// The token; without one, only public data can be read.
    pub token: Option<Token>,
    /// The transport.
    pub wire: Arc<dyn Transport>,
    /// The clock for deadlines and waits.
    pub clock: Arc<dyn Clock>,
    /// The rate limits.
    pub rates: RateLimits,
    /// The time that all requests together may take.
    pub time: Duration,
    /// Returns whether the run should stop.
    pub stop: Box<StopRequested>,
    /// Called before each wait with the request, the reason and the duration.
    pub on_wait: Box<OnWait>,
}

impl ReleaseClient {
    /// Returns a client for a repository.
    ///
    /// # Errors
    /// If the system cannot create the async runtime.
    pub fn new(repo: RepoName, calls: CallOptions) -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let deadline = calls.clock.now() + calls.time;
        let caller = Arc::new(Executor {
            api: calls.api,
            token: calls.token,
            wire: calls.wire,
            clock: calls.clock,
            pace: RateLimiter::new(calls.rates),
            deadline,
            stop: calls.stop,
            on_wait: calls.on_wait,
        });
        let octocrab = {
            let _entered = runtime.enter();
            octocrab(&caller)
        };
        Ok(Self {
            runtime,
            caller,
            octocrab,
            repo,
        })
    }

    /// Returns the client for another repository. Limits, waits and the deadline are kept.
    #[must_use]
    pub fn at(self, repo: RepoName) -> Self {
        Self { repo, ..self }
    }

    /// Waits before observing the state again after a request with an unknown outcome. The delay
    /// depends on the number of attempts.
    ///
    /// # Errors
    /// The given error if this was the last attempt, or one if the deadline would be exceeded.
    pub(super) fn pause(&self, error: GithubError, tries: u32) -> Result<(), GithubError> {
        match self.caller.doubled(tries) {
            Some(wait) => self.wait(&error, wait),
            None => Err(error),
        }
    }

    /// Waits for a duration, with the reason from an error.
    ///
    /// # Errors
    /// If the deadline would be exceeded.
    pub(super) fn wait(&self, why: &GithubError, wait: Duration) -> Result<(), GithubError> {
        let (call, reason) = match why {
            GithubError::Unsure { call, reason } => (call.as_str(), reason.as_str()),
            _ => ("", ""),
        };
        self.runtime.block_on(self.caller.wait(call, reason, wait))
    }

    /// Returns an error if the run should stop.
    pub(super) fn glance(&self) -> Result<(), GithubError> {
        self.caller.glance()
    }

    /// Waits for a request. Removes the token from its error, whatever the server sent.
    fn block_on<T>(
        &self,
        call: impl Future<Output = Result<T, GithubError>>,
    ) -> Result<T, GithubError> {
        self.runtime
            .block_on(call)
            .map_err(|error| error.without(self.caller.token.as_ref()))
    }

    fn get<T: DeserializeOwned>(&self, path: &str) -> Result<(T, HeaderMap), GithubError> {
        let call = format!("GET {}", path.split('?').next().unwrap_or(path));
        self.block_on(async { read(&call, self.octocrab._get(path).await).await })
    }

    /// Reads a resource; `None` if it does not exist.
    fn find<T: DeserializeOwned>(&self, path: &str) -> Result<Option<T>, GithubError> {
        found(self.get(path).map(|(found, _)| found))
    }

    /// Creates a resource. If the response cannot be parsed, the outcome is unknown.
    fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        fields: &serde_json::Value,
    ) -> Result<T, GithubError> {
        let call = format!("POST {path}");
        let made = self
            .block_on(async { read(&call, self.octocrab._post(path, Some(fields)).await).await });
        made.map(|(made, _)| made).map_err(|error| match error {
            GithubError::Malformed { call, reason } => GithubError::Unsure { call, reason },
            error => error,
        })
    }

    fn patch<T: DeserializeOwned>(
        &self,
        path: &str,
        fields: &serde_json::Value,
    ) -> Result<T, GithubError> {
        let call = format!("PATCH {path}");
        let changed = self
            .block_on(async { read(&call, self.octocrab._patch(path, Some(fields)).await).await });
        changed.map(|(changed, _)| changed)
    }

    fn delete(&self, path: &str) -> Result<(), GithubError> {
        let call = format!("DELETE {path}");
        match self
            .block_on(async { reply(&call, self.octocrab._delete(path, None::<&()>).await).await })
        {
            Ok(_) | Err(GithubError::Status { status: 404, .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Reads all items of a listing, mapped by `kept`. Follows the `next` links of the `Link`
    /// header (RFC 8288), on the API's own host only.
    fn pages<T: DeserializeOwned>(
        &self,
        first: &str,
        kept: impl Fn(T) -> T,
    ) -> Result<Vec<T>, GithubError> {
        let (mut all, mut path) = (Vec::new(), first.to_owned());
        for _ in 0..MOST_PAGES {
            let (page, headers): (Vec<T>, _) = self.get(&path)?;
            all.extend(page.into_iter().map(&kept));
            match next_page(&headers) {
                None => return Ok(all),
                Some(next) if self.caller.api.is_own(&next) => path = next.to_string(),
                Some(next) => return Err(self.caller.api.elsewhere(&next).into()),
            }
        }
        let reason = format!("it has more than {MOST_PAGES} pages");
        Err(GithubError::Malformed {
            call: format!("GET {first}"),
            reason,
        })
    }
}

impl std::fmt::Debug for ReleaseClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client")
            .field("repo", &self.repo)
            .finish_non_exhaustive()
    }
}

/// Maps a 404 to `None`.
fn found<T>(answer: Result<T, GithubError>) -> Result<Option<T>, GithubError> {
    match answer {
        Ok(found) => Ok(Some(found)),
        Err(GithubError::Status { status: 404, .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns the URL with the relation `next` (RFC 8288). URLs may contain commas and semicolons.
fn next_page(headers: &HeaderMap) -> Option<Uri> {
    headers
        .get_all(LINK)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .find_map(|links| {
            links.split('<').skip(1).find_map(|link| {
                let (address, parameters) = link.split_once('>')?;
                let is_next = parameters
                    .split([';', ','])
                    .any(|part| part.trim() == "rel=\"next\"");
                address.trim().parse().ok().filter(|_| is_next)
            })
        })
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
        assert_eq!(
            next_page(&headers).unwrap().to_string(),
            "https://api.github.com/x?page=3"
        );
        let commas = "<https://api.github.com/x?a=1,2;3&page=1>; rel=\"last\", <https://api.github.com/x?a=1,2>; a=b; rel=\"next\"";
        headers.insert("link", commas.parse().unwrap());
        assert_eq!(
            next_page(&headers).unwrap().to_string(),
            "https://api.github.com/x?a=1,2"
        );
        headers.insert(
            "link",
            "<https://api.github.com/x?page=1>; rel=\"last\""
                .parse()
                .unwrap(),
        );
        assert_eq!(next_page(&headers), None);
    }
}
