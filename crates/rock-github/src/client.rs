//! The API requests that publishing needs. The submodules contain them by subject.

mod assets;
mod preflight;
mod prune;
mod published;
mod releases;
mod repository;
mod tags;
#[cfg(test)]
pub(crate) mod testing;
mod uploads;

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use http::header::LINK;
use http::{HeaderMap, Uri};
use octocrab::repos::RepoHandler;
use octocrab::{FromResponse as _, Octocrab};
use serde::de::DeserializeOwned;

use super::api::ApiEndpoint;
use super::clock::Clock;
use super::error::GithubError;
use super::executor::{Executor, OnReply, OnWait, StopRequested};
use super::limits::MOST_PAGES;
use super::octocrab_service::{RequestLine, github_error, octocrab};
use super::rate_limiter::{RateLimiter, RateLimits};
use super::token::Token;
use super::transport::Transport;
use super::wait::RequestWait;
use rock_names::RepoName;

pub use preflight::ObservationRequest;
pub use uploads::{PendingUpload, UploadResult};

/// A client for the releases of one repository.
pub struct ReleaseClient {
    runtime: tokio::runtime::Runtime,
    executor: Arc<Executor>,
    octocrab: Octocrab,
    request_line: RequestLine,
    repo: RepoName,
}

/// The settings of a client.
pub struct CallOptions {
    /// The API endpoint.
    pub api: ApiEndpoint,
    /// The token; without one, only public data can be read.
    pub token: Option<Token>,
    /// The transport.
    pub transport: Arc<dyn Transport>,
    /// The clock for deadlines and waits.
    pub clock: Arc<dyn Clock>,
    /// The rate limits.
    pub rates: RateLimits,
    /// The time that all requests together may take.
    pub time: Duration,
    /// Returns whether the run should stop.
    pub stop: Box<StopRequested>,
    /// Called before each wait.
    pub on_wait: Box<OnWait>,
    /// Called after each response, with the request, the status and GitHub's ID of the request.
    pub on_reply: Box<OnReply>,
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
        let executor = Arc::new(Executor {
            api: calls.api,
            token: calls.token,
            transport: calls.transport,
            clock: calls.clock,
            rate_limiter: RateLimiter::new(calls.rates),
            deadline,
            stop: calls.stop,
            on_wait: calls.on_wait,
            on_reply: calls.on_reply,
        });
        let (octocrab, request_line) = {
            let _entered = runtime.enter();
            octocrab(&executor)
        };
        Ok(Self {
            runtime,
            executor,
            octocrab,
            request_line,
            repo,
        })
    }

    /// Returns the client for another repository. Limits, waits and the deadline are kept.
    #[must_use]
    pub fn at(self, repo: RepoName) -> Self {
        Self { repo, ..self }
    }

    /// Returns the delay after an attempt with an unknown outcome, whose number starts at 1.
    pub(super) fn backoff(&self, tries: u32) -> Duration {
        self.executor.backoff(tries)
    }

    /// Reports a wait and waits.
    ///
    /// # Errors
    /// If the deadline would be exceeded, or the run was asked to stop.
    pub(super) fn wait(&self, wait: RequestWait<'_>) -> Result<(), GithubError> {
        self.runtime.block_on(self.executor.wait(wait))
    }

    /// Returns an error if the run should stop.
    pub(super) fn check_stop(&self) -> Result<(), GithubError> {
        self.executor.check_stop()
    }

    /// Waits for a request. Removes the token from its error, whatever the server sent.
    fn block_on<T>(
        &self,
        call: impl Future<Output = Result<T, GithubError>>,
    ) -> Result<T, GithubError> {
        self.runtime
            .block_on(call)
            .map_err(|error| error.without(self.executor.token.as_ref()))
    }

    /// Sends a request of octocrab.
    fn call<T>(
        &self,
        request: impl Future<Output = octocrab::Result<T>>,
    ) -> Result<T, GithubError> {
        self.block_on(async {
            let answer = request.await;
            answer.map_err(|error| github_error(&error, &self.request_line))
        })
    }

    /// Returns octocrab's requests for the repository.
    fn handler(&self) -> RepoHandler<'_> {
        let repo = self.repo.to_string();
        let (owner, name) = repo.split_once('/').unwrap_or_default();
        self.octocrab.repos(owner, name)
    }

    /// Reads all items of a listing, mapped by `kept`. Follows the `next` links of the `Link`
    /// header (RFC 8288), on the API's own host only.
    fn pages<T: DeserializeOwned, K>(
        &self,
        first: &str,
        kept: impl Fn(T) -> K,
    ) -> Result<Vec<K>, GithubError> {
        let (mut all, mut path) = (Vec::new(), first.to_owned());
        for _ in 0..MOST_PAGES {
            let (items, next) = self.call(self.page(&path))?;
            all.extend(items.into_iter().map(&kept));
            match next {
                None => return Ok(all),
                Some(next) if self.executor.api.is_own(&next) => path = next.to_string(),
                Some(next) => return Err(self.executor.api.elsewhere(&next).into()),
            }
        }
        let reason = format!("it has more than {MOST_PAGES} pages");
        Err(GithubError::Malformed {
            call: format!("GET {first}"),
            reason,
        })
    }

    /// Reads a page of a listing, and the URL of the next one.
    async fn page<T: DeserializeOwned>(
        &self,
        path: &str,
    ) -> octocrab::Result<(Vec<T>, Option<Uri>)> {
        // octocrab's listings keep unused fields in memory, cut links at commas, print to stderr.
        let response = self.octocrab._get(path).await?;
        let next = next_page(response.headers());
        Ok((Vec::from_response(response).await?, next))
    }
}

