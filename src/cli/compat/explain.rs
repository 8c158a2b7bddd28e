//! `compat explain`: whether the values of `AXIS=VALUE` pairs are compatible.

use std::fmt::{Display, Write as _};
use std::str::FromStr;

use super::json;
use crate::cli::shell::Verbosity;
use crate::cli::{Exit, Format, Shell};
use crate::codes::facts as codes;
use crate::compat::rows::{ClaimRow, Provenance};
use crate::compat::{Compat, CompatOverview, CompatQuery, OverviewLine, Support, SupportReason};
use crate::diagnostic::{Diagnostic, Location, Sink, nearest::nearest};
use crate::names::{DistributionName, GfxTarget};

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

/// Runs the command.
pub(super) fn run(compat: &Compat, values: &[String], format: Format, shell: &Shell) -> Exit {
    let mut sink = Sink::new();
    let question = read(compat, values, &mut sink);
    let answers: Vec<Answer<'_>> = compat.explain(&question).into_iter().map(view).collect();
    let overviews = if answers.is_empty() {
        compat.overviews(&question)
    } else {
        Vec::new()
    };
    if answers.is_empty() && overviews.is_empty() && sink.is_empty() {
        sink.push(
            Diagnostic::new(
                &codes::BAD_QUESTION,
                "no compatibility data covers these values",
            )
            .help("`rock-matrix compat list` shows the tables with the known values"),
        );
    }
    if sink.has_errors() {
        return shell.report(&sink.finish());
    }
    let claims = compat.claims_about(&question);
    shell.print(&match format {
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
    })
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
                hint: String::new(),
                source,
            },
        ),
        Support::Unsupported(because) => ("no", because),
        Support::Unknown(because) => ("unknown", because),
    };
    let SupportReason {
        reason,
        hint,
        source,
    } = because;
    Answer {
        question: answer.subject,
        word,
        reason,
        hint,
        row: source,
        origin: answer.provenance,
    }
}

/// Prints a block for each answer: the verdict with its reason and help, then with `sources` the
/// row and where it was read.
fn text(compat: &Compat, answers: &[Answer<'_>], claims: &[&ClaimRow], sources: bool) -> String {
    let mut text = String::new();
    for answer in answers {
        let _ = writeln!(text, "{}: {}", answer.question, answer.word);
        let read_in = answer
            .origin
            .map(|origin| compat.describe_provenance(origin))
            .unwrap_or_default();
        let note = answer
            .origin
            .map(|origin| origin.note.clone())
            .unwrap_or_default();
        for (name, value, is_source) in [
            ("because", &answer.reason, false),
            ("help", &answer.hint, false),
            ("from", &answer.row, true),
            ("read in", &read_in, true),
            ("note", &note, true),
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

const AXES: [&str; 5] = ["torch", "rocm", "python", "backend", "gfx"];

fn read(compat: &Compat, values: &[String], sink: &mut Sink) -> CompatQuery {
    let mut question = CompatQuery::default();
    let mut given: Vec<String> = Vec::new();
    for pair in values {
        let fault = |text: String| {
            Diagnostic::new(&codes::BAD_QUESTION, text).at(Location::Argument(pair.clone()), "")
        };
        let Some((axis, value)) = pair.split_once('=') else {
            sink.push(
                fault(format!("`{pair}` is not of the form AXIS=VALUE"))
                    .help("for example `torch=2.6.0 rocm=6.2`"),
            );
            continue;
        };
        let name = axis
            .parse::<DistributionName>()
            .map_or_else(|_| axis.to_owned(), |name| name.normalized());
        let is_package = compat.has_package(&name);
        if !is_package && !AXES.contains(&name.as_str()) {
            sink.push(unknown_axis(compat, axis, fault));
            continue;
        }
        let slot = if is_package {
            "a package"
        } else {
            name.as_str()
        };
        if given.iter().any(|before| before == slot) {
            let help = "give each axis once; separate gfx targets with `;`";
            sink.push(fault(format!("{slot} is given twice")).help(help));
            continue;
        }
        given.push(slot.to_owned());
        match name.as_str() {
            "torch" => question.torch = parsed(value, pair, sink),
            "rocm" => question.rocm = parsed(value, pair, sink),
            "python" => question.python = parsed(value, pair, sink),
            "backend" => question.backend = Some(value.to_owned()),
            "gfx" => {
                question.gfx = value
                    .split([';', ','])
                    .flat_map(|word| gfx(compat, word, pair, sink))
                    .collect();
            }
            _ => question.package = parsed(value, pair, sink).map(|version| (name, version)),
        }
    }
    question
}

/// Returns the targets of a word, which may be a target, a family or a product.
fn gfx(compat: &Compat, word: &str, pair: &str, sink: &mut Sink) -> Vec<GfxTarget> {
    compat.resolve_gfx(word).unwrap_or_else(|unknown| {
        sink.push(
            Diagnostic::new(&codes::BAD_QUESTION, unknown.to_string())
                .at(Location::Argument(pair.to_owned()), "")
                .help(
                    "`rock-matrix compat list products` and `compat list families` show the names",
                ),
        );
        Vec::new()
    })
}

fn unknown_axis(compat: &Compat, axis: &str, fault: impl Fn(String) -> Diagnostic) -> Diagnostic {
    let mut packages: Vec<&str> = compat
        .tables()
        .packages
        .iter()
        .map(|row| row.package.as_str())
        .collect();
    packages.dedup();
    let known: Vec<&str> = AXES.into_iter().chain(packages).collect();
    let fault = fault(format!("the compatibility data has no axis `{axis}`"));
    match nearest(axis, known.iter().copied()) {
        Some(near) => fault.help(format!("did you mean `{near}`?")),
        None => fault.help(format!("the axes are {}", known.join(", "))),
    }
}

fn parsed<T: FromStr<Err: Display>>(text: &str, pair: &str, sink: &mut Sink) -> Option<T> {
    let fault = |error: T::Err| {
        Diagnostic::new(&codes::BAD_QUESTION, error.to_string())
            .at(Location::Argument(pair.to_owned()), "")
            .help("correct the value")
    };
    text.parse().map_err(|error| sink.push(fault(error))).ok()
}
