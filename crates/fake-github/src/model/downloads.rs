//! Downloads: the redirect to the storage host, and the storage host.

use std::sync::Arc;

use super::errors;
use super::github::{ApiCall, FakeGithub};
use super::request::{ApiReply, ApiRequest};
use super::request_url::RequestUrl;
use super::route::RequestRoute;
use super::state::{StoredAsset, StoredRepository, fake_sha};
use super::{assets, times};

/// Validity of a redirect in milliseconds.
const VALID_MS: u64 = 300_000;

/// Redirects a client to the bytes of an asset, with a signature instead of a token.
pub fn redirect(call: &ApiCall, asset: u64) -> ApiReply {
    let until_ms = call.now_ms + VALID_MS;
    let mut reply = ApiReply::empty(302);
    let sig = signature(asset, until_ms);
    reply.set(
        "location",
        &format!(
            "{}/objects/{asset}?se={until_ms}&sp=r&sig={sig}",
            call.settings.storage_base
        ),
    );
    reply
}

/// Redirects a browser download. Only published releases have one.
pub fn by_name(call: &mut ApiCall, repository: &mut StoredRepository) -> ApiReply {
    let released = repository
        .releases
        .values()
        .find(|release| !release.draft && release.tag_name == call.route.text);
    let is_it = |asset: &&Arc<StoredAsset>| asset.is_uploaded && asset.name == call.route.name;
    match released
        .and_then(|release| release.assets.iter().find(is_it))
        .map(|asset| asset.id)
    {
        Some(id) => {
            assets::change(repository, id, |asset| asset.downloads += 1);
            redirect(call, id)
        }
        None => errors::not_found(),
    }
}

fn signature(asset: u64, until_ms: u64) -> String {
    fake_sha(&format!("{asset} until {until_ms}"))[..16].to_owned()
}

/// Answers requests to the storage host, which checks signatures and refuses tokens.
pub fn storage(
    github: &mut FakeGithub,
    request: &ApiRequest,
    route: &RequestRoute,
    now_ms: u64,
) -> ApiReply {
    if request.get("authorization").is_some() {
        github.ledger.leaks += 1;
        return ApiReply::html(
            400,
            "<Error><Code>InvalidArgument</Code>Only one auth mechanism allowed</Error>",
        );
    }
    let address = RequestUrl::parse(&request.url);
    let until_ms = address
        .query_value("se")
        .and_then(|text| text.parse::<u64>().ok())
        .unwrap_or(0);
    let is_signed = address
        .query_value("sig")
        .is_some_and(|sig| sig == signature(route.id, until_ms));
    if !is_signed || until_ms < github.settings.clock(now_ms) {
        return ApiReply::html(403, "<Error><Code>AuthenticationFailed</Code></Error>");
    }
    let found = github
        .repositories
        .values()
        .find_map(|repository| repository.asset(route.id));
    match found.and_then(|(_, asset)| Some((asset, asset.content.clone()?))) {
        Some((asset, content)) => {
            let mut reply = part(request, &content);
            reply.set("content-type", &asset.content_type);
            reply.set("accept-ranges", "bytes");
            reply.set("last-modified", &times::http_date(asset.updated_ms));
            reply
        }
        None => ApiReply::html(404, "<Error><Code>BlobNotFound</Code></Error>"),
    }
}

/// Returns all bytes, or the requested range (RFC 9110, section 14.2).
fn part(request: &ApiRequest, content: &Arc<[u8]>) -> ApiReply {
    let length = content.len();
    let range = request
        .get("range")
        .and_then(|text| text.strip_prefix("bytes=")?.split_once('-'));
    let (from, to) = match range.map(|(from, to)| (from.parse::<usize>(), to.parse::<usize>())) {
        Some((Ok(from), Ok(to))) if from <= to => (from, to.saturating_add(1).min(length)),
        Some((Ok(from), Err(_))) => (from, length),
        Some((Err(_), Ok(last))) => (length.saturating_sub(last), length),
        _ => return ApiReply::bytes(200, Arc::clone(content)),
    };
    if from >= to {
        let mut reply = ApiReply::empty(416);
        reply.set("content-range", &format!("bytes */{length}"));
        return reply;
    }
    let mut reply = ApiReply::bytes(206, Arc::from(&content[from..to]));
    reply.set(
        "content-range",
        &format!("bytes {from}-{}/{length}", to - 1),
    );
    reply
}
