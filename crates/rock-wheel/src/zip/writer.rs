//! Writes an archive, from the first member to the EOCD.

use std::borrow::Cow;
use std::io::ErrorKind;
use std::sync::Arc;

use super::super::WheelError;
use super::fields::without_fields;
use super::header::{self, MADE_ON_UNIX, SizeEncoding};
use super::local::local_extra;
use super::{CompressionMethod, DosTime, UNICODE_PATH_FIELD, ZipArchive, ZipMember, deflate};
use rock_bytes::{ByteSink, WriteAt};

/// Mode, time and compression level of a new member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberOptions {
    /// Unix file type and permissions.
    pub unix_mode: u32,
    /// Modification time.
    pub time: DosTime,
    /// Compression level: 0 stores, 1 (fast) to 9 (small) deflates.
    pub level: u32,
}

impl MemberOptions {
    /// Mode of a regular file that everyone may read: `S_IFREG` and 0644.
    pub const PLAIN_MODE: u32 = 0o100_644;
    /// Mode of a regular file that everyone may read and execute, such as a program or library:
    /// `S_IFREG` and 0755.
    pub const EXECUTABLE_MODE: u32 = 0o100_755;
}

impl Default for MemberOptions {
    /// Returns [`PLAIN_MODE`](Self::PLAIN_MODE), 1980-01-01 and level 6.
    fn default() -> Self {
        Self {
            unix_mode: Self::PLAIN_MODE,
            time: DosTime::FIRST,
            level: 6,
        }
    }
}

/// A content as it is written to an archive.
#[derive(Debug)]
pub(super) struct CompressedContent<'c> {
    data: Cow<'c, [u8]>,
    method: CompressionMethod,
    crc32: u32,
    size_bytes: u64,
}

impl<'c> CompressedContent<'c> {
    /// Compresses a content, unless the result would not be shorter.
    pub(super) fn new(content: Cow<'c, [u8]>, level: u32) -> Self {
        let (crc32, size_bytes) = (crc32fast::hash(&content), content.len() as u64);
        match deflate::deflate_whole(&content, level) {
            Some(data) => Self {
                data: data.into(),
                method: CompressionMethod::Deflated,
                crc32,
                size_bytes,
            },
            None => Self {
                data: content,
                method: CompressionMethod::Stored,
                crc32,
                size_bytes,
            },
        }
    }
}

impl CompressedContent<'_> {
    /// Returns the size of the content.
    pub(super) fn size_bytes(&self) -> u64 {
        self.size_bytes
    }
}

/// A writer of zip archives: members one after another, then the central directory.
///
/// Members have no data descriptors: if the compressed size is not known in advance, the header is
/// rewritten after the data. Zip64 fields are written only if a value needs them.
pub struct ZipWriter<'t> {
    target: &'t mut dyn ByteSink,
    position: u64,
    central: Vec<u8>,
    count: u64,
}

/// A member whose data is being written.
#[derive(Debug)]
pub(super) struct OpenMember {
    member: ZipMember,
    sizes: SizeEncoding,
    header_offset: u64,
    data_offset: u64,
}

impl<'t> ZipWriter<'t> {
    /// Creates a writer of an archive that starts at the current position of the target.
    pub fn new(target: &'t mut dyn ByteSink) -> Self {
        Self {
            target,
            position: 0,
            central: Vec::new(),
            count: 0,
        }
    }

    /// Copies the compressed bytes of a member, under a new name and time.
    ///
    /// # Errors
    /// Fails if the archive cannot be read, or the target cannot be written.
    pub fn copy(
        &mut self,
        archive: &ZipArchive<'_>,
        member: &ZipMember,
        name: &str,
        time: DosTime,
    ) -> Result<(), WheelError> {
        let mut extras = [
            local_extra(archive.source(), member)?,
            member.extra.to_vec(),
        ];
        if name != member.name {
            extras = extras.map(|extra| without_fields(&extra, &[UNICODE_PATH_FIELD]));
        }
        // PyPI refuses members with a comment.
        let copied = ZipMember {
            name: name.to_owned(),
            time,
            comment: Box::default(),
            ..member.clone()
        };
        let offset = self.position;
        self.write(&header::local_header(
            &copied,
            SizeEncoding::of(&copied),
            &extras[0],
        )?)?;
        self.target
            .copy_from(
                archive.source(),
                member.data_offset,
                member.compressed_bytes,
            )
            .map_err(|error| match error.kind() {
                ErrorKind::UnexpectedEof => WheelError::Read(error),
                _ => WheelError::Write(error),
            })?;
        self.position += member.compressed_bytes;
        self.add_central_header(&copied, offset, &extras[1])
    }

    /// Adds a member from memory.
    ///
    /// # Errors
    /// Fails if the target cannot be written.
    pub fn add(
        &mut self,
        name: &str,
        content: &[u8],
        options: &MemberOptions,
    ) -> Result<(), WheelError> {
        self.add_compressed(
            name,
            &CompressedContent::new(content.into(), options.level),
            options,
        )
    }

    /// Adds a member that is already compressed.
    pub(super) fn add_compressed(
        &mut self,
        name: &str,
        packed: &CompressedContent<'_>,
        options: &MemberOptions,
    ) -> Result<(), WheelError> {
        let member = ZipMember {
            crc32: packed.crc32,
            compressed_bytes: packed.data.len() as u64,
            size_bytes: packed.size_bytes,
            ..new_member(name, packed.method, options)
        };
        let offset = self.position;
        self.write(&header::local_header(
            &member,
            SizeEncoding::of(&member),
            &[],
        )?)?;
        self.write(&packed.data)?;
        self.add_central_header(&member, offset, &[])
    }

