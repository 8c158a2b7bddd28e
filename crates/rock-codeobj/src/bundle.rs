//! Offload bundles, read as a stream: the table first, then the ELF header of each code object.

use super::code_object::{CODE_OBJECT_HEADER_BYTES, parse_code_object};
use super::entry::{BundleEntryId, ContainerEntry};
use super::limits::{MAX_BUNDLE_ENTRIES, MAX_ID_BYTES};
use super::little_endian::u64_at;

/// Returns `true` if the first bytes of a file are the magic of an offload bundle or of a CCOB.
pub fn is_bundle(head: &[u8]) -> bool {
    head.starts_with(MAGIC) || head.starts_with(super::compressed_bundle::MAGIC)
}

/// The magic of offload bundles (clang, "Offload Bundler", "Bundled Binary File Layout").
pub(super) const MAGIC: &[u8; 24] = b"__CLANG_OFFLOAD_BUNDLE__";
/// Size of the magic and the number of entries, in bytes.
const HEADER_BYTES: usize = 32;
/// Size of the offset, size and ID length of an entry, in bytes.
const FIELDS_BYTES: usize = 24;

/// An error in the table of an offload bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BundleError {
    /// The magic is missing.
    #[error("it does not start like a bundle")]
    BadMagic,
    /// The number of entries is not in the range 1 to 4,096.
    #[error("its table claims {0} entries")]
    EntryCount(u64),
    /// An entry ID is empty or too long.
    #[error("entry {index} claims an id of {length} bytes")]
    IdLength {
        /// Index of the entry, from 0.
        index: usize,
        /// Length of the ID, in bytes.
        length: u64,
    },
    /// An entry ID is not printable ASCII.
    #[error("the id of entry {0} is not valid text")]
    IdEncoding(usize),
    /// The table is truncated.
    #[error("it is truncated inside its table")]
    Truncated,
}

/// The depth to which a bundle is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BundleDepth {
    /// The table only.
    Table,
    /// Also the ELF header of each code object.
    Headers,
}

/// A streaming reader of one offload bundle, fed with chunks of any size.
#[derive(Debug)]
pub(super) struct BundleReader {
    position: u64,
    state: BundleState,
    depth: BundleDepth,
    /// The incomplete field of the table.
    field: Vec<u8>,
    entries: Vec<ContainerEntry>,
    /// Indexes of the entries whose ELF headers are read, sorted by offset.
    pending: Vec<usize>,
    next_pending: usize,
    open: Vec<PartialHeader>,
}

#[derive(Debug, Clone, Copy)]
enum BundleState {
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
    Failed(BundleError),
}

/// The incomplete ELF header of an entry.
#[derive(Debug)]
struct PartialHeader {
    entry: usize,
    bytes: Vec<u8>,
}

impl BundleReader {
    pub(super) fn new(depth: BundleDepth) -> Self {
        Self {
            position: 0,
            state: BundleState::Header,
            depth,
            field: Vec::new(),
            entries: Vec::new(),
            pending: Vec::new(),
            next_pending: 0,
            open: Vec::new(),
        }
    }

    /// Returns the entries that were read so far.
    pub(super) fn entries(&self) -> &[ContainerEntry] {
        &self.entries
    }

    /// Returns the error that ended the table, if any.
    pub(super) fn error(&self) -> Option<BundleError> {
        match self.state {
            BundleState::Failed(error) => Some(error),
            _ => None,
        }
    }

    /// Returns the offset of the end of the table after it was read.
    pub(super) fn table_end(&self) -> Option<u64> {
        match self.state {
            BundleState::Payload { table_end } => Some(table_end),
            _ => None,
        }
    }

    /// Returns `true` if no more bytes are needed.
    pub(super) fn is_done(&self) -> bool {
        match self.state {
            BundleState::Failed(_) => true,
            BundleState::Payload { .. } => {
                self.open.is_empty() && self.next_pending == self.pending.len()
            }
            BundleState::Header | BundleState::Fields { .. } | BundleState::Id { .. } => false,
        }
    }

    /// Returns the offset at which the next ELF header is complete.
    pub(super) fn next_head_end(&self) -> Option<u64> {
        let waiting = self.pending.get(self.next_pending);
        let open = self.open.iter().map(|head| head.entry);
        open.chain(waiting.copied())
            .map(|entry| self.head_end(entry))
            .min()
    }

    fn head_end(&self, entry: usize) -> u64 {
        let entry = &self.entries[entry];
        entry
            .offset
            .saturating_add(entry.size_bytes.min(CODE_OBJECT_HEADER_BYTES as u64))
    }

    /// Returns `true` if the next entry whose ELF header is needed starts at this offset.
    pub(super) fn begins_entry_at(&self, position: u64) -> bool {
        self.pending
            .get(self.next_pending)
            .is_some_and(|entry| self.entries[*entry].offset == position)
    }

