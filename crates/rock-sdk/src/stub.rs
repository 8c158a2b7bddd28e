//! Stub programs, which wheels contain in place of symlinks to programs. A stub replaces itself
//! with the target program.
//!
//! They are built from the assembler sources in `stub`, whose header comments have the commands.
//! Each ends with a slot for the target text of the symlink.

use rock_elf::machine;

/// The size of the slot, including the zero byte that ends the text.
const SLOT_BYTES: usize = 4096;
/// The start of the slot before a text is written to it.
const MARKER: &[u8] = b"rock-matrix stub: the text of a link goes here";

/// The stubs, with the processor of each.
const IMAGES: [(u16, &[u8]); 2] = [
    (machine::X86_64, include_bytes!("stub/x86_64.bin")),
    (machine::AARCH64, include_bytes!("stub/aarch64.bin")),
];

/// The reason for which no stub can be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StubError {
    /// No stub exists for the processor.
    #[error("there is no stub for the processor {0} (e_machine)")]
    Machine(u16),
    /// The text is empty, too long for the slot, or contains a zero byte.
    #[error(
        "a stub contains strings of at most {most} bytes, without zero bytes; this one has \
         {length}",
        most = SLOT_BYTES - 1
    )]
    Text {
        /// The length of the text in bytes.
        length: usize,
    },
}

/// Returns a program for a processor that runs the program at `text`, relative to its own
/// directory, with unchanged arguments.
///
/// # Errors
/// When no stub exists for the processor, or the text is empty, too long, or contains a zero byte.
pub fn stub(processor: u16, text: &str) -> Result<Vec<u8>, StubError> {
    let image = IMAGES.into_iter().find(|(known, _)| *known == processor);
    let (_, image) = image.ok_or(StubError::Machine(processor))?;
    if text.len() >= SLOT_BYTES || text.is_empty() || text.contains('\0') {
        return Err(StubError::Text { length: text.len() });
    }
    let (program, slot) = image.split_at(image.len() - SLOT_BYTES);
    assert!(slot.starts_with(MARKER), "the slot is the end of the image");
    let mut made = Vec::with_capacity(image.len());
    made.extend_from_slice(program);
    made.extend_from_slice(text.as_bytes());
    made.resize(image.len(), 0);
    Ok(made)
}

/// Whether a file of this size may be a stub.
pub fn is_as_large(size_bytes: u64) -> bool {
    IMAGES
        .iter()
        .any(|(_, image)| image.len() as u64 == size_bytes)
}

/// Returns the target text in a stub, or `None` if the bytes are not a stub. The text of an unused
/// stub is its marker.
pub fn text_in(bytes: &[u8]) -> Option<&str> {
    IMAGES
        .iter()
        .filter(|(_, image)| image.len() == bytes.len())
        .find_map(|(_, image)| {
            let (program, slot) = bytes.split_at(image.len() - SLOT_BYTES);
            let text = slot.split(|byte| *byte == 0).next().unwrap_or_default();
            image
                .starts_with(program)
                .then(|| std::str::from_utf8(text).ok())?
        })
}

#[cfg(test)]
mod tests {
    use super::{MARKER, is_as_large, machine, stub, text_in};

    #[test]
    fn the_text_of_a_stub_reads_back_and_other_files_of_its_size_are_none() {
        for processor in [machine::X86_64, machine::AARCH64] {
            let mut made = stub(processor, "../lib/clang-23").unwrap();
            assert!(is_as_large(made.len() as u64));
            assert_eq!(text_in(&made), Some("../lib/clang-23"));
            made[70] ^= 1;
            assert_eq!(text_in(&made), None);
        }
        let empty = super::IMAGES[0].1;
        assert_eq!(text_in(empty).map(str::as_bytes), Some(MARKER));
        assert_eq!(text_in(&[]), None);
    }
}
