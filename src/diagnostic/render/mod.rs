//! Diagnostics as text: for people, as JSON lines, as GitHub annotations.

mod github;
mod human;
mod json;

pub use github::github;
pub use human::human;
pub use json::json;
