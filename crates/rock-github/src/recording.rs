//! A transport for dry runs, which records requests instead of sending them.

use std::sync::{Mutex, PoisonError};

use http::{Method, Request, Response};
use serde_json::{Value, json};

use super::transport::{ResponseFuture, Transport};
use rock_names::Digest;
use rock_publish::{AssetState, ListedAsset, ListedRelease};
use rock_sys::http::{HttpBody, HttpError, full_body};

/// A request that would be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedCall {
    /// `POST`, `PATCH` or `DELETE`.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Size of the body in bytes.
    pub size_bytes: u64,
    /// Names of the fields in the body.
    pub fields: Vec<String>,
}

/// Simulates the releases of a repository, changed as the requests would change them. Nothing is
/// sent.
#[derive(Debug)]
pub struct RecordingTransport {
    state: Mutex<RecorderState>,
    base: String,
}

#[derive(Debug)]
struct RecorderState {
    releases: Vec<ListedRelease>,
    calls: Vec<RecordedCall>,
    /// The number of all requests, including reads.
    requests: usize,
    /// The last ID that was assigned to a simulated release or asset.
    last: u64,
}

impl RecordingTransport {
    /// Returns a transport that starts with these releases of the API at this URL.
    pub fn new(base: &str, releases: Vec<ListedRelease>) -> Self {
        let assets = releases
            .iter()
            .flat_map(|release| release.assets.iter().map(|asset| asset.id));
        let last = releases
            .iter()
            .map(|release| release.id)
            .chain(assets)
            .max()
            .unwrap_or_default();
        let state = Mutex::new(RecorderState {
            releases,
            calls: Vec::new(),
            requests: 0,
            last,
        });
        Self {
            state,
            base: base.to_owned(),
        }
    }

    /// Returns the requests that would change something, in order.
    pub fn calls(&self) -> Vec<RecordedCall> {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .calls
            .clone()
    }

    /// Returns the number of requests, including reads.
    pub fn requests(&self) -> usize {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .requests
    }

    fn answer(
        &self,
        method: &Method,
        path: &str,
        query: &str,
        sent: &RequestContent,
    ) -> Option<(u16, Value)> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.requests += 1;
        if *method != Method::GET {
            let path = if query.is_empty() {
                path.to_owned()
            } else {
                format!("{path}?{query}")
            };
            let fields = sent
                .fields
                .as_object()
                .map(|fields| fields.keys().cloned().collect())
                .unwrap_or_default();
            state.calls.push(RecordedCall {
                method: method.to_string(),
                path,
                size_bytes: sent.size_bytes,
                fields,
            });
        }
        let (_, below) = path.split_once("/releases")?;
        let words: Vec<&str> = below.split('/').filter(|word| !word.is_empty()).collect();
        let id = |word: &str| word.parse::<u64>().ok();
        match (method.as_str(), &words[..]) {
            ("GET", []) => Some((200, json!(state.releases))),
            ("GET", [release]) => Some((200, json!(state.release(id(release)?)?))),
            ("GET", [release, "assets"]) => Some((200, json!(state.release(id(release)?)?.assets))),
            ("POST", []) => Some((
                201,
                json!(state.create(sent, &format!("{}{path}", self.base))?),
            )),
            ("POST", [release, "assets"]) => {
                Some((201, json!(state.upload(id(release)?, query, sent)?)))
            }
            ("PATCH", ["assets", asset]) => Some((200, json!(state.rename(id(asset)?, sent)?))),
            ("PATCH", [release]) => Some((200, json!(state.edit(id(release)?, sent)?))),
            ("DELETE", ["assets", asset]) => {
                let asset = id(asset)?;
                state
                    .releases
                    .iter_mut()
                    .for_each(|release| release.assets.retain(|found| found.id != asset));
                Some((204, Value::Null))
            }
            ("DELETE", [release]) => {
                let release = id(release)?;
                state.releases.retain(|found| found.id != release);
                Some((204, Value::Null))
            }
            _ => None,
        }
    }
}

impl RecorderState {
    fn release(&mut self, id: u64) -> Option<&mut ListedRelease> {
        self.releases.iter_mut().find(|found| found.id == id)
    }

    /// Creates a release; `releases` is the URL of the releases.
    fn create(&mut self, sent: &RequestContent, releases: &str) -> Option<ListedRelease> {
        self.last += 1;
        let mut made: ListedRelease = serde_json::from_value(sent.fields.clone()).ok()?;
        made.id = self.last;
        made.upload_url = Some(format!(
            "{}/{}/assets{{?name,label}}",
            releases.trim_end_matches('/'),
            made.id
        ));
        self.releases.push(made.clone());
        Some(made)
    }

    fn upload(&mut self, release: u64, query: &str, sent: &RequestContent) -> Option<ListedAsset> {
        self.last += 1;
        let asset = ListedAsset {
            id: self.last,
            name: rock_names::percent_decode(query.strip_prefix("name=")?)?.into_owned(),
            state: AssetState::Uploaded,
            size: sent.size_bytes,
            digest: sent.digest,
            ..ListedAsset::default()
        };
        self.release(release)?.assets.push(asset.clone());
        Some(asset)
    }

    fn rename(&mut self, asset: u64, sent: &RequestContent) -> Option<ListedAsset> {
        let mut assets = self
            .releases
            .iter_mut()
            .flat_map(|release| &mut release.assets);
        let found = assets.find(|found| found.id == asset)?;
        sent.fields["name"].as_str()?.clone_into(&mut found.name);
        Some(found.clone())
    }

    fn edit(&mut self, release: u64, sent: &RequestContent) -> Option<ListedRelease> {
        let found = self.release(release)?;
        if let Some(body) = sent.fields["body"].as_str() {
            found.body = Some(body.to_owned());
        }
        found.draft = sent.fields["draft"].as_bool().unwrap_or(found.draft);
        Some(found.clone())
    }
}

/// The content of a request.
struct RequestContent {
    fields: Value,
    size_bytes: u64,
    digest: Option<Digest>,
}

impl Transport for RecordingTransport {
    fn send(&self, request: Request<HttpBody>) -> ResponseFuture<'_> {
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let digest = parts.extensions.get::<Digest>().copied();
            let mut sent = RequestContent {
                fields: Value::Null,
                size_bytes: 0,
                digest,
            };
            let length = parts
                .headers
                .get(http::header::CONTENT_LENGTH)
                .and_then(|value| value.to_str().ok()?.parse().ok());
            if let Some(length) = length.filter(|_| digest.is_some()) {
                // The body is a file, which is not read.
                sent.size_bytes = length;
            } else {
                let lost = |error: std::io::Error| HttpError::permanent(error.to_string());
                let bytes = http_body_util::BodyExt::collect(body)
                    .await
                    .map_err(lost)?
                    .to_bytes();
                sent.size_bytes = bytes.len() as u64;
                sent.fields = serde_json::from_slice(&bytes).unwrap_or_default();
            }
            let query = parts.uri.query().unwrap_or_default();
            let (status, answer) = self
                .answer(&parts.method, parts.uri.path(), query, &sent)
                .unwrap_or((404, json!({"message": "Not Found"})));
            let mut response = Response::new(full_body(answer.to_string()));
            *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or_default();
            Ok(response)
        })
    }
}
