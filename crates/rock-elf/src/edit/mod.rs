//! Edits of SONAME, NEEDED, RPATH and RUNPATH that do not move a loaded byte.
//!
//! Input: a file behind [`ReadAt`] and [`ElfEdits`]. Output: an [`ElfPatch`], small for files of
//! any size. A new string goes to the first of these places that suffices: an existing string in
//! the string table; the end of a read-only segment that ends the file; a new segment, whose
//! program header replaces an unused one or moves the program headers into it. New dynamic entries
//! use spare ones, then replace entries that are only hints; as a last resort the dynamic section
//! moves. The format is that of the System V gABI, chapters 4 and 5.
//!
//! **Invariant:** no byte of a loaded segment moves; no string is overwritten; the patch is empty
//! for a file that already is as requested; no patch adds a layout error that
//! [`verify`](super::verify) finds.

mod edit_plan;
mod edits;
mod layout;
mod marker;
mod phdr_growth;
mod pinned_tables;
mod string_table_builder;
mod table_references;
mod version_needs;

use edit_plan::EditPlan;
use string_table_builder::StringTableBuilder;

pub use edits::{ElfEdits, SearchPathEdit};

use super::{Elf, ElfError, ElfPatch, PatchedFile, ProgramHeader, verify};
use rock_bytes::ReadAt;

/// Returns the patch that applies `edits` to a file; empty if they change nothing.
///
/// ```
/// use rock_elf::{ElfEdits, ElfError, SearchPathEdit, edit};
///
/// let edits = ElfEdits {
///     rpath: SearchPathEdit::Rpath("$ORIGIN".to_owned()),
///     ..ElfEdits::default()
/// };
/// assert!(matches!(edit(&b"not ELF".to_vec(), &edits), Err(ElfError::NotElf)));
/// ```
///
/// # Errors
/// Fails if the file is not an ELF file or is malformed, if an edit would require guesses, or if
/// the result would have a layout error that the file does not have.
pub fn edit(source: &dyn ReadAt, edits: &ElfEdits) -> Result<ElfPatch, ElfError> {
    edits.check()?;
    let elf = Elf::read(source)?;
    let mut names = StringTableBuilder::read(&elf, source)?;
    let Some(plan) = EditPlan::new(&elf, source, edits, &mut names)? else {
        return Ok(ElfPatch::unchanged(elf.size_bytes()));
    };
    let patch = layout::lay_out(&elf, source, &plan, &names)?;
    drop(names);
    check(&elf, source, &patch)?;
    Ok(patch)
}

/// Rejects a patch that adds layout errors, or that maps loaded segments elsewhere.
fn check(elf: &Elf, source: &dyn ReadAt, patch: &ElfPatch) -> Result<(), ElfError> {
    let patched = PatchedFile::new(source, patch);
    let after = verify(&patched);
    if !after.is_empty() {
        let before = verify(source);
        if let Some(error) = after.into_iter().find(|error| !before.contains(error)) {
            return Err(ElfError::InvalidResult(error));
        }
    }
    let edited = Elf::read(&patched)?;
    // Only a segment at the end of the file may grow.
    let stays = |old: &ProgramHeader, new: &ProgramHeader| {
        let grown = ProgramHeader {
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
        .load_segments()
        .zip(edited.load_segments())
        .all(|(old, new)| stays(old, new));
    if !unmoved || edited.load_segments().count() < elf.load_segments().count() {
        return Err(ElfError::not_editable("a loaded segment would move"));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
