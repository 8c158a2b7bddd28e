//! The report on a checked wheel, for people and as JSON.

use std::fmt::Write as _;

use super::check::CheckedWheel;
use super::document::FindingView;
use rock_diagnostic::{Code, Diagnostic, Severity, counted};

/// The version of the JSON document.
const VERSION: u32 = 1;

/// The amount of text in the report on a checked wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckDetail {
    /// Whether the wheel passed, and the number of errors and warnings.
    Result,
    /// Also the results of the audit.
    Audit,
    /// Also what was checked, and the number of notes.
    Everything,
}

impl CheckedWheel {
    /// Removes the findings with the codes `ignored`, and turns those with the codes `allowed` into
    /// notes.
    pub fn filter_findings(&mut self, ignored: &[&Code], allowed: &[&Code]) {
        self.findings
            .retain(|finding| !ignored.contains(&finding.code));
        for finding in &mut self.findings {
            if allowed.contains(&finding.code) {
                finding.severity = Severity::Note;
            }
        }
    }

    /// Returns the report for people on the wheel at this path, without its findings.
    pub fn to_text(&self, path: &str, detail: CheckDetail) -> String {
        let errors = self.count(Severity::Error);
        let result = if errors == 0 { "ok" } else { "failed" };
        let mut text = format!("{result:6} {path}");
        for (count, word) in [
            (errors, "error"),
            (self.count(Severity::Warning), "warning"),
        ] {
            if count > 0 {
                text.push_str(&format!(", {}", counted(count, word)));
            }
        }
        text.push('\n');
        if detail >= CheckDetail::Audit {
            for line in self.audit.iter().flat_map(|audit| &audit.lines) {
                let _ = writeln!(text, "       {line}");
            }
        }
        if detail == CheckDetail::Everything {
            let notes = self.count(Severity::Note);
            if self.audit.is_some() {
                let _ = writeln!(
                    text,
                    "       checked RECORD, METADATA, platforms, label, search paths, GPU code and size"
                );
            }
            if notes > 0 {
                let _ = writeln!(text, "       {}", counted(notes, "note"));
            }
        }
        text
    }

    /// Returns the report on the wheel at this path as a line of JSON. Keys of an
    /// [`AuditDocument`](super::AuditDocument), including those below `rock`, have the same meaning.
    pub fn to_json(&self, path: &str) -> String {
        let mut document = serde_json::json!({
            "version": VERSION,
            "wheel": path,
            "ok": !self.findings.iter().any(Diagnostic::is_error),
            "gfx": self.audit.as_ref().map_or(&[][..], |audit| &audit.gfx_targets),
        });
        if let Some(audit) = &self.audit {
            if let Some(tag) = &audit.platform_tag {
                document["overall_tag"] = serde_json::json!(tag);
            }
            document["rock"] = serde_json::json!(audit.facts);
        }
        let findings: Vec<FindingView> = self.findings.iter().map(FindingView::new).collect();
        document["findings"] = serde_json::json!(findings);
        format!("{document}\n")
    }

    fn count(&self, severity: Severity) -> usize {
        self.findings
            .iter()
            .filter(|finding| finding.severity == severity)
            .count()
    }
}

#[cfg(test)]
mod tests {
    use super::{CheckDetail, CheckedWheel};
    use crate::codes::wheel as codes;
    use crate::locations::{in_member, in_wheel};
    use rock_diagnostic::Diagnostic;

    fn checked() -> CheckedWheel {
        CheckedWheel {
            file_name: "a.whl".to_owned(),
            size_bytes: 7,
            audit: None,
            findings: codes::ALL
                .iter()
                .copied()
                .take(2)
                .map(|code| Diagnostic::new(code, "a finding"))
                .collect(),
        }
    }

    #[test]
    fn ignored_findings_are_removed_and_allowed_ones_are_notes() {
        let mut wheel = checked();
        assert_eq!(wheel.findings.len(), 2);
        wheel.filter_findings(&codes::ALL[..1], &codes::ALL[1..2]);
        assert_eq!(
            wheel.to_text("dist/a.whl", CheckDetail::Everything),
            "ok     dist/a.whl\n       1 note\n"
        );
        assert_eq!(
            wheel.to_text("dist/a.whl", CheckDetail::Result),
            "ok     dist/a.whl\n"
        );
    }

    #[test]
    fn findings_about_several_files_have_all_paths() {
        let mut wheel = checked();
        let others = ["b.so", "c.so"].map(|path| in_member("a.whl", path));
        wheel.findings[0] = Diagnostic::new(codes::ALL[0], "a finding")
            .at(in_member("a.whl", "a.so"), "")
            .same_in_other_files(others.to_vec());
        wheel.findings[1] = Diagnostic::new(codes::ALL[1], "a finding").at(in_wheel("a.whl"), "");
        let document: serde_json::Value = serde_json::from_str(&wheel.to_json("a.whl")).unwrap();
        let findings = &document["findings"];
        assert_eq!(findings[0]["path"], "a.so");
        let paths = serde_json::json!(["a.so", "b.so", "c.so"]);
        assert_eq!(findings[0]["paths"], paths);
        assert_eq!(findings[1]["path"], serde_json::Value::Null);
        assert_eq!(findings[1]["paths"], serde_json::json!([]));
    }

    #[test]
    fn a_wheel_with_an_error_has_failed() {
        let mut wheel = checked();
        wheel.findings[0].severity = rock_diagnostic::Severity::Error;
        wheel.findings[1].severity = rock_diagnostic::Severity::Warning;
        assert_eq!(
            wheel.to_text("dist/a.whl", CheckDetail::Audit),
            "failed dist/a.whl, 1 error, 1 warning\n"
        );
        let json = wheel.to_json("dist/a.whl");
        let document: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(document["wheel"], "dist/a.whl");
        assert_eq!(document["ok"], false);
        assert_eq!(document["gfx"], serde_json::json!([]));
        assert_eq!(document["findings"][1]["severity"], "warning");
        assert_eq!(document.get("rock"), None);
    }
}
