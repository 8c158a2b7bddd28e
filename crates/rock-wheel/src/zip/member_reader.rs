//! Reading the content of a member.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::{Mutex, PoisonError};

use flate2::{Decompress, FlushDecompress, Status};

use super::super::WheelError;
use super::limits::MAX_ADDED_BYTES;
use super::{CompressionMethod, ZipMember};
use rock_bytes::{BufferPool, ChunkSender, PooledBuffer, RangeReader, ReadAt};

/// Size of the buffer for compressed data.
const BUFFER_BYTES: usize = 64 << 10;

/// Deflated members up to this size are inflated as a whole if all of their content is needed.
/// libdeflate does this in two thirds of zlib's time, but needs data and content in memory.
const WHOLE_BYTES: u64 = 32 << 20;

/// Returns whether a member may be inflated as a whole.
pub(super) fn is_inflated_at_once(member: &ZipMember) -> bool {
    member.method == CompressionMethod::Deflated
        && member.size_bytes <= WHOLE_BYTES
        && member.compressed_bytes <= member.size_bytes + MAX_ADDED_BYTES
}

/// Inflates a whole member to the start of a buffer, and checks size and CRC-32. Only a
/// [`MemberReader`] detects bytes after the compressed data.
///
/// # Errors
/// Fails if the content is damaged or cannot be read.
pub(super) fn inflate<'s>(
    source: &dyn ReadAt,
    member: &ZipMember,
    buffers: &'s BufferPool,
) -> io::Result<PooledBuffer<'s>> {
    let damaged = |reason: &str| io::Error::new(io::ErrorKind::InvalidData, reason.to_owned());
    let length = |size_bytes| {
        usize::try_from(size_bytes).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))
    };
    let mut content = buffers.take(length(member.size_bytes)?);
    let mut compressed = buffers.take(length(member.compressed_bytes)?);
    let (output, data) = (
        &mut content[..length(member.size_bytes)?],
        &mut compressed[..length(member.compressed_bytes)?],
    );
    source.read_exact_at(data, member.data_offset)?;
    match libdeflater::Decompressor::new().deflate_decompress(data, output) {
        Ok(length) if length == output.len() => {}
        Ok(_) => return Err(io::ErrorKind::UnexpectedEof.into()),
        Err(libdeflater::DecompressionError::InsufficientSpace) => {
            return Err(damaged(TRAILING_CONTENT));
        }
        Err(libdeflater::DecompressionError::BadData) => {
            return Err(io::ErrorKind::InvalidInput.into());
        }
    }
    if crc32fast::hash(output) != member.crc32 {
        return Err(damaged(CRC_MISMATCH));
    }
    Ok(content)
}

const TRAILING_CONTENT: &str = "it is longer than its header says";
const CRC_MISMATCH: &str = "its CRC-32 is not the one in its header";

/// A reader of a member's content, which checks size and CRC-32 at the end.
#[derive(Debug)]
pub struct MemberReader<'m> {
    member: &'m ZipMember,
    data: MemberData<'m>,
    crc: crc32fast::Hasher,
    left: u64,
    /// The result of the checks at the end; reads after an error fail again.
    checked: Option<Result<(), &'static str>>,
}

#[derive(Debug)]
enum MemberData<'m> {
    Stored(RangeReader<'m>),
    Deflated(InflateReader<'m>),
}

/// A reader that inflates data.
#[derive(Debug)]
struct InflateReader<'m> {
    input: BufReader<RangeReader<'m>>,
    /// `None` after it returned to the pool.
    state: Option<Decompress>,
}

/// Inflate states for reuse, about 48 KiB each. Allocating them for every member would fragment the
/// heap between the small texts that are kept of each wheel.
static INFLATE_STATES: Mutex<Vec<Decompress>> = Mutex::new(Vec::new());
/// Maximum number of pooled states.
const MAX_KEPT_STATES: usize = 64;

impl<'m> InflateReader<'m> {
    fn new(input: BufReader<RangeReader<'m>>) -> Self {
        let kept = INFLATE_STATES
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        Self {
            input,
            state: Some(kept.unwrap_or_else(|| Decompress::new(false))),
        }
    }

    /// Returns the number of bytes of data consumed.
    fn total_in(&self) -> u64 {
        self.state.as_ref().map_or(0, Decompress::total_in)
    }
}

