//! Changes what a library is called, what it needs, and where it searches, without moving a loaded
//! byte.
//!
//! In: a file behind [`ReadAt`] and [`ElfEdits`]. Out: a [`Patch`], small whatever the size of the
//! file. The rungs of the ladder, the first that reaches: a text that the table of strings has
//! already; the end of a read-only segment that ends the file; a segment that is added, in a free
//! entry of the program headers or with the table of them moved behind it. Dynamic entries use
//! spare ones, then entries that are only hints, and move as the last resort. The format is that of
//! the System V gABI, chapters 4 and 5.
//!
//! **Invariant:** no byte of a loaded segment moves; no byte of a text is overwritten; a file that
//! is as the edits want it gets an empty patch; no patch is returned that adds a fault which
//! [`verify`](super::verify) finds.

mod apart;
mod change;
mod edits;
mod layout;
mod marker;
mod names;
mod pointers;
mod room;
mod versions;

use change::Change;
use names::Names;

pub use edits::{ElfEdits, SearchPath};

use super::{Elf, ElfError, Patch, Patched, Segment, verify};
use rock_bytes::ReadAt;

/// What the edits change in a file. The patch is empty where they change nothing.
///
/// ```
/// use rock_elf::{ElfEdits, ElfError, SearchPath, edit};
/// let edits = ElfEdits { rpath: SearchPath::Rpath("$ORIGIN".to_owned()), ..ElfEdits::default() };
/// assert!(matches!(edit(&b"no ELF file".to_vec(), &edits), Err(ElfError::NotElf)));
/// ```
///
/// # Errors
/// When it is no ELF file or damaged, when an edit would need guesses, or when the result would
/// have a fault that the file has not.
pub fn edit(source: &dyn ReadAt, edits: &ElfEdits) -> Result<Patch, ElfError> {
    edits.check()?;
    let elf = Elf::read(source)?;
    let mut names = Names::read(&elf, source)?;
    let Some(change) = Change::plan(&elf, source, edits, &mut names)? else {
        return Ok(Patch::unchanged(elf.size_bytes()));
    };
    let patch = layout::lay_out(&elf, source, &change, &names)?;
    drop(names);
    check(&elf, source, &patch)?;
    Ok(patch)
}

/// Refuses a result that has faults which the source has not, or that maps what it mapped
/// elsewhere.
fn check(elf: &Elf, source: &dyn ReadAt, patch: &Patch) -> Result<(), ElfError> {
    let patched = Patched::new(source, patch);
    let after = verify(&patched);
    if !after.is_empty() {
        let before = verify(source);
        if let Some(fault) = after.into_iter().find(|fault| !before.contains(fault)) {
            return Err(ElfError::Harmful(fault));
        }
    }
    let edited = Elf::read(&patched)?;
    // Only a segment that ends the file may grow.
    let stays = |old: &Segment, new: &Segment| {
        let grown = Segment {
            file_size: new.file_size,
            memory_size: new.memory_size,
            ..*old
        };
        old == new
            || (old.file_end() == elf.size_bytes()
                && grown == *new
                && old.file_size < new.file_size)
    };
    let unmoved = elf
        .loads()
        .zip(edited.loads())
        .all(|(old, new)| stays(old, new));
    if !unmoved || edited.loads().count() < elf.loads().count() {
        return Err(ElfError::refused("a loaded segment would move"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
