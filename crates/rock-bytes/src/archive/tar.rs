//! Building tar archives (POSIX.1-2017, pax, "ustar Interchange Format"; GNU tar manual, "Basic Tar
//! Format", for long names).

use std::io;

use crate::{Concat, ReadAt};

/// The size of a tar block in bytes; headers and contents are aligned to it.
const BLOCK_BYTES: u64 = 512;

/// The header fields of a member to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TarMember<'m> {
    /// The path, with `/` as separator.
    pub path: &'m str,
    /// The type.
    pub kind: TarMemberKind<'m>,
    /// The permission bits.
    pub mode: u32,
    /// The modification time in seconds since 1970-01-01 UTC.
    pub time_s: u64,
}

/// The type of a member to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TarMemberKind<'m> {
    /// A directory.
    Directory,
    /// A symbolic link and its target.
    Symlink(&'m str),
    /// A regular file.
    File,
}

/// A builder of a tar archive. The content of members is not copied.
#[derive(Debug, Default)]
pub struct TarBuilder<'t> {
    parts: Concat<'t>,
}

impl<'t> TarBuilder<'t> {
    /// Creates a builder without members.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a member; `content` is that of a regular file.
    ///
    /// # Errors
    /// If a path or link target is not valid in an archive: empty, or with a zero byte.
    pub fn push(
        &mut self,
        member: &TarMember<'_>,
        content: Option<Box<dyn ReadAt + 't>>,
    ) -> io::Result<()> {
        let size_bytes = content.as_ref().map_or(0, |content| content.size_bytes());
        self.parts.push(Box::new(header(member, size_bytes)?));
        if let Some(content) = content {
            self.parts.push(content);
            let padding = size_bytes.next_multiple_of(BLOCK_BYTES) - size_bytes;
            self.parts.push(Box::new(vec![
                0;
                usize::try_from(padding).unwrap_or_default()
            ]));
        }
        Ok(())
    }

    /// Returns the archive, with its end-of-archive blocks.
    pub fn finish(mut self) -> Concat<'t> {
        self.parts.push(Box::new(vec![
            0;
            2 * usize::try_from(BLOCK_BYTES)
                .unwrap_or_default()
        ]));
        self.parts
    }
}

/// Returns the header blocks of a member, including those of GNU long names.
fn header(member: &TarMember<'_>, size_bytes: u64) -> io::Result<Vec<u8>> {
    let mut header = tar::Header::new_gnu();
    header.set_mode(member.mode);
    header.set_mtime(member.time_s);
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(size_bytes);
    let mut builder = tar::Builder::new(Vec::new());
    match member.kind {
        TarMemberKind::Directory => {
            header.set_entry_type(tar::EntryType::Directory);
            builder.append_data(&mut header, member.path, io::empty())?;
        }
        TarMemberKind::Symlink(text) => {
            header.set_entry_type(tar::EntryType::Symlink);
            builder.append_link(&mut header, member.path, text)?;
        }
        TarMemberKind::File => {
            header.set_entry_type(tar::EntryType::Regular);
            builder.append_data(&mut header, member.path, io::empty())?;
        }
    }
    // Taken before the builder is dropped, which would append the end-of-archive blocks.
    Ok(std::mem::take(builder.get_mut()))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::{TarBuilder, TarMember, TarMemberKind};
    use crate::{RangeReader, ReadAt as _};

    #[test]
    fn built_archive_is_read_by_the_tar_crate() {
        let long = format!("{}/{}", "folder".repeat(20), "name".repeat(40));
        let mut tar = TarBuilder::new();
        let member = |path, kind, mode| TarMember {
            path,
            kind,
            mode,
            time_s: 315_532_800,
        };
        tar.push(&member("bin", TarMemberKind::Directory, 0o755), None)
            .unwrap();
        tar.push(
            &member("bin/run", TarMemberKind::File, 0o755),
            Some(Box::new(b"#!/bin/sh\n".to_vec())),
        )
        .unwrap();
        tar.push(
            &member("bin/same", TarMemberKind::Symlink("run"), 0o777),
            None,
        )
        .unwrap();
        tar.push(
            &member(&long, TarMemberKind::File, 0o644),
            Some(Box::new(vec![7; 1000])),
        )
        .unwrap();
        tar.push(
            &member("to-long", TarMemberKind::Symlink(&long), 0o777),
            None,
        )
        .unwrap();
        let made = tar.finish();
        let mut archive = tar::Archive::new(RangeReader::new(&made, 0, made.size_bytes()));
        let mut found = Vec::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let path = entry.path().unwrap().to_string_lossy().into_owned();
            let link = entry
                .link_name()
                .unwrap()
                .map(|link| link.to_string_lossy().into_owned());
            let mut content = Vec::new();
            entry.read_to_end(&mut content).unwrap();
            found.push((path, link, entry.header().mode().unwrap(), content.len()));
        }
        assert_eq!(
            found,
            [
                ("bin".to_owned(), None, 0o755, 0),
                ("bin/run".to_owned(), None, 0o755, 10),
                ("bin/same".to_owned(), Some("run".to_owned()), 0o777, 0),
                (long.clone(), None, 0o644, 1000),
                ("to-long".to_owned(), Some(long), 0o777, 0),
            ]
        );
    }
}
