//! Compares the assets of one release with the desired files.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{AssetState, DesiredFile, ListedAsset, ListedRelease};
use super::{
    DeleteReason, DesiredRelease, PublishPolicy, PublishStep, ReleasePart, ReleaseRefusal,
    is_own_draft,
};

/// The separator in the temporary name of an asset that will replace a published one.
const TEMPORARY: &str = ".tmp-";
/// The number of hex digits of the digest in a temporary name.
const HEX: usize = 12;

/// The longest name of a file that can be published, in bytes. GitHub documents no limit, but Linux
/// cannot store names of more than 255 bytes (`NAME_MAX` in `limits.h`), and temporary names are
/// longer than final ones.
pub const LONGEST_NAME_BYTES: usize = 255 - TEMPORARY.len() - HEX;

/// Returns the temporary name under which a replacement of a published file is uploaded. It
/// contains part of the digest, so that a later run can find and complete what a killed run
/// started.
pub(super) fn temporary(file: &DesiredFile) -> String {
    format!("{}{TEMPORARY}{}", file.name, &file.digest.to_hex()[..HEX])
}

/// Whether a name is the [`temporary`] name of a desired file.
///
/// Each asset is compared with each desired file, so this does not allocate a name.
fn is_temporary(name: &str, file: &DesiredFile) -> bool {
    name.strip_prefix(file.name.as_str())
        .and_then(|rest| rest.strip_prefix(TEMPORARY))
        .and_then(|rest| rest.strip_prefix(&file.digest.to_hex()[..HEX]))
        .is_some_and(str::is_empty)
}

/// Splits a name with the form of a temporary one into the final name and the digest prefix. Names
/// of others may have this form: the timestamp in `x.tmp-202401011230` is a valid prefix.
fn split_temporary(name: &str) -> Option<(&str, &str)> {
    let (place, hex) = name.rsplit_once(TEMPORARY)?;
    let is_prefix = hex.len() == HEX && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_prefix && !place.is_empty()).then_some((place, hex))
}

/// Returns the final name of an asset with a temporary name. Returns `None` if GitHub reports no
/// digest, or one that does not match the prefix: the asset may not be from this program.
pub(super) fn final_name(asset: &ListedAsset) -> Option<&str> {
    let (place, hex) = split_temporary(&asset.name)?;
    asset
        .digest
        .is_some_and(|digest| digest.to_hex().starts_with(hex))
        .then_some(place)
}

/// Whether an asset is a desired file, complete or not, under its final or its temporary name.
pub(super) fn is_of_desired(asset: &ListedAsset, desired: &DesiredRelease) -> bool {
    let is_it = |file: &DesiredFile| {
        let has_bytes =
            asset.state != AssetState::Uploaded || asset.digest.is_none_or(|d| d == file.digest);
        (file.name == asset.name && (has_bytes || file.generated))
            || is_temporary(&asset.name, file)
    };
    desired.assets.iter().any(is_it)
}

/// The steps that bring the assets of a release to the desired state.
#[derive(Debug, Default)]
pub(super) struct AssetDiff {
    /// Steps for the given files.
    pub(super) steps: Vec<PublishStep>,
    /// Steps for the files that are generated from them.
    pub(super) generated: Vec<PublishStep>,
}

impl AssetDiff {
    /// Returns the number of files that the steps write or delete, each counted once under its
    /// final name.
    pub(super) fn changed_files(&self) -> usize {
        let names: BTreeSet<&str> = self.steps().filter_map(changed_name).collect();
        names.len()
    }

    /// Whether there is a file to upload, but the release has no room.
    pub(super) fn has_no_room(&self, desired: &DesiredRelease, release: &ListedRelease) -> bool {
        self.steps().any(is_upload) && room(desired, release, self.steps()) == 0
    }

    fn steps(&self) -> impl Iterator<Item = &PublishStep> {
        self.steps.iter().chain(&self.generated)
    }
}

