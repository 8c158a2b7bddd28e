//! The state machine: a request arrives, faults strike, an answer goes.

use std::collections::BTreeMap;

use super::address::Address;
use super::fault::Fault;
use super::ledger::{Exchange, Ledger, Logged, Reached};
use super::limits::Used;
use super::request::{Delivery, Received, Reply, Request};
use super::route::{Operation, Route};
use super::schedule::Faults;
use super::settings::{Listing, Settings};
use super::state::{Repository, Rights, Token, TokenKind};
use super::upload::Upload;
use super::{assets, downloads, errors, git, paging, releases, rulesets, shapes};

/// A GitHub.
#[derive(Debug, Clone, Default)]
pub struct Github {
    /// What kind it is.
    pub settings: Settings,
    /// Who is known, by token.
    pub tokens: BTreeMap<String, Token>,
    /// What it holds, by number.
    pub repositories: BTreeMap<u64, Repository>,
    /// What will go wrong.
    pub faults: Faults,
    /// What happened.
    pub ledger: Ledger,
    pub(super) used: Used,
    pub(super) last_id: u64,
    arrived: u64,
    lists: u64,
}

/// How an operation goes on after its request.
#[derive(Debug)]
pub enum Begun {
    /// With an answer.
    Answer(Reply),
    /// With the body of an upload, and then with [`Github::finish`].
    Upload(Box<Upload>),
    /// Not before somebody lets it: then with [`Github::resume`].
    Held(u64),
}

/// What one operation works with.
pub struct Call<'a> {
    pub(super) settings: &'a Settings,
    pub(super) ledger: &'a mut Ledger,
    pub(super) last_id: &'a mut u64,
    pub(super) request: &'a Request,
    pub(super) address: &'a Address,
    pub(super) route: &'a Route,
    /// Milliseconds since 1970 on the clock of the server.
    pub(super) now_ms: u64,
    /// The time that lists are of.
    pub(super) list_ms: u64,
    pub(super) may_write: bool,
}

impl Call<'_> {
    /// A number that nothing has.
    pub(super) fn id(&mut self) -> u64 {
        *self.last_id += 1;
        *self.last_id
    }
}

impl Github {
    /// A GitHub with the public repository `me/wheels`, whose branch `main` has the tag `v1`, and
    /// five tokens: `writer`, `reader`, `planner`, `stranger` and the personal `reader-pat`.
    pub fn new(settings: Settings) -> Self {
        let mut github = Self {
            settings,
            last_id: 1000,
            ..Self::default()
        };
        let token = |rights, kind| Token { rights, kind };
        for (name, token) in [
            (
                "planner",
                token(Rights::ReadActions, TokenKind::Integration),
            ),
            ("writer", token(Rights::Write, TokenKind::Integration)),
            ("reader", token(Rights::Read, TokenKind::Integration)),
            ("reader-pat", token(Rights::Read, TokenKind::Personal)),
            ("stranger", token(Rights::Stranger, TokenKind::Personal)),
        ] {
            github.tokens.insert(name.to_owned(), token);
        }
        let wheels = github.add_repository("me/wheels");
        let main = wheels.branches["main"].clone();
        wheels.tags.insert("v1".to_owned(), main);
        github
    }

    /// Adds an empty public repository.
    pub fn add_repository(&mut self, full_name: &str) -> &mut Repository {
        self.last_id += 1;
        self.repositories
            .entry(self.last_id)
            .or_insert(Repository::new(self.last_id, full_name))
    }

    /// The repository of a name.
    ///
    /// # Panics
    /// When there is none.
    pub fn repository(&self, full_name: &str) -> &Repository {
        self.repositories
            .values()
            .find(|repository| repository.full_name == full_name)
            .expect("a repository")
    }

    /// The repository of a name, to be changed.
    ///
    /// # Panics
    /// When there is none.
    pub fn repository_mut(&mut self, full_name: &str) -> &mut Repository {
        self.repositories
            .values_mut()
            .find(|repository| repository.full_name == full_name)
            .expect("a repository")
    }

    /// Answers a request whose body is at hand, at a time in milliseconds since 1970.
    pub fn handle(&mut self, request: &Request, now_ms: u64) -> Reply {
        match self.begin(request, now_ms) {
            Begun::Answer(reply) => reply,
            Begun::Held(_) => Reply::cut(),
            Begun::Upload(upload) => {
                let stop = upload.stop_at.or(upload.hold_at).unwrap_or(u64::MAX);
                let came = usize::try_from(stop)
                    .unwrap_or(usize::MAX)
                    .min(request.body.len());
                let received = Received::of(&request.body[..came], self.settings.keep_bytes);
                self.finish(&upload, &received, now_ms)
            }
        }
    }

