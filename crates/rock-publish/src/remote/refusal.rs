//! Why a release is not written to.

use crate::codes::release as codes;
use rock_diagnostic::{Diagnostic, Location};

/// One reason. All of a release are told together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReleaseRefusal {
    /// Its assets and tag are locked.
    Immutable {
        /// The tag.
        tag: String,
        /// How many files would have been written.
        lacking: usize,
    },
    /// It is published, and something would be written.
    Published {
        /// The tag.
        tag: String,
        /// How many files would have been written; without any, it is the title or the text.
        lacking: usize,
    },
    /// There is no room for what is made from the files, or for new bytes beside old ones.
    Full {
        /// The tag.
        tag: String,
        /// How many files it holds.
        assets: usize,
    },
    /// Several releases have the tag.
    Duplicates {
        /// The tag.
        tag: String,
        /// Number and count of assets of each.
        releases: Vec<(u64, usize)>,
        /// Whether only one of them holds files.
        others_are_empty: bool,
    },
    /// An asset has other bytes.
    Differs {
        /// Its name.
        name: String,
        /// What is wanted and what is there.
        why: String,
    },
}

impl ReleaseRefusal {
    /// Whether nothing that is allowed would change it.
    pub(super) fn is_of_locked(&self) -> bool {
        matches!(self, Self::Immutable { .. })
    }
}

impl From<ReleaseRefusal> for Diagnostic {
    fn from(refusal: ReleaseRefusal) -> Self {
        match refusal {
            ReleaseRefusal::Immutable { tag, lacking } => Self::new(
                &codes::IMMUTABLE_RELEASE,
                format!(
                    "the release `{tag}` is immutable, and {} would have to be written",
                    files(lacking)
                ),
            )
            .at(Location::Url(tag), "")
            .help(
                "publish under a new tag: assets and tag of an immutable release stay as they are",
            ),
            ReleaseRefusal::Published { tag, lacking } => Self::new(
                &codes::RELEASE_IS_PUBLISHED,
                match lacking {
                    0 => format!(
                        "the release `{tag}` is published, and its title or text would be changed"
                    ),
                    _ => format!(
                        "the release `{tag}` is published, and {} would be written",
                        files(lacking)
                    ),
                },
            )
            .at(Location::Url(tag), "")
            .help("publish under a new tag, or add to this one with `--allow-published`"),
            ReleaseRefusal::Full { tag, assets } => Self::new(
                &codes::RELEASE_IS_FULL,
                format!(
                    "the release `{tag}` holds {}, and there is no room for more",
                    files(assets)
                ),
            )
            .at(Location::Url(tag), "")
            .help("delete what is not needed from it, or publish under a new tag"),
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
                    "delete the empty drafts, or let `--clean-duplicates` do it"
                } else {
                    "look at them, and delete all but one"
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
                format!("the release holds `{name}` with other bytes: {why}"),
            )
            .at(Location::Url(name), "")
            .help("publish it under another version or build tag, or replace it with `--replace`"),
        }
    }
}

fn files(count: usize) -> String {
    format!("{count} {}", if count == 1 { "file" } else { "files" })
}
