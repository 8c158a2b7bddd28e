//! The scanner: finds candidates for GPU code in a stream of bytes.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, Match, packed};

use super::bundle::{self, BundleDepth, BundleReader};
use super::candidate_filter::filter_candidates;
use super::code_object::{CODE_OBJECT_HEADER_BYTES, CodeObject, parse_code_object};
use super::compressed_bundle::{
    self, BundleDecompressor, CompressedBundleError, CompressedBundleHeader,
};
use super::inventory::CodeInventory;
use super::layout::FileLayout;
use super::limits::{
    MAX_CONTAINERS, MAX_ENTRIES, MAX_LOOKALIKES, MAX_OPEN_BUNDLES, MAX_UNPACKED_BYTES, MAX_WRAPPERS,
};
use super::little_endian::u64_at;

/// The depth of a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ScanDepth {
    /// The tables of bundles only. Compressed bundles are decompressed up to the end of their
    /// table, so the headers of their code objects are unknown.
    Tables,
    /// Also the header of each code object.
    Headers,
}

/// An exceeded limit: what follows in the file is missing from the inventory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScanLimit {
    /// More bundles overlap than are read at the same time.
    OverlappingBundles,
    /// More bundles and code objects than are counted.
    Containers,
    /// More entries of bundles than are counted.
    Entries,
    /// More wrappers than are counted.
    Wrappers,
    /// More bytes are decompressed than are read of one file.
    DecompressedBytes,
}

impl fmt::Display for ScanLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OverlappingBundles => write!(f, "more than {MAX_OPEN_BUNDLES} bundles overlap"),
            Self::Containers => write!(
                f,
                "there are more than {MAX_CONTAINERS} bundles and code objects"
            ),
            Self::Entries => write!(f, "the bundles have more than {MAX_ENTRIES} entries"),
            Self::Wrappers => write!(f, "there are more than {MAX_WRAPPERS} wrappers"),
            Self::DecompressedBytes => write!(
                f,
                "the bundles unpack to more than {} GiB",
                MAX_UNPACKED_BYTES >> 30
            ),
        }
    }
}

/// The search patterns; [`CodeScanner::start_candidate`] refers to their indexes. The ELF pattern
/// includes class, byte order and version, the wrappers their version 1 (clang, HIP code
/// generation, `__CudaFatBinaryWrapper`; rocm-kpack, "HIPK").
const PATTERNS: [&[u8]; 5] = [
    bundle::MAGIC,
    compressed_bundle::MAGIC,
    b"\x7fELF\x02\x01\x01",
    b"FPIH\x01\0\0\0",
    b"HIPK\x01\0\0\0",
];

/// Returns `true` for the patterns of fatbin wrappers.
fn is_wrapper(pattern: usize) -> bool {
    pattern > 2
}

/// A candidate for a code container. The layout of the file decides whether it is one.
#[derive(Debug)]
pub(super) struct CodeCandidate {
    pub(super) offset: u64,
    pub(super) kind: CandidateKind,
}

#[derive(Debug)]
pub(super) enum CandidateKind {
    Bundle(BundleReader),
    Compressed(Box<CompressedBundle>),
    InvalidCompressed(CompressedBundleError),
    Object { object: CodeObject, size: u64 },
}

#[derive(Debug)]
pub(super) struct CompressedBundle {
    pub(super) header: CompressedBundleHeader,
    pub(super) size_bytes: u64,
    pub(super) reader: BundleReader,
    pub(super) error: Option<CompressedBundleError>,
}

/// A fatbin wrapper: the record with which a library registers a bundle (clang, HIP code
/// generation).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FatbinWrapper {
    pub(super) offset: u64,
    pub(super) is_kpack: bool,
}

/// The candidates and wrappers of a file.
#[derive(Debug, Default)]
pub(super) struct ScanResults {
    pub(super) candidates: Vec<CodeCandidate>,
    pub(super) wrappers: Vec<FatbinWrapper>,
    pub(super) limits: BTreeSet<ScanLimit>,
    lookalikes: usize,
    entries: usize,
    decompressed: usize,
}

