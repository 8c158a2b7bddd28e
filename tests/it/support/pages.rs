//! A server of index pages on loopback, as small as it can be.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What a path is answered with.
#[derive(Debug, Clone)]
pub enum Page {
    /// 200 with these bytes.
    Body(Vec<u8>),
    /// Another path.
    Redirect(String),
    /// A status and no body.
    Status(u16),
    /// 200 with so many bytes of filler, without a length in the head.
    Filler(u64),
}

/// A running server; its thread ends with the test binary.
#[derive(Debug)]
pub struct Pages {
    /// `http://127.0.0.1:PORT`.
    pub address: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Pages {
    /// Serves these paths; others are 404.
    pub fn serve(pages: BTreeMap<String, Page>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                // A client that goes away in the middle is no fault of the server.
                let _ = answer(stream, &pages, &log);
            }
        });
        Self { address, requests }
    }

    /// Returns the requested paths, in order.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn answer(
    mut stream: TcpStream,
    pages: &BTreeMap<String, Page>,
    log: &Mutex<Vec<String>>,
) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?)
        .lines()
        .map_while(Result::ok);
    let head: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
    let path = head
        .first()
        .and_then(|line| line.split(' ').nth(1))
        .unwrap_or_default()
        .to_owned();
    log.lock().unwrap().push(path.clone());
    let close = "Connection: close\r\n";
    match pages.get(&path).unwrap_or(&Page::Status(404)) {
        Page::Body(body) => {
            write!(
                stream,
                "HTTP/1.1 200 OK\r\n{close}Content-Length: {}\r\n\r\n",
                body.len()
            )?;
            stream.write_all(body)
        }
        Page::Redirect(to) => {
            write!(
                stream,
                "HTTP/1.1 302 Found\r\n{close}Location: {to}\r\nContent-Length: 0\r\n\r\n"
            )
        }
        Page::Status(status) => write!(
            stream,
            "HTTP/1.1 {status} No\r\n{close}Content-Length: 0\r\n\r\n"
        ),
        Page::Filler(bytes) => {
            write!(stream, "HTTP/1.1 200 OK\r\n{close}\r\n")?;
            let block = vec![b' '; 1 << 16];
            (0..bytes.div_ceil(1 << 16)).try_for_each(|_| stream.write_all(&block))
        }
    }
}
