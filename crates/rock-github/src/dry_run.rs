//! A dry run: publishes to a simulated repository, and records the requests.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use rock_compat::Compat;
use rock_names::RepoName;
use rock_publish::ListedRelease;

use crate::{
    ApiEndpoint, CallOptions, Clock, PublishRun, RateLimits, RecordedCall, RecordingTransport,
    ReleaseClient, SkippingClock, Transport,
};

/// Time limit of a dry run, whose clock only counts.
const MAX_TIME: Duration = Duration::from_hours(24);

/// The requests of a dry run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublishDryRun {
    /// The requests that would change something.
    pub calls: Vec<RecordedCall>,
    /// Number of all requests.
    pub requests: usize,
    /// Total time of the pauses between them.
    pub pauses: Duration,
}

impl PublishDryRun {
    /// Runs `publish` without network, with a client of a simulated repository that has these
    /// releases, and returns also its result.
    ///
    /// # Errors
    /// The system cannot create the async runtime.
    pub fn run(
        repo: RepoName,
        api: &ApiEndpoint,
        releases: Vec<ListedRelease>,
        compat: &Compat,
        publish: impl FnOnce(&ReleaseClient) -> PublishRun,
    ) -> io::Result<(PublishRun, Self)> {
        let recorder = Arc::new(RecordingTransport::new(&api.base(), releases));
        let clock = Arc::new(SkippingClock::default());
        let options = CallOptions {
            api: api.clone(),
            token: None,
            transport: Arc::clone(&recorder) as Arc<dyn Transport>,
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            rates: RateLimits::of(compat),
            // The result includes the time, which is not a reason to stop.
            time: MAX_TIME,
            stop: Box::new(|| false),
            // The clock skips waits.
            on_wait: Box::new(|_| {}),
            on_reply: Box::new(|_, _, _| {}),
        };
        let run = publish(&ReleaseClient::new(repo, options)?);
        let dry_run = Self {
            calls: recorder.calls(),
            requests: recorder.requests(),
            pauses: clock.now(),
        };
        Ok((run, dry_run))
    }
}
