//! The next steps.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{AssetState, ListedAsset, ListedRelease, Wanted};
use super::goal::DRAFT;
use super::{Allowed, Goal, MakeLatest, Refusal, Share, spread};

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// These steps, in their order; then look again.
    Steps(Vec<Step>),
    /// Nothing may be written, for all of these reasons.
    Refused(Vec<Refusal>),
    /// Nothing: the goal is reached. The releases that hold it, the first first.
    Done(Vec<u64>),
}

/// One call that changes something, or one that finds out what a file holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
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
        why: &'static str,
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
    /// Give a release its title and text.
    Describe {
        /// Its number.
        release: u64,
        /// Its tag.
        tag: String,
    },
    /// Let everybody see a release.
    Publish {
        /// Its number.
        release: u64,
        /// Its tag.
        tag: String,
        /// Whether it becomes the latest.
        make_latest: MakeLatest,
    },
}

/// The name under which the new bytes of a published file wait until the old ones are gone. It is made from the bytes,
/// so that a later run finds and finishes what a killed one began.
pub(super) fn temporary(wanted: &Wanted) -> String {
    format!("{}.tmp-{}", wanted.name, &wanted.digest.to_hex()[..12])
}

/// The next steps from what is seen to the goal.
pub fn next(goal: &Goal, allowed: Allowed, seen: &[ListedRelease]) -> Next {
    let mut refused = Vec::new();
    let mut cleaning = Vec::new();
    let chosen = chosen(goal, allowed, seen, &mut cleaning, &mut refused);
    let foreign: BTreeSet<&str> =
        seen.iter().filter(|release| !is_of_goal(goal, release)).map(|release| &*release.tag_name).collect();
    let shares = spread(goal, &chosen, &foreign);
    let mut begun = Vec::new();
    for share in &shares {
        match chosen.iter().find(|release| release.tag_name == share.tag) {
            None => cleaning.push(Step::Create { tag: share.tag.clone() }),
            Some(release) => begun.push((share, *release, lacking(share, release, allowed, &mut refused))),
        }
    }
    for (share, release, steps) in &begun {
        let lacking = if steps.is_empty() { usize::from(is_described_anew(goal, release)) } else { steps.len() };
        if release.draft || lacking == 0 || steps.iter().all(|step| matches!(step, Step::Hash { .. })) {
            continue;
        }
        if release.immutable {
            refused.push(Refusal::Immutable { tag: share.tag.clone(), lacking });
        } else if !allowed.published {
            refused.push(Refusal::Published { tag: share.tag.clone(), lacking });
        }
    }
    if !refused.is_empty() {
        return Next::Refused(refused);
    }
    // Drafts first, so that numbers are known; then files; then texts; the first release is the last to be published.
    let mut files: Vec<Step> = begun.iter().flat_map(|(.., steps)| steps.iter().cloned()).collect();
    cleaning.append(&mut files);
    if !cleaning.is_empty() {
        return Next::Steps(cleaning);
    }
    let mut last: Vec<Step> = Vec::new();
    for (at, (share, release, _)) in begun.iter().enumerate().rev() {
        if is_described_anew(goal, release) {
            last.push(Step::Describe { release: release.id, tag: share.tag.clone() });
        }
        if release.draft {
            let make_latest = if at == 0 { goal.make_latest } else { MakeLatest::No };
            last.push(Step::Publish { release: release.id, tag: share.tag.clone(), make_latest });
        }
    }
    if last.is_empty() {
        Next::Done(begun.iter().map(|(_, release, _)| release.id).collect())
    } else {
        Next::Steps(last)
    }
}

