//! `schema`: the JSON Schema of matrix files, for editors.

use super::{Exit, Shell};
use crate::config;

#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
An editor with a YAML language server uses the schema if a matrix file starts with
  # yaml-language-server: $schema=matrix.schema.json

Examples:
  rock-matrix schema > matrix.schema.json
  rock-matrix schema | check-jsonschema --schemafile - matrices/*.yaml")]
pub(super) struct Args {}

/// Runs the command.
pub(super) fn run(_: &Args, shell: &Shell) -> Exit {
    shell.print_data(&text())
}

/// Returns the schema as it is printed and committed.
pub(super) fn text() -> String {
    format!("{:#}\n", config::schema())
}
