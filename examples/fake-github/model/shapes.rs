//! Releases, assets and repositories as the API writes them.

use serde_json::{Value, json};

use super::address::encode;
use super::settings::{Digests, Settings};
use super::state::{Asset, Release, Repository, sha_of};
use super::times::rfc3339;

/// A repository, for someone who may or may not write.
pub fn repository(settings: &Settings, repository: &Repository, may_write: bool) -> Value {
    let (owner, name) = repository.full_name.split_once('/').unwrap_or(("", &repository.full_name));
    json!({
        "id": repository.id, "node_id": format!("R_{}", repository.id), "name": name,
        "full_name": repository.full_name, "private": repository.is_private, "owner": user(settings, owner),
        "html_url": format!("{}/{}", settings.web_base, repository.full_name),
        "url": format!("{}/repos/{}", settings.api_base, repository.full_name),
        "description": null, "fork": false, "archived": repository.is_archived, "disabled": false,
        "visibility": if repository.is_private { "private" } else { "public" }, "default_branch": "main",
        "permissions": {"admin": false, "maintain": false, "push": may_write, "triage": may_write, "pull": true},
    })
}

/// A release with its assets.
pub fn release(settings: &Settings, repository: &Repository, release: &Release, now_ms: u64) -> Value {
    let url = format!("{}/repos/{}/releases/{}", settings.api_base, repository.full_name, release.id);
    let uploads = format!("{}/repos/{}/releases/{}", settings.uploads_base, repository.full_name, release.id);
    let web = format!("{}/{}/releases/tag", settings.web_base, repository.full_name);
    let (owner, _) = repository.full_name.split_once('/').unwrap_or_default();
    let balls = |kind: &str| {
        let there = format!("{}/repos/{}/{kind}/{}", settings.api_base, repository.full_name, release.tag_name);
        if release.draft { Value::Null } else { json!(there) }
    };
    json!({
        "url": url, "assets_url": format!("{url}/assets"), "upload_url": format!("{uploads}/assets{{?name,label}}"),
        "html_url": format!("{web}/{}", encode(&shown_tag(release))), "id": release.id,
        "author": user(settings, owner), "node_id": format!("RE_{}", release.id), "tag_name": release.tag_name,
        "target_commitish": release.target_commitish, "name": release.name, "draft": release.draft,
        "immutable": release.immutable, "prerelease": release.prerelease, "created_at": rfc3339(release.created_ms),
        "updated_at": rfc3339(release.updated_ms), "published_at": release.published_ms.map(rfc3339),
        "assets": release.assets.iter().map(|one| asset(settings, repository, release, one, now_ms)).collect::<Value>(),
        "tarball_url": balls("tarball"), "zipball_url": balls("zipball"), "body": release.body,
    })
}

/// An asset.
pub fn asset(settings: &Settings, repository: &Repository, of: &Release, asset: &Asset, now_ms: u64) -> Value {
    let url = format!("{}/repos/{}/releases/assets/{}", settings.api_base, repository.full_name, asset.id);
    let (owner, _) = repository.full_name.split_once('/').unwrap_or_default();
    let told = match settings.digests {
        Digests::Told => !asset.hides_digest,
        Digests::Null => false,
        Digests::Late(ms) => !asset.hides_digest && asset.updated_ms.saturating_add(ms) <= now_ms,
    };
    let digest = asset.sha256.as_ref().filter(|_| told && asset.is_uploaded).map(|sha256| format!("sha256:{sha256}"));
    let (folder, name) = (encode(&shown_tag(of)), encode(&asset.name));
    json!({
        "url": url, "id": asset.id, "node_id": format!("RA_{}", asset.id), "name": asset.name, "label": asset.label,
        "uploader": user(settings, owner), "content_type": asset.content_type,
        "state": if asset.is_uploaded { "uploaded" } else { "starter" }, "size": asset.size_bytes, "digest": digest,
        "download_count": asset.downloads, "created_at": rfc3339(asset.created_ms),
        "updated_at": rfc3339(asset.updated_ms),
        "browser_download_url":
            format!("{}/{}/releases/download/{folder}/{name}", settings.web_base, repository.full_name),
    })
}

/// The tag in addresses: a draft has none yet.
fn shown_tag(release: &Release) -> String {
    if release.draft {
        format!("untagged-{}", &sha_of(&release.id.to_string())[..20])
    } else {
        release.tag_name.clone()
    }
}

/// A ref with the object it is at.
pub fn tag_ref(settings: &Settings, repository: &Repository, tag: &str, sha: &str) -> Value {
    let url = format!("{}/repos/{}/git", settings.api_base, repository.full_name);
    let (kind, sha) = match repository.annotated.get(tag) {
        Some(object) => ("tag", object.as_str()),
        None => ("commit", sha),
    };
    let object = json!({"sha": sha, "type": kind, "url": format!("{url}/{kind}s/{sha}")});
    json!({"ref": format!("refs/tags/{tag}"), "node_id": "REF_1", "url": format!("{url}/refs/tags/{tag}"),
        "object": object})
}

fn user(settings: &Settings, login: &str) -> Value {
    let url = format!("{}/users/{login}", settings.api_base);
    let under = |rest: &str| format!("{url}/{rest}");
    json!({
        "login": login, "id": 1, "node_id": "U_1", "avatar_url": format!("{}/avatar.png", settings.web_base),
        "gravatar_id": "", "url": url, "html_url": format!("{}/{login}", settings.web_base),
        "followers_url": under("followers"), "following_url": under("following{/other_user}"),
        "gists_url": under("gists{/gist_id}"), "starred_url": under("starred{/owner}{/repo}"),
        "subscriptions_url": under("subscriptions"), "organizations_url": under("orgs"), "repos_url": under("repos"),
        "events_url": under("events{/privacy}"), "received_events_url": under("received_events"), "type": "User",
        "user_view_type": "public", "site_admin": false,
    })
}
