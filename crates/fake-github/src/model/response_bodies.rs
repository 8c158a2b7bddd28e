//! JSON bodies of releases, assets and repositories.

use std::sync::Arc;

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::errors;
use super::request::ApiReply;
use super::request_url::encode;
use super::settings::{DigestMode, GithubSettings};
use super::state::{StoredAsset, StoredRelease, StoredRepository, fake_sha};
use super::times::rfc3339;

/// URL fields of a repository that are not served here, relative to the URL of the repository.
const REPOSITORY_LINKS: &[(&str, &str)] = &[
    ("archive_url", "{archive_format}{/ref}"),
    ("assignees_url", "assignees{/user}"),
    ("blobs_url", "git/blobs{/sha}"),
    ("branches_url", "branches{/branch}"),
    ("collaborators_url", "collaborators{/collaborator}"),
    ("comments_url", "comments{/number}"),
    ("commits_url", "commits{/sha}"),
    ("compare_url", "compare/{base}...{head}"),
    ("contents_url", "contents/{+path}"),
    ("contributors_url", "contributors"),
    ("deployments_url", "deployments"),
    ("downloads_url", "downloads"),
    ("events_url", "events"),
    ("forks_url", "forks"),
    ("git_commits_url", "git/commits{/sha}"),
    ("git_refs_url", "git/refs{/sha}"),
    ("git_tags_url", "git/tags{/sha}"),
    ("hooks_url", "hooks"),
    ("issue_comment_url", "issues/comments{/number}"),
    ("issue_events_url", "issues/events{/number}"),
    ("issues_url", "issues{/number}"),
    ("keys_url", "keys{/key_id}"),
    ("labels_url", "labels{/name}"),
    ("languages_url", "languages"),
    ("merges_url", "merges"),
    ("milestones_url", "milestones{/number}"),
    (
        "notifications_url",
        "notifications{?since,all,participating}",
    ),
    ("pulls_url", "pulls{/number}"),
    ("releases_url", "releases{/id}"),
    ("stargazers_url", "stargazers"),
    ("statuses_url", "statuses/{sha}"),
    ("subscribers_url", "subscribers"),
    ("subscription_url", "subscription"),
    ("tags_url", "tags"),
    ("teams_url", "teams"),
    ("trees_url", "git/trees{/sha}"),
];
/// Counters of a repository without stars, forks or issues.
const REPOSITORY_COUNTS: &[&str] = &[
    "forks",
    "forks_count",
    "network_count",
    "open_issues",
    "open_issues_count",
    "size",
    "stargazers_count",
    "subscribers_count",
    "watchers",
    "watchers_count",
];

/// Returns a repository, as seen with or without write access (schema `full-repository`).
pub fn repository(
    settings: &GithubSettings,
    repository: &StoredRepository,
    may_write: bool,
) -> Value {
    let (owner, name) = repository
        .full_name
        .split_once('/')
        .unwrap_or(("", &repository.full_name));
    let url = format!("{}/repos/{}", settings.api_base, repository.full_name);
    let html_url = format!("{}/{}", settings.web_base, repository.full_name);
    let mut body = json!({
        "id": repository.id, "node_id": format!("R_{}", repository.id), "name": name,
        "full_name": repository.full_name, "private": repository.is_private, "owner": user_value(settings, owner),
        "description": null, "fork": false, "archived": repository.is_archived, "disabled": false,
        "visibility": if repository.is_private { "private" } else { "public" }, "default_branch": "main",
        "permissions": {"admin": false, "maintain": false, "push": may_write, "triage": may_write, "pull": true},
        "mirror_url": null, "homepage": null, "language": null, "license": null,
        "created_at": rfc3339(0), "updated_at": rfc3339(0), "pushed_at": rfc3339(0),
    });
    for (field, path) in REPOSITORY_LINKS {
        let slash = if path.starts_with("{?") { "" } else { "/" };
        body[*field] = json!(format!("{url}{slash}{path}"));
    }
    for field in REPOSITORY_COUNTS {
        body[*field] = json!(0);
    }
    for field in [
        "has_discussions",
        "has_issues",
        "has_pages",
        "has_projects",
        "has_wiki",
    ] {
        body[field] = json!(false);
    }
    let authority = html_url
        .split_once("://")
        .map_or(html_url.as_str(), |(_, rest)| rest);
    body["git_url"] = json!(format!("git://{authority}.git"));
    body["ssh_url"] = json!(format!("git@{authority}.git"));
    body["clone_url"] = json!(format!("{html_url}.git"));
    body["svn_url"] = json!(html_url);
    body["html_url"] = json!(html_url);
    body["url"] = json!(url);
    body
}

