//! Compression: small contents as a whole, large ones in independent blocks.

use std::io;

use flate2::{Compress, Compression, FlushCompress, Status};
use libdeflater::{CompressionError, CompressionLvl, Compressor};

/// Maximum distance of a back-reference (RFC 1951, section 2).
pub(super) const WINDOW_BYTES: usize = 32 << 10;

/// The position of a block in its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockPosition {
    /// Other blocks follow: it ends at a byte boundary, with an empty stored block (RFC 1951,
    /// section 3.2.4).
    Inner,
    /// The last block.
    Last,
}

/// Deflates one block. The concatenation of all blocks is one stream.
///
/// `before` is the content in front of the block, at most [`WINDOW_BYTES`], to which the block may
/// refer back.
pub(super) fn deflate_block(
    content: &[u8],
    before: &[u8],
    level: u32,
    position: BlockPosition,
) -> io::Result<Vec<u8>> {
    let mut compress = Compress::new(Compression::new(level.min(9)), false);
    if !before.is_empty() {
        compress.set_dictionary(before).map_err(io::Error::other)?;
    }
    let flush = match position {
        BlockPosition::Inner => FlushCompress::Sync,
        BlockPosition::Last => FlushCompress::Finish,
    };
    // Incompressible data grows by five bytes for each stored block.
    let mut deflated = Vec::with_capacity(content.len() + content.len() / 1000 + 256);
    loop {
        let read = usize::try_from(compress.total_in()).expect("it is part of a slice");
        let status = compress
            .compress_vec(&content[read..], &mut deflated, flush)
            .map_err(io::Error::other)?;
        let is_input_read = compress.total_in() == content.len() as u64;
        let has_space = deflated.len() < deflated.capacity();
        match (position, status) {
            (BlockPosition::Last, Status::StreamEnd) => return Ok(deflated),
            // If space is left in the output, nothing is pending (zlib.h, `deflate`).
            (BlockPosition::Inner, _) if is_input_read && has_space => return Ok(deflated),
            _ => deflated.reserve(deflated.len() / 4 + 4096),
        }
    }
}

/// Deflates a content as a whole. Returns `None` at level 0, or if the result is not shorter.
pub(super) fn deflate_whole(content: &[u8], level: u32) -> Option<Vec<u8>> {
    if level == 0 {
        return None;
    }
    // Twice as fast as zlib at the same levels (libdeflate.h, `libdeflate_alloc_compressor`).
    let level = i32::try_from(level.min(9))
        .ok()
        .and_then(|level| CompressionLvl::new(level).ok())
        .unwrap_or_default();
    let mut deflated = vec![0; content.len()];
    match Compressor::new(level).deflate_compress(content, &mut deflated) {
        Ok(length) if length < content.len() => {
            deflated.truncate(length);
            Some(deflated)
        }
        Ok(_) | Err(CompressionError::InsufficientSpace) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use proptest::prelude::*;

    use super::*;

    fn inflated(deflated: &[u8]) -> Vec<u8> {
        let mut content = Vec::new();
        flate2::bufread::DeflateDecoder::new(deflated)
            .read_to_end(&mut content)
            .unwrap();
        content
    }

    fn in_blocks(content: &[u8], length: usize, level: u32) -> Vec<u8> {
        let mut deflated = Vec::new();
        for start in (0..content.len()).step_by(length) {
            let end = content.len().min(start + length);
            let position = if end == content.len() {
                BlockPosition::Last
            } else {
                BlockPosition::Inner
            };
            let before = &content[start.saturating_sub(WINDOW_BYTES)..start];
            deflated.extend(deflate_block(&content[start..end], before, level, position).unwrap());
        }
        deflated
    }

    #[test]
    fn blocks_refer_back_to_earlier_content() {
        // The second block is short only if it refers back to the first.
        let noise: Vec<u8> = (0..20_000_u32)
            .map(|n| (n.wrapping_mul(2_654_435_761) >> 13).to_le_bytes()[0])
            .collect();
        let content = [noise.as_slice(), &noise].concat();
        let deflated = in_blocks(&content, noise.len(), 6);
        assert_eq!(inflated(&deflated), content);
        assert!(deflated.len() < noise.len() + 2000, "{}", deflated.len());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn concatenated_blocks_inflate_to_the_content(
            parts in proptest::collection::vec((any::<u64>(), 0..40_000_usize, 0..3_u8), 1..6),
            length in 1..70_000_usize,
            level in 1..10_u32,
        ) {
            let content: Vec<u8> = parts.iter().flat_map(|(seed, length, kind)| {
                let mut state = *seed | 1;
                let kind = *kind;
                (0..*length).map(move |_| {
                    state ^= state << 13;
                    state ^= state >> 7;
                    state ^= state << 17;
                    let byte = state.to_le_bytes()[3];
                    match kind { 0 => byte, 1 => byte & 3, _ => 0 }
                })
            }).collect();
            prop_assume!(!content.is_empty());
            let length = length.max(content.len() / 60 + 1);
            prop_assert!(inflated(&in_blocks(&content, length, level)) == content);
        }
    }
}
