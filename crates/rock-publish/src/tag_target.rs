//! Compares the commit of a tag with the commit that it should point to.

use crate::codes::release as codes;
use rock_diagnostic::{Diagnostic, Location};

/// A tag of a repository, and the target that it should point to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagTarget {
    pub tag: String,
    /// The commit that the tag points to; `None` if the tag does not exist.
    pub commit: Option<String>,
    /// The requested commit or branch.
    pub target: Option<TargetCommitish>,
    /// Whether a release with the tag is published.
    pub is_published: bool,
}

/// The commit or branch that a tag should point to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TargetCommitish {
    /// A commit hash, possibly abbreviated.
    Commit(String),
    /// A branch or another name.
    Name {
        name: String,
        /// The commit that it points to; `None` if nothing has this name.
        commit: Option<String>,
    },
}

impl TargetCommitish {
    /// Whether a text may be a full or abbreviated commit hash. A branch can have such a name, too,
    /// such as `20261101`.
    pub fn may_be_hash(text: &str) -> bool {
        text.len() >= 7 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    }

    /// Returns the target for a text that may be an abbreviated hash. `found` is the commit that
    /// the text resolves to.
    pub fn of_hash(text: &str, found: Option<String>) -> Self {
        match found {
            Some(found) if !found.starts_with(&text.to_ascii_lowercase()) => Self::Name {
                name: text.to_owned(),
                commit: Some(found),
            },
            _ => Self::Commit(text.to_owned()),
        }
    }
}

impl TagTarget {
    /// Returns a diagnostic if the tag is missing, points to another commit, or has a target that
    /// does not exist.
    pub fn fault(&self) -> Option<Diagnostic> {
        match (&self.commit, &self.target) {
            (None, None) if !self.is_published => Some(
                Diagnostic::new(
                    &codes::TAG_IS_NOT_THERE,
                    format!("the repository has no tag `{}`", self.tag),
                )
                .at(Location::Argument("--tag".to_owned()), "")
                .help("push the tag, or create it at a commit with `--target COMMIT`"),
            ),
            (Some(found), Some(TargetCommitish::Commit(target)))
                if !found.starts_with(&target.to_ascii_lowercase()) =>
            {
                Some(self.moved(found, &format!("the wheels are from {target}")))
            }
            // The branch may have advanced after the release.
            (Some(_), Some(TargetCommitish::Name { .. })) if self.is_published => None,
            (_, Some(TargetCommitish::Name { name, commit: None })) => Some(no_such_target(name)),
            (
                Some(found),
                Some(TargetCommitish::Name {
                    name,
                    commit: Some(commit),
                }),
            ) if commit != found => Some(self.moved(found, &format!("`{name}` is at {commit}"))),
            _ => None,
        }
    }

    fn moved(&self, found: &str, but: &str) -> Diagnostic {
        Diagnostic::new(
            &codes::TAG_MOVED,
            format!("the tag `{}` is at {found}, but {but}", self.tag),
        )
        .at(Location::Argument("--target".to_owned()), "")
        .help(
            "build again at the commit of the tag, pass that commit with `--target`, or publish \
             under another tag",
        )
    }
}

fn no_such_target(name: &str) -> Diagnostic {
    Diagnostic::new(
        &codes::NO_SUCH_TARGET,
        format!("the repository has no commit or branch `{name}`"),
    )
    .at(Location::Argument("--target".to_owned()), "")
    .help("push it, or pass the commit that the wheels were built from")
}
