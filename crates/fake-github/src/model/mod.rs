//! A model of GitHub's releases as a state machine: requests in, replies out, with time as a value.
//!
//! **Invariant:** no socket, no clock, no sleep, no thread; the same requests at the same times get
//! the same replies.
#![allow(
    unused_imports,
    reason = "each program that includes this uses its part"
)]

pub mod admission;
pub mod asset_name;
pub mod assets;
pub mod downloads;
pub mod errors;
pub mod fault;
pub mod fault_schedule;
pub mod git;
pub mod github;
pub mod json_fields;
pub mod ledger;
pub mod paging;
pub mod rate_limits;
pub mod releases;
pub mod request;
pub mod request_url;
pub mod response_bodies;
pub mod rng;
pub mod route;
pub mod rulesets;
pub mod saved_state;
pub mod settings;
pub mod state;
pub mod times;
pub mod upload;

pub use fault::{FAULTS, InjectedFault};
pub use fault_schedule::{FaultRule, FaultSchedule};
pub use github::{FakeGithub, RequestProgress};
pub use ledger::{HttpExchange, LoggedRequest, ReachedState, RequestLedger};
pub use request::{ApiReply, ApiRequest, ReceivedBody, ReplyDelivery};
pub use route::{ApiOperation, OPERATIONS};
pub use settings::{DigestMode, GithubSettings, ListingMode, SecondaryLimits};
pub use state::{
    ApiToken, StoredAsset, StoredRelease, StoredRepository, TagRuleset, TokenKind, TokenRights,
};
pub use upload::PendingUpload;

#[cfg(test)]
mod tests;
