//! A wheel opened: the archive and its dist-info.

use std::collections::BTreeSet;

use super::record::Record;
use super::zip::limits::{MAX_HEADERS_BYTES, MAX_RECORD_BYTES};
use super::{HeaderDocument, WheelError, ZipArchive, ZipMember};
use rock_bytes::ReadAt;

/// The archive of a wheel with METADATA and WHEEL, without RECORD.
#[derive(Debug)]
pub struct WheelHeaders<'a> {
    archive: ZipArchive<'a>,
    dist_info: String,
    metadata: HeaderDocument,
    wheel_file: HeaderDocument,
}

impl<'a> WheelHeaders<'a> {
    /// Opens the archive and reads METADATA and WHEEL.
    ///
    /// # Errors
    /// When the archive is refused, or one of the two is missing or cannot be read.
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

    /// The archive.
    pub fn archive(&self) -> &ZipArchive<'a> {
        &self.archive
    }

    /// The name of the dist-info folder, `flash_attn-2.8.3.dist-info`.
    pub fn dist_info(&self) -> &str {
        &self.dist_info
    }

    /// The name of the dist-info folder without its ending, `flash_attn-2.8.3`.
    pub fn dist_info_stem(&self) -> &str {
        self.dist_info
            .strip_suffix(".dist-info")
            .unwrap_or(&self.dist_info)
    }

    /// The path of a file of dist-info.
    pub fn dist_info_path(&self, file: &str) -> String {
        format!("{}/{file}", self.dist_info)
    }

    /// METADATA.
    pub fn metadata(&self) -> &HeaderDocument {
        &self.metadata
    }

    /// Takes METADATA out, as the archive has it.
    pub fn into_metadata(self) -> HeaderDocument {
        self.metadata
    }

    /// WHEEL.
    pub fn wheel_file(&self) -> &HeaderDocument {
        &self.wheel_file
    }
}

/// A wheel whose dist-info was read.
#[derive(Debug)]
pub struct Wheel<'a> {
    headers: WheelHeaders<'a>,
    record: Record,
}

impl<'a> Wheel<'a> {
    /// Opens the archive and reads METADATA, WHEEL and RECORD.
    ///
    /// # Errors
    /// When the archive is refused, or one of the three is missing or cannot be read.
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

    /// The wheel without its RECORD.
    pub fn headers(&self) -> &WheelHeaders<'a> {
        &self.headers
    }

    /// The archive.
    pub fn archive(&self) -> &ZipArchive<'a> {
        self.headers.archive()
    }

    /// The name of the dist-info folder, `flash_attn-2.8.3.dist-info`.
    pub fn dist_info(&self) -> &str {
        self.headers.dist_info()
    }

    /// The name of the dist-info folder without its ending, `flash_attn-2.8.3`.
    pub fn dist_info_stem(&self) -> &str {
        self.headers.dist_info_stem()
    }

    /// The path of a file of dist-info.
    pub fn dist_info_path(&self, file: &str) -> String {
        self.headers.dist_info_path(file)
    }

    /// METADATA.
    pub fn metadata(&self) -> &HeaderDocument {
        self.headers.metadata()
    }

    /// WHEEL.
    pub fn wheel_file(&self) -> &HeaderDocument {
        self.headers.wheel_file()
    }

    /// RECORD.
    pub fn record(&self) -> &Record {
        &self.record
    }
}

/// The METADATA of a wheel as it stands in the archive.
///
/// # Errors
/// When the archive is refused by this program, an installer or PyPI, or has no METADATA.
pub fn read_metadata(source: &dyn ReadAt) -> Result<Vec<u8>, WheelError> {
    let archive = ZipArchive::open(source)?;
    if let Some(violation) = archive.removable_violations().next() {
        return Err(violation.into());
    }
    let dist_info = find_dist_info(&archive)?;
    read_file(&archive, &dist_info, "METADATA", MAX_HEADERS_BYTES)
}

/// The one dist-info folder at the top of an archive.
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
