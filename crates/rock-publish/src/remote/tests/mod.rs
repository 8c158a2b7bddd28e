//! Tests against releases in memory.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Allowed, Description, Goal, MakeLatest, Memory, Next, Refusal, Step, next, spread, standing,
};
use crate::{AssetState, ListedAsset, ListedRelease, Wanted};
use rock_names::Digest;

mod convergence;
mod drafts;
mod duplicates;
mod overlay;
mod parts;
mod published;
mod replacement;

fn wanted(name: &str, byte: u8) -> Wanted {
    Wanted {
        name: name.to_owned(),
        digest: Digest::new([byte; 32]),
        size_bytes: 7,
        generated: name == "SHA256SUMS",
    }
}

fn goal(names: &[&str]) -> Goal {
    Goal {
        tag: "v1".to_owned(),
        title: None,
        body: Some("notes".to_owned()),
        target: None,
        prerelease: false,
        make_latest: MakeLatest::Legacy,
        assets: names.iter().map(|name| wanted(name, 1)).collect(),
        stays_draft: false,
        nonce: "abc".to_owned(),
        most_assets: 1000,
    }
}

/// Returns the names of this many wheels.
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
fn marked_draft(goal: &Goal, id: u64, assets: Vec<ListedAsset>) -> ListedRelease {
    ListedRelease {
        body: goal.draft("v1").body,
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

    fn apply(&mut self, step: &Step, goal: &Goal) {
        self.last += 1;
        match step {
            Step::Create { tag } => self.releases.push(ListedRelease {
                id: self.last,
                tag_name: tag.clone(),
                draft: true,
                body: goal.draft(tag).body,
                name: goal.draft(tag).title,
                prerelease: goal.prerelease,
                target_commitish: goal.target.clone(),
                ..ListedRelease::default()
            }),
            Step::DeleteRelease { release } => self.releases.retain(|found| found.id != *release),
            Step::DeleteAsset { asset, .. } => {
                self.releases
                    .iter_mut()
                    .for_each(|release| release.assets.retain(|found| found.id != *asset));
            }
            Step::Upload {
                release,
                name,
                as_name,
            } => {
                let wanted = goal
                    .assets
                    .iter()
                    .find(|wanted| wanted.name == *name)
                    .unwrap();
                let made = ListedAsset {
                    digest: Some(wanted.digest),
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
            Step::Rename { asset, to, .. } => self.asset(*asset).name.clone_from(to),
            Step::Hash { asset, .. } => self.asset(*asset).digest = Some(Digest::new([1; 32])),
            Step::Describe { release, lacks, .. } => describe(self.release(*release), lacks),
            Step::Publish { release, lacks, .. } => {
                let release = self.release(*release);
                describe(release, lacks);
                for wanted in &goal.assets {
                    let holds = release.assets.iter().any(|asset| asset.name == wanted.name);
                    assert!(
                        holds || goal.assets.len() > 900,
                        "published without {}",
                        wanted.name
                    );
                }
                release.draft = false;
            }
        }
    }

    /// Applies all steps, and returns a description of each.
    fn reach(&mut self, goal: &Goal, allowed: Allowed) -> Result<Vec<String>, Vec<Refusal>> {
        let mut words = Vec::new();
        for _ in 0..20 {
            match next(goal, allowed, &self.releases) {
                Next::Done(_) => return Ok(words),
                Next::Refused(refused) => return Err(refused),
                Next::Steps(steps) => {
                    for step in &steps {
                        self.apply(step, goal);
                        words.push(word(step));
                    }
                }
            }
        }
        panic!("it does not end: {words:?}");
    }

    /// Applies all steps, and returns their descriptions in one line.
    fn steps(&mut self, goal: &Goal, allowed: Allowed) -> String {
        self.reach(goal, allowed).unwrap().join("; ")
    }

    fn names(&self) -> Vec<&str> {
        self.releases
            .iter()
            .flat_map(|release| &release.assets)
            .map(|asset| asset.name.as_str())
            .collect()
    }
}

fn describe(release: &mut ListedRelease, lacks: &Description) {
    release.body = lacks.body.clone().or(release.body.take());
    release.name = lacks.title.clone().or(release.name.take());
    release.prerelease = lacks.prerelease.unwrap_or(release.prerelease);
    release.target_commitish = lacks.target.clone().or(release.target_commitish.take());
}

fn word(step: &Step) -> String {
    match step {
        Step::Create { tag } => format!("create {tag}"),
        Step::DeleteRelease { release } => format!("delete release {release}"),
        Step::DeleteAsset { name, .. } => format!("delete {name}"),
        Step::Upload { as_name, .. } => format!("upload {as_name}"),
        Step::Rename { from, to, .. } => format!("rename {from} {to}"),
        Step::Hash { name, .. } => format!("hash {name}"),
        Step::Describe { tag, .. } => format!("describe {tag}"),
        Step::Publish {
            tag, make_latest, ..
        } => format!("publish {tag} {}", make_latest.as_str()),
    }
}

const NOTHING: Allowed = Allowed {
    replace: false,
    published: false,
    clean_duplicates: false,
    fetch_to_verify: false,
};

/// Permits changes of published releases.
const CHANGE_PUBLISHED: Allowed = Allowed {
    published: true,
    ..NOTHING
};

/// Permits changes of published releases and their files.
const REPLACE_PUBLISHED: Allowed = Allowed {
    replace: true,
    ..CHANGE_PUBLISHED
};
