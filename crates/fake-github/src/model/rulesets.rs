//! Rulesets of a repository.

use serde_json::{Value, json};

use super::errors;
use super::github::ApiCall;
use super::paging;
use super::request::ApiReply;
use super::state::{StoredRepository, TagRuleset};
use super::times::rfc3339;

/// The ID of the only ruleset of a repository.
const ID: u64 = 42;

/// Lists rulesets without conditions and rules (REST API, "Get all repository rulesets"). `targets`
/// is a list with commas; GitHub does not document what happens to unknown targets.
pub fn list(call: &ApiCall, repository: &StoredRepository) -> ApiReply {
    let targets = call
        .address
        .query_value("targets")
        .unwrap_or_else(|| "tag".into());
    let is_for_tags = targets.split(',').any(|target| target == "tag");
    let rows: Vec<Value> = repository
        .tag_ruleset
        .iter()
        .filter(|_| is_for_tags)
        .map(|ruleset| summary(call, repository, ruleset))
        .collect();
    let url = format!(
        "{}/repositories/{}/rulesets",
        call.settings.api_base, repository.id
    );
    let (part, link) = paging::page(rows, call.address, &url);
    let mut reply = ApiReply::json(200, &Value::Array(part));
    if let Some(link) = link {
        reply.set("link", &link);
    }
    reply
}

/// Returns a ruleset with its conditions and rules (REST API, "Get a repository ruleset").
/// `bypass_actors` is omitted, because only those who may change the ruleset see it.
pub fn get(call: &ApiCall, repository: &StoredRepository) -> ApiReply {
    let Some(ruleset) = repository
        .tag_ruleset
        .as_ref()
        .filter(|of| call.route.id == ID && !of.is_hidden)
    else {
        return errors::not_found();
    };
    let mut whole = summary(call, repository, ruleset);
    whole["conditions"] =
        json!({"ref_name": {"include": ruleset.include, "exclude": ruleset.exclude}});
    whole["rules"] = json!([{"type": "deletion"}, {"type": "creation"}]);
    whole["current_user_can_bypass"] = json!(ruleset.bypass);
    ApiReply::json(200, &whole)
}

fn summary(call: &ApiCall, repository: &StoredRepository, ruleset: &TagRuleset) -> Value {
    let url = format!(
        "{}/repos/{}/rulesets/{ID}",
        call.settings.api_base, repository.full_name
    );
    let page = format!(
        "{}/{}/rules/{ID}",
        call.settings.web_base, repository.full_name
    );
    json!({
        "id": ID, "node_id": "RRS_1", "name": "tags", "target": "tag", "source_type": "Repository",
        "source": repository.full_name, "enforcement": ruleset.enforcement, "created_at": rfc3339(0),
        "updated_at": rfc3339(0), "_links": {"self": {"href": url}, "html": {"href": page}},
    })
}
