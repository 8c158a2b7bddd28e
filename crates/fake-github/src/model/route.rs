//! The operation of a request.

use super::request_url::RequestUrl;
use super::settings::GithubSettings;

/// An operation without its parameters; fault rules refer to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ApiOperation {
    /// `GET /rate_limit`
    RateLimit,
    /// `GET /repos/O/R`
    Repository,
    /// `GET /repos/O/R/immutable-releases`
    ImmutableReleases,
    /// `GET /repos/O/R/environments/NAME`
    Environment,
    /// `GET /repos/O/R/environments/NAME/deployment-branch-policies`
    DeploymentPolicies,
    /// `GET /repos/O/R/rulesets?targets=tag`
    ListRulesets,
    /// `GET /repos/O/R/rulesets/ID`
    GetRuleset,
    /// `GET /repos/O/R/tags`
    ListTags,
    /// `GET /repos/O/R/contents/PATH?ref=REF`
    Contents,
    /// `GET /repos/O/R/git/ref/tags/T`
    TagRef,
    /// `GET /repos/O/R/git/matching-refs/tags/PREFIX`
    MatchingRefs,
    /// `GET /repos/O/R/git/tags/SHA`
    TagObject,
    /// `DELETE /repos/O/R/git/refs/tags/T`
    DeleteTag,
    /// `GET /repos/O/R/commits/REF`
    Commit,
    /// `GET /repos/O/R/releases`
    ListReleases,
    /// `POST /repos/O/R/releases`
    CreateRelease,
    /// `GET /repos/O/R/releases/ID`
    GetRelease,
    /// `GET /repos/O/R/releases/tags/T`
    ReleaseByTag,
    /// `GET /repos/O/R/releases/latest`
    LatestRelease,
    /// `PATCH /repos/O/R/releases/ID`
    EditRelease,
    /// `DELETE /repos/O/R/releases/ID`
    DeleteRelease,
    /// `GET /repos/O/R/releases/ID/assets`
    ListAssets,
    /// `POST /repos/O/R/releases/ID/assets?name=N`
    Upload,
    /// `GET /repos/O/R/releases/assets/ID`
    GetAsset,
    /// `PATCH /repos/O/R/releases/assets/ID`
    EditAsset,
    /// `DELETE /repos/O/R/releases/assets/ID`
    DeleteAsset,
    /// `GET /O/R/releases/download/T/N`, the download link of a browser
    Download,
    /// Any request to the storage host.
    Storage,
    /// Any other request.
    Unknown,
}

/// All operations with their names.
pub const OPERATIONS: &[(ApiOperation, &str)] = &[
    (ApiOperation::RateLimit, "rate-limit"),
    (ApiOperation::Repository, "repository"),
    (ApiOperation::ImmutableReleases, "immutable-releases"),
    (ApiOperation::Environment, "environment"),
    (ApiOperation::DeploymentPolicies, "deployment-policies"),
    (ApiOperation::ListRulesets, "list-rulesets"),
    (ApiOperation::GetRuleset, "get-ruleset"),
    (ApiOperation::ListTags, "list-tags"),
    (ApiOperation::Contents, "contents"),
    (ApiOperation::TagRef, "tag-ref"),
    (ApiOperation::MatchingRefs, "matching-refs"),
    (ApiOperation::TagObject, "tag-object"),
    (ApiOperation::DeleteTag, "delete-tag"),
    (ApiOperation::Commit, "commit"),
    (ApiOperation::ListReleases, "list-releases"),
    (ApiOperation::CreateRelease, "create-release"),
    (ApiOperation::GetRelease, "get-release"),
    (ApiOperation::ReleaseByTag, "release-by-tag"),
    (ApiOperation::LatestRelease, "latest-release"),
    (ApiOperation::EditRelease, "edit-release"),
    (ApiOperation::DeleteRelease, "delete-release"),
    (ApiOperation::ListAssets, "list-assets"),
    (ApiOperation::Upload, "upload"),
    (ApiOperation::GetAsset, "get-asset"),
    (ApiOperation::EditAsset, "edit-asset"),
    (ApiOperation::DeleteAsset, "delete-asset"),
    (ApiOperation::Download, "download"),
    (ApiOperation::Storage, "storage"),
    (ApiOperation::Unknown, "unknown"),
];

impl ApiOperation {
    /// Returns the name.
    pub fn name(self) -> &'static str {
        OPERATIONS
            .iter()
            .find(|(operation, _)| *operation == self)
            .map_or("unknown", |(_, word)| word)
    }

    /// Returns the operation of this name.
    pub fn from_name(word: &str) -> Option<Self> {
        OPERATIONS
            .iter()
            .find(|(_, known)| *known == word)
            .map(|(operation, _)| *operation)
    }

    /// Returns whether it creates content for GitHub's secondary limits.
    pub fn creates(self) -> bool {
        matches!(self, Self::CreateRelease | Self::Upload)
    }

    /// Returns whether the REST API answers it.
    pub fn is_api(self) -> bool {
        !matches!(self, Self::Download | Self::Storage)
    }
}

