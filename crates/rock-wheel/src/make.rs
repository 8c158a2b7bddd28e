//! A wheel made of files that lie elsewhere.

use std::borrow::Cow;

use super::progress::Meter;
use super::record::{Record, Row};
use super::zip::{Entry, NewMember, Told, check_name, write_entries};
use super::{Content, DosTime, WheelError, ZipWriter};
use rock_bytes::Target;

/// A file of a new wheel.
#[derive(Debug, Clone)]
pub struct NewFile<'f> {
    /// Its path in the wheel.
    pub path: Cow<'f, str>,
    /// What it holds.
    pub content: Content<'f>,
    /// Whether it may be run.
    pub is_executable: bool,
    /// Whether it is compressed already.
    pub is_compressed: bool,
}

/// How a new wheel is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MakeOptions {
    /// Compression: 0 stores, 1 to 9 deflates ever harder.
    pub level: u32,
    /// The time of all members.
    pub time: DosTime,
}

/// Writes a wheel of these files and, behind them, the files of its dist-info folder and its
/// RECORD. Tells its size.
///
/// Files must come sorted by path where the same wheel is to have the same bytes again; contents
/// are compressed in parallel, and what is held of them at once is bounded.
///
/// # Errors
/// When a path is unsafe or too long, a content cannot be read, or the target cannot be written.
pub fn make<'f>(
    files: impl Iterator<Item = NewFile<'f>>,
    dist_info: &str,
    metadata: &[(&str, &'f [u8])],
    options: &MakeOptions,
    target: &mut dyn Target,
    meter: &Meter<'_>,
) -> Result<u64, WheelError> {
    let described = metadata.iter().map(|(name, content)| NewFile {
        path: format!("{dist_info}/{name}").into(),
        content: Content::from(*content),
        is_executable: false,
        is_compressed: false,
    });
    let member = |is_executable, is_compressed| NewMember {
        unix_mode: if is_executable {
            NewMember::EXECUTABLE_MODE
        } else {
            NewMember::PLAIN_MODE
        },
        time: options.time,
        level: if is_compressed { 0 } else { options.level },
    };
    let mut fault = None;
    let entries = files
        .chain(described)
        .map_while(|file| match check_name(&file.path) {
            Ok(()) => {
                let options = member(file.is_executable, file.is_compressed);
                Some(Entry::New {
                    name: file.path,
                    content: file.content,
                    options,
                })
            }
            Err(error) => {
                fault = Some(error);
                None
            }
        });
    let mut writer = ZipWriter::new(target);
    let mut rows = Vec::new();
    write_entries(&mut writer, entries, |told| match told {
        Told::Done(bytes) => meter.add(bytes),
        Told::New {
            name,
            sha256,
            size_bytes,
        } => rows.push(Row::of(&name, sha256, size_bytes)),
    })?;
    if let Some(error) = fault {
        return Err(error);
    }
    let record = format!("{dist_info}/RECORD");
    rows.push(Row::bare(&record));
    writer.add(&record, &Record { rows }.to_bytes(), &member(false, false))?;
    writer.finish()
}
