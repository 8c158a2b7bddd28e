//! `compat`: queries the compatibility data and compares it with its sources.

mod expand;
mod explain;
mod refresh;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::completed_value::{self, CompletedValue};
use super::wheel::fail;
use super::{Exit, Format, OutputFormat, Shell, load};
use crate::codes::facts as codes;
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Location, counted, nearest::nearest, shell_quoted};

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  rock-matrix compat list torch                    torch releases with ROCm and Python versions
  rock-matrix compat explain torch=2.6.0 rocm=6.2  check whether versions are compatible")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show a compatibility table, or list all tables
    #[command(after_long_help = "\
Examples:
  rock-matrix compat list images         images with ROCm, Python and torch
  rock-matrix compat list limits --json  limits of GitHub")]
    List {
        /// Table, such as torch, images or limits
        #[arg(value_parser = CompletedValue(completed_value::tables), hide_possible_values = true)]
        table: Option<String>,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Show what works with a GPU, ROCm or torch version, or whether values are compatible
    ///
    /// With one value, everything that works with it is listed; with several, whether they are
    /// compatible, and if not, why. `-v` adds the rows that an answer is based on, and their
    /// sources.
    #[command(after_long_help = "\
Exits with 1 if the values are not compatible, or if no table lists one of them. Unknown
combinations of known values are not a failure.

Examples:
  rock-matrix compat explain mi300x -v             what works with this GPU, with sources
  rock-matrix compat explain gfx1100 rocm=6.4      whether ROCm and torch's wheels support it
  rock-matrix compat explain torch=2.6.0 rocm=6.2  whether both are compatible")]
    Explain {
        /// Values of torch, rocm, python, backend, gfx or a package, such as flash-attn=2.8.3
        ///
        /// torch=VERSION, rocm=VERSION, python=VERSION, flash-attn=VERSION, backend=NAME, or
        /// gfx=TARGETS (targets, families or products such as mi300x, separated by commas or
        /// semicolons). `gpu=` is another name of `gfx=`, and GPUs may be given without either.
        #[arg(required = true, value_name = "AXIS=VALUE")]
        values: Vec<String>,
        #[command(flatten)]
        format: OutputFormat,
    },
    /// Print the gfx targets of target families
    #[command(after_long_help = "\
Examples:
  rock-matrix compat expand gfx94X-dcgpu,gfx120X-all
  rock-matrix compat expand gfx110X-all --as device-extras
  rock-matrix compat expand gfx110X-all --json")]
    Expand {
        /// Families, targets and products, separated by commas or semicolons
        families: String,
        /// Form of each target
        #[arg(
            long = "as",
            value_enum,
            default_value = "targets",
            value_name = "FORM"
        )]
        form: expand::TargetForm,
        #[command(flatten)]
        format: OutputFormat,
    },
    Refresh(refresh::Args),
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let compat = match load::compat(shell) {
        Ok(compat) => compat,
        Err(exit) => return exit,
    };
    match &args.command {
        Command::List { table, format } => list(compat, table.as_deref(), format.get(), shell),
        Command::Explain { values, format } => explain::run(compat, values, format.get(), shell),
        Command::Expand {
            families,
            form,
            format,
        } => expand::run(compat, families, *form, format.get(), shell),
        Command::Refresh(args) => refresh::run(args, compat, shell),
    }
}

fn list(compat: &Compat, table: Option<&str>, format: Format, shell: &Shell) -> Exit {
    let Ok(serde_json::Value::Object(tables)) = serde_json::to_value(compat.all_tables()) else {
        return Exit::Machine;
    };
    let Some(name) = table else {
        let count = |rows: &serde_json::Value| {
            rows.as_array().map_or_else(
                || rows.as_object().map_or(0, serde_json::Map::len),
                Vec::len,
            )
        };
        return shell.print(&match format {
            Format::Human => {
                let width = tables.keys().map(String::len).max().unwrap_or_default();
                tables.iter().fold(String::new(), |mut text, (name, rows)| {
                    let _ = writeln!(text, "{name:width$}  {}", counted(count(rows), "row"));
                    text
                })
            }
            Format::Json => {
                let counts: BTreeMap<&String, usize> = tables
                    .iter()
                    .map(|(name, rows)| (name, count(rows)))
                    .collect();
                json(&counts)
            }
        });
    };
    let Some(rows) = tables.get(name) else {
        let fault = Diagnostic::new(&codes::UNKNOWN_TABLE, format!("there is no table `{name}`"))
            .at(Location::Argument(name.to_owned()), "");
        let pairs = compat.pairs_of_value(name);
        let near = nearest(name, tables.keys().map(String::as_str));
        let help = match (pairs.first(), near) {
            (Some(pair), _) => {
                let pair = shell_quoted(pair);
                format!("`rock-matrix compat explain {pair}` shows what works with it")
            }
            (None, Some(near)) => format!("did you mean `{near}`?"),
            (None, None) => "`rock-matrix compat list` shows the tables".to_owned(),
        };
        return fail(shell, &fault.help(help).into());
    };
    shell.print(&match format {
        Format::Json => json(rows),
        Format::Human => rows_as_text(rows),
    })
}

fn json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string_pretty(value)
        .map(|text| text + "\n")
        .unwrap_or_default()
}

/// Returns a block for each row: its columns, then its provenance.
fn rows_as_text(rows: &serde_json::Value) -> String {
    let plain = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Array(items) => items
            .iter()
            .map(|item| {
                item.as_str()
                    .map_or_else(|| item.to_string(), str::to_owned)
            })
            .collect::<Vec<_>>()
            .join(" "),
        other => other.to_string(),
    };
    let empty =
        |value: &serde_json::Value| matches!(plain(value).as_str(), "" | "null" | "{}" | "[]");
    let mut text = String::new();
    let list = match rows {
        serde_json::Value::Array(rows) => rows.clone(),
        other => vec![other.clone()],
    };
    for row in list.iter().filter_map(serde_json::Value::as_object) {
        for (column, value) in row
            .iter()
            .filter(|(name, value)| *name != "origin" && !empty(value))
        {
            let _ = writeln!(text, "{column:14} {}", plain(value));
        }
        if let Some(origin) = row.get("origin").and_then(serde_json::Value::as_object) {
            let part = |name: &str| origin.get(name).map(plain).unwrap_or_default();
            let reference = if part("ref").is_empty() {
                String::new()
            } else {
                format!(" ({})", part("ref"))
            };
            let _ = writeln!(
                text,
                "{:14} {}{reference}, {}, checked {}",
                "source",
                part("source"),
                part("status"),
                part("checked")
            );
            if !part("note").is_empty() {
                let _ = writeln!(text, "{:14} {}", "note", part("note"));
            }
        }
        text.push('\n');
    }
    text
}
