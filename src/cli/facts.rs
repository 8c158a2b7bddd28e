//! Facts from a folder, for `--compat`.

use std::path::Path;

use super::{Exit, Shell, load};
use crate::compat::{Compat, rows::Tables};
use crate::diagnostic::{Diagnostic, Place, Sink, registry::facts as codes};
use crate::{sys, yaml};

/// Reads every table of a folder. What is wrong with it is told at once.
///
/// # Errors
/// The exit of the command.
pub(super) fn read(shell: &Shell, folder: &Path) -> Result<Compat, Exit> {
    let mut sink = Sink::new();
    let mut tables = Tables::default();
    let files = sys::files_with_extension(folder, &["yaml", "yml"]).map_err(|error| shell.report(&[error.into()]))?;
    if files.is_empty() {
        sink.push(
            Diagnostic::new(&codes::NO_TABLES, format!("there are no tables in `{}`", folder.display()))
                .help("give a folder in the form of matrices/compat"),
        );
    }
    for path in files {
        let source = load::source(shell, &path)?;
        let Some(node) = yaml::parse(&source, &mut sink) else { continue };
        match yaml::de::from_node::<Tables>(&node) {
            Ok(read) => tables.merge(read),
            Err(error) => sink.push(
                Diagnostic::new(&codes::BAD_TABLE, error.message.clone())
                    .at(source.place(error.span.clone()), "")
                    .help("docs/compat.md lists the tables and their columns"),
            ),
        }
    }
    for fault in tables.faults() {
        let place = Place::File(folder.display().to_string().into());
        sink.push(Diagnostic::new(&codes::BAD_ROW, fault).at(place, "").help("mend the row, or name its source"));
    }
    if sink.has_errors() {
        shell.report(&sink.finish());
        return Err(Exit::Fault);
    }
    Ok(Compat::new(tables))
}
