//! Renderers of diagnostics: for people, as JSON and as GitHub annotations.

mod github;
mod human;
mod json;
mod redact;
mod text;

pub use github::{GithubAnnotations, escape as escape_command};
pub use human::human;
pub use json::{json, json_info};
pub use redact::redact_urls;
pub use text::{is_invisible, printable, visible, visible_lines, without_controls};
