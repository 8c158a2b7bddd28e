//! Finding code for GPUs in a file while its bytes pass by.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, Match, packed};

use super::bundle::{self, BundleReader, Reads};
use super::bytes::u64_at;
use super::compressed::{self, CompressedFault, CompressedHeader, Unpacker};
use super::flags::{CodeObject, HEAD_BYTES, parse_code_object};
use super::inventory::Inventory;
use super::judge::judge;
use super::layout::FileLayout;
use super::limits::{
    MAX_BAITS, MAX_CONTAINERS, MAX_ENTRIES, MAX_OPEN_BUNDLES, MAX_UNPACKED_BYTES, MAX_WRAPPERS,
};

/// How much of the code is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// The tables of bundles; of compressed ones nothing more is unpacked, so that the headers of
    /// their code objects are not known.
    Tables,
    /// The header of every code object too.
    Everything,
}

/// A bound that was met: what came after it is missing from the inventory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Limit {
    /// More bundles overlap than are read at once.
    OverlappingBundles,
    /// More bundles and code objects than are counted.
    Containers,
    /// More entries of bundles than are counted.
    Entries,
    /// More wrappers than are counted.
    Wrappers,
    /// More unpacked bytes than are read of one file.
    Unpacked,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OverlappingBundles => write!(f, "more than {MAX_OPEN_BUNDLES} bundles overlap"),
            Self::Containers => write!(
                f,
                "there are more than {MAX_CONTAINERS} bundles and code objects"
            ),
            Self::Entries => write!(f, "the bundles have more than {MAX_ENTRIES} entries"),
            Self::Wrappers => write!(f, "there are more than {MAX_WRAPPERS} wrappers"),
            Self::Unpacked => write!(
                f,
                "the bundles unpack to more than {} GiB",
                MAX_UNPACKED_BYTES >> 30
            ),
        }
    }
}

/// What is looked for, in the order of the patterns. The ELF pattern has class, byte order and
/// version, the wrappers have their version 1 (clang, HIP code generation,
/// `__CudaFatBinaryWrapper`; rocm-kpack, "HIPK").
const PATTERNS: [&[u8]; 5] = [
    bundle::MAGIC,
    compressed::MAGIC,
    b"\x7fELF\x02\x01\x01",
    b"FPIH\x01\0\0\0",
    b"HIPK\x01\0\0\0",
];

/// Whether a pattern begins a wrapper.
fn is_wrapper(pattern: usize) -> bool {
    pattern > 2
}

/// Something that was found; whether it counts is known with the layout only.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) offset: u64,
    pub(super) what: Found,
}

#[derive(Debug)]
pub(super) enum Found {
    Bundle(BundleReader),
    Compressed(Box<CompressedBundle>),
    NotCompressed(CompressedFault),
    Object { object: CodeObject, size: u64 },
}

#[derive(Debug)]
pub(super) struct CompressedBundle {
    pub(super) header: CompressedHeader,
    pub(super) size_bytes: u64,
    pub(super) reader: BundleReader,
    pub(super) fault: Option<CompressedFault>,
}

/// A wrapper: the record by which a library registers a bundle (clang, HIP code generation).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wrapper {
    pub(super) offset: u64,
    pub(super) is_kpack: bool,
}

/// Everything that was found in a file.
#[derive(Debug, Default)]
pub(super) struct Finds {
    pub(super) candidates: Vec<Candidate>,
    pub(super) wrappers: Vec<Wrapper>,
    pub(super) limits: BTreeSet<Limit>,
    baits: usize,
    entries: usize,
    unpacked: usize,
}

impl Finds {
    fn add(&mut self, offset: u64, what: Found) {
        let (is_bait, entries) = match &what {
            Found::Bundle(reader) => (reader.fault().is_some(), reader.entries().len()),
            Found::Compressed(bundle) => (
                bundle.reader.fault().is_some(),
                bundle.reader.entries().len(),
            ),
            Found::NotCompressed(_) => (true, 0),
            Found::Object { .. } => (false, 1),
        };
        if is_bait && self.baits == MAX_BAITS {
            self.limits.insert(Limit::Containers);
        } else if self.entries + entries > MAX_ENTRIES {
            self.limits.insert(Limit::Entries);
        } else {
            self.baits += usize::from(is_bait);
            self.entries += entries;
            self.candidates.push(Candidate { offset, what });
        }
    }

    /// Whether nothing more is begun: whatever the file says, the work that it makes has an end.
    fn is_full(&mut self) -> bool {
        if self.candidates.len() >= MAX_CONTAINERS || self.unpacked == MAX_CONTAINERS {
            self.limits.insert(Limit::Containers);
            return true;
        }
        self.limits.contains(&Limit::Entries)
    }
}

