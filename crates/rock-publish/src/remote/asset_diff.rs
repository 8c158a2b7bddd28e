//! Compares the assets of one release with the desired files.

use std::collections::BTreeMap;

use super::super::{AssetState, DesiredFile, ListedAsset, ListedRelease};
use super::{
    DeleteReason, DesiredRelease, PublishPolicy, PublishStep, ReleasePart, ReleaseRefusal,
    is_own_draft,
};

/// The separator in the temporary name of an asset that will replace a published one.
const WAITING: &str = ".tmp-";
/// The number of hex digits of the digest in a temporary name.
const HEX: usize = 12;

/// The longest name of a file that can be published, in bytes. GitHub documents no limit, but Linux
/// cannot store names of more than 255 bytes (`NAME_MAX` in `limits.h`), and temporary names are
/// longer than final ones.
pub const LONGEST_NAME_BYTES: usize = 255 - WAITING.len() - HEX;

/// Returns the temporary name under which a replacement of a published file is uploaded. It
/// contains part of the digest, so that a later run can find and complete what a killed run
/// started.
pub(super) fn temporary(wanted: &DesiredFile) -> String {
    format!("{}{WAITING}{}", wanted.name, &wanted.digest.to_hex()[..HEX])
}

/// Returns the rest of a name that starts with the [`temporary`] name of a desired file.
///
/// Each asset is compared with each desired file, so this does not allocate a name.
fn after_temporary<'n>(name: &'n str, wanted: &DesiredFile) -> Option<&'n str> {
    let rest = name
        .strip_prefix(wanted.name.as_str())?
        .strip_prefix(WAITING)?;
    rest.strip_prefix(&wanted.digest.to_hex()[..HEX])
}

/// Whether a name is the temporary name of a desired file.
fn is_temporary(name: &str, wanted: &DesiredFile) -> bool {
    after_temporary(name, wanted).is_some_and(str::is_empty)
}

/// Returns the final name and the digest prefix from the temporary name of an asset.
fn awaited(asset: &ListedAsset) -> Option<(&str, &str)> {
    let (name, hex) = asset.name.rsplit_once(WAITING)?;
    let is_mark = hex.len() == HEX && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_mark && !name.is_empty()).then_some((name, hex))
}

/// Returns the final name of an asset with a temporary name. Returns `None` if the content does not
/// match the digest prefix: this program did not create such an asset.
pub(super) fn place_of(asset: &ListedAsset) -> Option<&str> {
    let (name, hex) = awaited(asset)?;
    asset
        .digest
        .is_none_or(|digest| digest.to_hex().starts_with(hex))
        .then_some(name)
}

