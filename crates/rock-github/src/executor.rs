//! Sends requests to the API, with rate limits, redirects, retries and a deadline.
//!
//! The tests of whole runs are in the workspace: `tests/it/publish_waits.rs` has those of waits,
//! limits and the deadline, `publish_calls.rs` those of retries, and `publish_ends_under_way.rs`
//! and `publish_resumes.rs` those of stop requests.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, USER_AGENT};
use http::{Method, Request, Uri};

use super::api::ApiEndpoint;
use super::clock::Clock;
use super::error::GithubError;
use super::limits::{LARGEST_ANSWER_BYTES, LARGEST_REFUSAL_BYTES};
use super::rate_limiter::RateLimiter;
use super::reply::{ApiReply, words};
use super::retry::{RetryDecision, RetryInput, backoff, judge};
use super::token::Token;
use super::transport::{Transport, read_body};
use super::wait::RequestWait;
use rock_sys::http::{HttpBody, HttpError, MAX_REDIRECTS, full_body};

/// The interval at which a short wait checks for a stop request.
const GLANCE: Duration = Duration::from_millis(100);
/// The interval for a long wait: a cancelled job has 7.5 seconds, of which this takes one.
const LONGEST_GLANCE: Duration = Duration::from_secs(1);
/// Time that a write in flight gets after a stop request. A cancelled job has 7.5 seconds before it
/// is terminated, and 2.5 more before it is killed (GitHub Docs, "Workflow cancellation
/// reference").
const GRACE: Duration = Duration::from_secs(4);
/// The version of the API (GitHub Docs, "API Versions").
const API_VERSION: (&str, &str) = ("x-github-api-version", "2022-11-28");
/// The media type of responses (GitHub Docs, "Media types").
const JSON: &str = "application/vnd.github+json";

/// The effect of a request, which decides whether it is retried when its outcome is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Idempotency {
    /// Safe (RFC 9110): retry it.
    Safe,
    /// Changes something, but is idempotent (RFC 9110): retry it.
    Idempotent,
    /// Creates something: observe the state first.
    NotIdempotent,
    /// Uploads a file: observe the state first.
    Upload,
}

/// The result of one attempt.
enum AttemptResult {
    /// A response that is not retried.
    Settled(ApiReply),
    /// A rate limit: nothing was changed, and no request is sent before the requested wait is over.
    TurnedAway,
    /// A temporary error of a request that may be repeated, with its reason: retry after this time.
    Again(String, Duration),
}

/// A callback that returns whether the run should stop. It is called repeatedly.
pub type StopRequested = dyn Fn() -> bool + Send + Sync;

/// A callback before each wait.
pub type OnWait = dyn Fn(&RequestWait<'_>) + Send + Sync;

/// A callback after each response, with the request, the status and GitHub's ID of the request.
pub type OnReply = dyn Fn(&str, u16, Option<&str>) + Send + Sync;

/// Sends all requests of a run.
pub(super) struct Executor {
    pub(super) api: ApiEndpoint,
    pub(super) token: Option<Token>,
    pub(super) transport: Arc<dyn Transport>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) rate_limiter: RateLimiter,
    /// The time of the clock that no request and no wait may exceed.
    pub(super) deadline: Duration,
    /// Returns whether the run should stop.
    pub(super) stop: Box<StopRequested>,
    /// Called before each wait.
    pub(super) on_wait: Box<OnWait>,
    /// Called after each response.
    pub(super) on_reply: Box<OnReply>,
}

impl Executor {
    /// Sends a request with a short body until the response is definite. If an attempt of a request
    /// that changes something may have succeeded, the error is marked with
    /// [`GithubError::EndedDuringWrite`].
    pub(super) async fn call(
        &self,
        method: &Method,
        uri: &Uri,
        body: &Bytes,
        kind: Idempotency,
    ) -> Result<ApiReply, GithubError> {
        let may_be_done = AtomicBool::new(false);
        let called = self
            .attempt_until_definite(method, uri, body, kind, &may_be_done)
            .await;
        let may_be_done = kind != Idempotency::Safe && may_be_done.into_inner();
        called.map_err(|error| {
            if may_be_done {
                error.ended_during_write()
            } else {
                error
            }
        })
    }

