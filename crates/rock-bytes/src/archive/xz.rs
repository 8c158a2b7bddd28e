//! Compressing by xz, in blocks that threads make side by side.

use std::io::{self, Write};

use liblzma::stream::{Check, MtStreamBuilder};
use liblzma::write::XzEncoder;

use super::xz_blocks::write_blocks;
use crate::{ReadAt, Section, can_start_threads};

/// How much of the content a block has: what `xz -6` takes in threads, three dictionaries (xz(1),
/// `--block-size`). It is fixed, so that the number of threads does not show.
const BLOCK_BYTES: u64 = 24 << 20;
/// How hard it compresses, as `xz -6`.
pub(super) const PRESET: u32 = 6;

/// Compresses a source by so many threads, and hands on what comes of it. Where they cannot be
/// started, the calling thread writes the same bytes.
///
/// # Errors
/// When the source cannot be read, or the target not be written.
pub fn xz(source: &dyn ReadAt, threads: u32, target: &mut dyn Write) -> io::Result<()> {
    let threads = threads.max(1);
    if can_start_threads(threads) {
        in_threads(source, BLOCK_BYTES, threads, target)
    } else {
        write_blocks(source, BLOCK_BYTES, target)
    }
}

fn in_threads(
    source: &dyn ReadAt,
    block_bytes: u64,
    threads: u32,
    target: &mut dyn Write,
) -> io::Result<()> {
    let stream = MtStreamBuilder::new()
        .threads(threads)
        .block_size(block_bytes)
        .preset(PRESET)
        .check(Check::Crc64)
        .encoder()
        .map_err(io::Error::other)?;
    let mut encoder = XzEncoder::new_stream(target, stream);
    io::copy(
        &mut Section::new(source, 0, source.size_bytes()),
        &mut encoder,
    )?;
    encoder.finish().map(drop)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::super::xz_blocks::write_blocks;
    use super::{in_threads, xz};

    #[test]
    fn the_number_of_threads_does_not_show_and_a_reader_finds_the_content() {
        let content: Vec<u8> = (0..1_000_000_u32)
            .flat_map(|n| (n / 7).to_le_bytes())
            .collect();
        let made = |threads| {
            let mut made = Vec::new();
            xz(&content, threads, &mut made).unwrap();
            made
        };
        let one = made(1);
        assert!(one == made(3) && one.len() < content.len() / 4);
        let mut read = Vec::new();
        liblzma::read::XzDecoder::new(one.as_slice())
            .read_to_end(&mut read)
            .unwrap();
        assert!(read == content);
    }

    /// The bytes of liblzma's threads and of the calling thread are the same: for no content, for
    /// less than a block, for several blocks, at the edges of blocks, and for content that cannot
    /// be compressed.
    #[test]
    fn one_thread_writes_the_bytes_of_several() {
        const BLOCK: usize = 1 << 20;
        let text: Vec<u8> = (0..600_000_u32)
            .flat_map(|n| (n / 7).to_le_bytes())
            .collect();
        let mut state = 1_u64;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state.to_be_bytes()[0]
        })
        .take(2 * BLOCK + 5)
        .collect();
        for content in [&text, &noise] {
            for length in [0, 1, 1000, BLOCK - 1, BLOCK, BLOCK + 1, content.len()] {
                let content = content[..length].to_vec();
                let (mut several, mut one) = (Vec::new(), Vec::new());
                in_threads(&content, BLOCK as u64, 2, &mut several).unwrap();
                write_blocks(&content, BLOCK as u64, &mut one).unwrap();
                assert!(
                    several == one,
                    "{length} bytes: {} and {} bytes",
                    several.len(),
                    one.len()
                );
            }
        }
    }
}
