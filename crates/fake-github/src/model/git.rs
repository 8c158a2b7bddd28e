//! Tags, commits and files.

use serde_json::{Value, json};

use super::errors;
use super::github::ApiCall;
use super::paging;
use super::request::ApiReply;
use super::response_bodies;
use super::state::{StoredRepository, fake_sha};

/// Lists all tags with their commits, in reverse alphabetical order, as GitHub does. Annotated tags
/// also have the commit.
pub fn list_tags(call: &ApiCall, repository: &StoredRepository) -> ApiReply {
    let url = format!(
        "{}/repositories/{}/tags",
        call.settings.api_base, repository.id
    );
    let (part, link) = paging::page(repository.tags.iter().rev().collect(), call.address, &url);
    let body: Value = part
        .into_iter()
        .map(|(tag, sha)| response_bodies::listed_tag(call.settings, repository, tag, sha))
        .collect();
    let mut reply = ApiReply::json(200, &body);
    if let Some(link) = link {
        reply.set("link", &link);
    }
    reply
}

/// Returns the text of a file if it is requested, otherwise its metadata.
pub fn contents(call: &ApiCall, repository: &StoredRepository) -> ApiReply {
    let path = &call.route.text;
    let name = call
        .address
        .query_value("ref")
        .unwrap_or_else(|| "main".into());
    let Some(sha) = repository.commit(&name) else {
        return errors::refusal(404, &format!("No commit found for the ref {name}"));
    };
    let Some(text) = repository.files.get(sha).and_then(|files| files.get(path)) else {
        return errors::not_found();
    };
    if !call
        .request
        .get("accept")
        .is_some_and(|accept| accept.starts_with("application/vnd.github.raw"))
    {
        return ApiReply::json(200, &file(call, repository, &name, text));
    }
    let mut reply = ApiReply::bytes(200, text.as_bytes().into());
    reply.set(
        "content-type",
        "application/vnd.github.raw+json; charset=utf-8",
    );
    reply
}

/// Returns the metadata of a file (schema `content-file`). For files over 1 MB GitHub omits the
/// text; no client reads it here.
fn file(call: &ApiCall, repository: &StoredRepository, name: &str, text: &str) -> Value {
    let path = &call.route.text;
    let url = format!("{}/repos/{}", call.settings.api_base, repository.full_name);
    let html_url = format!("{}/{}", call.settings.web_base, repository.full_name);
    let sha = fake_sha(text);
    let (own, blob) = (
        format!("{url}/contents/{path}?ref={name}"),
        format!("{url}/git/blobs/{sha}"),
    );
    let page = format!("{html_url}/blob/{name}/{path}");
    json!({
        "type": "file", "encoding": "none", "content": "", "size": text.len(), "sha": sha, "path": path,
        "name": path.rsplit('/').next(), "url": own, "git_url": blob, "html_url": page,
        "download_url": format!("{html_url}/raw/{name}/{path}"),
        "_links": {"self": own, "git": blob, "html": page},
    })
}

/// Returns a tag.
pub fn tag_ref(call: &ApiCall, repository: &StoredRepository) -> ApiReply {
    let tag = &call.route.text;
    match repository.tags.get(tag) {
        Some(sha) => ApiReply::json(
            200,
            &response_bodies::tag_ref(call.settings, repository, tag, sha),
        ),
        None => errors::not_found(),
    }
}

/// Lists the tags with a prefix; the list may be empty.
pub fn matching_refs(call: &ApiCall, repository: &StoredRepository) -> ApiReply {
    let fitting = repository
        .tags
        .iter()
        .filter(|(tag, _)| tag.starts_with(&call.route.text));
    let refs: Value = fitting
        .map(|(tag, sha)| response_bodies::tag_ref(call.settings, repository, tag, sha))
        .collect();
    ApiReply::json(200, &refs)
}

/// Deletes a tag (REST API, "Delete a reference"). The tag of an immutable release is locked.
pub fn delete_tag(call: &ApiCall, repository: &mut StoredRepository) -> ApiReply {
    let tag = &call.route.text;
    if repository
        .releases
        .values()
        .any(|release| release.immutable && release.tag_name == *tag)
    {
        return errors::refusal(422, "Cannot delete the tag of an immutable release");
    }
    match repository.tags.remove(tag) {
        Some(_) => ApiReply::empty(204),
        None => errors::refusal(422, "Reference does not exist"),
    }
}

/// Returns the object of an annotated tag, which contains the commit.
pub fn tag_object(call: &ApiCall, repository: &StoredRepository) -> ApiReply {
    let found = repository
        .annotated
        .iter()
        .find(|(_, object)| **object == call.route.text);
    match found.and_then(|(tag, object)| Some((tag, object, repository.tags.get(tag)?))) {
        Some((tag, object, sha)) => ApiReply::json(
            200,
            &response_bodies::tag_object(call.settings, repository, tag, object, sha),
        ),
        None => errors::not_found(),
    }
}

/// Returns the commit of a tag, branch or hash.
pub fn commit(call: &ApiCall, repository: &StoredRepository) -> ApiReply {
    let text = &call.route.text;
    let name = text
        .strip_prefix("tags/")
        .or_else(|| text.strip_prefix("heads/"))
        .unwrap_or(text);
    match repository.commit(name) {
        Some(sha) => ApiReply::json(
            200,
            &response_bodies::commit(call.settings, repository, sha),
        ),
        None => errors::refusal(422, &format!("No commit found for SHA: {text}")),
    }
}