    /// Attempts a request until the response is definite. Sets `may_be_done` to whether an attempt
    /// may have succeeded.
    async fn attempt_until_definite(
        &self,
        method: &Method,
        uri: &Uri,
        body: &Bytes,
        kind: Idempotency,
        may_be_done: &AtomicBool,
    ) -> Result<ApiReply, GithubError> {
        let mut uri = uri.clone();
        let (mut redirects, mut tries) = (0, 1);
        loop {
            let name = name_of(method, &uri);
            self.turn(&name, kind).await?;
            let request = self
                .request(method, &uri, JSON)
                .body(full_body(body.clone()))
                .map_err(|e| malformed(&name, &e))?;
            let may_be_done_before = may_be_done.swap(true, Ordering::Relaxed);
            let got = self.within(&name, kind, self.exchange(request)).await?;
            if let Ok(reply) = &got {
                self.report_reply(&name, reply);
                let next = reply.redirect(method, &uri);
                if let Some(next) = next.map_err(|error| malformed(&name, &error))? {
                    may_be_done.store(may_be_done_before, Ordering::Relaxed);
                    redirects += 1;
                    if !self.api.is_own(&next) {
                        return Err(self.api.elsewhere(&next).into());
                    }
                    if redirects > MAX_REDIRECTS {
                        return Err(self.api.too_many_redirects().into());
                    }
                    uri = next;
                    continue;
                }
            }
            match self.after_attempt(&name, got, kind, tries)? {
                AttemptResult::Settled(reply) => return Ok(reply),
                AttemptResult::TurnedAway => {
                    may_be_done.store(may_be_done_before, Ordering::Relaxed);
                }
                AttemptResult::Again(why, wait) => {
                    let wait = RequestWait::new(&name, &why, wait).before_attempt(tries + 1);
                    self.wait(wait).await?;
                }
            }
            tries += 1;
        }
    }

    /// Sends a request once, because its body can be read only once; [`Self::turn`] must have been
    /// awaited before. `call` names it in messages. `None` if a rate limit rejected it: nothing was
    /// changed, and the rate limiter delays the next attempt.
    ///
    /// # Errors
    /// [`GithubError::UnknownOutcome`] or [`GithubError::EndedDuringWrite`] if the request may have
    /// succeeded anyway.
    pub(super) async fn send_once(
        &self,
        request: Request<HttpBody>,
        call: &str,
        tries: u32,
    ) -> Result<Option<ApiReply>, GithubError> {
        let got = self
            .within(call, Idempotency::Upload, self.exchange(request))
            .await
            .map_err(GithubError::ended_during_write)?;
        if let Ok(reply) = &got {
            self.report_reply(call, reply);
        }
        match self.after_attempt(call, got, Idempotency::Upload, tries)? {
            AttemptResult::Settled(reply) => Ok(Some(reply)),
            // An upload never results in `Again`, because it must not be repeated at once.
            AttemptResult::TurnedAway | AttemptResult::Again(..) => Ok(None),
        }
    }

    /// Downloads bytes of a media type, which may be on another host; that one does not receive the
    /// token. An interrupted download starts over with a new value from `begin`. `add` receives
    /// each chunk and returns whether to continue.
    pub(super) async fn fetch<S>(
        &self,
        uri: &Uri,
        accept: &str,
        begin: impl Fn() -> S,
        add: impl Fn(&mut S, &[u8]) -> bool,
    ) -> Result<S, GithubError> {
        let name = name_of(&Method::GET, uri);
        let mut tries = 1;
        loop {
            self.turn(&name, Idempotency::Safe).await?;
            let mut fetched = begin();
            let got = self
                .within(
                    &name,
                    Idempotency::Safe,
                    self.bytes(&name, uri, accept, |piece| add(&mut fetched, piece)),
                )
                .await?;
            match self.after_attempt(&name, got?, Idempotency::Safe, tries)? {
                AttemptResult::Settled(reply) if reply.status == 200 => return Ok(fetched),
                AttemptResult::Settled(reply) => return Err(reply.refusal(name)),
                AttemptResult::TurnedAway => {}
                AttemptResult::Again(why, wait) => {
                    let wait = RequestWait::new(&name, &why, wait).before_attempt(tries + 1);
                    self.wait(wait).await?;
                }
            }
            tries += 1;
        }
    }

