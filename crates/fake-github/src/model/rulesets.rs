//! Rulesets of a repository.

use serde_json::{Value, json};

use super::errors;
use super::github::Call;
use super::paging;
use super::request::Reply;
use super::state::{Repository, TagRuleset};
use super::times::rfc3339;

/// The number of the one ruleset that a repository has.
const ID: u64 = 42;

/// Every ruleset without its conditions and rules (REST API, "Get all repository rulesets").
/// `targets` takes words with commas between them; what GitHub does with others is written nowhere.
pub fn list(call: &Call, repository: &Repository) -> Reply {
    let targets = call
        .address
        .asked("targets")
        .unwrap_or_else(|| "tag".into());
    let asked = targets.split(',').any(|target| target == "tag");
    let rows: Vec<Value> = repository
        .tag_ruleset
        .iter()
        .filter(|_| asked)
        .map(|ruleset| summary(call, repository, ruleset))
        .collect();
    let url = format!(
        "{}/repositories/{}/rulesets",
        call.settings.api_base, repository.id
    );
    let (part, link) = paging::page(rows, call.address, &url);
    let mut reply = Reply::json(200, &Value::Array(part));
    if let Some(link) = link {
        reply.set("link", &link);
    }
    reply
}

/// One ruleset with its conditions and rules (REST API, "Get a repository ruleset").
/// `bypass_actors` is only for those who may change it, which nobody may here.
pub fn get(call: &Call, repository: &Repository) -> Reply {
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
    Reply::json(200, &whole)
}

fn summary(call: &Call, repository: &Repository, ruleset: &TagRuleset) -> Value {
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