impl ScanResults {
    fn add(&mut self, offset: u64, kind: CandidateKind) {
        let (is_lookalike, entries) = match &kind {
            CandidateKind::Bundle(reader) => (reader.error().is_some(), reader.entries().len()),
            CandidateKind::Compressed(bundle) => (
                bundle.reader.error().is_some(),
                bundle.reader.entries().len(),
            ),
            CandidateKind::InvalidCompressed(_) => (true, 0),
            CandidateKind::Object { .. } => (false, 1),
        };
        if is_lookalike && self.lookalikes == MAX_LOOKALIKES {
            self.limits.insert(ScanLimit::Containers);
        } else if self.entries + entries > MAX_ENTRIES {
            self.limits.insert(ScanLimit::Entries);
        } else {
            self.lookalikes += usize::from(is_lookalike);
            self.entries += entries;
            self.candidates.push(CodeCandidate { offset, kind });
        }
    }

    /// Returns `true` if no further candidate may be started, which bounds the work for any file.
    fn is_full(&mut self) -> bool {
        if self.candidates.len() >= MAX_CONTAINERS || self.decompressed == MAX_CONTAINERS {
            self.limits.insert(ScanLimit::Containers);
            return true;
        }
        self.limits.contains(&ScanLimit::Entries)
    }
}

/// Searches for the patterns. The vector search takes a fifteenth of a second for half a gigabyte,
/// the automaton two seconds; only some processors support the former.
enum PatternSearcher {
    Vectors(packed::Searcher),
    Automaton(AhoCorasick),
}

static SEARCHER: LazyLock<PatternSearcher> = LazyLock::new(PatternSearcher::new);

impl PatternSearcher {
    fn new() -> Self {
        match packed::Config::new().builder().extend(PATTERNS).build() {
            Some(searcher) => Self::Vectors(searcher),
            None => Self::Automaton(AhoCorasick::new(PATTERNS).expect("five short patterns")),
        }
    }

    fn find(&self, bytes: &[u8]) -> Option<Match> {
        match self {
            Self::Vectors(searcher) => searcher.find(bytes),
            Self::Automaton(automaton) => automaton.find(bytes),
        }
    }
}

/// A streaming scanner of one file. The inventory does not depend on the sizes of the chunks.
pub struct CodeScanner {
    depth: ScanDepth,
    /// The bytes from `cursor` on that need more bytes after them.
    carry: Vec<u8>,
    /// Offset up to which the file was processed.
    cursor: u64,
    /// Offset from which patterns are searched.
    search_from: u64,
    bundles: Vec<(u64, BundleReader)>,
    decompressor: Option<(u64, BundleDecompressor)>,
    /// Number of bytes that may still be decompressed.
    pub(super) budget: u64,
    results: ScanResults,
}

/// Number of bytes after its first one that a candidate needs.
const LOOKAHEAD_BYTES: usize = CODE_OBJECT_HEADER_BYTES - 1;

impl CodeScanner {
    /// Creates a scanner for one file.
    pub fn new(depth: ScanDepth) -> Self {
        Self {
            depth,
            carry: Vec::new(),
            cursor: 0,
            search_from: 0,
            bundles: Vec::new(),
            decompressor: None,
            budget: MAX_UNPACKED_BYTES,
            results: ScanResults::default(),
        }
    }

    /// Consumes the next bytes of the file. Chunks that fit into the processor's cache, such as 256
    /// KiB, are fastest.
    pub fn feed(&mut self, bytes: &[u8]) {
        let base = self.cursor;
        if bytes.len() <= LOOKAHEAD_BYTES {
            self.carry.extend_from_slice(bytes);
            let window = std::mem::take(&mut self.carry);
            self.advance(&window, base, window.len().saturating_sub(LOOKAHEAD_BYTES));
            self.keep_rest(window, base);
            return;
        }
        let carried = self.carry.len();
        if carried > 0 {
            let mut seam = std::mem::take(&mut self.carry);
            seam.extend_from_slice(&bytes[..LOOKAHEAD_BYTES]);
            self.advance(&seam, base, carried);
            seam.clear();
            self.carry = seam;
        }
        let base = self.cursor;
        self.advance(bytes, base, bytes.len() - LOOKAHEAD_BYTES);
        self.carry
            .extend_from_slice(&bytes[bytes.len() - LOOKAHEAD_BYTES..]);
    }

