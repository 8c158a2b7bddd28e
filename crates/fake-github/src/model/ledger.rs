//! What happened: every request, every state, every rule that a client broke.

use std::collections::BTreeMap;

use super::fault::Fault;
use super::route::Operation;

/// One request, without secrets.
#[derive(Debug, Clone)]
pub struct Logged {
    /// Its number, from 1.
    pub number: u64,
    /// When it came.
    pub at_ms: u64,
    /// `GET`, …
    pub method: String,
    /// The whole address, as sent.
    pub url: String,
    /// The headers; of `authorization` only that it was there.
    pub headers: Vec<(String, String)>,
    /// What it asked for.
    pub operation: Operation,
    /// What it said as JSON; null for a file and for nothing.
    pub json: serde_json::Value,
    /// Bytes of its body that came.
    pub size_bytes: u64,
    /// What went wrong with it on purpose.
    pub fault: Option<Fault>,
    /// The status of the answer; 0 as long as there is none, or where it never left.
    pub status: u16,
}

/// A request with its answer, for whoever checks both.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Exchange {
    /// The word for the operation.
    pub operation: &'static str,
    /// `GET`, …
    pub method: String,
    /// The whole address, as sent.
    pub url: String,
    /// The media types that the request accepts.
    pub accept: Option<String>,
    /// The body of the request as JSON; null for a file and for nothing.
    pub request_body: serde_json::Value,
    /// The status of the answer.
    pub status: u16,
    /// The media type of the answer.
    pub content_type: Option<String>,
    /// The body of the answer as JSON; null for a file and for nothing.
    pub answer_body: serde_json::Value,
}

/// A state of releases and assets that publishing passes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reached {
    /// A draft was made.
    DraftMade,
    /// A release was made that was published at once.
    PublishedAtOnce,
    /// The first byte of an upload was taken: the asset is `starter`.
    UploadBegun,
    /// An upload ended before its last byte.
    UploadCut,
    /// An upload is whole.
    Uploaded,
    /// A request for an upload under a name that is taken.
    NameTaken,
    /// An asset that was whole went.
    AssetDeleted,
    /// An asset that was `starter` went.
    StarterDeleted,
    /// An asset got another name.
    AssetRenamed,
    /// The text or title of a release changed.
    TextEdited,
    /// A draft became public.
    Published,
    /// A release was hidden again.
    Unpublished,
    /// A release went.
    ReleaseDeleted,
    /// The connection was cut on purpose, before or in the answer.
    AnswerCut,
    /// A request was sent away with a limit.
    Limited,
}

/// The book of all that.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    /// The requests, in the order they came.
    pub requests: Vec<Logged>,
    /// The exchanges, where they are kept.
    pub exchanges: Option<Vec<Exchange>>,
    /// How often each state was reached.
    pub reached: BTreeMap<Reached, u64>,
    /// What a client did that GitHub lets pass or cannot see, and that ours must not do.
    pub complaints: Vec<String>,
    /// How often a token came to a host that is not GitHub's API.
    pub leaks: u64,
}

impl Ledger {
    /// Counts a state.
    pub fn reach(&mut self, state: Reached) {
        *self.reached.entry(state).or_default() += 1;
    }

    /// How often a state was reached.
    pub fn times(&self, state: Reached) -> u64 {
        self.reached.get(&state).copied().unwrap_or_default()
    }

    /// How many requests asked for an operation.
    pub fn asked(&self, operation: Operation) -> usize {
        self.requests
            .iter()
            .filter(|logged| logged.operation == operation)
            .count()
    }

    /// How many requests were no `GET` and no `HEAD`.
    pub fn writes(&self) -> usize {
        self.requests
            .iter()
            .filter(|logged| !["GET", "HEAD"].contains(&logged.method.as_str()))
            .count()
    }

    /// The faults that happened, as arguments for the program to have them again.
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

    /// Forgets the requests and counts, and nothing that is wrong.
    pub fn clear(&mut self) {
        self.requests.clear();
        self.reached.clear();
    }
}
