//! JSON lines, for programs.

use serde::Serialize;

use super::redact::redact_urls;
use super::text::printable;
use crate::{Diagnostic, DiagnosticLabel, Location};

/// A line of the output.
#[derive(Serialize)]
struct JsonDiagnostic<'a> {
    code: Option<&'a str>,
    name: Option<&'a str>,
    severity: String,
    message: &'a str,
    #[serde(flatten)]
    location: JsonLocation,
    labels: Vec<JsonLabel<'a>>,
    notes: &'a [String],
    help: Option<&'a str>,
}

#[derive(Serialize)]
struct JsonLabel<'a> {
    #[serde(flatten)]
    location: JsonLocation,
    text: &'a str,
    primary: bool,
}

/// A location; all fields are null where a diagnostic has none. Lines and columns count from 1,
/// columns in characters; `end_column` is the first column after the range. Bytes count from 0.
#[derive(Serialize, Default)]
struct JsonLocation {
    file: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
    end_line: Option<usize>,
    end_column: Option<usize>,
    byte_start: Option<usize>,
    byte_end: Option<usize>,
}

/// Renders each diagnostic as one line with a JSON object.
pub fn json(diagnostics: &[Diagnostic]) -> String {
    let mut out = String::new();
    for diagnostic in diagnostics {
        let row = JsonDiagnostic {
            code: Some(diagnostic.code.id),
            name: Some(diagnostic.code.name),
            severity: diagnostic.severity.to_string(),
            message: &diagnostic.message,
            location: diagnostic
                .labels
                .first()
                .map(json_location)
                .unwrap_or_default(),
            labels: diagnostic
                .labels
                .iter()
                .map(|label| JsonLabel {
                    location: json_location(label),
                    text: &label.text,
                    primary: label.primary,
                })
                .collect(),
            notes: &diagnostic.notes,
            help: diagnostic.help.as_deref(),
        };
        out.push_str(&printable(&redact_urls(&line(&row))));
    }
    out
}

/// Renders a message that is not a diagnostic as a JSON object with the same fields, without a code
/// and with the severity `info`.
pub fn json_info(message: &str) -> String {
    line(&JsonDiagnostic {
        code: None,
        name: None,
        severity: "info".to_owned(),
        message,
        location: JsonLocation::default(),
        labels: Vec::new(),
        notes: &[],
        help: None,
    })
}

/// Serializes an object. Its texts, numbers and booleans always have a JSON form.
fn line(row: &JsonDiagnostic<'_>) -> String {
    serde_json::to_string(row).unwrap_or_default() + "\n"
}

fn json_location(label: &DiagnosticLabel) -> JsonLocation {
    match &label.location {
        Location::Text { source, span } | Location::SecretText { source, span } => {
            let start = label.location.line_column();
            let end = source.location(span.end..span.end).line_column();
            JsonLocation {
                file: Some(source.path.to_string()),
                line: start.map(|(line, _)| line),
                column: start.map(|(_, column)| column),
                end_line: end.map(|(line, _)| line),
                end_column: end.map(|(_, column)| column),
                byte_start: Some(span.start),
                byte_end: Some(span.end),
            }
        }
        Location::File(path) => JsonLocation {
            file: Some(path.to_string()),
            ..JsonLocation::default()
        },
        other => JsonLocation {
            file: Some(other.to_string()),
            ..JsonLocation::default()
        },
    }
}

#[cfg(test)]
mod tests {
    use super::json;
    use crate::test_codes as codes;
    use crate::{Diagnostic, SourceText};

    #[test]
    fn each_line_is_an_object_with_columns_in_characters() {
        let source = SourceText::new("m.yaml", "a: 1\nä: [x]\n");
        let d = Diagnostic::new(&codes::DUPLICATE_KEY, "twice")
            .at(source.location(9..12), "here")
            .help("mend it");
        let text = json(&[d.clone(), d]);
        let rows: Vec<serde_json::Value> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(rows.len(), 2);
        let expected = serde_json::json!({
            "code": "M001", "name": "duplicate-key", "severity": "error", "message": "twice",
            "file": "m.yaml", "line": 2, "column": 4, "end_line": 2, "end_column": 7, "byte_start": 9, "byte_end": 12,
            "labels": [{"file": "m.yaml", "line": 2, "column": 4, "end_line": 2, "end_column": 7, "byte_start": 9,
                "byte_end": 12, "text": "here", "primary": true}],
            "notes": [], "help": "mend it",
        });
        assert_eq!(rows[0], expected);
    }
}
