//! Rate limits by token.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::errors;
use super::ledger::{ReachedState, RequestLedger};
use super::request::{ApiReply, ApiRequest};
use super::route::ApiOperation;
use super::settings::GithubSettings;

/// An hour.
const HOUR_MS: u64 = 3_600_000;
/// A minute.
const MINUTE_MS: u64 = 60_000;

/// The usage of each token.
#[derive(Debug, Clone, Default)]
pub struct RateLimitUsage {
    tokens: BTreeMap<u64, TokenUsage>,
    /// When a reply asked a token to wait, and until when, in milliseconds since 1970.
    waits: BTreeMap<u64, (u64, u64)>,
    /// When a token was refused. A later read by the client clears it.
    refused: BTreeMap<u64, u64>,
}

#[derive(Debug, Clone, Default)]
struct TokenUsage {
    since_ms: u64,
    requests: u64,
    /// When content was created, in the last hour.
    made: VecDeque<u64>,
    /// Points and when they were used, in the last minute.
    points: VecDeque<(u64, u64)>,
}

impl RateLimitUsage {
    /// Counts a request, and refuses it if a limit is reached.
    pub fn count_request(
        &mut self,
        request: &ApiRequest,
        operation: ApiOperation,
        settings: &GithubSettings,
        now_ms: u64,
        ledger: &mut RequestLedger,
    ) -> Option<ApiReply> {
        if operation == ApiOperation::RateLimit {
            return None;
        }
        let usage = self.tokens.entry(key(request)).or_default();
        if now_ms >= usage.since_ms + HOUR_MS {
            (usage.since_ms, usage.requests) = (now_ms, 0);
        }
        if usage.requests >= allowed(request, settings) {
            ledger.reach(ReachedState::Limited);
            return Some(errors::primary_limit(403));
        }
        usage.requests += 1;
        let secondary = settings.secondary?;
        while usage.made.front().is_some_and(|at| at + HOUR_MS <= now_ms) {
            usage.made.pop_front();
        }
        while usage
            .points
            .front()
            .is_some_and(|(at, _)| at + MINUTE_MS <= now_ms)
        {
            usage.points.pop_front();
        }
        let in_minute = usage
            .made
            .iter()
            .filter(|at| **at + MINUTE_MS > now_ms)
            .count();
        let points: u64 = usage.points.iter().map(|(_, points)| points).sum();
        let is_full = in_minute >= secondary.content_per_minute
            || usage.made.len() >= secondary.content_per_hour;
        if operation.creates() && is_full || points >= secondary.points_per_minute {
            ledger.reach(ReachedState::Limited);
            return Some(errors::secondary_limit(403, Some(60)));
        }
        if operation.creates() {
            usage.made.push_back(now_ms);
        }
        usage
            .points
            .push_back((now_ms, if request.method == "GET" { 1 } else { 5 }));
        None
    }

    /// Records a requested wait or a refused token. The wait is one minute if a reply only mentions
    /// a secondary limit (REST API, "Rate limits", "Exceeding the rate limit").
    pub fn record_wait(
        &mut self,
        request: &ApiRequest,
        reply: &ApiReply,
        settings: &GithubSettings,
        now_ms: u64,
    ) {
        let number = |name| {
            reply
                .get(name)
                .and_then(|text: &str| text.parse::<u64>().ok())
        };
        if reply.status == 401 {
            self.refused.insert(key(request), now_ms);
        }
        if !matches!(reply.status, 403 | 429) {
            return;
        }
        let until_reset = || {
            let reset_s = number("x-ratelimit-reset")
                .filter(|_| number("x-ratelimit-remaining") == Some(0))?;
            Some((reset_s * 1000).saturating_sub(settings.clock(now_ms)))
        };
        let is_secondary = || String::from_utf8_lossy(&reply.body).contains("secondary rate limit");
        let wait_ms = number("retry-after")
            .map(|seconds| seconds * 1000)
            .or_else(until_reset);
        if let Some(wait_ms) = wait_ms.or_else(|| is_secondary().then_some(MINUTE_MS)) {
            self.waits.insert(key(request), (now_ms, now_ms + wait_ms));
        }
    }

