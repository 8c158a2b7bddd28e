//! Executes publish steps until the desired state is reached.
//!
//! The tests of whole runs are in the workspace, with a fake GitHub instead of the network
//! (`tests/it/support/play.rs`): `tests/it/publish_calls.rs`, `publish_contradictions.rs`,
//! `publish_ends_under_way.rs`, `publish_two_at_once.rs` and `publish_waits.rs`, and for random
//! faults and kills `tests/proofs/publish_survives_faults.rs` and `publish_survives_kills.rs`.

mod observe;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;

use super::client::{PendingUpload, ReleaseClient};
use super::error::GithubError;
use super::upload::UploadSource;
use rock_names::Digest;
use rock_publish::remote::{
    DeleteReason, DesiredRelease, ObservedOverlay, PublishPolicy, PublishStep, Reconciliation,
    ReleaseDescription, ReleaseRefusal, StepKey, reconcile,
};
use rock_publish::{AssetState, DesiredFile, ListedAsset, ListedRelease};

pub use observe::observe_releases;

/// A callback for each uploaded chunk, with the filename and the number of bytes.
pub type OnSent = dyn Fn(&str, u64) + Send + Sync;

/// The callbacks and settings of a publish run.
pub struct PublishCallbacks<'d> {
    /// Opens a file when its upload starts.
    pub open: &'d dyn Fn(&str) -> std::io::Result<UploadSource>,
    /// Called before each step.
    pub on_step: &'d mut dyn FnMut(&PublishStep),
    /// Called for each uploaded chunk, with the filename and the number of bytes.
    pub on_sent: Arc<OnSent>,
    /// The number of parallel uploads.
    pub at_once: usize,
}

/// The result of a publish run, with the observed state.
#[derive(Debug)]
pub struct PublishRun {
    /// The releases as last observed.
    pub releases: Vec<ListedRelease>,
    /// The number of executed steps that change something.
    pub steps: usize,
    /// Steps in flight when the run ended; their outcome is unknown.
    pub open: Vec<PublishStep>,
    /// The result.
    pub end: PublishResult,
}

/// The result of a publish run.
#[derive(Debug, PartialEq, Eq)]
pub enum PublishResult {
    /// Every desired file is uploaded and public. Contains the IDs of the releases in order.
    Done(Vec<u64>),
    /// The publish policy does not allow the changes.
    Refused(Vec<ReleaseRefusal>),
    /// A request failed, and any other would as well.
    Failed(GithubError),
    /// Some files could not be uploaded: name and error. Nothing was made public.
    Incomplete(BTreeMap<String, GithubError>),
}

/// Publishes the desired release. `listed` are the current releases of its tags, with their assets.
pub fn apply(
    client: &ReleaseClient,
    desired: &DesiredRelease,
    policy: PublishPolicy,
    listed: Vec<ListedRelease>,
    callbacks: &mut PublishCallbacks<'_>,
) -> PublishRun {
    let mut run = StepRunner {
        client,
        desired,
        listed,
        overlay: ObservedOverlay::default(),
        tries: BTreeMap::new(),
        made: BTreeMap::new(),
        failed: BTreeMap::new(),
        replaced: BTreeMap::new(),
        steps: 0,
        open: Vec::new(),
        callbacks,
    };
    let end = run
        .run_until_settled(policy)
        .unwrap_or_else(|error| PublishResult::Failed(error.cause()));
    PublishRun {
        releases: run.overlay.over(&run.listed),
        steps: run.steps,
        open: run.open,
        end,
    }
}

struct StepRunner<'r, 'd> {
    client: &'r ReleaseClient,
    desired: &'r DesiredRelease,
    listed: Vec<ListedRelease>,
    overlay: ObservedOverlay,
    /// The number of attempts of each step with an unknown outcome.
    tries: BTreeMap<StepKey, u32>,
    /// The number of drafts that were created, by tag.
    made: BTreeMap<String, u32>,
    failed: BTreeMap<String, GithubError>,
    /// The IDs of assets that were deleted because their bytes differed, by name.
    replaced: BTreeMap<String, u64>,
    steps: usize,
    /// Steps whose outcome is unknown.
    open: Vec<PublishStep>,
    callbacks: &'r mut PublishCallbacks<'d>,
}

