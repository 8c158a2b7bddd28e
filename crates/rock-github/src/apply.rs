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

use super::client::{PendingUpload, ReleaseClient, UploadResult};
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
    pub open_file: &'d dyn Fn(&str) -> std::io::Result<UploadSource>,
    /// Returns the path of a file, for messages.
    pub path_of: &'d dyn Fn(&str) -> String,
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
    pub unknown_steps: Vec<PublishStep>,
    /// The errors of files that could not be uploaded, by name, however the run ended. An error
    /// that would affect any other request is in `end`.
    pub failed_files: BTreeMap<String, GithubError>,
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
    /// Some files could not be uploaded; see [`PublishRun::failed_files`]. Nothing was made public.
    Incomplete,
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
        exhausted: BTreeMap::new(),
        failed_rounds: 0,
        uploaded_assets: 0,
        made: BTreeMap::new(),
        failed_files: BTreeMap::new(),
        replaced: BTreeMap::new(),
        steps: 0,
        unknown_steps: Vec::new(),
        callbacks,
    };
    let end = run
        .run_until_settled(policy)
        .unwrap_or_else(|error| PublishResult::Failed(error.cause()));
    PublishRun {
        releases: run.overlay.over(&run.listed),
        steps: run.steps,
        unknown_steps: run.unknown_steps,
        failed_files: run.failed_files,
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
    /// The errors of steps that are not attempted again. One of them ends the run if its step is
    /// still needed.
    exhausted: BTreeMap<StepKey, GithubError>,
    /// The number of rounds of uploads with an unknown outcome since the last success.
    failed_rounds: u32,
    /// The number of completely uploaded assets when last observed.
    uploaded_assets: usize,
    /// The number of drafts that were created, by tag.
    made: BTreeMap<String, u32>,
    /// The errors of files that are not uploaded again, by name.
    failed_files: BTreeMap<String, GithubError>,
    /// The IDs of assets that were deleted because their bytes differed, by name.
    replaced: BTreeMap<String, u64>,
    steps: usize,
    unknown_steps: Vec<PublishStep>,
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
            self.record_progress(&observed);
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
                Reconciliation::Done(releases) => {
                    // Every file is in place, whoever uploaded it.
                    self.failed_files.clear();
                    return Ok(PublishResult::Done(releases));
                }
                Reconciliation::Refused(refused) => return Ok(PublishResult::Refused(refused)),
                Reconciliation::Steps(steps) => steps,
            };
            let upload_names = |step: &PublishStep| match step {
                PublishStep::Upload { name, .. } => Some(name.clone()),
                _ => None,
            };
            steps.retain(|step| {
                upload_names(step).is_none_or(|name| !self.failed_files.contains_key(&name))
            });
            if steps.is_empty() {
                return Ok(PublishResult::Incomplete);
            }
            // The releases were listed again after the last attempt, and it did not succeed.
            let error = steps
                .iter()
                .find_map(|step| self.exhausted.get(&step.key()));
            if let Some(error) = error {
                return Err(error.clone());
            }
            is_fresh &= steps.iter().all(PublishStep::is_of_metadata);
            self.run_steps(steps, &observed)?;
        }
    }

    /// Restarts the count of failed rounds of uploads if there are more assets than before.
    fn record_progress(&mut self, observed: &[ListedRelease]) {
        let uploaded_assets = observed
            .iter()
            .filter(|release| self.desired.has(release))
            .flat_map(|release| &release.assets)
            .filter(|asset| asset.state == AssetState::Uploaded)
            .count();
        if uploaded_assets > self.uploaded_assets {
            self.failed_rounds = 0;
        }
        self.uploaded_assets = uploaded_assets;
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
            if done.as_ref().is_err_and(GithubError::has_unknown_outcome) && step.is_write() {
                self.unknown_steps.push(step.clone());
            }
            match (done, &step) {
                (Ok(()), PublishStep::Create { .. }) => is_made = true,
                (Ok(()), _) => {}
                (
                    Err(GithubError::UnknownOutcome {
                        call,
                        reason,
                        status,
                    }),
                    PublishStep::Create { tag },
                ) => return self.find_draft(tag, &call, &reason, status),
                // The token cannot see such a repository, so a retry would not help.
                (Err(error), PublishStep::Create { .. }) => return Err(error),
                (
                    Err(error @ GithubError::Status { status: 404, .. }),
                    PublishStep::Describe { release, .. } | PublishStep::Publish { release, .. },
                ) if self.confirm_deletion_and_relist(*release, &error)? => return Ok(()),
                (Err(error), _) => {
                    return self.record_failures_and_relist(vec![(step.key(), error)]);
                }
            }
        }
        if is_made {
            // A listing with this draft also has all drafts that were created before it.
            return self.relist_until_consistent();
        }
        // A file whose upload fails each time does not keep the files after it from being uploaded.
        uploads.sort_by_cached_key(|step| self.tries.get(&step.key()).copied());
        self.upload(&uploads, observed)
    }

    fn run_step(&mut self, step: &PublishStep) -> Result<(), GithubError> {
        match step {
            PublishStep::Create { tag } => {
                self.check_draft_limit(tag)?;
                let made = self.client.create(tag, &self.desired.draft(tag))?;
                *self.made.entry(tag.clone()).or_default() += 1;
                self.overlay.record_release(&made);
            }
            PublishStep::DeleteRelease { release, .. } => {
                self.client.delete_release(*release)?;
                self.overlay.record_release_deleted(*release);
            }
            PublishStep::DeleteAsset { asset, name, why } => {
                if *why == DeleteReason::DifferentContent {
                    let before = self.replaced.insert(name.clone(), *asset);
                    if before.is_some_and(|before| before != *asset) {
                        return Err(GithubError::ReplacedAgain { name: name.clone() });
                    }
                }
                self.client.delete_asset(*asset)?;
                self.overlay.record_asset_deleted(*asset);
            }
            PublishStep::Rename { asset, from, to } => {
                let renamed = self.client.rename(*asset, to)?;
                if let Some(release) = self.release_of(*asset, from) {
                    self.overlay.record_asset(release, &renamed);
                }
                if renamed.name != *to {
                    return Err(GithubError::RenamedToOtherName {
                        from: from.clone(),
                        name: to.clone(),
                        found: renamed.name,
                    });
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
                        return Err(GithubError::Malformed { call, reason });
                    }
                    self.overlay.record_digest(*asset, digest);
                }
                Err(GithubError::Status { status: 404, .. }) => {
                    self.overlay.record_asset_unreadable(*asset);
                }
                Err(error) => return Err(error),
            },
            PublishStep::Describe {
                release, changes, ..
            } => {
                let described = self.client.update(*release, &fields(changes))?;
                self.overlay.record_release(&described);
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
                self.overlay.record_release(&published);
            }
            PublishStep::Upload { .. } => {}
        }
        Ok(())
    }

    /// Uploads files, and records all results before one of them ends the run.
    fn upload(
        &mut self,
        steps: &[PublishStep],
        observed: &[ListedRelease],
    ) -> Result<(), GithubError> {
        let desired = self.desired;
        let steps: Vec<UploadStep<'_>> = steps
            .iter()
            .filter_map(|step| UploadStep::of(step, desired))
            .collect();
        let results = {
            let on_step = RefCell::new(&mut *self.callbacks.on_step);
            let uploads = pending_uploads(
                &steps,
                observed,
                self.callbacks.open_file,
                self.callbacks.path_of,
                &on_step,
                &self.callbacks.on_sent,
            );
            self.client.upload(&uploads, self.callbacks.at_once)
        };
        self.record_results(steps, results)
    }

    /// Records the results of uploads. Afterwards, waits and lists the releases again if the
    /// outcome of one is unknown.
    ///
    /// # Errors
    /// An error that ends the run.
    fn record_results(
        &mut self,
        steps: Vec<UploadStep<'_>>,
        results: Vec<UploadResult>,
    ) -> Result<(), GithubError> {
        let (mut unknown, mut fatal, mut release_missing) = (Vec::new(), None, None);
        for (upload, result) in steps.into_iter().zip(results) {
            let Some(result) = result else { continue };
            self.steps += 1;
            let result = result.and_then(|asset| self.checked(asset, &upload));
            if result
                .as_ref()
                .is_err_and(|error| error.has_unknown_outcome() || exists_already(error))
            {
                self.unknown_steps.push(upload.step.clone());
            }
            match result {
                Ok(asset) => self.overlay.record_asset(upload.release, &asset),
                Err(error @ GithubError::UnknownOutcome { .. }) => {
                    unknown.push((upload.step.key(), error));
                }
                Err(error) if exists_already(&error) => unknown.push((upload.step.key(), error)),
                Err(error @ GithubError::Status { status: 404, .. }) => {
                    release_missing = Some((upload.release, error));
                }
                Err(error) if error.is_final() => fatal = fatal.or(Some(error)),
                Err(error) => {
                    self.failed_files.insert(upload.file.name.clone(), error);
                }
            }
        }
        match (fatal, release_missing) {
            (Some(error), _) => Err(error),
            (None, Some((release, error))) => {
                if self.confirm_deletion_and_relist(release, &error)? {
                    Ok(())
                } else {
                    Err(error)
                }
            }
            (None, None) if unknown.is_empty() => Ok(()),
            (None, None) => {
                self.failed_rounds += 1;
                self.record_failures_and_relist(unknown)
            }
        }
    }

    /// Returns an asset that is stored as it was uploaded. Any other is deleted.
    fn checked(
        &self,
        asset: ListedAsset,
        upload: &UploadStep<'_>,
    ) -> Result<ListedAsset, GithubError> {
        let UploadStep { file, as_name, .. } = *upload;
        let is_whole = asset.state == AssetState::Uploaded && asset.has_content_of(file);
        if asset.name == as_name && is_whole {
            return Ok(asset);
        }
        self.client.delete_asset(asset.id)?;
        if asset.name != as_name {
            return Err(GithubError::StoredUnderOtherName {
                name: as_name.to_owned(),
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
            uploaded: bytes(file.size_bytes, Some(file.digest)),
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

/// A step that uploads a desired file.
#[derive(Clone, Copy)]
struct UploadStep<'s> {
    step: &'s PublishStep,
    release: u64,
    file: &'s DesiredFile,
    as_name: &'s str,
}

impl<'s> UploadStep<'s> {
    /// Returns the upload of a step; `None` for another step.
    fn of(step: &'s PublishStep, desired: &'s DesiredRelease) -> Option<Self> {
        let PublishStep::Upload {
            release,
            name,
            as_name,
        } = step
        else {
            return None;
        };
        let file = desired.assets.iter().find(|file| file.name == *name)?;
        Some(Self {
            step,
            release: *release,
            file,
            as_name,
        })
    }
}

/// Returns the uploads of steps. Each calls `on_step` and `open_file` when it starts, and `on_sent`
/// for each chunk. `path_of` returns the path of a file, for an error.
fn pending_uploads<'u>(
    steps: &[UploadStep<'u>],
    observed: &[ListedRelease],
    open_file: &'u dyn Fn(&str) -> std::io::Result<UploadSource>,
    path_of: &'u dyn Fn(&str) -> String,
    on_step: &'u RefCell<&mut (dyn FnMut(&PublishStep) + '_)>,
    on_sent: &Arc<OnSent>,
) -> Vec<PendingUpload<'u>> {
    let pending = |upload: &UploadStep<'u>| {
        let UploadStep {
            step,
            release,
            file,
            as_name,
        } = *upload;
        let to = observed
            .iter()
            .find(|found| found.id == release)
            .and_then(|found| found.upload_url.clone());
        let (on_sent, shown) = (Arc::clone(on_sent), file.name.clone());
        PendingUpload {
            to: to.unwrap_or_default(),
            name: as_name.to_owned(),
            path: Box::new(move || path_of(&file.name)),
            open_file: Box::new(move || {
                (on_step.borrow_mut())(step);
                open_file(&file.name)
            }),
            size_bytes: file.size_bytes,
            digest: file.digest,
            on_sent: Arc::new(move |bytes| on_sent(&shown, bytes)),
        }
    };
    steps.iter().map(pending).collect()
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
