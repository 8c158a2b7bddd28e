//! Downloads: a redirect to the other host, and that host.

use std::sync::Arc;

use super::address::Address;
use super::errors;
use super::github::{Call, Github};
use super::request::{Reply, Request};
use super::route::Route;
use super::state::{Asset, Repository, sha_of};
use super::{assets, times};

/// How long a redirect can be followed.
const VALID_MS: u64 = 300_000;

/// Sends a client to the bytes of an asset, with a signature in place of a token.
pub fn redirect(call: &Call, asset: u64) -> Reply {
    let until_ms = call.now_ms + VALID_MS;
    let mut reply = Reply::empty(302);
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

/// The address that people click: of published releases alone.
pub fn by_name(call: &mut Call, repository: &mut Repository) -> Reply {
    let released = repository
        .releases
        .values()
        .find(|release| !release.draft && release.tag_name == call.route.text);
    let is_it = |asset: &&Arc<Asset>| asset.is_uploaded && asset.name == call.route.name;
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
    sha_of(&format!("{asset} until {until_ms}"))[..16].to_owned()
}

/// The other host. It holds bytes, checks signatures, and minds a token that came along.
pub fn storage(github: &mut Github, request: &Request, route: &Route, now_ms: u64) -> Reply {
    if request.get("authorization").is_some() {
        github.ledger.leaks += 1;
        return Reply::html(
            400,
            "<Error><Code>InvalidArgument</Code>Only one auth mechanism allowed</Error>",
        );
    }
    let address = Address::of(&request.url);
    let until_ms = address
        .asked("se")
        .and_then(|text| text.parse::<u64>().ok())
        .unwrap_or(0);
    let is_signed = address
        .asked("sig")
        .is_some_and(|sig| sig == signature(route.id, until_ms));
    if !is_signed || until_ms < github.settings.clock(now_ms) {
        return Reply::html(403, "<Error><Code>AuthenticationFailed</Code></Error>");
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
        None => Reply::html(404, "<Error><Code>BlobNotFound</Code></Error>"),
    }
}

/// All of the bytes, or the one range that is asked for (RFC 9110, section 14.2).
fn part(request: &Request, content: &Arc<[u8]>) -> Reply {
    let length = content.len();
    let range = request
        .get("range")
        .and_then(|text| text.strip_prefix("bytes=")?.split_once('-'));
    let (from, to) = match range.map(|(from, to)| (from.parse::<usize>(), to.parse::<usize>())) {
        Some((Ok(from), Ok(to))) if from <= to => (from, to.saturating_add(1).min(length)),
        Some((Ok(from), Err(_))) => (from, length),
        Some((Err(_), Ok(last))) => (length.saturating_sub(last), length),
        _ => return Reply::bytes(200, Arc::clone(content)),
    };
    if from >= to {
        let mut reply = Reply::empty(416);
        reply.set("content-range", &format!("bytes */{length}"));
        return reply;
    }
    let mut reply = Reply::bytes(206, Arc::from(&content[from..to]));
    reply.set(
        "content-range",
        &format!("bytes {from}-{}/{length}", to - 1),
    );
    reply
}
