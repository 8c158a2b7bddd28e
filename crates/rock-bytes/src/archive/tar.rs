//! Writing tar archives (POSIX.1-2017, pax, "ustar Interchange Format"; GNU tar manual, "Basic Tar
//! Format", for long names).

use std::io;

use crate::{Concat, ReadAt};

/// Members begin at multiples of this.
const BLOCK_BYTES: u64 = 512;

/// A member of an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member<'m> {
    /// Its path, with slashes.
    pub path: &'m str,
    /// What it is.
    pub kind: MemberKind<'m>,
    /// Its permission bits.
    pub mode: u32,
    /// When it was changed, in seconds since 1970-01-01 UTC.
    pub time_s: u64,
}

/// What a member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemberKind<'m> {
    /// A folder.
    Folder,
    /// A symbolic link with its text.
    Link(&'m str),
    /// A regular file.
    File,
}

/// An archive that is put together out of its members.
#[derive(Debug, Default)]
pub struct Tar<'t> {
    joined: Concat<'t>,
}

impl<'t> Tar<'t> {
    /// No members yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a member. `content` is what a regular file holds.
    ///
    /// # Errors
    /// When a path cannot stand in an archive: it is empty, or has a zero byte.
    pub fn push(
        &mut self,
        member: &Member<'_>,
        content: Option<Box<dyn ReadAt + 't>>,
    ) -> io::Result<()> {
        let size_bytes = content.as_ref().map_or(0, |content| content.size_bytes());
        self.joined.push(Box::new(header(member, size_bytes)?));
        if let Some(content) = content {
            self.joined.push(content);
            let rest = size_bytes.next_multiple_of(BLOCK_BYTES) - size_bytes;
            self.joined
                .push(Box::new(vec![0; usize::try_from(rest).unwrap_or_default()]));
        }
        Ok(())
    }

    /// The whole archive.
    pub fn finish(mut self) -> Concat<'t> {
        self.joined.push(Box::new(vec![
            0;
            2 * usize::try_from(BLOCK_BYTES)
                .unwrap_or_default()
        ]));
        self.joined
    }
}

/// What stands before the content of a member, its long names with it.
fn header(member: &Member<'_>, size_bytes: u64) -> io::Result<Vec<u8>> {
    let mut header = tar::Header::new_gnu();
    header.set_mode(member.mode);
    header.set_mtime(member.time_s);
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(size_bytes);
    let mut builder = tar::Builder::new(Vec::new());
    match member.kind {
        MemberKind::Folder => {
            header.set_entry_type(tar::EntryType::Directory);
            builder.append_data(&mut header, member.path, io::empty())?;
        }
        MemberKind::Link(text) => {
            header.set_entry_type(tar::EntryType::Symlink);
            builder.append_link(&mut header, member.path, text)?;
        }
        MemberKind::File => {
            header.set_entry_type(tar::EntryType::Regular);
            builder.append_data(&mut header, member.path, io::empty())?;
        }
    }
    // Taken before the builder ends: what it writes then belongs behind the last member.
    Ok(std::mem::take(builder.get_mut()))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::{Member, MemberKind, Tar};
    use crate::{ReadAt as _, Section};

    #[test]
    fn what_was_laid_together_is_what_a_reader_finds() {
        let long = format!("{}/{}", "folder".repeat(20), "name".repeat(40));
        let mut tar = Tar::new();
        let member = |path, kind, mode| Member {
            path,
            kind,
            mode,
            time_s: 315_532_800,
        };
        tar.push(&member("bin", MemberKind::Folder, 0o755), None)
            .unwrap();
        tar.push(
            &member("bin/run", MemberKind::File, 0o755),
            Some(Box::new(b"#!/bin/sh\n".to_vec())),
        )
        .unwrap();
        tar.push(&member("bin/same", MemberKind::Link("run"), 0o777), None)
            .unwrap();
        tar.push(
            &member(&long, MemberKind::File, 0o644),
            Some(Box::new(vec![7; 1000])),
        )
        .unwrap();
        tar.push(&member("to-long", MemberKind::Link(&long), 0o777), None)
            .unwrap();
        let made = tar.finish();
        let mut archive = tar::Archive::new(Section::new(&made, 0, made.size_bytes()));
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
