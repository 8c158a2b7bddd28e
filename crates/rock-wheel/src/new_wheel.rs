//! Writes a new wheel from files.

use std::borrow::Cow;

use super::progress::ProgressMeter;
use super::record::{Record, RecordRow};
use super::zip::{MemberOptions, WriteEvent, ZipEntry, check_member_name, write_entries};
use super::{DosTime, MemberContent, WheelError, ZipWriter};
use rock_bytes::ByteSink;

/// A file of a new wheel.
#[derive(Debug, Clone)]
pub struct NewWheelFile<'f> {
    /// Its path in the wheel.
    pub path: Cow<'f, str>,
    /// Its content.
    pub content: MemberContent<'f>,
    /// Whether it is executable.
    pub is_executable: bool,
    /// Whether it is compressed already, and is stored.
    pub is_compressed: bool,
}

/// Options for writing a new wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewWheelOptions {
    /// Compression level: 0 stores, 1 (fast) to 9 (small) deflates.
    pub level: u32,
    /// Modification time of all members.
    pub time: DosTime,
}

/// A new wheel, written from files.
#[derive(Debug, Clone, Copy)]
pub struct NewWheel<'w, 'f> {
    /// Name of the dist-info directory.
    pub dist_info: &'w str,
    /// Names and contents of the files in dist-info, without RECORD.
    pub metadata: &'w [(&'w str, &'f [u8])],
    /// Compression and times.
    pub options: &'w NewWheelOptions,
}

impl<'f> NewWheel<'_, 'f> {
    /// Writes the files, then those of dist-info, and RECORD last. Returns the size of the wheel.
    ///
    /// The wheel is reproducible if the files come in the same order. Contents are compressed in
    /// parallel, with bounded memory.
    ///
    /// # Errors
    /// Fails if a path is unsafe or too long, a content cannot be read, or the target cannot be
    /// written.
    pub fn write(
        &self,
        files: impl Iterator<Item = NewWheelFile<'f>>,
        target: &mut dyn ByteSink,
        meter: &ProgressMeter<'_>,
    ) -> Result<u64, WheelError> {
        let dist_info_files = self.metadata.iter().map(|(name, content)| NewWheelFile {
            path: format!("{}/{name}", self.dist_info).into(),
            content: MemberContent::from(*content),
            is_executable: false,
            is_compressed: false,
        });
        let mut path_error = None;
        let entries = files.chain(dist_info_files).map_while(|file| {
            if let Err(error) = check_member_name(&file.path) {
                path_error = Some(error);
                return None;
            }
            Some(ZipEntry::New {
                options: self.member_options(file.is_executable, file.is_compressed),
                name: file.path,
                content: file.content,
            })
        });
        let mut writer = ZipWriter::new(target);
        let mut rows = Vec::new();
        write_entries(&mut writer, entries, |event| match event {
            WriteEvent::BytesDone(bytes) => meter.add(bytes),
            WriteEvent::MemberWritten {
                name,
                sha256,
                size_bytes,
            } => rows.push(RecordRow::new(&name, sha256, size_bytes)),
        })?;
        if let Some(error) = path_error {
            return Err(error);
        }
        let record = format!("{}/RECORD", self.dist_info);
        rows.push(RecordRow::without_hash(&record));
        let options = self.member_options(false, false);
        writer.add(&record, &Record { rows }.to_bytes(), &options)?;
        writer.finish()
    }

    fn member_options(&self, is_executable: bool, is_compressed: bool) -> MemberOptions {
        MemberOptions {
            unix_mode: if is_executable {
                MemberOptions::EXECUTABLE_MODE
            } else {
                MemberOptions::PLAIN_MODE
            },
            time: self.options.time,
            level: if is_compressed { 0 } else { self.options.level },
        }
    }
}
