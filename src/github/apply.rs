//! The steps of a publish, one after the other, until nothing is left to do.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::client::{Client, Upload};
use super::error::GithubError;
use super::upload::Source;
use crate::publish::remote::{Allowed, Description, Goal, Memory, Next, Refusal, Step, next};
use crate::publish::{AssetState, ListedRelease, Wanted};

/// How often one asset is sent, and one draft made, at most.
const MOST_TRIES: u32 = 6;

/// Told of each piece of a file that is sent: the file, and how many bytes.
pub type OnSent = dyn Fn(&str, u64) + Send + Sync;

/// What a publish needs beside its goal.
pub struct Doing<'d> {
    /// Opens a wanted file.
    pub open: &'d dyn Fn(&str) -> std::io::Result<Source>,
    /// Told before each step.
    pub on_step: &'d mut dyn FnMut(&Step),
    /// Told of each piece of a file that is sent: the file, and how many bytes.
    pub on_sent: Arc<OnSent>,
    /// How many files are sent at once.
    pub at_once: usize,
}

/// What came of it.
#[derive(Debug)]
pub struct Applied {
    /// The releases as they were last seen.
    pub releases: Vec<ListedRelease>,
    /// How many steps were taken.
    pub steps: usize,
    /// How it ended.
    pub end: End,
}

/// How a publish ended.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// Every wanted file is there, and everybody sees it. The numbers of the releases, the first first.
    Done(Vec<u64>),
    /// Nothing may be written.
    Refused(Vec<Refusal>),
    /// A call failed, and the next would as well.
    Failed(GithubError),
    /// Some files could not be sent: name and reason. Nothing was published.
    Incomplete(BTreeMap<String, GithubError>),
}

/// Publishes. `listed` are the releases of the goal's tags, with their assets, as they were just seen.
pub fn apply(
    client: &Client,
    goal: &Goal,
    allowed: Allowed,
    listed: Vec<ListedRelease>,
    doing: &mut Doing<'_>,
) -> Applied {
    let mut run = Run {
        client,
        goal,
        listed,
        memory: Memory::default(),
        tries: BTreeMap::new(),
        failed: BTreeMap::new(),
        steps: 0,
        doing,
    };
    let end = run.go(allowed).unwrap_or_else(End::Failed);
    Applied { releases: run.memory.over(&run.listed), steps: run.steps, end }
}

struct Run<'r, 'd> {
    client: &'r Client,
    goal: &'r Goal,
    listed: Vec<ListedRelease>,
    memory: Memory,
    /// Of each thing that was tried and of which it is not known what came: how often.
    tries: BTreeMap<String, u32>,
    failed: BTreeMap<String, GithubError>,
    steps: usize,
    doing: &'r mut Doing<'d>,
}

impl Run<'_, '_> {
    fn go(&mut self, allowed: Allowed) -> Result<End, GithubError> {
        // Whether the listing is younger than the last change to a file.
        let mut is_fresh = true;
        loop {
            self.client.glance()?;
            let seen = self.memory.over(&self.listed);
            let mut steps = match next(self.goal, allowed, &seen) {
                Next::Done(releases) => return Ok(End::Done(releases)),
                Next::Refused(refused) => return Ok(End::Refused(refused)),
                Next::Steps(steps) => steps,
            };
            let is_last = |step: &Step| matches!(step, Step::Describe { .. } | Step::Publish { .. });
            if steps.iter().all(is_last) && !is_fresh {
                self.look()?;
                is_fresh = true;
                continue;
            }
            let upload_names = |step: &Step| match step {
                Step::Upload { name, .. } => Some(name.clone()),
                _ => None,
            };
            steps.retain(|step| upload_names(step).is_none_or(|name| !self.failed.contains_key(&name)));
            if steps.is_empty() {
                return Ok(End::Incomplete(std::mem::take(&mut self.failed)));
            }
            is_fresh &= steps.iter().all(is_last);
            self.take(steps, &seen)?;
        }
    }

    /// Takes steps, until one leaves open what it did.
    fn take(&mut self, steps: Vec<Step>, seen: &[ListedRelease]) -> Result<(), GithubError> {
        let mut uploads = Vec::new();
        // What must go before a file comes is no upload and is done first; what waits for a file comes the next time.
        for step in steps {
            self.client.glance()?;
            if let Step::Upload { .. } = step {
                uploads.push(step);
                continue;
            }
            (self.doing.on_step)(&step);
            self.steps += 1;
            match (self.one(&step), &step) {
                (Ok(()), _) => {}
                (Err(error @ GithubError::Unsure { .. }), Step::Create { tag }) => return self.find_draft(tag, error),
                (Err(error), _) => return self.unsure(format!("{step:?}"), error),
            }
        }
        self.upload(uploads, seen)
    }

