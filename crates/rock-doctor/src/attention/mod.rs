//! Which attention torch uses on a GPU, and whether a machine does what is expected of it.

mod choice;
mod judge;
mod log;
mod text;

pub use choice::{AttentionChoice, AttentionPreference, AttentionQuery, choose};
pub use judge::{ExpectationState, JudgedLine, LogJudgement, judge};
pub use log::{AttentionLog, LogCompleteness};
pub use text::{choices_json, choices_text, judgement_json, judgement_text};

/// The Python program that asks torch what works; [`AttentionLog`] reads what it prints.
pub const SCRIPT: &str = include_str!("../../templates/attention/check.py");