    fn keep_rest(&mut self, mut window: Vec<u8>, base: u64) {
        let done = usize::try_from(self.cursor - base).unwrap_or(window.len());
        window.drain(..done);
        self.carry = window;
    }

    /// Returns `true` if there are candidates or wrappers.
    ///
    /// Call it after feeding all loaded bytes: if it returns `false`, the rest of the file cannot
    /// change the inventory and need not be fed.
    ///
    /// Text that only looks like a bundle counts if there are wrappers: then it may be a malformed
    /// bundle.
    pub fn has_candidates(&self) -> bool {
        let is_sound = |candidate: &CodeCandidate| match &candidate.kind {
            CandidateKind::Bundle(reader) => reader.error().is_none(),
            CandidateKind::Compressed(bundle) => bundle.reader.error().is_none(),
            CandidateKind::InvalidCompressed(_) => false,
            CandidateKind::Object { .. } => true,
        };
        self.results.candidates.iter().any(is_sound)
            || !self.results.wrappers.is_empty()
            || !self.bundles.is_empty()
            || self.decompressor.is_some()
            || SEARCHER.find(&self.carry).is_some()
    }

    /// Ends the scan. Returns the inventory for a file with this layout.
    pub fn finish(mut self, layout: &FileLayout) -> CodeInventory {
        let (window, base) = (std::mem::take(&mut self.carry), self.cursor);
        self.advance(&window, base, window.len());
        let bundles = std::mem::take(&mut self.bundles);
        for (offset, mut reader) in bundles {
            reader.finish();
            self.results.add(offset, CandidateKind::Bundle(reader));
        }
        if let Some((offset, decompressor)) = self.decompressor.take() {
            self.finish_decompressor(offset, decompressor);
        }
        filter_candidates(self.results, layout, self.cursor, self.depth)
    }

    /// Processes the first `length` bytes of the window, which starts at file offset `base`. The
    /// bytes after them are lookahead.
    fn advance(&mut self, window: &[u8], base: u64, length: usize) {
        let end = base + length as u64;
        let index = |position: u64| {
            usize::try_from(position - base)
                .unwrap_or(window.len())
                .min(window.len())
        };
        while self.cursor < end {
            // Stop at the next code object of a bundle: its contents are not searched.
            let heads = self
                .bundles
                .iter()
                .filter_map(|(start, reader)| reader.next_head_end()?.checked_add(*start));
            let stop = heads
                .filter(|head| *head > self.cursor)
                .min()
                .unwrap_or(end)
                .min(end);
            let hit = if self.search_from.max(self.cursor) < stop {
                let from = index(self.search_from.max(self.cursor));
                let reach = (index(stop) + bundle::MAGIC.len() - 1).min(window.len());
                let found = SEARCHER.find(&window[from..reach]);
                found
                    .map(|found| (from + found.start(), found.pattern().as_usize()))
                    .filter(|(at, _)| *at < index(stop))
            } else {
                None
            };
            let at = hit.map_or(stop, |(at, _)| base + at as u64);
            self.feed_readers(&window[index(self.cursor)..index(at)]);
            self.cursor = at;
            let Some((start, pattern)) = hit else {
                continue;
            };
            if self.search_from <= at {
                self.search_from = at + 1;
                // A truncated compressed bundle extends to the end of the file: wrappers after it
                // still count.
                if self.decompressor.is_none() || is_wrapper(pattern) {
                    self.start_candidate(
                        at,
                        pattern,
                        &window[start..window.len().min(start + CODE_OBJECT_HEADER_BYTES)],
                    );
                }
            }
        }
    }

