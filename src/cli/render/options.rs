//! The options of `render docker`, `render script` and `render recipe`.

use std::path::PathBuf;

use crate::cli::Format;
use crate::cli::completed_value::{self, CompletedValue};
use crate::cli::jobs::{EngineChoice, image_name};
use crate::exec;
use crate::render::WindowsShell;

#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Matrix files or a saved plan, and jobs by ID or wheel name [default: all jobs]
    ///
    /// Without files, uses all files in `matrices/` that end in `.yaml` or `.yml`. `-` reads a file
    /// from standard input.
    #[arg(
        value_name = "FILE|JOB",
        value_parser = CompletedValue(completed_value::job_ids),
        hide_possible_values = true
    )]
    pub(super) words: Vec<String>,
    /// Where to run the steps [default: local, or docker for `render docker`]
    #[arg(long, value_enum)]
    pub(super) engine: Option<EngineChoice>,
    /// Container image to use instead of the one in the plan
    #[arg(long, value_name = "REF", value_parser = image_name)]
    pub(super) image: Option<String>,
    /// Additional argument for `docker run` or `podman run`; can be repeated
    ///
    /// Follows the arguments in the matrix file.
    #[arg(
        long,
        value_name = "ARG",
        allow_hyphen_values = true,
        hide_short_help = true
    )]
    pub(super) docker_arg: Vec<String>,
    /// Set a fact of the recipe, which a build would detect; can be repeated
    ///
    /// Facts without a value and a default are shown as `<NAME>`.
    #[arg(
        long,
        alias = "fact",
        value_name = "NAME=VALUE",
        value_parser = name_and_value
    )]
    pub(super) set: Vec<(String, String)>,
    /// Shell that runs the script [default: sh, or powershell for Windows jobs]
    ///
    /// Only for `render script`.
    #[arg(long, value_enum, hide_short_help = true)]
    pub(super) shell: Option<ScriptShell>,
    /// Write to this file, or to one file per job in this directory
    ///
    /// PATH is a directory if it ends in `/` or is one, or if there are several jobs.
    #[arg(short, long, value_name = "PATH", help_heading = "Output")]
    pub(super) out: Option<PathBuf>,
    /// With --out: write nothing, but exit with 1 if the files differ
    #[arg(long, requires = "out", help_heading = "Output")]
    pub(super) check: bool,
    /// Output format
    ///
    /// `json` prints one object with the texts of all jobs.
    #[arg(
        long,
        value_enum,
        default_value = "human",
        value_name = "FORMAT",
        conflicts_with = "out",
        help_heading = "Output"
    )]
    pub(super) format: Format,
    /// Same as --format json
    #[arg(
        long,
        conflicts_with_all = ["format", "out"],
        help_heading = "Output"
    )]
    pub(super) json: bool,
}

/// The shell that runs a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ScriptShell {
    /// bash, for Linux jobs
    Sh,
    /// PowerShell, for Windows jobs
    Powershell,
    /// A batch file for cmd, for Windows jobs
    Cmd,
}

impl From<ScriptShell> for exec::ScriptShell {
    fn from(shell: ScriptShell) -> Self {
        match shell {
            ScriptShell::Sh => Self::Bash,
            ScriptShell::Powershell => Self::Windows(WindowsShell::PowerShell),
            ScriptShell::Cmd => Self::Windows(WindowsShell::Cmd),
        }
    }
}

/// Reads `NAME=VALUE`.
pub(in crate::cli) fn name_and_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err("expected NAME=VALUE".to_owned()),
    }
}
