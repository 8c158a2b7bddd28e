//! The state of a model: tokens, repositories, releases, assets.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// A token and its permissions.
#[derive(Debug, Clone)]
pub struct ApiToken {
    /// The permissions.
    pub rights: TokenRights,
    /// The kind, which determines the texts of errors.
    pub kind: TokenKind,
}

/// The permissions of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenRights {
    /// `contents: write`
    Write,
    /// `contents: read`
    Read,
    /// `contents: read` and `actions: read`
    ReadActions,
    /// Read access to public repositories only.
    Stranger,
}

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// The token of a workflow or an app.
    Integration,
    /// A personal access token.
    Personal,
}

/// Releases by ID, shared with snapshots.
pub type ReleasesById = BTreeMap<u64, Arc<StoredRelease>>;

/// A repository.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredRepository {
    /// The ID.
    pub id: u64,
    /// `OWNER/REPO`.
    pub full_name: String,
    /// Former names.
    pub old_names: Vec<String>,
    /// Whether it is private.
    pub is_private: bool,
    /// Whether it is archived, so that nobody may write.
    pub is_archived: bool,
    /// Whether published releases are immutable.
    pub has_immutable_releases: bool,
    /// A ruleset that restricts the creation of tags.
    pub tag_ruleset: Option<TagRuleset>,
    /// Environments by name, with the tag patterns that they allow; `None` allows protected
    /// branches only.
    pub environments: BTreeMap<String, Option<Vec<String>>>,
    /// The commits of branches.
    pub branches: BTreeMap<String, String>,
    /// The commits of tags.
    pub tags: BTreeMap<String, String>,
    /// The objects of annotated tags.
    pub annotated: BTreeMap<String, String>,
    /// The text of files, by commit and path.
    pub files: BTreeMap<String, BTreeMap<String, String>>,
    /// Tags of immutable releases, which cannot be used again.
    pub burned_tags: BTreeSet<String>,
    /// The releases.
    #[serde(skip)]
    pub releases: ReleasesById,
    /// Snapshots for lists that lag, each with the time at which it became outdated.
    #[serde(skip)]
    pub snapshots: VecDeque<(u64, ReleasesById)>,
}

impl StoredRepository {
    /// Creates a public repository with a branch `main`.
    pub fn new(id: u64, full_name: &str) -> Self {
        let branches = BTreeMap::from([("main".to_owned(), fake_sha(full_name))]);
        Self {
            id,
            full_name: full_name.to_owned(),
            branches,
            ..Self::default()
        }
    }

    /// Adds a snapshot of the releases, and drops those that no list shows any more.
    pub fn push_snapshot(&mut self, now_ms: u64, lag_ms: u64) {
        if lag_ms > 0 {
            self.snapshots.push_back((now_ms, self.releases.clone()));
        }
        while self
            .snapshots
            .front()
            .is_some_and(|(ended_ms, _)| ended_ms.saturating_add(lag_ms) < now_ms)
        {
            self.snapshots.pop_front();
        }
    }

    /// Returns the releases as they were at a time.
    pub fn releases_at(&self, time_ms: u64) -> &ReleasesById {
        self.snapshots
            .iter()
            .find(|(ended_ms, _)| *ended_ms > time_ms)
            .map_or(&self.releases, |(_, view)| view)
    }

    /// Returns the commit of a tag, branch or hash.
    pub fn commit(&self, text: &str) -> Option<&str> {
        let known = || {
            self.tags
                .values()
                .chain(self.branches.values())
                .find(|sha| *sha == text)
        };
        self.tags
            .get(text)
            .or_else(|| self.branches.get(text))
            .or_else(known)
            .map(String::as_str)
    }

    /// Returns an asset and its release.
    pub fn asset(&self, id: u64) -> Option<(&Arc<StoredRelease>, &Arc<StoredAsset>)> {
        let found = |release: &'_ Arc<StoredRelease>| {
            release.assets.iter().position(|asset| asset.id == id)
        };
        let (release, at) = self
            .releases
            .values()
            .find_map(|release| Some((release, found(release)?)))?;
        Some((release, &release.assets[at]))
    }
}

