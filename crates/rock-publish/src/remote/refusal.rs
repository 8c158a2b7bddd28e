//! Reasons not to write to a release.

use crate::codes::release as codes;
use rock_diagnostic::{Diagnostic, Location};

/// A reason not to write to a release. All reasons for a release are reported together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReleaseRefusal {
    /// The release is immutable: its assets and its tag cannot change.
    Immutable {
        tag: String,
        /// The number of files that would have been written or deleted, each counted once.
        changed_files: usize,
    },
    /// The release is published, and something would be written.
    Published {
        tag: String,
        /// The number of files that would have been written or deleted, each counted once; if 0,
        /// only the metadata would change.
        changed_files: usize,
    },
    /// There is no room for generated files, or for new versions before the old ones are deleted.
    Full {
        tag: String,
        /// The number of files in the release.
        assets: usize,
    },
    /// Several releases have the tag.
    Duplicates {
        tag: String,
        /// The ID and the number of assets of each release.
        releases: Vec<(u64, usize)>,
        /// Whether the other releases are drafts without files.
        others_are_empty: bool,
    },
    /// An asset has different content.
    Differs {
        name: String,
        /// The desired and the actual content, in words.
        why: String,
    },
}

impl ReleaseRefusal {
    /// Whether the release is immutable, so that no policy would permit the write.
    pub(super) fn is_immutable(&self) -> bool {
        matches!(self, Self::Immutable { .. })
    }
}

impl From<ReleaseRefusal> for Diagnostic {
    fn from(refusal: ReleaseRefusal) -> Self {
        match refusal {
            ReleaseRefusal::Immutable { tag, changed_files } => Self::new(
                &codes::IMMUTABLE_RELEASE,
                format!(
                    "the release `{tag}` is immutable, but {} would have to be written",
                    files(changed_files)
                ),
            )
            .at(Location::Url(tag), "")
            .help(
                "publish under a new tag: the assets and the tag of an immutable release cannot \
                 change",
            ),
            ReleaseRefusal::Published { tag, changed_files } => Self::new(
                &codes::RELEASE_IS_PUBLISHED,
                match changed_files {
                    0 => format!(
                        "the release `{tag}` is published, and its title or text would be changed"
                    ),
                    _ => format!(
                        "the release `{tag}` is published, and {} would be written",
                        files(changed_files)
                    ),
                },
            )
            .at(Location::Url(tag), "")
            .help("publish under a new tag, or change this release with `--allow G101`"),
            ReleaseRefusal::Full { tag, assets } => Self::new(
                &codes::RELEASE_IS_FULL,
                format!(
                    "the release `{tag}` has {}, and there is no room for more",
                    files(assets)
                ),
            )
            .at(Location::Url(tag), "")
            .help("delete unneeded files from it, or publish under a new tag"),
            ReleaseRefusal::Duplicates {
                tag,
                releases,
                others_are_empty,
            } => {
                let list: Vec<String> = releases
                    .iter()
                    .map(|(id, assets)| format!("{id} with {}", files(*assets)))
                    .collect();
                let help = if others_are_empty {
                    "delete the empty drafts, or pass `--clean-duplicates` to delete them"
                } else {
                    "compare them, and delete all but one"
                };
                Self::new(
                    &codes::SEVERAL_RELEASES_OF_TAG,
                    format!("several releases have the tag `{tag}`: {}", list.join(", ")),
                )
                .at(Location::Url(tag), "")
                .help(help)
            }
            ReleaseRefusal::Differs { name, why } => Self::new(
                &codes::ASSET_DIFFERS,
                format!("the release has `{name}` with different content: {why}"),
            )
            .at(Location::Url(name), "")
            .help("publish it under another version or build tag, or replace it with `--replace`"),
        }
    }
}

fn files(count: usize) -> String {
    format!("{count} {}", if count == 1 { "file" } else { "files" })
}