/// Returns an environment (REST API, "Get an environment").
pub fn environment(
    settings: &GithubSettings,
    repository: &StoredRepository,
    name: &str,
) -> ApiReply {
    let Some(tags) = repository.environments.get(name) else {
        return errors::not_found();
    };
    let policy =
        json!({"protected_branches": tags.is_none(), "custom_branch_policies": tags.is_some()});
    let below = format!("{}/environments/{}", repository.full_name, encode(name));
    ApiReply::json(
        200,
        &json!({
            "id": 1, "node_id": "EN_1", "name": name, "url": format!("{}/repos/{below}", settings.api_base),
            "html_url": format!("{}/{below}", settings.web_base), "created_at": rfc3339(0), "updated_at": rfc3339(0),
            "protection_rules": [{"id": 1, "node_id": "GA_1", "type": "branch_policy"}],
            "deployment_branch_policy": policy,
        }),
    )
}

/// Returns the branches and tags that may deploy to an environment (REST API, "List deployment
/// branch policies").
pub fn deployment_policies(repository: &StoredRepository, name: &str) -> ApiReply {
    let Some(Some(tags)) = repository.environments.get(name) else {
        return errors::not_found();
    };
    let row = |(at, tag): (usize, &String)| json!({"id": at + 2, "node_id": "DBP_1", "name": tag, "type": "tag"});
    let branch = json!({"id": 1, "node_id": "DBP_0", "name": "main", "type": "branch"});
    let rows: Vec<Value> = std::iter::once(branch)
        .chain(tags.iter().enumerate().map(row))
        .collect();
    ApiReply::json(
        200,
        &json!({"total_count": rows.len(), "branch_policies": rows}),
    )
}

/// Builds the bodies of releases and assets, with the values that a whole reply shares.
#[derive(Debug)]
pub struct BodyBuilder<'a> {
    settings: &'a GithubSettings,
    repository: &'a StoredRepository,
    now_ms: u64,
    /// The only user, serialized once because every asset contains it.
    user: Box<RawValue>,
}

/// The body of a release.
#[derive(Debug, Serialize)]
pub struct ReleaseBody<'a> {
    url: String,
    assets_url: String,
    upload_url: String,
    html_url: String,
    id: u64,
    author: &'a RawValue,
    node_id: String,
    tag_name: &'a str,
    target_commitish: &'a str,
    name: Option<&'a str>,
    draft: bool,
    immutable: bool,
    prerelease: bool,
    created_at: String,
    updated_at: String,
    published_at: Option<String>,
    assets: Vec<AssetBody<'a>>,
    tarball_url: Option<String>,
    zipball_url: Option<String>,
    body: Option<&'a str>,
}

/// The body of an asset.
#[derive(Debug, Serialize)]
pub struct AssetBody<'a> {
    url: String,
    id: u64,
    node_id: String,
    name: &'a str,
    label: Option<&'a str>,
    uploader: &'a RawValue,
    content_type: &'a str,
    state: &'static str,
    size: u64,
    digest: Option<String>,
    download_count: u64,
    created_at: String,
    updated_at: String,
    browser_download_url: String,
}