    fn one(&mut self, step: &Step) -> Result<(), GithubError> {
        match step {
            Step::Create { tag } => {
                let made = self.client.create(tag, &self.goal.draft(tag))?;
                self.memory.has_release(&made);
            }
            Step::DeleteRelease { release } => {
                self.client.delete_release(*release)?;
                self.memory.release_is_gone(*release);
            }
            Step::DeleteAsset { asset, .. } => {
                self.client.delete_asset(*asset)?;
                self.memory.asset_is_gone(*asset);
            }
            Step::Rename { asset, from, to } => {
                let renamed = self.client.rename(*asset, to)?;
                if renamed.name != *to {
                    return Err(GithubError::Stored { wanted: to.clone(), found: renamed.name });
                }
                if let Some(release) = self.release_of(*asset, from) {
                    self.memory.has_asset(release, &renamed);
                }
            }
            Step::Hash { asset, .. } => match self.client.hash(*asset) {
                Ok(digest) => self.memory.has_hash(*asset, digest),
                Err(GithubError::Status { status: 404, .. }) => self.memory.asset_is_lost(*asset),
                Err(error) => return Err(error),
            },
            Step::Describe { release, lacks, .. } => {
                let described = self.client.update(*release, &fields(lacks))?;
                self.memory.has_release(&described);
            }
            Step::Publish { release, make_latest, .. } => {
                let fields = json!({ "draft": false, "make_latest": make_latest.as_str() });
                let published = self.client.update(*release, &fields)?;
                self.memory.has_release(&published);
            }
            Step::Upload { .. } => {}
        }
        Ok(())
    }

    fn upload(&mut self, steps: Vec<Step>, seen: &[ListedRelease]) -> Result<(), GithubError> {
        let mut sent = Vec::new();
        let mut uploads = Vec::new();
        for step in steps {
            (self.doing.on_step)(&step);
            let Step::Upload { release, name, as_name } = step else { continue };
            let Some(wanted) = self.goal.assets.iter().find(|wanted| wanted.name == name) else { continue };
            let to = seen.iter().find(|found| found.id == release).and_then(|found| found.upload_url.clone());
            let source = match (self.doing.open)(&name) {
                Ok(source) => source,
                Err(error) => {
                    let reason = error.to_string();
                    self.failed.insert(name.clone(), GithubError::File { path: name, reason });
                    continue;
                }
            };
            let (on_sent, shown) = (Arc::clone(&self.doing.on_sent), name.clone());
            uploads.push(Upload {
                to: to.unwrap_or_default(),
                name: as_name.clone(),
                source,
                size_bytes: wanted.size_bytes,
                digest: wanted.digest,
                on_sent: Box::new(move |bytes| on_sent(&shown, bytes)),
            });
            sent.push((release, wanted, as_name));
            self.steps += 1;
        }
        let results = self.client.upload(uploads, self.doing.at_once);
        let mut open = None;
        for ((release, wanted, as_name), result) in sent.into_iter().zip(results) {
            match result.and_then(|asset| self.checked(asset, wanted, &as_name)) {
                Ok(asset) => self.memory.has_asset(release, &asset),
                Err(error @ GithubError::Unsure { .. }) => open = Some((as_name, error)),
                Err(error) if exists_already(&error) => open = Some((as_name, error)),
                Err(error) if error.is_final() => return Err(error),
                Err(error) => drop(self.failed.insert(wanted.name.clone(), error)),
            }
        }
        match open {
            Some((name, error)) => self.unsure(name, error),
            None => Ok(()),
        }
    }

    /// An asset as it was sent; another is deleted.
    fn checked(
        &self,
        asset: crate::publish::ListedAsset,
        wanted: &Wanted,
        as_name: &str,
    ) -> Result<crate::publish::ListedAsset, GithubError> {
        let has_digest = asset.digest.is_none_or(|digest| digest == wanted.digest);
        let is_whole = asset.state == AssetState::Uploaded && asset.size == wanted.size_bytes && has_digest;
        if asset.name == as_name && is_whole {
            return Ok(asset);
        }
        self.client.delete_asset(asset.id)?;
        let found = if asset.name == as_name {
            format!("{} bytes, {}", asset.size, asset.digest.map_or_else(|| "no digest".to_owned(), |d| d.to_string()))
        } else {
            asset.name
        };
        Err(GithubError::Stored { wanted: as_name.to_owned(), found })
    }

