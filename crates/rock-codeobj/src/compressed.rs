//! A compressed bundle, unpacked as it passes by.

use flate2::{Decompress, FlushDecompress, Status};
use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

use super::bundle::{BundleFault, BundleReader, Reads};
use super::bytes::{u16_at, u32_at, u64_at};
use super::limits::MAX_ZSTD_WINDOW_LOG;

/// What every compressed bundle begins with (clang, "Offload Bundler", "Compression and
/// Decompression").
pub(super) const MAGIC: &[u8; 4] = b"CCOB";
/// The beginning of a Zstandard frame (RFC 8878, section 3.1.1).
const ZSTD_MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();
/// How much is unpacked at once.
const PIECE_BYTES: usize = 128 << 10;

/// How a bundle is compressed: the numbers of LLVM's `compression::Format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// zlib (RFC 1950).
    Zlib,
    /// Zstandard (RFC 8878).
    Zstd,
}

/// The header of a compressed bundle (clang, `CompressedOffloadBundle`, versions 1 to 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompressedHeader {
    /// The version of the format.
    pub version: u8,
    /// How the bundle is compressed.
    pub method: Method,
    /// Bytes of this header.
    pub header_bytes: u64,
    /// Bytes of header and compressed data; version 1 does not tell.
    pub total_bytes: Option<u64>,
    /// Bytes of the bundle as it is when unpacked.
    pub raw_bytes: u64,
    /// A part of the MD5 of the unpacked bundle.
    pub hash: u64,
}

/// Why bytes are no compressed bundle, or a damaged one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CompressedFault {
    /// A version that is not known.
    #[error("its version {0} is not known")]
    Version(u16),
    /// A method that is not known.
    #[error("its compression method {0} is not known")]
    Method(u16),
    /// Sizes that cannot be.
    #[error("its header claims {total} bytes in the file and {raw} unpacked")]
    Sizes {
        /// In the file; 0 where not told.
        total: u64,
        /// Unpacked.
        raw: u64,
    },
    /// The data does not begin as data of that method.
    #[error("its data is not what its method says")]
    Data,
    /// The bytes end too early.
    #[error("it is cut off")]
    Cut,
    /// The data cannot be unpacked.
    #[error("its data is damaged after {0} unpacked bytes")]
    Damaged(u64),
    /// There is more or less in it than the header says.
    #[error("it unpacks to {found} bytes{}, and its header says {said}", if found > said { " or more" } else { "" })]
    RawSize {
        /// By the header.
        said: u64,
        /// What was found; of more, the next number.
        found: u64,
    },
    /// What was unpacked is no bundle.
    #[error("what it holds is damaged: {0}")]
    Bundle(BundleFault),
    /// A bound of ours was met.
    #[error("it was not unpacked further: that is more than is read of one file")]
    Bound,
}