/// Finds the patterns. The vector search goes over half a gigabyte in a fifteenth of a second, the
/// automaton in two seconds; only some processors have the former.
enum Finder {
    Vectors(packed::Searcher),
    Automaton(AhoCorasick),
}

/// The same for every file.
static FINDER: LazyLock<Finder> = LazyLock::new(Finder::new);

impl Finder {
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

/// Looks at one file. The same bytes in pieces of any size give the same inventory.
pub struct Scanner {
    depth: Depth,
    /// The bytes from `cursor` on that wait for those after them.
    carry: Vec<u8>,
    /// Up to where all was looked at.
    cursor: u64,
    /// From where on patterns are looked for.
    search_from: u64,
    bundles: Vec<(u64, BundleReader)>,
    unpacker: Option<(u64, Unpacker)>,
    /// The remaining bytes that may be unpacked.
    pub(super) budget: u64,
    finds: Finds,
}

/// What is found is looked at when so many bytes from its first on are there.
const AHEAD: usize = HEAD_BYTES - 1;

impl Scanner {
    /// A scanner for one file.
    pub fn new(depth: Depth) -> Self {
        Self {
            depth,
            carry: Vec::new(),
            cursor: 0,
            search_from: 0,
            bundles: Vec::new(),
            unpacker: None,
            budget: MAX_UNPACKED_BYTES,
            finds: Finds::default(),
        }
    }

    /// Takes the next bytes of the file. Pieces that stay in the cache of the processor, such as
    /// 256 KiB, are fastest.
    pub fn feed(&mut self, bytes: &[u8]) {
        let base = self.cursor;
        if bytes.len() <= AHEAD {
            self.carry.extend_from_slice(bytes);
            let window = std::mem::take(&mut self.carry);
            self.advance(&window, base, window.len().saturating_sub(AHEAD));
            self.keep(window, base);
            return;
        }
        let carried = self.carry.len();
        if carried > 0 {
            let mut seam = std::mem::take(&mut self.carry);
            seam.extend_from_slice(&bytes[..AHEAD]);
            self.advance(&seam, base, carried);
            seam.clear();
            self.carry = seam;
        }
        let base = self.cursor;
        self.advance(bytes, base, bytes.len() - AHEAD);
        self.carry.extend_from_slice(&bytes[bytes.len() - AHEAD..]);
    }

    fn keep(&mut self, mut window: Vec<u8>, base: u64) {
        let done = usize::try_from(self.cursor - base).unwrap_or(window.len());
        window.drain(..done);
        self.carry = window;
    }

    /// Whether there is anything to judge. Asked after the bytes that are loaded into memory: if
    /// not, the rest of the file holds nothing that counts, and need not be fed.
    ///
    /// Text that only looks like a bundle counts where there are wrappers: then it may be a damaged
    /// bundle.
    pub fn has_candidates(&self) -> bool {
        let is_sound = |candidate: &Candidate| match &candidate.what {
            Found::Bundle(reader) => reader.fault().is_none(),
            Found::Compressed(bundle) => bundle.reader.fault().is_none(),
            Found::NotCompressed(_) => false,
            Found::Object { .. } => true,
        };
        self.finds.candidates.iter().any(is_sound)
            || !self.finds.wrappers.is_empty()
            || !self.bundles.is_empty()
            || self.unpacker.is_some()
            || FINDER.find(&self.carry).is_some()
    }

    /// What counts of it all, now that the layout of the file is known.
    pub fn finish(mut self, layout: &FileLayout) -> Inventory {
        let (window, base) = (std::mem::take(&mut self.carry), self.cursor);
        self.advance(&window, base, window.len());
        let bundles = std::mem::take(&mut self.bundles);
        for (offset, mut reader) in bundles {
            reader.finish();
            self.finds.add(offset, Found::Bundle(reader));
        }
        if let Some((offset, unpacker)) = self.unpacker.take() {
            self.close(offset, unpacker);
        }
        judge(self.finds, layout, self.cursor, self.depth)
    }

