//! A GitHub that is played: the client, without sockets and without waiting. The clock is part of
//! the play.

use std::collections::BTreeMap;
use std::future::Future;
use std::io::Read;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};
use std::time::Duration;

use http_body_util::BodyExt;
use rock_matrix::compat::Compat;
use rock_matrix::github::{
    ApiEndpoint, CallOptions, Clock, GithubError, HttpBody, HttpError, PublishCallbacks,
    PublishResult, PublishRun, RateLimits, ReleaseClient, ResponseFuture, Token, Transport,
    UploadSource, apply, full_body, observe_releases,
};
use rock_matrix::names::Digest;
use rock_matrix::publish::DesiredFile;
use rock_matrix::publish::remote::{DesiredRelease, MakeLatest, PublishPolicy};
use sha2::{Digest as _, Sha256};

use fake_github::model::rng::SplitMixRng;
use fake_github::model::{ApiRequest, FakeGithub, ReplyDelivery, StoredAsset, StoredRelease};

const BEGIN_MS: u64 = 1_790_000_000_000;

/// Decoded once for thousands of plays.
static COMPAT: LazyLock<Compat> = LazyLock::new(Compat::embedded);

/// A GitHub and the time there.
pub struct Play {
    github: Mutex<FakeGithub>,
    pub now_ms: AtomicU64,
    chance: Mutex<SplitMixRng>,
    /// The messages about waits.
    pub waits: Mutex<Vec<String>>,
    /// How long a run may take.
    pub time: Duration,
}

/// What is asked goes to the play.
pub struct Stage(pub Arc<Play>);

impl Transport for Stage {
    fn send(&self, request: http::Request<HttpBody>) -> ResponseFuture<'_> {
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let mut call = ApiRequest::new(parts.method.as_str(), &parts.uri.to_string());
            for (name, value) in &parts.headers {
                call = call.header(name.as_str(), value.to_str().unwrap());
            }
            let lost = |reason: &str| HttpError::transient(reason);
            let sent = body
                .collect()
                .await
                .map_err(|error| lost(&error.to_string()))?
                .to_bytes();
            call.body = sent.to_vec();
            // The network sets the length, here as there.
            if call.length().is_none()
                && (!call.body.is_empty() || parts.method == http::Method::POST)
            {
                call = call.clone().body(call.body.clone());
            }
            // Each answer takes its time.
            let now_ms = self.0.now_ms.fetch_add(50, Ordering::Relaxed);
            let reply = self.0.github().handle(&call, now_ms);
            let arrived = match reply.delivery {
                ReplyDelivery::Whole | ReplyDelivery::Slow(_) => reply.body.to_vec(),
                ReplyDelivery::Cut
                | ReplyDelivery::Held
                | ReplyDelivery::CutAfter(_)
                | ReplyDelivery::Stalled(_) => {
                    return Err(lost("the connection was cut"));
                }
            };
            let mut response = http::Response::builder().status(reply.status);
            for (name, value) in &reply.headers {
                response = response.header(name, value);
            }
            Ok(response.body(full_body(arrived)).unwrap())
        })
    }
}

struct Handle(Arc<Play>);

impl Clock for Handle {
    fn now(&self) -> Duration {
        Duration::from_millis(self.0.now_ms.load(Ordering::Relaxed) - BEGIN_MS)
    }

    fn epoch_seconds(&self) -> u64 {
        self.0.now_ms.load(Ordering::Relaxed) / 1000
    }

    fn sleep(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        self.0.now_ms.fetch_add(
            u64::try_from(time.as_millis()).unwrap().max(1),
            Ordering::Relaxed,
        );
        Box::pin(std::future::ready(()))
    }

    fn chance(&self) -> f64 {
        f64::from(u32::try_from(self.0.chance.lock().unwrap().below(1000)).unwrap()) / 1000.0
    }
}

impl Play {
    pub fn of(mut github: FakeGithub, seed: u64) -> Arc<Self> {
        "https://api.test".clone_into(&mut github.settings.api_base);
        "https://api.test".clone_into(&mut github.settings.uploads_base);
        "https://storage.test".clone_into(&mut github.settings.storage_base);
        // Nothing is under way while something else arrives.
        github.settings.under_way_ms = 0;
        Arc::new(Self {
            github: Mutex::new(github),
            now_ms: AtomicU64::new(BEGIN_MS),
            chance: Mutex::new(SplitMixRng::new(seed)),
            waits: Mutex::default(),
            time: Duration::from_mins(45),
        })
    }

