//! Observes the state of the releases: after requests with an unknown outcome, after changes by
//! other runs, and before anything is made public.
//!
//! The tests with lagging and contradicting listings are in the workspace:
//! `tests/it/publish_contradictions.rs`, `publish_two_at_once.rs` and `publish_waits.rs`, and
//! `tests/proofs/publish_survives_faults.rs`.

use std::time::Duration;

use super::super::client::ReleaseClient;
use super::super::error::GithubError;
use super::super::retry::MOST_TRIES;
use super::super::wait::RequestWait;
use super::{StepRunner, exists_already};
use rock_publish::ListedRelease;
use rock_publish::remote::{
    DesiredRelease, ListingContradiction, ObservedOverlay, PublishStep, StepKey,
};

/// Maximum drafts of one tag that a run creates: a second one if another run deleted the first.
const MOST_DRAFTS: u32 = 2;
/// The wait after the last attempt of a step: an asset may be stored, but not listed at once.
const LAST_WAIT: Duration = Duration::from_secs(16);

impl StepRunner<'_, '_> {
    /// Waits and lists the releases again after steps with an unknown outcome, uploads whose name
    /// is taken, steps whose asset or release no longer exists, and incomplete downloads. The error
    /// of a step that failed too often is kept in `exhausted`: it ends the run if the step is still
    /// needed according to the new listing.
    ///
    /// # Errors
    /// If another kind of error is among them.
    pub(super) fn record_failures_and_relist(
        &mut self,
        failed: Vec<(StepKey, GithubError)>,
    ) -> Result<(), GithubError> {
        let mut longest: Option<(u32, GithubError)> = None;
        let mut is_taken = false;
        for (key, error) in failed {
            let is_name_taken = exists_already(&error);
            is_taken |= is_name_taken;
            let error = match error {
                GithubError::UnknownOutcome { .. } => error,
                // The download of an asset can be repeated.
                GithubError::Malformed { .. } if matches!(key, StepKey::Hash(_)) => error,
                GithubError::Status { call, .. } if is_name_taken => GithubError::UnknownOutcome {
                    call,
                    reason: "the name is taken".to_owned(),
                    status: None,
                },
                GithubError::Status {
                    status: 404, call, ..
                } => GithubError::UnknownOutcome {
                    call,
                    reason: "it no longer exists".to_owned(),
                    status: None,
                },
                error => return Err(error),
            };
            let tries = self.tries.entry(key.clone()).or_default();
            *tries += 1;
            let tries = match key {
                StepKey::Upload(_) => self.failed_rounds.max(*tries),
                _ => *tries,
            };
            if longest.as_ref().is_none_or(|(most, _)| tries > *most) {
                longest = Some((tries, error.clone()));
            }
            if tries >= MOST_TRIES {
                self.exhausted.insert(key, error);
            }
        }
        if let Some((
            tries,
            GithubError::UnknownOutcome { call, reason, .. }
            | GithubError::Malformed { call, reason },
        )) = longest
        {
            let duration = if tries >= MOST_TRIES {
                LAST_WAIT
            } else if is_taken {
                // The asset with a taken name will be listed eventually, even if the listing lags
                // behind.
                Duration::from_secs(1 << tries)
            } else {
                self.client.backoff(tries)
            };
            let wait = RequestWait::new(&call, &reason, duration);
            self.client.wait(if tries >= MOST_TRIES {
                wait
            } else {
                wait.before_attempt(tries + 1)
            })?;
        }
        self.relist()
    }

    /// Waits, and returns whether a request failed because another run deleted its release. In that
    /// case, lists the releases again, so that this run can continue with them.
    pub(super) fn confirm_deletion_and_relist(
        &mut self,
        release: u64,
        error: &GithubError,
    ) -> Result<bool, GithubError> {
        let is_deleted = confirm_deletion(self.client, release, error)?;
        if is_deleted {
            self.overlay.record_release_deleted(release);
            self.relist_until_consistent()?;
        }
        Ok(is_deleted)
    }