/// Removes the uploads that a release has no room for. They follow once other steps have made room.
pub(super) fn within_room(
    desired: &DesiredRelease,
    release: &ListedRelease,
    steps: &mut Vec<PublishStep>,
) {
    let mut room = room(desired, release, steps.iter());
    steps.retain(|step| {
        let fits = room > 0 || !is_upload(step);
        room -= usize::from(fits && is_upload(step));
        fits
    });
}

/// Returns the number of assets that a release has room for after the deletions among these steps.
fn room<'s>(
    desired: &DesiredRelease,
    release: &ListedRelease,
    steps: impl Iterator<Item = &'s PublishStep>,
) -> usize {
    let freed = steps
        .filter(|step| matches!(step, PublishStep::DeleteAsset { .. }))
        .count();
    (desired.most_assets + freed).saturating_sub(release.assets.len())
}

/// Returns the final name of the file that a step writes or deletes.
fn changed_name(step: &PublishStep) -> Option<&str> {
    match step {
        PublishStep::Upload { name, .. } => Some(name),
        PublishStep::Rename { to, .. } => Some(to),
        PublishStep::DeleteAsset { name, .. } => {
            Some(split_temporary(name).map_or(name.as_str(), |(place, _)| place))
        }
        PublishStep::Create { .. }
        | PublishStep::DeleteRelease { .. }
        | PublishStep::Hash { .. }
        | PublishStep::Describe { .. }
        | PublishStep::Publish { .. } => None,
    }
}

fn is_upload(step: &PublishStep) -> bool {
    matches!(step, PublishStep::Upload { .. })
}

/// Returns the steps that bring the assets of a release to the desired state, and adds refusals to
/// `refused`.
pub(super) fn diff_assets(
    desired: &DesiredRelease,
    part: &ReleasePart<'_>,
    release: &ListedRelease,
    policy: PublishPolicy,
    refused: &mut Vec<ReleaseRefusal>,
) -> AssetDiff {
    let present: BTreeMap<&str, &ListedAsset> = release
        .assets
        .iter()
        .map(|asset| (asset.name.as_str(), asset))
        .collect();
    let mut diff = AssetDiff::default();
    for file in &part.assets {
        let steps = AssetStatus {
            file,
            release,
            policy,
            present: &present,
        }
        .steps(refused);
        if file.generated {
            &mut diff.generated
        } else {
            &mut diff.steps
        }
        .extend(steps);
    }
    for asset in &release.assets {
        diff.steps
            .extend(step_for_leftover(asset, desired, part, policy, &present));
    }
    for asset in release
        .assets
        .iter()
        .filter(|asset| is_temporary_renamed_by_github(asset, part))
    {
        diff.steps.push(delete(asset, DeleteReason::Renamed));
    }
    // Uploads whose response was lost, and that GitHub stored under another name.
    if release.draft {
        let is_left = |asset: &&ListedAsset| {
            split_temporary(&asset.name).is_none()
                && is_renamed(asset, part)
                && !is_temporary_renamed_by_github(asset, part)
        };
        for asset in release.assets.iter().filter(is_left) {
            diff.steps.push(match (asset.state, asset.digest) {
                (AssetState::Uploaded, None) => hash(asset),
                _ => delete(asset, DeleteReason::Renamed),
            });
        }
    }
    diff
}

/// A desired file and the assets of its release.
struct AssetStatus<'o> {
    file: &'o DesiredFile,
    release: &'o ListedRelease,
    policy: PublishPolicy,
    present: &'o BTreeMap<&'o str, &'o ListedAsset>,
}

