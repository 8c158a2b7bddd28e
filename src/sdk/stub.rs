//! Programs that become another program: what a wheel holds in place of a link to one.
//!
//! They are made from the assembler sources beside them, whose heads say how. Each ends with a slot for the text of the
//! link.

use crate::elf::machine;

/// How long the slot is, with the zero that ends the text.
const SLOT_BYTES: usize = 4096;
/// What stands in the slot before a text does.
const MARKER: &[u8] = b"rock-matrix stub: the text of a link goes here";

/// No stub can be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StubError {
    /// There is none for the processor.
    #[error("there is no stub for the processor {0} (e_machine)")]
    Machine(u16),
    /// The text does not fit, or would end early.
    #[error("a stub holds texts of at most {most} bytes, without a zero among them; this one has {length}", most = SLOT_BYTES - 1)]
    Text {
        /// How many bytes it has.
        length: usize,
    },
}

/// A program for a processor that runs what lies at `text`, seen from its own folder, with the arguments as they are.
///
/// # Errors
/// When there is none for the processor, or the text is too long.
pub fn stub(processor: u16, text: &str) -> Result<Vec<u8>, StubError> {
    let image: &[u8] = match processor {
        machine::X86_64 => include_bytes!("stub/x86_64.bin"),
        machine::AARCH64 => include_bytes!("stub/aarch64.bin"),
        other => return Err(StubError::Machine(other)),
    };
    if text.len() >= SLOT_BYTES || text.is_empty() || text.contains('\0') {
        return Err(StubError::Text { length: text.len() });
    }
    let (program, slot) = image.split_at(image.len() - SLOT_BYTES);
    debug_assert!(slot.starts_with(MARKER), "the slot is the end of the image");
    let mut made = Vec::with_capacity(image.len());
    made.extend_from_slice(program);
    made.extend_from_slice(text.as_bytes());
    made.resize(image.len(), 0);
    Ok(made)
}
