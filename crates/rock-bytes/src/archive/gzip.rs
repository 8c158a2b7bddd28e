//! gzip streams of one part (RFC 1952).
//!
//! Python's `gzip` module reads several parts as one stream, and uv only the first part, so further
//! parts are refused. Zeros after the part are padding, as in `_GzipReader` of `gzip.py`.

use std::io::{self, BufRead, BufReader, Read};

use flate2::bufread::GzDecoder;

/// The first byte of a gzip file (RFC 1952, section 2.3.1).
const FIRST_BYTE: u8 = 0x1f;

/// Returns the uncompressed bytes of a gzip stream. Damage, an end that comes too early, and data
/// after the stream are errors.
///
/// # Errors
/// When `source` cannot be read, or is not a gzip stream.
pub fn gunzip<R: Read>(source: R) -> io::Result<impl Read> {
    let mut source = BufReader::new(source);
    if source.fill_buf()?.first() != Some(&FIRST_BYTE) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "it is not a gzip file",
        ));
    }
    Ok(GzipReader {
        decoder: GzDecoder::new(source),
        is_at_end: false,
    })
}

struct GzipReader<R> {
    decoder: GzDecoder<R>,
    /// Whether the end of the stream was read and nothing follows it.
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

/// Reads zeros to the end of a file.
fn expect_padding(source: &mut impl BufRead) -> io::Result<()> {
    loop {
        let bytes = source.fill_buf()?;
        if bytes.is_empty() {
            return Ok(());
        }
        if bytes.iter().any(|byte| *byte != 0) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "there is data after the gzip stream",
            ));
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
    fn a_stream_is_read_to_its_end_and_may_have_padding() {
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