impl<'a> BodyBuilder<'a> {
    /// Creates a builder for a repository, at a time on the server's clock.
    pub fn new(
        settings: &'a GithubSettings,
        repository: &'a StoredRepository,
        now_ms: u64,
    ) -> Self {
        let (owner, _) = repository.full_name.split_once('/').unwrap_or_default();
        let user = RawValue::from_string(user_value(settings, owner).to_string())
            .expect("a value is JSON");
        Self {
            settings,
            repository,
            now_ms,
            user,
        }
    }

    /// Returns a release with its assets.
    pub fn release(&'a self, release: &'a StoredRelease) -> ReleaseBody<'a> {
        self.listed(release, usize::MAX)
    }

    /// Returns a release as in a list, with at most this many assets.
    pub fn listed(&'a self, release: &'a StoredRelease, most: usize) -> ReleaseBody<'a> {
        let (settings, name) = (self.settings, &self.repository.full_name);
        let url = format!("{}/repos/{name}/releases/{}", settings.api_base, release.id);
        let ball = |kind: &str| {
            format!(
                "{}/repos/{name}/{kind}/{}",
                settings.api_base, release.tag_name
            )
        };
        let tag = encode(&shown_tag(release));
        ReleaseBody {
            assets_url: format!("{url}/assets"),
            upload_url: format!(
                "{}/repos/{name}/releases/{}/assets{{?name,label}}",
                settings.uploads_base, release.id
            ),
            html_url: format!("{}/{name}/releases/tag/{tag}", settings.web_base),
            url,
            id: release.id,
            author: &self.user,
            node_id: format!("RE_{}", release.id),
            tag_name: &release.tag_name,
            target_commitish: &release.target_commitish,
            name: release.name.as_deref(),
            draft: release.draft,
            immutable: release.immutable,
            prerelease: release.prerelease,
            created_at: rfc3339(release.created_ms),
            updated_at: rfc3339(release.updated_ms),
            published_at: release.published_ms.map(rfc3339),
            assets: self.of_tag(&tag, release.assets.iter().take(most)),
            tarball_url: (!release.draft).then(|| ball("tarball")),
            zipball_url: (!release.draft).then(|| ball("zipball")),
            body: release.body.as_deref(),
        }
    }

    /// Returns an asset of a release.
    pub fn asset(&'a self, of: &StoredRelease, asset: &'a StoredAsset) -> AssetBody<'a> {
        self.with_tag(&encode(&shown_tag(of)), asset)
    }

    /// Returns assets of a release.
    pub fn assets(
        &'a self,
        of: &StoredRelease,
        assets: impl IntoIterator<Item = &'a Arc<StoredAsset>>,
    ) -> Vec<AssetBody<'a>> {
        self.of_tag(&encode(&shown_tag(of)), assets)
    }

    fn of_tag(
        &'a self,
        tag: &str,
        assets: impl IntoIterator<Item = &'a Arc<StoredAsset>>,
    ) -> Vec<AssetBody<'a>> {
        assets
            .into_iter()
            .map(|asset| self.with_tag(tag, asset))
            .collect()
    }

    /// Returns an asset of a release whose tag is encoded.
    fn with_tag(&'a self, tag: &str, asset: &'a StoredAsset) -> AssetBody<'a> {
        let (settings, name) = (self.settings, &self.repository.full_name);
        let has_digest = asset.is_uploaded
            && !asset.hides_digest
            && match settings.digests {
                DigestMode::Told => true,
                DigestMode::Null => false,
                DigestMode::Late(ms) => asset.updated_ms.saturating_add(ms) <= self.now_ms,
            };
        AssetBody {
            url: format!(
                "{}/repos/{name}/releases/assets/{}",
                settings.api_base, asset.id
            ),
            id: asset.id,
            node_id: format!("RA_{}", asset.id),
            name: &asset.name,
            label: asset.label.as_deref(),
            uploader: &self.user,
            content_type: &asset.content_type,
            state: if asset.is_uploaded {
                "uploaded"
            } else {
                "starter"
            },
            size: asset.size_bytes,
            digest: asset
                .sha256
                .as_ref()
                .filter(|_| has_digest)
                .map(|sha256| format!("sha256:{sha256}")),
            download_count: asset.downloads,
            created_at: rfc3339(asset.created_ms),
            updated_at: rfc3339(asset.updated_ms),
            browser_download_url: format!(
                "{}/{name}/releases/download/{tag}/{}",
                settings.web_base,
                encode(&asset.name)
            ),
        }
    }
}

