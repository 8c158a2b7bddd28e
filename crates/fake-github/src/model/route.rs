//! Which operation a request asks for.

use super::address::Address;
use super::settings::Settings;

/// An operation, without its parameters: what faults are scheduled by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
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
    /// `GET /O/R/releases/download/T/N`, as people click it
    Download,
    /// What the other host answers, which holds the bytes of assets.
    Storage,
    /// Anything else.
    Unknown,
}

/// Every operation with the word for it in texts.
pub const OPERATIONS: &[(Operation, &str)] = &[
    (Operation::RateLimit, "rate-limit"),
    (Operation::Repository, "repository"),
    (Operation::ImmutableReleases, "immutable-releases"),
    (Operation::Environment, "environment"),
    (Operation::DeploymentPolicies, "deployment-policies"),
    (Operation::ListRulesets, "list-rulesets"),
    (Operation::GetRuleset, "get-ruleset"),
    (Operation::ListTags, "list-tags"),
    (Operation::Contents, "contents"),
    (Operation::TagRef, "tag-ref"),
    (Operation::MatchingRefs, "matching-refs"),
    (Operation::TagObject, "tag-object"),
    (Operation::DeleteTag, "delete-tag"),
    (Operation::Commit, "commit"),
    (Operation::ListReleases, "list-releases"),
    (Operation::CreateRelease, "create-release"),
    (Operation::GetRelease, "get-release"),
    (Operation::ReleaseByTag, "release-by-tag"),
    (Operation::LatestRelease, "latest-release"),
    (Operation::EditRelease, "edit-release"),
    (Operation::DeleteRelease, "delete-release"),
    (Operation::ListAssets, "list-assets"),
    (Operation::Upload, "upload"),
    (Operation::GetAsset, "get-asset"),
    (Operation::EditAsset, "edit-asset"),
    (Operation::DeleteAsset, "delete-asset"),
    (Operation::Download, "download"),
    (Operation::Storage, "storage"),
    (Operation::Unknown, "unknown"),
];

impl Operation {
    /// The word for it.
    pub fn word(self) -> &'static str {
        OPERATIONS
            .iter()
            .find(|(operation, _)| *operation == self)
            .map_or("unknown", |(_, word)| word)
    }

    /// The operation of a word.
    pub fn of(word: &str) -> Option<Self> {
        OPERATIONS
            .iter()
            .find(|(_, known)| *known == word)
            .map(|(operation, _)| *operation)
    }

    /// Whether it makes something people see: what GitHub's limit on content counts.
    pub fn creates(self) -> bool {
        matches!(self, Self::CreateRelease | Self::Upload)
    }

    /// Whether it is one that the REST API answers.
    pub fn is_api(self) -> bool {
        !matches!(self, Self::Download | Self::Storage)
    }
}

/// A request, read: the operation and what it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The operation.
    pub operation: Operation,
    /// `OWNER/REPO` as written, or the number of a repository.
    pub repository: String,
    /// A number of a release or asset; 0 where there is none.
    pub id: u64,
    /// A tag, ref or commit; for downloads the tag.
    pub text: String,
    /// For downloads the name of the asset.
    pub name: String,
}

impl Route {
    /// Reads a request.
    pub fn of(method: &str, address: &Address, settings: &Settings) -> Self {
        let pieces = address.pieces();
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        let base = &address.base;
        if *base == settings.storage_base {
            return Self::plain(
                Operation::Storage,
                "",
                pieces.last().and_then(|id| id.parse().ok()).unwrap_or(0),
            );
        }
        let (repository, rest) = match pieces.as_slice() {
            ["rate_limit"] => return Self::plain(Operation::RateLimit, "", 0),
            ["repos", owner, name, rest @ ..] => (format!("{owner}/{name}"), rest),
            ["repositories", id, rest @ ..] => ((*id).to_owned(), rest),
            [owner, name, "releases", "download", tag, file] if *base == settings.web_base => {
                let plain = Self::plain(Operation::Download, &format!("{owner}/{name}"), 0);
                return Self {
                    text: (*tag).to_owned(),
                    name: (*file).to_owned(),
                    ..plain
                };
            }
            _ => return Self::plain(Operation::Unknown, "", 0),
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
                None => Self::plain(Operation::Unknown, &repository, 0),
            }
        };
        let is_upload_host = *base == settings.uploads_base;
        match (method, rest) {
            ("POST", ["releases", id, "assets"]) if is_upload_host => {
                about(Operation::Upload, id, &[])
            }
            _ if *base != settings.api_base => Self::plain(Operation::Unknown, &repository, 0),
            ("GET", []) => about(Operation::Repository, "", &[]),
            ("GET", ["immutable-releases"]) => about(Operation::ImmutableReleases, "", &[]),
            ("GET", ["environments", name]) => about(Operation::Environment, "", &[name]),
            ("GET", ["environments", name, "deployment-branch-policies"]) => {
                about(Operation::DeploymentPolicies, "", &[name])
            }
            ("GET", ["rulesets"]) => about(Operation::ListRulesets, "", &[]),
            ("GET", ["rulesets", id]) => about(Operation::GetRuleset, id, &[]),
            ("GET", ["tags"]) => about(Operation::ListTags, "", &[]),
            ("GET", ["contents", path @ ..]) => about(Operation::Contents, "", path),
            ("GET", ["git", "ref", "tags", tag @ ..]) => about(Operation::TagRef, "", tag),
            ("GET", ["git", "matching-refs", "tags", tag @ ..]) => {
                about(Operation::MatchingRefs, "", tag)
            }
            ("DELETE", ["git", "refs", "tags", tag @ ..]) => about(Operation::DeleteTag, "", tag),
            ("GET", ["git", "tags", sha]) => about(Operation::TagObject, "", &[sha]),
            ("GET", ["commits", text @ ..]) if !text.is_empty() => {
                about(Operation::Commit, "", text)
            }
            ("GET", ["releases"]) => about(Operation::ListReleases, "", &[]),
            ("POST", ["releases"]) => about(Operation::CreateRelease, "", &[]),
            ("GET", ["releases", "latest"]) => about(Operation::LatestRelease, "", &[]),
            ("GET", ["releases", "tags", tag @ ..]) => about(Operation::ReleaseByTag, "", tag),
            ("GET", ["releases", "assets", id]) => about(Operation::GetAsset, id, &[]),
            ("PATCH", ["releases", "assets", id]) => about(Operation::EditAsset, id, &[]),
            ("DELETE", ["releases", "assets", id]) => about(Operation::DeleteAsset, id, &[]),
            ("GET", ["releases", id, "assets"]) => about(Operation::ListAssets, id, &[]),
            ("GET", ["releases", id]) => about(Operation::GetRelease, id, &[]),
            ("PATCH", ["releases", id]) => about(Operation::EditRelease, id, &[]),
            ("DELETE", ["releases", id]) => about(Operation::DeleteRelease, id, &[]),
            _ => Self::plain(Operation::Unknown, &repository, 0),
        }
    }

    fn plain(operation: Operation, repository: &str, id: u64) -> Self {
        Self {
            operation,
            repository: repository.to_owned(),
            id,
            text: String::new(),
            name: String::new(),
        }
    }
}
