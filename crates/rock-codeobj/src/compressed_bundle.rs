//! Compressed offload bundles (CCOB), decompressed as a stream.

use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

use super::bundle::{BundleDepth, BundleError, BundleReader};
use super::limits::MAX_ZSTD_WINDOW_LOG;
use super::little_endian::{u16_at, u32_at, u64_at};

/// The magic of compressed bundles (clang, "Offload Bundler", "Compression and Decompression").
pub(super) const MAGIC: &[u8; 4] = b"CCOB";
/// The magic of a Zstandard frame (RFC 8878, section 3.1.1).
const ZSTD_MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();
/// Size of the output buffer, in bytes.
const CHUNK_BYTES: usize = 128 << 10;

/// The compression method of a bundle (LLVM, `compression::Format`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BundleCompression {
    /// zlib (RFC 1950).
    Zlib,
    /// Zstandard (RFC 8878).
    Zstd,
}

/// The header of a compressed bundle (clang, `CompressedOffloadBundle`, versions 1 to 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompressedBundleHeader {
    /// The version of the format.
    pub version: u8,
    /// The compression method.
    pub method: BundleCompression,
    /// Size of this header, in bytes.
    pub header_bytes: u64,
    /// Size of header and compressed data, in bytes; `None` in version 1.
    pub total_bytes: Option<u64>,
    /// Size of the decompressed bundle, in bytes.
    pub raw_bytes: u64,
    /// A part of the MD5 hash of the decompressed bundle; not verified.
    pub hash: u64,
}

/// An error in a compressed bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CompressedBundleError {
    /// The version is unknown.
    #[error("its version {0} is unknown")]
    UnknownVersion(u16),
    /// The compression method is unknown.
    #[error("its compression method {0} is unknown")]
    UnknownMethod(u16),
    /// The sizes in the header are impossible.
    #[error("its header claims {total} bytes in the file and {raw} unpacked")]
    InvalidSizes {
        /// Size in the file, in bytes; 0 if the header has none.
        total: u64,
        /// Decompressed size, in bytes.
        raw: u64,
    },
    /// The data does not start with the magic of the compression method.
    #[error("its data does not match its compression method")]
    DataMagic,
    /// The bundle is truncated.
    #[error("it is truncated")]
    Truncated,
    /// The data cannot be decompressed.
    #[error("its data is damaged after {0} unpacked bytes")]
    CorruptData(u64),
    /// The decompressed size differs from the header.
    #[error(
        "it unpacks to {found} bytes{}, but its header says {declared}",
        if found > declared { " or more" } else { "" }
    )]
    SizeMismatch {
        /// The size in the header, in bytes.
        declared: u64,
        /// The actual size in bytes; if larger, the size in the header plus 1.
        found: u64,
    },
    /// The decompressed data is not an offload bundle.
    #[error("its content is damaged: {0}")]
    InvalidBundle(BundleError),
    /// The limit on decompressed bytes of a file was reached.
    #[error("it was not unpacked further, because that exceeds the limit for one file")]
    LimitReached,
}

impl CompressedBundleHeader {
    /// Parses a header, and checks the first bytes of the data after it.
    ///
    /// # Errors
    /// Fails for unknown versions and methods, impossible sizes, data of another format, and
    /// truncated headers.
    pub fn parse(bytes: &[u8]) -> Result<Self, CompressedBundleError> {
        let cut = CompressedBundleError::Truncated;
        let version = u16_at(bytes, 4).ok_or(cut)?;
        let method = u16_at(bytes, 6).ok_or(cut)?;
        let short = |at| u32_at(bytes, at).map(u64::from).ok_or(cut);
        let long = |at| u64_at(bytes, at).ok_or(cut);
        let (small, header_bytes, total_bytes, raw_bytes, hash) = match version {
            1 => (1, 20, None, short(8)?, long(12)?),
            2 => (2, 24, Some(short(8)?), short(12)?, long(16)?),
            3 => (3, 32, Some(long(8)?), long(16)?, long(24)?),
            other => return Err(CompressedBundleError::UnknownVersion(other)),
        };
        let method = match method {
            0 => BundleCompression::Zlib,
            1 => BundleCompression::Zstd,
            other => return Err(CompressedBundleError::UnknownMethod(other)),
        };
        if raw_bytes == 0 || total_bytes.is_some_and(|total| total <= header_bytes) {
            return Err(CompressedBundleError::InvalidSizes {
                total: total_bytes.unwrap_or(0),
                raw: raw_bytes,
            });
        }
        let data = usize::try_from(header_bytes)
            .ok()
            .and_then(|at| bytes.get(at..))
            .unwrap_or_default();
        let is_data = match method {
            BundleCompression::Zstd => data.starts_with(&ZSTD_MAGIC),
            // DEFLATE with a valid window size; the first two bytes are a multiple of 31 (RFC 1950,
            // 2.2).
            BundleCompression::Zlib => {
                data.len() >= 2
                    && data[0] & 0x8f == 8
                    && (u32::from(data[0]) << 8 | u32::from(data[1])) % 31 == 0
            }
        };
        let header = Self {
            version: small,
            method,
            header_bytes,
            total_bytes,
            raw_bytes,
            hash,
        };
        if is_data {
            Ok(header)
        } else {
            Err(CompressedBundleError::DataMagic)
        }
    }
}

