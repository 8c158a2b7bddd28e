//! `sdk rpath`: shows and changes the search paths of libraries and programs, like `sdk build`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::{Exit, Format, OutputFormat, Shell};
use crate::bytes::{RangeReader, ReadAt};
use crate::codes::elf::UNEDITABLE_ELF;
use crate::diagnostic::{Diagnostic, Location};
use crate::elf::{self, Elf, ElfEdits, ElfError, PatchedFile, SearchPathEdit, tag};
use crate::sys::{self, FileError, OnExisting, PositionalFile};

/// Show or change the search paths of libraries and programs
#[derive(Debug, clap::Args)]
#[command(
    disable_version_flag = true,
    after_help = "\
Examples:
  rock-matrix sdk rpath lib/*.so                                         show search paths
  rock-matrix sdk rpath --add '$ORIGIN/llvm/lib' lib/libamdhip64.so.7    append a directory",
    after_long_help = "\
Changes write an RPATH, which `LD_LIBRARY_PATH` cannot override, and remove the RUNPATH. Existing
bytes are not moved: what does not fit is appended. The result is checked the way a loader reads it,
also if the program headers are at the end of the file. Each file is replaced atomically.

Examples:
  rock-matrix sdk rpath lib/*.so                                         show search paths
  rock-matrix sdk rpath --force lib/libamdhip64.so.7                     convert a RUNPATH
  rock-matrix sdk rpath --add '$ORIGIN/llvm/lib' lib/libamdhip64.so.7    append a directory"
)]
pub(super) struct Args {
    /// Libraries and programs
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Append this directory to the search path; can be repeated
    #[arg(long, value_name = "DIR", value_parser = entry)]
    add: Vec<String>,
    /// Replace the search path, a list of directories separated by colons
    #[arg(long, value_name = "PATH", value_parser = entries, conflicts_with = "add")]
    set: Option<String>,
    /// Convert a RUNPATH to an RPATH with the same entries
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    format: OutputFormat,
}

/// The search path of a file.
struct FileSearchPath {
    path: PathBuf,
    /// The tag, `RPATH` or `RUNPATH`, and its text.
    search: Option<(&'static str, String)>,
    is_changed: bool,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let (mut all, mut errors) = (Vec::new(), Vec::new());
    for path in &args.files {
        match args.process(path) {
            Ok(file) => all.push(file),
            Err(error) => errors.push(error),
        }
    }
    let text = match args.format.get() {
        Format::Human => all.iter().map(FileSearchPath::line).collect::<String>(),
        Format::Json => {
            let files: Vec<_> = all.iter().map(FileSearchPath::json).collect();
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
    /// Reads the search path of a file, and changes it as the options request.
    fn process(&self, path: &Path) -> Result<FileSearchPath, Diagnostic> {
        let uneditable = |error: ElfError| -> Diagnostic {
            Diagnostic::new(&UNEDITABLE_ELF, error.to_string())
                .at(Location::File(path.display().to_string().into()), "")
                .help("only shared libraries and dynamically linked programs have a search path")
        };
        let file = PositionalFile::open(path)?;
        let had = search(&file).map_err(uneditable)?;
        let wanted = match (&self.set, &had) {
            (Some(path), _) => path.clone(),
            (None, _) if !self.add.is_empty() => {
                let had = had
                    .iter()
                    .flat_map(|(_, text)| text.split(':'))
                    .filter(|entry| !entry.is_empty());
                let mut seen = BTreeSet::new();
                let entries = had
                    .chain(self.add.iter().map(String::as_str))
                    .filter(|entry| seen.insert(*entry));
                entries.collect::<Vec<_>>().join(":")
            }
            (None, Some((_, text))) if self.force => text.clone(),
            (None, _) => {
                return Ok(FileSearchPath {
                    path: path.to_owned(),
                    search: had,
                    is_changed: false,
                });
            }
        };
        let edits = ElfEdits {
            rpath: SearchPathEdit::Rpath(wanted.clone()),
            ..ElfEdits::default()
        };
        let patch = elf::edit(&file, &edits).map_err(uneditable)?;
        let is_changed = !patch.is_empty();
        if is_changed {
            let made = PatchedFile::new(&file, &patch);
            let cannot = |error: std::io::Error| FileError::new("write", path, error);
            sys::save::<FileError>(path, OnExisting::Update, |target| {
                std::io::copy(&mut RangeReader::new(&made, 0, made.size_bytes()), target)
                    .map(drop)
                    .map_err(cannot)
            })?;
        }
        Ok(FileSearchPath {
            path: path.to_owned(),
            search: Some(("RPATH", wanted)),
            is_changed,
        })
    }
}

impl FileSearchPath {
    fn line(&self) -> String {
        let search = match &self.search {
            Some((kind, text)) => format!("{kind} {text}"),
            None => "no search path".to_owned(),
        };
        format!(
            "{}: {search}{}\n",
            self.path.display(),
            if self.is_changed { " (changed)" } else { "" }
        )
    }

    fn json(&self) -> serde_json::Value {
        let of = |wanted: &str| {
            self.search
                .as_ref()
                .filter(|(kind, _)| *kind == wanted)
                .map(|(_, text)| text)
        };
        json!({
            "path": self.path.display().to_string(),
            "rpath": of("RPATH"),
            "runpath": of("RUNPATH"),
            "changed": self.is_changed,
        })
    }
}

/// Parses an entry of a search path.
fn entry(text: &str) -> Result<String, String> {
    match text {
        "" => Err("an empty entry means the working directory of the program".to_owned()),
        text if text.contains(':') => Err("an entry is one directory, without colons".to_owned()),
        text => Ok(text.to_owned()),
    }
}

/// Parses a search path.
fn entries(text: &str) -> Result<String, String> {
    text.split(':')
        .try_for_each(|one| entry(one).map(drop))
        .map(|()| text.to_owned())
}

/// Returns the search path that a loader uses. It ignores the RPATH of a file with a RUNPATH
/// (ld.so(8)).
fn search(file: &PositionalFile) -> Result<Option<(&'static str, String)>, ElfError> {
    let elf = Elf::read(file)?;
    let strings = elf.string_table(file)?;
    for (tag, word) in [(tag::RUNPATH, "RUNPATH"), (tag::RPATH, "RPATH")] {
        if let Some(text) = elf.dynamic_strings(&strings, tag)?.into_iter().next() {
            return Ok(Some((word, text)));
        }
    }
    Ok(None)
}
