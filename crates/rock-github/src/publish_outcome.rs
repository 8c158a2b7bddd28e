//! The state of a release after a publish run.

use rock_publish::remote::{DesiredRelease, PublishStep};
use rock_publish::{AssetState, DesiredFile, ListedAsset, ListedRelease};

use crate::{PublishResult, PublishRun};

/// The state of a release after a publish run, compared with the desired one.
#[derive(Debug, Clone, Copy)]
pub struct PublishOutcome<'o> {
    desired: &'o DesiredRelease,
    run: &'o PublishRun,
}

/// The state of a file of the desired release.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UploadState {
    /// It is in place.
    Uploaded,
    /// Its upload was interrupted.
    Interrupted,
    /// The release has a file of this name with different content.
    Different,
    /// The release does not have it.
    Missing,
    /// A request that changes it was in progress at the end.
    Unknown,
}

impl UploadState {
    /// Returns the word for reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Uploaded => "uploaded",
            Self::Interrupted => "interrupted",
            Self::Different => "different content",
            Self::Missing => "missing",
            Self::Unknown => "unknown",
        }
    }
}

impl<'o> PublishOutcome<'o> {
    /// Creates the outcome of a run.
    pub fn new(desired: &'o DesiredRelease, run: &'o PublishRun) -> Self {
        Self { desired, run }
    }

    /// Whether everything is done; `None` if requests in progress at the end may have completed it.
    pub fn is_complete(&self) -> Option<bool> {
        let may_be_complete = !self.run.unknown_steps.is_empty()
            && self.is_public() != Some(false)
            && self
                .files()
                .all(|(_, state)| matches!(state, UploadState::Uploaded | UploadState::Unknown));
        if may_be_complete {
            None
        } else {
            Some(matches!(self.run.end, PublishResult::Done(_)))
        }
    }

    /// Whether there is a release.
    pub fn has_release(&self) -> bool {
        self.release().is_some()
    }

    /// Whether the release is public; `None` if it was being published at the end.
    pub fn is_public(&self) -> Option<bool> {
        let Some(release) = self.release() else {
            return Some(false);
        };
        let is_being_published = release.draft
            && self.has_unknown_step(
                |step| matches!(step, PublishStep::Publish { release: id, .. } if *id == release.id),
            );
        if is_being_published {
            None
        } else {
            Some(!release.draft)
        }
    }

    /// Whether the release was being created at the end, so that it is unknown whether it exists.
    pub fn is_being_created(&self) -> bool {
        self.release().is_none()
            && self.has_unknown_step(
                |step| matches!(step, PublishStep::Create { tag } if *tag == self.desired.tag),
            )
    }

    /// Whether the same command would resume.
    pub fn can_resume(&self) -> bool {
        matches!(
            self.run.end,
            PublishResult::Failed(_) | PublishResult::Incomplete
        )
    }

    /// Whether the run failed with an error that must be fixed before it is resumed.
    pub fn needs_fix(&self) -> bool {
        matches!(
            &self.run.end,
            PublishResult::Failed(error) if error.is_final() && !error.is_stop()
        )
    }

    /// Returns the release of the desired tag; a public one takes precedence over drafts.
    pub fn release(&self) -> Option<&'o ListedRelease> {
        self.run
            .releases
            .iter()
            .filter(|release| release.tag_name == self.desired.tag)
            .min_by_key(|release| release.draft)
    }

    /// Returns the releases that make up the desired one.
    pub fn releases(&self) -> impl Iterator<Item = &'o ListedRelease> {
        let desired = self.desired;
        self.run
            .releases
            .iter()
            .filter(move |release| desired.has(release))
    }

    /// Returns the desired files, each with its state.
    pub fn files(&self) -> impl Iterator<Item = (&'o DesiredFile, UploadState)> {
        self.desired
            .assets
            .iter()
            .map(|file| (file, self.state_of(file)))
    }

    /// Returns the number of desired files without a digest on GitHub, which are compared by size
    /// alone.
    pub fn unverified_count(&self) -> usize {
        self.desired
            .assets
            .iter()
            .filter(|file| {
                self.published(file)
                    .is_some_and(|asset| asset.digest.is_none())
            })
            .count()
    }

    fn state_of(&self, file: &DesiredFile) -> UploadState {
        if self.has_unknown_step(|step| changes(step, &file.name)) {
            return UploadState::Unknown;
        }
        match self.published(file) {
            None => UploadState::Missing,
            Some(asset) if asset.state == AssetState::Starter => UploadState::Interrupted,
            Some(asset) if asset.has_content_of(file) => UploadState::Uploaded,
            Some(_) => UploadState::Different,
        }
    }

    fn published(&self, file: &DesiredFile) -> Option<&'o ListedAsset> {
        self.releases()
            .flat_map(|release| &release.assets)
            .find(|asset| asset.name == file.name)
    }

    /// Whether a step that `is_selected` selects was in progress at the end.
    fn has_unknown_step(&self, is_selected: impl Fn(&PublishStep) -> bool) -> bool {
        self.run.unknown_steps.iter().any(is_selected)
    }
}

