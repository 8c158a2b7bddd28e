//! The wheel finder: one static page on which a person chooses what they have and gets the line
//! that installs.
//!
//! Input: the candidates of [`crate::pick`], its rules, and a title. Output: the text of one HTML
//! file that holds its data, style and script, and asks nothing of the network.
//!
//! **Invariant:** the page decides as [`crate::pick::decide`] does, from the same numbers and
//! sentences; no text of a wheel can become markup or code, and the page's own policy runs nothing
//! but its own script.

mod data;
mod page;
mod values;

pub use data::{FinderChoices, choices, data};
pub use page::{FinderPage, SCRIPT, page};
