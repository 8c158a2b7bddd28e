//! The model behind real sockets on loopback: uploads are hashed while they come, cuts are cuts,
//! slow is slow.
//!
//! **Invariant:** it listens on 127.0.0.1 alone, and keeps no upload in memory that the settings do
//! not ask for.

mod hold;
mod receive;
mod record;
mod send;
mod wire;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::sync::oneshot;

use super::model::address::Address;
use super::model::route::Route;
use super::model::{Begun, Github, Operation, Reply, Request};
use hold::Hold;
pub use record::Connection;
use record::Recorder;
use send::Sending;
use wire::{Doom, Wire};

/// What asks the time, in milliseconds since 1970.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;

/// A running server. It stops when it is dropped.
pub struct Server {
    /// Where the API is, and uploads unless they have a host of their own.
    pub address: SocketAddr,
    /// The other host, which holds the bytes of assets.
    pub storage: SocketAddr,
    /// The state machine; requests wait while it is locked.
    pub model: Arc<Mutex<Github>>,
    hold: Arc<Hold>,
    recorder: Recorder,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What every connection shares.
struct Shared {
    model: Arc<Mutex<Github>>,
    hold: Arc<Hold>,
    recorder: Recorder,
    clock: Clock,
}

impl Shared {
    fn model(&self) -> MutexGuard<'_, Github> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Server {
    /// Starts on free ports, with the clock of the machine.
    ///
    /// # Panics
    /// When no port of 127.0.0.1 can be had.
    pub fn start(github: Github) -> Self {
        Self::start_at(github, 0, machine_clock()).expect("a port of 127.0.0.1")
    }

    /// Starts on a port, or a free one for 0, with a clock.
    ///
    /// The hosts of the settings become the addresses of the server. Where they name another host
    /// for uploads than for the API, uploads get a port of their own.
    ///
    /// # Errors
    /// When a port of 127.0.0.1 cannot be had.
    pub fn start_at(mut github: Github, port: u16, clock: Clock) -> io::Result<Self> {
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

        let (model, hold) = (Arc::new(Mutex::new(github)), Arc::new(Hold::default()));
        let recorder = Recorder::default();
        let (held, recorded) = (Arc::clone(&hold), recorder.clone());
        let shared = Arc::new(Shared {
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
                    // Either word means the end: told, or the server is gone.
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

    /// The address of the API.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The state machine, for a look or a change.
    pub fn github(&self) -> MutexGuard<'_, Github> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until a request is held, and gives its number; nothing when the time is over.
    pub fn wait_held(&self, at_most: Duration) -> Option<u64> {
        self.hold.wait_held(at_most)
    }

    /// Records the bytes of every connection that is made from now on.
    pub fn record(&self) {
        self.recorder.start();
    }

    /// The recorded connections, in the order in which they were made.
    pub fn recorded(&self) -> Vec<Connection> {
        self.recorder.connections()
    }

    /// Lets every held request go on.
    pub fn let_go(&self) {
        self.hold.let_go();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // A thread that has ended needs no word.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            // What it panicked with was printed.
            let _ = thread.join();
        }
    }
}

/// The clock of the machine.
pub fn machine_clock() -> Clock {
    Arc::new(|| {
        let since = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

async fn accept(listener: TcpListener, base: String, shared: Arc<Shared>) {
    let ready = listener
        .set_nonblocking(true)
        .and_then(|()| tokio::net::TcpListener::from_std(listener));
    let Ok(listener) = ready else { return };
    let base: Arc<str> = Arc::from(base);
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files, as a rule: wait until some are closed.
            tokio::time::sleep(Duration::from_millis(10)).await;
            continue;
        };
        // Small answers go out at once; otherwise their second part waits 40 ms for the first to be
        // acknowledged.
        let _ = stream.set_nodelay(true);
        let (shared, base, doom) = (Arc::clone(&shared), Arc::clone(&base), Doom::default());
        let wire = TokioIo::new(Wire::new(
            stream,
            doom.clone(),
            shared.recorder.connection(&base),
        ));
        let service = service_fn(move |request| {
            answer(
                Arc::clone(&shared),
                Arc::clone(&base),
                doom.clone(),
                request,
            )
        });
        let connection = hyper::server::conn::http1::Builder::new().serve_connection(wire, service);
        tokio::spawn(async move {
            // A connection that was cut ends with an error, as it should.
            let _ = connection.await;
        });
    }
}

/// Bytes of a body that is no upload, at most.
const LARGEST_BODY: usize = 4 << 20;

/// Moves `main` and a tag of the repository to a commit, as `git push` does, which is no call of
/// the API: `PUT /_git/TAG/COMMIT`. Returns whether it was one.
fn push_tag(shared: &Shared, method: &str, path: &str) -> bool {
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
    shared: Arc<Shared>,
    base: Arc<str>,
    doom: Doom,
    incoming: hyper::Request<Incoming>,
) -> io::Result<hyper::Response<Sending>> {
    let (head, mut body) = incoming.into_parts();
    let path = head
        .uri
        .path_and_query()
        .map_or("/", hyper::http::uri::PathAndQuery::as_str);
    if push_tag(&shared, head.method.as_str(), path) {
        return send::deliver(Reply::json(200, &serde_json::json!({})), &shared.hold, doom).await;
    }
    let mut request = Request::new(head.method.as_str(), &format!("{base}{path}"));
    for (name, value) in &head.headers {
        request = request.header(name.as_str(), &String::from_utf8_lossy(value.as_bytes()));
    }
    let route = Route::of(
        &request.method,
        &Address::of(&request.url),
        &shared.model().settings,
    );
    let is_upload = route.operation == Operation::Upload;
    if !is_upload {
        request.body = receive::collect(&mut body, LARGEST_BODY).await?;
    }
    let now_ms = (shared.clock)();
    let mut begun = shared.model().begin(&request, now_ms);
    if let Begun::Held(number) = begun {
        shared.hold.wait(number).await;
        begun = shared.model().resume(&request, number, (shared.clock)());
    }
    let reply = match begun {
        Begun::Answer(reply) => {
            if is_upload {
                receive::drain(&mut body).await;
            }
            reply
        }
        Begun::Upload(upload) => receive::upload(&shared, *upload, &mut body).await,
        Begun::Held(_) => return Err(io::Error::other("a request is held once")),
    };
    send::deliver(reply, &shared.hold, doom).await
}
