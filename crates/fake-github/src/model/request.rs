//! Requests and replies as plain values.

use std::sync::Arc;

/// A request, with or without its body.
#[derive(Debug, Clone, Default)]
pub struct ApiRequest {
    /// The method, `GET`.
    pub method: String,
    /// The complete URL, with scheme and authority.
    pub url: String,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, except for uploads that the server hashes as they arrive.
    pub body: Vec<u8>,
}

impl ApiRequest {
    /// Creates a request without headers and body.
    pub fn new(method: &str, url: &str) -> Self {
        Self {
            method: method.to_owned(),
            url: url.to_owned(),
            ..Self::default()
        }
    }

    /// Creates a request with all headers that a client should send.
    pub fn complete(method: &str, url: &str, token: &str) -> Self {
        Self::new(method, url)
            .header("User-Agent", "a-test")
            .header("Accept", "application/vnd.github+json")
            .header("X-GitHub-Api-Version", "2022-11-28")
            .header("Authorization", &format!("Bearer {token}"))
    }

    /// Adds a header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers
            .push((name.to_ascii_lowercase(), value.to_owned()));
        self
    }

    /// Sets the body and its length.
    #[must_use]
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self.headers.retain(|(name, _)| name != "content-length");
        let length = self.body.len().to_string();
        self.header("content-length", &length)
    }

    /// Sets a JSON body.
    #[must_use]
    pub fn json(self, body: &serde_json::Value) -> Self {
        self.header("content-type", "application/json")
            .body(body.to_string())
    }

    /// Returns the first header of this name, which is in lower case.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// Returns the value of `Content-Length`.
    pub fn length(&self) -> Option<u64> {
        self.get("content-length")?.trim().parse().ok()
    }
}

/// The received body of an upload.
#[derive(Debug, Clone, Default)]
pub struct ReceivedBody {
    /// The number of bytes received.
    pub size_bytes: u64,
    /// The SHA-256 digest, in hexadecimal.
    pub sha256: String,
    /// The bytes, if they are kept.
    pub content: Option<Arc<[u8]>>,
}

impl ReceivedBody {
    /// Hashes a body; it is kept if it has at most `keep_bytes`.
    pub fn from_bytes(bytes: &[u8], keep_bytes: u64) -> Self {
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

/// Returns bytes in hexadecimal, in lower case.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: [u8; 16] = *b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value)]);
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}

/// A reply, and how it is delivered.
#[derive(Debug, Clone)]
pub struct ApiReply {
    /// The status code.
    pub status: u16,
    /// The headers, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Arc<[u8]>,
    /// The delivery of the reply.
    pub delivery: ReplyDelivery,
}

/// The delivery of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyDelivery {
    /// Complete and without delay.
    Whole,
    /// Not at all: the connection is cut before the first byte.
    Cut,
    /// The connection is cut after this many bytes of the body.
    CutAfter(u64),
    /// At this many bytes of the body per second.
    Slow(u64),
    /// Nothing follows after this many bytes of the body.
    Stalled(u64),
    /// Not before the server releases it.
    Held,
}

impl ApiReply {
    /// Creates a reply with a JSON body.
    pub fn json(status: u16, body: &impl serde::Serialize) -> Self {
        let mut reply = Self::bytes(
            status,
            Arc::from(serde_json::to_vec(body).unwrap_or_default()),
        );
        reply.set("content-type", "application/json; charset=utf-8");
        reply
    }

    /// Creates a reply with bytes.
    pub fn bytes(status: u16, body: Arc<[u8]>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body,
            delivery: ReplyDelivery::Whole,
        }
    }

    /// Creates a reply with an HTML page.
    pub fn html(status: u16, text: &str) -> Self {
        let mut reply = Self::bytes(
            status,
            Arc::from(format!("<html><body>{text}</body></html>").into_bytes()),
        );
        reply.set("content-type", "text/html");
        reply
    }

    /// Creates a reply without a body.
    pub fn empty(status: u16) -> Self {
        Self::bytes(status, Arc::from([]))
    }

    /// Creates a cut connection.
    pub fn cut() -> Self {
        Self {
            delivery: ReplyDelivery::Cut,
            ..Self::empty(0)
        }
    }

    /// Sets a header, whose name is in lower case.
    pub fn set(&mut self, name: &str, value: &str) {
        self.headers.retain(|(key, _)| key != name);
        self.headers.push((name.to_owned(), value.to_owned()));
    }

    /// Returns the first header of this name, which is in lower case.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    /// Returns whether a client receives the complete reply.
    pub fn arrives(&self) -> bool {
        match self.delivery {
            ReplyDelivery::Whole | ReplyDelivery::Slow(_) => true,
            ReplyDelivery::CutAfter(bytes) | ReplyDelivery::Stalled(bytes) => {
                bytes >= self.body.len() as u64
            }
            ReplyDelivery::Cut | ReplyDelivery::Held => false,
        }
    }

    /// Parses the JSON body; null if it is not JSON.
    pub fn value(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}
