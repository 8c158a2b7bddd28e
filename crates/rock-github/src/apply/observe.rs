//! Looks at what is there: after calls of unknown outcome, after what others did, and before
//! anything is made public.

use std::time::Duration;

use super::super::client::ReleaseClient;
use super::super::error::GithubError;
use super::super::retry::MOST_TRIES;
use super::{StepRunner, exists_already};
use rock_publish::ListedRelease;
use rock_publish::remote::{DesiredRelease, ListingContradiction, ObservedOverlay, PublishStep};

/// How many drafts of one tag a run makes: another one where another run deleted the first.
const MOST_DRAFTS: u32 = 2;

impl StepRunner<'_, '_> {
    /// After calls of unknown outcome: wait, and look at what is there.
    pub(super) fn unsure(&mut self, calls: Vec<(String, GithubError)>) -> Result<(), GithubError> {
        let mut longest: Option<(u32, GithubError)> = None;
        let mut is_taken = false;
        for (what, error) in calls {
            is_taken |= exists_already(&error);
            let error = match error {
                GithubError::Unsure { .. } => error,
                error if exists_already(&error) => GithubError::Unsure {
                    call: what.clone(),
                    reason: "the name is taken".to_owned(),
                },
                GithubError::Status {
                    status: 404, call, ..
                } => GithubError::Unsure {
                    call,
                    reason: "it is not there any more".to_owned(),
                },
                error => return Err(error),
            };
            let tries = self.tries.entry(what).or_default();
            *tries += 1;
            if *tries >= MOST_TRIES {
                return Err(error);
            }
            if longest.as_ref().is_none_or(|(most, _)| *tries > *most) {
                longest = Some((*tries, error));
            }
        }
        match longest {
            // What has the name is listed at last, however far the listing lags behind.
            Some((tries, error)) if is_taken => {
                self.client.wait(&error, Duration::from_secs(1 << tries))?;
            }
            Some((tries, error)) => self.client.pause(error, tries)?,
            None => {}
        }
        self.look_once()
    }

    /// After a call found nothing: whether it went to a release that another run deleted. Then this
    /// one goes on with what is there.
    pub(super) fn was_deleted(
        &mut self,
        release: u64,
        error: &GithubError,
    ) -> Result<bool, GithubError> {
        let is_gone = is_gone(self.client, release, error)?;
        if is_gone {
            self.memory.release_is_gone(release);
            self.look()?;
        }
        Ok(is_gone)
    }

