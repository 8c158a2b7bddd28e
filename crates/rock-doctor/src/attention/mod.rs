//! The library that torch's attention uses on a GPU, and the check that a machine behaves as
//! expected.

mod choice;
mod judge;
mod log;
mod text;

pub use choice::{AttentionChoice, AttentionPreference, AttentionQuery, choose};
pub use judge::{ExpectationState, JudgedLine, LogJudgement, judge};
pub use log::{AttentionLog, LogCompleteness};
pub use text::{choices_json, choices_text, judgement_json, judgement_text};

/// The Python program that checks which attention backends work; [`AttentionLog`] parses its
/// output.
pub const SCRIPT: &str = include_str!("../../templates/attention/check.py");
