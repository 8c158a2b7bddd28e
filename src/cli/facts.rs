//! Reads the compatibility tables of a directory, for `--compat`.

use std::collections::BTreeMap;
use std::path::Path;

use super::{Exit, Shell, load};
use crate::codes::facts as codes;
use crate::compat::Compat;
use crate::compat::rows::CompatTables;
use crate::compat::{RowError, validate_tables};
use crate::diagnostic::{Diagnostic, Location, Sink, SourceText, Span};
use crate::sys;
use crate::yaml::{self, Node};

/// Reads every table of a directory, and reports all errors at once.
///
/// # Errors
/// The exit of the command.
pub(super) fn read(shell: &Shell, folder: &Path) -> Result<Compat, Exit> {
    let mut sink = Sink::new();
    let mut tables = CompatTables::default();
    let mut places = Places::default();
    let files = sys::files_with_extension(folder, &["yaml", "yml"])
        .map_err(|error| shell.report(&[error.into()]))?;
    if files.is_empty() {
        sink.push(
            Diagnostic::new(
                &codes::NO_TABLES,
                format!("there are no tables in `{}`", folder.display()),
            )
            .help("give a directory like matrices/compat"),
        );
    }
    for path in files {
        let source = load::source(shell, &path)?;
        let Some(node) = yaml::parse(&source, &mut sink) else {
            continue;
        };
        places.add(&node, &source);
        match yaml::de::from_node::<CompatTables>(&node) {
            Ok(read) => tables.merge(read),
            Err(error) => sink.push(
                Diagnostic::new(&codes::BAD_TABLE, error.message.clone())
                    .at(source.location(error.span.clone()), "")
                    .help("docs/compat.md lists the tables and their columns"),
            ),
        }
    }
    if sink.has_errors() {
        shell.report(&sink.finish());
        return Err(Exit::Fault);
    }
    for fault in validate_tables(&tables) {
        let place = places
            .of(&fault)
            .unwrap_or_else(|| Location::File(folder.display().to_string().into()));
        sink.push(
            Diagnostic::new(&codes::BAD_ROW, fault.to_string())
                .at(place, "")
                .help("fix the row; docs/compat.md describes its columns"),
        );
    }
    if sink.has_errors() {
        shell.report(&sink.finish());
        return Err(Exit::Fault);
    }
    Ok(Compat::new(tables))
}

/// The locations of all rows by table, in the order in which the files are merged.
#[derive(Debug, Default)]
struct Places(BTreeMap<String, Vec<Location>>);

impl Places {
    fn add(&mut self, document: &Node, source: &SourceText) {
        for (table, rows) in document.entries().unwrap_or_default() {
            let of_table = self.0.entry(table.text.clone()).or_default();
            of_table.extend(
                rows.items()
                    .unwrap_or_default()
                    .iter()
                    .map(|row| source.location(head(row))),
            );
        }
    }

    fn of(&self, fault: &RowError) -> Option<Location> {
        self.0.get(fault.table)?.get(fault.row).cloned()
    }
}

/// Returns the span of a row's first column, which names the row.
fn head(row: &Node) -> Span {
    match row.entries() {
        Some([(key, value), ..]) => key.span.start..value.span.end,
        _ => row.span.clone(),
    }
}
