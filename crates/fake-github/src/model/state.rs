//! What a GitHub holds: tokens, repositories, releases, assets.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Who a token stands for.
#[derive(Debug, Clone)]
pub struct Token {
    /// What it may do.
    pub rights: Rights,
    /// The kind, which words GitHub's refusals.
    pub kind: TokenKind,
}

/// What a token may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rights {
    /// `contents: write`
    Write,
    /// `contents: read`
    Read,
    /// `contents: read` and `actions: read`
    ReadActions,
    /// It sees public repositories and nothing else.
    Stranger,
}

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// The token of a workflow, or of an app.
    Integration,
    /// A token that a person made.
    Personal,
}

/// Releases by number, shared with older views of them.
pub type Releases = BTreeMap<u64, Arc<Release>>;

/// One repository.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Repository {
    /// Its number.
    pub id: u64,
    /// `OWNER/REPO`.
    pub full_name: String,
    /// Names it had.
    pub old_names: Vec<String>,
    /// Whether only some see it.
    pub is_private: bool,
    /// Whether nobody may write.
    pub is_archived: bool,
    /// Whether publishing locks a release.
    pub has_immutable_releases: bool,
    /// A ruleset that keeps new tags from being made.
    pub tag_ruleset: Option<TagRuleset>,
    /// Environments by name, with the patterns of tags that they take; `None` takes protected
    /// branches only.
    pub environments: BTreeMap<String, Option<Vec<String>>>,
    /// Branches and the commits they are at.
    pub branches: BTreeMap<String, String>,
    /// Tags and the commits they are at.
    pub tags: BTreeMap<String, String>,
    /// Tags that are objects of their own: tag to object.
    pub annotated: BTreeMap<String, String>,
    /// Texts of files, by commit and path.
    pub files: BTreeMap<String, BTreeMap<String, String>>,
    /// Tags that an immutable release had; they come never back.
    pub burned_tags: BTreeSet<String>,
    /// The releases.
    #[serde(skip)]
    pub releases: Releases,
    /// How they were, for lists that lag: when each view ended to be right.
    #[serde(skip)]
    pub views: VecDeque<(u64, Releases)>,
}

impl Repository {
    /// A public repository with a branch `main`.
    pub fn new(id: u64, full_name: &str) -> Self {
        let branches = BTreeMap::from([("main".to_owned(), sha_of(full_name))]);
        Self {
            id,
            full_name: full_name.to_owned(),
            branches,
            ..Self::default()
        }
    }

    /// Keeps the view that ends now, and forgets those that no list shows any more.
    pub fn remember(&mut self, now_ms: u64, lag_ms: u64) {
        if lag_ms > 0 {
            self.views.push_back((now_ms, self.releases.clone()));
        }
        while self
            .views
            .front()
            .is_some_and(|(ended_ms, _)| ended_ms.saturating_add(lag_ms) < now_ms)
        {
            self.views.pop_front();
        }
    }

    /// The releases as they were at a time.
    pub fn at(&self, time_ms: u64) -> &Releases {
        self.views
            .iter()
            .find(|(ended_ms, _)| *ended_ms > time_ms)
            .map_or(&self.releases, |(_, view)| view)
    }

    /// The commit of a tag, branch or commit.
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

    /// The release that has an asset, and the asset.
    pub fn asset(&self, id: u64) -> Option<(&Arc<Release>, &Arc<Asset>)> {
        let found =
            |release: &'_ Arc<Release>| release.assets.iter().position(|asset| asset.id == id);
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
    /// Patterns of the refs that it applies to: `~ALL`, or `refs/tags/` and a text with `*`.
    pub include: Vec<String>,
    /// Patterns of the refs that it does not apply to.
    pub exclude: Vec<String>,
    /// `active`, `evaluate` or `disabled`.
    pub enforcement: String,
    /// The value of `current_user_can_bypass`: `always`, `pull_requests_only`, `never` or `exempt`.
    pub bypass: String,
    /// Whether its details are hidden: those of an organization may be.
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
    /// Whether it keeps everybody from making a tag.
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

/// A commit that stands for a text, as nothing is ever checked out of here.
pub fn sha_of(text: &str) -> String {
    use sha2::Digest as _;
    super::request::hex(&sha2::Sha256::digest(text))[..40].to_owned()
}

/// One release.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Release {
    /// Its number.
    pub id: u64,
    /// Its tag, which a draft only wishes for.
    pub tag_name: String,
    /// The branch or commit that the tag is made at, where it is not there.
    pub target_commitish: String,
    /// Its title.
    pub name: Option<String>,
    /// Its text.
    pub body: Option<String>,
    /// Whether it is not published.
    pub draft: bool,
    /// Whether it is marked as not finished.
    pub prerelease: bool,
    /// Whether its assets and tag are locked.
    pub immutable: bool,
    /// What `make_latest` said last.
    pub make_latest: Option<String>,
    /// When it was made.
    pub created_ms: u64,
    /// When it was changed.
    pub updated_ms: u64,
    /// When it was published.
    pub published_ms: Option<u64>,
    /// Its assets.
    #[serde(skip)]
    pub assets: Vec<Arc<Asset>>,
}

/// One asset.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Asset {
    /// Its number.
    pub id: u64,
    /// Its name, as GitHub stored it.
    pub name: String,
    /// What is shown instead of the name.
    pub label: Option<String>,
    /// Its media type.
    pub content_type: String,
    /// Whether all of it came.
    pub is_uploaded: bool,
    /// Its size in bytes; what was announced, as long as it did not come.
    pub size_bytes: u64,
    /// SHA-256 in hexadecimal digits.
    pub sha256: Option<String>,
    /// Whether it never tells a digest.
    pub hides_digest: bool,
    /// How often it was fetched.
    pub downloads: u64,
    /// When it was made.
    pub created_ms: u64,
    /// When it was changed.
    pub updated_ms: u64,
    /// Its bytes, where they were kept.
    #[serde(skip)]
    pub content: Option<Arc<[u8]>>,
}
