//! JSON lines, for programs.

use serde::Serialize;

use super::redact::redact_urls;
use super::text::sanitize_output;
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
///
/// `location_kind` says what `file` is: the path of a `text` or of a whole `file`, an `argument` of
/// the command line, a `member` of a wheel with the name of the wheel, or a `url`.
#[derive(Serialize, Default)]
struct JsonLocation {
    location_kind: Option<&'static str>,
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
        out.push_str(&sanitize_output(&redact_urls(&line(&row))));
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
                location_kind: Some("text"),
                file: Some(source.path.to_string()),
                line: start.map(|(line, _)| line),
                column: start.map(|(_, column)| column),
                end_line: end.map(|(line, _)| line),
                end_column: end.map(|(_, column)| column),
                byte_start: Some(span.start),
                byte_end: Some(span.end),
            }
        }
        Location::File(_) => whole("file", &label.location),
        Location::Argument(_) => whole("argument", &label.location),
        Location::Member { .. } => whole("member", &label.location),
        Location::Url(_) => whole("url", &label.location),
    }
}

/// Returns a location that has no lines, with its displayed name as `file`.
fn whole(location_kind: &'static str, location: &Location) -> JsonLocation {
    JsonLocation {
        location_kind: Some(location_kind),
        file: Some(location.to_string()),
        ..JsonLocation::default()
    }
}

#[cfg(test)]
mod tests {
    use super::json;
    use crate::test_codes as codes;
    use crate::{Diagnostic, Location, SourceText};

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
            "location_kind": "text", "file": "m.yaml", "line": 2, "column": 4, "end_line": 2,
            "end_column": 7, "byte_start": 9, "byte_end": 12,
            "labels": [{"location_kind": "text", "file": "m.yaml", "line": 2, "column": 4,
                "end_line": 2, "end_column": 7, "byte_start": 9, "byte_end": 12, "text": "here",
                "primary": true}],
            "notes": [], "help": "mend it",
        });
        assert_eq!(rows[0], expected);
    }

    /// `file` has the displayed name of any location; `location_kind` says what it is.
    #[test]
    fn each_kind_of_location_is_named() {
        let source = SourceText::new("m.yaml", "a: 1\n");
        let member = Location::Member {
            wheel: "a.whl".to_owned(),
            member: "a/b.py".to_owned(),
        };
        let rows: Vec<(String, String)> = [
            source.location(0..1),
            Location::SecretText { source, span: 0..1 },
            Location::File("m.yaml".into()),
            Location::Argument("--gpu".to_owned()),
            member,
            Location::Url("https://u:p@host/x".to_owned()),
        ]
        .into_iter()
        .map(|location| {
            let line = json(&[Diagnostic::new(&codes::BAD_SYNTAX, "x").at(location, "")]);
            let row: serde_json::Value = serde_json::from_str(&line).unwrap();
            let text = |key: &str| row[key].as_str().unwrap().to_owned();
            assert_eq!(row["labels"][0]["location_kind"], row["location_kind"]);
            (text("location_kind"), text("file"))
        })
        .collect();
        let expected = [
            ("text", "m.yaml"),
            ("text", "m.yaml"),
            ("file", "m.yaml"),
            ("argument", "argument `--gpu`"),
            ("member", "a.whl: a/b.py"),
            ("url", "https://u:***@host/x"),
        ];
        assert_eq!(
            rows,
            expected.map(|(kind, file)| (kind.to_owned(), file.to_owned()))
        );
        let nowhere = json(&[Diagnostic::new(&codes::BAD_SYNTAX, "x")]);
        assert!(
            nowhere.contains("\"location_kind\":null,\"file\":null"),
            "{nowhere}"
        );
    }
}