/// A streaming decompressor of one bundle, fed with chunks of any size.
pub(super) struct BundleDecompressor {
    pub(super) header: CompressedBundleHeader,
    depth: BundleDepth,
    decoder: StreamDecoder,
    buffer: Vec<u8>,
    reader: BundleReader,
    /// Consumed bytes of the file, including the header.
    consumed_bytes: u64,
    decompressed_bytes: u64,
    outcome: Option<Result<(), CompressedBundleError>>,
}

enum StreamDecoder {
    /// With the number of bytes that the decoder requests next.
    Zstd(Decoder<'static>, usize),
    Zlib(Decompress),
}

/// The state of compressed data after a step.
enum StreamStatus {
    Open,
    Finished,
    Corrupt,
}

/// Size of a block header in bytes (RFC 8878, section 3.1.1.2). The decoder requests a block
/// together with the header of the next one. Given both, it would lose the data of the first if the
/// second is corrupt.
const BLOCK_HEADER_BYTES: usize = 3;
/// The first request of a decoder in bytes: the smallest frame header and a block header.
const FIRST_ASKED: usize = 5 + BLOCK_HEADER_BYTES;

impl StreamDecoder {
    /// Decompresses one chunk. Returns the numbers of consumed and written bytes, and the status.
    fn step(&mut self, data: &[u8], buffer: &mut [u8]) -> (usize, usize, StreamStatus) {
        match self {
            Self::Zstd(decoder, asked) => {
                let length = if *asked > BLOCK_HEADER_BYTES {
                    *asked - BLOCK_HEADER_BYTES
                } else {
                    *asked
                };
                let mut input = InBuffer::around(&data[..length.min(data.len())]);
                let mut output = OutBuffer::around(buffer);
                let left = decoder.run(&mut input, &mut output);
                let end = match left {
                    Ok(0) => StreamStatus::Finished,
                    Ok(left) => {
                        *asked = left;
                        StreamStatus::Open
                    }
                    Err(_) => StreamStatus::Corrupt,
                };
                (input.pos(), output.pos(), end)
            }
            Self::Zlib(inflater) => {
                let (before_in, before_out) = (inflater.total_in(), inflater.total_out());
                let end = match inflater.decompress(data, buffer, FlushDecompress::None) {
                    Ok(Status::StreamEnd) => StreamStatus::Finished,
                    Ok(Status::Ok | Status::BufError) => StreamStatus::Open,
                    Err(_) => StreamStatus::Corrupt,
                };
                let read = usize::try_from(inflater.total_in() - before_in)
                    .unwrap_or(data.len())
                    .min(data.len());
                let written = usize::try_from(inflater.total_out() - before_out)
                    .unwrap_or(0)
                    .min(buffer.len());
                (read, written, end)
            }
        }
    }
}

impl BundleDecompressor {
    /// Creates a decompressor. The bytes of the header are to be fed, too.
    pub(super) fn new(header: CompressedBundleHeader, depth: BundleDepth) -> Self {
        let zstd = || {
            let mut decoder = Decoder::new()?;
            decoder.set_parameter(DParameter::WindowLogMax(MAX_ZSTD_WINDOW_LOG))?;
            std::io::Result::Ok(decoder)
        };
        let (decoder, end) = match header.method {
            BundleCompression::Zstd => match zstd() {
                Ok(decoder) => (StreamDecoder::Zstd(decoder, FIRST_ASKED), None),
                Err(_) => (
                    StreamDecoder::Zlib(Decompress::new(true)),
                    Some(Err(CompressedBundleError::LimitReached)),
                ),
            },
            BundleCompression::Zlib => (StreamDecoder::Zlib(Decompress::new(true)), None),
        };
        let (buffer, reader) = (vec![0; CHUNK_BYTES], BundleReader::new(depth));
        Self {
            header,
            depth,
            decoder,
            buffer,
            reader,
            consumed_bytes: 0,
            decompressed_bytes: 0,
            outcome: end,
        }
    }

