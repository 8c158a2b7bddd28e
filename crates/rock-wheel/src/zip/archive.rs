//! A zip archive that is opened for reading.

use std::io::Read;

use super::super::WheelError;
use super::archive_rules::{check_layout, check_paths, removable_violations};
use super::central::read_central;
use super::eocd::read_eocd;
use super::local::check_local_header;
use super::member_reader::MemberReader;
use super::{ArchiveViolation, ContentObserver, ZipMember};
use rock_bytes::{CHUNK_BYTES, ReadAt, tee_to_thread};

/// Members larger than this are streamed to another thread: reading takes much longer than starting
/// it.
const LONG_BYTES: u64 = 4 << 20;

/// A zip archive; opening checks all of its headers.
///
/// ```
/// use rock_wheel::{MemberOptions, ZipArchive, ZipWriter};
/// let mut bytes = Vec::new();
/// let mut writer = ZipWriter::new(&mut bytes);
/// writer.add("a/b.txt", b"content", &MemberOptions::default())?;
/// writer.finish()?;
/// let archive = ZipArchive::open(&bytes)?;
/// let member = archive.member("a/b.txt").unwrap();
/// assert_eq!(archive.read(member, 100)?, b"content");
/// # Ok::<(), rock_wheel::WheelError>(())
/// ```
pub struct ZipArchive<'a> {
    source: &'a dyn ReadAt,
    members: Vec<ZipMember>,
    /// Indices into `members`, sorted by name.
    by_name: Vec<usize>,
    comment: Vec<u8>,
}

impl<'a> ZipArchive<'a> {
    /// Reads and checks the headers of all members, but not their data.
    ///
    /// # Errors
    /// Fails if it is not a zip archive, a structure is damaged, or a member has something that
    /// wheels must not have, such as encryption, a symbolic link or an unsafe name.
    pub fn open(source: &'a dyn ReadAt) -> Result<Self, WheelError> {
        let end = read_eocd(source)?;
        let mut members = read_central(source, &end)?;
        let mut by_name: Vec<usize> = (0..members.len()).collect();
        by_name.sort_by(|one, other| members[*one].name.cmp(&members[*other].name));
        if let Some(pair) = by_name
            .windows(2)
            .find(|pair| members[pair[0]].name == members[pair[1]].name)
        {
            return Err(WheelError::DuplicateMember {
                member: members[pair[0]].name.clone(),
            });
        }
        for member in &mut members {
            check_local_header(source, member, end.offset)?;
        }
        check_layout(source, &members, end.offset)?;
        check_paths(by_name.iter().map(|index| &members[*index]))?;
        Ok(Self {
            source,
            members,
            by_name,
            comment: end.comment,
        })
    }

    /// Returns the members in the order of the central directory.
    pub fn members(&self) -> &[ZipMember] {
        &self.members
    }

    /// Returns the member with this name.
    pub fn member(&self, name: &str) -> Option<&ZipMember> {
        let position = self
            .by_name
            .binary_search_by(|index| self.members[*index].name.as_str().cmp(name))
            .ok()?;
        Some(&self.members[self.by_name[position]])
    }

    /// Returns the members sorted by name.
    pub fn members_by_name(&self) -> impl Iterator<Item = &ZipMember> {
        self.by_name.iter().map(|index| &self.members[*index])
    }

    /// Returns the comment of the archive.
    pub fn comment(&self) -> &[u8] {
        &self.comment
    }

    /// Returns the violations of installers' or PyPI's rules that disappear when the members are
    /// copied to a new archive.
    pub fn removable_violations(&self) -> impl Iterator<Item = ArchiveViolation> {
        self.members.iter().flat_map(removable_violations)
    }

    /// Returns whether copying the members to a new archive removes something that installers or
    /// PyPI refuse.
    pub fn needs_rewriting(&self) -> bool {
        self.removable_violations().next().is_some()
            || self.members.iter().any(ZipMember::has_inexact_zip64)
    }

    /// Returns the bytes of the archive.
    pub fn source(&self) -> &'a dyn ReadAt {
        self.source
    }

    /// Returns a reader of a member's content, which checks size and CRC-32 at the end.
    pub fn reader<'m>(&'m self, member: &'m ZipMember) -> MemberReader<'m> {
        MemberReader::new(self.source, member)
    }

    /// Passes the content of a member to an observer in chunks, and checks size and CRC-32 at the
    /// end.
    ///
    /// A large member is inflated in the calling thread while the observer runs in another one, so
    /// that hashing adds no time.
    ///
    /// # Errors
    /// Fails if the content is damaged or cannot be read. The observer has then seen the content
    /// before the error.
    pub fn stream(
        &self,
        member: &ZipMember,
        observer: &mut ContentObserver<'_>,
    ) -> Result<(), WheelError> {
        let reader = self.reader(member);
        if member.size_bytes <= LONG_BYTES {
            let length = usize::try_from(member.size_bytes)
                .unwrap_or(CHUNK_BYTES)
                .clamp(1, CHUNK_BYTES);
            return reader.for_each_chunk(&mut vec![0; length], observer);
        }
        tee_to_thread(observer, |sender| reader.send_to(sender))
    }

    /// Reads the whole content of a small member.
    ///
    /// # Errors
    /// Fails if it is larger than `limit_bytes`, or is damaged or cannot be read.
    pub fn read(&self, member: &ZipMember, limit_bytes: u64) -> Result<Vec<u8>, WheelError> {
        if member.size_bytes > limit_bytes {
            let (member, size_bytes) = (member.name.clone(), member.size_bytes);
            return Err(WheelError::MemberTooLarge {
                member,
                size_bytes,
                limit_bytes,
            });
        }
        // The size is only a claim, but within the limit; memory that is not filled stays unused.
        let mut content =
            Vec::with_capacity(usize::try_from(member.size_bytes).unwrap_or_default());
        let mut reader = self.reader(member);
        reader
            .read_to_end(&mut content)
            .map_err(|error| reader.wheel_error(error))?;
        Ok(content)
    }
}

impl std::fmt::Debug for ZipArchive<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "ZipArchive({} members, {} bytes)",
            self.members.len(),
            self.source.size_bytes()
        )
    }
}