impl StepRunner<'_, '_> {
    /// Reconciles and executes steps until nothing is left to do, or until no more can be done.
    fn run_until_settled(&mut self, policy: PublishPolicy) -> Result<PublishResult, GithubError> {
        // Whether the listing is newer than the last change to a file.
        let mut is_fresh = false;
        loop {
            self.client.check_stop()?;
            let observed = self.overlay.over(&self.listed);
            let next = reconcile(self.desired, policy, &observed);
            // List the releases again before anything is made public and before a published file is
            // replaced: the listing may lack a draft of another run, or differ from the response to
            // an upload.
            let is_decisive = match &next {
                Reconciliation::Done(_) => self.overlay.has_assets(),
                Reconciliation::Steps(steps) => {
                    (steps.iter().all(PublishStep::is_of_metadata)
                        && steps.iter().any(PublishStep::is_publication))
                        || steps.iter().any(PublishStep::is_rename)
                }
                Reconciliation::Refused(_) => false,
            };
            if is_decisive && !is_fresh {
                self.relist_until_consistent()?;
                is_fresh = true;
                continue;
            }
            let mut steps = match next {
                Reconciliation::Done(releases) => return Ok(PublishResult::Done(releases)),
                Reconciliation::Refused(refused) => return Ok(PublishResult::Refused(refused)),
                Reconciliation::Steps(steps) => steps,
            };
            let upload_names = |step: &PublishStep| match step {
                PublishStep::Upload { name, .. } => Some(name.clone()),
                _ => None,
            };
            steps.retain(|step| {
                upload_names(step).is_none_or(|name| !self.failed.contains_key(&name))
            });
            if steps.is_empty() {
                return Ok(PublishResult::Incomplete(std::mem::take(&mut self.failed)));
            }
            is_fresh &= steps.iter().all(PublishStep::is_of_metadata);
            self.run_steps(steps, &observed)?;
        }
    }

    /// Executes steps until the outcome of one is unknown.
    fn run_steps(
        &mut self,
        steps: Vec<PublishStep>,
        observed: &[ListedRelease],
    ) -> Result<(), GithubError> {
        let mut uploads = Vec::new();
        let mut is_made = false;
        // Deletions and other steps that must precede an upload run first. Steps that depend on an
        // upload are part of the next reconciliation.
        for step in steps {
            self.client.check_stop()?;
            if let PublishStep::Upload { .. } = step {
                uploads.push(step);
                continue;
            }
            (self.callbacks.on_step)(&step);
            self.steps += usize::from(step.is_write());
            let done = self.run_step(&step);
            if done.as_ref().is_err_and(GithubError::leaves_open) && step.is_write() {
                self.open.push(step.clone());
            }
            match (done, &step) {
                (Ok(()), PublishStep::Create { .. }) => is_made = true,
                (Ok(()), _) => {}
                (Err(error @ GithubError::UnknownOutcome { .. }), PublishStep::Create { tag }) => {
                    return self.find_draft(tag, error);
                }
                // The token cannot see such a repository, so a retry would not help.
                (Err(error), PublishStep::Create { .. }) => return Err(error),
                (
                    Err(error @ GithubError::Status { status: 404, .. }),
                    PublishStep::Describe { release, .. } | PublishStep::Publish { release, .. },
                ) if self.was_deleted(*release, &error)? => return Ok(()),
                (Err(error), _) => {
                    return self.retry_after_unknown_outcome(vec![(step.key(), error)]);
                }
            }
        }
        if is_made {
            // A listing with this draft also has all drafts that were created before it.
            return self.relist_until_consistent();
        }
        self.upload(&uploads, observed)
    }

