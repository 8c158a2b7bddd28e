//! `schema`: the JSON Schema of matrix files, for editors.

use super::{Exit, Shell};
use crate::config;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  rock-matrix schema > matrix.schema.json

An editor with a YAML language server uses it when a matrix file begins with
  # yaml-language-server: $schema=matrix.schema.json")]
pub(super) struct Args {}

/// Runs the command.
pub(super) fn run(_: &Args, shell: &Shell) -> Exit {
    shell.print_data(&text())
}

/// The schema as the text that is printed and committed.
pub(super) fn text() -> String {
    format!("{:#}\n", config::schema())
}
