//! Tests against releases in memory.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    DesiredRelease, MakeLatest, ObservedOverlay, PublishPolicy, PublishStep, Reconciliation,
    ReleaseDescription, ReleaseRefusal, partition_assets, reconcile, standing,
};
use crate::{AssetState, DesiredFile, ListedAsset, ListedRelease};
use rock_names::Digest;

mod convergence;
mod drafts;
mod duplicates;
mod overlay;
mod parts;
mod published;
mod replacement;

fn desired_file(name: &str, byte: u8) -> DesiredFile {
    DesiredFile {
        name: name.to_owned(),
        digest: Digest::new([byte; 32]),
        size_bytes: 7,
        generated: name == "SHA256SUMS",
    }
}

fn desired(names: &[&str]) -> DesiredRelease {
    DesiredRelease {
        tag: "v1".to_owned(),
        title: None,
        body: Some("notes".to_owned()),
        target: None,
        prerelease: false,
        make_latest: MakeLatest::Legacy,
        assets: names.iter().map(|name| desired_file(name, 1)).collect(),
        stays_draft: false,
        nonce: "abc".to_owned(),
        most_assets: 1000,
    }
}

/// Returns the names of `count` wheels.
fn numbered(count: usize) -> Vec<String> {
    (0..count).map(|at| format!("{at:04}.whl")).collect()
}

