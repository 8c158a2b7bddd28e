//! The JSON document of a preflight.

use serde::Serialize;

use super::{CheckOutcome, PreflightReport};
use rock_diagnostic::Diagnostic;
use rock_diagnostic::render::json;

/// The version of the document.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct PreflightDocument<'a> {
    version: u32,
    repository: Option<String>,
    tag: &'a str,
    /// Whether no check failed and GitHub answered every request.
    publishable: bool,
    checks: Vec<CheckRow<'a>>,
    /// The errors, as with `--message-format json`.
    diagnostics: Vec<serde_json::Value>,
}

#[derive(Serialize)]
struct CheckRow<'a> {
    name: &'static str,
    outcome: String,
    detail: &'a str,
    codes: &'a [&'static str],
}

impl PreflightReport {
    /// Whether no check failed.
    pub fn is_passed(&self) -> bool {
        self.checks
            .iter()
            .all(|check| check.outcome != CheckOutcome::Failed)
    }

    /// Returns the report as JSON with a final newline. `is_complete` is false if GitHub did not
    /// answer every request.
    ///
    /// # Panics
    /// Never: strings always serialize.
    pub fn json(&self, repository: Option<String>, tag: &str, is_complete: bool) -> String {
        let rows = self.checks.iter().map(|check| CheckRow {
            name: check.name,
            outcome: check.outcome.to_string(),
            detail: &check.detail,
            codes: &check.codes,
        });
        let document = PreflightDocument {
            version: VERSION,
            repository,
            tag,
            publishable: is_complete && self.is_passed(),
            checks: rows.collect(),
            diagnostics: self.faults.iter().map(diagnostic_value).collect(),
        };
        serde_json::to_string_pretty(&document).expect("a struct of text serialises") + "\n"
    }
}

fn diagnostic_value(diagnostic: &Diagnostic) -> serde_json::Value {
    serde_json::from_str(json(std::slice::from_ref(diagnostic)).trim()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::{ObservedRepository, PreflightRequest, preflight};

    #[test]
    fn a_tag_is_publishable_if_every_check_ran_and_none_failed() {
        let document = |tag: &str, is_complete| -> serde_json::Value {
            let request = PreflightRequest {
                tag,
                files_per_hour: 480,
                most_assets: 1000,
                ..PreflightRequest::default()
            };
            let observed = ObservedRepository {
                is_offline: true,
                releases: Some(vec![]),
                ..ObservedRepository::default()
            };
            let report = preflight(&request, &observed);
            serde_json::from_str(&report.json(Some("o/r".to_owned()), tag, is_complete)).unwrap()
        };
        let good = document("v1", true);
        assert_eq!(
            (&good["publishable"], &good["repository"]),
            (&true.into(), &"o/r".into())
        );
        assert_eq!(document("v1", false)["publishable"], false);
        let bad = document("v 1", true);
        assert_eq!(bad["publishable"], false);
        assert_eq!(bad["diagnostics"].as_array().unwrap().len(), 1, "{bad:#}");
    }
}
