//! A bundle as it passes by: its table first, then the beginning of each code object.

use super::bytes::u64_at;
use super::entry::{Entry, EntryId};
use super::flags::{HEAD_BYTES, parse_code_object};
use super::limits::{MAX_BUNDLE_ENTRIES, MAX_ID_BYTES};

/// Whether a file begins as a bundle, compressed or not.
pub fn is_bundle(head: &[u8]) -> bool {
    head.starts_with(MAGIC) || head.starts_with(super::compressed::MAGIC)
}

/// What every bundle begins with (clang, "Offload Bundler", "Bundled Binary File Layout").
pub(super) const MAGIC: &[u8; 24] = b"__CLANG_OFFLOAD_BUNDLE__";
/// The magic and the number of entries.
const HEADER_BYTES: usize = 32;
/// Offset, size and length of the id of an entry.
const FIELDS_BYTES: usize = 24;

/// Why bytes are no bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BundleFault {
    /// They do not begin as one.
    #[error("it does not begin as a bundle")]
    Magic,
    /// The number of entries is not from 1 to 4,096.
    #[error("its table claims {0} entries")]
    Count(u64),
    /// An id is empty or too long.
    #[error("entry {index} claims an id of {length} bytes")]
    IdLength {
        /// Which entry, from 0.
        index: usize,
        /// The length in bytes.
        length: u64,
    },
    /// An id is no text.
    #[error("the id of entry {0} is no text")]
    IdText(usize),
    /// The bytes end before the table does.
    #[error("it is cut off inside of its table")]
    Cut,
}

/// How much of a bundle is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reads {
    /// Its table.
    Table,
    /// The beginning of each code object too.
    Heads,
}

/// Reads one bundle from bytes in order, in pieces of any size.
#[derive(Debug)]
pub(super) struct BundleReader {
    position: u64,
    state: State,
    reads: Reads,
    /// The piece of the table that is being collected.
    field: Vec<u8>,
    entries: Vec<Entry>,
    /// The entries whose beginnings are wanted, by offset.
    wanted: Vec<usize>,
    next_wanted: usize,
    open: Vec<Head>,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Header,
    Fields {
        left: u64,
    },
    Id {
        left: u64,
        offset: u64,
        size: u64,
        length: usize,
    },
    Payload {
        table_end: u64,
    },
    Failed(BundleFault),
}

/// The beginning of an entry that is being collected.
#[derive(Debug)]
struct Head {
    entry: usize,
    bytes: Vec<u8>,
}

impl BundleReader {
    pub(super) fn new(reads: Reads) -> Self {
        Self {
            position: 0,
            state: State::Header,
            reads,
            field: Vec::new(),
            entries: Vec::new(),
            wanted: Vec::new(),
            next_wanted: 0,
            open: Vec::new(),
        }
    }

    /// The entries that the table has so far.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Why it is no bundle.
    pub(super) fn fault(&self) -> Option<BundleFault> {
        match self.state {
            State::Failed(fault) => Some(fault),
            _ => None,
        }
    }

    /// Where the table ends, as soon as it is read.
    pub(super) fn table_end(&self) -> Option<u64> {
        match self.state {
            State::Payload { table_end } => Some(table_end),
            _ => None,
        }
    }

    /// Whether nothing more is wanted.
    pub(super) fn is_done(&self) -> bool {
        match self.state {
            State::Failed(_) => true,
            State::Payload { .. } => self.open.is_empty() && self.next_wanted == self.wanted.len(),
            State::Header | State::Fields { .. } | State::Id { .. } => false,
        }
    }

    /// The position after which the next beginning of an entry is known.
    pub(super) fn next_head_end(&self) -> Option<u64> {
        let waiting = self.wanted.get(self.next_wanted);
        let open = self.open.iter().map(|head| head.entry);
        open.chain(waiting.copied())
            .map(|entry| self.head_end(entry))
            .min()
    }

    fn head_end(&self, entry: usize) -> u64 {
        let entry = &self.entries[entry];
        entry
            .offset
            .saturating_add(entry.size_bytes.min(HEAD_BYTES as u64))
    }

    /// Whether the next entry whose beginning is wanted begins at this position, where it stands.
    pub(super) fn begins_entry_at(&self, position: u64) -> bool {
        self.wanted
            .get(self.next_wanted)
            .is_some_and(|entry| self.entries[*entry].offset == position)
    }

