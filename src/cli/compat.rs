//! `compat`: what is known about versions, and whether an index says otherwise.

mod expand;
mod explain;
mod refresh;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Exit, Format, Shell, load};
use crate::codes::facts as codes;
use crate::compat::Compat;
use crate::diagnostic::{Diagnostic, Location, nearest::nearest};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rock-matrix compat list                         the tables
  rock-matrix compat list torch                   torch releases with their ROCm and Python versions
  rock-matrix compat explain gfx=rx7900xtx         what works with a GPU
  rock-matrix compat explain torch=2.6.0 rocm=6.2
                                                  do they go together, and why not
  rock-matrix compat refresh --from saved-pages/  a patch with what the torch table lacks
  rock-matrix compat refresh --actions            a patch with newer releases of the actions")]
pub(super) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show a table, or which there are
    #[command(after_help = "\
Examples:
  rock-matrix compat list                          the tables
  rock-matrix compat list images                   images with their ROCm, Python and torch
  rock-matrix compat list limits --format json     what GitHub takes, for programs")]
    List {
        /// The table, such as torch, images or limits
        table: Option<String>,
        /// How to print it
        #[arg(long, value_enum, default_value = "human")]
        format: Format,
    },
    /// Say what works with a GPU, a ROCm or a torch, or whether versions go together
    ///
    /// One value is answered with everything that works with it, several with whether they go
    /// together and why not. `-v` adds the rows of the facts that the answer rests on, and where
    /// they were read.
    #[command(after_help = "\
Examples:
  rock-matrix compat explain gfx=mi300x           what works with this GPU
  rock-matrix compat explain rocm=7.2             which torch and which GPUs
  rock-matrix compat explain torch=2.9.1 -v       with sources
  rock-matrix compat explain torch=2.6.0 rocm=6.2
  rock-matrix compat explain flash-attn=2.8.3 gfx=gfx1100 rocm=7.2")]
    Explain {
        /// torch=VERSION, rocm=VERSION, python=VERSION, flash-attn=VERSION, backend=NAME,
        /// gfx=TARGETS (targets, families or products such as mi300x)
        #[arg(required = true, value_name = "AXIS=VALUE")]
        values: Vec<String>,
        /// How to print it
        #[arg(long, value_enum, default_value = "human")]
        format: Format,
    },
    /// Print the gfx targets of families
    #[command(after_help = "\
Examples:
  rock-matrix compat expand 'gfx94X-dcgpu;gfx120X-all'
  rock-matrix compat expand gfx110X-all --as device-extras")]
    Expand {
        /// Families and targets, divided by semicolons
        families: String,
        /// What to print of each
        #[arg(long = "as", value_enum, default_value = "targets")]
        form: expand::As,
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
        Command::List { table, format } => list(compat, table.as_deref(), *format, shell),
        Command::Explain { values, format } => explain::run(compat, values, *format, shell),
        Command::Expand { families, form } => expand::run(compat, families, *form, shell),
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
            Format::Human => tables.iter().fold(String::new(), |mut text, (name, rows)| {
                let _ = writeln!(text, "{name:16} {} rows", count(rows));
                text
            }),
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
        return shell.report(&[match nearest(name, tables.keys().map(String::as_str)) {
            Some(near) => fault.help(format!("did you mean `{near}`?")),
            None => fault.help("`rock-matrix compat list` shows the tables"),
        }]);
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

/// One block a row: its columns, then where it was read.
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
