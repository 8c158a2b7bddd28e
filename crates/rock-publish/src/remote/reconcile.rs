//! The next steps.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::super::{AssetState, ListedAsset, ListedRelease};
use super::asset_diff::{is_of_wanted, lacking, place_of, within_room};
use super::desired::is_marked;
use super::{
    DesiredRelease, MakeLatest, PublishPolicy, ReleaseDescription, ReleaseRefusal, partition_assets,
};

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reconciliation {
    /// These steps, in their order; then look again.
    Steps(Vec<PublishStep>),
    /// Nothing may be written, for all of these reasons.
    Refused(Vec<ReleaseRefusal>),
    /// Nothing: the goal is reached. The releases that hold it, the first first.
    Done(Vec<u64>),
}

/// One call that changes something, or one that finds out what a file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublishStep {
    /// Make a draft.
    Create {
        /// Its tag.
        tag: String,
    },
    /// Delete a draft without files: another of the same tag is used.
    DeleteRelease {
        /// Its number.
        release: u64,
    },
    /// Delete an asset.
    DeleteAsset {
        /// Its number.
        asset: u64,
        /// Its name.
        name: String,
        /// Why.
        why: DeleteReason,
    },
    /// Send a file.
    Upload {
        /// The release that gets it.
        release: u64,
        /// The wanted file.
        name: String,
        /// The name that it gets, which is another until it takes the place of an old one.
        as_name: String,
    },
    /// Give an asset its name.
    Rename {
        /// Its number.
        asset: u64,
        /// Its name.
        from: String,
        /// Its name afterwards.
        to: String,
    },
    /// Fetch an asset and hash it.
    Hash {
        /// Its number.
        asset: u64,
        /// Its name.
        name: String,
    },
    /// Give a release its title, its text and what else is said of it.
    Describe {
        /// Its number.
        release: u64,
        /// Its tag.
        tag: String,
        /// What it says otherwise.
        lacks: ReleaseDescription,
    },
    /// Let everybody see a release, and give it its title and text in the same call: until then the
    /// text of a draft says which program made it.
    Publish {
        /// Its number.
        release: u64,
        /// Its tag.
        tag: String,
        /// What it says otherwise.
        lacks: ReleaseDescription,
        /// Whether it becomes the latest.
        make_latest: MakeLatest,
    },
}

/// The reason for which an asset is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteReason {
    /// An upload of it did not end.
    Unfinished,
    /// It has other bytes than the wanted file.
    OtherBytes,
    /// It was to take a place that another asset has.
    PlaceTaken,
    /// GitHub stored it under another name.
    Renamed,
}

impl fmt::Display for DeleteReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unfinished => "an upload of it did not end",
            Self::OtherBytes => "it has other bytes",
            Self::PlaceTaken => "it was to take a place that another has",
            Self::Renamed => "GitHub gave it another name",
        })
    }
}

/// The next steps from what is seen to the goal.
pub fn reconcile(
    goal: &DesiredRelease,
    allowed: PublishPolicy,
    seen: &[ListedRelease],
) -> Reconciliation {
    let mut refused = Vec::new();
    // Drafts come first, so that numbers are known.
    let mut steps = Vec::new();
    let chosen = chosen(goal, allowed, seen, &mut steps, &mut refused);
    let foreign: BTreeSet<&str> = seen
        .iter()
        .filter(|release| !goal.has(release))
        .map(|release| &*release.tag_name)
        .collect();
    let mut begun = Vec::new();
    for share in partition_assets(goal, &chosen, &foreign) {
        match chosen.iter().find(|release| release.tag_name == share.tag) {
            None => steps.push(PublishStep::Create { tag: share.tag }),
            Some(release) => {
                // What is locked takes no other bytes, whatever is allowed: that is told, not how
                // they would be replaced.
                let allowed = PublishPolicy {
                    replace: allowed.replace || release.is_locked(),
                    ..allowed
                };
                begun.push((
                    *release,
                    lacking(goal, &share, release, allowed, &mut refused),
                ));
            }
        }
    }
    for (release, lacks) in &begun {
        refused.extend(not_to_be_written(goal, release, lacks.writes(), allowed));
        if lacks.has_no_room(goal, release) {
            refused.push(ReleaseRefusal::Full {
                tag: release.tag_name.clone(),
                assets: release.assets.len(),
            });
        }
    }
    if !refused.is_empty() {
        // Where a release is locked, nothing that is said of the others helps.
        if refused.iter().any(ReleaseRefusal::is_of_locked) {
            refused.retain(ReleaseRefusal::is_of_locked);
        }
        return Reconciliation::Refused(refused);
    }
    // Who reads the sums finds what they tell of, and what they tell was right when it was sent.
    let are_wheels_there =
        steps.is_empty() && begun.iter().all(|(_, lacks)| lacks.steps.is_empty());
    for (release, lacks) in &begun {
        let mut files = lacks.steps.clone();
        if are_wheels_there {
            files.extend(lacks.generated.iter().cloned());
        }
        within_room(goal, release, &mut files);
        steps.append(&mut files);
    }
    if !steps.is_empty() {
        return Reconciliation::Steps(steps);
    }
    // Then texts; the first release is the last to be published.
    for (at, (release, _)) in begun.iter().enumerate().rev() {
        let tag = release.tag_name.clone();
        let lacks = goal.lacks(release);
        if release.draft && !goal.stays_draft {
            let make_latest = if at == 0 {
                goal.make_latest
            } else {
                MakeLatest::No
            };
            steps.push(PublishStep::Publish {
                release: release.id,
                tag,
                lacks,
                make_latest,
            });
        } else if !lacks.is_empty() {
            steps.push(PublishStep::Describe {
                release: release.id,
                tag,
                lacks,
            });
        }
    }
    if steps.is_empty() {
        Reconciliation::Done(begun.iter().map(|(release, _)| release.id).collect())
    } else {
        Reconciliation::Steps(steps)
    }
}

