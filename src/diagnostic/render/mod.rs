//! Diagnostics as text: for people, as JSON lines, as GitHub annotations.

mod github;
mod human;
mod json;
mod text;

pub use github::github;
pub use human::human;
pub use json::json;
pub use text::{is_invisible, visible, visible_lines};
