//! Compressing by xz, in blocks that threads make side by side.

use std::io::{self, Write};

use liblzma::stream::{Check, MtStreamBuilder};
use liblzma::write::XzEncoder;

use crate::bytes::{ReadAt, Section};

/// How much of the content a block has: what `xz -6` takes in threads, three dictionaries (xz(1), `--block-size`). It is
/// fixed, so that the number of threads does not show.
const BLOCK_BYTES: u64 = 24 << 20;
/// How hard it compresses, as `xz -6`.
const PRESET: u32 = 6;

/// Compresses a source by so many threads, and hands on what comes of it.
///
/// # Errors
/// When the source cannot be read, or the target not be written.
pub fn xz(source: &dyn ReadAt, threads: u32, target: &mut dyn Write) -> io::Result<()> {
    let stream = MtStreamBuilder::new()
        .threads(threads.max(1))
        .block_size(BLOCK_BYTES)
        .preset(PRESET)
        .check(Check::Crc64)
        .encoder()
        .map_err(io::Error::other)?;
    let mut encoder = XzEncoder::new_stream(target, stream);
    io::copy(&mut Section::new(source, 0, source.size_bytes()), &mut encoder)?;
    encoder.finish().map(drop)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::xz;

    #[test]
    fn the_number_of_threads_does_not_show_and_a_reader_finds_the_content() {
        let content: Vec<u8> = (0..1_000_000_u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
        let made = |threads| {
            let mut made = Vec::new();
            xz(&content, threads, &mut made).unwrap();
            made
        };
        let one = made(1);
        assert!(one == made(3) && one.len() < content.len() / 4);
        let mut read = Vec::new();
        liblzma::read::XzDecoder::new(one.as_slice()).read_to_end(&mut read).unwrap();
        assert!(read == content);
    }
}