impl AssetStatus<'_> {
    /// Returns the steps for the file, and adds a refusal to `refused` if it may not be replaced.
    ///
    /// A temporary asset is a replacement that an earlier run uploaded. One that is incomplete or
    /// has other content than the file is deleted first, and counts as absent. An asset whose
    /// digest has to be determined first is downloaded and hashed, and the rest follows in the next
    /// reconciliation.
    ///
    /// | release | temporary | file under its final name | steps |
    /// | --- | --- | --- | --- |
    /// | draft or published | absent | absent | upload |
    /// | draft or published | present | absent | rename the temporary asset |
    /// | draft or published | absent or present | same | delete the temporary asset, if any |
    /// | draft | absent or present | different | delete the asset, then upload or rename |
    /// | published | absent | different | upload under the temporary name |
    /// | published | present | different | delete the asset, then rename the temporary one |
    fn steps(&self, refused: &mut Vec<ReleaseRefusal>) -> Vec<PublishStep> {
        let mut steps = Vec::new();
        let temporary_name = temporary(self.file);
        let mut replacement = self.present.get(temporary_name.as_str()).copied();
        match replacement.map(|asset| (asset, self.compare(asset))) {
            Some((asset, AssetMatch::Unknown)) => return vec![hash(asset)],
            Some((asset, AssetMatch::Different)) => {
                steps.push(delete(asset, DeleteReason::Unfinished));
                replacement = None;
            }
            Some((_, AssetMatch::Same)) | None => {}
        }
        let upload_or_rename = || {
            replacement.map_or_else(
                || self.upload(&self.file.name),
                |asset| rename(asset, &self.file.name),
            )
        };
        let Some(present) = self.present.get(self.file.name.as_str()).copied() else {
            steps.push(upload_or_rename());
            return steps;
        };
        match self.compare(present) {
            AssetMatch::Same => {
                steps.extend(replacement.map(|asset| delete(asset, DeleteReason::PlaceTaken)));
            }
            AssetMatch::Unknown => steps.push(hash(present)),
            AssetMatch::Different => {
                let is_unfinished = present.state == AssetState::Starter;
                if !is_unfinished && !self.may_replace() {
                    refused.push(differs(self.file, present));
                    return steps;
                }
                let why = if is_unfinished {
                    DeleteReason::Unfinished
                } else {
                    DeleteReason::DifferentContent
                };
                if !self.release.draft && replacement.is_none() {
                    // A file that looks incomplete may have failed to download only once, so in a
                    // published release it stays until its replacement is uploaded. Readers miss it
                    // for two requests at most.
                    steps.push(self.upload(&temporary_name));
                } else {
                    steps.extend([delete(present, why), upload_or_rename()]);
                }
            }
        }
        steps
    }

    /// Whether different content may be replaced. In a draft that a run created, it is from an
    /// interrupted upload or from an earlier build.
    fn may_replace(&self) -> bool {
        self.policy.replace || self.file.generated || is_own_draft(self.release)
    }

    fn upload(&self, as_name: &str) -> PublishStep {
        PublishStep::Upload {
            release: self.release.id,
            name: self.file.name.clone(),
            as_name: as_name.to_owned(),
        }
    }

    /// Compares the content of an asset with the desired file.
    fn compare(&self, asset: &ListedAsset) -> AssetMatch {
        if asset.state != AssetState::Uploaded || !asset.has_content_of(self.file) {
            AssetMatch::Different
        } else if asset.digest.is_none() && self.policy.fetch_to_verify {
            AssetMatch::Unknown
        } else {
            AssetMatch::Same
        }
    }
}

/// The content of an asset, compared with a desired file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AssetMatch {
    Same,
    Different,
    /// GitHub does not report the digest.
    Unknown,
}

fn delete(asset: &ListedAsset, why: DeleteReason) -> PublishStep {
    PublishStep::DeleteAsset {
        asset: asset.id,
        name: asset.name.clone(),
        why,
    }
}

fn rename(asset: &ListedAsset, to: &str) -> PublishStep {
    PublishStep::Rename {
        asset: asset.id,
        from: asset.name.clone(),
        to: to.to_owned(),
    }
}

fn hash(asset: &ListedAsset) -> PublishStep {
    PublishStep::Hash {
        asset: asset.id,
        name: asset.name.clone(),
    }
}

