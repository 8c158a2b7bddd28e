//! Compression formats of archives.

use std::io::{self, BufRead, BufReader, Read};

use liblzma::bufread::XzDecoder;
use liblzma::stream::{MtStreamBuilder, Stream};

use super::error::ArchiveLimit;
use super::limits::{MAX_XZ_BYTES, MAX_ZSTD_WINDOW_LOG};
use crate::can_start_threads;

/// The compression format that the name of an archive says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Compression {
    /// Zstandard (RFC 8878), which is read several times faster.
    Zstd,
    /// xz.
    Xz,
}

/// What decoding by threads may hold; blocks that need more are decoded one after the other.
const THREADS_BYTES: u64 = 160 << 20;
/// What is asked of a file at once.
const BUFFER_BYTES: usize = 256 << 10;

impl Compression {
    /// All of them, the one that is taken first where there are several.
    pub const ALL: [Self; 2] = [Self::Zstd, Self::Xz];

    /// How names of archives end.
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Zstd => ".tar.zst",
            Self::Xz => ".tar.xz",
        }
    }

    /// The name of an archive without its ending, and what it is compressed by.
    pub fn of(file_name: &str) -> Option<(&str, Self)> {
        Self::ALL.into_iter().find_map(|compression| {
            Some((file_name.strip_suffix(compression.suffix())?, compression))
        })
    }

    /// The decompressed bytes of a stream; concatenated parts are read as one stream. Damage, an
    /// end that comes too early, and a need of more memory than the limits allow are errors when it
    /// is read, and whenever it is read after that.
    ///
    /// # Errors
    /// When there is no memory for it.
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
                // liblzma's decoder with threads fails where one of them cannot be started.
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

/// A decoder that fails again once it has failed: none continues after an error, and an end instead
/// would make a shorter content of one that is damaged.
struct StickyErrorReader<D> {
    decoder: D,
    failed: Option<io::ErrorKind>,
}

impl<D> StickyErrorReader<D> {
    fn new(decoder: D) -> Self {
        Self {
            decoder,
            failed: None,
        }
    }
}

impl<D: Read> Read for StickyErrorReader<D> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(kind) = self.failed {
            return Err(kind.into());
        }
        let read = self.decoder.read(buffer);
        self.failed = read
            .as_ref()
            .err()
            .map(io::Error::kind)
            .filter(|kind| *kind != io::ErrorKind::Interrupted);
        read
    }
}

/// Frames of zstd one after the other (RFC 8878, section 3).
struct ZstdFrames<'d, R: BufRead>(zstd::stream::read::Decoder<'d, R>);

impl<R: BufRead> Read for ZstdFrames<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| {
            if error.kind() != io::ErrorKind::Other || error.raw_os_error().is_some() {
                return error;
            }
            // `ZSTD_getErrorString` (zstd, lib/common/error_private.c); only the texts get here.
            match error.to_string().as_str() {
                "Frame requires too much memory for decoding" => ArchiveLimit::Window.into(),
                "Allocation error : not enough memory" => io::ErrorKind::OutOfMemory.into(),
                _ => io::Error::new(io::ErrorKind::InvalidData, error),
            }
        })
    }
}

/// Returns the limit that xz's error stands for, or the error itself.
fn xz_error(error: io::Error) -> io::Error {
    use liblzma::stream::Error::{Mem, MemLimit, UnsupportedCheck};
    match error.get_ref().and_then(|inner| inner.downcast_ref()) {
        Some(MemLimit) => ArchiveLimit::Dictionary.into(),
        Some(Mem) => io::ErrorKind::OutOfMemory.into(),
        Some(UnsupportedCheck) => io::Error::new(io::ErrorKind::InvalidData, error),
        _ => error,
    }
}

/// Streams of xz one after the other (The .xz File Format 1.2.1, section 2), each decoded by
/// threads where it has several blocks.
struct XzStreams<R: BufRead> {
    /// What was not read yet, between streams.
    source: Option<R>,
    decoder: Option<XzDecoder<R>>,
    /// Whether no stream has ended yet.
    is_first: bool,
    /// `None` where the calling thread decodes.
    threads: Option<u32>,
}

impl<R: BufRead> XzStreams<R> {
    /// Returns a decoder of one stream.
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
    /// Neither the decoder nor the source is lost where reading is interrupted.
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
            // A file of no bytes at all has not even one stream: the decoder says so.
            if !self.is_first {
                // Streams may be filled up with zeros, four at a time (section 2.2).
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

    use super::Compression;
    use crate::archive::limits::MAX_ZSTD_WINDOW_LOG;
    use crate::archive::{ArchiveError, is_damage};

    fn compressed(compression: Compression, content: &[u8]) -> Vec<u8> {
        match compression {
            Compression::Zstd => zstd::encode_all(content, 3).unwrap(),
            Compression::Xz => {
                let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 2);
                encoder.write_all(content).unwrap();
                encoder.finish().unwrap()
            }
        }
    }

