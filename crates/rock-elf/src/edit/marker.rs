//! The mark at the start of a segment that an edit appended.

use super::super::{ElfError, Format};
use rock_bytes::ReadAt;

/// Bytes of the mark: the head of a note with the name `RMX` and no description (gABI, "Note
/// Section").
pub(super) const BYTES: usize = 16;
const NAME: [u8; NAME_BYTES as usize] = *b"RMX\0";
const NAME_BYTES: u32 = 4;

/// The mark. Behind it lies a table of program headers with room for so many, or none.
pub(super) fn bytes(format: Format, capacity: u32) -> [u8; BYTES] {
    let mut mark = [0; BYTES];
    format.put_u32(&mut mark, 0, NAME_BYTES);
    format.put_u32(&mut mark, 8, capacity);
    mark[12..].copy_from_slice(&NAME);
    mark
}

/// How many program headers the table at an offset has room for, where our mark stands before it.
pub(super) fn read_before(
    format: Format,
    source: &dyn ReadAt,
    offset: u64,
) -> Result<Option<u32>, ElfError> {
    let Some(start) = offset.checked_sub(BYTES as u64) else {
        return Ok(None);
    };
    let mut found = [0; BYTES];
    source
        .read_exact_at(&mut found, start)
        .map_err(ElfError::reading("the mark of an edit", start))?;
    let capacity = format.u32(&found, 8);
    Ok((found == bytes(format, capacity)).then_some(capacity))
}
