//! Assigns files to releases.

use std::collections::{BTreeMap, BTreeSet};

use super::super::{DesiredFile, ListedRelease};
use super::DesiredRelease;
use super::asset_diff::temporary;

/// Assets that filling a release leaves room for: generated files, and new versions that are
/// uploaded before the old ones are deleted. A release without room could never be changed again.
const KEPT_FREE: usize = 10;

/// The files of one release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleasePart<'g> {
    pub tag: String,
    pub assets: Vec<&'g DesiredFile>,
}

/// Assigns the desired files to `tag`, `tag-2`, …. A file stays in the release that has it; other
/// files go to the first release with room, in order. Generated files go to the first release. Tags
/// in `foreign` are skipped.
pub fn partition_assets<'g>(
    desired: &'g DesiredRelease,
    observed: &[&ListedRelease],
    foreign: &BTreeSet<&str>,
) -> Vec<ReleasePart<'g>> {
    let filled = desired.most_assets.saturating_sub(KEPT_FREE);
    let mut tags = (0..)
        .map(|at| nth_tag(&desired.tag, at))
        .filter(|tag| *tag == desired.tag || !foreign.contains(&**tag));
    let own: BTreeMap<String, &DesiredFile> = desired
        .assets
        .iter()
        .flat_map(|file| [(file.name.clone(), file), (temporary(file), file)])
        .collect();
    let mut parts: Vec<ReleasePart<'g>> = Vec::new();
    // Assets of others stay and take up room.
    let mut taken: Vec<usize> = Vec::new();
    let mut placed = BTreeSet::new();
    let mut tag = tags.next().unwrap_or_default();
    // Existing releases, in order, up to the first gap.
    while let Some(release) = observed.iter().find(|release| release.tag_name == tag) {
        let mut part = ReleasePart {
            tag: release.tag_name.clone(),
            assets: Vec::new(),
        };
        let mut foreign_assets = 0;
        for asset in &release.assets {
            match own.get(&asset.name) {
                Some(file) if file.generated => {}
                Some(file) => {
                    if placed.insert(&file.name) {
                        part.assets.push(file);
                    } else if !part.assets.iter().any(|own| own.name == file.name) {
                        // An earlier release has it as well, but it takes up room here.
                        foreign_assets += 1;
                    }
                }
                None => foreign_assets += 1,
            }
        }
        taken.push(foreign_assets + part.assets.len());
        parts.push(part);
        tag = tags.next().unwrap_or_default();
    }
    let generated = desired.assets.iter().filter(|file| file.generated);
    let others = desired
        .assets
        .iter()
        .filter(|file| !file.generated && !placed.contains(&file.name));
    for file in others.chain(generated) {
        let at = if file.generated {
            0
        } else {
            taken
                .iter()
                .position(|n| *n < filled)
                .unwrap_or(taken.len())
        };
        if at == parts.len() {
            parts.push(ReleasePart {
                tag: std::mem::replace(&mut tag, tags.next().unwrap_or_default()),
                assets: Vec::new(),
            });
            taken.push(0);
        }
        parts[at].assets.push(file);
        taken[at] += 1;
    }
    parts.retain(|part| !part.assets.is_empty());
    parts
}

/// Returns `tag`, `tag-2`, `tag-3`, ….
fn nth_tag(tag: &str, at: usize) -> String {
    if at == 0 {
        tag.to_owned()
    } else {
        format!("{tag}-{}", at + 1)
    }
}
