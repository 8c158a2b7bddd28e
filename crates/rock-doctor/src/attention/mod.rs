//! Which attention torch uses on a GPU, and whether a machine does what is expected of it.

mod choice;
mod judge;
mod log;
mod text;

pub use choice::{Asked, Choice, Preference, choose};
pub use judge::{Judged, Judgement, State, judge};
pub use log::{Log, Reading};
pub use text::{choices_json, choices_text, judgement_json, judgement_text};

/// The Python program that asks torch what works; [`Log`] reads what it prints.
pub const SCRIPT: &str = include_str!("../../templates/attention/check.py");
