//! What the files of one release lack.

use std::collections::BTreeMap;

use super::super::{AssetState, DesiredFile, ListedAsset, ListedRelease};
use super::{
    DeleteReason, DesiredRelease, PublishPolicy, PublishStep, ReleasePart, ReleaseRefusal,
    is_own_draft,
};

/// How a name ends under which the new bytes of a published file wait until the old ones are gone.
const WAITING: &str = ".tmp-";
/// Letters of the digest in such a name.
const HEX: usize = 12;

/// Bytes of a name. GitHub documents none; one of more than 255 can be stored by none that fetches
/// it (`NAME_MAX` of Linux, `limits.h`), and so many are added while new bytes wait.
pub const LONGEST_NAME_BYTES: usize = 255 - WAITING.len() - HEX;

/// The name under which the new bytes of a published file wait. It is made from the bytes, so that
/// a later run finds and finishes what a killed one began.
pub(super) fn temporary(wanted: &DesiredFile) -> String {
    format!("{}{WAITING}{}", wanted.name, &wanted.digest.to_hex()[..HEX])
}

/// Returns what follows [`temporary`] of a wanted file in a name that begins with it.
///
/// Each asset is compared with each wanted file, so no name is made for that.
fn after_temporary<'n>(name: &'n str, wanted: &DesiredFile) -> Option<&'n str> {
    let rest = name
        .strip_prefix(wanted.name.as_str())?
        .strip_prefix(WAITING)?;
    rest.strip_prefix(&wanted.digest.to_hex()[..HEX])
}

/// Returns whether a name is that under which the new bytes of a wanted file wait.
fn is_temporary(name: &str, wanted: &DesiredFile) -> bool {
    after_temporary(name, wanted).is_some_and(str::is_empty)
}

/// The name whose place an asset waits to take, as its own name says.
fn awaited(asset: &ListedAsset) -> Option<(&str, &str)> {
    let (name, hex) = asset.name.rsplit_once(WAITING)?;
    let is_mark = hex.len() == HEX && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_mark && !name.is_empty()).then_some((name, hex))
}

/// The name whose place an asset waits to take. One with other bytes than it is called after is
/// none of ours.
pub(super) fn place_of(asset: &ListedAsset) -> Option<&str> {
    let (name, hex) = awaited(asset)?;
    asset
        .digest
        .is_none_or(|digest| digest.to_hex().starts_with(hex))
        .then_some(name)
}

/// Whether an asset is one that the goal wants, whole or not, under its own name or waiting for it.
pub(super) fn is_of_wanted(asset: &ListedAsset, goal: &DesiredRelease) -> bool {
    let is_it = |wanted: &DesiredFile| {
        let has_bytes =
            asset.state != AssetState::Uploaded || asset.digest.is_none_or(|d| d == wanted.digest);
        (wanted.name == asset.name && (has_bytes || wanted.generated))
            || is_temporary(&asset.name, wanted)
    };
    goal.assets.iter().any(is_it)
}

/// What a release's files lack.
#[derive(Debug, Default)]
pub(super) struct AssetDiff {
    /// For the files that were given.
    pub(super) steps: Vec<PublishStep>,
    /// For those that are made from them.
    pub(super) generated: Vec<PublishStep>,
}

impl AssetDiff {
    /// How many files would be written.
    pub(super) fn writes(&self) -> usize {
        let writes = |step: &&PublishStep| !matches!(step, PublishStep::Hash { .. });
        self.steps().filter(writes).count()
    }

    /// Whether a file is to be sent, and the release takes none.
    pub(super) fn has_no_room(&self, goal: &DesiredRelease, release: &ListedRelease) -> bool {
        self.steps().any(is_upload) && room(goal, release, self.steps()) == 0
    }

    fn steps(&self) -> impl Iterator<Item = &PublishStep> {
        self.steps.iter().chain(&self.generated)
    }
}

/// Leaves of these steps those that a release has room for. What is left out comes when others made
/// room.
pub(super) fn within_room(
    goal: &DesiredRelease,
    release: &ListedRelease,
    steps: &mut Vec<PublishStep>,
) {
    let mut room = room(goal, release, steps.iter());
    steps.retain(|step| {
        let fits = room > 0 || !is_upload(step);
        room -= usize::from(fits && is_upload(step));
        fits
    });
}

/// How many files a release takes once these steps deleted some.
fn room<'s>(
    goal: &DesiredRelease,
    release: &ListedRelease,
    steps: impl Iterator<Item = &'s PublishStep>,
) -> usize {
    let freed = steps
        .filter(|step| matches!(step, PublishStep::DeleteAsset { .. }))
        .count();
    (goal.most_assets + freed).saturating_sub(release.assets.len())
}

fn is_upload(step: &PublishStep) -> bool {
    matches!(step, PublishStep::Upload { .. })
}

