//! ELF notes: the x86-64 instruction-set level that a file needs.

use super::limits::MAX_NOTES_BYTES;
use super::{Elf, ElfError, segment_type};
use rock_bytes::ReadAt;

/// Names of the x86-64 instruction-set levels, lowest first (x86-64 psABI, "Micro-Architecture
/// Levels").
pub const X86_ISA_LEVELS: [&str; 4] = ["x86-64-baseline", "x86-64-v2", "x86-64-v3", "x86-64-v4"];

/// `NT_GNU_PROPERTY_TYPE_0` (Linux Extensions to gABI, "Program Property").
const GNU_PROPERTY: u32 = 5;
/// `GNU_PROPERTY_X86_ISA_1_NEEDED` (x86-64 psABI, "Program Property").
const X86_ISA_NEEDED: u32 = 0xc000_8002;

impl Elf {
    /// Returns the highest x86-64 instruction-set level that the notes require, as an index into
    /// [`X86_ISA_LEVELS`].
    ///
    /// # Errors
    /// Fails if a note segment lies outside the file.
    pub fn x86_isa_needed(&self, source: &dyn ReadAt) -> Result<Option<usize>, ElfError> {
        let mut level = None;
        for segment in self
            .segments()
            .iter()
            .filter(|segment| segment.kind == segment_type::NOTE)
        {
            let mut bytes =
                vec![0; usize::try_from(segment.file_size.min(MAX_NOTES_BYTES)).unwrap_or(0)];
            source
                .read_exact_at(&mut bytes, segment.offset)
                .map_err(ElfError::from_read("a note", segment.offset))?;
            // Notes are aligned to 4 bytes, property notes of 64-bit files to 8.
            level = level.max(self.isa_level(&bytes, if segment.align == 8 { 8 } else { 4 }));
        }
        Ok(level)
    }

    fn isa_level(&self, mut notes: &[u8], align: usize) -> Option<usize> {
        let format = self.header().format;
        let mut level = None;
        while notes.len() >= 12 {
            let (name, size) = (format.u32(notes, 0) as usize, format.u32(notes, 4) as usize);
            let start = 12_usize
                .saturating_add(name)
                .checked_next_multiple_of(align)?;
            let content = notes.get(start..start.saturating_add(size))?;
            if format.u32(notes, 8) == GNU_PROPERTY && notes.get(12..16) == Some(b"GNU\0") {
                level = level.max(isa_level_of_property(
                    content,
                    |at| format.u32(content, at),
                    format.word_bytes(),
                ));
            }
            let end = start.saturating_add(size).checked_next_multiple_of(align)?;
            notes = notes.get(end..).unwrap_or_default();
        }
        level
    }
}

fn isa_level_of_property(
    content: &[u8],
    u32: impl Fn(usize) -> u32,
    align: usize,
) -> Option<usize> {
    let (mut at, mut level) = (0_usize, None);
    while at.saturating_add(12) <= content.len() {
        let (kind, size) = (u32(at), u32(at + 4) as usize);
        if kind == X86_ISA_NEEDED && size == 4 {
            let bits = u32(at + 8);
            level = level.max(
                (0..X86_ISA_LEVELS.len())
                    .rev()
                    .find(|bit| bits >> bit & 1 == 1),
            );
        }
        at = at
            .saturating_add(8)
            .saturating_add(size)
            .checked_next_multiple_of(align)?;
    }
    level
}