fn as_strs(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

fn asset(id: u64, name: &str, byte: u8) -> ListedAsset {
    let digest = Some(Digest::new([byte; 32]));
    ListedAsset {
        id,
        name: name.to_owned(),
        size: 7,
        digest,
        ..ListedAsset::default()
    }
}

fn release(id: u64, draft: bool, assets: Vec<ListedAsset>) -> ListedRelease {
    let body = Some("notes".to_owned());
    ListedRelease {
        id,
        tag_name: "v1".to_owned(),
        draft,
        assets,
        body,
        ..ListedRelease::default()
    }
}

/// Returns a draft with the mark of a run.
fn marked_draft(desired: &DesiredRelease, id: u64, assets: Vec<ListedAsset>) -> ListedRelease {
    ListedRelease {
        body: desired.draft("v1").body,
        ..release(id, true, assets)
    }
}

/// Releases that steps change like GitHub does.
struct Releases {
    releases: Vec<ListedRelease>,
    last: u64,
}

impl Releases {
    fn of(releases: Vec<ListedRelease>) -> Self {
        Self {
            releases,
            last: 1000,
        }
    }

    fn draft(assets: Vec<ListedAsset>) -> Self {
        Self::of(vec![release(1, true, assets)])
    }

    fn published(assets: Vec<ListedAsset>) -> Self {
        Self::of(vec![release(1, false, assets)])
    }

    fn asset(&mut self, id: u64) -> &mut ListedAsset {
        self.releases
            .iter_mut()
            .flat_map(|release| &mut release.assets)
            .find(|asset| asset.id == id)
            .unwrap()
    }

    fn release(&mut self, id: u64) -> &mut ListedRelease {
        self.releases
            .iter_mut()
            .find(|release| release.id == id)
            .unwrap()
    }

    fn apply(&mut self, step: &PublishStep, desired: &DesiredRelease) {
        self.last += 1;
        match step {
            PublishStep::Create { tag } => self.releases.push(ListedRelease {
                id: self.last,
                tag_name: tag.clone(),
                draft: true,
                body: desired.draft(tag).body,
                name: desired.draft(tag).title,
                prerelease: desired.prerelease,
                target_commitish: desired.target.clone(),
                ..ListedRelease::default()
            }),
            PublishStep::DeleteRelease { release, .. } => {
                self.releases.retain(|found| found.id != *release);
            }
            PublishStep::DeleteAsset { asset, .. } => {
                self.releases
                    .iter_mut()
                    .for_each(|release| release.assets.retain(|found| found.id != *asset));
            }
            PublishStep::Upload {
                release,
                name,
                as_name,
            } => {
                let file = desired
                    .assets
                    .iter()
                    .find(|file| file.name == *name)
                    .unwrap();
                let made = ListedAsset {
                    digest: Some(file.digest),
                    ..asset(self.last, as_name, 0)
                };
                assert!(
                    self.release(*release)
                        .assets
                        .iter()
                        .all(|found| found.name != *as_name),
                    "taken: {as_name}"
                );
                self.release(*release).assets.push(made);
            }
            PublishStep::Rename { asset, to, .. } => self.asset(*asset).name.clone_from(to),
            PublishStep::Hash { asset, .. } => {
                self.asset(*asset).digest = Some(Digest::new([1; 32]));
            }
            PublishStep::Describe {
                release, changes, ..
            } => describe(self.release(*release), changes),
            PublishStep::Publish {
                release, changes, ..
            } => {
                let release = self.release(*release);
                describe(release, changes);
                for file in &desired.assets {
                    let holds = release.assets.iter().any(|asset| asset.name == file.name);
                    assert!(
                        holds || desired.assets.len() > 900,
                        "published without {}",
                        file.name
                    );
                }
                release.draft = false;
            }
        }
    }

    /// Applies all steps, and returns a description of each.
    fn reach(
        &mut self,
        desired: &DesiredRelease,
        policy: PublishPolicy,
    ) -> Result<Vec<String>, Vec<ReleaseRefusal>> {
        let mut words = Vec::new();
        for _ in 0..20 {
            match reconcile(desired, policy, &self.releases) {
                Reconciliation::Done(_) => return Ok(words),
                Reconciliation::Refused(refused) => return Err(refused),
                Reconciliation::Steps(steps) => {
                    for step in &steps {
                        self.apply(step, desired);
                        words.push(word(step));
                    }
                }
            }
        }
        panic!("it does not end: {words:?}");
    }

    /// Applies all steps, and returns their descriptions in one line.
    fn steps(&mut self, desired: &DesiredRelease, policy: PublishPolicy) -> String {
        self.reach(desired, policy).unwrap().join("; ")
    }

    fn names(&self) -> Vec<&str> {
        self.releases
            .iter()
            .flat_map(|release| &release.assets)
            .map(|asset| asset.name.as_str())
            .collect()
    }
}

fn describe(release: &mut ListedRelease, changes: &ReleaseDescription) {
    release.body = changes.body.clone().or(release.body.take());
    release.name = changes.title.clone().or(release.name.take());
    release.prerelease = changes.prerelease.unwrap_or(release.prerelease);
    release.target_commitish = changes.target.clone().or(release.target_commitish.take());
}

fn word(step: &PublishStep) -> String {
    match step {
        PublishStep::Create { tag } => format!("create {tag}"),
        PublishStep::DeleteRelease { release, .. } => format!("delete release {release}"),
        PublishStep::DeleteAsset { name, .. } => format!("delete {name}"),
        PublishStep::Upload { as_name, .. } => format!("upload {as_name}"),
        PublishStep::Rename { from, to, .. } => format!("rename {from} {to}"),
        PublishStep::Hash { name, .. } => format!("hash {name}"),
        PublishStep::Describe { tag, .. } => format!("describe {tag}"),
        PublishStep::Publish {
            tag, make_latest, ..
        } => format!("publish {tag} {}", make_latest.as_str()),
    }
}

const NOTHING: PublishPolicy = PublishPolicy {
    replace: false,
    published: false,
    clean_duplicates: false,
    fetch_to_verify: false,
};

/// Permits changes of published releases.
const CHANGE_PUBLISHED: PublishPolicy = PublishPolicy {
    published: true,
    ..NOTHING
};

/// Permits changes of published releases and their files.
const REPLACE_PUBLISHED: PublishPolicy = PublishPolicy {
    replace: true,
    ..CHANGE_PUBLISHED
};
