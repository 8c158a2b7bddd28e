//! Tags, commits and files.

use serde_json::{Value, json};

use super::errors;
use super::github::Call;
use super::paging;
use super::request::Reply;
use super::shapes;
use super::state::{Repository, sha_of};

/// Every tag with its commit, also where the tag is an object of its own; backwards by their
/// letters, as GitHub's are.
pub fn list_tags(call: &Call, repository: &Repository) -> Reply {
    let url = format!(
        "{}/repositories/{}/tags",
        call.settings.api_base, repository.id
    );
    let (part, link) = paging::page(repository.tags.iter().rev().collect(), call.address, &url);
    let body: Value = part
        .into_iter()
        .map(|(tag, sha)| shapes::listed_tag(call.settings, repository, tag, sha))
        .collect();
    let mut reply = Reply::json(200, &body);
    if let Some(link) = link {
        reply.set("link", &link);
    }
    reply
}

/// A file: its text where that is asked for, else what is known of it.
pub fn contents(call: &Call, repository: &Repository) -> Reply {
    let path = &call.route.text;
    let name = call.address.asked("ref").unwrap_or_else(|| "main".into());
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
        return Reply::json(200, &file(call, repository, &name, text));
    }
    let mut reply = Reply::bytes(200, text.as_bytes().into());
    reply.set(
        "content-type",
        "application/vnd.github.raw+json; charset=utf-8",
    );
    reply
}

/// What is known of a file (schema `content-file`). Of a file over 1 MB GitHub leaves the text out;
/// nobody reads it here.
fn file(call: &Call, repository: &Repository, name: &str, text: &str) -> Value {
    let path = &call.route.text;
    let url = format!("{}/repos/{}", call.settings.api_base, repository.full_name);
    let html_url = format!("{}/{}", call.settings.web_base, repository.full_name);
    let sha = sha_of(text);
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
    let fitting = repository
        .tags
        .iter()
        .filter(|(tag, _)| tag.starts_with(&call.route.text));
    let refs: Value = fitting
        .map(|(tag, sha)| shapes::tag_ref(call.settings, repository, tag, sha))
        .collect();
    Reply::json(200, &refs)
}

/// Deletes a tag (REST API, "Delete a reference"); that of an immutable release is locked.
pub fn delete_tag(call: &Call, repository: &mut Repository) -> Reply {
    let tag = &call.route.text;
    if repository
        .releases
        .values()
        .any(|release| release.immutable && release.tag_name == *tag)
    {
        return errors::refusal(422, "Cannot delete the tag of an immutable release");
    }
    match repository.tags.remove(tag) {
        Some(_) => Reply::empty(204),
        None => errors::refusal(422, "Reference does not exist"),
    }
}

/// The object of an annotated tag, which tells the commit.
pub fn tag_object(call: &Call, repository: &Repository) -> Reply {
    let found = repository
        .annotated
        .iter()
        .find(|(_, object)| **object == call.route.text);
    match found.and_then(|(tag, object)| Some((tag, object, repository.tags.get(tag)?))) {
        Some((tag, object, sha)) => Reply::json(
            200,
            &shapes::tag_object(call.settings, repository, tag, object, sha),
        ),
        None => errors::not_found(),
    }
}

/// The commit of a tag, branch or commit.
pub fn commit(call: &Call, repository: &Repository) -> Reply {
    let text = &call.route.text;
    let name = text
        .strip_prefix("tags/")
        .or_else(|| text.strip_prefix("heads/"))
        .unwrap_or(text);
    match repository.commit(name) {
        Some(sha) => Reply::json(200, &shapes::commit(call.settings, repository, sha)),
        None => errors::refusal(422, &format!("No commit found for SHA: {text}")),
    }
}
