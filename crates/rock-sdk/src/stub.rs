//! Programs that become another program: what a wheel holds in place of a link to one.
//!
//! They are made from the assembler sources beside them, whose heads say how. Each ends with a slot
//! for the text of the link.

use rock_elf::machine;

/// How long the slot is, with the zero that ends the text.
const SLOT_BYTES: usize = 4096;
/// What stands in the slot before a text does.
const MARKER: &[u8] = b"rock-matrix stub: the text of a link goes here";

/// The stubs, each for a processor.
const IMAGES: [(u16, &[u8]); 2] = [
    (machine::X86_64, include_bytes!("stub/x86_64.bin")),
    (machine::AARCH64, include_bytes!("stub/aarch64.bin")),
];

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

/// A program for a processor that runs what lies at `text`, seen from its own folder, with the
/// arguments as they are.
///
/// # Errors
/// When there is none for the processor, or the text is too long.
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

/// The text of the link that a stub stands for; `None` where the bytes are none. The slot of a stub
/// that nobody filled has its marker.
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