    /// Makes one attempt of a download. The body of the response is empty if `add` received it.
    async fn bytes(
        &self,
        name: &str,
        uri: &Uri,
        accept: &str,
        mut add: impl FnMut(&[u8]) -> bool,
    ) -> Result<Result<ApiReply, HttpError>, GithubError> {
        let mut uri = uri.clone();
        for _ in 0..=MAX_REDIRECTS {
            let builder = self.request(&Method::GET, &uri, accept);
            let request = builder
                .body(full_body(Bytes::new()))
                .map_err(|e| malformed(name, &e))?;
            let (parts, body) = match self.transport.send(request).await {
                Ok(response) => response.into_parts(),
                Err(error) => return Ok(Err(error)),
            };
            let mut reply = ApiReply {
                status: parts.status.as_u16(),
                headers: parts.headers,
                body: Bytes::new(),
            };
            self.report_reply(&name_of(&Method::GET, &uri), &reply);
            let next = reply.redirect(&Method::GET, &uri);
            if let Some(next) = next.map_err(|error| malformed(name, &error))? {
                uri = next;
                continue;
            }
            let mut refusal = BytesMut::new();
            let read = match reply.status {
                200 => read_body(body, &mut add).await,
                _ => read_body(body, |piece| {
                    gather(&mut refusal, piece, LARGEST_REFUSAL_BYTES)
                })
                .await
                .map(|_| true),
            };
            reply.body = refusal.freeze();
            return match read {
                Ok(true) => Ok(Ok(reply)),
                Ok(false) => Err(too_long(name)),
                Err(error) => Ok(Err(error)),
            };
        }
        Err(self.api.too_many_redirects().into())
    }

    /// Returns a request with the common headers, and with the token if the URL may receive it.
    pub(super) fn request(
        &self,
        method: &Method,
        uri: &Uri,
        accept: &str,
    ) -> http::request::Builder {
        let mut builder = Request::builder()
            .method(method)
            .uri(uri)
            .header(ACCEPT, accept);
        builder = builder.header(
            USER_AGENT,
            concat!("rock-matrix/", env!("CARGO_PKG_VERSION")),
        );
        builder = builder.header(API_VERSION.0, API_VERSION.1);
        if *method != Method::GET {
            builder = builder.header(CONTENT_TYPE, "application/json");
        }
        match self.token.as_ref().filter(|_| self.api.may_have_token(uri)) {
            Some(token) => builder.header(AUTHORIZATION, token.header()),
            None => builder,
        }
    }

    /// Sends one request and reads its whole response.
    async fn exchange(&self, request: Request<HttpBody>) -> Result<ApiReply, HttpError> {
        let (parts, body) = self.transport.send(request).await?.into_parts();
        let mut content = BytesMut::new();
        if !read_body(body, |piece| {
            gather(&mut content, piece, LARGEST_ANSWER_BYTES)
        })
        .await?
        {
            let reason = format!("the response is longer than {LARGEST_ANSWER_BYTES} bytes");
            return Err(HttpError::permanent(reason));
        }
        Ok(ApiReply {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: content.freeze(),
        })
    }

    /// Waits for an attempt until a stop request or the deadline. After a stop request, a write in
    /// flight gets some time to finish.
    async fn within<T>(
        &self,
        call: &str,
        kind: Idempotency,
        tried: impl Future<Output = T>,
    ) -> Result<T, GithubError> {
        let left = self.deadline.saturating_sub(self.clock.now());
        let out_of_time = || GithubError::Deadline {
            call: call.to_owned(),
            reason: "it did not complete in time".to_owned(),
        };
        if left.is_zero() {
            return Err(out_of_time());
        }
        tokio::select! {
            tried = tried => Ok(tried),
            () = self.stopped(kind) => Err(GithubError::Stopped),
            () = tokio::time::sleep(left) => Err(out_of_time()),
        }
    }

    /// Reports a response.
    fn report_reply(&self, call: &str, reply: &ApiReply) {
        let request_id = reply.request_id().map(|id| self.without_token(&id));
        (self.on_reply)(call, reply.status, request_id.as_deref());
    }