    /// Begins to answer a request; the body of an upload need not be in it.
    pub fn begin(&mut self, request: &Request, now_ms: u64) -> Begun {
        self.arrived += 1;
        let number = self.arrived;
        let route = Route::of(&request.method, &Address::of(&request.url), &self.settings);
        let fault = self
            .faults
            .next(route.operation, request.length().unwrap_or(0));
        self.ledger.requests.push(Logged {
            number,
            at_ms: now_ms,
            method: request.method.clone(),
            url: request.url.clone(),
            headers: without_secrets(&request.headers),
            operation: route.operation,
            json: match route.operation {
                Operation::Upload => serde_json::Value::Null,
                _ => serde_json::from_slice(&request.body).unwrap_or_default(),
            },
            size_bytes: request.body.len() as u64,
            fault,
            status: 0,
        });
        self.look_for_haste(request, route.operation, now_ms);
        match fault {
            Some(Fault::HoldBefore) => Begun::Held(number),
            fault => self.go_on(request, &route, fault, number, now_ms),
        }
    }

    /// Goes on with a request that was held.
    pub fn resume(&mut self, request: &Request, number: u64, now_ms: u64) -> Begun {
        let route = Route::of(&request.method, &Address::of(&request.url), &self.settings);
        self.go_on(request, &route, None, number, now_ms)
    }

