//! Writes a document to stdout or a file, or compares it with the existing file.

use std::path::{Path, PathBuf};

use crate::cli::{Exit, Shell, load, output_path, render};
use crate::diagnostic::Sink;
use crate::report::MarkerError;

// Options for the output of a document.
//
// Options that name further output files belong to the group `files`, which `--check` requires.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("files").multiple(true))]
pub(super) struct Output {
    /// Write to this file instead of stdout
    #[arg(
        short,
        long,
        value_name = "FILE",
        group = "files",
        help_heading = "Output"
    )]
    pub(super) out: Option<PathBuf>,
    /// Exit with 1 if a file is not up to date, without writing anything
    #[arg(long, requires = "files", help_heading = "Output")]
    check: bool,
}

impl Output {
    /// Refuses to overwrite an input.
    ///
    /// # Errors
    /// The exit of the command; the reason was reported.
    pub(super) fn spare<'a>(
        &self,
        inputs: impl Iterator<Item = &'a Path>,
        shell: &Shell,
    ) -> Result<(), Exit> {
        load::refuse_overwriting_input(shell, self.out.as_deref(), inputs)
    }

    /// Prints the document, writes it to `--out`, or compares it with that file.
    pub(super) fn deliver(&self, text: &str, shell: &Shell) -> Exit {
        match output_path::document_file(self.out.as_deref(), self.check) {
            None => shell.print_data(text),
            Some(path) => self.file(path, text, shell),
        }
    }

    /// Writes a file, or compares it with the existing one.
    pub(super) fn file(&self, path: &Path, text: &str, shell: &Shell) -> Exit {
        if self.check {
            render::compare(shell, path, text)
        } else {
            render::write(shell, path, text)
        }
    }

    /// Updates a part of a document that is maintained by hand, or compares that part.
    ///
    /// # Errors
    /// The exit of the command; the reason was reported or is in the sink.
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
                sink.push(error.diagnostic(&source.path));
                Exit::Fault
            })
    }
}

/// Returns the later of two exits that is not a success.
pub(super) fn worse(one: Exit, other: Exit) -> Exit {
    if other == Exit::Done { one } else { other }
}