    /// Decides how to continue after an attempt. If the response asks to wait, all requests are
    /// held until then.
    fn after_attempt(
        &self,
        call: &str,
        got: Result<ApiReply, HttpError>,
        kind: Idempotency,
        tries: u32,
    ) -> Result<AttemptResult, GithubError> {
        let is_transient = got
            .as_ref()
            .map_or_else(|error| error.is_transient, |_| true);
        let message = got
            .as_ref()
            .map_or_else(|_| String::new(), ApiReply::message);
        let answer = got.as_ref().map_or_else(
            |_| RetryInput::default(),
            |reply| reply.to_judge(&message, self.clock.epoch_seconds()),
        );
        let is_limit = got.as_ref().is_ok_and(ApiReply::is_limit);
        let reason = words(&got);
        let status = got.as_ref().ok().map(|reply| reply.status);
        let call = call.to_owned();
        match judge(&answer, tries, self.clock.chance()) {
            RetryDecision::Again(wait) if is_transient => {
                if is_limit || answer.asks_to_wait() {
                    self.rate_limiter.hold(self.clock.now() + wait, &reason);
                }
                match kind {
                    _ if is_limit => Ok(AttemptResult::TurnedAway),
                    Idempotency::Safe | Idempotency::Idempotent => {
                        Ok(AttemptResult::Again(reason, wait))
                    }
                    Idempotency::NotIdempotent | Idempotency::Upload => {
                        Err(GithubError::UnknownOutcome {
                            call,
                            reason,
                            status,
                        })
                    }
                }
            }
            RetryDecision::TooOften if is_limit => Err(GithubError::Limited { call, reason }),
            RetryDecision::TooOften
                if is_transient
                    && matches!(kind, Idempotency::NotIdempotent | Idempotency::Upload) =>
            {
                Err(GithubError::UnknownOutcome {
                    call,
                    reason,
                    status,
                })
            }
            RetryDecision::Again(_) | RetryDecision::TooOften => Err(match got {
                Ok(_) => GithubError::ServerError { call, reason },
                Err(_) => GithubError::NoResponse {
                    call,
                    reason,
                    is_transient,
                },
            }),
            RetryDecision::Good | RetryDecision::Bad => match got {
                Ok(reply) => Ok(AttemptResult::Settled(reply)),
                Err(_) => Err(GithubError::NoResponse {
                    call,
                    reason,
                    is_transient,
                }),
            },
        }
    }

    /// Waits until the rate limiter permits a request of this kind.
    pub(super) async fn turn(&self, call: &str, kind: Idempotency) -> Result<(), GithubError> {
        loop {
            self.check_stop()?;
            match self.rate_limiter.take(self.clock.now(), kind) {
                Ok(()) => return Ok(()),
                Err(later) => {
                    let wait = RequestWait::new(call, &later.why, later.wait);
                    if later.is_reported {
                        self.wait_silently(wait).await?;
                    } else {
                        self.wait(wait).await?;
                    }
                }
            }
        }
    }

    /// Reports a wait and waits, unless that would exceed the deadline.
    pub(super) async fn wait(&self, wait: RequestWait<'_>) -> Result<(), GithubError> {
        if self.clock.now() + wait.duration <= self.deadline {
            let reason = self.without_token(wait.reason);
            (self.on_wait)(&RequestWait {
                reason: &reason,
                ..wait
            });
        }
        self.wait_silently(wait).await
    }

    /// Waits without reporting it, unless that would exceed the deadline.
    async fn wait_silently(&self, wait: RequestWait<'_>) -> Result<(), GithubError> {
        if self.clock.now() + wait.duration > self.deadline {
            return Err(GithubError::Deadline {
                call: wait.call.to_owned(),
                reason: format!(
                    "{}; waiting {} seconds would exceed the time limit",
                    self.without_token(wait.reason),
                    wait.duration.as_secs()
                ),
            });
        }
        self.sleep(wait.duration)
            .await
            .map_err(|error| match error {
                GithubError::Stopped => GithubError::StoppedDuringWait {
                    call: wait.call.to_owned(),
                    reason: self.without_token(wait.reason),
                },
                other => other,
            })
    }

    /// Returns a text of the server with the token removed.
    fn without_token(&self, text: &str) -> String {
        self.token
            .as_ref()
            .map_or_else(|| text.to_owned(), |token| token.without(text))
    }

