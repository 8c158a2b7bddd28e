//! A streaming reader of tar archives (POSIX.1-2017, pax, "ustar Interchange Format" and "pax
//! Interchange Format"; GNU tar manual, "Basic Tar Format").
//!
//! The `tar` crate only parses header fields. Its reader is not used because it reads extended
//! headers of any size into memory.

use std::io::{self, Read};

use tar::{EntryType, Header};

use super::error::{ArchiveError, ArchiveLimit, TarFormatError};
use super::extended::ExtendedHeader;
use super::limits::{MAX_HEADER_BYTES, MAX_MEMBERS, MAX_NAME_BYTES, MAX_PATH_BYTES};

/// The size of a block in bytes. A header is one block, and contents are padded to whole blocks.
const BLOCK_BYTES: u64 = 512;
/// A block with a header.
type HeaderBlock = [u8; 512];
/// The length of the field `name` at the start of a header (POSIX.1-2017, pax, "ustar Interchange
/// Format").
const NAME_BYTES: usize = 100;
/// The range of the field `size`.
const SIZE: std::ops::Range<usize> = 124..136;
/// The offset of the field `typeflag`.
const TYPE: usize = 156;
/// The offset of the field `prefix`.
const PREFIX: usize = 345;
/// The type of an extended header of Solaris tar.
const SOLARIS_EXTENDED: u8 = b'X';
/// The offset of the field `isextended` of a GNU sparse header: whether a continuation block
/// follows.
const IS_EXTENDED: usize = 482;
/// The offset of the same field of a continuation block.
const CONTINUES: usize = 504;

/// A member of an archive, as its headers describe it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedMember {
    /// The path as in the archive; `None` if it is not UTF-8.
    pub path: Option<String>,
    /// The type.
    pub kind: ParsedMemberKind,
    /// The offset of the content in the decompressed archive.
    pub content_offset: u64,
}

/// The type of a member, with the header fields that apply to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParsedMemberKind {
    /// A directory.
    Directory,
    /// A regular file.
    File {
        /// The size in bytes.
        size_bytes: u64,
        /// The permission bits, including setuid, setgid and sticky.
        mode: u32,
    },
    /// A symbolic link and its target.
    Symlink(String),
    /// A hard link and the path of the member that it refers to.
    HardLink(String),
    /// A member that cannot be represented, and a description such as "a device".
    Unsupported(&'static str),
}

/// Calls `callback` with each member of a tar stream and a reader of its content, and reads the
/// stream to its end. At most one extended header and one member's fields are in memory at a time.
///
/// # Errors
/// If the stream is malformed, truncated or exceeds a limit (with an [`ArchiveError`] inside of the
/// I/O error, except for truncation), or if `callback` fails.
pub fn for_each_member<R: Read, E: From<io::Error>>(
    source: R,
    callback: impl FnMut(ParsedMember, &mut dyn Read) -> Result<(), E>,
) -> Result<(), E> {
    TarReader {
        source,
        position: 0,
        members: 0,
        name_bytes: 0,
    }
    .for_each_member(callback)
}

/// A reader of a tar stream, and the counts that are compared with limits.
struct TarReader<R> {
    source: R,
    /// Number of bytes read so far.
    position: u64,
    /// Number of members so far, including extended headers for all members.
    members: u64,
    /// Total length of the paths and link targets so far.
    name_bytes: u64,
}

impl<R: Read> TarReader<R> {
    fn for_each_member<E: From<io::Error>>(
        mut self,
        mut callback: impl FnMut(ParsedMember, &mut dyn Read) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some((member, size_bytes)) = self.next_member()? {
            let mut content = (&mut self.source).take(size_bytes);
            callback(member, &mut content)?;
            let unread = content.limit();
            self.position += size_bytes - unread;
            self.skip(unread + padding(size_bytes))?;
        }
        Ok(self.read_trailing_padding()?)
    }

