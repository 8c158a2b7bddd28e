//! Multi-threaded xz compression.

use std::io::{self, Write};

use liblzma::stream::{Check, MtStreamBuilder};
use liblzma::write::XzEncoder;

use super::xz_blocks::write_blocks;
use crate::{RangeReader, ReadAt, can_start_threads};

/// The uncompressed size of a block in bytes: three dictionaries, the default of multi-threaded `xz
/// -6` (xz(1), `--block-size`). It is fixed, so that the output does not depend on the number of
/// threads.
const BLOCK_BYTES: u64 = 24 << 20;
/// The compression preset, that of `xz -6`.
pub(super) const PRESET: u32 = 6;

/// Compresses a source with the given number of threads and writes the xz stream to `target`. If
/// the threads cannot be started, the calling thread writes the same bytes.
///
/// # Errors
/// If the source cannot be read, or `target` cannot be written.
pub fn compress_xz(source: &dyn ReadAt, threads: u32, target: &mut dyn Write) -> io::Result<()> {
    let threads = threads.max(1);
    if can_start_threads(threads) {
        compress_in_threads(source, BLOCK_BYTES, threads, target)
    } else {
        write_blocks(source, BLOCK_BYTES, target)
    }
}

/// Compresses with liblzma's multi-threaded encoder.
fn compress_in_threads(
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
        &mut RangeReader::new(source, 0, source.size_bytes()),
        &mut encoder,
    )?;
    encoder.finish().map(drop)
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::super::xz_blocks::write_blocks;
    use super::{compress_in_threads, compress_xz};

    #[test]
    fn output_does_not_depend_on_the_number_of_threads() {
        let content: Vec<u8> = (0..1_000_000_u32)
            .flat_map(|n| (n / 7).to_le_bytes())
            .collect();
        let made = |threads| {
            let mut made = Vec::new();
            compress_xz(&content, threads, &mut made).unwrap();
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

    /// Covers empty content, less than a block, block boundaries, several blocks, and
    /// incompressible content.
    #[test]
    fn calling_thread_writes_the_bytes_of_liblzma_threads() {
        const BLOCK: usize = 1 << 17;
        let text: Vec<u8> = (0..75_000_u32)
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
                compress_in_threads(&content, BLOCK as u64, 2, &mut several).unwrap();
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
