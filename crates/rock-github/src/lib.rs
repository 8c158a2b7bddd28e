//! Executes the steps of a publish with GitHub's API for releases, tags and assets.
//!
//! Input: an [`ApiEndpoint`], a [`Token`], and the decisions of `rock-publish`. Output: the
//! observed releases and the changes made. octocrab makes the JSON requests, with its builders and
//! models unless a comment has a reason against them. Uploads use requests of this crate on the same
//! HTTP stack, because a `+` in a name must not be decoded and files must not be held in memory. The
//! API of this crate blocks.
//!
//! An [`UploadSet`] and the [`ObservedReleases`] give the contents of the release, [`apply`]
//! uploads them, and a [`PublishOutcome`] compares the result with the desired release.
//!
//! **Invariant:** The token is sent only to the API and its upload host, and is in no message. A
//! request that creates something is not repeated before its outcome is known.

pub mod codes;

mod api;
mod apply;
mod client;
mod clock;
mod digest_mismatch;
mod dry_run;
mod error;
mod executor;
mod limits;
mod observed_releases;
mod octocrab_service;
mod publish_outcome;
mod rate_limiter;
mod recording;
mod reply;
mod retry;
mod token;
mod transport;
mod upload;
mod upload_set;
mod wait;

pub use api::{ApiEndpoint, ApiError, UploadsHost};
pub use apply::{OnSent, PublishCallbacks, PublishResult, PublishRun, apply, observe_releases};
pub use client::{CallOptions, ObservationRequest, PendingUpload, ReleaseClient, UploadResult};
pub use clock::{Clock, SkippingClock, SystemClock};
pub use digest_mismatch::digest_mismatches;
pub use dry_run::PublishDryRun;
pub use error::GithubError;
pub use executor::{OnReply, OnWait, StopRequested};
pub use limits::{LARGEST_TOKEN_BYTES, LONGEST_DEADLINE_MIN};
pub use observed_releases::ObservedReleases;
pub use publish_outcome::{PublishOutcome, UploadState};
pub use rate_limiter::RateLimits;
pub use recording::{RecordedCall, RecordingTransport};
pub use retry::{RetryDecision, RetryInput, judge};
pub use rock_sys::http::{HttpBody, HttpClient, HttpError, ProxySettings, full_body};
pub use token::Token;
pub use transport::{ResponseFuture, Transport};
pub use upload::UploadSource;
pub use upload_set::{ReleaseChecks, UploadContents, UploadSet, accepted_files};
pub use wait::RequestWait;
