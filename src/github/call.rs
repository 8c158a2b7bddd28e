//! One call to the API: sent, judged, and sent again where that is right.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, DATE, LOCATION, USER_AGENT};
use http::{HeaderMap, Method, Request, Response, Uri};
use http_body_util::{BodyExt, Limited};

use super::api::Api;
use super::clock::Clock;
use super::error::GithubError;
use super::pace::Pace;
use super::retry::{Answer, MOST_TRIES, Verdict, judge};
use super::token::Token;
use super::wire::{Body, Wire, WireError, whole};

/// Bytes of one answer. A hundred releases with a thousand assets each are below it.
const LARGEST_ANSWER_BYTES: usize = 256 << 20;
/// How long an answer may be silent.
const SILENCE: Duration = Duration::from_mins(2);
/// How often the wish to stop is looked for while waiting.
const GLANCE: Duration = Duration::from_millis(100);
/// How long what is under way may take when it was wished to stop: a job that is cancelled has 7.5 seconds before it is
/// ended, and 2.5 more before it is killed (GitHub Docs, "Workflow cancellation reference").
const GRACE: Duration = Duration::from_secs(4);
/// The version of the API (GitHub Docs, "API Versions").
const API_VERSION: (&str, &str) = ("x-github-api-version", "2022-11-28");
const JSON: &str = "application/vnd.github+json";
const MOST_REDIRECTS: usize = 5;

/// What may be done with a call that had no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It only reads: send it again.
    Reads,
    /// It changes something to what it says: send it again.
    Repeats,
    /// It makes something: look first.
    Once,
}

/// Whether to stop, asked again and again.
pub type Stop = dyn Fn() -> bool + Send + Sync;

/// Told before a wait: the call, why, how long.
pub type OnWait = dyn Fn(&str, &str, Duration) + Send + Sync;

/// An answer.
#[derive(Debug, Clone)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// All calls of a run.
pub(super) struct Caller {
    pub(super) api: Api,
    pub(super) token: Option<Token>,
    pub(super) wire: Arc<dyn Wire>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) pace: Pace,
    /// By the clock: no wait goes beyond.
    pub(super) deadline: Duration,
    /// Whether to stop.
    pub(super) stop: Box<Stop>,
    /// Told before each wait of more than a moment: the call, why, how long.
    pub(super) on_wait: Box<OnWait>,
}

impl Caller {
    /// Calls with a short body until the answer is definite.
    pub(super) async fn call(
        &self,
        method: &Method,
        uri: &Uri,
        body: &Bytes,
        kind: Kind,
    ) -> Result<Reply, GithubError> {
        let mut uri = uri.clone();
        let mut redirects = 0;
        let mut tries = 1;
        loop {
            if kind != Kind::Reads {
                self.sleep(self.pace.take(self.clock.now())).await?;
            }
            let name = name_of(method, &uri);
            let request =
                self.request(method, &uri, JSON).body(whole(body.clone())).map_err(|e| malformed(&name, &e))?;
            let got = self.once(request).await?;
            if let Ok(reply) = &got
                && let Some(next) = redirect(reply, method, &uri)
            {
                redirects += 1;
                if !self.api.may_have_token(&next) || redirects > MOST_REDIRECTS {
                    return Err(self.api.elsewhere(&next).into());
                }
                uri = next;
                continue;
            }
            match self.verdict(&got, tries) {
                Verdict::Again(wait) if kind != Kind::Once || is_limit(&got) => {
                    self.wait(&name, &words(&got), wait).await?;
                    tries += 1;
                }
                Verdict::Again(_) => {
                    return Err(GithubError::Unsure { call: name, reason: words(&got) }.without(self.token.as_ref()));
                }
                Verdict::Good | Verdict::Bad => return self.settled(&name, got),
            }
        }
    }

    /// Sends a request whose body can be read once. What it gives is definite or [`GithubError::Unsure`].
    pub(super) async fn send(&self, request: Request<Body>) -> Result<Reply, GithubError> {
        let name = name_of(request.method(), request.uri());
        let got = self.once(request).await?;
        match self.verdict(&got, 1) {
            Verdict::Again(_) => {
                Err(GithubError::Unsure { call: name, reason: words(&got) }.without(self.token.as_ref()))
            }
            Verdict::Good | Verdict::Bad => self.settled(&name, got),
        }
    }

    /// Fetches bytes, which may lie on another host: that one does not get the token.
    pub(super) async fn fetch(&self, uri: &Uri, take: impl FnMut(&[u8])) -> Result<(), GithubError> {
        tokio::select! {
            done = self.fetched(uri, take) => done,
            () = self.out_of_time() => Err(GithubError::Stopped),
        }
    }