    /// Returns the milliseconds by which a request is early.
    pub fn early_by_ms(
        &self,
        request: &ApiRequest,
        settings: &GithubSettings,
        now_ms: u64,
    ) -> Option<u64> {
        let (since_ms, until_ms) = self.waits.get(&key(request))?;
        let was_under_way = now_ms <= since_ms + settings.under_way_ms;
        until_ms
            .checked_sub(now_ms)
            .filter(|left_ms| *left_ms > 0 && !was_under_way)
    }

    /// Returns whether a request creates something although its token was refused.
    pub fn is_stubborn(
        &mut self,
        request: &ApiRequest,
        settings: &GithubSettings,
        now_ms: u64,
    ) -> bool {
        let key = key(request);
        if request.method == "GET" {
            self.refused.remove(&key);
        }
        let makes = request.method == "POST";
        makes
            && self
                .refused
                .get(&key)
                .is_some_and(|refused_ms| now_ms > refused_ms + settings.under_way_ms)
    }

    /// Forgets requested waits and refused tokens.
    pub fn forget_waits(&mut self) {
        self.waits.clear();
        self.refused.clear();
    }

    /// Returns the remaining limits (schema `rate-limit-overview`); here all resources count as
    /// `core`.
    pub fn overview(
        &self,
        request: &ApiRequest,
        settings: &GithubSettings,
        now_ms: u64,
    ) -> ApiReply {
        let mut counted = ApiReply::empty(200);
        self.set_headers(&mut counted, request, settings, now_ms);
        let number = |name: &str| counted.get(name).and_then(|text| text.parse::<u64>().ok());
        let core = serde_json::json!({
            "limit": number("x-ratelimit-limit"), "remaining": number("x-ratelimit-remaining"),
            "used": number("x-ratelimit-used"), "reset": number("x-ratelimit-reset"),
        });
        ApiReply::json(
            200,
            &serde_json::json!({"resources": {"core": core, "search": core}, "rate": core}),
        )
    }

    /// Sets the rate limit headers.
    pub fn set_headers(
        &self,
        reply: &mut ApiReply,
        request: &ApiRequest,
        settings: &GithubSettings,
        now_ms: u64,
    ) {
        let fresh = TokenUsage {
            since_ms: now_ms,
            ..TokenUsage::default()
        };
        let usage = self.tokens.get(&key(request)).unwrap_or(&fresh);
        let limit = allowed(request, settings);
        let reset_s = settings.clock(usage.since_ms + HOUR_MS) / 1000 + 1;
        let headers = [
            ("x-ratelimit-limit", limit.to_string()),
            (
                "x-ratelimit-remaining",
                limit.saturating_sub(usage.requests).to_string(),
            ),
            ("x-ratelimit-used", usage.requests.to_string()),
            ("x-ratelimit-reset", reset_s.to_string()),
            ("x-ratelimit-resource", "core".to_owned()),
        ];
        for (name, value) in headers {
            if reply.get(name).is_none() {
                reply.set(name, &value);
            }
        }
    }
}

/// Returns the requests per hour: 60 without a token if the limits are GitHub's (REST API, "Rate
/// limits", "Primary rate limit for unauthenticated users"). A person has 5,000 on GitHub.
fn allowed(request: &ApiRequest, settings: &GithubSettings) -> u64 {
    let is_known = request.get("authorization").is_some() || settings.requests_per_hour > 5000;
    if is_known {
        settings.requests_per_hour
    } else {
        settings.requests_per_hour.min(60)
    }
}

/// Returns the key of a token's usage, without the token itself.
fn key(request: &ApiRequest) -> u64 {
    let mut hasher = DefaultHasher::new();
    request.get("authorization").hash(&mut hasher);
    hasher.finish()
}
