//! The desired state of a release.

use super::super::{DesiredFile, ListedRelease};
use rock_compat::Compat;

/// The desired state of a release and its files.
#[derive(Debug, Clone)]
pub struct DesiredRelease {
    /// Its tag. Files that do not fit into one release go to `tag-2`, `tag-3`, ….
    pub tag: String,
    /// Its title; the tag if `None`.
    pub title: Option<String>,
    /// Its body; if `None`, a release keeps its own.
    pub body: Option<String>,
    /// The commit at which the tag is created if it does not exist.
    pub target: Option<String>,
    /// Whether it is marked as a prerelease.
    pub prerelease: bool,
    /// The handling of the release that `releases/latest` points to.
    pub make_latest: MakeLatest,
    /// Whether it stays a draft, which only users with write access see.
    pub stays_draft: bool,
    /// Its files, each name once. Generated files go to the first release.
    pub assets: Vec<DesiredFile>,
    /// Marks the drafts that this run creates, until they get their final body.
    pub nonce: String,
    /// The number of assets that GitHub accepts in one release.
    pub most_assets: usize,
}

/// GitHub's `make_latest` (REST API version 2022-11-28, "Update a release").
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MakeLatest {
    /// The release becomes the latest.
    Yes,
    /// The release does not become the latest.
    No,
    /// GitHub decides by date and version.
    #[default]
    Legacy,
}

impl MakeLatest {
    /// Returns the value in the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Yes => "true",
            Self::No => "false",
            Self::Legacy => "legacy",
        }
    }
}

/// The changes that the user allows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PublishPolicy {
    /// Whether different content may be replaced in published releases, and in drafts that no run
    /// of this program created.
    pub replace: bool,
    /// Whether a published release may be changed.
    pub published: bool,
    /// Whether empty drafts of the same tag may be deleted.
    pub clean_duplicates: bool,
    /// Whether files whose digest GitHub does not report are downloaded and hashed. Otherwise an
    /// equal size is sufficient.
    pub fetch_to_verify: bool,
}

/// The metadata of a release. Fields that are `None` stay unchanged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReleaseDescription {
    pub title: Option<String>,
    pub body: Option<String>,
    /// Whether it is marked as a prerelease.
    pub prerelease: Option<bool>,
    /// The commit at which its tag is created.
    pub target: Option<String>,
}

impl ReleaseDescription {
    /// Whether no field is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl DesiredRelease {
    /// Creates a release without files that becomes public as soon as it is complete. `nonce` is a
    /// random text that no other run uses; `compat` has GitHub's limits.
    pub fn new(tag: String, nonce: String, compat: &Compat) -> Self {
        Self {
            tag,
            title: None,
            body: None,
            target: None,
            prerelease: false,
            make_latest: MakeLatest::default(),
            stays_draft: false,
            assets: Vec::new(),
            nonce,
            most_assets: compat.limit_value("release-assets"),
        }
    }

    /// Returns the mark in the body of a draft of this run, until it gets its final body. It
    /// distinguishes the draft from those of others.
    pub fn mark_of_draft(&self) -> String {
        format!("{DRAFT} {} -->", self.nonce)
    }

    /// Returns the mark in the body of continuation releases. An unrelated release with the tag
    /// `tag-2` does not have it.
    pub fn mark_of_continuation(&self) -> String {
        format!("<!-- rock-matrix continues {} -->", self.tag)
    }

    /// Whether a release has the desired tag or is a continuation.
    pub fn has(&self, release: &ListedRelease) -> bool {
        let is_continuation = || {
            release
                .body
                .as_deref()
                .is_some_and(|body| body.contains(&self.mark_of_continuation()))
        };
        release.tag_name == self.tag || is_continuation()
    }

    /// Returns the metadata of the release with this tag when it is created: a marked draft.
    pub fn draft(&self, tag: &str) -> ReleaseDescription {
        let is_first = tag == self.tag;
        let body = if is_first {
            self.body.clone().unwrap_or_default()
        } else {
            self.body_of_continuation()
        };
        ReleaseDescription {
            title: Some(self.title_of(tag)),
            body: Some(self.marked(&body)),
            prerelease: Some(self.prerelease),
            target: self.target.clone(),
        }
    }

    /// Returns the metadata of a release that differs from the desired state. A draft that a run
    /// created gets the metadata that this run would create it with; for drafts of others and
    /// published releases, only the given fields change.
    pub fn metadata_changes(&self, release: &ListedRelease) -> ReleaseDescription {
        let is_first = release.tag_name == self.tag;
        let present = release.body.as_deref().unwrap_or_default();
        let is_own = is_own_draft(release);
        let body = match &self.body {
            _ if !is_first => self.body_of_continuation(),
            Some(body) => body.clone(),
            None => without_mark(present),
        };
        // A draft that stays a draft keeps its mark, so that the next run recognizes it.
        let keeps_mark = self.stays_draft && is_own;
        let body = if keeps_mark && plain(&body) == plain(&without_mark(present)) {
            present.to_owned()
        } else if keeps_mark {
            self.marked(&body)
        } else {
            body
        };
        let title = self
            .title
            .clone()
            .filter(|_| is_first)
            .or_else(|| is_own.then(|| self.title_of(&release.tag_name)));
        let target = self.target.clone().filter(|_| release.draft);
        ReleaseDescription {
            title: title.filter(|title| release.name.as_ref() != Some(title)),
            body: (plain(&body) != plain(present)).then_some(body),
            prerelease: (release.prerelease != self.prerelease && (is_own || self.prerelease))
                .then_some(self.prerelease),
            target: target.filter(|target| release.target_commitish.as_ref() != Some(target)),
        }
    }

    /// Returns a body with the mark of this run's drafts.
    fn marked(&self, body: &str) -> String {
        format!("{}\n{}\n", body.trim_end(), self.mark_of_draft())
    }

    fn title_of(&self, tag: &str) -> String {
        self.title
            .clone()
            .filter(|_| tag == self.tag)
            .unwrap_or_else(|| tag.to_owned())
    }

    fn body_of_continuation(&self) -> String {
        format!(
            "Further files of `{}`.\n\n{}\n",
            self.tag,
            self.mark_of_continuation()
        )
    }
}

/// The start of the mark of a draft.
const DRAFT: &str = "<!-- rock-matrix draft";

/// Whether a release is a draft that any run of this program created.
pub fn is_own_draft(release: &ListedRelease) -> bool {
    release.draft && is_marked(release)
}

/// Whether a release has the mark of a draft that a run created and did not publish.
pub(crate) fn is_marked(release: &ListedRelease) -> bool {
    release
        .body
        .as_deref()
        .is_some_and(|body| body.contains(DRAFT))
}

fn without_mark(body: &str) -> String {
    body.lines()
        .filter(|line| !line.starts_with(DRAFT))
        .map(|line| format!("{line}\n"))
        .collect()
}

/// Normalizes a body for comparison, because GitHub keeps the line endings with which it was
/// submitted.
fn plain(text: &str) -> String {
    text.replace("\r\n", "\n").trim().to_owned()
}

/// Returns the tag of the release that is continued by a release with this body.
pub fn continued_tag(body: &str) -> Option<&str> {
    let (_, rest) = body.split_once("<!-- rock-matrix continues ")?;
    rest.split_once(" -->").map(|(tag, _)| tag)
}
