//! The bytes of the files of packages.

use std::io;

use rayon::prelude::*;

use crate::ArtifactSet;
use crate::{FileContent, FileOrigin, stub};
use rock_audit::codes::elf as codes;
use rock_bytes::{ReadAt, start_threads};
use rock_diagnostic::Diagnostic;
use rock_elf::{ElfEdits, ElfPatch, PatchedFile, SearchPathEdit};

/// A library of an artifact with an edit, of which only the changed bytes are in memory.
struct PatchedLibrary<'r> {
    file: ContentReader<'r>,
    patch: ElfPatch,
}

impl ReadAt for PatchedLibrary<'_> {
    fn size_bytes(&self) -> u64 {
        self.patch.size_bytes()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        PatchedFile::new(self.file.as_ref(), &self.patch).read_at(buffer, offset)
    }
}

/// The content of a file of a package.
pub(crate) type ContentReader<'r> = Box<dyn ReadAt + Send + 'r>;

/// Opens contents in parallel and edits libraries in memory. No file descriptor stays open.
///
/// # Errors
/// When a library cannot be edited safely or a file cannot be read.
pub(crate) fn open_contents<'r>(
    artifacts: &'r ArtifactSet,
    contents: &[&FileContent],
) -> Result<Vec<ContentReader<'r>>, Vec<Diagnostic>> {
    start_threads();
    let opened: Vec<Result<ContentReader<'_>, Diagnostic>> = contents
        .par_iter()
        .map(|content| open(artifacts, content))
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

fn open<'r>(
    artifacts: &'r ArtifactSet,
    content: &FileContent,
) -> Result<ContentReader<'r>, Diagnostic> {
    Ok(match content {
        FileContent::Copy(origin) => open_unchanged(artifacts, *origin)?,
        FileContent::Searching(origin, search) => {
            let file = open_unchanged(artifacts, *origin)?;
            let edits = ElfEdits {
                rpath: SearchPathEdit::Rpath(search.clone()),
                ..ElfEdits::default()
            };
            let patch = rock_elf::edit(artifacts.open(*origin)?.as_ref(), &edits).map_err(|error| {
                Diagnostic::new(&codes::UNEDITABLE_ELF, format!("it cannot be changed safely: {error}"))
                    .at(artifacts.location(*origin), "its search path must lead to the core package")
                    .help("link it again with its own search path, such as `-Wl,-rpath,$ORIGIN`, or leave it out of the artifact")
            })?;
            Box::new(PatchedLibrary { file, patch })
        }
        FileContent::Alias(alias) => Box::new(alias.bytes()),
        FileContent::Stub { machine, text } => {
            Box::new(stub::stub(*machine, text).unwrap_or_default())
        }
    })
}

/// Opens a file of an artifact that still has the size that was listed.
fn open_unchanged(
    artifacts: &ArtifactSet,
    origin: FileOrigin,
) -> Result<ContentReader<'_>, Diagnostic> {
    let file = artifacts.open_lazily(origin)?;
    if file.size_bytes() == artifacts.size_bytes(origin) {
        return Ok(file);
    }
    Err(Diagnostic::new(
        &crate::codes::sdk::BAD_ARTIFACT,
        "the file changed while it was packed",
    )
    .at(artifacts.location(origin), "")
    .help("wait until nothing writes to the directory of artifacts, and run the command again"))
}