/// What a release's files lack.
pub(super) fn lacking(
    goal: &DesiredRelease,
    share: &ReleasePart<'_>,
    release: &ListedRelease,
    allowed: PublishPolicy,
    refused: &mut Vec<ReleaseRefusal>,
) -> AssetDiff {
    let present: BTreeMap<&str, &ListedAsset> = release
        .assets
        .iter()
        .map(|asset| (asset.name.as_str(), asset))
        .collect();
    let mut lacking = AssetDiff::default();
    for wanted in &share.assets {
        let steps = AssetStatus {
            wanted,
            release,
            allowed,
            present: &present,
        }
        .lacks(refused);
        if wanted.generated {
            &mut lacking.generated
        } else {
            &mut lacking.steps
        }
        .extend(steps);
    }
    for asset in &release.assets {
        lacking
            .steps
            .extend(left_waiting(asset, goal, share, &present));
    }
    for asset in release
        .assets
        .iter()
        .filter(|asset| is_renamed_waiting(asset, share))
    {
        lacking.steps.push(delete(asset, DeleteReason::Renamed));
    }
    // What GitHub stored under another name, in an upload whose answer was lost.
    if release.draft {
        let is_left = |asset: &&ListedAsset| {
            place_of(asset).is_none()
                && is_renamed(asset, share)
                && !is_renamed_waiting(asset, share)
        };
        for asset in release.assets.iter().filter(is_left) {
            lacking.steps.push(match (asset.state, asset.digest) {
                (AssetState::Uploaded, None) => hash(asset),
                _ => delete(asset, DeleteReason::Renamed),
            });
        }
    }
    lacking
}

/// One wanted file, and what the release holds.
struct AssetStatus<'o> {
    wanted: &'o DesiredFile,
    release: &'o ListedRelease,
    allowed: PublishPolicy,
    present: &'o BTreeMap<&'o str, &'o ListedAsset>,
}

impl AssetStatus<'_> {
    fn lacks(&self, refused: &mut Vec<ReleaseRefusal>) -> Vec<PublishStep> {
        let mut steps = Vec::new();
        let waiting_name = temporary(self.wanted);
        let mut waiting = self.present.get(waiting_name.as_str()).copied();
        match waiting.map(|asset| (asset, self.holds(asset))) {
            Some((asset, AssetMatch::Unknown)) => return vec![hash(asset)],
            // What waits and is not whole, or not what it is called after, is of no use.
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
                    // A file that looks unfinished may be one that could not be fetched once, so in
                    // a published release it too stays until its replacement is there. Readers miss
                    // it for no longer than two calls take.
                    None => steps.push(self.upload(&waiting_name)),
                    Some(asset) => {
                        steps.extend([delete(present, why), rename(asset, &self.wanted.name)]);
                    }
                }
            }
        }
        steps
    }

    /// Whether other bytes may be replaced. In a draft that a run made they are what became of an
    /// upload whose run was ended, or of an earlier build.
    fn may_replace(&self) -> bool {
        self.allowed.replace || self.wanted.generated || is_own_draft(self.release)
    }

    fn upload(&self, as_name: &str) -> PublishStep {
        PublishStep::Upload {
            release: self.release.id,
            name: self.wanted.name.clone(),
            as_name: as_name.to_owned(),
        }
    }

    /// Whether an asset holds the wanted bytes.
    fn holds(&self, asset: &ListedAsset) -> AssetMatch {
        match asset.digest {
            _ if asset.state != AssetState::Uploaded || asset.size != self.wanted.size_bytes => {
                AssetMatch::Other
            }
            Some(digest) if digest == self.wanted.digest => AssetMatch::It,
            Some(_) => AssetMatch::Other,
            None if self.allowed.fetch_to_verify => AssetMatch::Unknown,
            None => AssetMatch::It,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AssetMatch {
    It,
    Other,
    /// GitHub does not say.
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

/// What an earlier run left waiting, with bytes that are not wanted any more or for a file that is
/// not. It is finished where the file is gone already: nothing that was published is lost.
fn left_waiting(
    asset: &ListedAsset,
    goal: &DesiredRelease,
    share: &ReleasePart<'_>,
    present: &BTreeMap<&str, &ListedAsset>,
) -> Option<PublishStep> {
    let (place, _) = awaited(asset)?;
    if share
        .assets
        .iter()
        .any(|wanted| is_temporary(&asset.name, wanted))
    {
        return None;
    }
    let is_taken = goal.assets.iter().any(|wanted| wanted.name == place);
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

/// Whether an asset has the bytes of a wanted file under a name that was made from the one under
/// which they wait.
fn is_renamed_waiting(asset: &ListedAsset, share: &ReleasePart<'_>) -> bool {
    let is_renamed = |rest: &str| !rest.is_empty();
    share.assets.iter().any(|wanted| {
        asset.digest == Some(wanted.digest)
            && after_temporary(&asset.name, wanted).is_some_and(is_renamed)
    })
}

/// Whether an asset has the bytes of a wanted file, as far as GitHub says, under a name that was
/// made from its own. One that is not whole has its size.
fn is_renamed(asset: &ListedAsset, share: &ReleasePart<'_>) -> bool {
    let plain = |name: &str| name.replace(|letter: char| !letter.is_ascii_alphanumeric(), ".");
    let is_wanted = share.assets.iter().any(|wanted| wanted.name == asset.name);
    let same = |wanted: &&&DesiredFile| {
        asset.digest.is_none_or(|digest| digest == wanted.digest) && asset.size == wanted.size_bytes
    };
    let is_made_from = |wanted: &&DesiredFile| plain(&asset.name).starts_with(&plain(&wanted.name));
    !is_wanted && share.assets.iter().filter(same).any(is_made_from)
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
