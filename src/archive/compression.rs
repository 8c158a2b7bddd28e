//! What archives are compressed by.

use std::io::{self, BufRead, BufReader, Read};

use liblzma::bufread::XzDecoder;
use liblzma::stream::MtStreamBuilder;

/// What an archive is compressed by, as its file name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Compression {
    /// Zstandard (RFC 8878), which is read several times faster.
    Zstd,
    /// xz.
    Xz,
}

/// What decoding by threads may hold; blocks that need more are decoded one after the other.
const THREADS_BYTES: u64 = 160 << 20;
/// What decoding may hold at all. `xz -9` needs 65 MiB.
const MOST_BYTES: u64 = 256 << 20;
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
        Self::ALL.into_iter().find_map(|compression| Some((file_name.strip_suffix(compression.suffix())?, compression)))
    }

    /// What comes out of a compressed stream. Archives of several parts one after the other are one. Damage, and an end
    /// that comes too early, are errors when it is read.
    ///
    /// # Errors
    /// When there is no memory for it.
    pub fn decoder<'r>(self, source: impl Read + 'r, threads: u32) -> io::Result<Box<dyn Read + 'r>> {
        let source = BufReader::with_capacity(BUFFER_BYTES, source);
        Ok(match self {
            Self::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(source)?),
            Self::Xz => Box::new(XzStreams { source: Some(source), decoder: None, threads }),
        })
    }
}

/// Streams of xz one after the other (The .xz File Format 1.2.1, section 2), each decoded by threads where it has several
/// blocks.
struct XzStreams<R: BufRead> {
    /// What was not read yet, between streams.
    source: Option<R>,
    decoder: Option<XzDecoder<R>>,
    threads: u32,
}

impl<R: BufRead> XzStreams<R> {
    fn next_stream(&mut self, source: R) -> io::Result<()> {
        let stream = MtStreamBuilder::new()
            .threads(self.threads.max(1))
            .memlimit_threading(THREADS_BYTES)
            .memlimit_stop(MOST_BYTES)
            .decoder()
            .map_err(io::Error::other)?;
        self.decoder = Some(XzDecoder::new_stream(source, stream));
        Ok(())
    }
}

impl<R: BufRead> Read for XzStreams<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // A file of no bytes at all has not even one stream: the decoder says so.
        if let Some(source) = self.source.take() {
            self.next_stream(source)?;
        }
        while let Some(mut decoder) = self.decoder.take() {
            let read = decoder.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                self.decoder = Some(decoder);
                return Ok(read);
            }
            if decoder.total_in() == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let mut source = decoder.into_inner();
            // Streams may be filled up with zeros, four at a time (section 2.2).
            while source.fill_buf()?.first() == Some(&0) {
                source.consume(1);
            }
            if !source.fill_buf()?.is_empty() {
                self.next_stream(source)?;
            }
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::Compression;

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
        compression.decoder(packed, 2)?.read_to_end(&mut content).map(|_| content)
    }

    #[test]
    fn what_was_compressed_comes_back_and_what_is_cut_off_anywhere_is_an_error() {
        let content: Vec<u8> =
            (0..60_000_u32).flat_map(|n| (n.wrapping_mul(2_654_435_761) >> 9).to_le_bytes()).collect();
        for compression in Compression::ALL {
            let packed = compressed(compression, &content);
            assert!(read(compression, &packed).unwrap() == content, "{compression:?}");
            let twice = [packed.clone(), packed.clone()].concat();
            assert_eq!(read(compression, &twice).unwrap().len(), 2 * content.len(), "{compression:?}");
            for length in (0..packed.len()).step_by(997).chain(packed.len() - 12..packed.len()) {
                assert!(read(compression, &packed[..length]).is_err(), "{compression:?} cut to {length}");
            }
            let mut damaged = packed.clone();
            damaged[packed.len() / 2] ^= 1;
            assert!(!read(compression, &damaged).is_ok_and(|read| read == content), "{compression:?} damaged");
        }
    }

    #[test]
    fn names_tell_by_their_ending() {
        assert_eq!(Compression::of("blas_lib_gfx942.tar.zst"), Some(("blas_lib_gfx942", Compression::Zstd)));
        assert_eq!(Compression::of("blas_lib_gfx942.tar.xz"), Some(("blas_lib_gfx942", Compression::Xz)));
        assert_eq!(Compression::of("blas_lib_gfx942.tar.xz.sha256sum"), None);
    }
}
