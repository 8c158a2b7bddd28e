//! Positional reads of a member that is inflated as a stream.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::super::WheelError;
use super::limits::MAX_NAMES_BYTES;
use super::member_reader::{inflate, is_inflated_at_once};
use super::{MemberReader, ZipArchive, ZipMember};
use rock_bytes::{BufferPool, CHUNK_BYTES, PooledBuffer, ReadAt, ScratchFactory, ScratchStorage};

/// Size of the first chunk: of most members only the start is read.
const FIRST_CHUNK_BYTES: usize = 4 << 10;
/// Size of the start of a member that is kept: it has the tables of libraries.
const MAX_BEGINNING_BYTES: u64 = 32 << 20;
/// Maximum size of announced ranges after the start of a member.
const MAX_ANNOUNCED_BYTES: u64 = 8 << 20;
/// Memory of a view without the content that it keeps: a chunk, compressed data, and the inflate
/// state.
const OVERHEAD_BYTES: u64 = 1 << 20;

/// Bytes that are kept before and after a chunk with section names.
const NAME_MARGIN_BYTES: usize = 64 << 10;
/// A string that is in every section name table, and hardly anywhere else. The table follows the
/// loaded segments and may precede much larger tables (lld writes it there), while the section
/// headers that refer to it come last.
const SECTION_NAME: &[u8] = b".shstrtab\0";

/// A pool that keeps no buffers, for views without a shared pool.
static UNPOOLED: BufferPool = BufferPool::new(0);

/// A callback for the content of a member, called with each byte once, in order.
pub type ContentObserver<'o> = dyn FnMut(&[u8]) + Send + 'o;

/// A view of a member's content for positional reads, which inflates only as far as it is read.
///
/// A small member is inflated as a whole. Of a large one the start and each range that was read are
/// kept. Reading another range behind the current position inflates the whole member a second time,
/// to scratch space.
pub struct MemberView<'m, 'o> {
    archive: &'m ZipArchive<'m>,
    member: &'m ZipMember,
    make_scratch: &'m ScratchFactory<'m>,
    buffers: &'m BufferPool,
    retention: Retention,
    state: Mutex<ViewState<'m, 'o>>,
}

/// The content that is kept after it was inflated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Retention {
    /// The start, and the ranges that were read or announced.
    Tables,
    /// The last chunk.
    LastChunk,
}

/// The parts of a view that streaming needs.
#[derive(Clone, Copy)]
struct StreamContext<'m> {
    archive: &'m ZipArchive<'m>,
    member: &'m ZipMember,
    buffers: &'m BufferPool,
    retention: Retention,
}

struct ViewState<'m, 'o> {
    reader: MemberReader<'m>,
    observer: Option<Box<ContentObserver<'o>>>,
    position: u64,
    /// The whole content, if it is inflated as a whole.
    all: Option<PooledBuffer<'m>>,
    beginning: Vec<u8>,
    chunk: Option<PooledBuffer<'m>>,
    chunk_length: usize,
    read_ranges: Vec<(u64, Vec<u8>)>,
    /// The announced ranges, and the part of each that was inflated.
    announced: Vec<(Range<u64>, Vec<u8>)>,
    /// Chunks with section names, if they are searched for.
    names: Option<SectionNameCache>,
    whole: Option<Box<dyn ScratchStorage>>,
}

impl<'m, 'o> MemberView<'m, 'o> {
    /// Creates a view of a member. The observer is called with the content as it is inflated.
    pub fn new(
        archive: &'m ZipArchive<'m>,
        member: &'m ZipMember,
        make_scratch: &'m ScratchFactory<'m>,
        observer: Option<Box<ContentObserver<'o>>>,
    ) -> Self {
        let state = ViewState {
            reader: archive.reader(member),
            observer,
            position: 0,
            all: None,
            beginning: Vec::new(),
            chunk: None,
            chunk_length: 0,
            read_ranges: Vec::new(),
            announced: Vec::new(),
            names: None,
            whole: None,
        };
        let retention = Retention::Tables;
        Self {
            archive,
            member,
            make_scratch,
            buffers: &UNPOOLED,
            retention,
            state: Mutex::new(state),
        }
    }

    /// Takes buffers from a pool, and returns them to it.
    #[must_use]
    pub fn with_buffers(self, buffers: &'m BufferPool) -> Self {
        Self { buffers, ..self }
    }

    /// Returns whether the member is inflated as a whole, so that further reads cost nothing.
    pub fn is_fully_buffered(&self) -> bool {
        is_inflated_at_once(self.member)
    }