    async fn fetched(&self, uri: &Uri, mut take: impl FnMut(&[u8])) -> Result<(), GithubError> {
        let mut uri = uri.clone();
        let name = name_of(&Method::GET, &uri);
        let (mut redirects, mut tries) = (0, 1);
        while redirects <= MOST_REDIRECTS {
            let builder = self.request(&Method::GET, &uri, "application/octet-stream");
            let request = builder.body(whole(Bytes::new())).map_err(|e| malformed(&name, &e))?;
            let response = self.wire.send(request).await.map_err(|e| no_answer(&name, e))?;
            let (parts, mut body) = response.into_parts();
            let mut reply = Reply { status: parts.status.as_u16(), headers: parts.headers, body: Bytes::new() };
            if let Some(next) = redirect(&reply, &Method::GET, &uri) {
                redirects += 1;
                uri = next;
                continue;
            }
            if reply.status != 200 {
                let said = Limited::new(body, LARGEST_ANSWER_BYTES).collect().await;
                reply.body = said.map(http_body_util::Collected::to_bytes).unwrap_or_default();
                let got = Ok(reply);
                if let Verdict::Again(wait) = self.verdict(&got, tries) {
                    self.wait(&name, &words(&got), wait).await?;
                    tries += 1;
                    continue;
                }
                let Ok(reply) = got else { break };
                return Err(status(name, &reply).without(self.token.as_ref()));
            }
            while let Some(frame) = body.frame().await {
                let frame = frame.map_err(|e| no_answer(&name, passing(&e)))?;
                if let Some(data) = frame.data_ref() {
                    take(data);
                }
                self.glance()?;
            }
            return Ok(());
        }
        Err(self.api.elsewhere(&uri).into())
    }

    /// A request with the headers that every one has. The token goes where it may.
    pub(super) fn request(&self, method: &Method, uri: &Uri, accept: &str) -> http::request::Builder {
        let mut builder = Request::builder().method(method).uri(uri).header(ACCEPT, accept);
        builder = builder.header(USER_AGENT, concat!("rock-matrix/", env!("CARGO_PKG_VERSION")));
        builder = builder.header(API_VERSION.0, API_VERSION.1);
        if *method != Method::GET {
            builder = builder.header(CONTENT_TYPE, "application/json");
        }
        match self.token.as_ref().filter(|_| self.api.may_have_token(uri)) {
            Some(token) => builder.header(AUTHORIZATION, token.header()),
            None => builder,
        }
    }

    /// One try. The outer fault is the wish to stop, when what was under way had its time.
    async fn once(&self, request: Request<Body>) -> Result<Result<Reply, WireError>, GithubError> {
        tokio::select! {
            got = self.exchange(request) => Ok(got),
            () = self.out_of_time() => Err(GithubError::Stopped),
        }
    }

    async fn exchange(&self, request: Request<Body>) -> Result<Reply, WireError> {
        let (parts, body) = self.wire.send(request).await?.into_parts();
        let whole = Limited::new(body, LARGEST_ANSWER_BYTES).collect();
        let silent = |_| WireError { reason: "the answer stopped half way".to_owned(), is_lasting: false };
        let body = tokio::time::timeout(SILENCE, whole)
            .await
            .map_err(silent)?
            .map_err(|error| WireError { reason: format!("the answer broke off: {error}"), is_lasting: false })?;
        Ok(Reply { status: parts.status.as_u16(), headers: parts.headers, body: body.to_bytes() })
    }

    fn verdict(&self, got: &Result<Reply, WireError>, tries: u32) -> Verdict {
        match got {
            Err(error) if error.is_lasting => Verdict::Bad,
            Err(_) => judge(&Answer::default(), tries, self.clock.chance()),
            Ok(reply) => {
                let message = message(reply);
                let number = |name| reply.headers.get(name).and_then(|value| value.to_str().ok()?.trim().parse().ok());
                let server =
                    reply.headers.get(DATE).and_then(|date| httpdate::parse_http_date(date.to_str().ok()?).ok());
                let server = server.and_then(|date| date.duration_since(std::time::UNIX_EPOCH).ok());
                let answer = Answer {
                    status: reply.status,
                    retry_after: number("retry-after"),
                    remaining: number("x-ratelimit-remaining"),
                    reset: number("x-ratelimit-reset"),
                    now: server.map_or_else(|| self.clock.epoch_seconds(), |since| since.as_secs()),
                    message: &message,
                };
                judge(&answer, tries, self.clock.chance())
            }
        }
    }

    fn settled(&self, name: &str, got: Result<Reply, WireError>) -> Result<Reply, GithubError> {
        got.map_err(|error| no_answer(name, error).without(self.token.as_ref()))
    }

    /// Waits before another try, unless that is beyond the deadline.
    pub(super) async fn wait(&self, call: &str, why: &str, wait: Duration) -> Result<(), GithubError> {
        if self.clock.now() + wait > self.deadline {
            return Err(GithubError::Deadline { call: call.to_owned(), wait_s: wait.as_secs() });
        }
        let why = self.token.as_ref().map_or_else(|| why.to_owned(), |token| token.without(why));
        (self.on_wait)(call, &why, wait);
        self.sleep(wait).await
    }

