//! The result of comparing a table with its source, and the interface that reads the source.

use rock_diagnostic::Diagnostic;
use serde::Serialize;

/// The version of the JSON documents.
const VERSION: u32 = 1;

/// The result of comparing a table with its source.
#[derive(Debug, Clone, PartialEq)]
pub struct TableComparison {
    /// Whether the table differs from its source.
    pub differs: bool,
    /// The differences and remarks for people, a line each.
    pub lines: Vec<String>,
    /// Remarks that are warnings.
    pub warnings: Vec<Diagnostic>,
    /// The line for a table that is up to date.
    pub up_to_date: Option<&'static str>,
    /// The comparison as JSON, with a final newline.
    pub document: String,
    /// For `git apply` in a checkout that has `matrices/compat`; empty if there are no differences.
    pub patch: String,
}

/// Reads pages of a server.
pub trait PageSource {
    /// Reads a page.
    ///
    /// # Errors
    /// If the server does not respond with the page.
    fn read(&mut self, address: &str) -> Result<String, PageError>;

    /// Receives a remark for the user about a page that is missing.
    fn remark(&mut self, text: &str);
}

/// The error of a page that cannot be read.
#[derive(Debug, Clone, PartialEq)]
pub struct PageError {
    /// The HTTP status, if the server responded.
    pub status: Option<u16>,
    /// The error for the user.
    pub diagnostic: Diagnostic,
}

/// The error of reading the source of a table.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RefreshError {
    /// A page cannot be read.
    #[error("{}", .0.message)]
    Page(Box<Diagnostic>),
    /// A server does not have the pages.
    #[error("{reason}")]
    Source {
        /// The address.
        address: String,
        /// The cause.
        reason: String,
        /// The advice for the user.
        help: &'static str,
    },
}

impl From<PageError> for RefreshError {
    fn from(error: PageError) -> Self {
        Self::Page(Box::new(error.diagnostic))
    }
}

/// The JSON document of a comparison.
#[derive(Serialize)]
pub(super) struct ComparisonDocument<'a, D, R> {
    version: u32,
    /// The names of the pages, releases or repositories that were read.
    read: Vec<String>,
    differences: &'a [D],
    #[serde(skip_serializing_if = "Option::is_none")]
    remarks: Option<Vec<R>>,
    patch: &'a str,
}

impl<'a, D: Serialize, R: Serialize> ComparisonDocument<'a, D, R> {
    /// Creates the document of a comparison without remarks.
    pub(super) fn new(read: Vec<String>, differences: &'a [D], patch: &'a str) -> Self {
        Self {
            version: VERSION,
            read,
            differences,
            remarks: None,
            patch,
        }
    }

    /// Sets the remarks.
    pub(super) fn with_remarks(mut self, remarks: Vec<R>) -> Self {
        self.remarks = Some(remarks);
        self
    }

    /// Returns the document as text with a final newline.
    pub(super) fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("structs of texts and lists serialise") + "\n"
    }
}

#[cfg(test)]
pub(crate) mod testing {
    use std::collections::BTreeMap;

    use super::{PageError, PageSource};
    use rock_diagnostic::{Code, Diagnostic};

    const UNREAD: Code = Code::error("X001", "unread", "A page that a test does not have.");

    /// Pages in memory, the addresses that were read, and the remarks.
    #[derive(Default)]
    pub(crate) struct PagesInMemory {
        pub(crate) pages: BTreeMap<String, String>,
        /// The status of all other pages; `None` if the server does not respond.
        pub(crate) status: Option<u16>,
        pub(crate) read: Vec<String>,
        pub(crate) remarks: Vec<String>,
    }

    impl PagesInMemory {
        pub(crate) fn new(pages: &[(&str, &str)], status: Option<u16>) -> Self {
            let page = |(address, text): &(&str, &str)| ((*address).to_owned(), (*text).to_owned());
            Self {
                pages: pages.iter().map(page).collect(),
                status,
                ..Self::default()
            }
        }
    }

    impl PageSource for PagesInMemory {
        fn read(&mut self, address: &str) -> Result<String, PageError> {
            self.read.push(address.to_owned());
            self.pages.get(address).cloned().ok_or_else(|| PageError {
                status: self.status,
                diagnostic: Diagnostic::new(&UNREAD, format!("cannot read {address}")),
            })
        }

        fn remark(&mut self, text: &str) {
            self.remarks.push(text.to_owned());
        }
    }
}
