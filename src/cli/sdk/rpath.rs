//! `sdk rpath`: search paths of libraries and programs, as `sdk build` sets them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::{Exit, Format, Shell};
use crate::bytes::{RangeReader, ReadAt};
use crate::codes::elf::UNEDITABLE_ELF;
use crate::diagnostic::{Diagnostic, Location};
use crate::elf::{self, Elf, ElfEdits, ElfError, PatchedFile, SearchPathEdit, tag};
use crate::sys::{self, FileError, OnExisting, PositionalFile};

/// Tell or change where libraries and programs search for what they need
#[derive(Debug, clap::Args)]
#[command(
    disable_version_flag = true,
    after_help = "\
What is written is an RPATH, which `LD_LIBRARY_PATH` cannot override, in the place of a RUNPATH. No
bytes move: what does not fit is appended, and the result is checked the way a loader reads it, also
where the program headers are at the end of the file. A file is replaced as a whole or not at all.

Examples:
  rock-matrix sdk rpath lib/*.so                        what they have
  rock-matrix sdk rpath --force lib/libamdhip64.so.7    the same entries, as an RPATH
  rock-matrix sdk rpath --add '$ORIGIN/llvm/lib' lib/libamdhip64.so.7"
)]
pub(super) struct Args {
    /// Libraries and programs
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Search this folder, too, behind the others
    #[arg(long, value_name = "FOLDER", value_parser = entry)]
    add: Vec<String>,
    /// Search these folders and no others, with colons between them
    #[arg(long, value_name = "PATH", value_parser = entries, conflicts_with = "add")]
    set: Option<String>,
    /// Make a RUNPATH an RPATH
    #[arg(long)]
    force: bool,
    /// How to print the result
    #[arg(long, value_enum, default_value = "human", value_name = "FORMAT")]
    format: Format,
}

/// What a file has.
struct Told {
    path: PathBuf,
    /// `RPATH` or `RUNPATH` with its text.
    search: Option<(&'static str, String)>,
    is_changed: bool,
}

/// Runs the command.
pub(super) fn run(args: &Args, shell: &Shell) -> Exit {
    let (mut all, mut faults) = (Vec::new(), Vec::new());
    for path in &args.files {
        match args.one(path) {
            Ok(told) => all.push(told),
            Err(fault) => faults.push(fault),
        }
    }
    let text = match args.format {
        Format::Human => all.iter().map(Told::line).collect::<String>(),
        Format::Json => {
            let files: Vec<_> = all.iter().map(Told::json).collect();
            format!("{:#}\n", json!({"version": 1, "files": files}))
        }
    };
    let printed = shell.print(&text);
    if faults.is_empty() {
        printed
    } else {
        shell.report(&faults)
    }
}

impl Args {
    fn one(&self, path: &Path) -> Result<Told, Diagnostic> {
        let fault = |error: ElfError| -> Diagnostic {
            Diagnostic::new(&UNEDITABLE_ELF, error.to_string())
                .at(Location::File(path.display().to_string().into()), "")
                .help("search paths are those of shared libraries, and of programs that a loader starts")
        };
        let file = PositionalFile::open(path)?;
        let had = search(&file).map_err(fault)?;
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
                return Ok(Told {
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
        let patch = elf::edit(&file, &edits).map_err(fault)?;
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
        Ok(Told {
            path: path.to_owned(),
            search: Some(("RPATH", wanted)),
            is_changed,
        })
    }
}

impl Told {
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

/// Reads an entry of a search path.
fn entry(text: &str) -> Result<String, String> {
    match text {
        "" => Err("an empty entry would be the folder that a program is started in".to_owned()),
        text if text.contains(':') => Err("an entry is one folder, without colons".to_owned()),
        text => Ok(text.to_owned()),
    }
}

/// Reads a search path.
fn entries(text: &str) -> Result<String, String> {
    text.split(':')
        .try_for_each(|one| entry(one).map(drop))
        .map(|()| text.to_owned())
}

/// The search path that a loader takes: where there is a RUNPATH, it does not look at RPATH
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