/// Whether an asset is a desired file, complete or not, under its final or its temporary name.
pub(super) fn is_of_wanted(asset: &ListedAsset, desired: &DesiredRelease) -> bool {
    let is_it = |wanted: &DesiredFile| {
        let has_bytes =
            asset.state != AssetState::Uploaded || asset.digest.is_none_or(|d| d == wanted.digest);
        (wanted.name == asset.name && (has_bytes || wanted.generated))
            || is_temporary(&asset.name, wanted)
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
    /// Returns the number of steps that change the release.
    pub(super) fn writes(&self) -> usize {
        let writes = |step: &&PublishStep| !matches!(step, PublishStep::Hash { .. });
        self.steps().filter(writes).count()
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
    for wanted in &part.assets {
        let steps = AssetStatus {
            wanted,
            release,
            policy,
            present: &present,
        }
        .lacks(refused);
        if wanted.generated {
            &mut diff.generated
        } else {
            &mut diff.steps
        }
        .extend(steps);
    }
    for asset in &release.assets {
        diff.steps
            .extend(left_waiting(asset, desired, part, &present));
    }
    for asset in release
        .assets
        .iter()
        .filter(|asset| is_renamed_waiting(asset, part))
    {
        diff.steps.push(delete(asset, DeleteReason::Renamed));
    }
    // Uploads whose response was lost, and that GitHub stored under another name.
    if release.draft {
        let is_left = |asset: &&ListedAsset| {
            place_of(asset).is_none() && is_renamed(asset, part) && !is_renamed_waiting(asset, part)
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
    wanted: &'o DesiredFile,
    release: &'o ListedRelease,
    policy: PublishPolicy,
    present: &'o BTreeMap<&'o str, &'o ListedAsset>,
}

impl AssetStatus<'_> {
    fn lacks(&self, refused: &mut Vec<ReleaseRefusal>) -> Vec<PublishStep> {
        let mut steps = Vec::new();
        let waiting_name = temporary(self.wanted);
        let mut waiting = self.present.get(waiting_name.as_str()).copied();
        match waiting.map(|asset| (asset, self.holds(asset))) {
            Some((asset, AssetMatch::Unknown)) => return vec![hash(asset)],
            // A temporary asset that is incomplete or does not match its name is useless.
            Some((asset, AssetMatch::Other)) => {
                steps.push(delete(asset, DeleteReason::Unfinished));
                waiting = None;
            }
            Some((_, AssetMatch::It)) | None => {}
        }
        let comes = || {
            waiting.map_or_else(
                || self.upload(&self.wanted.name),
                |asset| rename(asset, &self.wanted.name),
            )
        };
        let Some(present) = self.present.get(self.wanted.name.as_str()).copied() else {
            steps.push(comes());
            return steps;
        };
        match self.holds(present) {
            AssetMatch::It => {
                steps.extend(waiting.map(|asset| delete(asset, DeleteReason::PlaceTaken)));
            }
            AssetMatch::Unknown => steps.push(hash(present)),
            AssetMatch::Other => {
                let is_unfinished = present.state == AssetState::Starter;
                if !is_unfinished && !self.may_replace() {
                    refused.push(differs(self.wanted, present));
                    return steps;
                }
                let why = if is_unfinished {
                    DeleteReason::Unfinished
                } else {
                    DeleteReason::OtherBytes
                };
                match waiting {
                    _ if self.release.draft => steps.extend([delete(present, why), comes()]),
                    // A file that looks incomplete may have failed to download only once, so in a
                    // published release it stays until its replacement is uploaded. Readers miss it
                    // for two requests at most.
                    None => steps.push(self.upload(&waiting_name)),
                    Some(asset) => {
                        steps.extend([delete(present, why), rename(asset, &self.wanted.name)]);
                    }
                }
            }
        }
        steps
    }

    /// Whether different content may be replaced. In a draft that a run created, it is from an
    /// interrupted upload or from an earlier build.
    fn may_replace(&self) -> bool {
        self.policy.replace || self.wanted.generated || is_own_draft(self.release)
    }

    fn upload(&self, as_name: &str) -> PublishStep {
        PublishStep::Upload {
            release: self.release.id,
            name: self.wanted.name.clone(),
            as_name: as_name.to_owned(),
        }
    }

    /// Compares the content of an asset with the desired file.
    fn holds(&self, asset: &ListedAsset) -> AssetMatch {
        match asset.digest {
            _ if asset.state != AssetState::Uploaded || asset.size != self.wanted.size_bytes => {
                AssetMatch::Other
            }
            Some(digest) if digest == self.wanted.digest => AssetMatch::It,
            Some(_) => AssetMatch::Other,
            None if self.policy.fetch_to_verify => AssetMatch::Unknown,
            None => AssetMatch::It,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AssetMatch {
    It,
    Other,
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
fn left_waiting(
    asset: &ListedAsset,
    desired: &DesiredRelease,
    part: &ReleasePart<'_>,
    present: &BTreeMap<&str, &ListedAsset>,
) -> Option<PublishStep> {
    let (place, _) = awaited(asset)?;
    if part
        .assets
        .iter()
        .any(|wanted| is_temporary(&asset.name, wanted))
    {
        return None;
    }
    let is_taken = desired.assets.iter().any(|wanted| wanted.name == place);
    if !is_taken {
        place_of(asset)?;
    }
    Some(match asset.state {
        AssetState::Starter => delete(asset, DeleteReason::Unfinished),
        AssetState::Uploaded if is_taken || present.contains_key(place) => {
            delete(asset, DeleteReason::PlaceTaken)
        }
        AssetState::Uploaded => rename(asset, place),
    })
}

/// Whether an asset has the content of a desired file, under a name that GitHub derived from the
/// temporary name.
fn is_renamed_waiting(asset: &ListedAsset, part: &ReleasePart<'_>) -> bool {
    let is_renamed = |rest: &str| !rest.is_empty();
    part.assets.iter().any(|wanted| {
        asset.digest == Some(wanted.digest)
            && after_temporary(&asset.name, wanted).is_some_and(is_renamed)
    })
}

/// Whether an asset has the content of a desired file, as far as GitHub reports it, under a name
/// that GitHub derived from the file's name. The size must match even if the asset is incomplete.
fn is_renamed(asset: &ListedAsset, part: &ReleasePart<'_>) -> bool {
    let plain = |name: &str| name.replace(|letter: char| !letter.is_ascii_alphanumeric(), ".");
    let is_wanted = part.assets.iter().any(|wanted| wanted.name == asset.name);
    let same = |wanted: &&&DesiredFile| {
        asset.digest.is_none_or(|digest| digest == wanted.digest) && asset.size == wanted.size_bytes
    };
    let is_made_from = |wanted: &&DesiredFile| plain(&asset.name).starts_with(&plain(&wanted.name));
    !is_wanted && part.assets.iter().filter(same).any(is_made_from)
}

fn differs(wanted: &DesiredFile, present: &ListedAsset) -> ReleaseRefusal {
    let why = if present.size == wanted.size_bytes {
        let found = present
            .digest
            .map_or_else(|| "unknown".to_owned(), |digest| digest.to_string());
        format!("{found}, not {}", wanted.digest)
    } else {
        format!("{} bytes, not {}", present.size, wanted.size_bytes)
    };
    ReleaseRefusal::Differs {
        name: wanted.name.clone(),
        why,
    }
}