    /// Returns a handle for writing at offsets after the current position, if the target supports
    /// that.
    ///
    /// # Errors
    /// Fails if the system does not provide one.
    pub(super) fn write_ahead(&mut self) -> Result<Option<Arc<dyn WriteAt>>, WheelError> {
        self.target.parallel_writer().map_err(WheelError::Write)
    }

    /// Adds a stored member whose content is already in the target, after a header of
    /// [`stored_header_bytes`].
    ///
    /// # Errors
    /// Fails if the target cannot be written.
    pub(super) fn add_prewritten(
        &mut self,
        name: &str,
        size_bytes: u64,
        crc32: u32,
        options: &MemberOptions,
    ) -> Result<(), WheelError> {
        let member = ZipMember {
            crc32,
            ..stored(name, size_bytes, options)
        };
        let offset = self.position;
        self.write(&header::local_header(
            &member,
            SizeEncoding::of(&member),
            &[],
        )?)?;
        self.target.advance(size_bytes).map_err(WheelError::Write)?;
        self.position += size_bytes;
        self.add_central_header(&member, offset, &[])
    }

    /// Begins a member of this content size, whose data follows in several calls: deflated, or
    /// stored at level 0.
    pub(super) fn begin_member(
        &mut self,
        name: &str,
        size_bytes: u64,
        options: &MemberOptions,
    ) -> Result<OpenMember, WheelError> {
        let mut member = stored(name, size_bytes, options);
        if options.level > 0 {
            member.method = CompressionMethod::Deflated;
            // Incompressible data grows by far less than this.
            member.compressed_bytes = size_bytes.saturating_add(size_bytes / 1000);
        }
        let (sizes, header_offset) = (SizeEncoding::of(&member), self.position);
        self.write(&header::local_header(&member, sizes, &[])?)?;
        Ok(OpenMember {
            member,
            sizes,
            header_offset,
            data_offset: self.position,
        })
    }

    /// Writes data of the open member.
    pub(super) fn write_data(&mut self, data: &[u8]) -> Result<(), WheelError> {
        self.write(data)
    }

    /// Ends the open member, and rewrites its header.
    pub(super) fn end_member(&mut self, open: OpenMember, crc32: u32) -> Result<(), WheelError> {
        let compressed_bytes = self.position - open.data_offset;
        let member = ZipMember {
            crc32,
            compressed_bytes,
            ..open.member
        };
        if SizeEncoding::of(&member) == SizeEncoding::Zip64 && open.sizes == SizeEncoding::Plain {
            let reason = "the data is larger than its header can record";
            return Err(WheelError::Write(std::io::Error::other(reason)));
        }
        let header = header::local_header(&member, open.sizes, &[])?;
        self.target
            .overwrite(self.position - open.header_offset, &header)
            .map_err(WheelError::Write)?;
        self.add_central_header(&member, open.header_offset, &[])
    }

    /// Writes the central directory and the EOCD, and returns the size of the archive.
    ///
    /// # Errors
    /// Fails if the target cannot be written.
    pub fn finish(self) -> Result<u64, WheelError> {
        let (offset, length) = (self.position, self.central.len() as u64);
        let end = header::end_records(self.count, offset, length);
        self.target
            .write_all(&self.central)
            .map_err(WheelError::Write)?;
        self.target.write_all(&end).map_err(WheelError::Write)?;
        Ok(offset + length + end.len() as u64)
    }

    /// Leaves a hole in the data of a member, for tests with large archives.
    #[cfg(test)]
    pub(super) fn skip(&mut self, bytes: u64) -> Result<(), WheelError> {
        self.target
            .copy_from(&Vec::<u8>::new(), 0, bytes)
            .map_err(WheelError::Write)?;
        self.position += bytes;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), WheelError> {
        self.target.write_all(bytes).map_err(WheelError::Write)?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    fn add_central_header(
        &mut self,
        member: &ZipMember,
        offset: u64,
        extra: &[u8],
    ) -> Result<(), WheelError> {
        self.central
            .extend(header::central_header(member, offset, extra)?);
        self.count += 1;
        Ok(())
    }
}

impl std::fmt::Debug for ZipWriter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "ZipWriter({} members, {} bytes)",
            self.count, self.position
        )
    }
}

/// Returns the size of the local file header of a new stored member.
///
/// # Errors
/// Fails if the name is too long.
pub(super) fn stored_header_bytes(
    name: &str,
    size_bytes: u64,
    options: &MemberOptions,
) -> Result<u64, WheelError> {
    let member = stored(name, size_bytes, options);
    Ok(header::local_header(&member, SizeEncoding::of(&member), &[])?.len() as u64)
}

fn stored(name: &str, size_bytes: u64, options: &MemberOptions) -> ZipMember {
    ZipMember {
        size_bytes,
        compressed_bytes: size_bytes,
        ..new_member(name, CompressionMethod::Stored, options)
    }
}

fn new_member(name: &str, method: CompressionMethod, options: &MemberOptions) -> ZipMember {
    ZipMember {
        name: name.to_owned(),
        raw_name_bytes: 0,
        method,
        flags: 0,
        crc32: 0,
        compressed_bytes: 0,
        size_bytes: 0,
        header_offset: 0,
        data_offset: 0,
        time: options.time,
        made_by: MADE_ON_UNIX,
        internal_attributes: 0,
        external_attributes: options.unix_mode << 16,
        extra: Box::default(),
        comment: Box::default(),
        has_inexact_zip64: false,
        has_local_zip64: false,
    }
}