impl CompressedHeader {
    /// Reads a header and looks at the first bytes of the data after it.
    ///
    /// # Errors
    /// When it is no header of a known version and method with possible sizes.
    pub fn parse(bytes: &[u8]) -> Result<Self, CompressedFault> {
        let cut = CompressedFault::Cut;
        let version = u16_at(bytes, 4).ok_or(cut)?;
        let method = u16_at(bytes, 6).ok_or(cut)?;
        let short = |at| u32_at(bytes, at).map(u64::from).ok_or(cut);
        let long = |at| u64_at(bytes, at).ok_or(cut);
        let (small, header_bytes, total_bytes, raw_bytes, hash) = match version {
            1 => (1, 20, None, short(8)?, long(12)?),
            2 => (2, 24, Some(short(8)?), short(12)?, long(16)?),
            3 => (3, 32, Some(long(8)?), long(16)?, long(24)?),
            other => return Err(CompressedFault::Version(other)),
        };
        let method = match method {
            0 => Method::Zlib,
            1 => Method::Zstd,
            other => return Err(CompressedFault::Method(other)),
        };
        if raw_bytes == 0 || total_bytes.is_some_and(|total| total <= header_bytes) {
            return Err(CompressedFault::Sizes {
                total: total_bytes.unwrap_or(0),
                raw: raw_bytes,
            });
        }
        let data = usize::try_from(header_bytes)
            .ok()
            .and_then(|at| bytes.get(at..))
            .unwrap_or_default();
        let is_data = match method {
            Method::Zstd => data.starts_with(&ZSTD_MAGIC),
            // Deflate with a window that exists, and a check that the first two bytes are divisible
            // by 31 (RFC 1950, 2.2).
            Method::Zlib => {
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
            Err(CompressedFault::Data)
        }
    }
}

/// Unpacks one compressed bundle from bytes in order, in pieces of any size.
pub(super) struct Unpacker {
    pub(super) header: CompressedHeader,
    reads: Reads,
    decoder: Data,
    piece: Vec<u8>,
    reader: BundleReader,
    /// Bytes of the file that were taken, the header's among them.
    taken: u64,
    raw: u64,
    end: Option<Result<(), CompressedFault>>,
}

enum Data {
    /// With the number of bytes that the decoder asks for next.
    Zstd(Decoder<'static>, usize),
    Zlib(Decompress),
}

/// Whether data goes on.
enum End {
    Open,
    Reached,
    Damaged,
}

/// Bytes of the header of a block (RFC 8878, section 3.1.1.2). The decoder asks for a block
/// together with the header of the next one. Given both, it would lose what it unpacked of the
/// first where the second is damaged.
const BLOCK_HEADER_BYTES: usize = 3;
/// What a decoder asks for at first: the smallest frame header and the header of a block.
const FIRST_ASKED: usize = 5 + BLOCK_HEADER_BYTES;

impl Data {
    /// Unpacks one piece: how many bytes were read and written, and whether there is more.
    fn step(&mut self, data: &[u8], piece: &mut [u8]) -> (usize, usize, End) {
        match self {
            Self::Zstd(decoder, asked) => {
                let length = if *asked > BLOCK_HEADER_BYTES {
                    *asked - BLOCK_HEADER_BYTES
                } else {
                    *asked
                };
                let mut input = InBuffer::around(&data[..length.min(data.len())]);
                let mut output = OutBuffer::around(piece);
                let left = decoder.run(&mut input, &mut output);
                let end = match left {
                    Ok(0) => End::Reached,
                    Ok(left) => {
                        *asked = left;
                        End::Open
                    }
                    Err(_) => End::Damaged,
                };
                (input.pos(), output.pos(), end)
            }
            Self::Zlib(inflater) => {
                let (before_in, before_out) = (inflater.total_in(), inflater.total_out());
                let end = match inflater.decompress(data, piece, FlushDecompress::None) {
                    Ok(Status::StreamEnd) => End::Reached,
                    Ok(Status::Ok | Status::BufError) => End::Open,
                    Err(_) => End::Damaged,
                };
                let read = usize::try_from(inflater.total_in() - before_in)
                    .unwrap_or(data.len())
                    .min(data.len());
                let written = usize::try_from(inflater.total_out() - before_out)
                    .unwrap_or(0)
                    .min(piece.len());
                (read, written, end)
            }
        }
    }
}

impl Unpacker {
    /// An unpacker of the bundle that begins with this header; the header's bytes are fed too.
    pub(super) fn new(header: CompressedHeader, reads: Reads) -> Self {
        let zstd = || {
            let mut decoder = Decoder::new()?;
            decoder.set_parameter(DParameter::WindowLogMax(MAX_ZSTD_WINDOW_LOG))?;
            std::io::Result::Ok(decoder)
        };
        let (decoder, end) = match header.method {
            Method::Zstd => match zstd() {
                Ok(decoder) => (Data::Zstd(decoder, FIRST_ASKED), None),
                Err(_) => (
                    Data::Zlib(Decompress::new(true)),
                    Some(Err(CompressedFault::Bound)),
                ),
            },
            Method::Zlib => (Data::Zlib(Decompress::new(true)), None),
        };
        let (piece, reader) = (vec![0; PIECE_BYTES], BundleReader::new(reads));
        Self {
            header,
            reads,
            decoder,
            piece,
            reader,
            taken: 0,
            raw: 0,
            end,
        }
    }