    /// After a call of unknown outcome: wait, and look at what is there.
    fn unsure(&mut self, what: String, error: GithubError) -> Result<(), GithubError> {
        let error = match error {
            GithubError::Unsure { .. } => error,
            error if exists_already(&error) => {
                GithubError::Unsure { call: what.clone(), reason: "the name is taken".to_owned() }
            }
            GithubError::Status { status: 404, call, .. } => {
                GithubError::Unsure { call, reason: "it is not there any more".to_owned() }
            }
            error => return Err(error),
        };
        let tries = self.tries.entry(what).or_default();
        *tries += 1;
        if *tries >= MOST_TRIES {
            return Err(error);
        }
        let tries = *tries;
        self.client.pause(error, tries)?;
        self.look_at_all()
    }

    /// Looks for the draft that a call of unknown outcome may have made. A listing may lag behind, and a second draft
    /// of one tag is worse than waiting.
    fn find_draft(&mut self, tag: &str, error: GithubError) -> Result<(), GithubError> {
        let tries = self.tries.entry(format!("create {tag}")).or_default();
        *tries += 1;
        if *tries >= MOST_TRIES {
            return Err(error);
        }
        for wait_s in [2, 4, 8, 16] {
            self.client.wait(&error, Duration::from_secs(wait_s))?;
            self.look_at_all()?;
            let is_made = |release: &ListedRelease| {
                release.tag_name == tag
                    && release.body.as_deref().is_some_and(|b| b.contains(&self.goal.mark_of_draft()))
            };
            if self.listed.iter().any(is_made) {
                break;
            }
        }
        Ok(())
    }

    /// Looks again at the assets of the goal's releases, until the listing has all that answers told of.
    fn look(&mut self) -> Result<(), GithubError> {
        let seen = self.memory.over(&self.listed);
        self.listed = seen;
        for at in 0..self.listed.len() {
            for tries in 1.. {
                self.listed[at].assets = self.client.assets(self.listed[at].id)?;
                let missing = self.memory.missing_in(&self.listed[at]);
                if missing.is_empty() {
                    break;
                }
                if tries >= MOST_TRIES {
                    // It does not come: someone deleted it.
                    for asset in missing {
                        self.memory.asset_is_gone(asset);
                    }
                    break;
                }
                let call = format!("GET assets of {}", self.listed[at].tag_name);
                let reason = format!("{} that were sent are not listed yet", missing.len());
                self.client.wait(&GithubError::Unsure { call, reason }, Duration::from_secs(1 << tries))?;
            }
        }
        Ok(())
    }

    /// Looks again at all releases.
    fn look_at_all(&mut self) -> Result<(), GithubError> {
        self.listed = of_goal(self.client, self.goal)?;
        Ok(())
    }

    /// The release that holds an asset.
    fn release_of(&self, asset: u64, name: &str) -> Option<u64> {
        let seen = self.memory.over(&self.listed);
        let holds = |release: &&ListedRelease| release.assets.iter().any(|a| a.id == asset && a.name == name);
        seen.iter().find(holds).map(|release| release.id)
    }
}

/// The releases of a goal's tags with all their assets; others without.
///
/// # Errors
/// When they cannot be read.
pub fn of_goal(client: &Client, goal: &Goal) -> Result<Vec<ListedRelease>, GithubError> {
    let mut releases = client.releases()?;
    for release in &mut releases {
        release.assets = if goal.has(release) { client.assets(release.id)? } else { Vec::new() };
    }
    Ok(releases)
}

/// Whether a name is taken (REST API version 2022-11-28, "Upload a release asset").
fn exists_already(error: &GithubError) -> bool {
    matches!(error, GithubError::Status { status: 422, codes, .. } if codes.iter().any(|code| code == "already_exists"))
}

/// What is said of a release, as the API names it (REST API version 2022-11-28, "Update a release").
pub(super) fn fields(description: &Description) -> serde_json::Value {
    let Description { title, body, prerelease, target } = description;
    let mut fields = serde_json::Map::new();
    let texts = [("name", title), ("body", body), ("target_commitish", target)];
    for (name, text) in texts {
        fields.extend(text.iter().map(|text| (name.to_owned(), json!(text))));
    }
    fields.extend(prerelease.iter().map(|is| ("prerelease".to_owned(), json!(is))));
    fields.into()
}