/// A ruleset for tags with the rule `creation` (REST API, "Get a repository ruleset"; GitHub Docs,
/// "Available rules for rulesets", "Restrict creations").
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default)]
pub struct TagRuleset {
    /// Patterns of refs that it applies to: `~ALL`, or `refs/tags/` and a pattern with `*`.
    pub include: Vec<String>,
    /// Patterns of refs that it does not apply to.
    pub exclude: Vec<String>,
    /// `active`, `evaluate` or `disabled`.
    pub enforcement: String,
    /// The value of `current_user_can_bypass`: `always`, `pull_requests_only`, `never` or `exempt`.
    pub bypass: String,
    /// Whether its details are hidden, as those of an organization can be.
    pub is_hidden: bool,
}

impl Default for TagRuleset {
    fn default() -> Self {
        Self {
            include: vec!["~ALL".to_owned()],
            exclude: Vec::new(),
            enforcement: "active".to_owned(),
            bypass: "never".to_owned(),
            is_hidden: false,
        }
    }
}

impl TagRuleset {
    /// Returns whether it prevents the creation of a tag.
    pub fn refuses(&self, tag: &str) -> bool {
        let name = format!("refs/tags/{tag}");
        let any = |patterns: &[String]| {
            patterns
                .iter()
                .any(|pattern| pattern == "~ALL" || fits(pattern, &name))
        };
        let binds =
            self.enforcement == "active" && !["always", "exempt"].contains(&self.bypass.as_str());
        binds && any(&self.include) && !any(&self.exclude)
    }
}

/// Returns whether a pattern of fnmatch with `FNM_PATHNAME` matches: `*` matches any text without
/// `/`.
fn fits(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((before, after)) => text.strip_prefix(before).is_some_and(|rest| {
            let end = rest.find('/').unwrap_or(rest.len());
            (0..=end)
                .filter(|at| rest.is_char_boundary(*at))
                .any(|at| fits(after, &rest[at..]))
        }),
    }
}

/// Returns a made-up commit hash for a text.
pub fn fake_sha(text: &str) -> String {
    use sha2::Digest as _;
    super::request::hex(&sha2::Sha256::digest(text))[..40].to_owned()
}

/// A release.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredRelease {
    /// The ID.
    pub id: u64,
    /// The tag; that of a draft need not exist.
    pub tag_name: String,
    /// The branch or commit at which a missing tag is created.
    pub target_commitish: String,
    /// The title.
    pub name: Option<String>,
    /// The text.
    pub body: Option<String>,
    /// Whether it is a draft.
    pub draft: bool,
    /// Whether it is a prerelease.
    pub prerelease: bool,
    /// Whether its assets and tag are locked.
    pub immutable: bool,
    /// The last value of `make_latest`.
    pub make_latest: Option<String>,
    /// When it was created, in milliseconds since 1970.
    pub created_ms: u64,
    /// When it was last changed.
    pub updated_ms: u64,
    /// When it was published.
    pub published_ms: Option<u64>,
    /// The assets.
    #[serde(skip)]
    pub assets: Vec<Arc<StoredAsset>>,
}

/// An asset.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct StoredAsset {
    /// The ID.
    pub id: u64,
    /// The name under which GitHub stored it.
    pub name: String,
    /// The label that is shown instead of the name.
    pub label: Option<String>,
    /// The media type.
    pub content_type: String,
    /// Whether the upload is complete.
    pub is_uploaded: bool,
    /// The size in bytes; the announced size until the upload is complete.
    pub size_bytes: u64,
    /// The SHA-256 digest, in hexadecimal.
    pub sha256: Option<String>,
    /// Whether its digest is never returned.
    pub hides_digest: bool,
    /// The number of downloads.
    pub downloads: u64,
    /// When it was created, in milliseconds since 1970.
    pub created_ms: u64,
    /// When it was last changed.
    pub updated_ms: u64,
    /// The bytes, if they are kept.
    #[serde(skip)]
    pub content: Option<Arc<[u8]>>,
}