    /// Sleeps, and returns early with an error on a stop request.
    async fn sleep(&self, time: Duration) -> Result<(), GithubError> {
        let end = self.clock.now() + time;
        loop {
            self.check_stop()?;
            let left = end.saturating_sub(self.clock.now());
            if left.is_zero() {
                return Ok(());
            }
            self.clock
                .sleep(left.min((time / 600).clamp(GLANCE, LONGEST_GLANCE)))
                .await;
        }
    }

    /// Completes after a stop request, when a write in flight has had its time.
    async fn stopped(&self, kind: Idempotency) {
        while self.check_stop().is_ok() {
            tokio::time::sleep(GLANCE).await;
        }
        if kind != Idempotency::Safe {
            tokio::time::sleep(GRACE).await;
        }
    }

    /// Returns an error if the run should stop.
    pub(super) fn check_stop(&self) -> Result<(), GithubError> {
        if (self.stop)() {
            Err(GithubError::Stopped)
        } else {
            Ok(())
        }
    }

    /// Returns the delay after an attempt with an unknown outcome, whose number starts at 1.
    pub(super) fn backoff(&self, tries: u32) -> Duration {
        backoff(tries, self.clock.chance())
    }
}

impl std::fmt::Debug for Executor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Executor")
            .field("api", &self.api)
            .finish_non_exhaustive()
    }
}

/// Returns method and path, without the query.
fn name_of(method: &Method, uri: &Uri) -> String {
    format!("{method} {}", uri.path())
}

/// Appends a chunk, unless the total would exceed `most` bytes. Returns whether it was appended.
fn gather(to: &mut BytesMut, piece: &[u8], most: usize) -> bool {
    let has_room = to.len() + piece.len() <= most;
    if has_room {
        to.extend_from_slice(piece);
    }
    has_room
}

fn too_long(call: &str) -> GithubError {
    GithubError::Malformed {
        call: call.to_owned(),
        reason: "the file is larger than permitted".to_owned(),
    }
}

