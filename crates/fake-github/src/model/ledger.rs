//! The log of requests, reached states and mistakes of clients.

use std::collections::BTreeMap;

use super::fault::InjectedFault;
use super::route::ApiOperation;

/// A request in the log, without secrets.
#[derive(Debug, Clone)]
pub struct LoggedRequest {
    /// The number, from 1.
    pub number: u64,
    /// The time in milliseconds since 1970.
    pub at_ms: u64,
    /// The method, `GET`.
    pub method: String,
    /// The complete URL, as sent.
    pub url: String,
    /// The headers, with `present` for `authorization`.
    pub headers: Vec<(String, String)>,
    /// The operation.
    pub operation: ApiOperation,
    /// The JSON body; null for a file or an empty body.
    pub json: serde_json::Value,
    /// Bytes of the body that were received.
    pub size_bytes: u64,
    /// The injected fault.
    pub fault: Option<InjectedFault>,
    /// The status of the reply; 0 if there is none yet, or it was not sent.
    pub status: u16,
}

/// A request with its reply, for checks against the API description.
#[derive(Debug, Clone, serde::Serialize)]
pub struct HttpExchange {
    /// The name of the operation.
    pub operation: &'static str,
    /// The method, `GET`.
    pub method: String,
    /// The complete URL, as sent.
    pub url: String,
    /// The media types that the request accepts.
    pub accept: Option<String>,
    /// The JSON body of the request; null for a file or an empty body.
    pub request_body: serde_json::Value,
    /// The status of the reply.
    pub status: u16,
    /// The media type of the reply.
    pub content_type: Option<String>,
    /// The JSON body of the reply; null for a file or an empty body.
    pub answer_body: serde_json::Value,
}

/// A state of releases and assets that publishing goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReachedState {
    /// A draft was created.
    DraftMade,
    /// A release was created as published.
    PublishedAtOnce,
    /// The first byte of an upload was received: the asset is a `starter`.
    UploadBegun,
    /// An upload ended before its last byte.
    UploadCut,
    /// An upload is complete.
    Uploaded,
    /// An upload used a name that is taken.
    NameTaken,
    /// A complete asset was deleted.
    AssetDeleted,
    /// A `starter` was deleted.
    StarterDeleted,
    /// An asset was renamed.
    AssetRenamed,
    /// The text or title of a release changed.
    TextEdited,
    /// A draft was published.
    Published,
    /// A published release became a draft.
    Unpublished,
    /// A release was deleted.
    ReleaseDeleted,
    /// The connection was cut on purpose, before or during the reply.
    AnswerCut,
    /// A request was refused by a rate limit.
    Limited,
}

/// The log of a model.
#[derive(Debug, Clone, Default)]
pub struct RequestLedger {
    /// The requests, in order of arrival.
    pub requests: Vec<LoggedRequest>,
    /// Requests with their replies, if they are recorded.
    pub exchanges: Option<Vec<HttpExchange>>,
    /// Number of times that each state was reached.
    pub reached: BTreeMap<ReachedState, u64>,
    /// Mistakes of a client that GitHub accepts or cannot see, but that ours must not make.
    pub complaints: Vec<String>,
    /// Number of requests with a token to hosts other than GitHub's API.
    pub leaks: u64,
}

impl RequestLedger {
    /// Counts a state.
    pub fn reach(&mut self, state: ReachedState) {
        *self.reached.entry(state).or_default() += 1;
    }

    /// Returns how often a state was reached.
    pub fn times(&self, state: ReachedState) -> u64 {
        self.reached.get(&state).copied().unwrap_or_default()
    }

    /// Returns the number of requests for an operation.
    pub fn request_count(&self, operation: ApiOperation) -> usize {
        self.requests
            .iter()
            .filter(|logged| logged.operation == operation)
            .count()
    }

    /// Returns the number of requests other than `GET` and `HEAD`.
    pub fn writes(&self) -> usize {
        self.requests
            .iter()
            .filter(|logged| !["GET", "HEAD"].contains(&logged.method.as_str()))
            .count()
    }

    /// Returns the injected faults as command-line arguments that reproduce them.
    pub fn replay(&self) -> String {
        let given = self
            .requests
            .iter()
            .filter_map(|logged| Some((logged.number, logged.fault?)));
        given
            .map(|(number, fault)| format!("--fault '#{number}={fault}'"))
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Clears requests and states, but keeps mistakes.
    pub fn clear(&mut self) {
        self.requests.clear();
        self.reached.clear();
    }
}