/// Returns the step for a temporary asset of an earlier run whose content or file is no longer
/// desired. The replacement is completed if the old asset is already gone, so that nothing
/// published is lost.
///
/// An asset of others may have a name of this form, so its digest must match the prefix. Without a
/// reported digest, it is left alone: a wrong deletion loses a file, but a leftover is harmless.
/// Its name is not that of a wheel, so no index or checksum file lists it. Hashing it would
/// download a file of others in every run. Only if it may be the last copy of a published file, it
/// is hashed, and only if the policy allows downloads.
fn step_for_leftover(
    asset: &ListedAsset,
    desired: &DesiredRelease,
    part: &ReleasePart<'_>,
    policy: PublishPolicy,
    present: &BTreeMap<&str, &ListedAsset>,
) -> Option<PublishStep> {
    let (place, _) = split_temporary(&asset.name)?;
    let is_of = |file: &DesiredFile| is_temporary(&asset.name, file);
    if part.assets.iter().any(|file| is_of(file)) || is_temporary_renamed_by_github(asset, part) {
        return None;
    }
    let is_taken = desired.assets.iter().any(|file| file.name == place);
    let is_own = final_name(asset).is_some() || desired.assets.iter().any(is_of);
    match asset.state {
        // It has no content to compare. One for a desired file is from an earlier run; any other
        // may be an upload of someone else that is in progress.
        AssetState::Starter => is_taken.then(|| delete(asset, DeleteReason::Unfinished)),
        AssetState::Uploaded if !is_own => {
            // If the download fails, it counts as incomplete, and is still left alone.
            let is_last_copy = !is_taken && !present.contains_key(place);
            let is_unknown = asset.digest.is_none() && policy.fetch_to_verify;
            (is_unknown && is_last_copy).then(|| hash(asset))
        }
        AssetState::Uploaded if is_taken || present.contains_key(place) => {
            Some(delete(asset, DeleteReason::PlaceTaken))
        }
        AssetState::Uploaded => Some(rename(asset, place)),
    }
}

/// Whether an asset has the content of a desired file, as far as GitHub reports it, under a name
/// that GitHub derived from the temporary name. The name contains the start of the file's digest,
/// so this program uploaded it.
fn is_temporary_renamed_by_github(asset: &ListedAsset, part: &ReleasePart<'_>) -> bool {
    // Most names are not temporary. The separator has only characters that GitHub keeps.
    if !asset.name.contains(TEMPORARY)
        || part
            .assets
            .iter()
            .any(|file| is_temporary(&asset.name, file))
    {
        return false;
    }
    let name = plain(&asset.name);
    part.assets.iter().any(|file| {
        asset.digest.is_none_or(|digest| digest == file.digest)
            && name.starts_with(&plain(&temporary(file)))
    })
}

/// Whether an asset has the content of a desired file, as far as GitHub reports it, under a name
/// that GitHub derived from the file's name. The size must match even if the asset is incomplete.
fn is_renamed(asset: &ListedAsset, part: &ReleasePart<'_>) -> bool {
    let is_desired = part.assets.iter().any(|file| file.name == asset.name);
    let is_made_from = |file: &&DesiredFile| {
        asset.has_content_of(file) && plain(&asset.name).starts_with(&plain(&file.name))
    };
    !is_desired && part.assets.iter().any(is_made_from)
}

/// Normalizes a name for comparison with one that GitHub derived from it: GitHub replaces some
/// characters by periods.
fn plain(name: &str) -> String {
    name.replace(|letter: char| !letter.is_ascii_alphanumeric(), ".")
}

fn differs(file: &DesiredFile, present: &ListedAsset) -> ReleaseRefusal {
    let why = if present.size == file.size_bytes {
        let found = present
            .digest
            .map_or_else(|| "unknown".to_owned(), |digest| digest.to_string());
        format!("{found}, not {}", file.digest)
    } else {
        format!("{} bytes, not {}", present.size, file.size_bytes)
    };
    ReleaseRefusal::Differs {
        name: file.name.clone(),
        why,
    }
}
