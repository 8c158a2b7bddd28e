//! Where the bytes of packed files come from.

use std::io;

use rayon::prelude::*;

use super::read::Read;
use crate::bytes::ReadAt;
use crate::diagnostic::{Diagnostic, Place, registry::elf as codes};
use crate::elf::{self, ElfEdits, Patch, Patched, SearchPath};
use crate::sdk::{Content, EntryKind, Origin, stub};
use crate::sys::{ClosedFile, PositionalFile};

/// A file on disk with what changes in it.
struct Changed {
    file: ClosedFile,
    patch: Patch,
}

impl ReadAt for Changed {
    fn size_bytes(&self) -> u64 {
        self.patch.size_bytes()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        Patched::new(&self.file, &self.patch).read_at(buffer, offset)
    }
}

/// Bytes of a package; of libraries only what changes is held.
pub(super) type Bytes = Box<dyn ReadAt + Send>;

/// Opens contents in parallel: the change of each library is made, and no file stays open.
///
/// # Errors
/// A library that cannot be changed safely, and a file that cannot be read.
pub(super) fn open_all(read: &Read, contents: &[&Content]) -> Result<Vec<Bytes>, Vec<Diagnostic>> {
    let opened: Vec<Result<Bytes, Diagnostic>> = contents.par_iter().map(|content| open(read, content)).collect();
    let mut faults = Vec::new();
    let bytes = opened.into_iter().filter_map(|one| one.map_err(|fault| faults.push(fault)).ok()).collect();
    if faults.is_empty() { Ok(bytes) } else { Err(faults) }
}

fn open(read: &Read, content: &Content) -> Result<Bytes, Diagnostic> {
    Ok(match content {
        Content::Copy(origin) => Box::new(closed(read, *origin)?),
        Content::Searching(origin, search) => {
            let file = closed(read, *origin)?;
            let edits = ElfEdits { rpath: SearchPath::Rpath(search.clone()), ..ElfEdits::default() };
            let path = read.path(*origin);
            let patch = elf::edit(&PositionalFile::open(&path)?, &edits).map_err(|error| {
                Diagnostic::new(&codes::UNEDITABLE_ELF, format!("it cannot be changed safely: {error}"))
                    .at(Place::File(path.display().to_string().into()), "its search path must lead to the core package")
            })?;
            Box::new(Changed { file, patch })
        }
        Content::Stub { machine, text } => Box::new(stub::stub(*machine, text).unwrap_or_default()),
    })
}

/// A file of an artifact, which is opened when it is read.
fn closed(read: &Read, origin: Origin) -> Result<ClosedFile, Diagnostic> {
    let file = ClosedFile::new(&read.path(origin))?;
    let listed = match &read.artifacts[origin.artifact].entries[origin.entry].kind {
        EntryKind::File(facts) => facts.size_bytes,
        EntryKind::Folder | EntryKind::Link(_) => file.size_bytes(),
    };
    if file.size_bytes() == listed {
        return Ok(file);
    }
    let place = Place::File(read.path(origin).display().to_string().into());
    Err(Diagnostic::new(&crate::diagnostic::registry::sdk::BAD_ARTIFACT, "the file changed while it was packed")
        .at(place, "")
        .help("wait until nothing writes into the folder of artifacts, and run again"))
}
