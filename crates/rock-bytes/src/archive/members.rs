//! Members of a tar that comes as a stream (POSIX.1-2017, pax, "ustar Interchange Format" and "pax
//! Interchange Format"; GNU tar manual, "Basic Tar Format").
//!
//! Headers are read here and not by the `tar` crate, which reads extended headers of any size into
//! memory.

use std::io::{self, Read};

use tar::{EntryType, Header};

use super::error::{ArchiveError, ArchiveLimit};
use super::extended::ExtendedHeader;
use super::limits::{MAX_HEADER_BYTES, MAX_MEMBERS, MAX_NAME_BYTES, MAX_PATH_BYTES};

/// Headers are one block, and contents are filled up to whole ones.
const BLOCK_BYTES: u64 = 512;
/// A block in memory.
type Block = [u8; 512];
/// The fields of a header that are read here (POSIX.1-2017, pax, "ustar Interchange Format").
const NAME_BYTES: usize = 100;
const SIZE: std::ops::Range<usize> = 124..136;
const TYPE: usize = 156;
/// The first byte of the prefix of a path.
const PREFIX: usize = 345;
/// The type of an extended header of Solaris' tar.
const SOLARIS_EXTENDED: u8 = b'X';
/// Where a GNU header, and a block that continues one, says that another such block follows it.
const IS_EXTENDED: usize = 482;
const CONTINUES: usize = 504;

/// A member of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExtractedMember {
    /// Its path as the archive has it; `None` where it is no UTF-8 text.
    pub path: Option<String>,
    /// What it is.
    pub kind: ExtractedKind,
    /// Where its content begins in the stream.
    pub start: u64,
}

/// What a member is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExtractedKind {
    /// A folder.
    Folder,
    /// A regular file.
    File {
        /// Its size.
        size_bytes: u64,
        /// Its permission bits.
        mode: u32,
    },
    /// A symbolic link with its text.
    Link(String),
    /// Another name of the member at this path.
    Again(String),
    /// Something else, in words.
    Other(&'static str),
}

/// Hands on every member of a tar, with its content; the stream is read to its end. At most one
/// extended header and one member are in memory at a time.
///
/// # Errors
/// When the stream is damaged, ends too early or goes beyond a limit ([`ArchiveError`] inside of
/// the error), and what `see` says.
pub fn each_member<R: Read, E: From<io::Error>>(
    source: R,
    see: impl FnMut(ExtractedMember, &mut dyn Read) -> Result<(), E>,
) -> Result<(), E> {
    TarReader {
        source,
        position: 0,
        members: 0,
        name_bytes: 0,
    }
    .each_member(see)
}

/// A tar as far as it was read.
struct TarReader<R> {
    source: R,
    /// Bytes read so far.
    position: u64,
    members: u64,
    name_bytes: u64,
}

impl<R: Read> TarReader<R> {
    fn each_member<E: From<io::Error>>(
        mut self,
        mut see: impl FnMut(ExtractedMember, &mut dyn Read) -> Result<(), E>,
    ) -> Result<(), E> {
        while let Some((member, size_bytes)) = self.next_member()? {
            let mut content = (&mut self.source).take(size_bytes);
            see(member, &mut content)?;
            let unread = content.limit();
            self.position += size_bytes - unread;
            self.skip(unread + padding(size_bytes))?;
        }
        Ok(self.padding_to_end()?)
    }