/// The release of each tag of the goal: the published one, else the draft with files, else the oldest.
fn chosen<'r>(
    goal: &Goal,
    allowed: Allowed,
    seen: &'r [ListedRelease],
    cleaning: &mut Vec<Step>,
    refused: &mut Vec<Refusal>,
) -> Vec<&'r ListedRelease> {
    let mut by_tag: BTreeMap<&str, Vec<&ListedRelease>> = BTreeMap::new();
    for release in seen.iter().filter(|release| is_of_goal(goal, release)) {
        by_tag.entry(&release.tag_name).or_default().push(release);
    }
    let mut chosen = Vec::new();
    for (tag, mut releases) in by_tag {
        releases.sort_by_key(|release| (release.draft, release.assets.is_empty(), release.id));
        let (first, others) = (releases[0], &releases[1..]);
        chosen.push(first);
        if others.is_empty() {
            continue;
        }
        let others_are_empty = others.iter().all(|release| release.draft && release.assets.is_empty());
        let is_ours =
            |release: &&ListedRelease| release.body.as_deref().is_some_and(|body| body.contains(&goal.mark_of_draft()));
        if others_are_empty && (allowed.clean_duplicates || others.iter().all(is_ours)) {
            cleaning.extend(others.iter().map(|release| Step::DeleteRelease { release: release.id }));
        } else {
            let releases = releases.iter().map(|release| (release.id, release.assets.len())).collect();
            refused.push(Refusal::Duplicates { tag: tag.to_owned(), releases, others_are_empty });
        }
    }
    chosen
}

/// Whether this is the goal's release or one that goes on from it.
fn is_of_goal(goal: &Goal, release: &ListedRelease) -> bool {
    let says_so = || release.body.as_deref().is_some_and(|body| body.contains(&goal.mark_of_continuation()));
    release.tag_name == goal.tag || says_so()
}

/// What a release's files lack.
fn lacking(share: &Share<'_>, release: &ListedRelease, allowed: Allowed, refused: &mut Vec<Refusal>) -> Vec<Step> {
    let mut by_name: BTreeMap<&str, &ListedAsset> = BTreeMap::new();
    for asset in &release.assets {
        by_name.insert(&asset.name, asset);
    }
    let mut steps = Vec::new();
    let delete = |asset: &ListedAsset, why| Step::DeleteAsset { asset: asset.id, name: asset.name.clone(), why };
    for wanted in &share.assets {
        let waiting_name = temporary(wanted);
        let mut waiting = by_name.get(waiting_name.as_str()).copied();
        let mut begin = Vec::new();
        // What waits and is not whole, or not what it is called after, is of no use.
        if let Some(asset) = waiting.filter(|asset| holds(asset, wanted, allowed) == Holds::Other) {
            begin.push(delete(asset, "an upload of it did not end"));
            waiting = None;
        }
        if let Some(asset) = waiting.filter(|asset| holds(asset, wanted, allowed) == Holds::Unknown) {
            steps.push(Step::Hash { asset: asset.id, name: asset.name.clone() });
            continue;
        }
        let upload = |as_name: &str| Step::Upload {
            release: release.id,
            name: wanted.name.clone(),
            as_name: as_name.to_owned(),
        };
        let rename =
            |asset: &ListedAsset| Step::Rename { asset: asset.id, from: asset.name.clone(), to: wanted.name.clone() };
        match (by_name.get(wanted.name.as_str()).copied(), waiting) {
            (Some(present), waiting) => match holds(present, wanted, allowed) {
                Holds::It => begin.extend(waiting.map(|asset| delete(asset, "it has its place already"))),
                Holds::Unknown => begin.push(Step::Hash { asset: present.id, name: present.name.clone() }),
                Holds::Other if present.state == AssetState::Starter => {
                    begin.push(delete(present, "an upload of it did not end"));
                    begin.push(waiting.map_or_else(|| upload(&wanted.name), rename));
                }
                Holds::Other if !allowed.replace && !wanted.generated => refused.push(differs(wanted, present)),
                Holds::Other if release.draft => {
                    begin.push(delete(present, "it has other bytes"));
                    begin.push(waiting.map_or_else(|| upload(&wanted.name), rename));
                }
                // Readers never miss it for longer than two calls take.
                Holds::Other => match waiting {
                    None => begin.push(upload(&waiting_name)),
                    Some(asset) => begin.extend([delete(present, "it has other bytes"), rename(asset)]),
                },
            },
            (None, Some(asset)) => begin.push(rename(asset)),
            (None, None) => begin.push(upload(&wanted.name)),
        }
        steps.append(&mut begin);
    }
    // What an earlier run with other bytes left waiting.
    for asset in release.assets.iter().filter(|asset| is_left(asset, share)) {
        steps.push(delete(asset, "it was to take a place that another has"));
    }
    // What GitHub stored under another name, in an upload whose answer was lost.
    if release.draft {
        for asset in release.assets.iter().filter(|asset| is_renamed(asset, share) && !is_left(asset, share)) {
            steps.push(match asset.digest {
                Some(_) => delete(asset, "GitHub gave it another name"),
                None => Step::Hash { asset: asset.id, name: asset.name.clone() },
            });
        }
    }
    steps
}

