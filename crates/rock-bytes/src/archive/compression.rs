//! Compression formats of archives.

use std::io::{self, BufRead, BufReader, Read};

use liblzma::bufread::XzDecoder;
use liblzma::stream::{MtStreamBuilder, Stream};

use super::error::ArchiveLimit;
use super::limits::{MAX_XZ_BYTES, MAX_ZSTD_WINDOW_LOG};
use crate::can_start_threads;

/// The compression format of a tar archive, as in its filename.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ArchiveCompression {
    /// Zstandard (RFC 8878), which decompresses several times faster than xz.
    Zstd,
    /// xz (The .xz File Format 1.2.1).
    Xz,
}

/// Memory limit of multi-threaded xz decoding in bytes; larger blocks are decoded one after the
/// other.
const THREADS_BYTES: u64 = 160 << 20;
/// The size of the read buffer in bytes.
const BUFFER_BYTES: usize = 256 << 10;

impl ArchiveCompression {
    /// All formats, the preferred one first.
    pub const ALL: [Self; 2] = [Self::Zstd, Self::Xz];

    /// Returns the filename extension of archives.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Zstd => ".tar.zst",
            Self::Xz => ".tar.xz",
        }
    }

    /// Splits the filename of an archive into stem and format. Returns `None` for other extensions.
    pub fn from_file_name(file_name: &str) -> Option<(&str, Self)> {
        Self::ALL.into_iter().find_map(|compression| {
            Some((file_name.strip_suffix(compression.suffix())?, compression))
        })
    }

    /// Returns a reader of the decompressed stream. Concatenated frames or xz streams are read as
    /// one. Damage, truncation and exceeded memory [limits](super::limits) are errors of this read
    /// and all later ones.
    ///
    /// # Errors
    /// If the decoder cannot be allocated.
    pub fn decoder<'r>(
        self,
        source: impl Read + 'r,
        threads: u32,
    ) -> io::Result<Box<dyn Read + 'r>> {
        let source = BufReader::with_capacity(BUFFER_BYTES, source);
        Ok(match self {
            Self::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::with_buffer(source)?;
                decoder.window_log_max(MAX_ZSTD_WINDOW_LOG)?;
                Box::new(StickyErrorReader::new(ZstdFrames(decoder)))
            }
            Self::Xz => {
                // liblzma's multi-threaded decoder fails if it cannot start a thread.
                let threads = Some(threads.max(1)).filter(|threads| can_start_threads(*threads));
                Box::new(StickyErrorReader::new(XzStreams {
                    source: Some(source),
                    decoder: None,
                    is_first: true,
                    threads,
                }))
            }
        })
    }
}

/// A reader that repeats its first error. Otherwise, a read after the error could return the end of
/// the stream, and damaged content would look like shorter content.
struct StickyErrorReader<D> {
    decoder: D,
    error: Option<io::ErrorKind>,
}

impl<D> StickyErrorReader<D> {
    fn new(decoder: D) -> Self {
        Self {
            decoder,
            error: None,
        }
    }
}

impl<D: Read> Read for StickyErrorReader<D> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(kind) = self.error {
            return Err(kind.into());
        }
        let read = self.decoder.read(buffer);
        self.error = read
            .as_ref()
            .err()
            .map(io::Error::kind)
            .filter(|kind| *kind != io::ErrorKind::Interrupted);
        read
    }
}

/// A reader of concatenated zstd frames (RFC 8878, section 3) that maps errors of the decoder.
struct ZstdFrames<'d, R: BufRead>(zstd::stream::read::Decoder<'d, R>);

impl<R: BufRead> Read for ZstdFrames<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| {
            if error.kind() != io::ErrorKind::Other || error.raw_os_error().is_some() {
                return error;
            }
            // The zstd crate only passes on the text of `ZSTD_getErrorString`
            // (lib/common/error_private.c).
            match error.to_string().as_str() {
                "Frame requires too much memory for decoding" => ArchiveLimit::Window.into(),
                "Allocation error : not enough memory" => io::ErrorKind::OutOfMemory.into(),
                _ => io::Error::new(io::ErrorKind::InvalidData, error),
            }
        })
    }
}

/// Maps errors of liblzma to archive limits and error kinds.
fn xz_error(error: io::Error) -> io::Error {
    use liblzma::stream::Error::{Mem, MemLimit, UnsupportedCheck};
    match error.get_ref().and_then(|inner| inner.downcast_ref()) {
        Some(MemLimit) => ArchiveLimit::Dictionary.into(),
        Some(Mem) => io::ErrorKind::OutOfMemory.into(),
        Some(UnsupportedCheck) => io::Error::new(io::ErrorKind::InvalidData, error),
        _ => error,
    }
}

