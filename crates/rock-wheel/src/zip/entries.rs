//! Writing many members: compressed in parallel, written in order.

use std::borrow::Cow;

use super::super::WheelError;
use super::super::ordered_parallel::{MemoryLimits, run_in_order};
use super::block_source::BlockSource;
use super::content::{LARGE_BYTES, MemberContent};
use super::encode::{BlockEncoding, EncodedBlock, encode};
use super::splice::BitBuffer;
use super::writer::OpenMember;
use super::{DosTime, MemberOptions, ZipArchive, ZipMember, ZipWriter};
use rock_names::Digest;

/// Memory per thread: the largest content that is compressed as a whole, its result, and the next
/// content.
const THREAD_BYTES: u64 = 3 * LARGE_BYTES;
/// Memory for all threads.
const TOTAL_BYTES: u64 = 256 << 20;

/// A member to write into a new archive.
#[derive(Debug, Clone)]
pub enum ZipEntry<'e> {
    /// A member of another archive, whose compressed bytes are copied unchanged.
    Copy {
        /// The archive to copy from.
        archive: &'e ZipArchive<'e>,
        /// The member to copy.
        member: &'e ZipMember,
        /// Its name in the new archive.
        name: Cow<'e, str>,
        /// Its modification time in the new archive.
        time: DosTime,
    },
    /// A member with new content.
    New {
        /// Its name.
        name: Cow<'e, str>,
        /// Its content.
        content: MemberContent<'e>,
        /// Mode, time and compression level.
        options: MemberOptions,
    },
}

/// An event reported while members are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteEvent {
    /// This many more bytes were copied, or read for a new member.
    BytesDone(u64),
    /// A new member was written.
    MemberWritten {
        /// Its name.
        name: String,
        /// SHA-256 of its content.
        sha256: Digest,
        /// Size of its content.
        size_bytes: u64,
    },
}

/// Writes members in the given order, and reports new ones in this order.
///
/// rayon's threads compress the contents, large ones in blocks. Memory use is bounded, and the
/// output does not depend on the number of threads.
///
/// # Errors
/// Fails if a content cannot be read or is damaged, a name is too long, or the target cannot be
/// written.
pub fn write_entries<'e>(
    writer: &mut ZipWriter<'_>,
    entries: impl Iterator<Item = ZipEntry<'e>>,
    mut report: impl FnMut(WriteEvent),
) -> Result<(), WheelError> {
    let mut source = BlockSource::new(entries, writer.write_ahead()?);
    let mut output = EntryOutput { writer, open: None };
    let limits = MemoryLimits {
        per_thread_bytes: THREAD_BYTES,
        total_bytes: TOTAL_BYTES,
    };
    run_in_order(
        limits,
        || source.next(),
        encode,
        |encoded| output.write(encoded?, &mut report),
    )
}

/// The archive being written, and its member that is not complete yet.
struct EntryOutput<'w, 't> {
    writer: &'w mut ZipWriter<'t>,
    open: Option<OpenEntry>,
}

/// A member of which some blocks are written.
struct OpenEntry {
    member: OpenMember,
    crc: crc32fast::Hasher,
    /// Bits of the last block that do not fill a byte.
    bits: BitBuffer,
}

impl EntryOutput<'_, '_> {
    fn write(
        &mut self,
        encoded: EncodedBlock<'_>,
        report: &mut impl FnMut(WriteEvent),
    ) -> Result<(), WheelError> {
        match encoded {
            EncodedBlock::Copy {
                archive,
                member,
                name,
                time,
            } => {
                self.writer.copy(archive, member, &name, time)?;
                report(WriteEvent::BytesDone(member.compressed_bytes()));
            }
            EncodedBlock::Whole {
                name,
                compressed,
                options,
                event,
            } => {
                self.writer.add_compressed(&name, &compressed, &options)?;
                report(WriteEvent::BytesDone(compressed.size_bytes()));
                report(event);
            }
            EncodedBlock::Prewritten {
                name,
                crc32,
                options,
                sha256,
                size_bytes,
            } => {
                self.writer
                    .add_prewritten(&name, size_bytes, crc32, &options)?;
                report(WriteEvent::BytesDone(size_bytes));
                report(WriteEvent::MemberWritten {
                    name: name.into_owned(),
                    sha256,
                    size_bytes,
                });
            }
            EncodedBlock::Block {
                block,
                size_bytes,
                crc,
            } => {
                if let Some((name, size_bytes, options)) = &block.head {
                    self.open = Some(OpenEntry {
                        member: self.writer.begin_member(name, *size_bytes, options)?,
                        crc: crc32fast::Hasher::new(),
                        bits: BitBuffer::default(),
                    });
                }
                let mut open = self.open.take().expect("the first block opens its member");
                match &block.encoding {
                    BlockEncoding::New { .. } => {
                        self.writer.write_data(&open.bits.align())?;
                        self.writer.write_data(&block.bytes)?;
                    }
                    BlockEncoding::Copied(bits) => {
                        open.bits.copy(bits, |data| self.writer.write_data(data))?;
                    }
                }
                open.crc.combine(&crc);
                report(WriteEvent::BytesDone(size_bytes));
                match block.last {
                    None => self.open = Some(open),
                    Some(event) => {
                        self.writer.end_member(open.member, open.crc.finalize())?;
                        report(event);
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::encode::CHUNK_BYTES;
    use super::*;
    use rock_bytes::ByteSink;
    use rock_bytes::has_same_content;
    use rock_sys::{FileError, OnExisting, PositionalFile, save};

    /// Writes some bytes, then an archive of these contents; returns the events of its members.
    fn written(contents: &[Vec<u8>], levels: &[u32], target: &mut dyn ByteSink) -> Vec<WriteEvent> {
        target.write_all(b"before").unwrap();
        let entries = contents
            .iter()
            .zip(levels)
            .enumerate()
            .map(|(at, (content, &level))| ZipEntry::New {
                name: format!("member {at}").into(),
                content: MemberContent::Source(content),
                options: MemberOptions {
                    level,
                    ..MemberOptions::default()
                },
            });
        let (mut writer, mut events) = (ZipWriter::new(target), Vec::new());
        write_entries(&mut writer, entries, |one| {
            events.extend(matches!(one, WriteEvent::MemberWritten { .. }).then_some(one));
        })
        .unwrap();
        writer.finish().unwrap();
        events
    }

    #[test]
    fn prewritten_members_are_where_writing_in_order_puts_them() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("archive");
        let sizes = [
            0,
            9,
            CHUNK_BYTES,
            CHUNK_BYTES + 1,
            3 * CHUNK_BYTES + 7,
            9 << 20,
            5,
        ];
        let contents: Vec<Vec<u8>> = sizes
            .iter()
            .map(|&size| (0..=250_u8).cycle().take(size).collect())
            .collect();
        for levels in [[0; 7], [0, 0, 0, 0, 6, 0, 0]] {
            let mut expected = Vec::new();
            let expected_events = written(&contents, &levels, &mut expected);
            let mut events = Vec::new();
            save::<FileError>(&path, OnExisting::Replace, |target| {
                events = written(&contents, &levels, target);
                Ok(())
            })
            .unwrap();
            assert_eq!(events, expected_events);
            assert!(has_same_content(&PositionalFile::open(&path).unwrap(), &expected).unwrap());
        }
    }
}
