//! A wheel made of files that lie elsewhere.

use std::borrow::Cow;

use super::progress::ProgressMeter;
use super::record::{Record, RecordRow};
use super::zip::{MemberOptions, WriteEvent, ZipEntry, check_member_name, write_entries};
use super::{DosTime, MemberContent, WheelError, ZipWriter};
use rock_bytes::Target;

/// A file of a new wheel.
#[derive(Debug, Clone)]
pub struct NewWheelFile<'f> {
    /// Its path in the wheel.
    pub path: Cow<'f, str>,
    /// What it holds.
    pub content: MemberContent<'f>,
    /// Whether it may be run.
    pub is_executable: bool,
    /// Whether it is compressed already.
    pub is_compressed: bool,
}

/// How a new wheel is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewWheelOptions {
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
    files: impl Iterator<Item = NewWheelFile<'f>>,
    dist_info: &str,
    metadata: &[(&str, &'f [u8])],
    options: &NewWheelOptions,
    target: &mut dyn Target,
    meter: &ProgressMeter<'_>,
) -> Result<u64, WheelError> {
    let described = metadata.iter().map(|(name, content)| NewWheelFile {
        path: format!("{dist_info}/{name}").into(),
        content: MemberContent::from(*content),
        is_executable: false,
        is_compressed: false,
    });
    let member = |is_executable, is_compressed| MemberOptions {
        unix_mode: if is_executable {
            MemberOptions::EXECUTABLE_MODE
        } else {
            MemberOptions::PLAIN_MODE
        },
        time: options.time,
        level: if is_compressed { 0 } else { options.level },
    };
    let mut fault = None;
    let entries = files
        .chain(described)
        .map_while(|file| match check_member_name(&file.path) {
            Ok(()) => {
                let options = member(file.is_executable, file.is_compressed);
                Some(ZipEntry::New {
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
        WriteEvent::BytesDone(bytes) => meter.add(bytes),
        WriteEvent::MemberWritten {
            name,
            sha256,
            size_bytes,
        } => rows.push(RecordRow::new(&name, sha256, size_bytes)),
    })?;
    if let Some(error) = fault {
        return Err(error);
    }
    let record = format!("{dist_info}/RECORD");
    rows.push(RecordRow::without_hash(&record));
    writer.add(&record, &Record { rows }.to_bytes(), &member(false, false))?;
    writer.finish()
}
