//! A folder served on loopback, as a static file server does it, which remembers what was asked for.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The server. It ends when it is dropped.
#[derive(Debug)]
pub struct Served {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    is_over: Arc<AtomicBool>,
}

impl Served {
    /// Serves a folder on a free port.
    pub fn folder(folder: &Path) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let served = Self { address: listener.local_addr().unwrap(), asked: Arc::default(), is_over: Arc::default() };
        let (asked, is_over, folder) = (Arc::clone(&served.asked), Arc::clone(&served.is_over), folder.to_owned());
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                let (asked, folder) = (Arc::clone(&asked), folder.clone());
                std::thread::spawn(move || stream.is_ok_and(|stream| answer(&stream, &folder, &asked).is_ok()));
            }
        });
        served
    }

    /// The address of the folder, without a slash at its end.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The paths that were asked for since this was last called, percent-encoded as they came.
    pub fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address);
    }
}

fn answer(stream: &TcpStream, folder: &Path, asked: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream).lines();
    let first = lines.next().unwrap_or_else(|| Ok(String::new()))?;
    while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
    let mut words = first.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    asked.lock().unwrap().push(path.to_owned());
    let file = file_of(folder, path);
    let kind =
        if file.extension().is_some_and(|ending| ending == "html") { "text/html" } else { "application/octet-stream" };
    let (status, body) = std::fs::read(file).map_or(("404 Not Found", Vec::new()), |body| ("200 OK", body));
    let mut out = stream;
    let length = body.len();
    write!(out, "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")?;
    if method == "GET" { out.write_all(&body) } else { Ok(()) }
}

fn file_of(folder: &Path, path: &str) -> PathBuf {
    let path = path.split(['?', '#']).next().unwrap_or_default().trim_start_matches('/');
    let file = folder.join(path.replace("%2B", "+").replace("%20", " "));
    if path.is_empty() || path.ends_with('/') { file.join("index.html") } else { file }
}
