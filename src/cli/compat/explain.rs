//! `compat explain`: whether the values of `AXIS=VALUE` pairs are compatible.

use std::fmt::Write as _;

use super::json;
use crate::cli::shell::Verbosity;
use crate::cli::wheel::fail;
use crate::cli::{Exit, Format, Shell};
use crate::compat::rows::{ClaimRow, Confidence, Provenance};
use crate::compat::{Compat, CompatOverview, OverviewLine, Support, SupportReason, is_supported};
use crate::diagnostic::{Diagnostic, Severity};

/// The output as JSON.
#[derive(serde::Serialize)]
struct Document<'a> {
    version: u32,
    answers: Vec<Answer<'a>>,
    /// An overview of each value, if no row covers several of them.
    overviews: Vec<OverviewView<'a>>,
    claims: Vec<&'a ClaimRow>,
}

#[derive(serde::Serialize)]
struct OverviewView<'a> {
    subject: &'a str,
    lines: Vec<LineView<'a>>,
}

#[derive(serde::Serialize)]
struct LineView<'a> {
    topic: &'a str,
    text: &'a str,
    rows: Vec<RowView<'a>>,
}

#[derive(serde::Serialize)]
struct RowView<'a> {
    row: &'a str,
    origin: &'a Provenance,
}

#[derive(serde::Serialize)]
struct Answer<'a> {
    question: String,
    #[serde(rename = "answer")]
    word: &'static str,
    reason: String,
    hint: String,
    /// Table, row and date.
    row: String,
    origin: Option<&'a Provenance>,
}

/// Runs the command. It exits with 1 if an answer rules the values out, or if no table lists one of
/// them.
pub(super) fn run(compat: &Compat, values: &[String], format: Format, shell: &Shell) -> Exit {
    let question = match compat.parse_query(values) {
        Ok(question) => question,
        Err(errors) => return fail(shell, &errors),
    };
    let answers = compat.explain(&question);
    let is_supported = is_supported(&answers) && !compat.has_unlisted_value(&question);
    let answers: Vec<Answer<'_>> = answers.into_iter().map(view).collect();
    let overviews = if answers.is_empty() {
        compat.overviews(&question)
    } else {
        Vec::new()
    };
    let unknown = compat.unknown_values(&question, !answers.is_empty());
    if answers.is_empty() && overviews.is_empty() {
        return fail(shell, &unknown.into());
    }
    // The answers about the other values remain useful.
    let warnings = unknown.into_iter();
    let warnings: Vec<Diagnostic> = warnings
        .map(|error| error.severity(Severity::Warning))
        .collect();
    shell.report(&warnings);
    let claims = compat.claims_about(&question);
    let printed = shell.print(&match format {
        Format::Json => {
            let overviews = overviews.iter().map(overview_view).collect();
            json(&Document {
                version: 1,
                answers,
                overviews,
                claims,
            })
        }
        Format::Human => {
            let sources = shell.verbosity >= Verbosity::Verbose;
            overviews_text(compat, &overviews, sources) + &text(compat, &answers, &claims, sources)
        }
    });
    match printed {
        Exit::Done if !is_supported => Exit::Fault,
        other => other,
    }
}

fn overview_view<'a>(overview: &'a CompatOverview<'a>) -> OverviewView<'a> {
    let line = |line: &'a OverviewLine<'a>| LineView {
        topic: &line.topic,
        text: &line.text,
        rows: line
            .rows
            .iter()
            .map(|(row, origin)| RowView { row, origin })
            .collect(),
    };
    OverviewView {
        subject: &overview.subject,
        lines: overview.lines.iter().map(line).collect(),
    }
}

/// Prints a block for each value: a column of topics and one of answers, then with `sources` the
/// rows they were read from.
fn overviews_text(compat: &Compat, overviews: &[CompatOverview<'_>], sources: bool) -> String {
    let mut text = String::new();
    for overview in overviews {
        let _ = writeln!(text, "{}", overview.subject);
        let width = overview
            .lines
            .iter()
            .map(|line| line.topic.len())
            .max()
            .unwrap_or_default();
        let mut before = "";
        for line in &overview.lines {
            let topic = if line.topic == before {
                ""
            } else {
                &line.topic
            };
            before = &line.topic;
            let _ = writeln!(text, "  {topic:width$}  {}", line.text);
            for (row, origin) in line.rows.iter().filter(|_| sources) {
                let _ = writeln!(
                    text,
                    "  {:width$}    from {row}: {}",
                    "",
                    compat.describe_provenance(origin)
                );
            }
        }
    }
    text
}

fn view(answer: crate::compat::CompatAnswer<'_>) -> Answer<'_> {
    let (word, because) = match answer.support {
        Support::Supported { source } => (
            "yes",
            SupportReason {
                reason: String::new(),
                hint: None,
                source,
            },
        ),
        Support::Unsupported(because) => ("no", because),
        Support::Unknown(because) => ("unknown", because),
    };
    Answer {
        question: answer.subject.to_string(),
        word,
        hint: because.hint_text(),
        reason: because.reason,
        row: because.source,
        origin: answer.provenance,
    }
}

/// Prints a block for each answer: the verdict with its reason and help, then with `sources` the
/// row and where it was read. The verdict has the confidence of the row unless it is verified. The
/// same help of several answers is printed once.
fn text(compat: &Compat, answers: &[Answer<'_>], claims: &[&ClaimRow], sources: bool) -> String {
    let mut text = String::new();
    let mut hints: Vec<&str> = Vec::new();
    for answer in answers {
        let _ = write!(text, "{}: {}", answer.question, answer.word);
        let status = answer.origin.map(|origin| origin.status);
        if let Some(status) = status.filter(|status| *status != Confidence::Verified) {
            let _ = write!(text, " ({})", status.as_str());
        }
        text.push('\n');
        let hint = Some(answer.hint.as_str()).filter(|hint| !hints.contains(hint));
        hints.extend(hint);
        let read_in = answer
            .origin
            .map(|origin| compat.describe_provenance(origin))
            .unwrap_or_default();
        let note = answer
            .origin
            .map(|origin| origin.note.clone())
            .unwrap_or_default();
        for (name, value, is_source) in [
            ("because", answer.reason.as_str(), false),
            ("help", hint.unwrap_or_default(), false),
            ("from", answer.row.as_str(), true),
            ("read in", read_in.as_str(), true),
            ("note", note.as_str(), true),
        ] {
            if !value.is_empty() && (sources || !is_source) {
                let _ = writeln!(text, "  {name}: {value}");
            }
        }
    }
    for claim in claims {
        let _ = writeln!(text, "also: {}", claim.claim);
        if sources {
            let _ = writeln!(
                text,
                "  read in: {}",
                compat.describe_provenance(&claim.origin)
            );
        }
    }
    text
}
