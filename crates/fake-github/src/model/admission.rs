//! Checks of every request: headers, token, rate limits, repository, permissions.

use super::errors;
use super::github::FakeGithub;
use super::json_fields::JsonFields;
use super::ledger::ReachedState;
use super::request::{ApiReply, ApiRequest};
use super::route::{ApiOperation, RequestRoute};
use super::state::{TokenKind, TokenRights};

/// An admitted request: its repository and permissions.
#[derive(Debug, Clone, Copy)]
pub struct AdmittedRequest {
    /// The ID of the repository.
    pub repository: u64,
    /// Whether the token has write access.
    pub may_write: bool,
}

/// The supported version of the API (REST API, "API Versions").
const API_VERSION: &str = "2022-11-28";

impl FakeGithub {
    /// Admits a request, or refuses it as GitHub does.
    pub(super) fn admit(
        &mut self,
        request: &ApiRequest,
        route: &RequestRoute,
        now_ms: u64,
    ) -> Result<AdmittedRequest, ApiReply> {
        // GitHub Docs, "Getting started with the REST API", "User agent required".
        if request
            .get("user-agent")
            .is_none_or(|agent| agent.trim().is_empty())
        {
            let text = "Request forbidden by administrative rules. Please make sure your request has a User-Agent \
                        header.";
            return Err(ApiReply::html(403, text));
        }
        if route.operation != ApiOperation::Upload && lacks_length(request) {
            return Err(errors::length_required());
        }
        let token = request
            .get("authorization")
            .map(|value| value.split_once(' ').map_or(value, |(_, token)| token));
        let token = match token.map(|token| self.tokens.get(token.trim())) {
            Some(None) => return Err(errors::bad_credentials()),
            Some(Some(token)) => Some(token.clone()),
            None => None,
        };
        if let Some(version) = request
            .get("x-github-api-version")
            .filter(|version| *version != API_VERSION)
        {
            // GitHub Docs, "API Versions", "Supported API versions".
            return Err(errors::refusal(
                400,
                &format!("The API version {version} is not supported"),
            ));
        }
        if let Some(accept) = request
            .get("accept")
            .filter(|_| route.operation.is_api())
            .filter(|text| !is_known(text))
        {
            return Err(errors::unsupported_accept(accept));
        }
        self.record_complaints(request, route);
        if let Some(refused) = self.rate_limits.count_request(
            request,
            route.operation,
            &self.settings,
            now_ms,
            &mut self.ledger,
        ) {
            return Err(refused);
        }
        if route.operation == ApiOperation::RateLimit {
            return Err(self.rate_limits.overview(request, &self.settings, now_ms));
        }
        let Some((id, moved)) = self.find_repository(&route.repository) else {
            return Err(errors::not_found());
        };
        let repository = &self.repositories[&id];
        let rights = token
            .as_ref()
            .map_or(TokenRights::Stranger, |token| token.rights);
        if repository.is_private && rights == TokenRights::Stranger {
            return Err(errors::not_found());
        }
        if moved {
            return Err(self.redirect_renamed(request, id));
        }
        if repository.is_private && is_of_environments(route.operation) {
            // REST API, "Get an environment": "Actions" repository permissions (read), unless only
            // public resources are requested; personal tokens need the scope `repo` instead.
            if token
                .as_ref()
                .is_some_and(|token| token.kind == TokenKind::Integration)
                && rights != TokenRights::ReadActions
            {
                return Err(errors::missing_permission("actions=read"));
            }
        }
        let may_write = rights == TokenRights::Write;
        let is_write = !["GET", "HEAD"].contains(&request.method.as_str());
        match token {
            None if is_write => Err(errors::refusal(401, "Requires authentication")),
            Some(token) if is_write && !may_write => {
                let is_integration = token.kind == TokenKind::Integration;
                Err(if rights == TokenRights::Stranger {
                    errors::not_found()
                } else {
                    errors::no_write_access(is_integration)
                })
            }
            _ if is_write && repository.is_archived => Err(errors::refusal(
                403,
                "Repository was archived so is read-only.",
            )),
            _ => Ok(AdmittedRequest {
                repository: id,
                may_write,
            }),
        }
    }

    /// Finds a repository by name, former name or ID; the flag is true for a former name.
    fn find_repository(&self, name: &str) -> Option<(u64, bool)> {
        let by_name = |(id, repository): (&u64, &super::state::StoredRepository)| {
            let is_old = repository
                .old_names
                .iter()
                .any(|old| old.eq_ignore_ascii_case(name));
            let is_now = repository.full_name.eq_ignore_ascii_case(name) || id.to_string() == name;
            (is_old || is_now).then_some((*id, !is_now))
        };
        self.repositories.iter().find_map(by_name)
    }

