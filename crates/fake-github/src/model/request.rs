//! Requests and replies as plain values, and who sends them where.

use std::sync::Arc;

/// A request before or after its body came.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// `GET`, `POST`, …
    pub method: String,
    /// The whole address, with scheme and authority.
    pub url: String,
    /// Names in lower case, values as sent.
    pub headers: Vec<(String, String)>,
    /// The bytes that came, for anything but uploads that a server hashes while they come.
    pub body: Vec<u8>,
}

impl Request {
    /// A request without headers and body.
    pub fn new(method: &str, url: &str) -> Self {
        Self {
            method: method.to_owned(),
            url: url.to_owned(),
            ..Self::default()
        }
    }

    /// A request as a careful client sends it.
    pub fn careful(method: &str, url: &str, token: &str) -> Self {
        Self::new(method, url)
            .header("User-Agent", "a-test")
            .header("Accept", "application/vnd.github+json")
            .header("X-GitHub-Api-Version", "2022-11-28")
            .header("Authorization", &format!("Bearer {token}"))
    }

    /// With one more header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers
            .push((name.to_ascii_lowercase(), value.to_owned()));
        self
    }

    /// With a body and its length.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self.headers.retain(|(name, _)| name != "content-length");
        let length = self.body.len().to_string();
        self.header("content-length", &length)
    }

    /// With a JSON body.
    #[must_use]
    pub fn json(self, body: &serde_json::Value) -> Self {
        self.header("content-type", "application/json")
            .body(body.to_string())
    }

    /// The first header of that name, which is in lower case.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// What `Content-Length` says.
    pub fn length(&self) -> Option<u64> {
        self.get("content-length")?.trim().parse().ok()
    }
}

/// What came of the body of an upload.
#[derive(Debug, Clone, Default)]
pub struct Received {
    /// How many bytes came.
    pub size_bytes: u64,
    /// Their SHA-256, in hexadecimal digits.
    pub sha256: String,
    /// The bytes, where they are kept.
    pub content: Option<Arc<[u8]>>,
}

impl Received {
    /// Bytes that are at hand; at most `keep_bytes` of them are kept.
    pub fn of(bytes: &[u8], keep_bytes: u64) -> Self {
        use sha2::Digest as _;
        let size_bytes = bytes.len() as u64;
        let content = (size_bytes <= keep_bytes).then(|| Arc::from(bytes));
        Self {
            size_bytes,
            sha256: hex(&sha2::Sha256::digest(bytes)),
            content,
        }
    }
}

/// Hexadecimal digits in lower case.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// An answer, and how it travels.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Arc<[u8]>,
    /// How it travels.
    pub delivery: Delivery,
}

/// How an answer travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delivery {
    /// At once and whole.
    Whole,
    /// Not at all: the connection is cut before the first byte of an answer.
    Cut,
    /// The connection is cut after that many bytes of the body.
    CutAfter(u64),
    /// That many bytes of the body a second.
    Slow(u64),
    /// After that many bytes of the body nothing comes any more.
    Stalled(u64),
    /// The answer is ready and not sent until somebody lets it go.
    Held,
}

impl Reply {
    /// An answer with a JSON body.
    pub fn json(status: u16, body: &impl serde::Serialize) -> Self {
        let mut reply = Self::bytes(
            status,
            Arc::from(serde_json::to_vec(body).unwrap_or_default()),
        );
        reply.set("content-type", "application/json; charset=utf-8");
        reply
    }

    /// An answer with bytes.
    pub fn bytes(status: u16, body: Arc<[u8]>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body,
            delivery: Delivery::Whole,
        }
    }

    /// An answer with a page for people.
    pub fn html(status: u16, text: &str) -> Self {
        let mut reply = Self::bytes(
            status,
            Arc::from(format!("<html><body>{text}</body></html>").into_bytes()),
        );
        reply.set("content-type", "text/html");
        reply
    }

    /// An answer without a body.
    pub fn empty(status: u16) -> Self {
        Self::bytes(status, Arc::from([]))
    }

    /// No answer.
    pub fn cut() -> Self {
        Self {
            delivery: Delivery::Cut,
            ..Self::empty(0)
        }
    }

    /// Sets a header, whose name is in lower case.
    pub fn set(&mut self, name: &str, value: &str) {
        self.headers.retain(|(key, _)| key != name);
        self.headers.push((name.to_owned(), value.to_owned()));
    }

    /// The first header of that name, which is in lower case.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// Whether a client gets the whole answer.
    pub fn arrives(&self) -> bool {
        match self.delivery {
            Delivery::Whole | Delivery::Slow(_) => true,
            Delivery::CutAfter(bytes) | Delivery::Stalled(bytes) => bytes >= self.body.len() as u64,
            Delivery::Cut | Delivery::Held => false,
        }
    }

    /// The body as JSON; null where it is none.
    pub fn value(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}