    /// Creates a view for reading once from start to end, which keeps only the last chunk.
    pub fn forward(
        archive: &'m ZipArchive<'m>,
        member: &'m ZipMember,
        make_scratch: &'m ScratchFactory<'m>,
    ) -> Self {
        Self {
            retention: Retention::LastChunk,
            ..Self::new(archive, member, make_scratch, None)
        }
    }

    /// Returns the maximum memory of a view of a member, without ranges read after the start, and
    /// unless it is read backwards.
    pub fn max_held_bytes(member: &ZipMember) -> u64 {
        let compressed_bytes = if is_inflated_at_once(member) {
            member.compressed_bytes()
        } else {
            0
        };
        let names_bytes = if member.size_bytes() > MAX_BEGINNING_BYTES {
            MAX_NAMES_BYTES as u64
        } else {
            0
        };
        member.size_bytes().min(MAX_BEGINNING_BYTES)
            + compressed_bytes
            + names_bytes
            + OVERHEAD_BYTES
    }

    /// Inflates up to a position.
    ///
    /// # Errors
    /// Fails if the content is damaged or cannot be read.
    pub fn stream_to(&self, position: u64) -> Result<(), WheelError> {
        let mut state = self.state();
        let result = state.stream_to(position.min(self.member.size_bytes()), self.context(), None);
        result.map_err(|error| state.reader.wheel_error(error))
    }

    /// Keeps section names in the content from the current position on. Call this after the loaded
    /// segments: code objects for GPUs are ELF files with section names, too.
    pub fn keep_section_names(&self) {
        self.state().names.get_or_insert_default();
    }

    /// Inflates to the end, and checks size and CRC-32.
    ///
    /// # Errors
    /// Fails if the content is damaged or cannot be read.
    pub fn finish(&self) -> Result<(), WheelError> {
        let mut state = self.state();
        let result = state.stream_to(u64::MAX, self.context(), None);
        result.map_err(|error| state.reader.wheel_error(error))
    }

    /// Converts an error of reading; see [`MemberReader::wheel_error`].
    pub fn wheel_error(&self, error: io::Error) -> WheelError {
        self.state().reader.wheel_error(error)
    }

    /// Returns the number of bytes inflated for the observer so far.
    pub fn position(&self) -> u64 {
        self.state().position
    }