/// A reader of concatenated xz streams (The .xz File Format 1.2.1, section 2). The blocks of a
/// stream are decoded in parallel.
struct XzStreams<R: BufRead> {
    /// The source between streams; `None` while `decoder` owns it.
    source: Option<R>,
    decoder: Option<XzDecoder<R>>,
    /// Whether the first stream has not ended yet.
    is_first: bool,
    /// Number of threads; `None` to decode in the calling thread.
    threads: Option<u32>,
}

impl<R: BufRead> XzStreams<R> {
    /// Creates a decoder of one stream.
    fn stream(&self) -> io::Result<Stream> {
        let stream = match self.threads {
            Some(threads) => MtStreamBuilder::new()
                .threads(threads)
                .memlimit_threading(THREADS_BYTES)
                .memlimit_stop(MAX_XZ_BYTES)
                .decoder(),
            None => Stream::new_stream_decoder(MAX_XZ_BYTES, 0),
        };
        stream.map_err(|error| xz_error(error.into()))
    }
}

impl<R: BufRead> Read for XzStreams<R> {
    /// Can be called again after [`io::ErrorKind::Interrupted`]: the decoder and source are kept.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(decoder) = &mut self.decoder {
                let read = decoder.read(buffer).map_err(xz_error)?;
                if read > 0 || buffer.is_empty() {
                    return Ok(read);
                }
                if decoder.total_in() == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                self.source = self.decoder.take().map(XzDecoder::into_inner);
                self.is_first = false;
            }
            let Some(source) = &mut self.source else {
                return Ok(0);
            };
            // An empty file is an error, which the decoder reports.
            if !self.is_first {
                // Stream padding: zero bytes, a multiple of four (section 2.2).
                while source.fill_buf()?.first() == Some(&0) {
                    source.consume(1);
                }
                if source.fill_buf()?.is_empty() {
                    return Ok(0);
                }
            }
            let stream = self.stream()?;
            self.decoder = self
                .source
                .take()
                .map(|source| XzDecoder::new_stream(source, stream));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{ErrorKind, Read, Write as _};

    use super::ArchiveCompression;
    use crate::archive::limits::MAX_ZSTD_WINDOW_LOG;
    use crate::archive::{ArchiveError, is_damage};

    fn compressed(compression: ArchiveCompression, content: &[u8]) -> Vec<u8> {
        match compression {
            ArchiveCompression::Zstd => zstd::encode_all(content, 3).unwrap(),
            ArchiveCompression::Xz => {
                let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 2);
                encoder.write_all(content).unwrap();
                encoder.finish().unwrap()
            }
        }
    }

    fn read(compression: ArchiveCompression, packed: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut content = Vec::new();
        compression
            .decoder(packed, 2)?
            .read_to_end(&mut content)
            .map(|_| content)
    }

    #[test]
    fn streams_round_trip_and_truncation_is_an_error() {
        let content: Vec<u8> = (0..60_000_u32)
            .flat_map(|n| (n.wrapping_mul(2_654_435_761) >> 9).to_le_bytes())
            .collect();
        for compression in ArchiveCompression::ALL {
            let packed = compressed(compression, &content);
            assert!(
                read(compression, &packed).unwrap() == content,
                "{compression:?}"
            );
            let twice = [packed.clone(), packed.clone()].concat();
            assert_eq!(
                read(compression, &twice).unwrap().len(),
                2 * content.len(),
                "{compression:?}"
            );
            for length in (0..packed.len())
                .step_by(997)
                .chain(packed.len() - 12..packed.len())
            {
                assert!(
                    read(compression, &packed[..length]).is_err(),
                    "{compression:?} cut to {length}"
                );
            }
            let mut damaged = packed.clone();
            damaged[packed.len() / 2] ^= 1;
            assert!(
                !read(compression, &damaged).is_ok_and(|read| read == content),
                "{compression:?} damaged"
            );
        }
    }

    /// A source that fails once, after `remaining` bytes.
    struct FailingSource<'s> {
        packed: &'s [u8],
        remaining: usize,
        error: Option<ErrorKind>,
    }

    impl Read for FailingSource<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            if self.remaining == 0
                && let Some(error) = self.error.take()
            {
                return Err(error.into());
            }
            let max_length = if self.error.is_some() {
                self.remaining.min(buffer.len())
            } else {
                buffer.len()
            };
            let read = self.packed.read(&mut buffer[..max_length])?;
            self.remaining = self.remaining.saturating_sub(read);
            Ok(read)
        }
    }

    /// Neither an interruption nor an error truncates the content.
    #[test]
    fn interruptions_are_retried_and_errors_repeated() {
        for compression in ArchiveCompression::ALL {
            let one = compressed(compression, b"some content");
            let packed = [one.clone(), one].concat();
            for remaining in 0..packed.len() {
                let decoder = |error| {
                    compression
                        .decoder(
                            FailingSource {
                                packed: &packed,
                                remaining,
                                error: Some(error),
                            },
                            2,
                        )
                        .unwrap()
                };
                let mut content = String::new();
                decoder(ErrorKind::Interrupted)
                    .read_to_string(&mut content)
                    .unwrap();
                assert_eq!(
                    content, "some contentsome content",
                    "{compression:?} interrupted at {remaining}"
                );
                let mut decoder = decoder(ErrorKind::TimedOut);
                for _ in 0..2 {
                    let kind = decoder
                        .read_to_end(&mut Vec::new())
                        .map_err(|error| error.kind());
                    assert_eq!(
                        kind,
                        Err(ErrorKind::TimedOut),
                        "{compression:?} failed at {remaining}"
                    );
                }
            }
        }
    }

    #[test]
    fn damage_is_distinguished_from_system_errors() {
        for compression in ArchiveCompression::ALL {
            let packed = compressed(compression, &b"some content".repeat(100));
            let mut damaged = packed.clone();
            damaged[0] ^= 1;
            for damaged in [&damaged[..], &packed[..packed.len() - 1]] {
                let error = read(compression, damaged).unwrap_err();
                assert!(is_damage(&error), "{compression:?}: {error:?}");
            }
        }
        assert!(!is_damage(&std::io::Error::from_raw_os_error(5)));
        assert!(!is_damage(&ErrorKind::StorageFull.into()));
    }

    /// The required memory is stated in headers, so small streams suffice to test the limit.
    #[test]
    fn memory_of_decoders_is_limited() {
        let limit = |compression, packed: &[u8]| {
            let error = read(compression, packed).err()?;
            ArchiveError::find_in(&error).map(ToString::to_string)
        };
        let mut zstd = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
        zstd.write_all(b"content").unwrap();
        let mut zstd = zstd.finish().unwrap();
        // RFC 8878, section 3.1.1.1.2: the upper five bits are the exponent minus 10.
        let with_window =
            |packed: &mut Vec<u8>, log: u32| packed[5] = u8::try_from(log - 10).unwrap() << 3;
        with_window(&mut zstd, MAX_ZSTD_WINDOW_LOG);
        assert_eq!(read(ArchiveCompression::Zstd, &zstd).unwrap(), b"content");
        with_window(&mut zstd, MAX_ZSTD_WINDOW_LOG + 1);
        assert_eq!(
            limit(ArchiveCompression::Zstd, &zstd).as_deref(),
            Some("a zstd window of more than 128 MiB")
        );
        // The .xz File Format 1.2.1, sections 3.1 and 5.3.1: a block header contains the filters,
        // and ends with its CRC32.
        let with_dictionary = |bits: u8| {
            let mut packed = compressed(ArchiveCompression::Xz, b"content");
            let length = (usize::from(packed[12]) + 1) * 4;
            let head = &mut packed[12..12 + length];
            assert_eq!(
                head[2..4],
                [0x21, 1],
                "one filter, LZMA2 with one byte of properties"
            );
            head[4] = bits;
            let sum = crc32fast::hash(&head[..length - 4]);
            head[length - 4..].copy_from_slice(&sum.to_le_bytes());
            packed
        };
        // 192 MiB and 256 MiB, plus the memory of the decoder itself.
        assert_eq!(
            read(ArchiveCompression::Xz, &with_dictionary(31)).unwrap(),
            b"content"
        );
        let expected = "an xz dictionary that needs more than 256 MiB";
        assert_eq!(
            limit(ArchiveCompression::Xz, &with_dictionary(32)).as_deref(),
            Some(expected)
        );
    }

    #[test]
    fn format_is_part_of_the_filename() {
        assert_eq!(
            ArchiveCompression::from_file_name("blas_lib_gfx942.tar.zst"),
            Some(("blas_lib_gfx942", ArchiveCompression::Zstd))
        );
        assert_eq!(
            ArchiveCompression::from_file_name("blas_lib_gfx942.tar.xz"),
            Some(("blas_lib_gfx942", ArchiveCompression::Xz))
        );
        assert_eq!(
            ArchiveCompression::from_file_name("blas_lib_gfx942.tar.xz.sha256sum"),
            None
        );
    }
}