    fn run_step(&mut self, step: &PublishStep) -> Result<(), GithubError> {
        match step {
            PublishStep::Create { tag } => {
                self.check_draft_limit(tag)?;
                let made = self.client.create(tag, &self.desired.draft(tag))?;
                *self.made.entry(tag.clone()).or_default() += 1;
                self.overlay.has_release(&made);
            }
            PublishStep::DeleteRelease { release } => {
                self.client.delete_release(*release)?;
                self.overlay.release_is_gone(*release);
            }
            PublishStep::DeleteAsset { asset, name, why } => {
                if *why == DeleteReason::DifferentContent {
                    let before = self.replaced.insert(name.clone(), *asset);
                    if before.is_some_and(|before| before != *asset) {
                        return Err(GithubError::ReplacedAgain { name: name.clone() });
                    }
                }
                self.client.delete_asset(*asset)?;
                self.overlay.asset_is_gone(*asset);
            }
            PublishStep::Rename { asset, from, to } => {
                let renamed = self.client.rename(*asset, to)?;
                if renamed.name != *to {
                    return Err(GithubError::StoredUnderOtherName {
                        wanted: to.clone(),
                        found: renamed.name,
                    });
                }
                if let Some(release) = self.release_of(*asset, from) {
                    self.overlay.has_asset(release, &renamed);
                }
            }
            PublishStep::Hash { asset, name } => match self.client.hash(*asset) {
                Ok((digest, came)) => {
                    let listed = self
                        .release_of(*asset, name)
                        .and_then(|release| self.size_of(release, *asset));
                    // A proxy may have responded instead of the storage.
                    if let Some(listed) = listed.filter(|listed| *listed != came) {
                        let call = format!("GET releases/assets/{asset}");
                        let reason =
                            format!("`{name}` has {listed} bytes, but {came} were received");
                        return Err(GithubError::UnknownOutcome { call, reason });
                    }
                    self.overlay.has_hash(*asset, digest);
                }
                Err(GithubError::Status { status: 404, .. }) => self.overlay.asset_is_lost(*asset),
                Err(error) => return Err(error),
            },
            PublishStep::Describe {
                release, changes, ..
            } => {
                let described = self.client.update(*release, &fields(changes))?;
                self.overlay.has_release(&described);
            }
            PublishStep::Publish {
                release,
                changes,
                make_latest,
                ..
            } => {
                let mut fields = fields(changes);
                fields["draft"] = json!(false);
                fields["make_latest"] = json!(make_latest.as_str());
                let published = self.client.update(*release, &fields)?;
                self.overlay.has_release(&published);
            }
            PublishStep::Upload { .. } => {}
        }
        Ok(())
    }

    fn upload(
        &mut self,
        steps: &[PublishStep],
        observed: &[ListedRelease],
    ) -> Result<(), GithubError> {
        let (mut sent, mut uploads) = (Vec::new(), Vec::new());
        let (open, on_step) = (
            self.callbacks.open,
            RefCell::new(&mut *self.callbacks.on_step),
        );
        for step in steps {
            let PublishStep::Upload {
                release,
                name,
                as_name,
            } = step
            else {
                continue;
            };
            let Some(wanted) = self
                .desired
                .assets
                .iter()
                .find(|wanted| wanted.name == *name)
            else {
                continue;
            };
            let to = observed
                .iter()
                .find(|found| found.id == *release)
                .and_then(|found| found.upload_url.clone());
            let (on_sent, shown) = (Arc::clone(&self.callbacks.on_sent), name.clone());
            let on_step = &on_step;
            uploads.push(PendingUpload {
                to: to.unwrap_or_default(),
                name: as_name.clone(),
                open: Box::new(move || {
                    (on_step.borrow_mut())(step);
                    open(name)
                }),
                size_bytes: wanted.size_bytes,
                digest: wanted.digest,
                on_sent: Arc::new(move |bytes| on_sent(&shown, bytes)),
            });
            sent.push((*release, wanted, as_name, step));
        }
        let results = self.client.upload(&uploads, self.callbacks.at_once);
        drop(uploads);
        // Record all results before one of them ends the run.
        let (mut open, mut last, mut missed) = (Vec::new(), None, None);
        for ((release, wanted, as_name, step), result) in sent.into_iter().zip(results) {
            let Some(result) = result else { continue };
            self.steps += 1;
            let result = result.and_then(|asset| self.checked(asset, wanted, as_name));
            if result
                .as_ref()
                .is_err_and(|error| error.leaves_open() || exists_already(error))
            {
                self.open.push(step.clone());
            }
            match result {
                Ok(asset) => self.overlay.has_asset(release, &asset),
                Err(error @ GithubError::UnknownOutcome { .. }) => open.push((step.key(), error)),
                Err(error) if exists_already(&error) => open.push((step.key(), error)),
                Err(error @ GithubError::Status { status: 404, .. }) => {
                    missed = Some((release, error));
                }
                Err(error) if error.is_final() => last = last.or(Some(error)),
                Err(error) => drop(self.failed.insert(wanted.name.clone(), error)),
            }
        }
        match (last, missed) {
            (Some(error), _) => Err(error),
            (None, Some((release, error))) if !self.was_deleted(release, &error)? => Err(error),
            (None, Some(_)) => Ok(()),
            (None, None) if open.is_empty() => Ok(()),
            (None, None) => self.retry_after_unknown_outcome(open),
        }
    }

