//! The wheel finder: a static page on which users select their environment and get the install
//! command.
//!
//! Input: the candidates of [`crate::pick`], its rules, and a title. Output: the text of one HTML
//! file that contains its data, style and script, and makes no network requests.
//!
//! **Invariant:** the page makes the same decisions as [`crate::pick::decide`], from the same
//! numbers and sentences; text from a wheel cannot become markup or code, and the page's content
//! security policy allows only its own script.

mod data;
mod local_links;
mod page;
mod published_page;
mod values;

pub use data::{FinderChoices, choices, data};
pub use local_links::local_links_warning;
pub use page::{FinderPage, SCRIPT, page};
pub use published_page::{FinderWheels, PublishedPage};