    /// Whether one more draft of a tag may be made: where others delete each, there would be no
    /// end.
    pub(super) fn may_be_made(&self, tag: &str) -> Result<(), GithubError> {
        match self.made.get(tag) {
            Some(made) if *made >= MOST_DRAFTS => Err(GithubError::Contested {
                tag: tag.to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Looks for the draft that a call of unknown outcome may have made. A listing may lag behind,
    /// and a second draft of one tag is worse than waiting.
    pub(super) fn find_draft(&mut self, tag: &str, error: GithubError) -> Result<(), GithubError> {
        let tries = self.tries.entry(format!("create {tag}")).or_default();
        *tries += 1;
        if *tries >= MOST_TRIES {
            return Err(error);
        }
        for wait_s in [2, 4, 8, 16] {
            self.client.wait(&error, Duration::from_secs(wait_s))?;
            self.look_once()?;
            let mark = self.goal.mark_of_draft();
            let is_made = |release: &ListedRelease| {
                release.tag_name == tag
                    && release
                        .body
                        .as_deref()
                        .is_some_and(|body| body.contains(&mark))
            };
            if self.listed.iter().any(is_made) {
                break;
            }
        }
        // It was waited for long enough.
        self.open.clear();
        Ok(())
    }

    /// Lists the releases again until the listing agrees with earlier answers.
    pub(super) fn look(&mut self) -> Result<(), GithubError> {
        for tries in 1.. {
            self.look_once()?;
            let (mut unlisted, mut missing) = (Vec::new(), Vec::new());
            for known in self.memory.over(&[]) {
                if self.listed.iter().all(|listed| listed.id != known.id) {
                    unlisted.push(known.id);
                }
            }
            // Those of a draft that another run made, or whose making was not heard of, too.
            for listed in &self.listed {
                missing.extend(self.memory.missing_in(listed));
            }
            let contradiction = self
                .listed
                .iter()
                .find_map(|release| self.memory.contradiction(release));
            if missing.is_empty() && unlisted.is_empty() && contradiction.is_none() {
                break;
            }
            if tries >= MOST_TRIES {
                if let Some(contradiction) = contradiction {
                    return Err(GithubError::Contradicted(contradiction));
                }
                // They do not come: someone deleted them. A release is asked for by its number.
                for asset in missing {
                    self.memory.asset_is_gone(asset);
                }
                for release in unlisted {
                    if self.client.release(release)?.is_none() {
                        self.memory.release_is_gone(release);
                    }
                }
                break;
            }
            let call = "GET releases".to_owned();
            let reason = match &contradiction {
                Some(ListingContradiction { name, .. }) => {
                    format!("`{name}` is listed differently than the upload was answered")
                }
                None => "not all that was made is listed yet".to_owned(),
            };
            self.client.wait(
                &GithubError::Unsure { call, reason },
                Duration::from_secs(1 << tries),
            )?;
        }
        Ok(())
    }

    /// Looks once more at all releases. What was open is seen, but for a draft that may not be
    /// listed yet.
    fn look_once(&mut self) -> Result<(), GithubError> {
        self.listed = listed(self.client, self.goal, &mut self.memory)?;
        let is_listed = |made: &String| self.listed.iter().any(|release| release.tag_name == *made);
        self.open
            .retain(|step| matches!(step, PublishStep::Create { tag } if !is_listed(tag)));
        Ok(())
    }
}

/// The releases of a goal's tags with all their assets; of others number and tag.
///
/// # Errors
/// When they cannot be read.
pub fn of_goal(
    client: &ReleaseClient,
    goal: &DesiredRelease,
) -> Result<Vec<ListedRelease>, GithubError> {
    listed(client, goal, &mut ObservedOverlay::default())
}

/// The same without the releases that are known to be gone: a listing that lags behind has them for
/// a while.
fn listed(
    client: &ReleaseClient,
    goal: &DesiredRelease,
    memory: &mut ObservedOverlay,
) -> Result<Vec<ListedRelease>, GithubError> {
    'again: loop {
        let mut releases = client.releases(|release| goal.has(release))?;
        releases.retain(|release| !memory.is_gone(release.id));
        for release in releases.iter_mut().filter(|release| goal.has(release)) {
            release.assets = match client.assets(release.id) {
                Ok(assets) => assets,
                Err(error @ GithubError::Status { status: 404, .. })
                    if is_gone(client, release.id, &error)? =>
                {
                    memory.release_is_gone(release.id);
                    continue 'again;
                }
                Err(error) => return Err(error),
            };
        }
        return Ok(releases);
    }
}

/// Whether a release is gone, of which a call says so: it is not there by its number either, and no
/// listing has it when some time has passed. One alone may err, and to make another draft beside
/// one that is there is worse than waiting.
fn is_gone(client: &ReleaseClient, release: u64, error: &GithubError) -> Result<bool, GithubError> {
    let call = format!("GET releases/{release}");
    for wait_s in [6, 12, 24] {
        if client.release(release)?.is_some() {
            return Ok(false);
        }
        let why = GithubError::Unsure {
            call: call.clone(),
            reason: format!("it may be deleted: {error}"),
        };
        client.wait(&why, Duration::from_secs(wait_s))?;
        if client
            .releases(|_| false)?
            .iter()
            .all(|listed| listed.id != release)
        {
            return Ok(true);
        }
    }
    Ok(false)
}