fn malformed(call: &str, error: &dyn std::error::Error) -> GithubError {
    GithubError::Malformed {
        call: call.to_owned(),
        reason: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
    use std::sync::{Arc, Mutex};

    use bytes::BytesMut;
    use http::{Request, Response};
    use rock_diagnostic::{Diagnostic, Severity};
    use rock_publish::remote::ReleaseDescription;
    use rock_sys::http::{HttpBody, full_body};

    use super::{LARGEST_ANSWER_BYTES, LARGEST_REFUSAL_BYTES, Transport, gather};
    use crate::client::CallOptions;
    use crate::client::testing::{call_options, client_over, client_with};
    use crate::error::GithubError;
    use crate::transport::ResponseFuture;

    /// Responds with 503 to the first requests, and counts all.
    struct OverloadedTransport {
        refused: u32,
        requests: AtomicU32,
    }

    impl Transport for OverloadedTransport {
        fn send(&self, _: Request<HttpBody>) -> ResponseFuture<'_> {
            let before = self.requests.fetch_add(1, Ordering::Relaxed);
            let (status, body) = if before < self.refused {
                (503, "{}")
            } else {
                (200, r#"{"id": 7}"#)
            };
            let response = Response::builder()
                .status(status)
                .header("x-github-request-id", format!("AB:{before}"))
                .body(full_body(body));
            Box::pin(std::future::ready(Ok(response.unwrap())))
        }
    }

    fn overloaded(refused: u32) -> Arc<OverloadedTransport> {
        Arc::new(OverloadedTransport {
            refused,
            requests: AtomicU32::new(0),
        })
    }

    /// A read is repeated. After a creation, the state has to be observed first.
    #[test]
    fn only_requests_that_are_idempotent_are_repeated_after_a_temporary_error() {
        let transport = overloaded(2);
        let reading = client_over(Arc::clone(&transport) as Arc<dyn Transport>);
        assert_eq!(reading.latest(), Ok(Some(7)));
        assert_eq!(transport.requests.load(Ordering::Relaxed), 3);

        let transport = overloaded(2);
        let creating = client_over(Arc::clone(&transport) as Arc<dyn Transport>);
        let created = creating.create("v1", &ReleaseDescription::default());
        assert_eq!(transport.requests.load(Ordering::Relaxed), 1);
        let error = created.unwrap_err();
        assert_eq!(
            error,
            GithubError::UnknownOutcome {
                call: "POST /repos/o/r/releases".to_owned(),
                reason: "503 {} (request ID AB:0)".to_owned(),
                status: Some(503),
            }
        );
        let help = Diagnostic::from(error).help.unwrap();
        assert!(help.contains("githubstatus.com"), "{help}");
    }

    #[test]
    fn a_server_that_stays_overloaded_is_not_one_without_a_response() {
        let transport = overloaded(u32::MAX);
        let read = client_over(Arc::clone(&transport) as Arc<dyn Transport>).latest();
        let error = read.unwrap_err();
        assert_eq!(
            error.to_string(),
            "GET /repos/o/r/releases/latest: GitHub could not process the request: 503 {} \
             (request ID AB:5)"
        );
        let help = Diagnostic::from(error).help.unwrap();
        assert!(help.contains("githubstatus.com"), "{help}");
        assert_eq!(transport.requests.load(Ordering::Relaxed), 6);
    }

    #[test]
    fn a_stop_during_a_wait_has_the_reason_for_the_wait() {
        let is_waiting = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&is_waiting);
        let client = client_with(CallOptions {
            stop: Box::new(move || stop.load(Ordering::Relaxed)),
            on_wait: Box::new(move |_| is_waiting.store(true, Ordering::Relaxed)),
            ..call_options(overloaded(u32::MAX))
        });
        let error = client.latest().unwrap_err();
        assert!(error.is_stop(), "{error}");
        let diagnostic = Diagnostic::from(error);
        assert_eq!(
            (diagnostic.severity, diagnostic.message.as_str()),
            (
                Severity::Error,
                "GET /repos/o/r/releases/latest: the run was stopped during a wait: 503 {} \
                 (request ID AB:0)"
            )
        );
    }

    #[test]
    fn each_response_is_reported_with_its_request_id() {
        let replies = Arc::new(Mutex::new(Vec::new()));
        let reported = Arc::clone(&replies);
        let client = client_with(CallOptions {
            on_reply: Box::new(move |call, status, id| {
                let line = format!("{call} {status} {}", id.unwrap_or_default());
                reported.lock().unwrap().push(line);
            }),
            ..call_options(overloaded(2))
        });
        assert_eq!(client.latest(), Ok(Some(7)));
        assert_eq!(
            *replies.lock().unwrap(),
            [
                "GET /repos/o/r/releases/latest 503 AB:0",
                "GET /repos/o/r/releases/latest 503 AB:1",
                "GET /repos/o/r/releases/latest 200 AB:2",
            ]
        );
    }

    /// Redirects one path to another.
    struct RedirectingTransport;

    impl Transport for RedirectingTransport {
        fn send(&self, request: Request<HttpBody>) -> ResponseFuture<'_> {
            let response = if request.uri().path() == "/repos/o/r/releases/latest" {
                Response::builder()
                    .status(301)
                    .header("location", "/repositories/1/releases/latest")
                    .body(full_body(""))
            } else {
                Response::builder().body(full_body(r#"{"id": 7}"#))
            };
            Box::pin(std::future::ready(Ok(response.unwrap())))
        }
    }

    #[test]
    fn redirects_are_reported() {
        let replies = Arc::new(Mutex::new(Vec::new()));
        let reported = Arc::clone(&replies);
        let client = client_with(CallOptions {
            on_reply: Box::new(move |call, status, _| {
                reported.lock().unwrap().push(format!("{call} {status}"));
            }),
            ..call_options(Arc::new(RedirectingTransport))
        });
        assert_eq!(client.latest(), Ok(Some(7)));
        assert_eq!(
            *replies.lock().unwrap(),
            [
                "GET /repos/o/r/releases/latest 301",
                "GET /repositories/1/releases/latest 200",
            ]
        );
    }

    #[test]
    fn answers_at_the_limit_are_gathered_and_longer_ones_are_not() {
        let spaces = vec![b' '; 1 << 20];
        for limit in [LARGEST_REFUSAL_BYTES, LARGEST_ANSWER_BYTES] {
            let mut answer = BytesMut::new();
            while answer.len() < limit {
                let piece = &spaces[..spaces.len().min(limit - answer.len())];
                assert!(gather(&mut answer, piece, limit));
            }
            assert!(!gather(&mut answer, b" ", limit));
            assert_eq!(answer.len(), limit);
        }
    }
}