/// Whether an asset has the bytes of a wanted file, as far as GitHub says, under a name that was made from its own.
fn is_renamed(asset: &ListedAsset, share: &Share<'_>) -> bool {
    let plain = |name: &str| name.replace(|letter: char| !letter.is_ascii_alphanumeric(), ".");
    let is_wanted = share.assets.iter().any(|wanted| wanted.name == asset.name || temporary(wanted) == asset.name);
    let same = |wanted: &&&Wanted| {
        asset.digest.is_none_or(|digest| digest == wanted.digest) && asset.size == wanted.size_bytes
    };
    let is_whole = asset.state == AssetState::Uploaded;
    is_whole
        && !is_wanted
        && share.assets.iter().filter(same).any(|wanted| plain(&asset.name).starts_with(&plain(&wanted.name)))
}

/// Whether an asset waits to take the place of a wanted file with bytes that are not wanted any more.
fn is_left(asset: &ListedAsset, share: &Share<'_>) -> bool {
    let Some((name, hex)) = asset.name.rsplit_once(".tmp-") else { return false };
    let is_mark = hex.len() == 12 && hex.bytes().all(|byte| byte.is_ascii_hexdigit());
    let wanted = share.assets.iter().find(|wanted| wanted.name == name);
    is_mark && wanted.is_some_and(|wanted| temporary(wanted) != asset.name)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holds {
    It,
    Other,
    /// GitHub does not say.
    Unknown,
}

/// Whether an asset holds the wanted bytes.
fn holds(asset: &ListedAsset, wanted: &Wanted, allowed: Allowed) -> Holds {
    match asset.digest {
        _ if asset.state != AssetState::Uploaded || asset.size != wanted.size_bytes => Holds::Other,
        Some(digest) if digest == wanted.digest => Holds::It,
        Some(_) => Holds::Other,
        None if allowed.fetch_to_verify => Holds::Unknown,
        None => Holds::It,
    }
}

fn differs(wanted: &Wanted, present: &ListedAsset) -> Refusal {
    let why = if present.size == wanted.size_bytes {
        let found = present.digest.map_or_else(|| "unknown".to_owned(), |digest| digest.to_string());
        format!("{found}, not {}", wanted.digest)
    } else {
        format!("{} bytes, not {}", present.size, wanted.size_bytes)
    };
    Refusal::Differs { name: wanted.name.clone(), why }
}

/// Whether a release's text is not that of the goal, or still has the mark of a draft.
fn is_described_anew(goal: &Goal, release: &ListedRelease) -> bool {
    let present = release.body.as_deref().unwrap_or_default();
    match &goal.body {
        Some(body) if release.tag_name == goal.tag => plain(body) != plain(present),
        _ => present.contains(DRAFT),
    }
}

/// A text as GitHub gives it back: line ends are those of the form it was written in.
fn plain(text: &str) -> String {
    text.replace("\r\n", "\n").trim().to_owned()
}