    pub fn github(&self) -> MutexGuard<'_, FakeGithub> {
        self.github.lock().unwrap()
    }

    /// Seconds since the play began.
    pub fn seconds(&self) -> u64 {
        (self.now_ms.load(Ordering::Relaxed) - BEGIN_MS) / 1000
    }

    pub fn pass(&self, ms: u64) {
        self.now_ms.fetch_add(ms, Ordering::Relaxed);
    }

    pub fn client(self: &Arc<Self>) -> ReleaseClient {
        self.client_over(Arc::new(Stage(Arc::clone(self))))
    }

    /// A client whose calls go another way.
    pub fn client_over(self: &Arc<Self>, transport: Arc<dyn Transport>) -> ReleaseClient {
        let play = Arc::clone(self);
        let calls = CallOptions {
            api: "https://api.test".parse::<ApiEndpoint>().unwrap(),
            token: Token::new("writer"),
            transport,
            clock: Arc::new(Handle(Arc::clone(self))),
            rates: RateLimits::of(&COMPAT),
            time: self.time,
            stop: Box::new(|| false),
            on_wait: Box::new(move |wait| play.waits.lock().unwrap().push(wait.to_string())),
            on_reply: Box::new(|_, _, _| {}),
        };
        ReleaseClient::new("me/wheels".parse().unwrap(), calls).unwrap()
    }

    /// One run of the program: what came of it.
    pub fn run(
        self: &Arc<Self>,
        files: &Files,
        desired: &DesiredRelease,
        allowed: PublishPolicy,
    ) -> Result<PublishRun, GithubError> {
        self.github().forget_waits();
        run_over(&self.client(), files, desired, allowed)
    }

    /// The same: how it ended.
    pub fn publish(
        self: &Arc<Self>,
        files: &Files,
        desired: &DesiredRelease,
        allowed: PublishPolicy,
    ) -> PublishResult {
        self.run(files, desired, allowed)
            .map_or_else(PublishResult::Failed, |applied| applied.end)
    }

    pub fn releases(&self) -> Vec<Arc<StoredRelease>> {
        self.github()
            .repository("me/wheels")
            .releases
            .values()
            .cloned()
            .collect()
    }
}

/// One run of the program with this client.
pub fn run_over(
    client: &ReleaseClient,
    files: &Files,
    desired: &DesiredRelease,
    allowed: PublishPolicy,
) -> Result<PublishRun, GithubError> {
    let listed = observe_releases(client, desired)?;
    let mut doing = PublishCallbacks {
        open_file: &|name| Ok(files.open(name)),
        path_of: &|name| format!("dist/{name}"),
        on_step: &mut |_| {},
        on_sent: Arc::new(|_, _| {}),
        at_once: files.at_once,
    };
    Ok(apply(client, desired, allowed, listed, &mut doing))
}

/// Files that are to be published.
pub struct Files {
    pub bytes: BTreeMap<String, Vec<u8>>,
    pub at_once: usize,
    /// Whether wheels are files that are read beside the sending, and not bytes at hand: the play
    /// is another each time.
    pub is_read_beside: bool,
    /// How many are open, and how many were at once.
    pub open: Arc<(AtomicUsize, AtomicUsize)>,
}

/// A file that says when it is closed.
struct File(std::io::Cursor<Vec<u8>>, Arc<(AtomicUsize, AtomicUsize)>);

impl Read for File {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(into)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        self.1.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Files {
    pub fn of(count: u64, seed: u64) -> Self {
        let name = |at: u64| format!("a-{at}+rocm6.2torch2.5-cp311-cp311-linux_x86_64.whl");
        let wheels = (0..count).map(|at| (name(at), format!("wheel {at} of {seed}").into_bytes()));
        let bytes = wheels
            .chain([(
                "SHA256SUMS".to_owned(),
                format!("sums of {seed}").into_bytes(),
            )])
            .collect();
        Self {
            bytes,
            at_once: 2,
            is_read_beside: false,
            open: Arc::default(),
        }
    }

    fn open(&self, name: &str) -> UploadSource {
        let bytes = self.bytes[name].clone();
        if !self.is_read_beside {
            return UploadSource::Text(bytes.into());
        }
        let (now, most) = &*self.open;
        most.fetch_max(now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        UploadSource::File(Box::new(File(
            std::io::Cursor::new(bytes),
            Arc::clone(&self.open),
        )))
    }

    /// How many were open at the same time.
    pub fn most_open(&self) -> usize {
        self.open.1.load(Ordering::Relaxed)
    }

    pub fn desired_release(&self, nonce: u64) -> DesiredRelease {
        let file = |(name, bytes): (&String, &Vec<u8>)| DesiredFile {
            name: name.clone(),
            digest: Digest::new(Sha256::digest(bytes).into()),
            size_bytes: bytes.len() as u64,
            generated: name == "SHA256SUMS",
        };
        DesiredRelease {
            tag: "v1".to_owned(),
            title: None,
            body: Some("what is new".to_owned()),
            target: None,
            prerelease: false,
            make_latest: MakeLatest::Legacy,
            assets: self.bytes.iter().map(file).collect(),
            stays_draft: false,
            nonce: format!("nonce{nonce}"),
            most_assets: COMPAT.limit_value("release-assets"),
        }
    }

    /// Whether releases hold exactly these: by digest, or by size where GitHub was not asked for
    /// more.
    pub fn are_in(&self, assets: &[Arc<StoredAsset>], is_full: bool) -> bool {
        let digest = |bytes: &[u8]| Digest::new(Sha256::digest(bytes).into()).to_hex();
        let same = |asset: &StoredAsset| {
            let bytes = self
                .bytes
                .get(&asset.name)
                .filter(|bytes| bytes.len() as u64 == asset.size_bytes);
            asset.is_uploaded
                && bytes.is_some_and(|bytes| !is_full || asset.sha256 == Some(digest(bytes)))
        };
        assets.len() == self.bytes.len() && assets.iter().all(|asset| same(asset))
    }
}
