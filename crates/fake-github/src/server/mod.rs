//! A server for the model on loopback sockets: it hashes uploads as they arrive, cuts connections,
//! and delays replies.
//!
//! **Invariant:** it listens on 127.0.0.1 only, and keeps no uploads in memory beyond the settings.

mod hold_queue;
mod receive;
mod recorder;
mod resettable_stream;
mod send;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::sync::oneshot;

use super::model::request_url::RequestUrl;
use super::model::route::RequestRoute;
use super::model::{ApiOperation, ApiReply, ApiRequest, FakeGithub, RequestProgress};
use hold_queue::HoldQueue;
use recorder::ConnectionRecorder;
pub use recorder::RecordedConnection;
use resettable_stream::{ResetSwitch, ResettableStream};
use send::ChunkedBody;

/// Returns the time in milliseconds since 1970.
pub type ClockFn = Arc<dyn Fn() -> u64 + Send + Sync>;

/// A running server. It stops when it is dropped.
pub struct FakeServer {
    /// The address of the API, and of uploads unless they have their own host.
    pub address: SocketAddr,
    /// The address of the storage host.
    pub storage: SocketAddr,
    /// The model; requests wait while it is locked.
    pub model: Arc<Mutex<FakeGithub>>,
    hold: Arc<HoldQueue>,
    recorder: ConnectionRecorder,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// The state that all connections share.
struct ServerContext {
    model: Arc<Mutex<FakeGithub>>,
    hold: Arc<HoldQueue>,
    recorder: ConnectionRecorder,
    clock: ClockFn,
}

impl ServerContext {
    fn model(&self) -> MutexGuard<'_, FakeGithub> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FakeServer {
    /// Starts on free ports, with the system clock.
    ///
    /// # Panics
    /// If no port of 127.0.0.1 is available.
    pub fn start(github: FakeGithub) -> Self {
        Self::start_at(github, 0, system_clock()).expect("a port of 127.0.0.1")
    }