/// That files would have to be written to a release that is locked, whatever is allowed.
pub fn locked(goal: &DesiredRelease, seen: &[ListedRelease]) -> Option<ReleaseRefusal> {
    match reconcile(goal, PublishPolicy::default(), seen) {
        Reconciliation::Refused(refused) => refused.into_iter().find(ReleaseRefusal::is_of_locked),
        Reconciliation::Steps(_) | Reconciliation::Done(_) => None,
    }
}

/// Why a release is not written to, if it would be.
fn not_to_be_written(
    goal: &DesiredRelease,
    release: &ListedRelease,
    writes: usize,
    allowed: PublishPolicy,
) -> Option<ReleaseRefusal> {
    let tag = || release.tag_name.clone();
    if release.draft || (writes == 0 && goal.lacks(release).is_empty()) {
        None
    } else if release.is_locked() && writes > 0 {
        Some(ReleaseRefusal::Immutable {
            tag: tag(),
            lacking: writes,
        })
    } else if !allowed.published {
        // Title and text of an immutable release may be edited (GitHub Docs, "Immutable releases").
        Some(ReleaseRefusal::Published {
            tag: tag(),
            lacking: writes,
        })
    } else {
        None
    }
}

/// The release of each tag of the goal.
fn chosen<'r>(
    goal: &DesiredRelease,
    allowed: PublishPolicy,
    seen: &'r [ListedRelease],
    steps: &mut Vec<PublishStep>,
    refused: &mut Vec<ReleaseRefusal>,
) -> Vec<&'r ListedRelease> {
    let mut chosen = Vec::new();
    for (tag, releases) in by_tag(goal, seen) {
        let (first, others) = (releases[0], &releases[1..]);
        chosen.push(first);
        // What a run made that was ended, or that did not see the other yet, goes: nothing is in it
        // but what is wanted.
        let is_left = |release: &ListedRelease| {
            release.draft
                && is_marked(release)
                && release.assets.iter().all(|asset| is_of_wanted(asset, goal))
        };
        let is_empty = |release: &ListedRelease| release.draft && release.assets.is_empty();
        let goes = |release: &ListedRelease| {
            is_left(release) || (allowed.clean_duplicates && is_empty(release))
        };
        let (gone, kept): (Vec<&ListedRelease>, Vec<_>) =
            others.iter().partition(|release| goes(release));
        if kept.is_empty() {
            steps.extend(gone.into_iter().map(|release| PublishStep::DeleteRelease {
                release: release.id,
            }));
        } else {
            let others_are_empty = kept.iter().all(|release| is_empty(release));
            let releases = releases
                .iter()
                .map(|release| (release.id, release.assets.len()))
                .collect();
            refused.push(ReleaseRefusal::Duplicates {
                tag: tag.to_owned(),
                releases,
                others_are_empty,
            });
        }
    }
    chosen
}

/// The goal's releases by tag, of each the one that is used first: the published one, else a draft
/// of others with files, else the oldest. What is in the drafts of runs decides nothing: two at
/// once that see each other's files late would each keep its own and delete the other.
fn by_tag<'r>(
    goal: &DesiredRelease,
    seen: &'r [ListedRelease],
) -> BTreeMap<&'r str, Vec<&'r ListedRelease>> {
    let mut by_tag: BTreeMap<&str, Vec<&ListedRelease>> = BTreeMap::new();
    for release in seen.iter().filter(|release| goal.has(release)) {
        by_tag.entry(&release.tag_name).or_default().push(release);
    }
    for releases in by_tag.values_mut() {
        releases.sort_by_key(|release| {
            (
                release.draft,
                release.assets.is_empty() || is_marked(release),
                release.id,
            )
        });
    }
    by_tag
}

/// The whole files of the goal's releases, wanted or not, under the names that they will have at
/// the end.
pub fn standing<'r>(
    goal: &DesiredRelease,
    seen: &'r [ListedRelease],
) -> BTreeMap<&'r str, &'r ListedAsset> {
    let releases = by_tag(goal, seen).into_values().map(|releases| releases[0]);
    let whole = releases
        .flat_map(|release| &release.assets)
        .filter(|asset| asset.state == AssetState::Uploaded);
    let (waiting, named): (Vec<&ListedAsset>, Vec<_>) =
        whole.partition(|asset| place_of(asset).is_some());
    let mut standing: BTreeMap<_, _> = named
        .into_iter()
        .map(|asset| (asset.name.as_str(), asset))
        .collect();
    for asset in waiting {
        let place = place_of(asset).unwrap_or(&asset.name);
        standing.entry(place).or_insert(asset);
    }
    standing
}