    /// Returns `true` after success or an error.
    pub(super) fn is_done(&self) -> bool {
        self.outcome.is_some()
    }

    /// Returns `true` if the table suffices and was read. This requires the size in the file,
    /// because otherwise only decompression finds the end of the bundle.
    fn is_table_complete(&self) -> bool {
        self.depth == BundleDepth::Table
            && self.header.total_bytes.is_some()
            && self.reader.table_end().is_some()
    }

    /// Returns the size in the file, in bytes: by header, or by the end of the data. If neither is
    /// known, only the header counts.
    pub(super) fn size_bytes(&self) -> u64 {
        let by_end = if self.outcome == Some(Ok(())) {
            self.consumed_bytes
        } else {
            self.header.header_bytes
        };
        self.header.total_bytes.unwrap_or(by_end)
    }

    /// Consumes the next bytes of the file, up to the end of the bundle. `budget` is the number of
    /// bytes that may still be decompressed from this file.
    pub(super) fn feed(&mut self, bytes: &[u8], budget: &mut u64) {
        let total = self.header.total_bytes.unwrap_or(u64::MAX);
        let own = usize::try_from(total - self.consumed_bytes)
            .unwrap_or(usize::MAX)
            .min(bytes.len());
        let skipped = usize::try_from(self.header.header_bytes.saturating_sub(self.consumed_bytes))
            .unwrap_or(0)
            .min(own);
        self.consumed_bytes += skipped as u64;
        let mut data = &bytes[skipped..own];
        while self.outcome.is_none() {
            let before = data.len();
            let Some(unpacked) = self.step(&mut data) else {
                break;
            };
            self.consumed_bytes += (before - data.len()) as u64;
            if unpacked == 0 && data.is_empty() {
                break;
            }
            let is_over = unpacked > *budget;
            *budget = budget.saturating_sub(unpacked);
            if is_over && !matches!(self.outcome, Some(Err(_))) {
                self.outcome = Some(Err(CompressedBundleError::LimitReached));
            }
        }
        if self.outcome.is_none() && self.consumed_bytes == total {
            self.outcome = Some(Err(CompressedBundleError::Truncated));
        }
    }

    /// Decompresses one chunk; `None` if nothing was consumed or written. Data before an error is
    /// used, in the same amount for all chunk sizes.
    fn step(&mut self, data: &mut &[u8]) -> Option<u64> {
        let (read, written, end) = self.decoder.step(data, &mut self.buffer);
        *data = &data[read..];
        let declared = self.header.raw_bytes;
        let room =
            usize::try_from(declared.saturating_sub(self.decompressed_bytes)).unwrap_or(usize::MAX);
        self.reader.feed(&self.buffer[..written.min(room)]);
        self.decompressed_bytes += written as u64;
        self.outcome = if let Some(error) = self.reader.error() {
            Some(Err(CompressedBundleError::InvalidBundle(error)))
        } else if self.is_table_complete() {
            Some(Ok(()))
        } else if self.decompressed_bytes > declared {
            Some(Err(CompressedBundleError::SizeMismatch {
                declared,
                found: declared.saturating_add(1),
            }))
        } else {
            match end {
                StreamStatus::Open => None,
                StreamStatus::Finished if self.decompressed_bytes < declared => {
                    Some(Err(CompressedBundleError::SizeMismatch {
                        declared,
                        found: self.decompressed_bytes,
                    }))
                }
                StreamStatus::Finished => Some(Ok(())),
                StreamStatus::Corrupt => Some(Err(CompressedBundleError::CorruptData(
                    self.decompressed_bytes,
                ))),
            }
        };
        (read > 0 || written > 0).then_some(written as u64)
    }

    /// Ends the stream. Returns the reader of the bundle, and the error if there is one.
    pub(super) fn into_parts(mut self) -> (BundleReader, Option<CompressedBundleError>) {
        self.reader.finish();
        let error = match self.outcome {
            None => Some(CompressedBundleError::Truncated),
            Some(Err(error)) => Some(error),
            Some(Ok(())) => self
                .reader
                .error()
                .map(CompressedBundleError::InvalidBundle),
        };
        (self.reader, error)
    }
}

impl std::fmt::Debug for BundleDecompressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "BundleDecompressor({:?}, {} bytes in, {} out)",
            self.header, self.consumed_bytes, self.decompressed_bytes
        )
    }
}
