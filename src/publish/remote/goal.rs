//! What a release should be.

use super::super::Wanted;

/// A release and its files.
#[derive(Debug, Clone)]
pub struct Goal {
    /// Its tag. What does not fit into one release goes to `tag-2`, `tag-3`, ….
    pub tag: String,
    /// Its title; the tag without one.
    pub title: Option<String>,
    /// Its text; an existing release keeps its own without one.
    pub body: Option<String>,
    /// The commit that the tag is made at where it does not exist.
    pub target: Option<String>,
    /// Whether it counts as not finished.
    pub prerelease: bool,
    /// Whether it becomes the one that `releases/latest` leads to.
    pub make_latest: MakeLatest,
    /// Its files, each name once. Those that are made from the others lie in the first release.
    pub assets: Vec<Wanted>,
    /// Marks the drafts that this run makes, until they get their text.
    pub nonce: String,
}

/// GitHub's `make_latest` (REST API version 2022-11-28, "Update a release").
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MakeLatest {
    /// It becomes the latest.
    Yes,
    /// It does not.
    No,
    /// By date and version, as GitHub decides.
    #[default]
    Legacy,
}

impl MakeLatest {
    /// The word of the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Yes => "true",
            Self::No => "false",
            Self::Legacy => "legacy",
        }
    }
}

/// What the user allows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Files with other bytes may be replaced.
    pub replace: bool,
    /// A release that is published may be written to.
    pub published: bool,
    /// Empty drafts of the same tag may be deleted.
    pub clean_duplicates: bool,
    /// Files whose digest GitHub does not tell are fetched and hashed; else their size must do.
    pub fetch_to_verify: bool,
}

impl Goal {
    /// What a draft of this run says until it gets its text: it can be told from those of others.
    pub fn mark_of_draft(&self) -> String {
        format!("{DRAFT} {} -->", self.nonce)
    }

    /// What the further releases of this goal say, so that a release that happens to be called `tag-2` is none of them.
    pub fn mark_of_continuation(&self) -> String {
        format!("<!-- rock-matrix continues {} -->", self.tag)
    }

    /// The text of the release with this tag.
    pub fn body_of(&self, tag: &str) -> String {
        if tag == self.tag {
            self.body.clone().unwrap_or_default()
        } else {
            format!("Further files of `{}`.\n\n{}\n", self.tag, self.mark_of_continuation())
        }
    }

    /// The text of that release while it is a draft and not all is there.
    pub fn draft_body_of(&self, tag: &str) -> String {
        format!("{}\n{}\n", self.body_of(tag).trim_end(), self.mark_of_draft())
    }
}

/// How the mark of a draft begins.
pub(super) const DRAFT: &str = "<!-- rock-matrix draft";