    /// Feeds the bytes at the cursor to the active readers.
    fn feed_readers(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        for (start, reader) in &mut self.bundles {
            if let Some(end) = reader.feed(bytes) {
                self.search_from = self.search_from.max(start.saturating_add(end));
            }
        }
        while let Some(done) = self.bundles.iter().position(|(_, reader)| reader.is_done()) {
            let (offset, reader) = self.bundles.remove(done);
            self.results.add(offset, CandidateKind::Bundle(reader));
        }
        if let Some((_, decompressor)) = &mut self.decompressor {
            decompressor.feed(bytes, &mut self.budget);
            if decompressor.is_done()
                && let Some((offset, decompressor)) = self.decompressor.take()
            {
                self.finish_decompressor(offset, decompressor);
            }
        }
    }

    fn finish_decompressor(&mut self, offset: u64, decompressor: BundleDecompressor) {
        let (header, size_bytes) = (decompressor.header, decompressor.size_bytes());
        let (reader, error) = decompressor.into_parts();
        if error.is_none() {
            self.search_from = self.search_from.max(offset.saturating_add(size_bytes));
        }
        if error == Some(CompressedBundleError::LimitReached) {
            self.results.limits.insert(ScanLimit::DecompressedBytes);
        }
        self.results.add(
            offset,
            CandidateKind::Compressed(Box::new(CompressedBundle {
                header,
                size_bytes,
                reader,
                error,
            })),
        );
    }

    /// Starts the candidate or records the wrapper at a match of a pattern.
    fn start_candidate(&mut self, offset: u64, pattern: usize, head: &[u8]) {
        let is_wrapper = is_wrapper(pattern);
        if !is_wrapper && self.results.is_full() {
            return;
        }
        match pattern {
            0 if self.bundles.len() == MAX_OPEN_BUNDLES => {
                self.results.limits.insert(ScanLimit::OverlappingBundles);
            }
            0 => self
                .bundles
                .push((offset, BundleReader::new(BundleDepth::Headers))),
            1 => match CompressedBundleHeader::parse(head) {
                Ok(header) => {
                    self.results.decompressed += 1;
                    let depth = if self.depth == ScanDepth::Tables {
                        BundleDepth::Table
                    } else {
                        BundleDepth::Headers
                    };
                    self.decompressor = Some((offset, BundleDecompressor::new(header, depth)));
                }
                Err(error) => self
                    .results
                    .add(offset, CandidateKind::InvalidCompressed(error)),
            },
            2 if self
                .bundles
                .iter()
                .any(|(start, reader)| reader.begins_entry_at(offset - start)) => {}
            2 => {
                if let Some(object) = parse_code_object(head) {
                    self.results.add(
                        offset,
                        CandidateKind::Object {
                            object,
                            size: code_object_size(head),
                        },
                    );
                }
            }
            _ if self.results.wrappers.len() == MAX_WRAPPERS => {
                self.results.limits.insert(ScanLimit::Wrappers);
            }
            kind => self.results.wrappers.push(FatbinWrapper {
                offset,
                is_kpack: kind == 4,
            }),
        }
    }
}

/// Returns the size of a code object in bytes by its header: linkers write the section headers last
/// (gABI, `e_shoff`, `e_shentsize`, `e_shnum`).
fn code_object_size(head: &[u8]) -> u64 {
    let half = |at| super::little_endian::u16_at(head, at).map_or(0, u64::from);
    let sections = u64_at(head, 40).unwrap_or(0);
    sections
        .saturating_add(half(58) * half(60))
        .max(CODE_OBJECT_HEADER_BYTES as u64)
}

impl fmt::Debug for CodeScanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "CodeScanner({:?}, {} bytes, {} candidates)",
            self.depth,
            self.cursor,
            self.results.candidates.len()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_CONTAINERS, ScanLimit, ScanResults};

    /// Invalid compressed bundles count, too.
    #[test]
    fn compressed_bundles_are_unpacked_up_to_the_limit() {
        let limits = |unpacked: usize| {
            let mut results = ScanResults {
                decompressed: unpacked,
                ..ScanResults::default()
            };
            (
                results.is_full(),
                results.limits.into_iter().collect::<Vec<_>>(),
            )
        };
        assert_eq!(limits(MAX_CONTAINERS - 1), (false, vec![]));
        assert_eq!(limits(MAX_CONTAINERS), (true, vec![ScanLimit::Containers]));
    }
}
