//! Uploads the missing files of a release, or records the requests that would be sent.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::cli::publish::connect::{Opened, client};
use crate::cli::publish::outcome::{Rehearsal, line};
use crate::cli::publish::{Args, Exit, Gathered, Shell};
use crate::cli::reporters::UploadReporter;
use crate::codes::release as codes;
use crate::compat::Compat;
use crate::github::{
    CallOptions, Clock, PublishCallbacks, PublishRun, RateLimits, RecordingTransport,
    ReleaseClient, SkippingClock, Transport, UploadSource, apply,
};
use crate::publish::ListedRelease;
use crate::publish::remote::{DeleteReason, DesiredRelease, PublishPolicy, PublishStep};
use crate::sys;

/// Time limit of a dry run, whose clock only counts.
const LONGEST: Duration = Duration::from_hours(24);

/// The contents of the files to upload.
pub(super) struct Content<'c> {
    pub(super) offered: &'c [Gathered],
    pub(super) generated: &'c BTreeMap<String, Vec<u8>>,
}

/// Uploads the missing files and shows the progress.
pub(super) fn send(
    args: &Args,
    client: &ReleaseClient,
    goal: &DesiredRelease,
    listed: Vec<ListedRelease>,
    content: &Content<'_>,
    shell: &Shell,
) -> PublishRun {
    let options = &args.github;
    let allowed = PublishPolicy {
        replace: args.replace,
        published: args.allows(&codes::RELEASE_IS_PUBLISHED),
        clean_duplicates: options.clean_duplicates,
        fetch_to_verify: options.verify == "full",
    };
    let reporter = Arc::new(UploadReporter::new(goal, &listed, shell));
    let sent = Arc::clone(&reporter);
    let mut doing = PublishCallbacks {
        open: &|name| content.open(name),
        on_step: &mut |step| {
            match step {
                // A published wheel is deleted here.
                PublishStep::DeleteAsset {
                    name,
                    why: DeleteReason::OtherBytes,
                    ..
                } => {
                    shell.tell(&format!(
                        "replacing {name}: the release has a file with other bytes"
                    ));
                }
                step => shell.detail(&line(step)),
            }
            reporter.step(step);
        },
        on_sent: Arc::new(move |name, bytes| sent.sent(name, bytes)),
        at_once: usize::from(options.jobs),
    };
    let applied = apply(client, goal, allowed, listed, &mut doing);
    reporter.finish();
    applied
}

/// Does the same without network, and returns the requests that would be sent.
pub(super) fn rehearse(
    args: &Args,
    opened: &Opened,
    goal: &DesiredRelease,
    listed: Vec<ListedRelease>,
    content: &Content<'_>,
    compat: &Compat,
    shell: &Shell,
) -> Result<(PublishRun, Rehearsal), Exit> {
    let recorder = Arc::new(RecordingTransport::new(&opened.api.base(), listed.clone()));
    let clock = Arc::new(SkippingClock::default());
    let calls = CallOptions {
        api: opened.api.clone(),
        token: None,
        wire: Arc::clone(&recorder) as Arc<dyn Transport>,
        clock: Arc::clone(&clock) as Arc<dyn Clock>,
        rates: RateLimits::of(compat),
        // The result includes the time, which is not a reason to stop.
        time: LONGEST,
        stop: Box::new(|| false),
        // The clock skips waits.
        on_wait: Box::new(|_, _, _| {}),
    };
    let client = client(opened.repo.clone(), calls, shell)?;
    let applied = send(args, &client, goal, listed, content, shell);
    let found = Rehearsal {
        calls: recorder.calls(),
        requests: recorder.requests(),
        pauses: clock.now(),
    };
    Ok((applied, found))
}

impl Content<'_> {
    fn open(&self, name: &str) -> std::io::Result<UploadSource> {
        if let Some(bytes) = self.generated.get(name) {
            return Ok(UploadSource::Text(bytes.clone().into()));
        }
        let found = self
            .offered
            .iter()
            .find(|gathered| gathered.asset.name() == name);
        let path = found
            .map(|gathered| gathered.path.as_path())
            .ok_or(std::io::ErrorKind::NotFound)?;
        sys::open_file(path).map(UploadSource::File)
    }
}
