//! GitHub's releases as a state machine: requests in, replies out, time as a value.
//!
//! **Invariant:** no socket, no clock, no sleep, no thread; the same requests at the same times get
//! the same replies.
#![allow(
    unused_imports,
    reason = "each program that includes this uses its part"
)]

pub mod address;
pub mod assets;
pub mod chance;
pub mod downloads;
pub mod errors;
pub mod fault;
pub mod fields;
pub mod gate;
pub mod git;
pub mod github;
pub mod ledger;
pub mod limits;
pub mod paging;
pub mod releases;
pub mod rename;
pub mod request;
pub mod route;
pub mod rulesets;
pub mod schedule;
pub mod settings;
pub mod shapes;
pub mod state;
pub mod store;
pub mod times;
pub mod upload;

pub use fault::{FAULTS, Fault};
pub use github::{Begun, Github};
pub use ledger::{Exchange, Ledger, Logged, Reached};
pub use request::{Delivery, Received, Reply, Request};
pub use route::{OPERATIONS, Operation};
pub use schedule::{Faults, Rule};
pub use settings::{Digests, Listing, Secondary, Settings};
pub use state::{Asset, Release, Repository, Rights, TagRuleset, Token, TokenKind};
pub use upload::Upload;

#[cfg(test)]
mod tests;
