//! Computes the next steps from the observed to the desired state.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::super::{AssetState, ListedAsset, ListedRelease};
use super::asset_diff::{diff_assets, final_name, is_of_desired, within_room};
use super::desired::is_marked;
use super::{
    DesiredRelease, MakeLatest, PublishPolicy, ReleaseDescription, ReleaseRefusal, partition_assets,
};

/// The result of comparing the desired release with the observed ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reconciliation {
    /// Steps to apply in order. Observe and reconcile again afterwards.
    Steps(Vec<PublishStep>),
    /// Nothing may be written, for all of these reasons.
    Refused(Vec<ReleaseRefusal>),
    /// The desired state is reached. Contains the IDs of the releases that hold the files, first
    /// part first.
    Done(Vec<u64>),
}

/// A request that changes a release, or that determines the content of an asset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PublishStep {
    /// Creates a draft.
    Create {
        /// The tag of the draft.
        tag: String,
    },
    /// Deletes a duplicate draft; another release with the same tag is used.
    DeleteRelease {
        /// The ID of the draft.
        release: u64,
        /// The tag of the draft.
        tag: String,
        /// The number of its assets.
        assets: usize,
    },
    /// Deletes an asset.
    DeleteAsset {
        /// The ID of the asset.
        asset: u64,
        /// The name of the asset.
        name: String,
        /// The reason.
        why: DeleteReason,
    },
    /// Uploads a file.
    Upload {
        /// The ID of the release.
        release: u64,
        /// The name of the desired file.
        name: String,
        /// The name of the asset: a temporary one if it will replace a published asset.
        as_name: String,
    },
    /// Renames an asset.
    Rename {
        /// The ID of the asset.
        asset: u64,
        /// The current name.
        from: String,
        /// The new name.
        to: String,
    },
    /// Downloads and hashes an asset.
    Hash {
        /// The ID of the asset.
        asset: u64,
        name: String,
    },
    /// Updates the metadata of a release.
    Describe {
        /// The ID of the release.
        release: u64,
        tag: String,
        /// The metadata to change.
        changes: ReleaseDescription,
    },
    /// Publishes a draft and updates its metadata in the same request: until then, the mark in the
    /// body of a draft identifies the program that created it.
    Publish {
        /// The ID of the release.
        release: u64,
        tag: String,
        /// The metadata to change.
        changes: ReleaseDescription,
        /// Whether and how it becomes the latest release.
        make_latest: MakeLatest,
    },
}

/// Identifies a publish step among all steps of a run, however often it is planned.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum StepKey {
    /// Creates a draft with this tag.
    Create(String),
    /// Deletes the release with this ID.
    DeleteRelease(u64),
    /// Deletes the asset with this ID.
    DeleteAsset(u64),
    /// Uploads an asset with this name.
    Upload(String),
    /// Renames the asset with this ID.
    Rename(u64),
    /// Hashes the asset with this ID.
    Hash(u64),
    /// Updates the metadata of the release with this ID.
    Describe(u64),
    /// Publishes the draft with this ID.
    Publish(u64),
}

impl PublishStep {
    /// Returns the key under which the attempts of the step are counted.
    pub fn key(&self) -> StepKey {
        match self {
            Self::Create { tag } => StepKey::Create(tag.clone()),
            Self::DeleteRelease { release, .. } => StepKey::DeleteRelease(*release),
            Self::DeleteAsset { asset, .. } => StepKey::DeleteAsset(*asset),
            Self::Upload { as_name, .. } => StepKey::Upload(as_name.clone()),
            Self::Rename { asset, .. } => StepKey::Rename(*asset),
            Self::Hash { asset, .. } => StepKey::Hash(*asset),
            Self::Describe { release, .. } => StepKey::Describe(*release),
            Self::Publish { release, .. } => StepKey::Publish(*release),
        }
    }

    /// Whether the step changes a release, and does not only read it.
    pub fn is_write(&self) -> bool {
        !matches!(self, Self::Hash { .. })
    }

    /// Whether the step changes the metadata of a release. Such steps follow all others.
    pub fn is_of_metadata(&self) -> bool {
        matches!(self, Self::Describe { .. } | Self::Publish { .. })
    }

