//! Converts a combination requested in an issue into a row of a matrix file.
//!
//! Input: a matrix file, and the body that a GitHub issue form produces: `### LABEL`, an empty
//! line, the value. Output: the matrix file with the requested cell as its only one, and the
//! mapping from its locations to those in the issue.
//!
//! **Invariant:** the author of the issue chooses values of axes, each a single word, and nothing
//! else in the file.

use std::fmt::Write as _;

use super::limits::LONGEST_ISSUE_VALUE;
use crate::codes::matrix as codes;
use rock_diagnostic::nearest::nearest;
use rock_diagnostic::{Diagnostic, Location, Sink, SourceText, Span};
use rock_names::PackageVersion;
use rock_yaml::{self as yaml, Node};

/// The text that a form inserts for an empty field (GitHub documentation, "Syntax for issue
/// forms").
const NO_ANSWER: &str = "_No response_";
/// Keys of a matrix file that define its cells.
const CELLS: [&str; 4] = ["axes", "rows", "include", "exclude"];
/// Digits of a full commit hash (SHA-1, as on GitHub).
const FULL_HASH: usize = 40;

/// A matrix file with the requested cell as its only one.
#[derive(Debug, Clone)]
pub struct RequestedCell {
    /// The text of the matrix file with every other part at its original byte offset, and the row
    /// appended.
    pub source: SourceText,
    /// The row as it could be written in the file, `{python: "3.12", …}`.
    pub row: String,
    issue: SourceText,
    /// Byte ranges of values in `source`, with the ranges in the issue that they come from.
    moved: Vec<(Span, Span)>,
}

/// A heading of the issue and the text below it.
struct IssueAnswer<'a> {
    heading: &'a str,
    value: &'a str,
    span: Span,
}

/// Reads the request. Adds every diagnostic to the sink, and returns `None` if any is an error.
pub fn requested(
    matrix: &SourceText,
    issue: &SourceText,
    sink: &mut Sink,
) -> Option<RequestedCell> {
    let errors = sink.error_count();
    let root = yaml::parse(matrix, sink)?;
    if matrix.text.trim_start().starts_with('{') {
        let message = format!(
            "`{}` is a single mapping in braces, so no row can be appended",
            matrix.path
        );
        let fault = Diagnostic::new(&codes::BAD_ISSUE, message).at(matrix.location(0..1), "");
        sink.push(fault.help("write each key on its own line"));
        return None;
    }
    let axes = axes(&root);
    let answers = answers(&issue.text);
    let mut fault = |span: &Span, message: String, help: String| {
        sink.push(
            Diagnostic::new(&codes::BAD_ISSUE, message)
                .at(issue.location(span.clone()), "")
                .help(help),
        );
    };
    if axes.is_empty() {
        let help = "pass a matrix file with `axes`; the fields of the form are named after them";
        fault(
            &(0..0),
            format!("`{}` has no axes to choose values of", matrix.path),
            help.to_owned(),
        );
        return None;
    }
    let mut chosen: Vec<(&str, String, Span)> = Vec::new();
    for (axis, only) in &axes {
        let found: Vec<&IssueAnswer<'_>> = answers
            .iter()
            .filter(|answer| is_axis(answer.heading, axis))
            .collect();
        let given = found
            .iter()
            .copied()
            .find(|answer| !answer.value.is_empty() && answer.value != NO_ANSWER);
        if let [_, again, ..] = found.as_slice() {
            fault(
                &again.span,
                format!("`{axis}` is answered more than once"),
                "keep one of the answers".to_owned(),
            );
        } else if let Some(answer) = given {
            match word(answer.value) {
                Ok(value) => chosen.push((axis, value.to_owned(), answer.span.clone())),
                Err(why) => fault(
                    &answer.span,
                    format!("`{axis}` {why}"),
                    "write one version or name".to_owned(),
                ),
            }
        } else if let Some(only) = only {
            chosen.push((
                axis,
                only.clone(),
                found.first().map_or(0..0, |answer| answer.span.clone()),
            ));
        } else {
            let near = nearest(axis, answers.iter().map(|answer| answer.heading))
                .map(|near| format!(", not `### {near}`"));
            let help = format!(
                "answer it below the heading `### {axis}`{}",
                near.unwrap_or_default()
            );
            fault(
                &(0..0),
                format!("the issue does not select a value for `{axis}`"),
                help,
            );
        }
    }
    (sink.error_count() == errors).then(|| written(matrix, &root, issue, &chosen))
}

