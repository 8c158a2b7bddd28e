//! Renders choices and evaluated logs as text and JSON.

use std::fmt::Write as _;

use serde::Serialize;

use super::choice::{AttentionChoice, AttentionPreference, title};
use super::judge::LogJudgement;
use rock_compat::Compat;
use rock_compat::rows::AttentionRow;
use rock_diagnostic::counted;
use rock_names::Version;

/// Incremented when a field is removed or changes its meaning.
const VERSION: u32 = 1;
/// The expression that reports whether torch was built with Composable Kernel's attention.
const CK_QUESTION: &str = "torch.backends.cuda.is_ck_sdpa_available()";
/// The backend that torch uses without a library.
const MATH: &str = "math";

/// Renders a block of lines for each GPU.
pub fn choices_text(compat: &Compat, choices: &[AttentionChoice<'_>]) -> String {
    let mut text = String::new();
    for choice in choices {
        let library = choice.row.map_or("the math backend, which is slow", |row| {
            title(compat, &row.library)
        });
        let _ = writeln!(text, "{}: torch's attention uses {library}", choice.gfx);
        let mut line = |name: &str, value: &str| {
            if !value.is_empty() {
                let _ = writeln!(text, "  {name}: {value}");
            }
        };
        choice
            .because
            .iter()
            .for_each(|because| line("because", because));
        line("help", choice.help.as_deref().unwrap_or_default());
        let Some(row) = choice.row else { continue };
        for setting in settings(compat, row) {
            line("set", &setting);
        }
        if !row.built_with.is_empty() {
            line(
                "only if",
                &format!(
                    "torch was built with {}: then `{CK_QUESTION}` is True",
                    row.built_with
                ),
            );
        }
        if let Some(other) = choice.otherwise {
            line(
                "otherwise",
                &format!("torch uses {}", title(compat, &other.library)),
            );
        }
        line(
            "from",
            &compat.cite("attention.yaml", &name(row), &row.origin),
        );
        line("read in", &compat.describe_provenance(&row.origin));
        line("note", &row.origin.note);
    }
    text
}

/// Returns the settings that are required before torch is imported.
fn settings(compat: &Compat, row: &AttentionRow) -> Vec<String> {
    let usual = format!(
        "otherwise torch uses {}",
        title(compat, AttentionPreference::None.library(compat))
    );
    [
        (&row.preferred_by, usual.as_str()),
        (
            &row.needs,
            "otherwise torch warns and uses the math backend",
        ),
    ]
    .into_iter()
    .filter(|(setting, _)| !setting.is_empty())
    .map(|(setting, why)| format!("{setting} before torch is imported; {why}"))
    .collect()
}

fn name(row: &AttentionRow) -> String {
    format!("{} {} {}", row.library, row.gfx.join(" "), row.torch)
        .trim_end()
        .to_owned()
}

#[derive(Serialize)]
struct ChoiceRow<'a> {
    gfx: String,
    torch: Option<&'a str>,
    library: &'a str,
    preferred_in_vain: Option<&'a str>,
    because: &'a [String],
    help: Option<&'a str>,
    preferred_by: Option<&'a str>,
    needs: Option<&'a str>,
    built_with: Option<&'a str>,
    otherwise: Option<&'a str>,
    source: Option<String>,
}

/// Renders the choices as a JSON object.
///
/// # Panics
/// Never: strings always serialize.
pub fn choices_json(
    compat: &Compat,
    choices: &[AttentionChoice<'_>],
    torch: Option<&Version>,
) -> String {
    fn filled(text: &str) -> Option<&str> {
        Some(text).filter(|text| !text.is_empty())
    }
    let row = |choice: &AttentionChoice<'_>| {
        let of =
            |column: fn(&AttentionRow) -> &String| choice.row.and_then(|row| filled(column(row)));
        serde_json::to_value(ChoiceRow {
            gfx: choice.gfx.to_string(),
            torch: torch.map(Version::as_str),
            library: choice.row.map_or(MATH, |row| &row.library),
            preferred_in_vain: choice.in_vain,
            because: &choice.because,
            help: choice.help.as_deref(),
            preferred_by: of(|row| &row.preferred_by),
            needs: of(|row| &row.needs),
            built_with: of(|row| &row.built_with),
            otherwise: choice.otherwise.map(|row| row.library.as_str()),
            source: choice
                .row
                .map(|row| compat.cite("attention.yaml", &name(row), &row.origin)),
        })
        .expect("strings always serialize")
    };
    let choices: Vec<serde_json::Value> = choices.iter().map(row).collect();
    pretty(&serde_json::json!({"version": VERSION, "choices": choices}))
}

fn pretty(value: &serde_json::Value) -> String {
    format!("{value:#}\n")
}

/// Renders a heading and one line per expectation.
pub fn judgement_text(judgement: &LogJudgement<'_>) -> String {
    let gfx = judgement
        .gfx
        .as_ref()
        .map_or_else(|| "no GPU".to_owned(), ToString::to_string);
    let torch = judgement
        .torch
        .as_ref()
        .map(|torch| format!(", torch {torch}"))
        .unwrap_or_default();
    let count = counted(judgement.lines.len(), "line");
    let mut text = format!("{gfx}{torch}: {count} checked\n");
    let width = judgement
        .lines
        .iter()
        .map(|line| line.row.line.len())
        .max()
        .unwrap_or_default();
    for line in &judgement.lines {
        let found = line.found.as_deref().unwrap_or("-");
        let _ = writeln!(
            text,
            "  {:6}  {:width$}  {found}",
            line.state.word(),
            line.row.line
        );
    }
    text
}

#[derive(Serialize)]
struct LineRow<'a> {
    line: &'a str,
    state: &'a str,
    expect: &'a [String],
    found: Option<&'a str>,
    reason: &'a str,
}

/// Renders the evaluation as a JSON object; `ok` is false if a finding is an error.
///
/// # Panics
/// Never: strings always serialize.
pub fn judgement_json(judgement: &LogJudgement<'_>) -> String {
    let lines: Vec<serde_json::Value> = judgement
        .lines
        .iter()
        .map(|line| LineRow {
            line: &line.row.line,
            state: line.state.word(),
            expect: &line.row.expect,
            found: line.found.as_deref(),
            reason: &line.row.reason,
        })
        .map(|row| serde_json::to_value(row).expect("strings always serialize"))
        .collect();
    pretty(&serde_json::json!({
        "version": VERSION,
        "gfx": judgement.gfx.as_ref().map(ToString::to_string),
        "torch": judgement.torch,
        "ok": !judgement.findings.iter().any(rock_diagnostic::Diagnostic::is_error),
        "lines": lines,
    }))
}