    /// Waits, and stops where that is wished.
    async fn sleep(&self, time: Duration) -> Result<(), GithubError> {
        let end = self.clock.now() + time;
        loop {
            self.glance()?;
            let left = end.saturating_sub(self.clock.now());
            if left.is_zero() {
                return Ok(());
            }
            self.clock.sleep(left.min(GLANCE.max(time / 600))).await;
        }
    }

    /// Ends when it was wished to stop and what is under way had its time.
    async fn out_of_time(&self) {
        while self.glance().is_ok() {
            tokio::time::sleep(GLANCE).await;
        }
        tokio::time::sleep(GRACE).await;
    }

    pub(super) fn glance(&self) -> Result<(), GithubError> {
        if (self.stop)() { Err(GithubError::Stopped) } else { Ok(()) }
    }

    /// How long to wait before looking again after a call of unknown outcome.
    pub(super) fn doubled(&self, tries: u32) -> Option<Duration> {
        match judge(&Answer::default(), tries.min(MOST_TRIES), self.clock.chance()) {
            Verdict::Again(wait) => Some(wait),
            _ => None,
        }
    }
}

impl std::fmt::Debug for Caller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Caller").field("api", &self.api).finish_non_exhaustive()
    }
}

impl Reply {
    pub(super) fn into_response(self) -> Response<http_body_util::Full<Bytes>> {
        let mut response = Response::new(http_body_util::Full::new(self.body));
        *response.status_mut() = http::StatusCode::from_u16(self.status).unwrap_or(http::StatusCode::BAD_GATEWAY);
        *response.headers_mut() = self.headers;
        response
    }
}

/// Method and path, without the query.
fn name_of(method: &Method, uri: &Uri) -> String {
    format!("{method} {}", uri.path())
}

/// Where an answer sends the call.
fn redirect(reply: &Reply, method: &Method, from: &Uri) -> Option<Uri> {
    let follows = match reply.status {
        301 | 302 => *method == Method::GET,
        307 | 308 => true,
        _ => false,
    };
    let to = reply.headers.get(LOCATION)?.to_str().ok().filter(|_| follows)?;
    let uri: Uri = to.parse().ok()?;
    if uri.authority().is_some() {
        return Some(uri);
    }
    let mut parts = uri.into_parts();
    parts.scheme = from.scheme().cloned();
    parts.authority = from.authority().cloned();
    Uri::from_parts(parts).ok()
}

/// Whether the call was turned away for a limit, and so certainly did nothing.
fn is_limit(got: &Result<Reply, WireError>) -> bool {
    got.as_ref().is_ok_and(|reply| matches!(reply.status, 403 | 429))
}

/// GitHub's words in an answer.
fn message(reply: &Reply) -> String {
    #[derive(serde::Deserialize)]
    struct Said {
        message: String,
    }
    match serde_json::from_slice::<Said>(&reply.body) {
        Ok(said) => said.message,
        Err(_) => String::from_utf8_lossy(&reply.body[..reply.body.len().min(200)]).trim().to_owned(),
    }
}

/// An answer that says no, as an error.
pub(super) fn status(call: String, reply: &Reply) -> GithubError {
    #[derive(serde::Deserialize, Default)]
    struct Faults {
        #[serde(default)]
        errors: Vec<serde_json::Value>,
    }
    let faults: Faults = serde_json::from_slice(&reply.body).unwrap_or_default();
    let word = |fault: &serde_json::Value| {
        fault.get("code").or_else(|| fault.get("message")).unwrap_or(fault).as_str().map(str::to_owned)
    };
    let said = faults.errors.iter().filter_map(|fault| fault.get("message")?.as_str()).collect::<Vec<_>>().join("; ");
    let mut text = message(reply);
    if !said.is_empty() {
        text = format!("{text}: {said}");
    }
    let codes = faults.errors.iter().filter_map(word).collect();
    GithubError::Status { call, status: reply.status, message: text, codes }
}

fn words(got: &Result<Reply, WireError>) -> String {
    match got {
        Err(error) => error.reason.clone(),
        Ok(reply) => format!("{} {}", reply.status, message(reply)).trim().to_owned(),
    }
}

fn no_answer(call: &str, error: WireError) -> GithubError {
    GithubError::NoAnswer { call: call.to_owned(), reason: error.reason, is_lasting: error.is_lasting }
}

fn passing(error: &std::io::Error) -> WireError {
    WireError { reason: error.to_string(), is_lasting: false }
}

fn malformed(call: &str, error: &dyn std::error::Error) -> GithubError {
    GithubError::Malformed { call: call.to_owned(), reason: error.to_string() }
}