    /// Reads the zeros after the last member to the end of the stream, which says whether it is
    /// complete.
    fn padding_to_end(&mut self) -> io::Result<()> {
        let mut buffer = [0; 4096];
        loop {
            match self.source.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(read) if buffer[..read].iter().any(|byte| *byte != 0) => {
                    return Err(malformed(
                        "there is data after the end of the archive",
                        self.position,
                    ));
                }
                Ok(read) => self.position += read as u64,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Reads up to the content of the next member, and returns the size of that.
    fn next_member(&mut self) -> io::Result<Option<(ExtractedMember, u64)>> {
        let (mut long_path, mut long_link, mut pax) = (None, None, None);
        loop {
            let offset = self.position;
            let Some(block) = self.header()? else {
                if long_path.is_some() || long_link.is_some() || pax.is_some() {
                    return Err(malformed(
                        "an extended header describes a member that is not there",
                        offset,
                    ));
                }
                return Ok(None);
            };
            let header = Header::from_byte_slice(&block);
            let kind = header.entry_type();
            let size_bytes = member_size(&block).map_err(|reason| malformed(reason, offset))?;
            // Python's tarfile applies its path to the next member (`SOLARIS_XHDTYPE`), GNU tar
            // does not.
            if block[TYPE] == SOLARIS_EXTENDED {
                return Err(malformed(
                    "extended headers of Solaris are not supported",
                    offset,
                ));
            }
            let is_second = match kind {
                EntryType::GNULongName => long_path
                    .replace(self.long_name("path", size_bytes, offset)?)
                    .is_some(),
                EntryType::GNULongLink => long_link
                    .replace(self.long_name("link target", size_bytes, offset)?)
                    .is_some(),
                EntryType::XHeader => pax.replace(self.pax(size_bytes, offset)?).is_some(),
                EntryType::XGlobalHeader => {
                    self.global(size_bytes, offset)?;
                    false
                }
                _ => {
                    let extended = merged(pax.unwrap_or_default(), long_path, long_link)
                        .ok_or_else(|| {
                            malformed("a member is named by two kinds of extended headers", offset)
                        })?;
                    return self.member(&block, size_bytes, extended, offset).map(Some);
                }
            };
            if is_second {
                return Err(malformed(
                    "two extended headers of one kind describe one member",
                    offset,
                ));
            }
        }
    }

    fn member(
        &mut self,
        block: &Block,
        size_bytes: u64,
        extended: ExtendedHeader,
        offset: u64,
    ) -> io::Result<(ExtractedMember, u64)> {
        let header = Header::from_byte_slice(block);
        let kind = header.entry_type();
        if kind.is_gnu_sparse() && block[IS_EXTENDED] != 0 {
            while self.block()?.ok_or(io::ErrorKind::UnexpectedEof)?[CONTINUES] != 0 {}
        }
        // Python's tarfile puts it before the path in every format (`TarInfo.frombuf`), GNU tar
        // only in ustar.
        if !kind.is_gnu_sparse() && header.as_ustar().is_none() && block[PREFIX] != 0 {
            return Err(malformed(
                "a header that is not of the format ustar has a prefix of the path",
                offset,
            ));
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
        let linked = |kind: fn(String) -> ExtractedKind| match link.as_deref().unwrap_or_default() {
            b"" => ExtractedKind::Other("a link without a target"),
            target => std::str::from_utf8(target).map_or(
                ExtractedKind::Other("a link whose target is not UTF-8"),
                |target| kind(target.to_owned()),
            ),
        };
        let unpacked = match kind {
            EntryType::Regular | EntryType::Continuous if extended.is_sparse => {
                ExtractedKind::Other("a sparse file")
            }
            EntryType::Regular | EntryType::Continuous => {
                let mode = header
                    .mode()
                    .map_err(|_| malformed("the mode of a member is not a number", offset))?;
                ExtractedKind::File {
                    size_bytes,
                    mode: mode & 0o7777,
                }
            }
            EntryType::Directory => ExtractedKind::Folder,
            EntryType::Symlink => linked(ExtractedKind::Link),
            EntryType::Link => linked(ExtractedKind::Again),
            EntryType::Char | EntryType::Block => ExtractedKind::Other("a device"),
            EntryType::Fifo => ExtractedKind::Other("a pipe"),
            EntryType::GNUSparse => ExtractedKind::Other("a sparse file"),
            _ => ExtractedKind::Other("of a kind that is not known"),
        };
        match &unpacked {
            ExtractedKind::Link(target) | ExtractedKind::Again(target) => {
                self.count_name("link target", target.as_bytes(), offset)?;
            }
            ExtractedKind::Folder | ExtractedKind::File { .. } | ExtractedKind::Other(_) => {}
        }
        // Python's tarfile takes such a file for a folder where its type is a zero byte and the
        // slash is in the header itself (`TarInfo.frombuf`), GNU tar for every type and name
        // (`prepare_to_extract`).
        let is_file = matches!(kind, EntryType::Regular | EntryType::Continuous);
        let has_old_type = block[TYPE] == 0 && until_zero(&block[..NAME_BYTES]).ends_with(b"/");
        if is_file && (path.ends_with(b"/") || has_old_type) {
            return Err(malformed(
                "a file has a path that ends with a slash, as those of folders do",
                offset,
            ));
        }
        // Some readers skip what comes after such a header, and others take it for the next one.
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
            return Err(malformed("a member that is not a file has content", offset));
        }
        if size_bytes
            .checked_next_multiple_of(BLOCK_BYTES)
            .and_then(|size| self.position.checked_add(size))
            .is_none()
        {
            return Err(malformed("a member is larger than any file", offset));
        }
        Ok((
            ExtractedMember {
                path: String::from_utf8(path).ok(),
                kind: unpacked,
                start: self.position,
            },
            size_bytes,
        ))
    }

    /// Counts a member, or a header for all members, against the limit.
    fn count_member(&mut self) -> io::Result<()> {
        self.members += 1;
        if self.members > MAX_MEMBERS {
            Err(ArchiveLimit::Members.into())
        } else {
            Ok(())
        }
    }

    /// Counts a path or link target against the limits.
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
        // Some readers take such a name up to the zero, and others as a whole.
        if name.contains(&0) {
            return Err(malformed("a name has a zero byte", offset));
        }
        self.name_bytes += bytes;
        if self.name_bytes > MAX_NAME_BYTES {
            Err(ArchiveLimit::Names.into())
        } else {
            Ok(())
        }
    }

    /// Reads a block and checks that it is a header; `None` for the block of zeros that ends the
    /// archive.
    ///
    /// GNU tar, Python's tarfile, libarchive and the `tar` crate write two of them, and most
    /// readers take one. Without it, an archive that is cut off between two members would be a
    /// shorter one.
    fn header(&mut self) -> io::Result<Option<Block>> {
        let offset = self.position;
        let block = self.block()?.ok_or_else(|| {
            malformed("it is cut off: the end-of-archive block is missing", offset)
        })?;
        if block.iter().all(|byte| *byte == 0) {
            return Ok(None);
        }
        // The sum is made with blanks in the place of the sum itself.
        let sum = |bytes: &[u8]| bytes.iter().map(|byte| u32::from(*byte)).sum::<u32>();
        let sum = sum(&block[..148]) + 8 * u32::from(b' ') + sum(&block[156..]);
        if Header::from_byte_slice(&block).cksum().ok() != Some(sum) {
            return Err(malformed(
                "a header does not have the sum that it names",
                offset,
            ));
        }
        Ok(Some(block))
    }

    /// Reads a block; `None` at the end of the stream.
    fn block(&mut self) -> io::Result<Option<Block>> {
        let mut block: Block = [0; 512];
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

    /// Reads the content of an extended header, whose size is already checked.
    fn extension(&mut self, size_bytes: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; usize::try_from(size_bytes).map_err(io::Error::other)?];
        self.source.read_exact(&mut bytes)?;
        self.position += size_bytes;
        self.skip(padding(size_bytes))?;
        Ok(bytes)
    }

    /// Reads a long name of GNU tar, which a zero byte ends.
    fn long_name(
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
        let mut name = self.extension(size_bytes)?;
        if name.last() == Some(&0) {
            name.pop();
        }
        Ok(name)
    }

    /// Reads a header for all members behind it, such as the one in which `git archive` names the
    /// commit.
    fn global(&mut self, size_bytes: u64, offset: u64) -> io::Result<()> {
        self.count_member()?;
        if self.pax(size_bytes, offset)?.is_empty() {
            return Ok(());
        }
        Err(malformed(
            "an extended header gives all members one path, link or size",
            offset,
        ))
    }

    /// Reads a header of pax that is small enough.
    fn pax(&mut self, size_bytes: u64, offset: u64) -> io::Result<ExtendedHeader> {
        if size_bytes > MAX_HEADER_BYTES {
            return Err(ArchiveLimit::Header {
                bytes: size_bytes,
                offset,
            }
            .into());
        }
        ExtendedHeader::pax(&self.extension(size_bytes)?)
            .map_err(|reason| malformed(&reason, offset))
    }

    fn skip(&mut self, bytes: u64) -> io::Result<()> {
        let mut rest = (&mut self.source).take(bytes);
        let skipped = io::copy(&mut rest, &mut io::sink())?;
        if skipped < bytes {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.position += bytes;
        Ok(())
    }
}

/// Returns the size in a header, or why there is none (GNU tar manual, "Basic Tar Format": octal
/// digits, or from a byte with the highest bit on a binary number of the other bits). The `tar`
/// crate reads only the last eight bytes of the latter.
fn member_size(block: &Block) -> Result<u64, &'static str> {
    let field = &block[SIZE];
    if field[0] & 0x80 == 0 {
        let digits = until_zero(field).trim_ascii();
        let is_octal =
            !digits.is_empty() && digits.iter().all(|digit| matches!(digit, b'0'..=b'7'));
        // Twelve digits of three bits.
        let size = digits
            .iter()
            .fold(0, |size, digit| size << 3 | u64::from(*digit & 7));
        return is_octal
            .then_some(size)
            .ok_or("the size of a member is not a number");
    }
    // The next bit is the sign.
    if field[0] != 0x80 || field[1..4] != [0; 3] {
        return Err("the size of a member is negative or has more than 64 bits");
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

/// Merges extended headers of pax and GNU tar, or returns `None` if both give one field.
fn merged(
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

fn malformed(reason: &str, offset: u64) -> io::Error {
    ArchiveError::Malformed {
        reason: reason.to_owned(),
        offset,
    }
    .into()
}

#[cfg(test)]
mod tests {
    use std::io::{self, Read};

    use super::{BLOCK_BYTES, ExtractedKind, ExtractedMember, SIZE, TYPE, TarReader, each_member};
    use crate::archive::ArchiveError;
    use crate::archive::limits::{MAX_HEADER_BYTES, MAX_MEMBERS, MAX_NAME_BYTES, MAX_PATH_BYTES};

    /// One block and its content, filled up.
    fn member(kind: u8, path: &str, content: &[u8]) -> Vec<u8> {
        let mut header = tar::Header::new_ustar();
        header.as_mut_bytes()[..path.len()].copy_from_slice(path.as_bytes());
        // The crate would write another byte for 0.
        header.as_mut_bytes()[TYPE] = kind;
        header.set_mode(0o644);
        header.set_size(content.len() as u64);
        header.set_cksum();
        let mut bytes = header.as_bytes().to_vec();
        bytes.extend_from_slice(content);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
        bytes
    }

    /// A file of whose header these bytes are the size.
    fn sized(size: &[u8; 12]) -> Vec<u8> {
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

    /// A record of pax, whose length counts its own digits.
    fn record(key: &str, value: &str) -> Vec<u8> {
        let rest = format!(" {key}={value}\n");
        let length = (1..=99_999_999)
            .find(|length: &usize| length.to_string().len() + rest.len() == *length);
        format!("{}{rest}", length.unwrap()).into_bytes()
    }

    /// The blocks that end an archive.
    const END: [u8; 1024] = [0; 1024];

    /// Reads members with an end behind them.
    fn members(tar: impl Read) -> io::Result<Vec<(ExtractedMember, String)>> {
        whole(tar.chain(&END[..]))
    }

    fn whole(tar: impl Read) -> io::Result<Vec<(ExtractedMember, String)>> {
        let mut found = Vec::new();
        each_member(tar, |member, content: &mut dyn Read| {
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

    /// Returns the text of the error.
    fn refused(tar: impl Read) -> String {
        reason(members(tar))
    }

    fn reason(read: io::Result<Vec<(ExtractedMember, String)>>) -> String {
        let error = read.unwrap_err();
        ArchiveError::of(&error).map_or_else(|| format!("{:?}", error.kind()), ToString::to_string)
    }

    #[test]
    fn headers_for_all_members_and_large_ones_of_pax_are_read() {
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
            // As it is where a size does not fit into the header.
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
        let file = |size_bytes| ExtractedKind::File {
            size_bytes,
            mode: 0o644,
        };
        let shown: Vec<(&str, &ExtractedKind, &str)> = found
            .iter()
            .map(|(member, content)| {
                (
                    member.path.as_deref().unwrap(),
                    &member.kind,
                    content.as_str(),
                )
            })
            .collect();
        let link = ExtractedKind::Link("else/where".to_owned());
        let expected = [
            (long.as_str(), &file(7), "content"),
            ("link", &link, ""),
            ("large", &file(5), "12345"),
            ("last", &file(0), ""),
        ];
        assert_eq!(shown, expected);
        let starts: Vec<u64> = found
            .iter()
            .map(|(member, _)| member.start / BLOCK_BYTES)
            .collect();
        assert_eq!(starts, [5, 9, 12, 14], "where contents begin");
    }

    /// Each of the four forms: old GNU, and 0.0, 0.1 and 1.0 of pax (GNU tar manual, "Storing
    /// Sparse Files").
    #[test]
    fn sparse_files_of_every_form_are_skipped() {
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
            let next = ExtractedKind::File {
                size_bytes: 4,
                mode: 0o644,
            };
            assert_eq!(
                shown,
                [
                    (Some("sparse"), &ExtractedKind::Other("a sparse file")),
                    (Some("next"), &next)
                ]
            );
        }
    }

    #[test]
    fn paths_are_read_up_to_their_limit_and_not_beyond() {
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
                    refused(&*tar).contains("at most 4096 are read"),
                    "{}",
                    refused(&*tar)
                );
            }
        }
    }

    #[test]
    fn extended_headers_are_read_up_to_their_limit_and_not_beyond() {
        let limit = usize::try_from(MAX_HEADER_BYTES).unwrap();
        let of = |length: usize, kind| {
            let bytes = record("comment", &"c".repeat(length - "65536 comment=\n".len()));
            assert_eq!(bytes.len(), length);
            [member(kind, "PaxHeaders/x", &bytes), member(b'0', "x", b"")].concat()
        };
        for kind in [b'x', b'g'] {
            assert_eq!(paths(&of(limit, kind)), ["x"]);
            let said = "an extended header of 65537 bytes at byte 0 of the unpacked archive; at most 65536 are read";
            assert_eq!(refused(&*of(limit + 1, kind)), said);
        }
        // A size alone asks for nothing.
        for kind in [b'L', b'K', b'x', b'g'] {
            let mut header = tar::Header::new_gnu();
            header.set_entry_type(tar::EntryType::new(kind));
            header.set_size(u64::MAX >> 8);
            header.set_cksum();
            assert!(refused(&header.as_bytes()[..]).contains("are read"));
        }
    }

    #[test]
    fn members_are_read_up_to_their_limit_and_not_beyond() {
        let one = [
            member(b'x', "PaxHeaders/x", &record("mtime", "1")),
            member(b'0', "x", b""),
        ]
        .concat();
        let global = member(b'g', "pax_global_header", &record("comment", "x"));
        for (one, handed_on) in [(one, 3), (global, 0)] {
            for copies in [3, 4] {
                let tar = [one.repeat(copies), END.to_vec()].concat();
                // As if all before these had been read.
                let reader = TarReader {
                    source: &*tar,
                    position: 0,
                    members: MAX_MEMBERS - 3,
                    name_bytes: 0,
                };
                let mut count = 0;
                let read = reader.each_member(|_, _: &mut dyn Read| {
                    count += 1;
                    Ok::<(), io::Error>(())
                });
                let said = read.err().map(|error| error.to_string());
                let expected = (copies == 4).then(|| "more than 250000 members".to_owned());
                assert_eq!((count, said), (handed_on, expected));
            }
        }
    }

    #[test]
    fn names_are_read_up_to_their_limit_and_not_beyond() {
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
            let read = reader.each_member(|_, _: &mut dyn Read| Ok::<(), io::Error>(()));
            assert_eq!(
                read.err().map(|error| error.to_string()).as_deref(),
                expected
            );
        }
    }

    #[test]
    fn headers_that_readers_take_in_several_ways_are_refused() {
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
            sized(b"0000000008 \0"),
            sized(b"+0000000007\0"),
            sized(b"            "),
            sized(b"\x80\0\0\x01\0\0\0\0\0\0\0\0"),
            sized(b"\x81\0\0\0\0\0\0\0\0\0\0\0"),
            sized(&[0xff; 12]),
        ];
        insta::assert_snapshot!(cases.map(|tar| refused(&*tar)).join("\n"), @r"
        two extended headers of one kind describe one member, at byte 1024 of the unpacked archive
        a member is named by two kinds of extended headers, at byte 2048 of the unpacked archive
        two extended headers of one kind describe one member, at byte 1024 of the unpacked archive
        a name has a zero byte, at byte 1024 of the unpacked archive
        a name has a zero byte, at byte 1024 of the unpacked archive
        an extended header describes a member that is not there, at byte 1024 of the unpacked archive
        malformed pax record, at byte 0 of the unpacked archive
        an extended header gives all members one path, link or size, at byte 0 of the unpacked archive
        an extended header gives all members one path, link or size, at byte 0 of the unpacked archive
        a member that is not a file has content, at byte 0 of the unpacked archive
        a member that is not a file has content, at byte 0 of the unpacked archive
        a member that is not a file has content, at byte 0 of the unpacked archive
        a member that is not a file has content, at byte 0 of the unpacked archive
        extended headers of Solaris are not supported, at byte 0 of the unpacked archive
        a member is larger than any file, at byte 1024 of the unpacked archive
        a header does not have the sum that it names, at byte 0 of the unpacked archive
        a file has a path that ends with a slash, as those of folders do, at byte 0 of the unpacked archive
        a file has a path that ends with a slash, as those of folders do, at byte 0 of the unpacked archive
        a file has a path that ends with a slash, as those of folders do, at byte 1024 of the unpacked archive
        the size of a member is not a number, at byte 0 of the unpacked archive
        the size of a member is not a number, at byte 0 of the unpacked archive
        the size of a member is not a number, at byte 0 of the unpacked archive
        the size of a member is negative or has more than 64 bits, at byte 0 of the unpacked archive
        the size of a member is negative or has more than 64 bits, at byte 0 of the unpacked archive
        the size of a member is negative or has more than 64 bits, at byte 0 of the unpacked archive
        ");
        let binary = [
            sized(b"\x80\0\0\0\0\0\0\0\0\0\0\x07"),
            b"content".to_vec(),
            vec![0; 505],
        ]
        .concat();
        assert_eq!(members(&*binary).unwrap()[0].1, "content");
    }

    /// Wherever an archive ends early, it is not taken for a shorter one.
    #[test]
    fn archives_that_are_cut_off_are_refused() {
        let all = [
            member(b'0', "x", b"content"),
            member(b'0', "y", b""),
            END[..512].to_vec(),
        ]
        .concat();
        assert_eq!(whole(&*all).unwrap().len(), 2);
        let cuts = [0, 1, 511, 512, 519, 1023, 1024, 1536, 2047];
        let reasons = cuts.map(|cut| format!("{cut}: {}", reason(whole(&all[..cut]))));
        insta::assert_snapshot!(reasons.join("\n"), @r"
        0: it is cut off: the end-of-archive block is missing, at byte 0 of the unpacked archive
        1: UnexpectedEof
        511: UnexpectedEof
        512: UnexpectedEof
        519: UnexpectedEof
        1023: UnexpectedEof
        1024: it is cut off: the end-of-archive block is missing, at byte 1024 of the unpacked archive
        1536: it is cut off: the end-of-archive block is missing, at byte 1536 of the unpacked archive
        2047: UnexpectedEof
        ");
    }

    #[test]
    fn links_without_a_readable_target_are_reported_as_such() {
        let latin = [member(b'K', "long", b"\xe4\0"), member(b'2', "x", b"")].concat();
        let found =
            members(&*[member(b'2', "x", b""), member(b'1', "x", b""), latin].concat()).unwrap();
        let kinds: Vec<&ExtractedKind> = found.iter().map(|(member, _)| &member.kind).collect();
        let empty = ExtractedKind::Other("a link without a target");
        assert_eq!(
            kinds,
            [
                &empty,
                &empty,
                &ExtractedKind::Other("a link whose target is not UTF-8")
            ]
        );
    }
}
