//! The state machine: handles requests, injects faults, and returns replies.

use std::collections::BTreeMap;

use super::fault::InjectedFault;
use super::fault_schedule::FaultSchedule;
use super::ledger::{HttpExchange, LoggedRequest, ReachedState, RequestLedger};
use super::rate_limits::RateLimitUsage;
use super::request::{ApiReply, ApiRequest, ReceivedBody, ReplyDelivery};
use super::request_url::RequestUrl;
use super::route::{ApiOperation, RequestRoute};
use super::settings::{GithubSettings, ListingMode};
use super::state::{ApiToken, StoredRepository, TokenKind, TokenRights};
use super::upload::PendingUpload;
use super::{assets, downloads, errors, git, paging, releases, response_bodies, rulesets};

/// A model of GitHub.
#[derive(Debug, Clone, Default)]
pub struct FakeGithub {
    /// Hosts, limits and delays.
    pub settings: GithubSettings,
    /// The known tokens.
    pub tokens: BTreeMap<String, ApiToken>,
    /// The repositories, by ID.
    pub repositories: BTreeMap<u64, StoredRepository>,
    /// The faults to inject.
    pub faults: FaultSchedule,
    /// The requests, the states that were reached, and the mistakes of clients.
    pub ledger: RequestLedger,
    pub(super) rate_limits: RateLimitUsage,
    pub(super) last_id: u64,
    arrived: u64,
    lists: u64,
}

/// The next step of a request.
#[derive(Debug)]
pub enum RequestProgress {
    /// Send the reply.
    Answer(ApiReply),
    /// Read the body of an upload, then call [`FakeGithub::finish`].
    Upload(Box<PendingUpload>),
    /// Wait until the request is released, then call [`FakeGithub::resume`].
    Held(u64),
}

/// The context of an operation.
pub struct ApiCall<'a> {
    pub(super) settings: &'a GithubSettings,
    pub(super) ledger: &'a mut RequestLedger,
    pub(super) last_id: &'a mut u64,
    pub(super) request: &'a ApiRequest,
    pub(super) address: &'a RequestUrl,
    pub(super) route: &'a RequestRoute,
    /// Milliseconds since 1970 on the server's clock.
    pub(super) now_ms: u64,
    /// The time whose state lists show.
    pub(super) list_ms: u64,
    pub(super) may_write: bool,
}

impl ApiCall<'_> {
    /// Returns a new ID.
    pub(super) fn next_id(&mut self) -> u64 {
        *self.last_id += 1;
        *self.last_id
    }
}

impl FakeGithub {
    /// Creates a model with the public repository `me/wheels`, with the tag `v1` on its branch
    /// `main`, and five tokens: `writer`, `reader`, `planner`, `stranger` and the personal
    /// `reader-pat`.
    pub fn new(settings: GithubSettings) -> Self {
        let mut github = Self {
            settings,
            last_id: 1000,
            ..Self::default()
        };
        let token = |rights, kind| ApiToken { rights, kind };
        for (name, token) in [
            (
                "planner",
                token(TokenRights::ReadActions, TokenKind::Integration),
            ),
            ("writer", token(TokenRights::Write, TokenKind::Integration)),
            ("reader", token(TokenRights::Read, TokenKind::Integration)),
            ("reader-pat", token(TokenRights::Read, TokenKind::Personal)),
            (
                "stranger",
                token(TokenRights::Stranger, TokenKind::Personal),
            ),
        ] {
            github.tokens.insert(name.to_owned(), token);
        }
        let wheels = github.add_repository("me/wheels");
        let main = wheels.branches["main"].clone();
        wheels.tags.insert("v1".to_owned(), main);
        github
    }

    /// Adds an empty public repository.
    pub fn add_repository(&mut self, full_name: &str) -> &mut StoredRepository {
        self.last_id += 1;
        self.repositories
            .entry(self.last_id)
            .or_insert(StoredRepository::new(self.last_id, full_name))
    }

    /// Returns the repository of this name.
    ///
    /// # Panics
    /// If there is none.
    pub fn repository(&self, full_name: &str) -> &StoredRepository {
        self.repositories
            .values()
            .find(|repository| repository.full_name == full_name)
            .expect("a repository")
    }