/// Whether a step changes the file with this name.
fn changes(step: &PublishStep, name: &str) -> bool {
    match step {
        PublishStep::Upload {
            as_name: changed, ..
        }
        | PublishStep::DeleteAsset { name: changed, .. }
        | PublishStep::Rename { to: changed, .. } => changed == name,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rock_names::Digest;
    use rock_publish::remote::{DesiredRelease, MakeLatest, PublishStep};
    use rock_publish::{AssetState, DesiredFile, ListedAsset, ListedRelease};

    use super::{PublishOutcome, UploadState};
    use crate::{GithubError, PublishResult, PublishRun};

    const TAG: &str = "v1";

    fn desired(names: &[&str]) -> DesiredRelease {
        DesiredRelease {
            tag: TAG.to_owned(),
            title: None,
            body: None,
            target: None,
            prerelease: false,
            make_latest: MakeLatest::Legacy,
            stays_draft: false,
            assets: names
                .iter()
                .map(|name| DesiredFile {
                    name: (*name).to_owned(),
                    digest: Digest::new([1; 32]),
                    size_bytes: 7,
                    generated: false,
                })
                .collect(),
            nonce: "nonce".to_owned(),
            most_assets: 1000,
        }
    }

    fn asset(name: &str, byte: u8, state: AssetState) -> ListedAsset {
        ListedAsset {
            name: name.to_owned(),
            size: 7,
            digest: Some(Digest::new([byte; 32])),
            state,
            ..ListedAsset::default()
        }
    }

    fn upload(name: &str) -> PublishStep {
        PublishStep::Upload {
            release: 1,
            name: name.to_owned(),
            as_name: name.to_owned(),
        }
    }

    fn stopped(
        is_draft: bool,
        assets: Vec<ListedAsset>,
        unknown_steps: Vec<PublishStep>,
    ) -> PublishRun {
        PublishRun {
            releases: vec![ListedRelease {
                id: 1,
                tag_name: TAG.to_owned(),
                draft: is_draft,
                assets,
                ..ListedRelease::default()
            }],
            steps: 3,
            unknown_steps,
            failed_files: BTreeMap::new(),
            end: PublishResult::Failed(GithubError::Stopped),
        }
    }

    #[test]
    fn each_file_has_the_state_of_its_asset() {
        let desired = desired(&["a.whl", "b.whl", "c.whl", "d.whl", "e.whl"]);
        let assets = vec![
            asset("a.whl", 1, AssetState::Uploaded),
            asset("b.whl", 1, AssetState::Starter),
            asset("c.whl", 2, AssetState::Uploaded),
            asset("e.whl", 2, AssetState::Uploaded),
        ];
        let run = stopped(false, assets, vec![upload("e.whl")]);
        let outcome = PublishOutcome::new(&desired, &run);
        let states: Vec<UploadState> = outcome.files().map(|(_, state)| state).collect();
        assert_eq!(
            states,
            [
                UploadState::Uploaded,
                UploadState::Interrupted,
                UploadState::Different,
                UploadState::Missing,
                UploadState::Unknown
            ]
        );
        assert_eq!(outcome.is_complete(), Some(false));
        assert!(outcome.can_resume() && !outcome.needs_fix());
    }

    /// The replacement of a published file is uploaded under a temporary name.
    #[test]
    fn a_file_without_a_digest_is_different_if_its_size_is() {
        let desired = desired(&["a.whl", "b.whl"]);
        let without_digest = |name: &str, size: u64| ListedAsset {
            size,
            digest: None,
            ..asset(name, 1, AssetState::Uploaded)
        };
        let assets = vec![without_digest("a.whl", 8), without_digest("b.whl", 7)];
        let replacement = PublishStep::Upload {
            release: 1,
            name: "a.whl".to_owned(),
            as_name: "a.whl.tmp-010101010101".to_owned(),
        };
        let run = stopped(false, assets, vec![replacement]);
        let states: Vec<UploadState> = PublishOutcome::new(&desired, &run)
            .files()
            .map(|(_, state)| state)
            .collect();
        assert_eq!(states, [UploadState::Different, UploadState::Uploaded]);
    }

    #[test]
    fn a_request_in_progress_makes_the_outcome_unknown() {
        let desired = desired(&["a.whl"]);
        let run = stopped(false, Vec::new(), vec![upload("a.whl")]);
        let outcome = PublishOutcome::new(&desired, &run);
        assert_eq!(
            (outcome.is_complete(), outcome.is_public()),
            (None, Some(true))
        );

        let publish = PublishStep::Publish {
            release: 1,
            tag: TAG.to_owned(),
            changes: rock_publish::remote::ReleaseDescription::default(),
            make_latest: MakeLatest::Legacy,
        };
        let assets = vec![asset("a.whl", 1, AssetState::Uploaded)];
        let run = stopped(true, assets, vec![publish]);
        let outcome = PublishOutcome::new(&desired, &run);
        assert_eq!((outcome.is_complete(), outcome.is_public()), (None, None));

        let create = PublishStep::Create {
            tag: TAG.to_owned(),
        };
        let run = PublishRun {
            releases: Vec::new(),
            ..stopped(true, Vec::new(), vec![create])
        };
        let outcome = PublishOutcome::new(&desired, &run);
        assert!(outcome.is_being_created() && !outcome.has_release());
        assert_eq!(outcome.is_public(), Some(false));
    }
}