    /// Returns an asset that is stored as it was uploaded. Any other is deleted.
    fn checked(
        &self,
        asset: ListedAsset,
        wanted: &DesiredFile,
        as_name: &str,
    ) -> Result<ListedAsset, GithubError> {
        let has_digest = asset.digest.is_none_or(|digest| digest == wanted.digest);
        let is_whole =
            asset.state == AssetState::Uploaded && asset.size == wanted.size_bytes && has_digest;
        if asset.name == as_name && is_whole {
            return Ok(asset);
        }
        self.client.delete_asset(asset.id)?;
        if asset.name != as_name {
            return Err(GithubError::StoredUnderOtherName {
                wanted: as_name.to_owned(),
                found: asset.name,
            });
        }
        let bytes = |size: u64, digest: Option<Digest>| {
            format!(
                "{size} bytes, {}",
                digest.map_or_else(|| "no digest".to_owned(), |digest| digest.to_string())
            )
        };
        Err(GithubError::StoredWithOtherContent {
            name: as_name.to_owned(),
            wanted: bytes(wanted.size_bytes, Some(wanted.digest)),
            found: bytes(asset.size, asset.digest),
        })
    }

    /// Returns the last observed size of an asset.
    fn size_of(&self, release: u64, asset: u64) -> Option<u64> {
        let observed = self.overlay.over(&self.listed);
        let release = observed.iter().find(|found| found.id == release)?;
        release
            .assets
            .iter()
            .find(|found| found.id == asset)
            .map(|found| found.size)
    }

    /// Returns the ID of the release that holds an asset.
    fn release_of(&self, asset: u64, name: &str) -> Option<u64> {
        let observed = self.overlay.over(&self.listed);
        let holds = |release: &&ListedRelease| {
            release
                .assets
                .iter()
                .any(|a| a.id == asset && a.name == name)
        };
        observed.iter().find(holds).map(|release| release.id)
    }
}

/// Whether the name of an asset is taken (REST API version 2022-11-28, "Upload a release asset").
fn exists_already(error: &GithubError) -> bool {
    matches!(error, GithubError::Status { status: 422, codes, .. } if codes.iter().any(|code| code == "already_exists"))
}

/// Returns the fields of a release as the API names them (REST API version 2022-11-28, "Update a
/// release").
pub(super) fn fields(description: &ReleaseDescription) -> serde_json::Value {
    let ReleaseDescription {
        title,
        body,
        prerelease,
        target,
    } = description;
    let mut fields = serde_json::Map::new();
    let texts = [
        ("name", title),
        ("body", body),
        ("target_commitish", target),
    ];
    for (name, text) in texts {
        fields.extend(text.iter().map(|text| (name.to_owned(), json!(text))));
    }
    fields.extend(
        prerelease
            .iter()
            .map(|is| ("prerelease".to_owned(), json!(is))),
    );
    fields.into()
}