    /// Returns the repository of this name, for changes.
    ///
    /// # Panics
    /// If there is none.
    pub fn repository_mut(&mut self, full_name: &str) -> &mut StoredRepository {
        self.repositories
            .values_mut()
            .find(|repository| repository.full_name == full_name)
            .expect("a repository")
    }

    /// Answers a request with its complete body, at a time in milliseconds since 1970.
    pub fn handle(&mut self, request: &ApiRequest, now_ms: u64) -> ApiReply {
        match self.begin(request, now_ms) {
            RequestProgress::Answer(reply) => reply,
            RequestProgress::Held(_) => ApiReply::cut(),
            RequestProgress::Upload(upload) => {
                let stop = upload.stop_at.or(upload.hold_at).unwrap_or(u64::MAX);
                let came = usize::try_from(stop)
                    .unwrap_or(usize::MAX)
                    .min(request.body.len());
                let received =
                    ReceivedBody::from_bytes(&request.body[..came], self.settings.keep_bytes);
                self.finish(&upload, &received, now_ms)
            }
        }
    }

    /// Starts to answer a request; it need not contain the body of an upload.
    pub fn begin(&mut self, request: &ApiRequest, now_ms: u64) -> RequestProgress {
        self.arrived += 1;
        let number = self.arrived;
        let route = RequestRoute::resolve(
            &request.method,
            &RequestUrl::parse(&request.url),
            &self.settings,
        );
        let fault = self
            .faults
            .next(route.operation, request.length().unwrap_or(0));
        self.ledger.requests.push(LoggedRequest {
            number,
            at_ms: now_ms,
            method: request.method.clone(),
            url: request.url.clone(),
            headers: without_secrets(&request.headers),
            operation: route.operation,
            json: match route.operation {
                ApiOperation::Upload => serde_json::Value::Null,
                _ => serde_json::from_slice(&request.body).unwrap_or_default(),
            },
            size_bytes: request.body.len() as u64,
            fault,
            status: 0,
        });
        self.record_early_request(request, route.operation, now_ms);
        match fault {
            Some(InjectedFault::HoldBefore) => RequestProgress::Held(number),
            fault => self.dispatch(request, &route, fault, number, now_ms),
        }
    }

    /// Resumes a request that was held.
    pub fn resume(&mut self, request: &ApiRequest, number: u64, now_ms: u64) -> RequestProgress {
        let route = RequestRoute::resolve(
            &request.method,
            &RequestUrl::parse(&request.url),
            &self.settings,
        );
        self.dispatch(request, &route, None, number, now_ms)
    }

    fn dispatch(
        &mut self,
        request: &ApiRequest,
        route: &RequestRoute,
        fault: Option<InjectedFault>,
        number: u64,
        now_ms: u64,
    ) -> RequestProgress {
        let early =
            fault.and_then(|fault| self.early_reply(fault, request, route.operation, now_ms));
        let reply = match early {
            Some(reply) => reply,
            None if route.operation == ApiOperation::Storage => {
                downloads::storage(self, request, route, now_ms)
            }
            None => match self.admit(request, route, now_ms) {
                Err(refused) => refused,
                Ok(admitted) => {
                    let list_ms = self.list_time(route.operation, now_ms);
                    let repository = self
                        .repositories
                        .get_mut(&admitted.repository)
                        .expect("admitted to it");
                    if !["GET", "HEAD"].contains(&request.method.as_str()) {
                        repository.push_snapshot(
                            self.settings.clock(now_ms),
                            max_list_age_ms(&self.settings),
                        );
                    }
                    let mut call = ApiCall {
                        settings: &self.settings,
                        ledger: &mut self.ledger,
                        last_id: &mut self.last_id,
                        request,
                        address: &RequestUrl::parse(&request.url),
                        route,
                        now_ms: self.settings.clock(now_ms),
                        list_ms,
                        may_write: admitted.may_write,
                    };
                    match route.operation {
                        ApiOperation::Upload => {
                            match call.begin_upload(repository, fault, number) {
                                Ok(upload) => return RequestProgress::Upload(Box::new(upload)),
                                Err(refused) => refused,
                            }
                        }
                        _ => answer(&mut call, repository),
                    }
                }
            },
        };
        RequestProgress::Answer(self.send(reply, request, route.operation, fault, number, now_ms))
    }