    /// Whether it is at its end, by a fault or without.
    pub(super) fn is_done(&self) -> bool {
        self.end.is_some()
    }

    /// Only where its size in the file is told, the next bundle is found without the end of this
    /// one.
    fn is_enough(&self) -> bool {
        self.reads == Reads::Table
            && self.header.total_bytes.is_some()
            && self.reader.table_end().is_some()
    }

    /// How many bytes of the file it has. Where neither its header nor its end tells, only the
    /// header counts.
    pub(super) fn size_bytes(&self) -> u64 {
        let by_end = if self.end == Some(Ok(())) {
            self.taken
        } else {
            self.header.header_bytes
        };
        self.header.total_bytes.unwrap_or(by_end)
    }

    /// Takes the next bytes of the file as far as they are its own. The budget is how many bytes
    /// may still be unpacked of this file.
    pub(super) fn feed(&mut self, bytes: &[u8], budget: &mut u64) {
        let total = self.header.total_bytes.unwrap_or(u64::MAX);
        let own = usize::try_from(total - self.taken)
            .unwrap_or(usize::MAX)
            .min(bytes.len());
        let skipped = usize::try_from(self.header.header_bytes.saturating_sub(self.taken))
            .unwrap_or(0)
            .min(own);
        self.taken += skipped as u64;
        let mut data = &bytes[skipped..own];
        while self.end.is_none() {
            let before = data.len();
            let Some(unpacked) = self.step(&mut data) else {
                break;
            };
            self.taken += (before - data.len()) as u64;
            if unpacked == 0 && data.is_empty() {
                break;
            }
            let is_over = unpacked > *budget;
            *budget = budget.saturating_sub(unpacked);
            if is_over && !matches!(self.end, Some(Err(_))) {
                self.end = Some(Err(CompressedFault::Bound));
            }
        }
        if self.end.is_none() && self.taken == total {
            self.end = Some(Err(CompressedFault::Cut));
        }
    }

    /// Unpacks one piece; `None` where nothing moved. What was unpacked before a fault is used, and
    /// how the bytes came makes no difference to how much that is.
    fn step(&mut self, data: &mut &[u8]) -> Option<u64> {
        let (read, written, end) = self.decoder.step(data, &mut self.piece);
        *data = &data[read..];
        let said = self.header.raw_bytes;
        let room = usize::try_from(said.saturating_sub(self.raw)).unwrap_or(usize::MAX);
        self.reader.feed(&self.piece[..written.min(room)]);
        self.raw += written as u64;
        self.end = if let Some(fault) = self.reader.fault() {
            Some(Err(CompressedFault::Bundle(fault)))
        } else if self.is_enough() {
            Some(Ok(()))
        } else if self.raw > said {
            Some(Err(CompressedFault::RawSize {
                said,
                found: said.saturating_add(1),
            }))
        } else {
            match end {
                End::Open => None,
                End::Reached if self.raw < said => Some(Err(CompressedFault::RawSize {
                    said,
                    found: self.raw,
                })),
                End::Reached => Some(Ok(())),
                End::Damaged => Some(Err(CompressedFault::Damaged(self.raw))),
            }
        };
        (read > 0 || written > 0).then_some(written as u64)
    }

    /// The bytes of the file ended: what was read, and the fault, if any.
    pub(super) fn into_parts(mut self) -> (BundleReader, Option<CompressedFault>) {
        self.reader.finish();
        let fault = match self.end {
            None => Some(CompressedFault::Cut),
            Some(Err(fault)) => Some(fault),
            Some(Ok(())) => self.reader.fault().map(CompressedFault::Bundle),
        };
        (self.reader, fault)
    }
}

impl std::fmt::Debug for Unpacker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Unpacker({:?}, {} bytes in, {} out)",
            self.header, self.taken, self.raw
        )
    }
}