impl Read for InflateReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(state) = &mut self.state else {
            return Ok(0);
        };
        loop {
            let input = self.input.fill_buf()?;
            let is_end = input.is_empty();
            let before = (state.total_in(), state.total_out());
            let flush = if is_end {
                FlushDecompress::Finish
            } else {
                FlushDecompress::None
            };
            let status = state.decompress(input, buffer, flush);
            let length =
                |after: u64, before: u64| usize::try_from(after - before).unwrap_or(usize::MAX);
            let (used, made) = (
                length(state.total_in(), before.0),
                length(state.total_out(), before.1),
            );
            self.input.consume(used);
            match status {
                Ok(Status::Ok | Status::BufError) if made == 0 && !is_end && !buffer.is_empty() => {
                }
                Ok(_) => return Ok(made),
                Err(_) => return Err(io::ErrorKind::InvalidInput.into()),
            }
        }
    }
}

impl Drop for InflateReader<'_> {
    fn drop(&mut self) {
        let mut kept = INFLATE_STATES
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if kept.len() < MAX_KEPT_STATES {
            kept.extend(self.state.take().map(|mut state| {
                state.reset(false);
                state
            }));
        }
    }
}

impl<'m> MemberReader<'m> {
    pub(super) fn new(source: &'m dyn ReadAt, member: &'m ZipMember) -> Self {
        let section = RangeReader::new(source, member.data_offset, member.compressed_bytes);
        let capacity = BUFFER_BYTES
            .min(usize::try_from(member.compressed_bytes).unwrap_or(BUFFER_BYTES))
            .max(1);
        let data = match member.method {
            CompressionMethod::Stored => MemberData::Stored(section),
            CompressionMethod::Deflated => MemberData::Deflated(InflateReader::new(
                BufReader::with_capacity(capacity, section),
            )),
        };
        Self {
            member,
            data,
            crc: crc32fast::Hasher::new(),
            left: member.size_bytes,
            checked: None,
        }
    }

    /// Converts an error of reading: to [`WheelError::CorruptMember`] if the data is damaged,
    /// otherwise to [`WheelError::Read`].
    pub fn wheel_error(&self, error: io::Error) -> WheelError {
        let damaged = |reason: String| WheelError::CorruptMember {
            member: self.member.name.clone(),
            reason,
        };
        match error.kind() {
            io::ErrorKind::InvalidData => damaged(error.to_string()),
            io::ErrorKind::InvalidInput => damaged("it is not deflated data".to_owned()),
            io::ErrorKind::UnexpectedEof => damaged("it ends too early".to_owned()),
            _ => WheelError::Read(error),
        }
    }

    /// Calls `take` with each chunk of the content.
    ///
    /// # Errors
    /// Fails if the content is damaged or cannot be read.
    pub fn for_each_chunk(
        mut self,
        buffer: &mut [u8],
        mut take: impl FnMut(&[u8]),
    ) -> Result<(), WheelError> {
        loop {
            match self.read(buffer) {
                Ok(0) => return Ok(()),
                Ok(read) => take(&buffer[..read]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.wheel_error(error)),
            }
        }
    }

    /// Sends the content to another thread.
    pub(super) fn send_to(mut self, sender: &mut ChunkSender<'_>) -> Result<(), WheelError> {
        loop {
            let mut piece = sender.take_chunk();
            let read = loop {
                match self.read(&mut piece) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    read => break read,
                }
            };
            match read {
                Ok(0) => return Ok(()),
                Ok(read) => sender.send(piece, read),
                Err(error) => return Err(self.wheel_error(error)),
            }
        }
    }

    fn raw(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.data {
            MemberData::Stored(section) => section.read(buffer),
            MemberData::Deflated(decoder) => decoder.read(buffer),
        }
    }

    fn check_end(&mut self) -> io::Result<()> {
        let checked = match self.checked {
            Some(checked) => checked,
            None => self.end_error()?.map_or(Ok(()), Err),
        };
        self.checked = Some(checked);
        checked.map_err(|reason| io::Error::new(io::ErrorKind::InvalidData, reason))
    }

    /// Returns why the data does not match the headers.
    fn end_error(&mut self) -> io::Result<Option<&'static str>> {
        if self.raw(&mut [0])? > 0 {
            return Ok(Some(TRAILING_CONTENT));
        }
        if let MemberData::Deflated(decoder) = &self.data
            && decoder.total_in() != self.member.compressed_bytes
        {
            return Ok(Some("bytes follow its compressed data"));
        }
        Ok((self.crc.clone().finalize() != self.member.crc32).then_some(CRC_MISMATCH))
    }
}

impl Read for MemberReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        if self.left == 0 {
            return self.check_end().map(|()| 0);
        }
        let length = buffer
            .len()
            .min(usize::try_from(self.left).unwrap_or(usize::MAX));
        match self.raw(&mut buffer[..length])? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                self.crc.update(&buffer[..read]);
                self.left -= read as u64;
                Ok(read)
            }
        }
    }
}