    /// Returns the time whose state a list shows, on the server's clock.
    fn list_time(&mut self, operation: ApiOperation, now_ms: u64) -> u64 {
        let now_ms = self.settings.clock(now_ms);
        if !matches!(
            operation,
            ApiOperation::ListReleases | ApiOperation::ListAssets
        ) {
            return now_ms;
        }
        self.lists += 1;
        match self.settings.listing {
            ListingMode::Late(ms) => now_ms.saturating_sub(ms),
            ListingMode::Flapping(ms) if self.lists.is_multiple_of(2) => now_ms.saturating_sub(ms),
            ListingMode::Flapping(_) | ListingMode::Fresh => now_ms,
        }
    }

    /// Returns the reply of a fault that applies before anything is done.
    fn early_reply(
        &mut self,
        fault: InjectedFault,
        request: &ApiRequest,
        operation: ApiOperation,
        now_ms: u64,
    ) -> Option<ApiReply> {
        let is_upload = operation == ApiOperation::Upload;
        let mut limited = |reply| {
            self.ledger.reach(ReachedState::Limited);
            Some(reply)
        };
        match fault {
            InjectedFault::Status(status) if !is_upload => Some(errors::server_error(status)),
            InjectedFault::Cut(_) | InjectedFault::Lost(_) if !is_upload => Some(ApiReply::cut()),
            InjectedFault::RetryAfter(status, seconds) => {
                limited(errors::secondary_limit(status, Some(seconds)))
            }
            InjectedFault::Secondary(status) => limited(errors::secondary_limit(status, None)),
            InjectedFault::Limit(status, seconds) => {
                let mut reply = errors::primary_limit(status);
                reply.set("x-ratelimit-remaining", "0");
                reply.set(
                    "x-ratelimit-reset",
                    &(self.settings.clock(now_ms) / 1000 + seconds).to_string(),
                );
                limited(reply)
            }
            InjectedFault::EchoToken(status) => Some(errors::echoed_token(
                status,
                request.get("authorization").unwrap_or_default(),
            )),
            InjectedFault::BadCredentials => Some(errors::bad_credentials()),
            InjectedFault::NoRight => Some(errors::no_write_access(true)),
            InjectedFault::Hidden => Some(errors::not_found()),
            InjectedFault::TagRuleset(status) => Some(errors::tag_ruleset(status)),
            InjectedFault::Garbled => {
                Some(ApiReply::html(200, "<h1>Welcome to the guest network</h1>"))
            }
            InjectedFault::Elsewhere(status) => {
                let mut reply = ApiReply::empty(status);
                let rest = request
                    .url
                    .strip_prefix(&RequestUrl::parse(&request.url).base)
                    .unwrap_or_default();
                reply.set("location", &format!("{}{rest}", self.settings.storage_base));
                Some(reply)
            }
            _ => None,
        }
    }

    /// Applies a fault to the reply, sets the headers of all replies, and logs the status.
    pub(super) fn send(
        &mut self,
        mut reply: ApiReply,
        request: &ApiRequest,
        operation: ApiOperation,
        fault: Option<InjectedFault>,
        number: u64,
        now_ms: u64,
    ) -> ApiReply {
        match fault {
            Some(InjectedFault::Done(status)) if reply.status < 400 => {
                reply = errors::server_error(status);
            }
            Some(InjectedFault::Mute(0)) => reply.delivery = ReplyDelivery::Cut,
            Some(InjectedFault::Mute(after)) => reply.delivery = ReplyDelivery::CutAfter(after),
            Some(InjectedFault::Stall(after)) => reply.delivery = ReplyDelivery::Stalled(after),
            Some(InjectedFault::Slow(rate)) => reply.delivery = ReplyDelivery::Slow(rate.max(1)),
            Some(InjectedFault::HoldAfter) => reply.delivery = ReplyDelivery::Held,
            Some(InjectedFault::NextElsewhere) => {
                paging::redirect_next_page(
                    &mut reply,
                    &self.settings.api_base,
                    &self.settings.storage_base,
                );
            }
            _ => {}
        }
        reply.set(
            "date",
            &super::times::http_date(self.settings.clock(now_ms)),
        );
        reply.set("server", "github.com");
        if operation.is_api() {
            reply.set("x-github-request-id", &format!("0400:F4CE:{number:X}:2:3"));
            self.rate_limits
                .set_headers(&mut reply, request, &self.settings, now_ms);
            self.rate_limits
                .record_wait(request, &reply, &self.settings, now_ms);
        }
        if let Some(exchanges) = &mut self.ledger.exchanges {
            exchanges.push(HttpExchange {
                operation: operation.name(),
                method: request.method.clone(),
                url: request.url.clone(),
                accept: request.get("accept").map(str::to_owned),
                request_body: serde_json::from_slice(&request.body).unwrap_or_default(),
                status: reply.status,
                content_type: reply.get("content-type").map(str::to_owned),
                answer_body: reply.value(),
            });
        }
        let status = if reply.delivery == ReplyDelivery::Cut {
            0
        } else {
            reply.status
        };
        if let Some(logged) = self
            .ledger
            .requests
            .iter_mut()
            .rev()
            .find(|logged| logged.number == number)
        {
            logged.status = status;
        }
        self.count_cut_reply(&reply);
        reply
    }
}