impl std::fmt::Debug for ReleaseClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReleaseClient")
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
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use super::{CallOptions, GithubError, ReleaseClient, next_page};
    use crate::{RateLimits, ResponseFuture, SkippingClock, Transport};
    use http::{HeaderMap, Request, Response};
    use rock_publish::DeploymentRules;
    use rock_publish::remote::ReleaseDescription;
    use rock_sys::http::{HttpBody, full_body};

    /// Returns status and body for the path of a request.
    type Answers = fn(&str) -> (u16, &'static str);

    /// Answers requests and records them.
    struct AnsweringTransport {
        answers: Answers,
        requests: Mutex<Vec<String>>,
    }

    impl Transport for AnsweringTransport {
        fn send(&self, request: Request<HttpBody>) -> ResponseFuture<'_> {
            let path = request.uri().path_and_query().unwrap().as_str();
            let (status, body) = (self.answers)(path);
            let line = format!("{} {path}", request.method());
            self.requests.lock().unwrap().push(line);
            let response = Response::builder().status(status).body(full_body(body));
            Box::pin(std::future::ready(Ok(response.unwrap())))
        }
    }

    fn client(answers: Answers) -> (ReleaseClient, Arc<AnsweringTransport>) {
        let transport = Arc::new(AnsweringTransport {
            answers,
            requests: Mutex::default(),
        });
        let calls = CallOptions {
            api: "https://ghe.test/api/v3".parse().unwrap(),
            token: None,
            transport: Arc::clone(&transport) as Arc<dyn Transport>,
            clock: Arc::new(SkippingClock::default()),
            rates: RateLimits {
                per_minute: 80,
                per_hour: 500,
                between_writes: Duration::ZERO,
            },
            time: Duration::from_mins(1),
            stop: Box::new(|| false),
            on_wait: Box::new(|_| ()),
            on_reply: Box::new(|_, _, _| ()),
        };
        let client = ReleaseClient::new("o/r".parse().unwrap(), calls).unwrap();
        (client, transport)
    }

    #[test]
    fn requests_have_encoded_names_and_what_is_missing_is_no_error() {
        let (client, transport) = client(|_| (404, r#"{"message": "Not Found"}"#));
        assert_eq!(client.commit_of_tag("v1/a+b c"), Ok(None));
        assert_eq!(client.delete_tag("v1/a+b c"), Ok(()));
        assert_eq!(
            client.deployment_rules("a b/c"),
            Ok(Some(DeploymentRules::NoEnvironment))
        );
        assert_eq!(client.immutable_releases(), Ok(None));
        assert_eq!(client.latest(), Ok(None));
        assert_eq!(client.delete_release(7), Ok(()));
        assert_eq!(client.delete_asset(8), Ok(()));
        let requests: Vec<String> = [
            "GET /api/v3/repos/o/r/git/ref/tags/v1/a%2Bb%20c",
            "DELETE /api/v3/repos/o/r/git/refs/tags/v1/a%2Bb%20c",
            "GET /api/v3/repos/o/r/environments/a%20b%2Fc",
            "GET /api/v3/repos/o/r/immutable-releases",
            "GET /api/v3/repos/o/r/releases/latest",
            "DELETE /api/v3/repos/o/r/releases/7",
            "DELETE /api/v3/repos/o/r/releases/assets/8",
        ]
        .map(str::to_owned)
        .to_vec();
        assert_eq!(*transport.requests.lock().unwrap(), requests);
    }

    #[test]
    fn a_refused_deletion_is_an_error_with_the_codes_of_github() {
        let (client, _) = client(|_| {
            let body =
                r#"{"message": "Validation Failed", "errors": [{"code": "custom", "field": "x"}]}"#;
            (422, body)
        });
        let refused = |call: &str| {
            Err(GithubError::Status {
                call: call.to_owned(),
                status: 422,
                message: "Validation Failed".to_owned(),
                codes: vec!["custom".to_owned()],
                fields: vec!["x".to_owned()],
                request_id: None,
            })
        };
        assert_eq!(
            client.delete_release(7),
            refused("DELETE /repos/o/r/releases/7")
        );
        assert_eq!(
            client.delete_tag("v1"),
            refused("DELETE /repos/o/r/git/refs/tags/v1")
        );
    }

    #[test]
    fn an_answer_that_is_not_json_is_an_error_of_its_request() {
        let (client, _) = client(|_| (200, "<h1>Welcome</h1>"));
        let reason = "expected value at line 1 column 1".to_owned();
        assert_eq!(
            client.latest(),
            Err(GithubError::Malformed {
                call: "GET /repos/o/r/releases/latest".to_owned(),
                reason: reason.clone(),
            })
        );
        assert_eq!(
            client.create("v1", &ReleaseDescription::default()),
            Err(GithubError::UnknownOutcome {
                call: "POST /repos/o/r/releases".to_owned(),
                reason,
                status: None,
            })
        );
    }

    #[test]
    fn kinds_that_are_not_known_are_no_errors() {
        let answers = |path: &str| match path.rsplit_once('/').unwrap().1 {
            "rulesets?targets=tag&per_page=100" => (
                200,
                r#"[{"id": 1, "name": "a", "target": "new", "enforcement": "active"},
                    {"id": 2, "name": "b", "target": "tag", "enforcement": "new"}]"#,
            ),
            "deployment-branch-policies?per_page=100" => (
                200,
                r#"{"total_count": 2, "branch_policies": [
                    {"name": "v*", "type": "tag"}, {"name": "x", "type": "new"}]}"#,
            ),
            _ => (
                200,
                r#"{"id": 1, "node_id": "EN_1", "name": "e", "url": "https://ghe.test/e", "html_url": "https://ghe.test/e",
                    "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
                    "protection_rules": [{"id": 1, "node_id": "GA_1", "type": "new"}],
                    "deployment_branch_policy": {"protected_branches": false, "custom_branch_policies": true}}"#,
            ),
        };
        let (client, _) = client(answers);
        assert_eq!(client.tag_rulesets(), Ok(Some(Vec::new())));
        let rules = DeploymentRules::Tags(vec!["v*".to_owned()]);
        assert_eq!(client.deployment_rules("e"), Ok(Some(rules)));
    }

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
