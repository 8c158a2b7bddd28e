//! What a release should be.

use super::super::{DesiredFile, ListedRelease};

/// A release and its files.
#[derive(Debug, Clone)]
pub struct DesiredRelease {
    /// Its tag. What does not fit into one release goes to `tag-2`, `tag-3`, ….
    pub tag: String,
    /// Its title; the tag without one.
    pub title: Option<String>,
    /// Its text; a release keeps its own without one.
    pub body: Option<String>,
    /// The commit that the tag is made at where it does not exist.
    pub target: Option<String>,
    /// Whether it counts as not finished.
    pub prerelease: bool,
    /// Whether it becomes the one that `releases/latest` leads to.
    pub make_latest: MakeLatest,
    /// Whether it stays a draft, which only those who may write see.
    pub stays_draft: bool,
    /// Its files, each name once. Those that are made from the others lie in the first release.
    pub assets: Vec<DesiredFile>,
    /// Marks the drafts that this run makes, until they get their text.
    pub nonce: String,
    /// How many assets GitHub takes in one release.
    pub most_assets: usize,
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
pub struct PublishPolicy {
    /// Files with other bytes may be replaced where others see them, and in drafts that no run of
    /// this program made.
    pub replace: bool,
    /// A release that is published may be written to.
    pub published: bool,
    /// Empty drafts of the same tag may be deleted.
    pub clean_duplicates: bool,
    /// Files whose digest GitHub does not tell are fetched and hashed; else their size must do.
    pub fetch_to_verify: bool,
}

/// What is said of a release beside its files. What is `None` stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReleaseDescription {
    /// Its title.
    pub title: Option<String>,
    /// Its text.
    pub body: Option<String>,
    /// Whether it counts as not finished.
    pub prerelease: Option<bool>,
    /// The commit that its tag is made at.
    pub target: Option<String>,
}

impl ReleaseDescription {
    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl DesiredRelease {
    /// What a draft of this run says until it gets its text: it can be told from those of others.
    pub fn mark_of_draft(&self) -> String {
        format!("{DRAFT} {} -->", self.nonce)
    }

    /// What the further releases of this goal say, so that a release that happens to be called
    /// `tag-2` is none of them.
    pub fn mark_of_continuation(&self) -> String {
        format!("<!-- rock-matrix continues {} -->", self.tag)
    }

    /// Whether a release is the goal's own, or one that goes on from it.
    pub fn has(&self, release: &ListedRelease) -> bool {
        let goes_on = || {
            release
                .body
                .as_deref()
                .is_some_and(|body| body.contains(&self.mark_of_continuation()))
        };
        release.tag_name == self.tag || goes_on()
    }

    /// What the release with this tag is made with: a draft that says whose it is.
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

    /// What a release says otherwise than it should. A draft that a run made is to be as this one
    /// would make it; of those of others, and of what is published, only what was given is changed.
    pub fn lacks(&self, release: &ListedRelease) -> ReleaseDescription {
        let is_first = release.tag_name == self.tag;
        let present = release.body.as_deref().unwrap_or_default();
        let is_own = is_own_draft(release);
        let body = match &self.body {
            _ if !is_first => self.body_of_continuation(),
            Some(body) => body.clone(),
            None => without_mark(present),
        };
        // A draft that stays one keeps its mark, so that the next run knows whose it is.
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

    /// A text with the mark of this run's drafts.
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

/// How the mark of a draft begins.
const DRAFT: &str = "<!-- rock-matrix draft";

/// Whether a release is a draft that a run of this program made, whichever run that was.
pub fn is_own_draft(release: &ListedRelease) -> bool {
    release.draft && is_marked(release)
}

/// Whether a run made this release and did not end.
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

/// A text as GitHub gives it back: line ends are those of the form it was written in.
fn plain(text: &str) -> String {
    text.replace("\r\n", "\n").trim().to_owned()
}

/// The tag of the release whose files a release with this text goes on with.
pub fn continued_tag(body: &str) -> Option<&str> {
    let (_, rest) = body.split_once("<!-- rock-matrix continues ")?;
    rest.split_once(" -->").map(|(tag, _)| tag)
}