/// Returns the maximum age of lists in milliseconds.
pub(super) fn max_list_age_ms(settings: &GithubSettings) -> u64 {
    match settings.listing {
        ListingMode::Fresh => 0,
        ListingMode::Late(ms) | ListingMode::Flapping(ms) => ms,
    }
}

/// Executes an admitted request.
fn answer(call: &mut ApiCall, repository: &mut StoredRepository) -> ApiReply {
    match call.route.operation {
        ApiOperation::Repository => ApiReply::json(
            200,
            &response_bodies::repository(call.settings, repository, call.may_write),
        ),
        ApiOperation::ImmutableReleases if !repository.has_immutable_releases => {
            errors::not_found()
        }
        ApiOperation::ImmutableReleases => ApiReply::json(
            200,
            &serde_json::json!({"enabled": true, "enforced_by_owner": false}),
        ),
        ApiOperation::Environment => {
            response_bodies::environment(call.settings, repository, &call.route.text)
        }
        ApiOperation::DeploymentPolicies => {
            response_bodies::deployment_policies(repository, &call.route.text)
        }
        ApiOperation::ListRulesets => rulesets::list(call, repository),
        ApiOperation::GetRuleset => rulesets::get(call, repository),
        ApiOperation::ListTags => git::list_tags(call, repository),
        ApiOperation::Contents => git::contents(call, repository),
        ApiOperation::TagRef => git::tag_ref(call, repository),
        ApiOperation::MatchingRefs => git::matching_refs(call, repository),
        ApiOperation::TagObject => git::tag_object(call, repository),
        ApiOperation::DeleteTag => git::delete_tag(call, repository),
        ApiOperation::Commit => git::commit(call, repository),
        ApiOperation::ListReleases => releases::list(call, repository),
        ApiOperation::CreateRelease => releases::create(call, repository),
        ApiOperation::GetRelease => releases::get(call, repository),
        ApiOperation::ReleaseByTag => releases::by_tag(call, repository),
        ApiOperation::LatestRelease => releases::latest(call, repository),
        ApiOperation::EditRelease => releases::edit(call, repository),
        ApiOperation::DeleteRelease => releases::delete(call, repository),
        ApiOperation::ListAssets => assets::list(call, repository),
        ApiOperation::GetAsset => assets::get(call, repository),
        ApiOperation::EditAsset => assets::edit(call, repository),
        ApiOperation::DeleteAsset => assets::delete(call, repository),
        ApiOperation::Download => downloads::by_name(call, repository),
        ApiOperation::RateLimit
        | ApiOperation::Upload
        | ApiOperation::Storage
        | ApiOperation::Unknown => errors::not_found(),
    }
}

/// Returns the headers with `present` in place of secrets.
fn without_secrets(headers: &[(String, String)]) -> Vec<(String, String)> {
    let hide = |(name, value): &(String, String)| {
        let is_secret = ["authorization", "cookie", "proxy-authorization"].contains(&name.as_str());
        (
            name.clone(),
            if is_secret {
                "present".to_owned()
            } else {
                value.clone()
            },
        )
    };
    headers.iter().map(hide).collect()
}