    /// Looks at the first `length` bytes of the window, which begins at `base`. The bytes after
    /// them are there to be seen only.
    fn advance(&mut self, window: &[u8], base: u64, length: usize) {
        let end = base + length as u64;
        let index = |position: u64| {
            usize::try_from(position - base)
                .unwrap_or(window.len())
                .min(window.len())
        };
        while self.cursor < end {
            // Up to the next code object of a bundle: what lies inside of that is not searched.
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
                let found = FINDER.find(&window[from..reach]);
                found
                    .map(|found| (from + found.start(), found.pattern().as_usize()))
                    .filter(|(at, _)| *at < index(stop))
            } else {
                None
            };
            let at = hit.map_or(stop, |(at, _)| base + at as u64);
            self.pass(&window[index(self.cursor)..index(at)]);
            self.cursor = at;
            let Some((start, pattern)) = hit else {
                continue;
            };
            if self.search_from <= at {
                self.search_from = at + 1;
                // Where a compressed bundle is cut off, nothing but its file ends it: the wrappers
                // behind it count.
                if self.unpacker.is_none() || is_wrapper(pattern) {
                    self.begin(
                        at,
                        pattern,
                        &window[start..window.len().min(start + HEAD_BYTES)],
                    );
                }
            }
        }
    }

    /// Lets the bytes from the cursor on pass by what is being read.
    fn pass(&mut self, bytes: &[u8]) {
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
            self.finds.add(offset, Found::Bundle(reader));
        }
        if let Some((_, unpacker)) = &mut self.unpacker {
            unpacker.feed(bytes, &mut self.budget);
            if unpacker.is_done()
                && let Some((offset, unpacker)) = self.unpacker.take()
            {
                self.close(offset, unpacker);
            }
        }
    }

    fn close(&mut self, offset: u64, unpacker: Unpacker) {
        let (header, size_bytes) = (unpacker.header, unpacker.size_bytes());
        let (reader, fault) = unpacker.into_parts();
        if fault.is_none() {
            self.search_from = self.search_from.max(offset.saturating_add(size_bytes));
        }
        if fault == Some(CompressedFault::Bound) {
            self.finds.limits.insert(Limit::Unpacked);
        }
        self.finds.add(
            offset,
            Found::Compressed(Box::new(CompressedBundle {
                header,
                size_bytes,
                reader,
                fault,
            })),
        );
    }

    /// Looks at what a pattern was found in.
    fn begin(&mut self, offset: u64, pattern: usize, head: &[u8]) {
        let is_wrapper = is_wrapper(pattern);
        if !is_wrapper && self.finds.is_full() {
            return;
        }
        match pattern {
            0 if self.bundles.len() == MAX_OPEN_BUNDLES => {
                self.finds.limits.insert(Limit::OverlappingBundles);
            }
            0 => self.bundles.push((offset, BundleReader::new(Reads::Heads))),
            1 => match CompressedHeader::parse(head) {
                Ok(header) => {
                    self.finds.unpacked += 1;
                    let reads = if self.depth == Depth::Tables {
                        Reads::Table
                    } else {
                        Reads::Heads
                    };
                    self.unpacker = Some((offset, Unpacker::new(header, reads)));
                }
                Err(fault) => self.finds.add(offset, Found::NotCompressed(fault)),
            },
            2 if self
                .bundles
                .iter()
                .any(|(start, reader)| reader.begins_entry_at(offset - start)) => {}
            2 => {
                if let Some(object) = parse_code_object(head) {
                    self.finds.add(
                        offset,
                        Found::Object {
                            object,
                            size: object_bytes(head),
                        },
                    );
                }
            }
            _ if self.finds.wrappers.len() == MAX_WRAPPERS => {
                self.finds.limits.insert(Limit::Wrappers);
            }
            kind => self.finds.wrappers.push(Wrapper {
                offset,
                is_kpack: kind == 4,
            }),
        }
    }
}

/// How large a code object is by its own header: linkers write the section headers last (gABI,
/// `e_shoff`, `e_shentsize`, `e_shnum`).
fn object_bytes(head: &[u8]) -> u64 {
    let half = |at| super::bytes::u16_at(head, at).map_or(0, u64::from);
    let sections = u64_at(head, 40).unwrap_or(0);
    sections
        .saturating_add(half(58) * half(60))
        .max(HEAD_BYTES as u64)
}

impl fmt::Debug for Scanner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Scanner({:?}, {} bytes, {} candidates)",
            self.depth,
            self.cursor,
            self.finds.candidates.len()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{Finds, Limit, MAX_CONTAINERS};

    /// Compressed bundles are unpacked up to the limit, whatever becomes of them.
    #[test]
    fn compressed_bundles_are_unpacked_up_to_the_limit() {
        let limits = |unpacked: usize| {
            let mut finds = Finds {
                unpacked,
                ..Finds::default()
            };
            (
                finds.is_full(),
                finds.limits.into_iter().collect::<Vec<_>>(),
            )
        };
        assert_eq!(limits(MAX_CONTAINERS - 1), (false, vec![]));
        assert_eq!(limits(MAX_CONTAINERS), (true, vec![Limit::Containers]));
    }
}
