//! An opened wheel: the archive and the metadata files of its dist-info directory.

use std::collections::BTreeSet;

use super::record::Record;
use super::zip::limits::{MAX_HEADERS_BYTES, MAX_RECORD_BYTES};
use super::{HeaderDocument, WheelError, ZipArchive, ZipMember};
use rock_bytes::ReadAt;

/// The archive of a wheel with parsed METADATA and WHEEL, but not RECORD.
#[derive(Debug)]
pub struct WheelHeaders<'a> {
    archive: ZipArchive<'a>,
    dist_info: String,
    metadata: HeaderDocument,
    wheel_file: HeaderDocument,
}

impl<'a> WheelHeaders<'a> {
    /// Opens the archive, and parses METADATA and WHEEL.
    ///
    /// # Errors
    /// Fails if the archive is refused, or one of the two files is missing or invalid.
    pub fn open(source: &'a dyn ReadAt) -> Result<Self, WheelError> {
        let archive = ZipArchive::open(source)?;
        let dist_info = find_dist_info(&archive)?;
        let headers = |file: &str| {
            let bytes = read_file(&archive, &dist_info, file, MAX_HEADERS_BYTES)?;
            HeaderDocument::read(bytes, &format!("{dist_info}/{file}"))
        };
        let (metadata, format_file) = (headers("METADATA")?, headers("WHEEL")?);
        Ok(Self {
            archive,
            dist_info,
            metadata,
            wheel_file: format_file,
        })
    }

    /// Returns the archive.
    pub fn archive(&self) -> &ZipArchive<'a> {
        &self.archive
    }

    /// Returns the name of the dist-info directory, `flash_attn-2.8.3.dist-info`.
    pub fn dist_info(&self) -> &str {
        &self.dist_info
    }

    /// Returns the name of the dist-info directory without its suffix, `flash_attn-2.8.3`.
    pub fn dist_info_stem(&self) -> &str {
        self.dist_info
            .strip_suffix(".dist-info")
            .unwrap_or(&self.dist_info)
    }

    /// Returns the path of a file in the dist-info directory.
    pub fn dist_info_path(&self, file: &str) -> String {
        format!("{}/{file}", self.dist_info)
    }

    /// Returns METADATA.
    pub fn metadata(&self) -> &HeaderDocument {
        &self.metadata
    }

    /// Returns METADATA by value.
    pub fn into_metadata(self) -> HeaderDocument {
        self.metadata
    }

    /// Returns the file WHEEL.
    pub fn wheel_file(&self) -> &HeaderDocument {
        &self.wheel_file
    }
}

/// A wheel with parsed METADATA, WHEEL and RECORD.
#[derive(Debug)]
pub struct Wheel<'a> {
    headers: WheelHeaders<'a>,
    record: Record,
}

impl<'a> Wheel<'a> {
    /// Opens the archive, and parses METADATA, WHEEL and RECORD.
    ///
    /// # Errors
    /// Fails if the archive is refused, or one of the three files is missing or invalid.
    pub fn open(source: &'a dyn ReadAt) -> Result<Self, WheelError> {
        let headers = WheelHeaders::open(source)?;
        let table = read_file(
            headers.archive(),
            headers.dist_info(),
            "RECORD",
            MAX_RECORD_BYTES,
        )?;
        let record = Record::parse(&table, &headers.dist_info_path("RECORD"))?;
        Ok(Self { headers, record })
    }

    /// Returns the wheel without RECORD.
    pub fn headers(&self) -> &WheelHeaders<'a> {
        &self.headers
    }

    /// Returns the archive.
    pub fn archive(&self) -> &ZipArchive<'a> {
        self.headers.archive()
    }

    /// Returns the name of the dist-info directory, `flash_attn-2.8.3.dist-info`.
    pub fn dist_info(&self) -> &str {
        self.headers.dist_info()
    }

    /// Returns the name of the dist-info directory without its suffix, `flash_attn-2.8.3`.
    pub fn dist_info_stem(&self) -> &str {
        self.headers.dist_info_stem()
    }

    /// Returns the path of a file in the dist-info directory.
    pub fn dist_info_path(&self, file: &str) -> String {
        self.headers.dist_info_path(file)
    }

    /// Returns METADATA.
    pub fn metadata(&self) -> &HeaderDocument {
        self.headers.metadata()
    }

    /// Returns the file WHEEL.
    pub fn wheel_file(&self) -> &HeaderDocument {
        self.headers.wheel_file()
    }

    /// Returns RECORD.
    pub fn record(&self) -> &Record {
        &self.record
    }
}

/// Reads the METADATA of a wheel.
///
/// # Errors
/// Fails if the archive is refused by this crate, an installer or PyPI, or has no METADATA.
pub fn read_metadata(source: &dyn ReadAt) -> Result<Vec<u8>, WheelError> {
    let archive = ZipArchive::open(source)?;
    if let Some(violation) = archive.removable_violations().next() {
        return Err(violation.into());
    }
    let dist_info = find_dist_info(&archive)?;
    read_file(&archive, &dist_info, "METADATA", MAX_HEADERS_BYTES)
}

/// Returns the only dist-info directory at the top of an archive.
pub(super) fn find_dist_info(archive: &ZipArchive<'_>) -> Result<String, WheelError> {
    let folders = archive
        .members()
        .iter()
        .filter_map(|member| member.name().split_once('/'))
        .map(|(top, _)| top);
    let found: BTreeSet<&str> = folders.filter(|top| top.ends_with(".dist-info")).collect();
    match found.first() {
        Some(folder) if found.len() == 1 => Ok((*folder).to_owned()),
        _ => Err(WheelError::DistInfoCount {
            found: found.into_iter().map(str::to_owned).collect(),
        }),
    }
}

fn read_file(
    archive: &ZipArchive<'_>,
    dist_info: &str,
    file: &str,
    limit_bytes: u64,
) -> Result<Vec<u8>, WheelError> {
    let name = format!("{dist_info}/{file}");
    let member: &ZipMember = archive
        .member(&name)
        .ok_or(WheelError::MissingMember { member: name })?;
    archive.read(member, limit_bytes)
}
