//! GitHub's API for releases, tags and files.
//!
//! Input: an [`Api`], a [`Token`], and what `publish` decided. Output: what is there, and what was
//! changed. octocrab makes the JSON calls; files are sent by a request of ours on the same stack,
//! because a `+` in the name must stay one and a file must not be held in memory. All of it waits
//! in here: what it offers is called and answers.
//!
//! **Invariant:** the token goes to the API and its upload host, to nowhere else, and stands in no
//! message; a call that makes something is never sent a second time before it was seen whether the
//! first came through.

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