    fn context(&self) -> StreamContext<'m> {
        StreamContext {
            archive: self.archive,
            member: self.member,
            buffers: self.buffers,
            retention: self.retention,
        }
    }

    fn state(&self) -> MutexGuard<'_, ViewState<'m, 'o>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReadAt for MemberView<'_, '_> {
    fn size_bytes(&self) -> u64 {
        self.member.size_bytes()
    }

    fn announce_read(&self, range: Range<u64>) {
        let mut state = self.state();
        let announced: u64 = state
            .announced
            .iter()
            .map(|(range, _)| range.end - range.start)
            .sum();
        let is_kept =
            range.end <= MAX_BEGINNING_BYTES || range.start < state.position || range.is_empty();
        if !is_kept && announced.saturating_add(range.end - range.start) <= MAX_ANNOUNCED_BYTES {
            state.announced.push((range, Vec::new()));
        }
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let left = self.member.size_bytes().saturating_sub(offset);
        let length = usize::try_from(left)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        let (buffer, end) = (&mut buffer[..length], offset + length as u64);
        let mut state = self.state();
        if buffer.is_empty() || state.read_kept(buffer, offset)? {
            return Ok(length);
        }
        if offset < state.position {
            let mut whole = (self.make_scratch)(self.member.size_bytes())?;
            let mut reader = self.archive.reader(self.member);
            let mut chunk = vec![0; CHUNK_BYTES];
            loop {
                match io::Read::read(&mut reader, &mut chunk) {
                    Ok(0) => break,
                    Ok(read) => whole.append(&chunk[..read])?,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
            whole.read_exact_at(buffer, offset)?;
            state.whole = Some(whole);
            return Ok(length);
        }
        state.stream_to(offset, self.context(), None)?;
        // Not into `buffer`: the rest of the chunk serves the next short read.
        let mut range_bytes = Vec::new();
        state.stream_to(end, self.context(), Some((offset, &mut range_bytes)))?;
        if state.all.is_some() {
            return state.read_kept(buffer, offset).map(|_| length);
        }
        buffer.copy_from_slice(&range_bytes[..length]);
        if state.position > MAX_BEGINNING_BYTES && self.retention == Retention::Tables {
            state.read_ranges.push((offset, range_bytes));
        }
        Ok(length)
    }
}

impl<'m> ViewState<'m, '_> {
    fn read_kept(&self, buffer: &mut [u8], offset: u64) -> io::Result<bool> {
        if let Some(whole) = &self.whole {
            return whole.read_exact_at(buffer, offset).map(|()| true);
        }
        let chunk_start = self.position - self.chunk_length as u64;
        let all = self.all.as_deref().map(|bytes| (0, bytes));
        let chunk = self
            .chunk
            .as_deref()
            .map(|bytes| (chunk_start, &bytes[..self.chunk_length]));
        let kept = all
            .into_iter()
            .chain([(0, self.beginning.as_slice())])
            .chain(chunk);
        let read_ranges = self
            .read_ranges
            .iter()
            .map(|(start, bytes)| (*start, bytes.as_slice()));
        let names = self
            .names
            .iter()
            .flat_map(|names| &names.kept)
            .map(|(start, bytes)| (*start, bytes.as_slice()));
        let announced = self
            .announced
            .iter()
            .map(|(range, bytes)| (range.start, bytes.as_slice()));
        for (start, bytes) in kept.chain(read_ranges).chain(names).chain(announced) {
            let Some(from) = offset
                .checked_sub(start)
                .and_then(|from| usize::try_from(from).ok())
            else {
                continue;
            };
            if let Some(found) = from
                .checked_add(buffer.len())
                .and_then(|to| bytes.get(from..to))
            {
                buffer.copy_from_slice(found);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Inflates up to the position or the end, and appends the content from an offset on to
    /// `aside`.
    fn stream_to(
        &mut self,
        position: u64,
        context: StreamContext<'m>,
        mut aside: Option<(u64, &mut Vec<u8>)>,
    ) -> io::Result<()> {
        if context.retention == Retention::Tables
            && position > FIRST_CHUNK_BYTES as u64
            && is_inflated_at_once(context.member)
        {
            return self.inflate_at_once(position, context);
        }
        if let Some((offset, bytes)) = &mut aside {
            // The part that is in the last chunk.
            let start = self.position - self.chunk_length as u64;
            let from = usize::try_from(offset.saturating_sub(start)).unwrap_or(usize::MAX);
            let chunk = self.chunk.as_deref().unwrap_or_default();
            bytes.extend_from_slice(chunk[..self.chunk_length].get(from..).unwrap_or_default());
        }
        let is_kept =
            |position| context.retention == Retention::Tables && position < MAX_BEGINNING_BYTES;
        while self.position < position {
            let most = if is_kept(self.position) && self.position == 0 {
                FIRST_CHUNK_BYTES
            } else {
                CHUNK_BYTES
            };
            let chunk = match &mut self.chunk {
                Some(chunk) if chunk.len() >= most => chunk,
                chunk => chunk.insert(context.buffers.take(most)),
            };
            let read = match io::Read::read(&mut self.reader, &mut chunk[..most]) {
                Ok(0) => return Ok(()),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.chunk_length = 0;
                    return Err(error);
                }
            };
            self.chunk_length = read;
            let chunk = &chunk[..read];
            if let Some(observer) = &mut self.observer {
                observer(chunk);
            }
            if is_kept(self.position) {
                self.beginning.extend_from_slice(chunk);
            }
            if let Some(names) = &mut self.names {
                names.add(chunk, self.position);
            }
            for (range, bytes) in &mut self.announced {
                let next = range.start + bytes.len() as u64;
                let place = |at: u64| {
                    usize::try_from(at.saturating_sub(self.position)).unwrap_or(usize::MAX)
                };
                if (self.position..self.position + read as u64).contains(&next) {
                    bytes.extend_from_slice(&chunk[place(next)..read.min(place(range.end))]);
                }
            }
            if let Some((offset, bytes)) = &mut aside {
                let from =
                    usize::try_from(offset.saturating_sub(self.position)).unwrap_or(usize::MAX);
                bytes.extend_from_slice(chunk.get(from..).unwrap_or_default());
            }
            self.position += read as u64;
        }
        Ok(())
    }

    /// Inflates the whole content, unless that was done, and calls the observer up to the position.
    fn inflate_at_once(&mut self, position: u64, context: StreamContext<'m>) -> io::Result<()> {
        let all = match &mut self.all {
            Some(all) => all,
            all => all.insert(inflate(
                context.archive.source(),
                context.member,
                context.buffers,
            )?),
        };
        let to = position.min(context.member.size_bytes());
        let place = |position| usize::try_from(position).unwrap_or(usize::MAX);
        if let (Some(observer), Some(passing)) =
            (&mut self.observer, all.get(place(self.position)..place(to)))
        {
            passing.chunks(CHUNK_BYTES).for_each(observer);
        }
        self.position = self.position.max(to);
        Ok(())
    }
}

/// The newest chunks with section names, each with the bytes around it.
#[derive(Default)]
struct SectionNameCache {
    kept: VecDeque<(u64, Vec<u8>)>,
    /// The end of the last chunk.
    before: Vec<u8>,
    /// Whether the next chunk follows the last one that is kept.
    is_continued: bool,
}

impl SectionNameCache {
    /// Keeps a chunk with section names, and the start of the chunk after it.
    fn add(&mut self, chunk: &[u8], position: u64) {
        if self.is_continued
            && let Some((_, last)) = self.kept.back_mut()
        {
            last.extend_from_slice(&chunk[..chunk.len().min(NAME_MARGIN_BYTES)]);
        }
        self.is_continued = memchr::memmem::find(chunk, SECTION_NAME).is_some();
        if self.is_continued {
            let length = self.before.len() + chunk.len() + NAME_MARGIN_BYTES;
            // If dropped names are read, the member is inflated again.
            while self.kept_bytes() + length > MAX_NAMES_BYTES && self.kept.pop_front().is_some() {}
            let mut bytes = Vec::with_capacity(length);
            bytes.extend_from_slice(&self.before);
            bytes.extend_from_slice(chunk);
            self.kept
                .push_back((position - self.before.len() as u64, bytes));
        }
        self.before.clear();
        self.before
            .extend_from_slice(&chunk[chunk.len().saturating_sub(NAME_MARGIN_BYTES)..]);
    }

    fn kept_bytes(&self) -> usize {
        self.kept.iter().map(|(_, bytes)| bytes.len()).sum()
    }
}

impl std::fmt::Debug for MemberView<'_, '_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "MemberView({} of {})",
            self.position(),
            self.member.name()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::limits::MAX_ADDED_BYTES;
    use super::super::{MemberOptions, ZipWriter};
    use super::*;
    use rock_bytes::in_memory;

    /// An archive of one member that is larger than the start that is kept.
    fn archive() -> (Vec<u8>, Vec<u8>) {
        let content: Vec<u8> = (0..40_000_000_u32)
            .map(|at| (at / 1000).to_le_bytes()[(at % 3) as usize])
            .collect();
        let mut bytes = Vec::new();
        let mut writer = ZipWriter::new(&mut bytes);
        writer
            .add(
                "lib.so",
                &content,
                &MemberOptions {
                    level: 1,
                    ..MemberOptions::default()
                },
            )
            .unwrap();
        writer.finish().unwrap();
        (bytes, content)
    }

    #[test]
    fn slightly_expanded_data_is_inflated_as_a_whole() {
        let (bytes, _) = archive();
        let mut member = ZipArchive::open(&bytes).unwrap().members()[0].clone();
        member.size_bytes = 1;
        let mut is_at_once = |compressed_bytes: u64| {
            member.compressed_bytes = compressed_bytes;
            is_inflated_at_once(&member)
        };
        assert_eq!(
            (
                is_at_once(MAX_ADDED_BYTES + 1),
                is_at_once(MAX_ADDED_BYTES + 2)
            ),
            (true, false)
        );
    }

    #[test]
    fn a_member_is_inflated_only_as_far_as_it_is_read() {
        let (bytes, content) = archive();
        let archive = ZipArchive::open(&bytes).unwrap();
        let view = MemberView::new(&archive, &archive.members()[0], &in_memory, None);
        let mut buffer = [0; 100];
        view.read_exact_at(&mut buffer, 0).unwrap();
        assert_eq!(
            (&buffer[..], view.position() < 5000),
            (&content[..100], true)
        );
        view.read_exact_at(&mut buffer, 1_000_000).unwrap();
        assert_eq!(
            (&buffer[..], view.position() < 2_000_000),
            (&content[1_000_000..1_000_100], true)
        );
    }

    #[test]
    fn announced_ranges_are_kept() {
        let (bytes, content) = archive();
        let archive = ZipArchive::open(&bytes).unwrap();
        let fails = |_| Err(io::ErrorKind::Unsupported.into());
        let view = MemberView::new(&archive, &archive.members()[0], &fails, None);
        view.read_exact_at(&mut [0; 64], 0).unwrap();
        view.announce_read(35_000_000..35_700_000);
        view.read_exact_at(&mut [0; 64], 39_000_000).unwrap();
        let mut buffer = vec![0; 700_000];
        view.read_exact_at(&mut buffer, 35_000_000).unwrap();
        assert!(buffer == content[35_000_000..35_700_000]);
        assert!(
            view.read_exact_at(&mut buffer, 36_000_000).is_err(),
            "this would be read anew"
        );
    }

    #[test]
    fn section_names_are_kept_up_to_a_limit() {
        let mut names = SectionNameCache::default();
        let mut chunk = SECTION_NAME.to_vec();
        chunk.resize(CHUNK_BYTES, 7);
        for at in 0..20_u64 {
            names.add(&chunk, at * chunk.len() as u64);
            assert!(
                names.kept_bytes() <= MAX_NAMES_BYTES,
                "{}",
                names.kept_bytes()
            );
        }
        let content = chunk.repeat(20);
        assert_eq!(names.kept.len(), 5);
        for (start, bytes) in &names.kept {
            let start = usize::try_from(*start).unwrap();
            assert!(*bytes == content[start..start + bytes.len()], "at {start}");
        }
    }

    #[test]
    fn small_members_are_read_and_checked_as_a_whole() {
        let content: Vec<u8> = (0..3_000_000_u32)
            .map(|at| (at / 100).to_le_bytes()[(at % 2) as usize])
            .collect();
        let mut bytes = Vec::new();
        let mut writer = ZipWriter::new(&mut bytes);
        writer
            .add(
                "lib.so",
                &content,
                &MemberOptions {
                    level: 1,
                    ..MemberOptions::default()
                },
            )
            .unwrap();
        writer.finish().unwrap();
        let archive = ZipArchive::open(&bytes).unwrap();
        let (buffers, seen) = (BufferPool::new(1 << 20), Mutex::new(Vec::new()));
        for last in [2_500_000, 17] {
            seen.lock().unwrap().clear();
            let see = |chunk: &[u8]| seen.lock().unwrap().extend_from_slice(chunk);
            let member = &archive.members()[0];
            let view = MemberView::new(&archive, member, &in_memory, Some(Box::new(see)))
                .with_buffers(&buffers);
            for offset in [0, 2_999_990, 4000, last] {
                let mut buffer = vec![0; (content.len() - offset).min(5000)];
                view.read_exact_at(&mut buffer, offset as u64).unwrap();
                assert!(
                    buffer == content[offset..offset + buffer.len()],
                    "at {offset}"
                );
            }
            view.stream_to(1_000_000).unwrap();
            assert!(
                view.position() >= 1_000_000
                    && seen.lock().unwrap().len() as u64 == view.position()
            );
            assert!(
                view.read_exact_at(&mut [0; 20], 2_999_990).is_err(),
                "it ends before"
            );
            view.finish().unwrap();
            assert!(*seen.lock().unwrap() == content, "each byte once, in order");
        }
        let at = bytes.len() / 2;
        bytes[at] ^= 0x10;
        let archive = ZipArchive::open(&bytes).unwrap();
        let view = MemberView::new(&archive, &archive.members()[0], &in_memory, None);
        assert!(matches!(
            view.finish(),
            Err(WheelError::CorruptMember { .. })
        ));
    }

    /// The observer sees each byte once, in order.
    #[test]
    fn ranges_are_read_in_any_order() {
        let (bytes, content) = archive();
        let archive = ZipArchive::open(&bytes).unwrap();
        let mut seen = crc32fast::Hasher::new();
        let view = MemberView::new(
            &archive,
            &archive.members()[0],
            &in_memory,
            Some(Box::new(|chunk| seen.update(chunk))),
        );
        for offset in [
            0, 39_999_990, 4090, 35_000_000, 33_554_400, 34_000_000, 39_000_000, 12, 34_000_001,
        ] {
            let mut buffer = vec![0; (content.len() - offset).min(300_000)];
            view.read_exact_at(&mut buffer, offset as u64).unwrap();
            assert!(
                buffer == content[offset..offset + buffer.len()],
                "at {offset}"
            );
        }
        assert!(
            view.read_exact_at(&mut [0; 20], 39_999_990).is_err(),
            "it ends before"
        );
        view.finish().unwrap();
        drop(view);
        assert_eq!(seen.finalize(), archive.members()[0].crc32());
    }
}
