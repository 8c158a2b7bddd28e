//! Archives written field by field, so that any of them can be wrong.

use std::io::{Cursor, Read};

/// An archive whose members are stored, with every field that a test may want to be wrong.
#[derive(Debug, Clone, Default)]
pub struct RawZip {
    /// The members in order.
    pub members: Vec<RawMember>,
    /// Bytes between the data of the last member and the central directory.
    pub gap: Vec<u8>,
    /// Bytes between the central directory and the end record: ZIP64 records.
    pub before_end: Vec<u8>,
    /// The comment of the archive.
    pub comment: Vec<u8>,
}

/// A member of a [`RawZip`].
#[derive(Debug, Clone, Default)]
pub struct RawMember {
    /// The name in both headers.
    pub name: Vec<u8>,
    /// The data, which is the content where the method is 0.
    pub content: Vec<u8>,
    /// The compression method of both headers.
    pub method: u16,
    /// The slots of the compressed size and the size in both headers, where they are not those of
    /// the data.
    pub sizes: Option<[u32; 2]>,
    /// General purpose flags of both headers.
    pub flags: u16,
    /// The Unix mode.
    pub mode: u32,
    /// The version needed to extract, of both headers.
    pub version: u16,
    /// Extra fields of the local header.
    pub local_extra: Vec<u8>,
    /// Extra fields of the central header.
    pub central_extra: Vec<u8>,
    /// The comment in the central header.
    pub comment: Vec<u8>,
    /// Bytes before the local header.
    pub gap: Vec<u8>,
    /// Bytes after the data.
    pub descriptor: Vec<u8>,
    /// The CRC-32 in both headers, where it is not that of the content.
    pub crc32: Option<u32>,
    /// Whether sizes and CRC-32 of the local header are zero.
    pub is_streamed: bool,
    /// Whether the central directory leaves it out.
    pub is_hidden: bool,
}

impl RawMember {
    /// A regular file.
    pub fn new(name: &str, content: &[u8]) -> Self {
        let flags = if name.is_ascii() { 0 } else { 1 << 11 };
        Self {
            name: name.into(),
            content: content.to_vec(),
            flags,
            mode: 0o100_644,
            version: 20,
            ..Self::default()
        }
    }

    fn crc32(&self) -> u32 {
        self.crc32.unwrap_or_else(|| crc32fast::hash(&self.content))
    }

    /// The fields from the version to the sizes, as both headers have them.
    fn common(&self, is_local: bool) -> Vec<u8> {
        let zero = is_local && self.is_streamed;
        let size = u32::try_from(self.content.len()).unwrap();
        let [compressed, size] = self.sizes.unwrap_or([size, size]);
        let sums = [self.crc32(), compressed, size].map(|value| if zero { 0 } else { value });
        let date = 1_u16 << 5 | 1;
        let mut fields = [self.version, self.flags, self.method, 0, date]
            .map(u16::to_le_bytes)
            .concat();
        fields.extend(sums.map(u32::to_le_bytes).concat());
        fields
    }

    fn local(&self) -> Vec<u8> {
        let lengths = [&self.name, &self.local_extra]
            .map(|part| u16::try_from(part.len()).unwrap().to_le_bytes());
        [
            b"PK\x03\x04",
            &self.common(true)[..],
            &lengths.concat(),
            &self.name,
            &self.local_extra,
        ]
        .concat()
    }

    fn central(&self, offset: usize) -> Vec<u8> {
        let lengths = [&self.name, &self.central_extra, &self.comment]
            .map(|part| u16::try_from(part.len()).unwrap().to_le_bytes())
            .concat();
        let offset = u32::try_from(offset).unwrap().to_le_bytes();
        let rest = [
            &[0; 4][..],
            &(self.mode << 16).to_le_bytes(),
            &offset,
            &self.name,
            &self.central_extra,
        ]
        .concat();
        [
            b"PK\x01\x02\x14\x03",
            &self.common(false)[..],
            &lengths,
            &rest,
            &self.comment,
        ]
        .concat()
    }

    /// A data descriptor with signature that is right.
    pub fn true_descriptor(&self) -> Vec<u8> {
        let size = u32::try_from(self.content.len()).unwrap();
        [
            b"PK\x07\x08",
            &[self.crc32(), size, size].map(u32::to_le_bytes).concat()[..],
        ]
        .concat()
    }
}

impl RawZip {
    /// The same members as in another archive, stored.
    pub fn read(bytes: &[u8]) -> Self {
        let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
        let mut members = Vec::new();
        for at in 0..archive.len() {
            let mut file = archive.by_index(at).unwrap();
            let mut content = Vec::new();
            file.read_to_end(&mut content).unwrap();
            let mode = file.unix_mode().unwrap();
            members.push(RawMember {
                mode,
                ..RawMember::new(&file.name().unwrap(), &content)
            });
        }
        Self {
            members,
            ..Self::default()
        }
    }

    /// Edits the first member.
    #[must_use]
    pub fn with_first(mut self, edit: impl FnOnce(&mut RawMember)) -> Self {
        edit(&mut self.members[0]);
        self
    }

    /// Edits the archive.
    #[must_use]
    pub fn with(mut self, edit: impl FnOnce(&mut Self)) -> Self {
        edit(&mut self);
        self
    }

    /// The file.
    pub fn bytes(&self) -> Vec<u8> {
        let (mut bytes, mut central, mut count) = (Vec::new(), Vec::new(), 0_u16);
        for member in &self.members {
            bytes.extend(&member.gap);
            let offset = bytes.len();
            bytes.extend(member.local());
            bytes.extend(&member.content);
            bytes.extend(&member.descriptor);
            if !member.is_hidden {
                central.extend(member.central(offset));
                count += 1;
            }
        }
        bytes.extend(&self.gap);
        let offset = u32::try_from(bytes.len()).unwrap().to_le_bytes();
        let length = u32::try_from(central.len()).unwrap().to_le_bytes();
        let [count, comment] =
            [count, u16::try_from(self.comment.len()).unwrap()].map(u16::to_le_bytes);
        bytes.extend(
            [
                &central[..],
                &self.before_end,
                b"PK\x05\x06\0\0\0\0",
                &count,
                &count,
                &length,
                &offset,
            ]
            .concat(),
        );
        bytes.extend([&comment[..], &self.comment].concat());
        bytes
    }
}

/// An extra field (APPNOTE 4.5.1).
pub fn extra_field(id: u16, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).unwrap();
    [&id.to_le_bytes()[..], &length.to_le_bytes(), content].concat()
}

/// An Info-ZIP Unicode Path field for a header with this name (APPNOTE 4.6.9).
pub fn unicode_path(name: &[u8], path: &str) -> Vec<u8> {
    extra_field(
        0x7075,
        &[
            &[1],
            &crc32fast::hash(name).to_le_bytes()[..],
            path.as_bytes(),
        ]
        .concat(),
    )
}
