//! What every request passes before anything is done: headers, token, limits, repository, rights.

use super::errors;
use super::fields::Fields;
use super::github::Github;
use super::ledger::Reached;
use super::request::{Reply, Request};
use super::route::{Operation, Route};
use super::state::{Rights, TokenKind};

/// Who asks, and of which repository.
#[derive(Debug, Clone, Copy)]
pub struct Admitted {
    /// The repository.
    pub repository: u64,
    /// Whether the token may write there.
    pub may_write: bool,
}

/// The version of the API that is spoken here (REST API, "API Versions").
const API_VERSION: &str = "2022-11-28";

impl Github {
    /// Lets a request pass, or refuses it as GitHub does.
    pub(super) fn admit(
        &mut self,
        request: &Request,
        route: &Route,
        now_ms: u64,
    ) -> Result<Admitted, Reply> {
        // GitHub Docs, "Getting started with the REST API", "User agent required".
        if request
            .get("user-agent")
            .is_none_or(|agent| agent.trim().is_empty())
        {
            let text = "Request forbidden by administrative rules. Please make sure your request has a User-Agent \
                        header.";
            return Err(Reply::html(403, text));
        }
        if route.operation != Operation::Upload && lacks_length(request) {
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
        self.complain(request, route);
        if let Some(refused) = self.used.take(
            request,
            route.operation,
            &self.settings,
            now_ms,
            &mut self.ledger,
        ) {
            return Err(refused);
        }
        if route.operation == Operation::RateLimit {
            return Err(self.used.overview(request, &self.settings, now_ms));
        }
        let Some((id, moved)) = self.find(&route.repository) else {
            return Err(errors::not_found());
        };
        let repository = &self.repositories[&id];
        let rights = token
            .as_ref()
            .map_or(Rights::Stranger, |token| token.rights);
        if repository.is_private && rights == Rights::Stranger {
            return Err(errors::not_found());
        }
        if moved {
            return Err(self.moved(request, id));
        }
        if repository.is_private && is_of_environments(route.operation) {
            // REST API, "Get an environment": "Actions" repository permissions (read), unless only
            // public resources are requested; personal tokens need the scope `repo` instead.
            if token
                .as_ref()
                .is_some_and(|token| token.kind == TokenKind::Integration)
                && rights != Rights::ReadActions
            {
                return Err(errors::lacks("actions=read"));
            }
        }
        let may_write = rights == Rights::Write;
        let is_write = !["GET", "HEAD"].contains(&request.method.as_str());
        match token {
            None if is_write => Err(errors::refusal(401, "Requires authentication")),
            Some(token) if is_write && !may_write => {
                let is_integration = token.kind == TokenKind::Integration;
                Err(if rights == Rights::Stranger {
                    errors::not_found()
                } else {
                    errors::no_right(is_integration)
                })
            }
            _ if is_write && repository.is_archived => Err(errors::refusal(
                403,
                "Repository was archived so is read-only.",
            )),
            _ => Ok(Admitted {
                repository: id,
                may_write,
            }),
        }
    }

    /// The repository of a name, of a name that it had, or of a number; and whether it has moved.
    fn find(&self, asked: &str) -> Option<(u64, bool)> {
        let by_name = |(id, repository): (&u64, &super::state::Repository)| {
            let is_old = repository
                .old_names
                .iter()
                .any(|old| old.eq_ignore_ascii_case(asked));
            let is_now =
                repository.full_name.eq_ignore_ascii_case(asked) || id.to_string() == asked;
            (is_old || is_now).then_some((*id, !is_now))
        };
        self.repositories.iter().find_map(by_name)
    }

    /// Where a repository is that was renamed: by its number, with a status that keeps the method
    /// of a write (REST API, "Best practices", "Follow redirects").
    fn moved(&mut self, request: &Request, id: u64) -> Reply {
        let address = super::address::Address::of(&request.url);
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
        let mut reply = Reply::json(status, &body);
        reply.set("location", &to);
        reply
    }

    /// Notes requests that come although an answer asked for something else: to wait, or another
    /// token.
    pub(super) fn look_for_haste(&mut self, request: &Request, operation: Operation, now_ms: u64) {
        if !operation.is_api() {
            return;
        }
        let asked = format!("{} {}", request.method, operation.word());
        if let Some(left_ms) = self.used.haste(request, &self.settings, now_ms) {
            self.ledger.complaints.push(format!(
                "{asked}: {left_ms} ms before the end of what it was asked to wait"
            ));
        }
        if self.used.is_stubborn(request, &self.settings, now_ms) {
            self.ledger
                .complaints
                .push(format!("{asked}: a write after a 401"));
        }
    }

    /// Forgets who was asked to wait, and whose token was refused: another run does not know of it.
    pub fn forget_asked(&mut self) {
        self.used.forget_asked();
    }

    /// Notes what GitHub lets pass and ours must not do.
    fn complain(&mut self, request: &Request, route: &Route) {
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
        if route.operation == Operation::Upload && request.get("content-type").is_none() {
            missing.push("no Content-Type");
        }
        let raw = request.url.split_once('?').map_or("", |(_, query)| query);
        if route.operation == Operation::Upload && raw.contains(['+', ' ', '(', ')', '!', ':']) {
            missing.push("a name that is not encoded");
        }
        let documented = documented_fields(route.operation);
        let fields = Fields::of(request).ok().filter(|_| !documented.is_empty());
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
                route.operation.word()
            ));
        }
    }

    /// Counts that a request was sent away or cut.
    pub(super) fn count_sent_away(&mut self, reply: &Reply) {
        if !reply.arrives() {
            self.ledger.reach(Reached::AnswerCut);
        }
    }
}

/// Whether an operation needs the right to read what belongs to Actions.
fn is_of_environments(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::Environment | Operation::DeploymentPolicies
    )
}

/// Whether an `Accept` header names a media type that the API gives (GitHub Docs, "Media types").
/// Others were answered with 415 (google/go-github issue 1291, sindresorhus/got issue 1426).
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

/// The fields of a body by the `OpenAPI` description of the API: `repos/create-release`,
/// `repos/update-release` and `repos/update-release-asset`. What GitHub does with others is written
/// nowhere.
fn documented_fields(operation: Operation) -> &'static [&'static str] {
    match operation {
        Operation::CreateRelease => &[
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
        Operation::EditRelease => &[
            "tag_name",
            "target_commitish",
            "name",
            "body",
            "draft",
            "prerelease",
            "make_latest",
            "discussion_category_name",
        ],
        Operation::EditAsset => &["name", "label", "state"],
        _ => &[],
    }
}

/// Whether a body comes in chunks, or a method that expects a body tells no length. The API answers
/// such with 411 (octocrab issue 463 for a POST without a body, libgit2 issue 1147 for chunks); the
/// host for uploads has an answer of its own.
fn lacks_length(request: &Request) -> bool {
    let expects_body = ["POST", "PATCH", "PUT"].contains(&request.method.as_str());
    request.get("transfer-encoding").is_some() || (expects_body && request.length().is_none())
}