    fn read(compression: Compression, packed: &[u8]) -> std::io::Result<Vec<u8>> {
        let mut content = Vec::new();
        compression
            .decoder(packed, 2)?
            .read_to_end(&mut content)
            .map(|_| content)
    }

    #[test]
    fn what_was_compressed_comes_back_and_what_is_cut_off_anywhere_is_an_error() {
        let content: Vec<u8> = (0..60_000_u32)
            .flat_map(|n| (n.wrapping_mul(2_654_435_761) >> 9).to_le_bytes())
            .collect();
        for compression in Compression::ALL {
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

    /// A source that fails once, after this many bytes.
    struct Faulty<'s> {
        packed: &'s [u8],
        left: usize,
        fault: Option<ErrorKind>,
    }

    impl Read for Faulty<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            if self.left == 0
                && let Some(fault) = self.fault.take()
            {
                return Err(fault.into());
            }
            let most = if self.fault.is_some() {
                self.left.min(buffer.len())
            } else {
                buffer.len()
            };
            let read = self.packed.read(&mut buffer[..most])?;
            self.left = self.left.saturating_sub(read);
            Ok(read)
        }
    }

    /// Neither makes a shorter content.
    #[test]
    fn interruptions_are_retried_and_errors_stay() {
        for compression in Compression::ALL {
            let one = compressed(compression, b"some content");
            let packed = [one.clone(), one].concat();
            for left in 0..packed.len() {
                let decoder = |fault| {
                    compression
                        .decoder(
                            Faulty {
                                packed: &packed,
                                left,
                                fault: Some(fault),
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
                    "{compression:?} interrupted at {left}"
                );
                let mut decoder = decoder(ErrorKind::TimedOut);
                for _ in 0..2 {
                    let kind = decoder
                        .read_to_end(&mut Vec::new())
                        .map_err(|error| error.kind());
                    assert_eq!(
                        kind,
                        Err(ErrorKind::TimedOut),
                        "{compression:?} failed at {left}"
                    );
                }
            }
        }
    }

    #[test]
    fn damage_is_not_an_error_of_the_machine() {
        for compression in Compression::ALL {
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

    /// The memory that a stream asks for is in its head, so that no large stream is needed to ask.
    #[test]
    fn windows_are_read_up_to_their_limit_and_not_beyond() {
        let limit = |compression, packed: &[u8]| {
            let error = read(compression, packed).err()?;
            ArchiveError::of(&error).map(ToString::to_string)
        };
        let mut zstd = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
        zstd.write_all(b"content").unwrap();
        let mut zstd = zstd.finish().unwrap();
        // RFC 8878, section 3.1.1.1.2: the exponent, above 10, in the upper five bits.
        let with_window =
            |packed: &mut Vec<u8>, log: u32| packed[5] = u8::try_from(log - 10).unwrap() << 3;
        with_window(&mut zstd, MAX_ZSTD_WINDOW_LOG);
        assert_eq!(read(Compression::Zstd, &zstd).unwrap(), b"content");
        with_window(&mut zstd, MAX_ZSTD_WINDOW_LOG + 1);
        assert_eq!(
            limit(Compression::Zstd, &zstd).as_deref(),
            Some("a zstd window of more than 128 MiB")
        );
        // The .xz File Format 1.2.1, sections 3.1 and 5.3.1: a block's head has the filters, and
        // ends with its CRC32.
        let with_dictionary = |bits: u8| {
            let mut packed = compressed(Compression::Xz, b"content");
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
        // 192 MiB and 256 MiB; the decoder itself needs some more.
        assert_eq!(
            read(Compression::Xz, &with_dictionary(31)).unwrap(),
            b"content"
        );
        let said = "an xz dictionary that needs more than 256 MiB";
        assert_eq!(
            limit(Compression::Xz, &with_dictionary(32)).as_deref(),
            Some(said)
        );
    }

    #[test]
    fn names_tell_by_their_ending() {
        assert_eq!(
            Compression::of("blas_lib_gfx942.tar.zst"),
            Some(("blas_lib_gfx942", Compression::Zstd))
        );
        assert_eq!(
            Compression::of("blas_lib_gfx942.tar.xz"),
            Some(("blas_lib_gfx942", Compression::Xz))
        );
        assert_eq!(Compression::of("blas_lib_gfx942.tar.xz.sha256sum"), None);
    }
}
