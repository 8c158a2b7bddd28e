//! Changes of the search paths of libraries and programs on disk, as a build of packages makes
//! them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rock_audit::codes::elf::UNEDITABLE_ELF;
use rock_bytes::{RangeReader, ReadAt as _};
use rock_diagnostic::{Diagnostic, Location};
use rock_elf::{Elf, ElfEdits, ElfError, PatchedFile, SearchPathEdit, tag};
use rock_sys::{FileError, OnExisting, PositionalFile};

/// A change of a search path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchPathChange {
    /// Leave the search path as it is.
    Keep,
    /// Convert a RUNPATH to an RPATH with the same entries.
    Convert,
    /// Append directories that the search path does not have yet.
    Append(Vec<String>),
    /// Replace the search path.
    Replace(String),
}

/// The tag of a search path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchPathTag {
    /// `DT_RPATH`, which `LD_LIBRARY_PATH` cannot override.
    Rpath,
    /// `DT_RUNPATH`.
    Runpath,
}

/// The search path of a file, after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSearchPath {
    /// The path of the file.
    pub path: PathBuf,
    /// The tag and the text of the search path that a loader uses.
    pub search: Option<(SearchPathTag, String)>,
    /// Whether the file was changed.
    pub is_changed: bool,
}

impl SearchPathTag {
    /// Returns the name of the tag, without `DT_`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Rpath => "RPATH",
            Self::Runpath => "RUNPATH",
        }
    }
}

impl SearchPathChange {
    /// Returns the search path to write for a file with this one; `None` to leave the file as it
    /// is.
    fn apply(&self, before: Option<&str>) -> Option<String> {
        match self {
            Self::Keep => None,
            Self::Convert => before.map(str::to_owned),
            Self::Replace(path) => Some(path.clone()),
            Self::Append(directories) => {
                let entries = before.iter().flat_map(|text| text.split(':'));
                let mut seen = BTreeSet::new();
                let entries: Vec<&str> = entries
                    .filter(|entry| !entry.is_empty())
                    .chain(directories.iter().map(String::as_str))
                    .filter(|entry| seen.insert(*entry))
                    .collect();
                Some(entries.join(":"))
            }
        }
    }
}

impl FileSearchPath {
    /// Reads the search path of a file and changes it. A changed file is replaced atomically; it
    /// then has an RPATH and no RUNPATH.
    ///
    /// # Errors
    /// When the file cannot be read or written, or is not a library or dynamically linked program.
    pub fn change(path: &Path, change: &SearchPathChange) -> Result<Self, Diagnostic> {
        let uneditable = |error: ElfError| {
            Diagnostic::new(&UNEDITABLE_ELF, error.to_string())
                .at(Location::File(path.display().to_string().into()), "")
                .help("only shared libraries and dynamically linked programs have a search path")
        };
        let file = PositionalFile::open(path)?;
        let before = read_search_path(&file).map_err(uneditable)?;
        let Some(rpath) = change.apply(before.as_ref().map(|(_, text)| text.as_str())) else {
            return Ok(Self {
                path: path.to_owned(),
                search: before,
                is_changed: false,
            });
        };
        let edits = ElfEdits {
            rpath: SearchPathEdit::Rpath(rpath.clone()),
            ..ElfEdits::default()
        };
        let patch = rock_elf::edit(&file, &edits).map_err(uneditable)?;
        let is_changed = !patch.is_empty();
        if is_changed {
            let patched = PatchedFile::new(&file, &patch);
            rock_sys::save::<FileError>(path, OnExisting::Update, |target| {
                let mut reader = RangeReader::new(&patched, 0, patched.size_bytes());
                std::io::copy(&mut reader, target)
                    .map(drop)
                    .map_err(|error| FileError::new("write", path, error))
            })?;
        }
        Ok(Self {
            path: path.to_owned(),
            search: Some((SearchPathTag::Rpath, rpath)),
            is_changed,
        })
    }
}

/// Returns the search path that a loader uses. It ignores the RPATH of a file with a RUNPATH
/// (ld.so(8)).
fn read_search_path(file: &PositionalFile) -> Result<Option<(SearchPathTag, String)>, ElfError> {
    let elf = Elf::read(file)?;
    let strings = elf.string_table(file)?;
    for (tag, kind) in [
        (tag::RUNPATH, SearchPathTag::Runpath),
        (tag::RPATH, SearchPathTag::Rpath),
    ] {
        if let Some(text) = elf.dynamic_strings(&strings, tag)?.into_iter().next() {
            return Ok(Some((kind, text)));
        }
    }
    Ok(None)
}

/// Parses an entry of a search path.
///
/// # Errors
/// Returns the reason for which the text is not one directory.
pub fn parse_search_entry(text: &str) -> Result<String, String> {
    match text {
        "" => Err("an empty entry means the working directory of the program".to_owned()),
        text if text.contains(':') => Err("an entry is one directory, without colons".to_owned()),
        text => Ok(text.to_owned()),
    }
}

/// Parses a search path: directories separated by colons.
///
/// # Errors
/// Returns the reason for which an entry is invalid.
pub fn parse_search_path(text: &str) -> Result<String, String> {
    text.split(':')
        .try_for_each(|entry| parse_search_entry(entry).map(drop))
        .map(|()| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{SearchPathChange, parse_search_path};

    #[test]
    fn directories_are_appended_once() {
        let append = SearchPathChange::Append(vec!["$ORIGIN".to_owned(), "/a".to_owned()]);
        let apply = |before| append.apply(before).unwrap();
        assert_eq!(apply(None), "$ORIGIN:/a");
        assert_eq!(apply(Some("/b::$ORIGIN:/b")), "/b:$ORIGIN:/a");
        assert_eq!(SearchPathChange::Convert.apply(None), None);
        assert_eq!(SearchPathChange::Keep.apply(Some("/b")), None);
        assert!(parse_search_path("/a:/b").is_ok() && parse_search_path("/a::/b").is_err());
    }
}
