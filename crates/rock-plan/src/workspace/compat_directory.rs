//! Reads the compatibility tables of a directory.

use std::collections::BTreeMap;
use std::path::Path;

use super::data_directories::{DataDirectory, EXTENSIONS};
use super::into_warnings;
use crate::codes::facts as codes;
use rock_compat::rows::CompatTables;
use rock_compat::{Compat, RowError, TableOverlay, validate_tables};
use rock_diagnostic::{Diagnostic, Diagnostics, ExitClass, Location, Sink, SourceText, Span};
use rock_sys as sys;
use rock_yaml::{self as yaml, Node};

/// Maximum size in bytes of a file of tables.
const MAX_TABLE_FILE_BYTES: u64 = 64 << 20;

/// Reads the tables of a directory. Those of a named directory replace all built-in tables, and
/// those of an overlay are merged with the built-in tables row by row ([`TableOverlay`]).
///
/// # Errors
/// If the directory or a file cannot be read, or a table or row is invalid; all errors in the files
/// are reported at once.
pub(super) fn load(directory: &DataDirectory) -> Result<Compat, Diagnostics> {
    let (own, locations) = read_tables(directory.path())?;
    match directory {
        DataDirectory::Named(path) => {
            check_rows(path, &own, |error| locations.of(error.table, error.row))?;
            Ok(Compat::new(own))
        }
        DataDirectory::Overlay(path) => {
            let overlay = TableOverlay::new(Compat::embedded().all_tables(), own);
            check_rows(path, &overlay.tables, |error| {
                locations.of(error.table, overlay.own_row(error.table, error.row)?)
            })?;
            Ok(Compat::new(overlay.tables))
        }
    }
}

/// Reads the tables of all files in a directory, in the order of their names: the rows of a table
/// may be spread over several files.
fn read_tables(directory: &Path) -> Result<(CompatTables, RowLocations), Diagnostics> {
    let mut sink = Sink::new();
    let mut tables = CompatTables::default();
    let mut locations = RowLocations::default();
    let files = sys::files_with_extension(directory, &EXTENSIONS).map_err(input_error)?;
    if files.is_empty() {
        sink.push(
            Diagnostic::new(
                &codes::NO_TABLES,
                format!("there are no tables in `{}`", directory.display()),
            )
            .help("give a directory like matrices/compat"),
        );
    }
    for path in files {
        let text = match sys::read_text(&path, MAX_TABLE_FILE_BYTES) {
            Ok(text) => text,
            Err(error) => {
                sink.push(error.into());
                continue;
            }
        };
        let source = SourceText::new(path.display().to_string(), text);
        let Some(node) = yaml::parse(&source, &mut sink) else {
            continue;
        };
        locations.add(&node, &source);
        match yaml::de::from_node::<CompatTables>(&node) {
            Ok(read) => tables.merge(read),
            Err(error) => sink.push(
                Diagnostic::new(&codes::BAD_TABLE, error.message.clone())
                    .at(source.location(error.span.clone()), "")
                    .help("docs/compat.md lists the tables and their columns"),
            ),
        }
    }
    into_warnings(sink)?;
    Ok((tables, locations))
}

/// Reports invalid rows at their location, or at the directory if `location_of` returns none.
fn check_rows(
    directory: &Path,
    tables: &CompatTables,
    location_of: impl Fn(&RowError) -> Option<Location>,
) -> Result<(), Diagnostics> {
    let mut sink = Sink::new();
    for error in validate_tables(tables) {
        let location = location_of(&error)
            .unwrap_or_else(|| Location::File(directory.display().to_string().into()));
        sink.push(
            Diagnostic::new(&codes::BAD_ROW, error.to_string())
                .at(location, "")
                .help("fix the row; docs/compat.md describes its columns"),
        );
    }
    into_warnings(sink).map(drop)
}

fn input_error(error: sys::FileError) -> Diagnostics {
    Diagnostics::from(error).exits_with(ExitClass::Input)
}

/// The locations of all rows by table, in the order in which the files are merged.
#[derive(Debug, Default)]
struct RowLocations(BTreeMap<String, Vec<Location>>);

impl RowLocations {
    fn add(&mut self, document: &Node, source: &SourceText) {
        for (table, rows) in document.entries().unwrap_or_default() {
            let locations = self.0.entry(table.text.clone()).or_default();
            locations.extend(
                rows.items()
                    .unwrap_or_default()
                    .iter()
                    .map(|row| source.location(first_column(row))),
            );
        }
    }

    fn of(&self, table: &str, row: usize) -> Option<Location> {
        self.0.get(table)?.get(row).cloned()
    }
}

/// Returns the span of a row's first column, which names the row.
fn first_column(row: &Node) -> Span {
    match row.entries() {
        Some([(key, value), ..]) => key.span.start..value.span.end,
        _ => row.span.clone(),
    }
}
