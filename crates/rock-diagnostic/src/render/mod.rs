//! Renderers of diagnostics: for people, as JSON and as GitHub annotations.
//!
//! A renderer escapes and redacts what it is given. Other text from outside goes through one of
//! these functions before it is printed, after [`redact_urls`]:
//!
//! | function | line breaks | tabs | workflow commands | for |
//! |---|---|---|---|---|
//! | [`escape_line`] | escaped | escaped | unchanged | a value within one line, such as a name in a message |
//! | [`escape_block`] | `\n` kept | escaped | unchanged | text of several lines, such as a report |
//! | [`escape_controls_keep_whitespace`] | kept | kept | unchanged | lines of other programs, such as the output of a build |
//! | [`sanitize_output`] | kept | kept | escaped | the whole output of a command; values of JSON do not change |

mod github;
mod human;
mod json;
mod redact;
mod text;

pub use github::{GithubAnnotations, escape as escape_command};
pub use human::human;
pub use json::{json, json_info};
pub use redact::redact_urls;
pub use text::{
    escape_block, escape_controls_keep_whitespace, escape_line, is_invisible, sanitize_output,
};