    /// Reads the zero bytes after the last member to the end of the stream, so that the decoder
    /// reports truncation.
    fn read_trailing_padding(&mut self) -> io::Result<()> {
        let mut buffer = [0; 4096];
        loop {
            match self.source.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(read) if buffer[..read].iter().any(|byte| *byte != 0) => {
                    return Err(malformed(TarFormatError::TrailingData, self.position));
                }
                Ok(read) => self.position += read as u64,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads the headers of the next member. Returns it with the size of its content, or `None` at
    /// the end of the archive.
    fn next_member(&mut self) -> io::Result<Option<(ParsedMember, u64)>> {
        let (mut long_path, mut long_link, mut pax) = (None, None, None);
        loop {
            let offset = self.position;
            let Some(block) = self.read_header()? else {
                if long_path.is_some() || long_link.is_some() || pax.is_some() {
                    return Err(malformed(TarFormatError::DanglingExtendedHeader, offset));
                }
                return Ok(None);
            };
            let header = Header::from_byte_slice(&block);
            let kind = header.entry_type();
            let size_bytes = member_size(&block).map_err(|reason| malformed(reason, offset))?;
            // Python's tarfile applies the path in it to the next member (`SOLARIS_XHDTYPE`), GNU
            // tar does not.
            if block[TYPE] == SOLARIS_EXTENDED {
                return Err(malformed(TarFormatError::SolarisExtendedHeader, offset));
            }
            let is_repeated = match kind {
                EntryType::GNULongName => long_path
                    .replace(self.read_long_name("path", size_bytes, offset)?)
                    .is_some(),
                EntryType::GNULongLink => long_link
                    .replace(self.read_long_name("link target", size_bytes, offset)?)
                    .is_some(),
                EntryType::XHeader => pax.replace(self.read_pax(size_bytes, offset)?).is_some(),
                EntryType::XGlobalHeader => {
                    self.read_global_header(size_bytes, offset)?;
                    false
                }
                _ => {
                    let extended = merge_extended(pax.unwrap_or_default(), long_path, long_link)
                        .ok_or_else(|| malformed(TarFormatError::MixedExtendedHeaders, offset))?;
                    return self
                        .finish_member(&block, size_bytes, extended, offset)
                        .map(Some);
                }
            };
            if is_repeated {
                return Err(malformed(TarFormatError::RepeatedExtendedHeader, offset));
            }
        }
    }

    /// Returns the member of a header, after its checks, with the size of its content.
    fn finish_member(
        &mut self,
        block: &HeaderBlock,
        size_bytes: u64,
        extended: ExtendedHeader,
        offset: u64,
    ) -> io::Result<(ParsedMember, u64)> {
        let header = Header::from_byte_slice(block);
        let kind = header.entry_type();
        if kind.is_gnu_sparse() && block[IS_EXTENDED] != 0 {
            while self.read_block()?.ok_or(io::ErrorKind::UnexpectedEof)?[CONTINUES] != 0 {}
        }
        // Python's tarfile prepends the prefix in every format (`TarInfo.frombuf`), GNU tar only in
        // ustar.
        if !kind.is_gnu_sparse() && header.as_ustar().is_none() && block[PREFIX] != 0 {
            return Err(malformed(TarFormatError::PrefixWithoutUstar, offset));
        }
        let size_bytes = extended.size_bytes.unwrap_or(size_bytes);
        let path = extended
            .path
            .unwrap_or_else(|| header.path_bytes().into_owned());
        let link = extended
            .link
            .or_else(|| header.link_name_bytes().map(std::borrow::Cow::into_owned));
        self.count_member()?;
        self.count_name("path", &path, offset)?;
        let member_kind = match kind {
            EntryType::Regular | EntryType::Continuous if extended.is_sparse => {
                ParsedMemberKind::Unsupported("a sparse file")
            }
            EntryType::Regular | EntryType::Continuous => {
                let mode = header
                    .mode()
                    .map_err(|_| malformed(TarFormatError::Mode, offset))?;
                ParsedMemberKind::File {
                    size_bytes,
                    mode: mode & 0o7777,
                }
            }
            EntryType::Directory => ParsedMemberKind::Directory,
            EntryType::Symlink => link_kind(link, ParsedMemberKind::Symlink),
            EntryType::Link => link_kind(link, ParsedMemberKind::HardLink),
            EntryType::Char | EntryType::Block => ParsedMemberKind::Unsupported("a device"),
            EntryType::Fifo => ParsedMemberKind::Unsupported("a pipe"),
            EntryType::GNUSparse => ParsedMemberKind::Unsupported("a sparse file"),
            _ => ParsedMemberKind::Unsupported("of an unknown kind"),
        };
        match &member_kind {
            ParsedMemberKind::Symlink(target) | ParsedMemberKind::HardLink(target) => {
                self.count_name("link target", target.as_bytes(), offset)?;
            }
            ParsedMemberKind::Directory
            | ParsedMemberKind::File { .. }
            | ParsedMemberKind::Unsupported(_) => {}
        }
        // GNU tar treats every such file as a directory (`prepare_to_extract`). Python's tarfile
        // does so if its type is a zero byte and the slash is in the header itself
        // (`TarInfo.frombuf`).
        let is_file = matches!(kind, EntryType::Regular | EntryType::Continuous);
        let has_old_type = block[TYPE] == 0 && until_zero(&block[..NAME_BYTES]).ends_with(b"/");
        if is_file && (path.ends_with(b"/") || has_old_type) {
            return Err(malformed(TarFormatError::TrailingSlash, offset));
        }
        // Some readers skip the content, others interpret it as the next header.
        let has_no_content = matches!(
            kind,
            EntryType::Directory
                | EntryType::Symlink
                | EntryType::Link
                | EntryType::Char
                | EntryType::Block
                | EntryType::Fifo
        );
        if size_bytes > 0 && has_no_content {
            return Err(malformed(TarFormatError::UnexpectedContent, offset));
        }
        if size_bytes
            .checked_next_multiple_of(BLOCK_BYTES)
            .and_then(|size| self.position.checked_add(size))
            .is_none()
        {
            return Err(malformed(TarFormatError::MemberTooLarge, offset));
        }
        Ok((
            ParsedMember {
                path: String::from_utf8(path).ok(),
                kind: member_kind,
                content_offset: self.position,
            },
            size_bytes,
        ))
    }

    /// Counts a member or an extended header for all members, and checks the limit.
    fn count_member(&mut self) -> io::Result<()> {
        self.members += 1;
        if self.members > MAX_MEMBERS {
            Err(ArchiveLimit::Members.into())
        } else {
            Ok(())
        }
    }

    /// Counts the bytes of a path or link target, and checks the limits. `what` names it in errors.
    fn count_name(&mut self, what: &'static str, name: &[u8], offset: u64) -> io::Result<()> {
        let bytes = name.len() as u64;
        if name.len() > MAX_PATH_BYTES {
            return Err(ArchiveLimit::Path {
                what,
                bytes,
                offset,
            }
            .into());
        }
        // Some readers truncate the name at the zero byte, others do not.
        if name.contains(&0) {
            return Err(malformed(TarFormatError::ZeroByteInName, offset));
        }
        self.name_bytes += bytes;
        if self.name_bytes > MAX_NAME_BYTES {
            Err(ArchiveLimit::Names.into())
        } else {
            Ok(())
        }
    }

    /// Reads a header and verifies its checksum. Returns `None` for an end-of-archive block.
    ///
    /// GNU tar, Python's tarfile, libarchive and the `tar` crate write two such blocks, and most
    /// readers accept one. One is required, so that an archive that is truncated between two
    /// members is an error.
    fn read_header(&mut self) -> io::Result<Option<HeaderBlock>> {
        let offset = self.position;
        let block = self
            .read_block()?
            .ok_or_else(|| malformed(TarFormatError::MissingEnd, offset))?;
        if block.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        if Header::from_byte_slice(&block).cksum().ok() != Some(checksum(&block)) {
            return Err(malformed(TarFormatError::Checksum, offset));
        }
        Ok(Some(block))
    }

    /// Reads a block, or returns `None` at the end of the stream.
    fn read_block(&mut self) -> io::Result<Option<HeaderBlock>> {
        let mut block: HeaderBlock = [0; 512];
        let mut read = 0;
        while read < block.len() {
            match self.source.read(&mut block[read..]) {
                Ok(0) if read == 0 => return Ok(None),
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(length) => read += length,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.position += BLOCK_BYTES;
        Ok(Some(block))
    }

    /// Reads the content of an extended header. The caller has checked its size.
    fn read_extension(&mut self, size_bytes: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(size_bytes).map_err(io::Error::other)?];
        self.source.read_exact(&mut bytes)?;
        self.position += size_bytes;
        self.skip(padding(size_bytes))?;
        Ok(bytes)
    }

    /// Reads the content of a GNU long name header, without the final zero byte. `what` names it in
    /// errors.
    fn read_long_name(
        &mut self,
        what: &'static str,
        size_bytes: u64,
        offset: u64,
    ) -> io::Result<Vec<u8>> {
        if size_bytes > MAX_PATH_BYTES as u64 + 1 {
            return Err(ArchiveLimit::Path {
                what,
                bytes: size_bytes,
                offset,
            }
            .into());
        }
        let mut name = self.read_extension(size_bytes)?;
        if name.last() == Some(&0) {
            name.pop();
        }
        Ok(name)
    }

    /// Reads a pax header for all members, such as that of `git archive` with the commit.
    fn read_global_header(&mut self, size_bytes: u64, offset: u64) -> io::Result<()> {
        self.count_member()?;
        if self.read_pax(size_bytes, offset)?.is_empty() {
            return Ok(());
        }
        Err(malformed(TarFormatError::GlobalPaxHeader, offset))
    }

    /// Checks the size of a pax header and parses it.
    fn read_pax(&mut self, size_bytes: u64, offset: u64) -> io::Result<ExtendedHeader> {
        if size_bytes > MAX_HEADER_BYTES {
            return Err(ArchiveLimit::Header {
                bytes: size_bytes,
                offset,
            }
            .into());
        }
        ExtendedHeader::parse_pax(&self.read_extension(size_bytes)?)
            .map_err(|reason| malformed(reason, offset))
    }

    /// Skips bytes of the stream.
    fn skip(&mut self, bytes: u64) -> io::Result<()> {
        let mut content = (&mut self.source).take(bytes);
        let skipped = io::copy(&mut content, &mut io::sink())?;
        if skipped < bytes {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.position += bytes;
        Ok(())
    }
}

/// Parses the size in a header: octal digits, or, if the highest bit of the first byte is set, a
/// big-endian number in the other bits (GNU tar manual, "Basic Tar Format"). The `tar` crate
/// ignores all but the last eight bytes of the latter.
fn member_size(block: &HeaderBlock) -> Result<u64, TarFormatError> {
    let field = &block[SIZE];
    if field[0] & 0x80 == 0 {
        let digits = until_zero(field).trim_ascii();
        let is_octal =
            !digits.is_empty() && digits.iter().all(|digit| matches!(digit, b'0'..=b'7'));
        // At most twelve digits of three bits.
        let size = digits
            .iter()
            .fold(0, |size, digit| size << 3 | u64::from(*digit & 7));
        return is_octal.then_some(size).ok_or(TarFormatError::Size);
    }
    // The second highest bit is the sign.
    if field[0] != 0x80 || field[1..4] != [0; 3] {
        return Err(TarFormatError::SizeRange);
    }
    Ok(field[4..]
        .iter()
        .fold(0, |size, byte| size << 8 | u64::from(*byte)))
}

/// Returns a field up to its first zero byte.
fn until_zero(field: &[u8]) -> &[u8] {
    field.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// Returns the padding in bytes after content of this size.
fn padding(size_bytes: u64) -> u64 {
    (BLOCK_BYTES - size_bytes % BLOCK_BYTES) % BLOCK_BYTES
}

/// Merges a pax header with GNU long names, or returns `None` if both contain the same field.
fn merge_extended(
    pax: ExtendedHeader,
    path: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
) -> Option<ExtendedHeader> {
    if pax.path.is_some() && path.is_some() || pax.link.is_some() && link.is_some() {
        return None;
    }
    Some(ExtendedHeader {
        path: pax.path.or(path),
        link: pax.link.or(link),
        ..pax
    })
}

/// Returns the kind of a link, which is unsupported without a UTF-8 target.
fn link_kind(target: Option<Vec<u8>>, kind: fn(String) -> ParsedMemberKind) -> ParsedMemberKind {
    match String::from_utf8(target.unwrap_or_default()) {
        Ok(target) if target.is_empty() => ParsedMemberKind::Unsupported("a link without a target"),
        Ok(target) => kind(target),
        Err(_) => ParsedMemberKind::Unsupported("a link whose target is not UTF-8"),
    }
}

/// Returns the checksum of a header: the sum of its bytes, with spaces in the checksum field.
fn checksum(block: &HeaderBlock) -> u32 {
    byte_sum(&block[..148]) + 8 * u32::from(b' ') + byte_sum(&block[156..])
}

fn byte_sum(bytes: &[u8]) -> u32 {
    bytes.iter().map(|byte| u32::from(*byte)).sum()
}

fn malformed(reason: TarFormatError, offset: u64) -> io::Error {
    ArchiveError::Malformed { reason, offset }.into()
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read};

    use super::{
        BLOCK_BYTES, ParsedMember, ParsedMemberKind, SIZE, TYPE, TarReader, for_each_member,
    };
    use crate::archive::ArchiveError;
    use crate::archive::limits::{MAX_HEADER_BYTES, MAX_MEMBERS, MAX_NAME_BYTES, MAX_PATH_BYTES};

    /// Returns a ustar header with this type, and the padded content.
    fn member(kind: u8, path: &str, content: &[u8]) -> Vec<u8> {
        let mut header = tar::Header::new_ustar();
        header.as_mut_bytes()[..path.len()].copy_from_slice(path.as_bytes());
        // The `tar` crate would replace a zero byte.
        header.as_mut_bytes()[TYPE] = kind;
        header.set_mode(0o644);
        header.set_size(content.len() as u64);
        header.set_cksum();
        let mut bytes = header.as_bytes().to_vec();
        bytes.extend_from_slice(content);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
        bytes
    }

    /// Returns the header of a file with these bytes as its size field.
    fn file_with_size_field(size: &[u8; 12]) -> Vec<u8> {
        let mut bytes = member(b'0', "x", b"");
        bytes[SIZE].copy_from_slice(size);
        let sum: u32 = bytes[..148]
            .iter()
            .chain(&bytes[156..])
            .map(|byte| u32::from(*byte))
            .sum::<u32>()
            + 256;
        bytes[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        bytes
    }

    /// Returns a pax record. Its length includes its own digits.
    fn record(key: &str, value: &str) -> Vec<u8> {
        let rest = format!(" {key}={value}\n");
        let length = (1..=99_999_999)
            .find(|length: &usize| length.to_string().len() + rest.len() == *length);
        format!("{}{rest}", length.unwrap()).into_bytes()
    }

    /// The end-of-archive blocks.
    const END: [u8; 1024] = [0; 1024];

    /// Reads members, followed by the end of the archive.
    fn members(tar: impl Read) -> io::Result<Vec<(ParsedMember, String)>> {
        read_archive(tar.chain(&END[..]))
    }

    /// Reads a complete archive.
    fn read_archive(tar: impl Read) -> io::Result<Vec<(ParsedMember, String)>> {
        let mut found = Vec::new();
        for_each_member(tar, |member, content: &mut dyn Read| {
            let mut text = String::new();
            content.read_to_string(&mut text)?;
            found.push((member, text));
            Ok::<(), io::Error>(())
        })?;
        Ok(found)
    }

    fn paths(tar: &[u8]) -> Vec<String> {
        members(tar)
            .unwrap()
            .into_iter()
            .map(|(member, _)| member.path.unwrap())
            .collect()
    }

    /// Returns the error of reading members.
    fn read_error(tar: impl Read) -> String {
        reason(members(tar))
    }

    fn reason(read: io::Result<Vec<(ParsedMember, String)>>) -> String {
        let error = read.unwrap_err();
        ArchiveError::find_in(&error)
            .map_or_else(|| format!("{:?}", error.kind()), ToString::to_string)
    }

    #[test]
    fn pax_headers_are_applied() {
        let long = "p/".repeat(200) + "file";
        let tar = [
            member(
                b'g',
                "pax_global_header",
                &record("comment", &"0".repeat(40)),
            ),
            member(
                b'x',
                "PaxHeaders/file",
                &[record("path", &long), record("mtime", "1.5")].concat(),
            ),
            member(b'0', "file", b"content"),
            member(b'x', "PaxHeaders/link", &record("linkpath", "else/where")),
            member(b'2', "link", b""),
            member(b'x', "PaxHeaders/large", &record("size", "5")),
            // The size in the header is 0, as if it did not fit.
            [
                &member(b'0', "large", b"")[..],
                &member(b'0', "", b"")[..0],
                b"12345",
                &[0; 507],
            ]
            .concat(),
            member(b'0', "last", b""),
        ]
        .concat();
        let found = members(&*tar).unwrap();
        let file = |size_bytes| ParsedMemberKind::File {
            size_bytes,
            mode: 0o644,
        };
        let shown: Vec<(&str, &ParsedMemberKind, &str)> = found
            .iter()
            .map(|(member, content)| {
                (
                    member.path.as_deref().unwrap(),
                    &member.kind,
                    content.as_str(),
                )
            })
            .collect();
        let link = ParsedMemberKind::Symlink("else/where".to_owned());
        let expected = [
            (long.as_str(), &file(7), "content"),
            ("link", &link, ""),
            ("large", &file(5), "12345"),
            ("last", &file(0), ""),
        ];
        assert_eq!(shown, expected);
        let starts: Vec<u64> = found
            .iter()
            .map(|(member, _)| member.content_offset / BLOCK_BYTES)
            .collect();
        assert_eq!(starts, [5, 9, 12, 14], "offsets of contents");
    }

    /// The old GNU format, and the pax formats 0.0, 0.1 and 1.0 (GNU tar manual, "Storing Sparse
    /// Files").
    #[test]
    fn sparse_files_of_every_format_are_skipped() {
        let pax = |records: &[Vec<u8>]| {
            let mut all = member(b'x', "PaxHeaders/sparse", &records.concat());
            all.extend(member(b'0', "GNUSparseFile/sparse", b"1\n0\n4\ndata"));
            all
        };
        let numbers = [
            record("GNU.sparse.size", "4096"),
            record("GNU.sparse.numblocks", "1"),
        ];
        let name = record("GNU.sparse.name", "sparse");
        let zero = [
            &numbers[..],
            &[
                record("GNU.sparse.offset", "0"),
                record("GNU.sparse.numbytes", "4"),
                name.clone(),
            ],
        ];
        let one = [
            &numbers[..],
            &[record("GNU.sparse.map", "0,4"), name.clone()],
        ];
        let newest = [
            record("GNU.sparse.major", "1"),
            record("GNU.sparse.minor", "0"),
            name,
        ];
        let mut old = member(b'S', "sparse", b"data");
        old[super::IS_EXTENDED] = 1;
        let sum: u32 = old[..148]
            .iter()
            .chain(&old[156..512])
            .map(|byte| u32::from(*byte))
            .sum::<u32>()
            + 256;
        old[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        let mut continued = vec![0; 1024];
        continued[super::CONTINUES] = 1;
        old.splice(512..512, continued);
        for sparse in [pax(&zero.concat()), pax(&one.concat()), pax(&newest), old] {
            let found = members(&*[sparse, member(b'0', "next", b"next")].concat()).unwrap();
            let shown: Vec<_> = found
                .iter()
                .map(|(member, _)| (member.path.as_deref(), &member.kind))
                .collect();
            let next = ParsedMemberKind::File {
                size_bytes: 4,
                mode: 0o644,
            };
            assert_eq!(
                shown,
                [
                    (
                        Some("sparse"),
                        &ParsedMemberKind::Unsupported("a sparse file")
                    ),
                    (Some("next"), &next)
                ]
            );
        }
    }

    #[test]
    fn path_length_is_limited() {
        for (kind, key) in [(b'L', "path"), (b'K', "linkpath")] {
            let of = |length: usize| {
                let name = "n".repeat(length);
                let gnu = member(kind, "././@LongLink", &[name.as_bytes(), b"\0"].concat());
                let pax = member(b'x', "PaxHeaders/x", &record(key, &name));
                [gnu, pax].map(|extended| {
                    [
                        extended,
                        member(if key == "path" { b'0' } else { b'2' }, "x", b""),
                    ]
                    .concat()
                })
            };
            for tar in of(MAX_PATH_BYTES) {
                assert_eq!(members(&*tar).unwrap().len(), 1);
            }
            for tar in of(MAX_PATH_BYTES + 1) {
                assert!(
                    read_error(&*tar).contains("at most 4096 are read"),
                    "{}",
                    read_error(&*tar)
                );
            }
        }
    }

    #[test]
    fn size_of_extended_headers_is_limited() {
        let limit = usize::try_from(MAX_HEADER_BYTES).unwrap();
        let of = |length: usize, kind| {
            let bytes = record("comment", &"c".repeat(length - "65536 comment=\n".len()));
            assert_eq!(bytes.len(), length);
            [member(kind, "PaxHeaders/x", &bytes), member(b'0', "x", b"")].concat()
        };
        for kind in [b'x', b'g'] {
            assert_eq!(paths(&of(limit, kind)), ["x"]);
            let expected = "an extended header of 65537 bytes at byte 0 of the unpacked archive; at most 65536 are read";
            assert_eq!(read_error(&*of(limit + 1, kind)), expected);
        }
        // A stated size allocates nothing.
        for kind in [b'L', b'K', b'x', b'g'] {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(tar::EntryType::new(kind));
            header.set_size(u64::MAX >> 8);
            header.set_cksum();
            assert!(read_error(&header.as_bytes()[..]).contains("are read"));
        }
    }

    #[test]
    fn number_of_members_is_limited() {
        let one = [
            member(b'x', "PaxHeaders/x", &record("mtime", "1")),
            member(b'0', "x", b""),
        ]
        .concat();
        let global = member(b'g', "pax_global_header", &record("comment", "x"));
        for (one, callbacks) in [(one, 3), (global, 0)] {
            for copies in [3, 4] {
                let tar = [one.repeat(copies), END.to_vec()].concat();
                // A reader that has already read most of the allowed members.
                let reader = TarReader {
                    source: &*tar,
                    position: 0,
                    members: MAX_MEMBERS - 3,
                    name_bytes: 0,
                };
                let mut count = 0;
                let read = reader.for_each_member(|_, _: &mut dyn Read| {
                    count += 1;
                    Ok::<(), io::Error>(())
                });
                let error = read.err().map(|error| error.to_string());
                let expected = (copies == 4).then(|| "more than 250000 members".to_owned());
                assert_eq!((count, error), (callbacks, expected));
            }
        }
    }

    #[test]
    fn total_length_of_names_is_limited() {
        let tar = [
            member(b'L', "long", b"12345\0"),
            member(b'2', "x", b""),
            END.to_vec(),
        ]
        .concat();
        for (left, expected) in [
            (5, None),
            (
                4,
                Some("members whose paths take more than 64 MiB together"),
            ),
        ] {
            let reader = TarReader {
                source: &*tar,
                position: 0,
                members: 0,
                name_bytes: MAX_NAME_BYTES - left,
            };
            let read = reader.for_each_member(|_, _: &mut dyn Read| Ok::<(), io::Error>(()));
            assert_eq!(
                read.err().map(|error| error.to_string()).as_deref(),
                expected
            );
        }
    }

    #[test]
    fn ambiguous_headers_are_errors() {
        let file = || member(b'0', "x", b"");
        let path = |text: &str| member(b'x', "PaxHeaders/x", &record("path", text));
        let mut sum = file();
        sum[0] = b'y';
        let cases = [
            [path("a"), path("b"), file()].concat(),
            [member(b'L', "long", b"a\0"), path("b"), file()].concat(),
            [
                member(b'L', "long", b"a\0"),
                member(b'L', "long", b"b\0"),
                file(),
            ]
            .concat(),
            [member(b'L', "long", b"a\0b\0"), file()].concat(),
            [path("a\0b"), file()].concat(),
            path("a"),
            [member(b'x', "PaxHeaders/x", b"no record"), file()].concat(),
            [
                member(b'g', "pax_global_header", &record("path", "all")),
                file(),
            ]
            .concat(),
            [
                member(b'g', "pax_global_header", &record("size", "0")),
                file(),
            ]
            .concat(),
            [member(b'2', "link", b"content"), file()].concat(),
            [member(b'5', "folder", b"content"), file()].concat(),
            [member(b'6', "pipe", &file()), file()].concat(),
            [member(b'3', "device", &file()), file()].concat(),
            [
                member(b'X', "PaxHeaders/x", &record("path", "setup.py")),
                file(),
            ]
            .concat(),
            [
                member(b'x', "PaxHeaders/x", &record("size", &u64::MAX.to_string())),
                file(),
            ]
            .concat(),
            sum,
            member(b'0', "folder/", b""),
            member(0, "folder/", b""),
            [member(b'L', "long", b"file\0"), member(0, "folder/", b"")].concat(),
            file_with_size_field(b"0000000008 \0"),
            file_with_size_field(b"+0000000007\0"),
            file_with_size_field(b"            "),
            file_with_size_field(b"\x80\0\0\x01\0\0\0\0\0\0\0\0"),
            file_with_size_field(b"\x81\0\0\0\0\0\0\0\0\0\0\0"),
            file_with_size_field(&[0xff; 12]),
        ];
        insta::assert_snapshot!(cases.map(|tar| read_error(&*tar)).join("\n"), @r"
        two extended headers of one kind describe one member, at byte 1024 of the unpacked archive
        a member is named by two kinds of extended headers, at byte 2048 of the unpacked archive
        two extended headers of one kind describe one member, at byte 1024 of the unpacked archive
        a name has a zero byte, at byte 1024 of the unpacked archive
        a name has a zero byte, at byte 1024 of the unpacked archive
        an extended header describes a member that does not exist, at byte 1024 of the unpacked archive
        malformed pax record, at byte 0 of the unpacked archive
        an extended header gives all members one path, link or size, at byte 0 of the unpacked archive
        an extended header gives all members one path, link or size, at byte 0 of the unpacked archive
        a member that is not a file has content, at byte 0 of the unpacked archive
        a member that is not a file has content, at byte 0 of the unpacked archive
        a member that is not a file has content, at byte 0 of the unpacked archive
        a member that is not a file has content, at byte 0 of the unpacked archive
        extended headers of Solaris are not supported, at byte 0 of the unpacked archive
        a member is larger than any file, at byte 1024 of the unpacked archive
        a header does not match its checksum, at byte 0 of the unpacked archive
        the path of a file ends with a slash, like that of a directory, at byte 0 of the unpacked archive
        the path of a file ends with a slash, like that of a directory, at byte 0 of the unpacked archive
        the path of a file ends with a slash, like that of a directory, at byte 1024 of the unpacked archive
        the size of a member is not a number, at byte 0 of the unpacked archive
        the size of a member is not a number, at byte 0 of the unpacked archive
        the size of a member is not a number, at byte 0 of the unpacked archive
        the size of a member is negative or has more than 64 bits, at byte 0 of the unpacked archive
        the size of a member is negative or has more than 64 bits, at byte 0 of the unpacked archive
        the size of a member is negative or has more than 64 bits, at byte 0 of the unpacked archive
        ");
        let binary = [
            file_with_size_field(b"\x80\0\0\0\0\0\0\0\0\0\0\x07"),
            b"content".to_vec(),
            vec![0; 505],
        ]
        .concat();
        assert_eq!(members(&*binary).unwrap()[0].1, "content");
    }

    /// An archive that is truncated anywhere is not read as a shorter one.
    #[test]
    fn truncated_archives_are_errors() {
        let all = [
            member(b'0', "x", b"content"),
            member(b'0', "y", b""),
            END[..512].to_vec(),
        ]
        .concat();
        assert_eq!(read_archive(&*all).unwrap().len(), 2);
        let cuts = [0, 1, 511, 512, 519, 1023, 1024, 1536, 2047];
        let reasons = cuts.map(|cut| format!("{cut}: {}", reason(read_archive(&all[..cut]))));
        insta::assert_snapshot!(reasons.join("\n"), @r"
        0: it is truncated: the end-of-archive block is missing, at byte 0 of the unpacked archive
        1: UnexpectedEof
        511: UnexpectedEof
        512: UnexpectedEof
        519: UnexpectedEof
        1023: UnexpectedEof
        1024: it is truncated: the end-of-archive block is missing, at byte 1024 of the unpacked archive
        1536: it is truncated: the end-of-archive block is missing, at byte 1536 of the unpacked archive
        2047: UnexpectedEof
        ");
    }

    #[test]
    fn links_without_a_valid_target_are_unsupported() {
        let latin = [member(b'K', "long", b"\xe4\0"), member(b'2', "x", b"")].concat();
        let found =
            members(&*[member(b'2', "x", b""), member(b'1', "x", b""), latin].concat()).unwrap();
        let kinds: Vec<&ParsedMemberKind> = found.iter().map(|(member, _)| &member.kind).collect();
        let empty = ParsedMemberKind::Unsupported("a link without a target");
        assert_eq!(
            kinds,
            [
                &empty,
                &empty,
                &ParsedMemberKind::Unsupported("a link whose target is not UTF-8")
            ]
        );
    }
}
