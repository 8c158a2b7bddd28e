//! Executes the steps of a publish with GitHub's API for releases, tags and assets.
//!
//! Input: an [`Api`], a [`Token`], and the decisions of `rock-publish`. Output: the observed
//! releases and the changes made. octocrab makes the JSON calls. Uploads use requests of this crate
//! on the same HTTP stack, because a `+` in a name must not be decoded and files must not be held
//! in memory. The API of this crate blocks.
//!
//! **Invariant:** The token is sent only to the API and its upload host, and is in no message. A
//! call that creates something is not repeated before its outcome is known.

pub mod codes;

mod answer;
mod api;
mod apply;
mod call;
mod client;
mod clock;
mod error;
mod limits;
mod net;
mod octo;
mod pace;
mod record;
mod resolver;
mod retry;
mod token;
mod upload;
mod wire;

pub use api::{Api, ApiError, UploadsHost};
pub use apply::{Applied, Doing, End, OnSent, apply, of_goal};
pub use call::{OnWait, Stop};
pub use client::{Calls, Client, Sent, TagObject, Upload};
pub use clock::{Clock, SkippingClock, SystemClock};
pub use error::GithubError;
pub use limits::{LARGEST_TOKEN_BYTES, LONGEST_DEADLINE_MIN};
pub use net::{Net, Through};
pub use pace::Rates;
pub use record::{Recorded, Recorder};
pub use retry::{Answer, Verdict, judge};
pub use token::Token;
pub use upload::Source;
pub use wire::{Answering, Body, Wire, WireError, whole};