    /// Redirects to a renamed repository by its ID. The status keeps the method of writes (REST
    /// API, "Best practices", "Follow redirects").
    fn redirect_renamed(&mut self, request: &ApiRequest, id: u64) -> ApiReply {
        let address = super::request_url::RequestUrl::parse(&request.url);
        let rest: Vec<&str> = address.path.splitn(5, '/').skip(4).collect();
        let base = if request.url.starts_with(&self.settings.api_base) {
            &self.settings.api_base
        } else {
            &address.base
        };
        let mut to = format!("{base}/repositories/{id}");
        if let Some(rest) = rest.first() {
            to.push_str(&format!("/{rest}"));
        }
        if !address.query.is_empty() {
            to.push_str(&format!("?{}", address.query));
        }
        let status = if ["GET", "HEAD"].contains(&request.method.as_str()) {
            301
        } else {
            307
        };
        let body = serde_json::json!({"message": "Moved Permanently", "url": to, "documentation_url": errors::DOCS});
        let mut reply = ApiReply::json(status, &body);
        reply.set("location", &to);
        reply
    }

    /// Records a complaint if a reply asked the client to wait, or to use another token.
    pub(super) fn record_early_request(
        &mut self,
        request: &ApiRequest,
        operation: ApiOperation,
        now_ms: u64,
    ) {
        if !operation.is_api() {
            return;
        }
        let call = format!("{} {}", request.method, operation.name());
        if let Some(left_ms) = self
            .rate_limits
            .early_by_ms(request, &self.settings, now_ms)
        {
            self.ledger.complaints.push(format!(
                "{call}: {left_ms} ms before the end of what it was asked to wait"
            ));
        }
        if self
            .rate_limits
            .is_stubborn(request, &self.settings, now_ms)
        {
            self.ledger
                .complaints
                .push(format!("{call}: a write after a 401"));
        }
    }

    /// Forgets requested waits and refused tokens, which another run does not know about.
    pub fn forget_waits(&mut self) {
        self.rate_limits.forget_waits();
    }

    /// Records mistakes that GitHub accepts but our client must not make.
    fn record_complaints(&mut self, request: &ApiRequest, route: &RequestRoute) {
        if !route.operation.is_api() {
            return;
        }
        let mut missing = Vec::new();
        if request.get("x-github-api-version").is_none() {
            missing.push("no X-GitHub-Api-Version");
        }
        if request.get("accept").is_none() {
            missing.push("no Accept");
        }
        if route.operation == ApiOperation::Upload && request.get("content-type").is_none() {
            missing.push("no Content-Type");
        }
        let raw = request.url.split_once('?').map_or("", |(_, query)| query);
        if route.operation == ApiOperation::Upload && raw.contains(['+', ' ', '(', ')', '!', ':']) {
            missing.push("a name that is not encoded");
        }
        let documented = documented_fields(route.operation);
        let fields = JsonFields::parse(request)
            .ok()
            .filter(|_| !documented.is_empty());
        if fields.is_some_and(|fields| !fields.others(documented).is_empty()) {
            missing.push("a field that the operation does not document");
        }
        if request.method == "GET" && !request.body.is_empty() {
            missing.push("a body where none belongs");
        }
        for what in missing {
            self.ledger.complaints.push(format!(
                "{} {}: {what}",
                request.method,
                route.operation.name()
            ));
        }
    }

    /// Counts a reply that does not arrive completely.
    pub(super) fn count_cut_reply(&mut self, reply: &ApiReply) {
        if !reply.arrives() {
            self.ledger.reach(ReachedState::AnswerCut);
        }
    }
}

/// Returns whether an operation needs read access to Actions.
fn is_of_environments(operation: ApiOperation) -> bool {
    matches!(
        operation,
        ApiOperation::Environment | ApiOperation::DeploymentPolicies
    )
}

/// Returns whether an `Accept` header names a media type of the API (GitHub Docs, "Media types").
/// Others are answered with 415 (google/go-github issue 1291, sindresorhus/got issue 1426).
fn is_known(accept: &str) -> bool {
    accept
        .split(',')
        .map(|kind| kind.split(';').next().unwrap_or_default().trim())
        .any(|kind| {
            [
                "*/*",
                "application/*",
                "application/json",
                "application/octet-stream",
            ]
            .contains(&kind)
                || kind.starts_with("application/vnd.github")
        })
}

/// Returns the fields of a body in the `OpenAPI` description of the API: `repos/create-release`,
/// `repos/update-release` and `repos/update-release-asset`. GitHub does not document what happens
/// to others.
fn documented_fields(operation: ApiOperation) -> &'static [&'static str] {
    match operation {
        ApiOperation::CreateRelease => &[
            "tag_name",
            "target_commitish",
            "name",
            "body",
            "draft",
            "prerelease",
            "discussion_category_name",
            "generate_release_notes",
            "make_latest",
        ],
        ApiOperation::EditRelease => &[
            "tag_name",
            "target_commitish",
            "name",
            "body",
            "draft",
            "prerelease",
            "make_latest",
            "discussion_category_name",
        ],
        ApiOperation::EditAsset => &["name", "label", "state"],
        _ => &[],
    }
}

/// Returns whether a body is chunked, or has no length although the method expects a body. The API
/// answers these with 411 (octocrab issue 463 for a POST without a body, libgit2 issue 1147 for
/// chunks); the upload host has its own error.
fn lacks_length(request: &ApiRequest) -> bool {
    let expects_body = ["POST", "PATCH", "PUT"].contains(&request.method.as_str());
    request.get("transfer-encoding").is_some() || (expects_body && request.length().is_none())
}
