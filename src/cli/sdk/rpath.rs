//! `sdk rpath`: shows and changes the search paths of libraries and programs, like `sdk build`.

use std::path::PathBuf;

use serde_json::json;

use super::{Exit, Format, OutputFormat, Shell};
use crate::sdk::{self, FileSearchPath, SearchPathChange, SearchPathTag};

/// Show or change the search paths of libraries and programs
#[derive(Debug, clap::Args)]
#[command(
    disable_version_flag = true,
    after_long_help = "\
Changes write an RPATH, which `LD_LIBRARY_PATH` cannot override, and remove the RUNPATH. Existing
bytes are not moved: what does not fit is appended. The result is checked the way a loader reads it,
also if the program headers are at the end of the file. Each file is replaced atomically.

Examples:
  rock-matrix sdk rpath lib/*.so                                         show search paths
  rock-matrix sdk rpath --add '$ORIGIN/llvm/lib' lib/libamdhip64.so.7    append a directory
  rock-matrix sdk rpath --force lib/libamdhip64.so.7                     convert a RUNPATH"
)]
pub(super) struct Args {
    /// Libraries and programs
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Append this directory to the search path; can be repeated
    #[arg(long, value_name = "DIR", value_parser = sdk::parse_search_entry)]
    add: Vec<String>,
    /// Replace the search path, a list of directories separated by colons
    #[arg(long, value_name = "PATH", value_parser = sdk::parse_search_path, conflicts_with = "add")]
    set: Option<String>,
    /// Convert a RUNPATH to an RPATH with the same entries
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    format: OutputFormat,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let change = args.change();
    let (mut files, mut errors) = (Vec::new(), Vec::new());
    for path in &args.files {
        match FileSearchPath::change(path, &change) {
            Ok(file) => files.push(file),
            Err(error) => errors.push(error),
        }
    }
    let text = match args.format.get() {
        Format::Human => files.iter().map(line).collect::<String>(),
        Format::Json => {
            let files: Vec<_> = files.iter().map(document).collect();
            format!("{:#}\n", json!({"version": 1, "files": files}))
        }
    };
    let printed = shell.print(&text);
    if errors.is_empty() {
        printed
    } else {
        shell.report(&errors)
    }
}

impl Args {
    fn change(&self) -> SearchPathChange {
        match &self.set {
            Some(path) => SearchPathChange::Replace(path.clone()),
            None if !self.add.is_empty() => SearchPathChange::Append(self.add.clone()),
            None if self.force => SearchPathChange::Convert,
            None => SearchPathChange::Keep,
        }
    }
}

fn line(file: &FileSearchPath) -> String {
    let search = match &file.search {
        Some((tag, text)) => format!("{} {text}", tag.word()),
        None => "no search path".to_owned(),
    };
    let changed = if file.is_changed { " (changed)" } else { "" };
    format!("{}: {search}{changed}\n", file.path.display())
}

fn document(file: &FileSearchPath) -> serde_json::Value {
    let text = |wanted: SearchPathTag| {
        let search = file.search.as_ref();
        search
            .filter(|(tag, _)| *tag == wanted)
            .map(|(_, text)| text)
    };
    json!({
        "path": file.path.display().to_string(),
        "rpath": text(SearchPathTag::Rpath),
        "runpath": text(SearchPathTag::Runpath),
        "changed": file.is_changed,
    })
}