/// A request with its parsed parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestRoute {
    /// The operation.
    pub operation: ApiOperation,
    /// `OWNER/REPO` as written, or the ID of a repository.
    pub repository: String,
    /// The ID of a release or asset, or 0.
    pub id: u64,
    /// A tag, ref or commit; the tag of a download.
    pub text: String,
    /// The name of the asset of a download.
    pub name: String,
}

impl RequestRoute {
    /// Parses a request.
    pub fn resolve(method: &str, address: &RequestUrl, settings: &GithubSettings) -> Self {
        let segments = address.segments();
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let base = &address.base;
        if *base == settings.storage_base {
            return Self::plain(
                ApiOperation::Storage,
                "",
                segments.last().and_then(|id| id.parse().ok()).unwrap_or(0),
            );
        }
        let (repository, rest) = match segments.as_slice() {
            ["rate_limit"] => return Self::plain(ApiOperation::RateLimit, "", 0),
            ["repos", owner, name, rest @ ..] => (format!("{owner}/{name}"), rest),
            ["repositories", id, rest @ ..] => ((*id).to_owned(), rest),
            [owner, name, "releases", "download", tag, file] if *base == settings.web_base => {
                let plain = Self::plain(ApiOperation::Download, &format!("{owner}/{name}"), 0);
                return Self {
                    text: (*tag).to_owned(),
                    name: (*file).to_owned(),
                    ..plain
                };
            }
            _ => return Self::plain(ApiOperation::Unknown, "", 0),
        };
        let about = |operation, id: &str, text: &[&str]| {
            let number: Option<u64> = if id.is_empty() {
                Some(0)
            } else {
                id.parse().ok()
            };
            match number {
                Some(id) => Self {
                    text: text.join("/"),
                    ..Self::plain(operation, &repository, id)
                },
                None => Self::plain(ApiOperation::Unknown, &repository, 0),
            }
        };
        let is_upload_host = *base == settings.uploads_base;
        match (method, rest) {
            ("POST", ["releases", id, "assets"]) if is_upload_host => {
                about(ApiOperation::Upload, id, &[])
            }
            _ if *base != settings.api_base => Self::plain(ApiOperation::Unknown, &repository, 0),
            ("GET", []) => about(ApiOperation::Repository, "", &[]),
            ("GET", ["immutable-releases"]) => about(ApiOperation::ImmutableReleases, "", &[]),
            ("GET", ["environments", name]) => about(ApiOperation::Environment, "", &[name]),
            ("GET", ["environments", name, "deployment-branch-policies"]) => {
                about(ApiOperation::DeploymentPolicies, "", &[name])
            }
            ("GET", ["rulesets"]) => about(ApiOperation::ListRulesets, "", &[]),
            ("GET", ["rulesets", id]) => about(ApiOperation::GetRuleset, id, &[]),
            ("GET", ["tags"]) => about(ApiOperation::ListTags, "", &[]),
            ("GET", ["contents", path @ ..]) => about(ApiOperation::Contents, "", path),
            ("GET", ["git", "ref", "tags", tag @ ..]) => about(ApiOperation::TagRef, "", tag),
            ("GET", ["git", "matching-refs", "tags", tag @ ..]) => {
                about(ApiOperation::MatchingRefs, "", tag)
            }
            ("DELETE", ["git", "refs", "tags", tag @ ..]) => {
                about(ApiOperation::DeleteTag, "", tag)
            }
            ("GET", ["git", "tags", sha]) => about(ApiOperation::TagObject, "", &[sha]),
            ("GET", ["commits", text @ ..]) if !text.is_empty() => {
                about(ApiOperation::Commit, "", text)
            }
            ("GET", ["releases"]) => about(ApiOperation::ListReleases, "", &[]),
            ("POST", ["releases"]) => about(ApiOperation::CreateRelease, "", &[]),
            ("GET", ["releases", "latest"]) => about(ApiOperation::LatestRelease, "", &[]),
            ("GET", ["releases", "tags", tag @ ..]) => about(ApiOperation::ReleaseByTag, "", tag),
            ("GET", ["releases", "assets", id]) => about(ApiOperation::GetAsset, id, &[]),
            ("PATCH", ["releases", "assets", id]) => about(ApiOperation::EditAsset, id, &[]),
            ("DELETE", ["releases", "assets", id]) => about(ApiOperation::DeleteAsset, id, &[]),
            ("GET", ["releases", id, "assets"]) => about(ApiOperation::ListAssets, id, &[]),
            ("GET", ["releases", id]) => about(ApiOperation::GetRelease, id, &[]),
            ("PATCH", ["releases", id]) => about(ApiOperation::EditRelease, id, &[]),
            ("DELETE", ["releases", id]) => about(ApiOperation::DeleteRelease, id, &[]),
            _ => Self::plain(ApiOperation::Unknown, &repository, 0),
        }
    }

    fn plain(operation: ApiOperation, repository: &str, id: u64) -> Self {
        Self {
            operation,
            repository: repository.to_owned(),
            id,
            text: String::new(),
            name: String::new(),
        }
    }
}
