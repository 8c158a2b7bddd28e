//! gzip streams with a single member (RFC 1952, section 2.2).
//!
//! Python's `gzip` module concatenates several members, and uv reads only the first one, so further
//! members are rejected. Zero bytes after the member are padding, as in `_GzipReader` of `gzip.py`.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;

/// The first byte of a gzip file (RFC 1952, section 2.3.1).
const FIRST_BYTE: u8 = 0x1f;

/// The error inside of the [`io::Error`] that [`gunzip`] or its reader returns. Other errors are
/// those of the decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GzipError {
    /// The stream does not start like a gzip file.
    #[error("it is not a gzip file")]
    NotGzip,
    /// Data other than zero bytes follows the stream.
    #[error("there is data after the gzip stream")]
    TrailingData,
}

impl From<GzipError> for io::Error {
    fn from(error: GzipError) -> Self {
        Self::new(io::ErrorKind::InvalidData, error)
    }
}

/// Returns a reader of the decompressed stream. Damage, truncation and data after the stream are
/// read errors.
///
/// # Errors
/// If `source` cannot be read, or is not a gzip stream.
pub fn gunzip<R: Read>(source: R) -> io::Result<impl Read> {
    let mut source = BufReader::new(source);
    if source.fill_buf()?.first() != Some(&FIRST_BYTE) {
        return Err(GzipError::NotGzip.into());
    }
    Ok(GzipReader {
        decoder: GzDecoder::new(source),
        is_at_end: false,
    })
}

/// A reader that checks the bytes after the stream.
struct GzipReader<R> {
    decoder: GzDecoder<R>,
    /// Whether the stream and its padding were read completely.
    is_at_end: bool,
}

impl<R: BufRead> Read for GzipReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_at_end || buffer.is_empty() {
            return Ok(0);
        }
        let read = self.decoder.read(buffer)?;
        if read == 0 {
            expect_padding(self.decoder.get_mut())?;
            self.is_at_end = true;
        }
        Ok(read)
    }
}

/// Reads zero bytes to the end of the file; other bytes are an error.
fn expect_padding(source: &mut impl BufRead) -> io::Result<()> {
    loop {
        let bytes = source.fill_buf()?;
        if bytes.is_empty() {
            return Ok(());
        }
        if bytes.iter().any(|byte| *byte != 0) {
            return Err(GzipError::TrailingData.into());
        }
        let length = bytes.len();
        source.consume(length);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::gunzip;

    fn gzip(text: &str) -> Vec<u8> {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(text.as_bytes()).unwrap();
        packed.finish().unwrap()
    }

    fn read(parts: &[&[u8]]) -> Result<String, String> {
        let (bytes, mut text) = (parts.concat(), String::new());
        let read = gunzip(bytes.as_slice()).and_then(|mut source| source.read_to_string(&mut text));
        read.map(|_| text).map_err(|error| error.to_string())
    }

    #[test]
    fn stream_may_be_followed_by_padding() {
        assert_eq!(read(&[&gzip("one")]).unwrap(), "one");
        assert_eq!(read(&[&gzip("one"), &vec![0; 40_000]]).unwrap(), "one");
        assert_eq!(read(&[&gzip("")]).unwrap(), "");
    }

    #[test]
    fn damage_and_data_after_the_stream_are_errors() {
        let one = gzip("one");
        for behind in [&one[..], b"more", &[&vec![0; 40_000][..], b"more"].concat()] {
            assert_eq!(
                read(&[&one, behind]).unwrap_err(),
                "there is data after the gzip stream"
            );
        }
        assert_eq!(
            read(&[b"<!DOCTYPE html>"]).unwrap_err(),
            "it is not a gzip file"
        );
        for end in 0..one.len() {
            assert!(read(&[&one[..end]]).is_err(), "{end}");
        }
    }
}