    /// Checks that another draft of a tag may be created. If other runs delete each one, this would
    /// never end.
    pub(super) fn check_draft_limit(&self, tag: &str) -> Result<(), GithubError> {
        match self.made.get(tag) {
            Some(made) if *made >= MOST_DRAFTS => Err(GithubError::Contested {
                tag: tag.to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// Searches for a draft that a request with an unknown outcome may have created. Listings may
    /// lag behind, and a second draft of the same tag is worse than waiting.
    pub(super) fn find_draft(
        &mut self,
        tag: &str,
        call: &str,
        reason: &str,
        status: Option<u16>,
    ) -> Result<(), GithubError> {
        let key = StepKey::Create(tag.to_owned());
        let tries = self.tries.entry(key.clone()).or_default();
        *tries += 1;
        if *tries >= MOST_TRIES {
            let error = GithubError::UnknownOutcome {
                call: call.to_owned(),
                reason: reason.to_owned(),
                status,
            };
            self.exhausted.insert(key, error);
        }
        for wait_s in [2, 4, 8, 16] {
            let wait = RequestWait::new(call, reason, Duration::from_secs(wait_s));
            self.client.wait(wait)?;
            self.relist()?;
            let mark = self.desired.mark_of_draft();
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
        // A draft that is not listed after 30 seconds was not created. The outcome is no longer
        // unknown, and the draft may be created again, unless that failed too often.
        self.unknown_steps.clear();
        Ok(())
    }

    /// Lists the releases again until the listing agrees with earlier responses.
    pub(super) fn relist_until_consistent(&mut self) -> Result<(), GithubError> {
        for tries in 1.. {
            self.relist()?;
            let (mut unlisted, mut missing) = (Vec::new(), Vec::new());
            for known in self.overlay.over(&[]) {
                if self.listed.iter().all(|listed| listed.id != known.id) {
                    unlisted.push(known.id);
                }
            }
            // This includes assets of drafts that another run created, or whose creation got no
            // response.
            for listed in &self.listed {
                missing.extend(self.overlay.missing_in(listed));
            }
            let contradiction = self
                .listed
                .iter()
                .find_map(|release| self.overlay.contradiction(release));
            if missing.is_empty() && unlisted.is_empty() && contradiction.is_none() {
                break;
            }
            if tries >= MOST_TRIES {
                if let Some(contradiction) = contradiction {
                    return Err(GithubError::Contradicted(contradiction));
                }
                // They do not appear, so someone deleted them. Releases are confirmed by ID.
                for asset in missing {
                    self.overlay.record_asset_deleted(asset);
                }
                for release in unlisted {
                    if self.client.release(release)?.is_none() {
                        self.overlay.record_release_deleted(release);
                    }
                }
                break;
            }
            let reason = match &contradiction {
                Some(ListingContradiction { name, .. }) => {
                    format!("the listing of `{name}` differs from the response to its upload")
                }
                None => "the listing is not yet complete".to_owned(),
            };
            let duration = Duration::from_secs(1 << tries);
            self.client
                .wait(RequestWait::new("GET releases", &reason, duration))?;
        }
        Ok(())
    }

    /// Lists all releases once more. This resolves all unknown outcomes, except for a draft that
    /// may not be listed yet.
    fn relist(&mut self) -> Result<(), GithubError> {
        self.listed = listed(self.client, self.desired, &mut self.overlay)?;
        let is_listed = |made: &String| self.listed.iter().any(|release| release.tag_name == *made);
        self.unknown_steps
            .retain(|step| matches!(step, PublishStep::Create { tag } if !is_listed(tag)));
        Ok(())
    }
}

/// Returns all releases, with all assets of those that belong to the desired release. Of any other,
/// only ID, tag and draft state are kept.
///
/// # Errors
/// If they cannot be read.
pub fn observe_releases(
    client: &ReleaseClient,
    desired: &DesiredRelease,
) -> Result<Vec<ListedRelease>, GithubError> {
    listed(client, desired, &mut ObservedOverlay::default())
}

/// Lists releases as [`observe_releases`] does, without those that are known to be deleted, which a
/// lagging listing may still contain.
fn listed(
    client: &ReleaseClient,
    desired: &DesiredRelease,
    overlay: &mut ObservedOverlay,
) -> Result<Vec<ListedRelease>, GithubError> {
    'again: loop {
        let mut releases = client.releases(|release| desired.has(release))?;
        releases.retain(|release| !overlay.is_gone(release.id));
        for release in releases.iter_mut().filter(|release| desired.has(release)) {
            release.assets = match client.assets(release.id) {
                Ok(assets) => assets,
                Err(error @ GithubError::Status { status: 404, .. })
                    if confirm_deletion(client, release.id, &error)? =>
                {
                    overlay.record_release_deleted(release.id);
                    continue 'again;
                }
                Err(error) => return Err(error),
            };
        }
        return Ok(releases);
    }
}

/// Waits, and returns whether a release that a response reported missing is deleted: it cannot be
/// found by its ID, and after a while it is not listed either. A single response may be wrong, and
/// a second draft in addition to an existing one is worse than waiting.
fn confirm_deletion(
    client: &ReleaseClient,
    release: u64,
    error: &GithubError,
) -> Result<bool, GithubError> {
    let call = format!("GET releases/{release}");
    let reason = format!("it may have been deleted: {error}");
    for wait_s in [6, 12, 24] {
        if client.release(release)?.is_some() {
            return Ok(false);
        }
        client.wait(RequestWait::new(
            &call,
            &reason,
            Duration::from_secs(wait_s),
        ))?;
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::{Arc, Mutex};

    use http::header::LINK;
    use http::{Request, Response};
    use rock_compat::Compat;
    use rock_names::Digest;
    use rock_publish::remote::DesiredRelease;
    use rock_publish::{AssetState, ListedAsset, ListedRelease};
    use rock_sys::http::{HttpBody, full_body};
    use serde_json::{Value, json};

    use super::observe_releases;
    use crate::client::testing::client_over;
    use crate::retry::MOST_TRIES;
    use crate::{GithubError, ResponseFuture, Transport};

    const RELEASES: &str = "/repos/o/r/releases?per_page=100";
    const RELEASE: &str = "/repos/o/r/releases/1";
    const ASSETS: &str = "/repos/o/r/releases/1/assets?per_page=100";
    const SECOND_PAGE: &str = "/repos/o/r/releases/1/assets?per_page=100&page=2";

    /// A response to a request.
    struct FixedResponse {
        status: u16,
        body: Value,
        /// Path and query of the next page.
        next: Option<&'static str>,
    }

    impl FixedResponse {
        fn ok(body: Value) -> Self {
            Self {
                status: 200,
                body,
                next: None,
            }
        }

        fn error(status: u16, message: &str) -> Self {
            Self {
                status,
                body: json!({ "message": message }),
                next: None,
            }
        }

        fn not_found() -> Self {
            Self::error(404, "Not Found")
        }
    }

    /// A transport with responses to the requests for each path and query, in order; the last one
    /// is repeated. It records the requests.
    struct ScriptedTransport {
        responses: BTreeMap<&'static str, Vec<FixedResponse>>,
        requests: Mutex<Vec<String>>,
    }

    impl Transport for ScriptedTransport {
        fn send(&self, request: Request<HttpBody>) -> ResponseFuture<'_> {
            let path = request.uri().path_and_query().unwrap().to_string();
            let mut requests = self.requests.lock().unwrap();
            let earlier = requests.iter().filter(|known| **known == path).count();
            let responses = &self.responses[path.as_str()];
            let fixed = &responses[earlier.min(responses.len() - 1)];
            requests.push(path);
            let mut response = Response::builder().status(fixed.status);
            if let Some(next) = fixed.next {
                let link = format!("<https://api.github.com{next}>; rel=\"next\"");
                response = response.header(LINK, link);
            }
            let response = response.body(full_body(fixed.body.to_string()));
            Box::pin(std::future::ready(Ok(response.unwrap())))
        }
    }

    /// Observes the releases of the tag `v1`. Returns also the requests.
    fn observe<const N: usize>(
        responses: [(&'static str, Vec<FixedResponse>); N],
    ) -> (Result<Vec<ListedRelease>, GithubError>, Vec<String>) {
        let transport = Arc::new(ScriptedTransport {
            responses: responses.into_iter().collect(),
            requests: Mutex::default(),
        });
        let client = client_over(Arc::clone(&transport) as Arc<dyn Transport>);
        let nonce = "nonce".to_owned();
        let desired = DesiredRelease::new("v1".to_owned(), nonce, &Compat::embedded());
        let observed = observe_releases(&client, &desired);
        let requests = transport.requests.lock().unwrap().clone();
        (observed, requests)
    }

    /// Returns the listing of the release `v1` with ID 1.
    fn listing() -> FixedResponse {
        FixedResponse::ok(json!([{ "id": 1, "tag_name": "v1" }]))
    }

    /// Returns the release of [`listing`] with these assets.
    fn release(assets: Vec<ListedAsset>) -> ListedRelease {
        ListedRelease {
            id: 1,
            tag_name: "v1".to_owned(),
            assets,
            ..ListedRelease::default()
        }
    }

    fn asset(id: u64, name: &str) -> ListedAsset {
        ListedAsset {
            id,
            name: name.to_owned(),
            ..ListedAsset::default()
        }
    }

    /// Only ID, tag and draft state of other releases are kept.
    #[test]
    fn all_pages_of_the_assets_of_the_release_are_observed() {
        let digest = Digest::new([15; 32]);
        let releases = json!([
            { "id": 1, "tag_name": "v1", "assets": [{ "id": 10, "name": "a.whl" }] },
            { "id": 2, "tag_name": "v2", "draft": true, "body": "text",
              "assets": [{ "id": 20, "name": "c.whl" }] },
        ]);
        let first_page = json!([
            { "id": 10, "name": "a.whl", "state": "uploaded", "size": 3,
              "digest": digest.to_string() },
        ]);
        let second_page = json!([{ "id": 11, "name": "b.whl", "state": "uploaded", "size": 4 }]);
        let (observed, requests) = observe([
            (RELEASES, vec![FixedResponse::ok(releases)]),
            (
                ASSETS,
                vec![FixedResponse {
                    next: Some(SECOND_PAGE),
                    ..FixedResponse::ok(first_page)
                }],
            ),
            (SECOND_PAGE, vec![FixedResponse::ok(second_page)]),
        ]);
        let assets = vec![
            ListedAsset {
                size: 3,
                digest: Some(digest),
                ..asset(10, "a.whl")
            },
            ListedAsset {
                size: 4,
                ..asset(11, "b.whl")
            },
        ];
        let other = ListedRelease {
            id: 2,
            tag_name: "v2".to_owned(),
            draft: true,
            ..ListedRelease::default()
        };
        assert_eq!(observed, Ok(vec![release(assets), other]));
        assert_eq!(requests, [RELEASES, ASSETS, SECOND_PAGE]);
    }

    #[test]
    fn a_draft_with_an_incomplete_upload_is_observed() {
        let releases = json!([{ "id": 1, "tag_name": "v1", "draft": true }]);
        let assets = json!([{ "id": 10, "name": "a.whl", "state": "starter", "size": 3 }]);
        let (observed, _) = observe([
            (RELEASES, vec![FixedResponse::ok(releases)]),
            (ASSETS, vec![FixedResponse::ok(assets)]),
        ]);
        let incomplete = ListedAsset {
            state: AssetState::Starter,
            size: 3,
            ..asset(10, "a.whl")
        };
        let draft = ListedRelease {
            draft: true,
            ..release(vec![incomplete])
        };
        assert_eq!(observed, Ok(vec![draft]));
    }

    /// Assets from before June 2025 have no digest, and only SHA-256 digests are used.
    #[test]
    fn assets_without_a_sha256_digest_have_none() {
        let assets = json!([
            { "id": 10, "name": "a.whl" },
            { "id": 11, "name": "b.whl", "digest": null },
            { "id": 12, "name": "c.whl", "digest": "md5:00" },
        ]);
        let (observed, _) = observe([
            (RELEASES, vec![listing()]),
            (ASSETS, vec![FixedResponse::ok(assets)]),
        ]);
        let assets = vec![asset(10, "a.whl"), asset(11, "b.whl"), asset(12, "c.whl")];
        assert_eq!(observed, Ok(vec![release(assets)]));
    }

    #[test]
    fn a_release_that_is_deleted_meanwhile_is_not_observed() {
        let (observed, requests) = observe([
            (RELEASES, vec![listing(), FixedResponse::ok(json!([]))]),
            (ASSETS, vec![FixedResponse::not_found()]),
            (RELEASE, vec![FixedResponse::not_found()]),
        ]);
        assert_eq!(observed, Ok(Vec::new()));
        assert_eq!(requests, [RELEASES, ASSETS, RELEASE, RELEASES, RELEASES]);
    }

    #[test]
    fn missing_assets_of_an_existing_release_are_an_error() {
        let (observed, requests) = observe([
            (RELEASES, vec![listing()]),
            (ASSETS, vec![FixedResponse::not_found()]),
            (
                RELEASE,
                vec![FixedResponse::ok(json!({ "id": 1, "tag_name": "v1" }))],
            ),
        ]);
        let error = GithubError::Status {
            call: "GET /repos/o/r/releases/1/assets".to_owned(),
            status: 404,
            message: "Not Found".to_owned(),
            codes: Vec::new(),
            fields: Vec::new(),
            request_id: None,
        };
        assert_eq!(observed, Err(error));
        assert_eq!(requests, [RELEASES, ASSETS, RELEASE]);
    }

    #[test]
    fn a_request_is_repeated_after_a_server_error() {
        let assets = json!([{ "id": 10, "name": "a.whl" }]);
        let (observed, requests) = observe([
            (RELEASES, vec![listing()]),
            (
                ASSETS,
                vec![
                    FixedResponse::error(502, "Bad Gateway"),
                    FixedResponse::error(503, "Overloaded"),
                    FixedResponse::ok(assets),
                ],
            ),
        ]);
        assert_eq!(observed, Ok(vec![release(vec![asset(10, "a.whl")])]));
        assert_eq!(requests, [RELEASES, ASSETS, ASSETS, ASSETS]);
    }

    #[test]
    fn a_server_error_that_persists_is_an_error() {
        let (observed, requests) = observe([
            (RELEASES, vec![listing()]),
            (ASSETS, vec![FixedResponse::error(503, "Overloaded")]),
        ]);
        let error = GithubError::ServerError {
            call: "GET /repos/o/r/releases/1/assets".to_owned(),
            reason: "503 Overloaded".to_owned(),
        };
        assert_eq!(observed, Err(error));
        assert_eq!(u32::try_from(requests.len()), Ok(1 + MOST_TRIES));
    }
}
