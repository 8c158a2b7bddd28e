//! Tags and commits.

use serde_json::{Value, json};

use super::errors;
use super::github::Call;
use super::request::Reply;
use super::shapes;
use super::state::Repository;

/// One tag.
pub fn tag_ref(call: &Call, repository: &Repository) -> Reply {
    let tag = &call.route.text;
    match repository.tags.get(tag) {
        Some(sha) => Reply::json(200, &shapes::tag_ref(call.settings, repository, tag, sha)),
        None => errors::not_found(),
    }
}

/// Every tag that begins with a text; none is an empty list.
pub fn matching_refs(call: &Call, repository: &Repository) -> Reply {
    let fitting = repository.tags.iter().filter(|(tag, _)| tag.starts_with(&call.route.text));
    let refs: Value = fitting.map(|(tag, sha)| shapes::tag_ref(call.settings, repository, tag, sha)).collect();
    Reply::json(200, &refs)
}

/// Deletes a tag (REST API, "Delete a reference"); that of an immutable release is locked.
pub fn delete_tag(call: &Call, repository: &mut Repository) -> Reply {
    let tag = &call.route.text;
    if repository.releases.values().any(|release| release.immutable && release.tag_name == *tag) {
        return errors::refusal(422, "Cannot delete the tag of an immutable release");
    }
    match repository.tags.remove(tag) {
        Some(_) => Reply::empty(204),
        None => errors::refusal(422, "Reference does not exist"),
    }
}

/// The object of an annotated tag, which tells the commit.
pub fn tag_object(call: &Call, repository: &Repository) -> Reply {
    let found = repository.annotated.iter().find(|(_, object)| **object == call.route.text);
    match found.and_then(|(tag, object)| Some((tag, object, repository.tags.get(tag)?))) {
        Some((tag, object, sha)) => {
            Reply::json(200, &json!({"tag": tag, "sha": object, "object": {"type": "commit", "sha": sha}}))
        }
        None => errors::not_found(),
    }
}

/// The commit of a tag, branch or commit.
pub fn commit(call: &Call, repository: &Repository) -> Reply {
    let text = &call.route.text;
    let name = text.strip_prefix("tags/").or_else(|| text.strip_prefix("heads/")).unwrap_or(text);
    match repository.commit(name) {
        Some(sha) => Reply::json(200, &json!({"sha": sha, "commit": {"message": "A commit"}, "parents": []})),
        None => errors::refusal(422, &format!("No commit found for SHA: {text}")),
    }
}