    fn go_on(
        &mut self,
        request: &Request,
        route: &Route,
        fault: Option<Fault>,
        number: u64,
        now_ms: u64,
    ) -> Begun {
        let early = fault.and_then(|fault| self.before(fault, request, route.operation, now_ms));
        let reply = match early {
            Some(reply) => reply,
            None if route.operation == Operation::Storage => {
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
                        repository.remember(self.settings.clock(now_ms), lag(&self.settings));
                    }
                    let mut call = Call {
                        settings: &self.settings,
                        ledger: &mut self.ledger,
                        last_id: &mut self.last_id,
                        request,
                        address: &Address::of(&request.url),
                        route,
                        now_ms: self.settings.clock(now_ms),
                        list_ms,
                        may_write: admitted.may_write,
                    };
                    match route.operation {
                        Operation::Upload => match call.begin_upload(repository, fault, number) {
                            Ok(upload) => return Begun::Upload(Box::new(upload)),
                            Err(refused) => refused,
                        },
                        _ => answer(&mut call, repository),
                    }
                }
            },
        };
        Begun::Answer(self.send(reply, request, route.operation, fault, number, now_ms))
    }

    /// The time that a list is of, on the clock of the server.
    fn list_time(&mut self, operation: Operation, now_ms: u64) -> u64 {
        let now_ms = self.settings.clock(now_ms);
        if !matches!(operation, Operation::ListReleases | Operation::ListAssets) {
            return now_ms;
        }
        self.lists += 1;
        match self.settings.listing {
            Listing::Late(ms) => now_ms.saturating_sub(ms),
            Listing::Flapping(ms) if self.lists.is_multiple_of(2) => now_ms.saturating_sub(ms),
            Listing::Flapping(_) | Listing::Fresh => now_ms,
        }
    }

    /// The answer of a fault that strikes before anything is done.
    fn before(
        &mut self,
        fault: Fault,
        request: &Request,
        operation: Operation,
        now_ms: u64,
    ) -> Option<Reply> {
        let is_upload = operation == Operation::Upload;
        let mut limited = |reply| {
            self.ledger.reach(Reached::Limited);
            Some(reply)
        };
        match fault {
            Fault::Status(status) if !is_upload => Some(errors::server_fault(status)),
            Fault::Cut(_) | Fault::Lost(_) if !is_upload => Some(Reply::cut()),
            Fault::RetryAfter(status, seconds) => {
                limited(errors::secondary_limit(status, Some(seconds)))
            }
            Fault::Secondary(status) => limited(errors::secondary_limit(status, None)),
            Fault::Limit(status, seconds) => {
                let mut reply = errors::primary_limit(status);
                reply.set("x-ratelimit-remaining", "0");
                reply.set(
                    "x-ratelimit-reset",
                    &(self.settings.clock(now_ms) / 1000 + seconds).to_string(),
                );
                limited(reply)
            }
            Fault::EchoToken(status) => Some(errors::echo(
                status,
                request.get("authorization").unwrap_or_default(),
            )),
            Fault::BadCredentials => Some(errors::bad_credentials()),
            Fault::NoRight => Some(errors::no_right(true)),
            Fault::Hidden => Some(errors::not_found()),
            Fault::TagRuleset(status) => Some(errors::tag_ruleset(status)),
            Fault::Garbled => Some(Reply::html(200, "<h1>Welcome to the guest network</h1>")),
            Fault::Elsewhere(status) => {
                let mut reply = Reply::empty(status);
                let rest = request
                    .url
                    .strip_prefix(&Address::of(&request.url).base)
                    .unwrap_or_default();
                reply.set("location", &format!("{}{rest}", self.settings.storage_base));
                Some(reply)
            }
            _ => None,
        }
    }

    /// Lets a fault strike what is done, sets the headers that every answer has, and writes the
    /// status down.
    pub(super) fn send(
        &mut self,
        mut reply: Reply,
        request: &Request,
        operation: Operation,
        fault: Option<Fault>,
        number: u64,
        now_ms: u64,
    ) -> Reply {
        match fault {
            Some(Fault::Done(status)) if reply.status < 400 => reply = errors::server_fault(status),
            Some(Fault::Mute(0)) => reply.delivery = Delivery::Cut,
            Some(Fault::Mute(after)) => reply.delivery = Delivery::CutAfter(after),
            Some(Fault::Stall(after)) => reply.delivery = Delivery::Stalled(after),
            Some(Fault::Slow(rate)) => reply.delivery = Delivery::Slow(rate.max(1)),
            Some(Fault::HoldAfter) => reply.delivery = Delivery::Held,
            Some(Fault::NextElsewhere) => {
                paging::next_elsewhere(
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
            self.used.tell(&mut reply, request, &self.settings, now_ms);
            self.used.ask(request, &reply, &self.settings, now_ms);
        }
        if let Some(exchanges) = &mut self.ledger.exchanges {
            exchanges.push(Exchange {
                operation: operation.word(),
                method: request.method.clone(),
                url: request.url.clone(),
                accept: request.get("accept").map(str::to_owned),
                request_body: serde_json::from_slice(&request.body).unwrap_or_default(),
                status: reply.status,
                content_type: reply.get("content-type").map(str::to_owned),
                answer_body: reply.value(),
            });
        }
        let status = if reply.delivery == Delivery::Cut {
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
        self.count_sent_away(&reply);
        reply
    }
}

/// How old lists are at most.
pub(super) fn lag(settings: &Settings) -> u64 {
    match settings.listing {
        Listing::Fresh => 0,
        Listing::Late(ms) | Listing::Flapping(ms) => ms,
    }
}

/// Does what an admitted request asks for.
fn answer(call: &mut Call, repository: &mut Repository) -> Reply {
    match call.route.operation {
        Operation::Repository => Reply::json(
            200,
            &shapes::repository(call.settings, repository, call.may_write),
        ),
        Operation::ImmutableReleases if !repository.has_immutable_releases => errors::not_found(),
        Operation::ImmutableReleases => Reply::json(
            200,
            &serde_json::json!({"enabled": true, "enforced_by_owner": false}),
        ),
        Operation::Environment => shapes::environment(call.settings, repository, &call.route.text),
        Operation::DeploymentPolicies => shapes::deployment_policies(repository, &call.route.text),
        Operation::ListRulesets => rulesets::list(call, repository),
        Operation::GetRuleset => rulesets::get(call, repository),
        Operation::ListTags => git::list_tags(call, repository),
        Operation::Contents => git::contents(call, repository),
        Operation::TagRef => git::tag_ref(call, repository),
        Operation::MatchingRefs => git::matching_refs(call, repository),
        Operation::TagObject => git::tag_object(call, repository),
        Operation::DeleteTag => git::delete_tag(call, repository),
        Operation::Commit => git::commit(call, repository),
        Operation::ListReleases => releases::list(call, repository),
        Operation::CreateRelease => releases::create(call, repository),
        Operation::GetRelease => releases::get(call, repository),
        Operation::ReleaseByTag => releases::by_tag(call, repository),
        Operation::LatestRelease => releases::latest(call, repository),
        Operation::EditRelease => releases::edit(call, repository),
        Operation::DeleteRelease => releases::delete(call, repository),
        Operation::ListAssets => assets::list(call, repository),
        Operation::GetAsset => assets::get(call, repository),
        Operation::EditAsset => assets::edit(call, repository),
        Operation::DeleteAsset => assets::delete(call, repository),
        Operation::Download => downloads::by_name(call, repository),
        Operation::RateLimit | Operation::Upload | Operation::Storage | Operation::Unknown => {
            errors::not_found()
        }
    }
}

/// Headers with the word `present` for every secret.
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
