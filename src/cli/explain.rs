//! `explain`: the meaning of diagnostic codes, and how to fix their causes.

use itertools::Itertools as _;
use serde::Serialize;

use super::completed_value::{self, CompletedValue};
use super::{Exit, Format, OutputFormat, Shell};
use crate::codes;
use crate::codes::host::UNKNOWN_CODE;
use crate::diagnostic::{Code, Diagnostic, nearest::nearest};

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  rock-matrix explain M001       explain one code
  rock-matrix explain M001 P025  explain several codes
  rock-matrix explain            list all codes")]
pub(super) struct Args {
    /// Codes such as M001, or their names such as duplicate-key
    ///
    /// Without a code, all codes are listed; with `--format json`, including their explanations.
    #[arg(
        value_name = "CODE",
        value_parser = CompletedValue(completed_value::diagnostic_codes),
        hide_possible_values = true
    )]
    codes: Vec<String>,
    #[command(flatten)]
    format: OutputFormat,
}

/// A code in JSON output.
#[derive(Serialize)]
struct Row {
    code: &'static str,
    name: &'static str,
    severity: String,
    explanation: &'static str,
}

impl From<&'static Code> for Row {
    fn from(code: &'static Code) -> Self {
        Self {
            code: code.id,
            name: code.name,
            severity: code.severity.to_string(),
            explanation: code.explanation,
        }
    }
}

fn json(codes: impl Iterator<Item = &'static Code>) -> String {
    let rows: Vec<Row> = codes.map(Row::from).collect();
    format!("{}\n", serde_json::json!({"version": 1, "codes": rows}))
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    if args.codes.is_empty() {
        if args.format.get() == Format::Json {
            return shell.print(&json(codes::all()));
        }
        let lines: String = codes::all()
            .map(|code| format!("{}  {:<8} {}\n", code.id, code.severity, code.name))
            .collect();
        return shell.print(&lines);
    }
    let (found, unknown): (Vec<_>, Vec<_>) =
        args.codes.iter().map(|word| find(word)).partition_result();
    let printed = if found.is_empty() {
        Exit::Done
    } else {
        // A message that is copied without quotes has the code and its name.
        let found = found.into_iter().unique_by(|code| code.id);
        shell.print(&match args.format.get() {
            Format::Human => found.map(page).join("\n"),
            Format::Json => json(found),
        })
    };
    if unknown.is_empty() {
        return printed;
    }
    shell.report(&unknown);
    Exit::Usage
}

/// Returns the code with this ID or name. Accepts a whole `error[M001 duplicate-key]`, as copied
/// from a message.
///
/// # Errors
/// If there is no such code.
fn find(word: &str) -> Result<&'static Code, Diagnostic> {
    let word = word.trim_matches(|c: char| "[]: ".contains(c));
    let mut parts = word.split(['[', ' ']);
    if let Some(code) = parts.find_map(codes::find) {
        return Ok(code);
    }
    let words = codes::all().flat_map(|code| [code.id, code.name]);
    let help = nearest(word, words).map_or_else(
        || "`rock-matrix explain` lists them all".to_owned(),
        |near| format!("did you mean `{near}`?"),
    );
    Err(Diagnostic::new(&UNKNOWN_CODE, format!("there is no code `{word}`")).help(help))
}

fn page(code: &Code) -> String {
    format!(
        "{} {} ({})\n\n{}\n",
        code.id, code.name, code.severity, code.explanation
    )
}
