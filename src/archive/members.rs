//! Members of a tar that comes as a stream.

use std::io::{self, Read};

/// A member of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unpacked {
    /// Its path as the archive has it; `None` where it is no UTF-8 text.
    pub path: Option<String>,
    /// What it is.
    pub kind: UnpackedKind,
    /// Where its content begins in the stream.
    pub start: u64,
}

/// What a member is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnpackedKind {
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

/// Hands on every member of a tar, with its content; the stream is read to its end.
///
/// # Errors
/// When the stream is damaged or ends too early, and what `see` says.
pub fn each_member<R: Read, E: From<io::Error>>(
    source: R,
    mut see: impl FnMut(Unpacked, &mut dyn Read) -> Result<(), E>,
) -> Result<(), E> {
    let mut archive = tar::Archive::new(source);
    for entry in archive.entries()? {
        let mut entry = entry?;
        let member = Unpacked {
            path: String::from_utf8(entry.path_bytes().into_owned()).ok(),
            kind: kind(&entry)?,
            start: entry.raw_file_position(),
        };
        see(member, &mut entry)?;
    }
    let mut source = archive.into_inner();
    // What compresses the stream says at its end whether it was whole.
    io::copy(&mut source, &mut io::sink())?;
    Ok(())
}

fn kind(entry: &tar::Entry<'_, impl Read>) -> io::Result<UnpackedKind> {
    let text = || entry.link_name_bytes().and_then(|text| String::from_utf8(text.into_owned()).ok());
    Ok(match entry.header().entry_type() {
        tar::EntryType::Directory => UnpackedKind::Folder,
        tar::EntryType::Regular | tar::EntryType::Continuous => {
            UnpackedKind::File { size_bytes: entry.size(), mode: entry.header().mode()? & 0o7777 }
        }
        tar::EntryType::Symlink => {
            text().map_or(UnpackedKind::Other("a link whose text is no UTF-8"), UnpackedKind::Link)
        }
        tar::EntryType::Link => {
            text().map_or(UnpackedKind::Other("a link whose text is no UTF-8"), UnpackedKind::Again)
        }
        tar::EntryType::Char | tar::EntryType::Block => UnpackedKind::Other("a device"),
        tar::EntryType::Fifo => UnpackedKind::Other("a pipe"),
        tar::EntryType::GNUSparse => UnpackedKind::Other("a file with holes"),
        _ => UnpackedKind::Other("of a kind that is not known"),
    })
}