    /// Whether the step makes a release public.
    pub fn is_publication(&self) -> bool {
        matches!(self, Self::Publish { .. })
    }

    /// Whether the step gives an asset its final name, in place of the asset that had it.
    pub fn is_rename(&self) -> bool {
        matches!(self, Self::Rename { .. })
    }
}

/// The reason for deleting an asset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteReason {
    /// Its upload was not completed.
    Unfinished,
    /// Its content differs from the desired file.
    DifferentContent,
    /// It has a temporary name, and another asset has its final name.
    PlaceTaken,
    /// GitHub stored it under another name.
    Renamed,
}

impl fmt::Display for DeleteReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unfinished => "its upload did not complete",
            Self::DifferentContent => "it has different content",
            Self::PlaceTaken => "another asset already has its final name",
            Self::Renamed => "GitHub renamed it",
        })
    }
}

/// Returns the next steps from the observed releases to the desired one.
pub fn reconcile(
    desired: &DesiredRelease,
    policy: PublishPolicy,
    observed: &[ListedRelease],
) -> Reconciliation {
    let mut refused = Vec::new();
    // Drafts come first, because the other steps need their IDs.
    let mut steps = Vec::new();
    let chosen = choose_releases(desired, policy, observed, &mut steps, &mut refused);
    let foreign: BTreeSet<&str> = observed
        .iter()
        .filter(|release| !desired.has(release))
        .map(|release| &*release.tag_name)
        .collect();
    let mut diffs = Vec::new();
    for part in partition_assets(desired, &chosen, &foreign) {
        match chosen.iter().find(|release| release.tag_name == part.tag) {
            None => steps.push(PublishStep::Create { tag: part.tag }),
            Some(release) => {
                // An immutable release accepts no replacement, whatever the policy allows. Report
                // that, and not how the files could be replaced.
                let policy = PublishPolicy {
                    replace: policy.replace || release.is_immutable(),
                    ..policy
                };
                diffs.push((
                    *release,
                    diff_assets(desired, &part, release, policy, &mut refused),
                ));
            }
        }
    }
    for (release, diff) in &diffs {
        let files = diff.changed_files();
        refused.extend(not_to_be_written(desired, release, files, policy));
        if diff.has_no_room(desired, release) {
            refused.push(ReleaseRefusal::Full {
                tag: release.tag_name.clone(),
                assets: release.assets.len(),
            });
        }
    }
    if !refused.is_empty() {
        // If a release is immutable, resolving the other refusals does not help.
        if refused.iter().any(ReleaseRefusal::is_immutable) {
            refused.retain(ReleaseRefusal::is_immutable);
        }
        return Reconciliation::Refused(refused);
    }
    // Generated files come last, so that readers of the checksum file find the files that it lists.
    let are_wheels_there = steps.is_empty() && diffs.iter().all(|(_, diff)| diff.steps.is_empty());
    for (release, diff) in &diffs {
        let mut files = diff.steps.clone();
        if are_wheels_there {
            files.extend(diff.generated.iter().cloned());
        }
        within_room(desired, release, &mut files);
        steps.append(&mut files);
    }
    if !steps.is_empty() {
        return Reconciliation::Steps(steps);
    }
    // Then the metadata; the first release is published last.
    for (at, (release, _)) in diffs.iter().enumerate().rev() {
        let tag = release.tag_name.clone();
        let changes = desired.metadata_changes(release);
        if release.draft && !desired.stays_draft {
            let make_latest = if at == 0 {
                desired.make_latest
            } else {
                MakeLatest::No
            };
            steps.push(PublishStep::Publish {
                release: release.id,
                tag,
                changes,
                make_latest,
            });
        } else if !changes.is_empty() {
            steps.push(PublishStep::Describe {
                release: release.id,
                tag,
                changes,
            });
        }
    }
    if steps.is_empty() {
        Reconciliation::Done(diffs.iter().map(|(release, _)| release.id).collect())
    } else {
        Reconciliation::Steps(steps)
    }
}