/// Returns the tag in URLs, which drafts do not have yet.
fn shown_tag(release: &StoredRelease) -> String {
    if release.draft {
        format!("untagged-{}", &fake_sha(&release.id.to_string())[..20])
    } else {
        release.tag_name.clone()
    }
}

/// Returns a tag as in a list.
pub fn listed_tag(
    settings: &GithubSettings,
    repository: &StoredRepository,
    tag: &str,
    sha: &str,
) -> Value {
    let url = format!("{}/repos/{}", settings.api_base, repository.full_name);
    json!({"name": tag, "commit": {"sha": sha, "url": format!("{url}/commits/{sha}")},
        "zipball_url": format!("{url}/zipball/refs/tags/{tag}"),
        "tarball_url": format!("{url}/tarball/refs/tags/{tag}"), "node_id": "REF_1"})
}

/// Returns a ref with its object.
pub fn tag_ref(
    settings: &GithubSettings,
    repository: &StoredRepository,
    tag: &str,
    sha: &str,
) -> Value {
    let url = format!("{}/repos/{}/git", settings.api_base, repository.full_name);
    let (kind, sha) = match repository.annotated.get(tag) {
        Some(object) => ("tag", object.as_str()),
        None => ("commit", sha),
    };
    let object = json!({"sha": sha, "type": kind, "url": format!("{url}/{kind}s/{sha}")});
    json!({"ref": format!("refs/tags/{tag}"), "node_id": "REF_1", "url": format!("{url}/refs/tags/{tag}"),
        "object": object})
}

/// Returns an annotated tag, an object that contains the commit (schema `git-tag`).
pub fn tag_object(
    settings: &GithubSettings,
    repository: &StoredRepository,
    tag: &str,
    object: &str,
    sha: &str,
) -> Value {
    let url = format!("{}/repos/{}/git", settings.api_base, repository.full_name);
    let target = json!({"sha": sha, "type": "commit", "url": format!("{url}/commits/{sha}")});
    json!({"node_id": "TA_1", "tag": tag, "sha": object, "url": format!("{url}/tags/{object}"), "message": "A tag",
        "tagger": {"name": "A tagger", "email": "tagger@example.com", "date": rfc3339(0)}, "object": target})
}

/// Returns a commit without parents or files (schema `commit`).
pub fn commit(settings: &GithubSettings, repository: &StoredRepository, sha: &str) -> Value {
    let url = format!("{}/repos/{}", settings.api_base, repository.full_name);
    let author = json!({"name": "An author", "email": "author@example.com", "date": rfc3339(0)});
    let tree = fake_sha(&format!("tree of {sha}"));
    json!({
        "sha": sha, "node_id": "C_1", "url": format!("{url}/commits/{sha}"),
        "html_url": format!("{}/{}/commit/{sha}", settings.web_base, repository.full_name),
        "comments_url": format!("{url}/commits/{sha}/comments"), "author": null, "committer": null, "parents": [],
        "commit": {"url": format!("{url}/git/commits/{sha}"), "author": author, "committer": author,
            "message": "A commit", "comment_count": 0,
            "tree": {"sha": tree, "url": format!("{url}/git/trees/{tree}")}},
    })
}

fn user_value(settings: &GithubSettings, login: &str) -> Value {
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