impl RequestedCell {
    /// Returns the diagnostics with locations in the row moved to the issue.
    pub fn relocate(&self, diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let moved = |mut diagnostic: Diagnostic| {
            for label in &mut diagnostic.labels {
                let (Location::Text { source, span } | Location::SecretText { source, span }) =
                    &label.location
                else {
                    continue;
                };
                if source.path != self.source.path {
                    continue;
                }
                let home = self
                    .moved
                    .iter()
                    .find(|(own, _)| own.start <= span.start && span.start < own.end);
                let is_row = self
                    .moved
                    .first()
                    .is_some_and(|(first, _)| span.end > first.start);
                match home {
                    Some((_, home)) => label.location = self.issue.location(home.clone()),
                    None if is_row => label.location = Location::File(self.issue.path.clone()),
                    None => {}
                }
            }
            diagnostic
        };
        diagnostics.into_iter().map(moved).collect()
    }
}

/// Returns the names of the axes, with the value of those that have only one.
fn axes(root: &Node) -> Vec<(&str, Option<String>)> {
    let entries = root.get("axes").and_then(Node::entries).unwrap_or_default();
    let only = |node: &Node| match node.items() {
        Some([one]) => one.text().map(str::to_owned),
        _ => None,
    };
    entries
        .iter()
        .map(|(key, node)| (key.text.as_str(), only(node)))
        .collect()
}

/// Returns the trimmed text below each third-level heading.
fn answers(text: &str) -> Vec<IssueAnswer<'_>> {
    let mut answers: Vec<IssueAnswer<'_>> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let (begin, end) = (at, at + line.len());
        at = end;
        if let Some(heading) = line.strip_prefix("### ") {
            answers.push(IssueAnswer {
                heading: heading.trim(),
                value: "",
                span: begin..begin + line.trim_end().len(),
            });
        } else if let Some(answer) = answers.last_mut() {
            let trimmed = line.trim();
            if !trimmed.is_empty() {
                let from = begin + (line.len() - line.trim_start().len());
                let from = if answer.value.is_empty() {
                    from
                } else {
                    answer.span.start
                };
                answer.span = from..begin + line.trim_end().len();
                answer.value = &text[answer.span.clone()];
            }
        }
    }
    answers
}

/// Whether a heading names an axis, ignoring ASCII case: `Flash-Attn` is the axis `flash-attn`.
fn is_axis(heading: &str, axis: &str) -> bool {
    heading.eq_ignore_ascii_case(axis)
}

/// Returns the value if it is a single word, or the reason why it is not.
fn word(value: &str) -> Result<&str, String> {
    if value.contains(['\n', '\r']) {
        return Err("has more than one line".to_owned());
    }
    if value.chars().count() > LONGEST_ISSUE_VALUE {
        return Err(format!("is longer than {LONGEST_ISSUE_VALUE} characters"));
    }
    let is_strange = |letter: &char| !letter.is_ascii_alphanumeric() && !".:+-_".contains(*letter);
    match (value.chars().find(is_strange), value.parse()) {
        (Some(letter), _) => Err(format!(
            "contains {letter:?}, which is not allowed in versions and names"
        )),
        // A short hash may later match another commit, even one that was pushed to a fork.
        (None, Ok(PackageVersion::Commit { hash, .. })) if hash.len() < FULL_HASH => Err(format!(
            "abbreviates a commit to {} digits, but an issue must name all {FULL_HASH}",
            hash.len()
        )),
        (None, _) => Ok(value),
    }
}