/// Reconciles, and returns the refusal to write files to an immutable release, which no policy
/// permits, if there is one.
pub fn immutable_refusal(
    desired: &DesiredRelease,
    observed: &[ListedRelease],
) -> Option<ReleaseRefusal> {
    match reconcile(desired, PublishPolicy::default(), observed) {
        Reconciliation::Refused(refused) => refused.into_iter().find(ReleaseRefusal::is_immutable),
        Reconciliation::Steps(_) | Reconciliation::Done(_) => None,
    }
}

/// Returns the refusal to change a published release, if it would be changed. `files` is the number
/// of its files that would be.
fn not_to_be_written(
    desired: &DesiredRelease,
    release: &ListedRelease,
    files: usize,
    policy: PublishPolicy,
) -> Option<ReleaseRefusal> {
    let tag = || release.tag_name.clone();
    if release.draft || (files == 0 && desired.metadata_changes(release).is_empty()) {
        None
    } else if release.is_immutable() && files > 0 {
        Some(ReleaseRefusal::Immutable {
            tag: tag(),
            changed_files: files,
        })
    } else if !policy.published {
        // Title and body of an immutable release may be edited (GitHub Docs, "Immutable releases").
        Some(ReleaseRefusal::Published {
            tag: tag(),
            changed_files: files,
        })
    } else {
        None
    }
}

/// Selects the release of each desired tag, and plans the deletion of its duplicates: adds the
/// deletions to `steps`, and refusals to `refused`.
fn choose_releases<'r>(
    desired: &DesiredRelease,
    policy: PublishPolicy,
    observed: &'r [ListedRelease],
    steps: &mut Vec<PublishStep>,
    refused: &mut Vec<ReleaseRefusal>,
) -> Vec<&'r ListedRelease> {
    let mut chosen = Vec::new();
    for (tag, releases) in by_tag(desired, observed) {
        let (first, others) = (releases[0], &releases[1..]);
        chosen.push(first);
        // Delete the draft of a run that was interrupted or that did not see the other release yet:
        // it contains only desired files.
        let is_left = |release: &ListedRelease| {
            release.draft
                && is_marked(release)
                && release
                    .assets
                    .iter()
                    .all(|asset| is_of_desired(asset, desired))
        };
        let is_empty = |release: &ListedRelease| release.draft && release.assets.is_empty();
        let is_deleted = |release: &ListedRelease| {
            is_left(release) || (policy.clean_duplicates && is_empty(release))
        };
        let (gone, kept): (Vec<&ListedRelease>, Vec<_>) =
            others.iter().partition(|release| is_deleted(release));
        if kept.is_empty() {
            steps.extend(gone.into_iter().map(|release| PublishStep::DeleteRelease {
                release: release.id,
                tag: tag.to_owned(),
                assets: release.assets.len(),
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

/// Groups the releases that make up the desired one by tag, the one to use first: the published
/// one, else a draft of others with files, else the oldest draft. The files in the drafts of runs
/// have no influence: two concurrent runs that see each other's files late would each keep their
/// own draft and delete the other's.
fn by_tag<'r>(
    desired: &DesiredRelease,
    observed: &'r [ListedRelease],
) -> BTreeMap<&'r str, Vec<&'r ListedRelease>> {
    let mut by_tag: BTreeMap<&str, Vec<&ListedRelease>> = BTreeMap::new();
    for release in observed.iter().filter(|release| desired.has(release)) {
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

/// Returns the completely uploaded files of the releases that make up the desired one, desired or
/// not, by final name.
pub fn standing<'r>(
    desired: &DesiredRelease,
    observed: &'r [ListedRelease],
) -> BTreeMap<&'r str, &'r ListedAsset> {
    let releases = by_tag(desired, observed)
        .into_values()
        .map(|releases| releases[0]);
    let whole = releases
        .flat_map(|release| &release.assets)
        .filter(|asset| asset.state == AssetState::Uploaded);
    let (waiting, named): (Vec<&ListedAsset>, Vec<_>) =
        whole.partition(|asset| final_name(asset).is_some());
    let mut standing: BTreeMap<_, _> = named
        .into_iter()
        .map(|asset| (asset.name.as_str(), asset))
        .collect();
    for asset in waiting {
        let place = final_name(asset).unwrap_or(&asset.name);
        standing.entry(place).or_insert(asset);
    }
    standing
}