    /// Consumes the next bytes. Returns the largest end offset of the code objects whose headers
    /// became complete.
    pub(super) fn feed(&mut self, mut bytes: &[u8]) -> Option<u64> {
        while self.needs_table() && !bytes.is_empty() {
            let room = self.field_bytes() - self.field.len();
            let (taken, rest) = bytes.split_at(room.min(bytes.len()));
            self.field.extend_from_slice(taken);
            self.position += taken.len() as u64;
            bytes = rest;
            if self.field.len() == self.field_bytes() {
                self.state = self.take_field().unwrap_or_else(BundleState::Failed);
                self.field.clear();
            }
        }
        self.feed_payload(bytes)
    }

    /// Ends the stream: a missing rest of the table is an error.
    pub(super) fn finish(&mut self) {
        if self.needs_table() {
            self.state = BundleState::Failed(BundleError::Truncated);
        }
        self.open.clear();
        self.next_pending = self.pending.len();
    }

    fn needs_table(&self) -> bool {
        matches!(
            self.state,
            BundleState::Header | BundleState::Fields { .. } | BundleState::Id { .. }
        )
    }

    fn field_bytes(&self) -> usize {
        match self.state {
            BundleState::Header => HEADER_BYTES,
            BundleState::Id { length, .. } => length,
            BundleState::Fields { .. } | BundleState::Payload { .. } | BundleState::Failed(_) => {
                FIELDS_BYTES
            }
        }
    }

    fn take_field(&mut self) -> Result<BundleState, BundleError> {
        let index = self.entries.len();
        let number = |at| u64_at(&self.field, at).unwrap_or_default();
        match self.state {
            BundleState::Header if !self.field.starts_with(MAGIC) => Err(BundleError::BadMagic),
            BundleState::Header => match number(MAGIC.len()) {
                count @ 1..=MAX_BUNDLE_ENTRIES => Ok(BundleState::Fields { left: count }),
                count => Err(BundleError::EntryCount(count)),
            },
            BundleState::Fields { left } => match number(16) {
                length @ 1..=MAX_ID_BYTES => {
                    let length = usize::try_from(length).unwrap_or(usize::MAX);
                    Ok(BundleState::Id {
                        left,
                        offset: number(0),
                        size: number(8),
                        length,
                    })
                }
                length => Err(BundleError::IdLength { index, length }),
            },
            BundleState::Id {
                left, offset, size, ..
            } => {
                let id = BundleEntryId::parse(&self.field).ok_or(BundleError::IdEncoding(index))?;
                self.entries.push(ContainerEntry {
                    id: Some(id),
                    offset,
                    size_bytes: size,
                    object: None,
                });
                Ok(if left > 1 {
                    BundleState::Fields { left: left - 1 }
                } else {
                    self.begin_payload()
                })
            }
            other => Ok(other),
        }
    }

    fn begin_payload(&mut self) -> BundleState {
        let table_end = self.position;
        let has_code = |entry: &ContainerEntry| entry.is_device() && entry.offset >= table_end;
        if self.depth == BundleDepth::Headers {
            self.pending = (0..self.entries.len())
                .filter(|index| has_code(&self.entries[*index]))
                .collect();
        }
        self.pending
            .sort_by_key(|index| self.entries[*index].offset);
        BundleState::Payload { table_end }
    }

    fn feed_payload(&mut self, bytes: &[u8]) -> Option<u64> {
        let start = self.position;
        self.position = start.saturating_add(bytes.len() as u64);
        while let Some(&entry) = self.pending.get(self.next_pending)
            && self.entries[entry].offset < self.position
        {
            self.open.push(PartialHeader {
                entry,
                bytes: Vec::with_capacity(CODE_OBJECT_HEADER_BYTES),
            });
            self.next_pending += 1;
        }
        let mut farthest = None;
        let entries = &mut self.entries;
        self.open.retain_mut(|head| {
            let entry = &mut entries[head.entry];
            let wanted = usize::try_from(entry.size_bytes)
                .unwrap_or(CODE_OBJECT_HEADER_BYTES)
                .min(CODE_OBJECT_HEADER_BYTES);
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

    /// Returns the entries, and the end offset of the table or its error.
    pub(super) fn into_parts(self) -> (Vec<ContainerEntry>, Result<u64, BundleError>) {
        let table_end = match self.state {
            BundleState::Payload { table_end } => Ok(table_end),
            BundleState::Failed(error) => Err(error),
            BundleState::Header | BundleState::Fields { .. } | BundleState::Id { .. } => {
                Err(BundleError::Truncated)
            }
        };
        (self.entries, table_end)
    }
}
