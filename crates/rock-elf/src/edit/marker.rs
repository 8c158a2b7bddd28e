//! The marker at the start of a segment that an edit appended.

use super::super::{ElfError, ElfFormat};
use rock_bytes::ReadAt;

/// Size of the marker in bytes: the header and name of an ELF note with the name `RMX` and no
/// description (gABI, "Note Section").
pub(super) const MARKER_BYTES: usize = 16;
const NAME: [u8; NAME_BYTES as usize] = *b"RMX\0";
const NAME_BYTES: u32 = 4;

/// Returns the marker. Program headers with space for `capacity` entries follow it; none if that is
/// 0.
pub(super) fn marker_bytes(format: ElfFormat, capacity: u32) -> [u8; MARKER_BYTES] {
    let mut marker = [0; MARKER_BYTES];
    format.put_u32(&mut marker, 0, NAME_BYTES);
    format.put_u32(&mut marker, 8, capacity);
    marker[12..].copy_from_slice(&NAME);
    marker
}

/// Reads the number of program headers for which the table at an offset has space, if a marker
/// precedes it.
pub(super) fn read_capacity(
    format: ElfFormat,
    source: &dyn ReadAt,
    offset: u64,
) -> Result<Option<u32>, ElfError> {
    let Some(start) = offset.checked_sub(MARKER_BYTES as u64) else {
        return Ok(None);
    };
    let mut found = [0; MARKER_BYTES];
    source
        .read_exact_at(&mut found, start)
        .map_err(ElfError::from_read("the marker of an edit", start))?;
    let capacity = format.u32(&found, 8);
    Ok((found == marker_bytes(format, capacity)).then_some(capacity))
}
