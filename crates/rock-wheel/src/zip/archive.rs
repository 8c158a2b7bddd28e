//! An archive opened for reading.

use std::io::Read;

use super::super::WheelError;
use super::archive_rules::{check_layout, check_paths, removable_violations};
use super::central::read_central;
use super::eocd::read_eocd;
use super::local::check_local_header;
use super::member_reader::MemberReader;
use super::{ArchiveViolation, ContentObserver, ZipMember};
use rock_bytes::{PIECE_BYTES, ReadAt, beside};

/// A member of this size takes much longer to read than a thread to start.
const LONG_BYTES: u64 = 4 << 20;

/// A zip archive whose every header was checked.
///
/// ```
/// use rock_wheel::{Archive, ZipWriter, zip::NewMember};
/// let mut bytes = Vec::new();
/// let mut writer = ZipWriter::new(&mut bytes);
/// writer.add("a/b.txt", b"content", &NewMember::default())?;
/// writer.finish()?;
/// let archive = Archive::open(&bytes)?;
/// let member = archive.member("a/b.txt").unwrap();
/// assert_eq!(archive.read(member, 100)?, b"content");
/// # Ok::<(), rock_wheel::WheelError>(())
/// ```
pub struct ZipArchive<'a> {
    source: &'a dyn ReadAt,
    members: Vec<ZipMember>,
    /// Positions in `members`, by name.
    by_name: Vec<usize>,
    comment: Vec<u8>,
}

impl<'a> ZipArchive<'a> {
    /// Reads and checks the headers of all members; their data is not looked at.
    ///
    /// # Errors
    /// When it is no zip archive, when a structure is damaged, and for everything that a wheel may
    /// not have.
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
        check_paths(by_name.iter().map(|at| &members[*at]))?;
        Ok(Self {
            source,
            members,
            by_name,
            comment: end.comment,
        })
    }

    /// The members in the order of the central directory.
    pub fn members(&self) -> &[ZipMember] {
        &self.members
    }

    /// The member of this name.
    pub fn member(&self, name: &str) -> Option<&ZipMember> {
        let found = self
            .by_name
            .binary_search_by(|at| self.members[*at].name.as_str().cmp(name))
            .ok()?;
        Some(&self.members[self.by_name[found]])
    }

    /// Members sorted by name.
    pub fn members_by_name(&self) -> impl Iterator<Item = &ZipMember> {
        self.by_name.iter().map(|at| &self.members[*at])
    }

    /// The comment of the archive.
    pub fn comment(&self) -> &[u8] {
        &self.comment
    }

    /// Returns what installers or PyPI refuse about members, and what is put right where the
    /// archive is written again.
    pub fn removable_violations(&self) -> impl Iterator<Item = ArchiveViolation> {
        self.members.iter().flat_map(removable_violations)
    }

    /// Returns whether it has what installers or PyPI refuse and a new archive of the same members
    /// does not have.
    pub fn needs_rewriting(&self) -> bool {
        self.removable_violations().next().is_some()
            || self.members.iter().any(ZipMember::has_inexact_zip64)
    }

    /// The bytes it is read from.
    pub fn source(&self) -> &'a dyn ReadAt {
        self.source
    }

    /// The content of a member as a stream; size and CRC-32 are checked at its end.
    pub fn reader<'m>(&'m self, member: &'m ZipMember) -> MemberReader<'m> {
        MemberReader::new(self.source, member)
    }

    /// Shows the content of a member to an observer, piece by piece; size and CRC-32 are checked at
    /// its end.
    ///
    /// A large one is inflated here while the observer looks at it in another thread, so that
    /// hashing takes no time of its own. Several observers are one function that calls them.
    ///
    /// # Errors
    /// When the content is damaged or cannot be read; the observer saw what came before.
    pub fn stream(
        &self,
        member: &ZipMember,
        see: &mut ContentObserver<'_>,
    ) -> Result<(), WheelError> {
        let reader = self.reader(member);
        if member.size_bytes <= LONG_BYTES {
            let length = usize::try_from(member.size_bytes)
                .unwrap_or(PIECE_BYTES)
                .clamp(1, PIECE_BYTES);
            return reader.for_each_chunk(&mut vec![0; length], see);
        }
        beside(see, |passage| reader.send_to(passage))
    }

    /// The whole content of a small member.
    ///
    /// # Errors
    /// When it has more than `limit_bytes`, or its data is damaged.
    pub fn read(&self, member: &ZipMember, limit_bytes: u64) -> Result<Vec<u8>, WheelError> {
        if member.size_bytes > limit_bytes {
            let (member, size_bytes) = (member.name.clone(), member.size_bytes);
            return Err(WheelError::MemberTooLarge {
                member,
                size_bytes,
                limit_bytes,
            });
        }
        // Its size is a claim, and within the limit: what is not filled is not taken.
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
            "Archive({} members, {} bytes)",
            self.members.len(),
            self.source.size_bytes()
        )
    }
}