    /// Starts on a port, or on a free one for 0, with a clock.
    ///
    /// The hosts in the settings are replaced by the addresses of the server. If the settings have
    /// another host for uploads than for the API, uploads get their own port.
    ///
    /// # Errors
    /// If no port of 127.0.0.1 is available.
    pub fn start_at(mut github: FakeGithub, port: u16, clock: ClockFn) -> io::Result<Self> {
        let listen = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let (api, storage) = (listen(port)?, listen(0)?);
        let mut listeners = vec![api, storage];
        let has_uploads = github.settings.uploads_base != github.settings.api_base;
        if has_uploads {
            listeners.push(listen(0)?);
        }
        let addresses = listeners
            .iter()
            .map(TcpListener::local_addr)
            .collect::<io::Result<Vec<_>>>()?;
        let bases: Vec<String> = addresses
            .iter()
            .map(|address| format!("http://{address}"))
            .collect();
        let settings = &mut github.settings;
        settings.api_base.clone_from(&bases[0]);
        settings.web_base.clone_from(&bases[0]);
        settings.storage_base.clone_from(&bases[1]);
        settings
            .uploads_base
            .clone_from(bases.get(2).unwrap_or(&bases[0]));

        let (model, hold) = (Arc::new(Mutex::new(github)), Arc::new(HoldQueue::default()));
        let recorder = ConnectionRecorder::default();
        let (held, recorded) = (Arc::clone(&hold), recorder.clone());
        let shared = Arc::new(ServerContext {
            model: Arc::clone(&model),
            hold: held,
            recorder: recorded,
            clock,
        });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("fake-github".to_owned())
            .spawn(move || {
                runtime.block_on(async move {
                    for (listener, base) in listeners.into_iter().zip(bases) {
                        tokio::spawn(accept(listener, base, Arc::clone(&shared)));
                    }
                    // Stops when the sender sends a value or is dropped.
                    let _ = stopped.await;
                });
            })?;
        let (address, storage) = (addresses[0], addresses[1]);
        Ok(Self {
            address,
            storage,
            model,
            hold,
            recorder,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Returns the URL of the API.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Locks the model, for inspection or changes.
    pub fn github(&self) -> MutexGuard<'_, FakeGithub> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a request is held, and returns its number, or `None` after the timeout.
    pub fn wait_held(&self, at_most: Duration) -> Option<u64> {
        self.hold.wait_held(at_most)
    }

    /// Records the bytes of all connections from now on.
    pub fn record(&self) {
        self.recorder.start();
    }

    /// Returns the recorded connections, in the order in which they were opened.
    pub fn recorded(&self) -> Vec<RecordedConnection> {
        self.recorder.connections()
    }

    /// Releases all held requests.
    pub fn release_held(&self) {
        self.hold.release_held();
    }
}

impl Drop for FakeServer {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The thread may have ended already.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was already printed.
            let _ = thread.join();
        }
    }
}

/// Returns the system clock.
pub fn system_clock() -> ClockFn {
    Arc::new(|| {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

async fn accept(listener: TcpListener, base: String, shared: Arc<ServerContext>) {
    let ready = listener
        .set_nonblocking(true)
        .and_then(|()| tokio::net::TcpListener::from_std(listener));
    let Ok(listener) = ready else { return };
    let base: Arc<str> = Arc::from(base);
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Usually too many open files: wait until some are closed.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        // Small replies are sent at once; otherwise their second part waits 40 ms for an
        // acknowledgement of the first.
        let _ = stream.set_nodelay(true);
        let (shared, base, reset) = (
            Arc::clone(&shared),
            Arc::clone(&base),
            ResetSwitch::default(),
        );
        let wire = TokioIo::new(ResettableStream::new(
            stream,
            reset.clone(),
            shared.recorder.connection(&base),
        ));
        let service = service_fn(move |request| {
            answer(
                Arc::clone(&shared),
                Arc::clone(&base),
                reset.clone(),
                request,
            )
        });
        let connection = hyper::server::conn::http1::Builder::new().serve_connection(wire, service);
        tokio::spawn(async move {
            // A connection that was cut ends with an error, as expected.
            let _ = connection.await;
        });
    }
}

/// The maximum size of a body that is not an upload, in bytes.
const LARGEST_BODY: usize = 4 << 20;

/// Moves `main` and a tag of the repository to a commit, as `git push` does: `PUT
/// /_git/TAG/COMMIT`, which is not part of the API. Returns whether this was such a request.
fn push_tag(shared: &ServerContext, method: &str, path: &str) -> bool {
    let pushed = path
        .strip_prefix("/_git/")
        .and_then(|rest| rest.rsplit_once('/'));
    let (Some((tag, commit)), "PUT") = (pushed, method) else {
        return false;
    };
    for repository in shared.model().repositories.values_mut() {
        repository
            .branches
            .insert("main".to_owned(), commit.to_owned());
        repository.tags.insert(tag.to_owned(), commit.to_owned());
    }
    true
}

async fn answer(
    shared: Arc<ServerContext>,
    base: Arc<str>,
    reset: ResetSwitch,
    incoming: hyper::Request<Incoming>,
) -> io::Result<hyper::Response<ChunkedBody>> {
    let (head, mut body) = incoming.into_parts();
    let path = head
        .uri
        .path_and_query()
        .map_or("/", hyper::http::uri::PathAndQuery::as_str);
    if push_tag(&shared, head.method.as_str(), path) {
        return send::deliver(
            ApiReply::json(200, &serde_json::json!({})),
            &shared.hold,
            reset,
        )
        .await;
    }
    let mut request = ApiRequest::new(head.method.as_str(), &format!("{base}{path}"));
    for (name, value) in &head.headers {
        request = request.header(name.as_str(), &String::from_utf8_lossy(value.as_bytes()));
    }
    let route = RequestRoute::resolve(
        &request.method,
        &RequestUrl::parse(&request.url),
        &shared.model().settings,
    );
    let is_upload = route.operation == ApiOperation::Upload;
    if !is_upload {
        request.body = receive::collect(&mut body, LARGEST_BODY).await?;
    }
    let now_ms = (shared.clock)();
    let mut begun = shared.model().begin(&request, now_ms);
    if let RequestProgress::Held(number) = begun {
        shared.hold.wait(number).await;
        begun = shared.model().resume(&request, number, (shared.clock)());
    }
    let reply = match begun {
        RequestProgress::Answer(reply) => {
            if is_upload {
                receive::drain(&mut body).await;
            }
            reply
        }
        RequestProgress::Upload(upload) => receive::upload(&shared, *upload, &mut body).await,
        RequestProgress::Held(_) => return Err(io::Error::other("a request is held once")),
    };
    send::deliver(reply, &shared.hold, reset).await
}
