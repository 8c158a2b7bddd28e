//! A folder served on loopback, as a static file server does it, which remembers what was asked
//! for.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The server. It ends when it is dropped.
#[derive(Debug)]
pub struct Served {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
    is_over: Arc<AtomicBool>,
}

impl Served {
    /// Serves a folder on a free port.
    pub fn folder(folder: &Path) -> Self {
        let folder = folder.to_owned();
        Self::answering(move |request| of_folder(&folder, request))
    }

    /// Answers every request on a free port with the bytes that this gives, and closes the
    /// connection then.
    pub fn answering(answer: impl Fn(&Request) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let served = Self {
            address: listener.local_addr().unwrap(),
            requests: Arc::default(),
            is_over: Arc::default(),
        };
        let (requests, is_over, answer) = (
            Arc::clone(&served.requests),
            Arc::clone(&served.is_over),
            Arc::new(answer),
        );
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                let (requests, answer) = (Arc::clone(&requests), Arc::clone(&answer));
                std::thread::spawn(move || {
                    stream.is_ok_and(|stream| {
                        let request = Request::read(&stream);
                        requests.lock().unwrap().push(request.path.clone());
                        (&stream).write_all(&answer(&request)).is_ok()
                    })
                });
            }
        });
        served
    }

    /// The address of the folder, without a slash at its end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the paths of the requests since the last call, percent-encoded as they came.
    pub fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.requests.lock().unwrap())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

/// A request.
#[derive(Debug)]
pub struct Request {
    /// `GET`.
    pub method: String,
    /// The path, percent-encoded as it came.
    pub path: String,
    /// Lines of the head below the first.
    pub headers: Vec<String>,
}

impl Request {
    fn read(stream: &TcpStream) -> Self {
        let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
        let first = lines.next().unwrap_or_default();
        let mut words = first.split(' ').map(str::to_owned);
        let (method, path) = (
            words.next().unwrap_or_default(),
            words.next().unwrap_or_default(),
        );
        Self {
            method,
            path,
            headers: lines.take_while(|line| !line.is_empty()).collect(),
        }
    }

    /// What a header says; the name in small letters.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find_map(|line| {
            let (known, value) = line.split_once(':')?;
            (known.to_ascii_lowercase() == name).then(|| value.trim())
        })
    }
}

/// The bytes of an answer: the first line and others of its head, and a body of stated length.
pub fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

fn of_folder(folder: &Path, request: &Request) -> Vec<u8> {
    let file = file_of(folder, &request.path);
    let kind = if file.extension().is_some_and(|ending| ending == "html") {
        "text/html"
    } else {
        "application/octet-stream"
    };
    let (status, body) =
        std::fs::read(file).map_or(("404 Not Found", Vec::new()), |body| ("200 OK", body));
    let mut answer = answer(status, &format!("Content-Type: {kind}\r\n"), &body);
    if request.method != "GET" {
        answer.truncate(answer.len() - body.len());
    }
    answer
}

fn file_of(folder: &Path, path: &str) -> PathBuf {
    let path = path
        .split(['?', '#'])
        .next()
        .unwrap_or_default()
        .trim_start_matches('/');
    let file = folder.join(path.replace("%2B", "+").replace("%20", " "));
    if path.is_empty() || path.ends_with('/') {
        file.join("index.html")
    } else {
        file
    }
}