    /// Takes the next bytes. Returns where the farthest of the code objects ends whose beginning
    /// was among them.
    pub(super) fn feed(&mut self, mut bytes: &[u8]) -> Option<u64> {
        while self.needs_table() && !bytes.is_empty() {
            let room = self.field_bytes() - self.field.len();
            let (taken, rest) = bytes.split_at(room.min(bytes.len()));
            self.field.extend_from_slice(taken);
            self.position += taken.len() as u64;
            bytes = rest;
            if self.field.len() == self.field_bytes() {
                self.state = self.take_field().unwrap_or_else(State::Failed);
                self.field.clear();
            }
        }
        self.feed_payload(bytes)
    }

    /// The bytes ended.
    pub(super) fn finish(&mut self) {
        if self.needs_table() {
            self.state = State::Failed(BundleFault::Cut);
        }
        self.open.clear();
        self.next_wanted = self.wanted.len();
    }

    fn needs_table(&self) -> bool {
        matches!(
            self.state,
            State::Header | State::Fields { .. } | State::Id { .. }
        )
    }

    fn field_bytes(&self) -> usize {
        match self.state {
            State::Header => HEADER_BYTES,
            State::Id { length, .. } => length,
            State::Fields { .. } | State::Payload { .. } | State::Failed(_) => FIELDS_BYTES,
        }
    }

    fn take_field(&mut self) -> Result<State, BundleFault> {
        let index = self.entries.len();
        let number = |at| u64_at(&self.field, at).unwrap_or_default();
        match self.state {
            State::Header if !self.field.starts_with(MAGIC) => Err(BundleFault::Magic),
            State::Header => match number(MAGIC.len()) {
                count @ 1..=MAX_BUNDLE_ENTRIES => Ok(State::Fields { left: count }),
                count => Err(BundleFault::Count(count)),
            },
            State::Fields { left } => match number(16) {
                length @ 1..=MAX_ID_BYTES => {
                    let length = usize::try_from(length).unwrap_or(usize::MAX);
                    Ok(State::Id {
                        left,
                        offset: number(0),
                        size: number(8),
                        length,
                    })
                }
                length => Err(BundleFault::IdLength { index, length }),
            },
            State::Id {
                left, offset, size, ..
            } => {
                let id = EntryId::parse(&self.field).ok_or(BundleFault::IdText(index))?;
                self.entries.push(Entry {
                    id: Some(id),
                    offset,
                    size_bytes: size,
                    object: None,
                });
                Ok(if left > 1 {
                    State::Fields { left: left - 1 }
                } else {
                    self.begin_payload()
                })
            }
            other => Ok(other),
        }
    }

    fn begin_payload(&mut self) -> State {
        let table_end = self.position;
        let has_code = |entry: &Entry| entry.is_device() && entry.offset >= table_end;
        if self.reads == Reads::Heads {
            self.wanted = (0..self.entries.len())
                .filter(|index| has_code(&self.entries[*index]))
                .collect();
        }
        self.wanted.sort_by_key(|index| self.entries[*index].offset);
        State::Payload { table_end }
    }

    fn feed_payload(&mut self, bytes: &[u8]) -> Option<u64> {
        let start = self.position;
        self.position = start.saturating_add(bytes.len() as u64);
        while let Some(&entry) = self.wanted.get(self.next_wanted)
            && self.entries[entry].offset < self.position
        {
            self.open.push(Head {
                entry,
                bytes: Vec::with_capacity(HEAD_BYTES),
            });
            self.next_wanted += 1;
        }
        let mut farthest = None;
        let entries = &mut self.entries;
        self.open.retain_mut(|head| {
            let entry = &mut entries[head.entry];
            let wanted = usize::try_from(entry.size_bytes)
                .unwrap_or(HEAD_BYTES)
                .min(HEAD_BYTES);
            let from =
                usize::try_from((entry.offset + head.bytes.len() as u64).saturating_sub(start))
                    .unwrap_or(usize::MAX);
            let there = bytes.get(from..).unwrap_or_default();
            head.bytes
                .extend_from_slice(&there[..there.len().min(wanted - head.bytes.len())]);
            if head.bytes.len() < wanted {
                return true;
            }
            entry.object = parse_code_object(&head.bytes);
            if entry.object.is_some() {
                farthest = farthest.max(entry.offset.checked_add(entry.size_bytes));
            }
            false
        });
        farthest
    }

    /// The entries and where the table ended, or why it is none.
    pub(super) fn into_parts(self) -> (Vec<Entry>, Result<u64, BundleFault>) {
        let table_end = match self.state {
            State::Payload { table_end } => Ok(table_end),
            State::Failed(fault) => Err(fault),
            State::Header | State::Fields { .. } | State::Id { .. } => Err(BundleFault::Cut),
        };
        (self.entries, table_end)
    }
}