fn written(
    matrix: &SourceText,
    root: &Node,
    issue: &SourceText,
    chosen: &[(&str, String, Span)],
) -> RequestedCell {
    let mut text = matrix.text.to_string();
    let keys: &[(yaml::MapKey, Node)] = root.entries().unwrap_or_default();
    for (number, (key, _)) in keys
        .iter()
        .enumerate()
        .filter(|(_, (key, _))| CELLS.contains(&key.text.as_str()))
    {
        let end = keys
            .get(number + 1)
            .map_or(text.len(), |(next, _)| next.span.start);
        // The rest of the file keeps its lines and byte offsets.
        let blank: String = text[key.span.start..end]
            .bytes()
            .map(|byte| if byte == b'\n' { '\n' } else { ' ' })
            .collect();
        text.replace_range(key.span.start..end, &blank);
    }
    text.push_str("\nrows:\n");
    let (mut moved, mut row) = (Vec::new(), Vec::new());
    for (number, (axis, value, from)) in chosen.iter().enumerate() {
        let begin = text.len();
        let _ = writeln!(
            text,
            "  {} {axis}: \"{value}\"",
            if number == 0 { "-" } else { " " }
        );
        moved.push((begin..text.len(), from.clone()));
        row.push(format!("{axis}: \"{value}\""));
    }
    let source = SourceText::new(matrix.path.clone(), text);
    RequestedCell {
        source,
        row: format!("{{{}}}", row.join(", ")),
        issue: issue.clone(),
        moved,
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST_ISSUE_VALUE, requested};
    use rock_diagnostic::{Location, Sink, SourceText};

    const MATRIX: &str = "version: 1\naxes:\n  flash-attn: [\"2.8.3\"]\n  python: [\"3.11\", \"3.12\"]\n# kept?\nexclude:\n  - {python: \"3.11\"}\ngfx: [gfx942]\n";

    fn read(body: &str) -> Result<String, Vec<(String, String)>> {
        let (matrix, issue) = (
            SourceText::new("m.yaml", MATRIX),
            SourceText::new("issue.md", body),
        );
        let mut sink = Sink::new();
        let found = requested(&matrix, &issue, &mut sink);
        let text = |place: &Location| match place {
            Location::Text { source, span } => source.text[span.clone()].to_owned(),
            other => other.to_string(),
        };
        match found {
            Some(found) => {
                assert!(!sink.has_errors());
                let kept = found.source.text.find("gfx: [gfx942]").unwrap();
                assert_eq!(
                    kept,
                    MATRIX.find("gfx: [gfx942]").unwrap(),
                    "places of the rest stay"
                );
                Ok(found.row)
            }
            None => Err(sink
                .finish()
                .iter()
                .map(|one| (one.message.clone(), text(&one.labels[0].location)))
                .collect()),
        }
    }

    #[test]
    fn a_form_with_one_value_a_field_is_a_row() {
        let row = "{flash-attn: \"2.7.4\", python: \"3.12\"}";
        assert_eq!(
            read("### flash-attn\n\n2.7.4\n\n### python\n\n3.12\n\n### Why\n\nI want\n\nit.\n")
                .unwrap(),
            row
        );
        assert_eq!(
            read("### Flash-Attn\r\n\r\n 2.7.4 \r\n\r\n### Python\r\n\r\n3.12").unwrap(),
            row
        );
    }

    #[test]
    fn an_axis_with_one_value_needs_no_answer_and_others_do() {
        let row = "{flash-attn: \"2.8.3\", python: \"3.12\"}";
        assert_eq!(
            read("### flash-attn\n\n_No response_\n\n### python\n\n3.12\n").unwrap(),
            row
        );
        let faults = read("### pyton\n\n3.12\n").unwrap_err();
        assert_eq!(faults.len(), 1);
        assert_eq!(
            faults[0].0,
            "the issue does not select a value for `python`"
        );
        assert_eq!(read("").unwrap_err().len(), 1);
    }

    #[test]
    fn hostile_values_are_refused_where_they_stand() {
        for value in [
            "3.12\nrunner: mine",
            "3.12\"",
            "'3.12'",
            "${{ github.token }}",
            "$(id)",
            "`id`",
            "3.12]",
            "3.12 # x",
            "*anchor",
            "3.12\\n",
            "é",
            "3.12\u{202e}",
            "{a: b}",
            "<img>",
            &"1".repeat(65),
        ] {
            let faults = read(&format!("### python\n\n{value}\n")).unwrap_err();
            assert_eq!(faults.len(), 1, "{value:?}: {faults:?}");
            assert!(faults[0].0.starts_with("`python` "), "{faults:?}");
            assert_eq!(faults[0].1, value, "the place is the answer");
        }
    }

    #[test]
    fn the_length_of_a_value_has_a_limit() {
        let value_of = |letters: usize| read(&format!("### python\n\n{}\n", "z".repeat(letters)));
        assert!(value_of(LONGEST_ISSUE_VALUE).is_ok());
        let fault = &value_of(LONGEST_ISSUE_VALUE + 1).unwrap_err()[0].0;
        assert_eq!(fault, "`python` is longer than 64 characters");
    }

    #[test]
    fn a_field_that_an_answer_smuggles_in_is_seen_as_a_second_one() {
        let faults =
            read("### python\n\n3.12\n\n### Why\n\nbecause\n### python\n\n3.11\n").unwrap_err();
        assert_eq!(
            faults,
            [(
                "`python` is answered more than once".to_owned(),
                "3.11".to_owned()
            )]
        );
    }
}
