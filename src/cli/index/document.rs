//! Reports of changes to an index, as text or JSON.

use serde::Serialize;

use crate::cli::Format;
use crate::diagnostic::counted;
use crate::index::YankReport;
use crate::publish::{IndexSummary, install_text};

/// Returns the report of a run that only lists what it would yank and unyank.
pub(super) fn preview(report: &YankReport, format: Format) -> String {
    match format {
        Format::Human if report.is_empty() => "nothing to change\n".to_owned(),
        Format::Human => report.to_text(),
        Format::Json => {
            let document = serde_json::json!({ "version": 1, "yank": report });
            format!("{document:#}\n")
        }
    }
}

/// The report of a written index.
#[derive(Serialize)]
pub(super) struct Document {
    pub(super) version: u32,
    pub(super) index: String,
    pub(super) pages: usize,
    /// Number of METADATA files that were written next to the wheels.
    pub(super) metadata_count: usize,
    /// Number of METADATA files of deleted wheels that were removed.
    pub(super) removed_metadata_count: usize,
    /// Whether the links of the pages are those of another server.
    #[serde(skip)]
    pub(super) has_base_url: bool,
    pub(super) changed: bool,
    #[serde(rename = "yank")]
    pub(super) report: YankReport,
    pub(super) indexes: Vec<IndexSummary>,
}

impl Document {
    pub(super) fn text(&self, format: Format) -> String {
        if format == Format::Json {
            return serde_json::to_string_pretty(self)
                .expect("a struct of text and numbers serialises")
                + "\n";
        }
        let (index, pages) = (&self.index, self.pages);
        let metadata = match self.metadata_count {
            0 => String::new(),
            count => format!(
                "wrote {} next to the wheels{}\n",
                counted(count, "`.metadata` file"),
                if self.has_base_url {
                    ": upload them together, or pass `--no-metadata`"
                } else {
                    ""
                }
            ),
        };
        let removed = match self.removed_metadata_count {
            0 => String::new(),
            count => format!(
                "removed {} of deleted wheels\n",
                counted(count, "`.metadata` file")
            ),
        };
        let text = if self.changed {
            format!("wrote {index}: {}\n", counted(pages, "page"))
        } else {
            format!(
                "{index} is up to date: {}, nothing written\n",
                counted(pages, "page")
            )
        };
        text + &metadata + &removed + &self.report.to_text() + &install_text(&self.indexes)
    }
}
