//! Where the bytes of packed files come from.

use std::io;

use rayon::prelude::*;

use super::read::Read;
use crate::bytes::{ReadAt, start_threads};
use crate::codes::elf as codes;
use crate::diagnostic::Diagnostic;
use crate::elf::{self, ElfEdits, ElfPatch, PatchedFile, SearchPathEdit};
use crate::sdk::{FileContent, FileOrigin, stub};

/// A file of an artifact with what changes in it.
struct Changed<'r> {
    file: Bytes<'r>,
    patch: ElfPatch,
}

impl ReadAt for Changed<'_> {
    fn size_bytes(&self) -> u64 {
        self.patch.size_bytes()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        PatchedFile::new(self.file.as_ref(), &self.patch).read_at(buffer, offset)
    }
}

/// Bytes of a package; of libraries only what changes is held.
pub(super) type Bytes<'r> = Box<dyn ReadAt + Send + 'r>;

/// Opens contents in parallel: the change of each library is made, and no file stays open.
///
/// # Errors
/// A library that cannot be changed safely, and a file that cannot be read.
pub(super) fn open_all<'r>(
    read: &'r Read,
    contents: &[&FileContent],
) -> Result<Vec<Bytes<'r>>, Vec<Diagnostic>> {
    start_threads();
    let opened: Vec<Result<Bytes<'_>, Diagnostic>> = contents
        .par_iter()
        .map(|content| open(read, content))
        .collect();
    let mut faults = Vec::new();
    let bytes = opened
        .into_iter()
        .filter_map(|one| one.map_err(|fault| faults.push(fault)).ok())
        .collect();
    if faults.is_empty() {
        Ok(bytes)
    } else {
        Err(faults)
    }
}

fn open<'r>(read: &'r Read, content: &FileContent) -> Result<Bytes<'r>, Diagnostic> {
    Ok(match content {
        FileContent::Copy(origin) => closed(read, *origin)?,
        FileContent::Searching(origin, search) => {
            let file = closed(read, *origin)?;
            let edits = ElfEdits {
                rpath: SearchPathEdit::Rpath(search.clone()),
                ..ElfEdits::default()
            };
            let patch = elf::edit(read.open(*origin)?.as_ref(), &edits).map_err(|error| {
                Diagnostic::new(&codes::UNEDITABLE_ELF, format!("it cannot be changed safely: {error}"))
                    .at(read.place(*origin), "its search path must lead to the core package")
                    .help("link it anew with a search path of its own, such as `-Wl,-rpath,$ORIGIN`, or leave it out of the artifact")
            })?;
            Box::new(Changed { file, patch })
        }
        FileContent::Alias(alias) => Box::new(alias.bytes()),
        FileContent::Stub { machine, text } => {
            Box::new(stub::stub(*machine, text).unwrap_or_default())
        }
    })
}

/// A file of an artifact, which is opened when it is read.
fn closed(read: &Read, origin: FileOrigin) -> Result<Bytes<'_>, Diagnostic> {
    let file = read.closed(origin)?;
    if file.size_bytes() == read.size_bytes(origin) {
        return Ok(file);
    }
    Err(Diagnostic::new(
        &crate::codes::sdk::BAD_ARTIFACT,
        "the file changed while it was packed",
    )
    .at(read.place(origin), "")
    .help("wait until nothing writes into the folder of artifacts, and run again"))
}
