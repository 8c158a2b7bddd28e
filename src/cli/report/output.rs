//! Where a document goes: to stdout, to a file, or only beside the file that is there.

use std::path::{Path, PathBuf};

use crate::cli::{Exit, Shell, load, render};
use crate::codes::release as codes;
use crate::diagnostic::{Diagnostic, Location, Sink};
use crate::report::MarkerError;

/// Where a document goes.
///
/// Options of a document that name further files are of the group `files`, so that `--check` has
/// something to compare.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("files").multiple(true))]
pub(super) struct Output {
    /// Write to this file instead of stdout
    #[arg(long, value_name = "FILE", group = "files")]
    pub(super) out: Option<PathBuf>,
    /// Write nothing; fail where a file differs from what would be written
    #[arg(long, requires = "files")]
    check: bool,
}

impl Output {
    /// Refuses to write where something is read from.
    ///
    /// # Errors
    /// The exit of the command, after saying so.
    pub(super) fn spare<'a>(
        &self,
        inputs: impl Iterator<Item = &'a Path>,
        shell: &Shell,
    ) -> Result<(), Exit> {
        load::spare(shell, self.out.as_deref(), inputs)
    }

    /// Prints the document, writes it as a whole, or compares it with what is there.
    pub(super) fn deliver(&self, text: &str, shell: &Shell) -> Exit {
        match &self.out {
            None => shell.print_data(text),
            Some(path) => self.file(path, text, shell),
        }
    }

    /// Writes a file as a whole, or compares it with what is there.
    pub(super) fn file(&self, path: &Path, text: &str, shell: &Shell) -> Exit {
        if self.check {
            render::compare(shell, path, text)
        } else {
            render::write(shell, path, text)
        }
    }

    /// Changes a part of a document that a person keeps, or compares that part.
    ///
    /// # Errors
    /// The exit of the command; why was told or is in the sink.
    pub(super) fn change(
        &self,
        path: &Path,
        shell: &Shell,
        sink: &mut Sink,
        with: impl FnOnce(&str) -> Result<String, MarkerError>,
    ) -> Result<Exit, Exit> {
        let source = load::source(shell, path)?;
        with(&source.text)
            .map(|text| self.file(path, &text, shell))
            .map_err(|error| {
                let message = format!("`{}` cannot be updated: {error}", source.path);
                sink.push(
                    Diagnostic::new(&codes::NO_MARKER, message)
                        .at(Location::File(source.path.clone()), "")
                        .help("add the line where the document is to have it"),
                );
                Exit::Fault
            })
    }
}

/// The later of two exits that says something.
pub(super) fn worse(one: Exit, other: Exit) -> Exit {
    if other == Exit::Done { one } else { other }
}
