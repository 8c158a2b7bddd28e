//! Writing a wheel anew with some members changed and all others copied as they lie.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::edits::WheelEdits;
use super::error::weak_hash_message;
use super::progress::{ProgressCallback, ProgressMeter};
use super::record::{Record, RecordHasher, RecordRow};
use super::record_verifier::{RecordMismatch, compare_with_record, size_mismatch};
use super::zip::{MemberOptions, WriteEvent, ZipEntry, check_member_name, write_entries};
use super::{
    CompressionMethod, DosTime, MemberContent, Wheel, WheelError, ZipArchive, ZipMember, ZipWriter,
};
use crate::codes::wheel as codes;
use rock_bytes::Target;
use rock_bytes::start_threads;
use rock_diagnostic::{Diagnostic, Place, Severity};

/// Less than this is checked at once: the threads of the pool take longer to start.
const SMALL_BYTES: u64 = 1 << 20;

/// How a wheel is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RewriteOptions {
    /// Compression of changed members: 0 stores, 1 to 9 deflates ever harder.
    pub level: u32,
    /// One time for all members; without it each keeps its own, and new ones have 1980-01-01.
    pub time: Option<DosTime>,
    /// What becomes of members that do not change.
    pub unchanged: UnchangedMembers,
    /// What the rows of RECORD rest on.
    pub record_check: RecordCheck,
}

/// What becomes of members that do not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnchangedMembers {
    /// Their compressed bytes are copied.
    Copy,
    /// They are compressed anew.
    Recompress,
}

/// What the rows of RECORD rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordCheck {
    /// Every member is read and held against its row. One whose row has no hash, or one that may
    /// not be used, gets a row with SHA-256.
    AllMembers,
    /// What changes is held against its row, which must have a hash; all other rows are taken as
    /// they are.
    ChangedMembers,
    /// The same, and what changes may have a row without a hash, or with one that may not be used.
    AllowWeakHashes,
}

impl Default for RewriteOptions {
    fn default() -> Self {
        Self {
            level: 6,
            time: None,
            unchanged: UnchangedMembers::Copy,
            record_check: RecordCheck::ChangedMembers,
        }
    }
}

/// What became of a wheel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewriteSummary {
    /// The size of the new one.
    pub size_bytes: u64,
    /// Members whose old rows had no hash, or one that may not be used, with that hash; their new
    /// rows have SHA-256.
    pub weak_hashes: BTreeMap<String, String>,
}

impl RewriteSummary {
    /// What a person should know of the wheel of this name.
    pub fn findings(&self, wheel: &str) -> Vec<Diagnostic> {
        let Some((member, listed)) = self.weak_hashes.first_key_value() else {
            return Vec::new();
        };
        let message = match self.weak_hashes.len() {
            1 => weak_hash_message(listed),
            count => format!(
                "RECORD has no hash that may be used of {count} members, of which this is the first"
            ),
        };
        let place = Place::Member {
            wheel: wheel.to_owned(),
            member: member.clone(),
        };
        let finding =
            Diagnostic::new(&codes::WEAK_RECORD_HASH, message).severity(Severity::Warning);
        vec![finding.at(
            place,
            "the new RECORD has SHA-256, of the bytes as they were found",
        )]
    }
}

/// Writes the wheel with these edits, and tells how many bytes it has. See [`rewrite_watched`].
///
/// # Errors
/// Those of [`rewrite_watched`].
pub fn rewrite(
    wheel: &Wheel<'_>,
    edits: &WheelEdits<'_>,
    options: &RewriteOptions,
    target: &mut dyn Target,
) -> Result<u64, WheelError> {
    rewrite_with_progress(wheel, edits, options, target, &|_| {}).map(|written| written.size_bytes)
}

/// Writes the wheel with these edits, tells what became of it, and meanwhile how far it has come.
///
/// Members keep their order; added ones follow, then dist-info with what is added to it, and RECORD
/// is the last. Members that do not change keep their compressed bytes, and their rows of RECORD as
/// they were. Signatures of RECORD are left out, since they sign the old one. The same input gives
/// the same bytes.
///
/// # Errors
/// When a member cannot be read or the target not be written; when an edit is about a member that
/// is not there, or gives a name that is taken or unsafe; and when RECORD does not list a member,
/// or contradicts one that changes or is hashed again: a new RECORD would hide that.
pub fn rewrite_with_progress(
    wheel: &Wheel<'_>,
    edits: &WheelEdits<'_>,
    options: &RewriteOptions,
    target: &mut dyn Target,
    watch: &ProgressCallback<'_>,
) -> Result<RewriteSummary, WheelError> {
    let parts = parts(wheel, edits)?;
    let weak = |error: WheelError| match error {
        WheelError::WeakHash { member, listed, .. } => WheelError::WeakHash {
            member,
            listed,
            members: parts.iter().filter(|part| part.has_weak_row()).count(),
        },
        error => error,
    };
    let unverified: Vec<&PlannedMember<'_>> = parts
        .iter()
        .filter(|part| part.needs_check(options))
        .collect();
    let read_bytes: u64 = unverified
        .iter()
        .filter_map(|part| part.member)
        .map(ZipMember::size_bytes)
        .sum();
    let written_bytes: u64 = parts.iter().map(|part| part.work_bytes(options)).sum();
    let meter = ProgressMeter::new(read_bytes + written_bytes, watch);
    let archive = wheel.archive();
    let mut writer = ZipWriter::new(target);
    let checker = RecordChecker {
        archive,
        rehash: options.record_check,
        meter: &meter,
    };
    let (weak_hashes, new_rows) = if read_bytes < SMALL_BYTES {
        (
            checker.all(&unverified).map_err(weak)?,
            write(&parts, archive, options, &mut writer, &meter)?,
        )
    } else {
        start_threads();
        let mut weak_hashes = Ok(BTreeMap::new());
        let new_rows = rayon::in_place_scope(|scope| {
            scope.spawn(|_| weak_hashes = checker.all_in_parallel(&unverified));
            write(&parts, archive, options, &mut writer, &meter)
        });
        (weak_hashes.map_err(weak)?, new_rows?)
    };
    let record_name = wheel.dist_info_path("RECORD");
    let member = archive
        .member(&record_name)
        .ok_or(WheelError::MissingMember {
            member: record_name.clone(),
        })?;
    let new_name = edits.new_name(&record_name);
    let rows = parts
        .iter()
        .filter_map(|part| part.new_row(&new_rows, &weak_hashes))
        .chain([RecordRow::without_hash(&new_name)])
        .collect();
    writer.add(
        &new_name,
        &Record { rows }.to_bytes(),
        &member_options(member, options),
    )?;
    let size_bytes = writer.finish()?;
    let weak_hashes = weak_hashes
        .into_iter()
        .map(|(name, weak)| (name.to_owned(), weak.listed))
        .collect();
    Ok(RewriteSummary {
        size_bytes,
        weak_hashes,
    })
}

/// A member of the new wheel.
struct PlannedMember<'p> {
    /// The one that it was.
    member: Option<&'p ZipMember>,
    name: String,
    /// What it will hold, where that changes.
    content: Option<&'p MemberContent<'p>>,
    /// The mode of an added one.
    unix_mode: u32,
    row: Option<&'p RecordRow>,
    /// Whether RECORD is known to vouch for its old content.
    is_verified: bool,
}

impl PlannedMember<'_> {
    /// Whether RECORD must vouch for its old content.
    ///
    /// What changes must have been what RECORD says, or its new row would vouch for what nobody
    /// vouched for.
    fn needs_check(&self, options: &RewriteOptions) -> bool {
        let is_asked = self.content.is_some() || options.record_check == RecordCheck::AllMembers;
        is_asked && !self.is_verified && self.member.is_some_and(|member| !member.is_dir())
    }

    /// Whether it is listed without a hash that may be used.
    fn has_weak_row(&self) -> bool {
        self.row
            .is_some_and(|row| RecordHasher::for_hash(&row.hash).is_none())
    }

    /// Its row of the new RECORD; folders have none. What is only compressed anew keeps its own.
    fn new_row(
        &self,
        new_rows: &BTreeMap<String, RecordRow>,
        weak_hashes: &WeakHashes<'_>,
    ) -> Option<RecordRow> {
        let (path, Some(old), None) = (self.name.clone(), self.row, self.content) else {
            return new_rows.get(&self.name).cloned();
        };
        match self
            .member
            .and_then(|member| weak_hashes.get(member.name()))
        {
            Some(weak) => Some(RecordRow {
                path,
                hash: weak.actual.clone(),
                size: weak.size_bytes.to_string(),
            }),
            None => Some(RecordRow {
                path,
                ..old.clone()
            }),
        }
    }

    fn is_copied(&self, options: &RewriteOptions) -> bool {
        self.content.is_none()
            && (options.unchanged == UnchangedMembers::Copy
                || self.member.is_some_and(ZipMember::is_dir))
    }

    /// How much is copied, or read for it.
    fn work_bytes(&self, options: &RewriteOptions) -> u64 {
        match (self.content, self.member) {
            (Some(content), _) => content.size_bytes(),
            (None, Some(member)) if self.is_copied(options) => member.compressed_bytes(),
            (None, member) => member.map_or(0, ZipMember::size_bytes),
        }
    }
}

/// The members of the new wheel but RECORD, in their order.
fn parts<'p>(
    wheel: &'p Wheel<'_>,
    edits: &'p WheelEdits<'_>,
) -> Result<Vec<PlannedMember<'p>>, WheelError> {
    let archive = wheel.archive();
    if let Some(missing) = edits
        .edited_names()
        .find(|name| archive.member(name).is_none())
    {
        return Err(WheelError::MissingMember {
            member: missing.clone(),
        });
    }
    let unsigned = ["RECORD", "RECORD.jws", "RECORD.p7s"].map(|file| wheel.dist_info_path(file));
    let rows = rows_by_path(wheel)?;
    let mut parts = Vec::new();
    for member in archive.members() {
        let name = member.name();
        if unsigned.iter().any(|one| one == name) || edits.removed.contains(name) {
            continue;
        }
        let row = rows.get(name).copied();
        if row.is_none() && !member.is_dir() {
            return Err(WheelError::NotInRecord {
                member: name.to_owned(),
            });
        }
        let content = edits.replaced.get(name);
        let is_verified = edits.verified.contains(name);
        parts.push(PlannedMember {
            member: Some(member),
            name: edits.new_name(name),
            content,
            unix_mode: 0,
            row,
            is_verified,
        });
    }
    for (name, added) in &edits.added {
        let (name, content) = (edits.renamed_path(name), Some(&added.content));
        parts.push(PlannedMember {
            member: None,
            name,
            content,
            unix_mode: added.unix_mode,
            row: None,
            is_verified: false,
        });
    }
    check_names(&parts, &edits.new_name(&unsigned[0]))?;
    let dist_info = edits.new_name(&wheel.dist_info_path(""));
    parts.sort_by_key(|part| part.name.starts_with(&dist_info));
    Ok(parts)
}

/// Returns the rows of RECORD by their paths. Rows that say the same of a file become one in the
/// new RECORD.
///
/// # Errors
/// When two rows of a path differ: the new RECORD would hide that.
fn rows_by_path<'w>(wheel: &'w Wheel<'_>) -> Result<BTreeMap<&'w str, &'w RecordRow>, WheelError> {
    let mut rows: BTreeMap<&str, &RecordRow> = BTreeMap::new();
    for (line, row) in (1..).zip(&wheel.record().rows) {
        if rows
            .insert(&row.path, row)
            .is_some_and(|other| other != row)
        {
            let reason = format!("another row of `{}` says otherwise", row.path);
            return Err(WheelError::InvalidRecord {
                member: wheel.dist_info_path("RECORD"),
                line,
                reason,
            });
        }
    }
    Ok(rows)
}

/// No name is given twice, and new ones may be unpacked.
fn check_names(parts: &[PlannedMember<'_>], record: &str) -> Result<(), WheelError> {
    let mut names = BTreeSet::from([record]);
    for part in parts {
        check_member_name(&part.name)?;
        if !names.insert(&part.name) {
            return Err(WheelError::DuplicateMember {
                member: part.name.clone(),
            });
        }
    }
    Ok(())
}

/// A changed member keeps mode and time, and stays stored where it was unless all are compressed
/// anew.
fn member_options(member: &ZipMember, options: &RewriteOptions) -> MemberOptions {
    let stays_stored =
        member.method() == CompressionMethod::Stored && options.unchanged == UnchangedMembers::Copy;
    MemberOptions {
        unix_mode: member.unix_mode(),
        time: options.time.unwrap_or(member.time()),
        level: if stays_stored { 0 } else { options.level },
    }
}

/// Members whose rows have no hash that may be used.
type WeakHashes<'p> = BTreeMap<&'p str, WeakHash>;

struct WeakHash {
    /// The hash as written.
    listed: String,
    /// The SHA-256 that it should have.
    actual: String,
    size_bytes: u64,
}

/// Holds members against RECORD.
struct RecordChecker<'c> {
    archive: &'c ZipArchive<'c>,
    rehash: RecordCheck,
    meter: &'c ProgressMeter<'c>,
}

impl RecordChecker<'_> {
    fn all<'p>(&self, parts: &[&PlannedMember<'p>]) -> Result<WeakHashes<'p>, WheelError> {
        parts
            .iter()
            .filter_map(|part| self.one(part).transpose())
            .collect()
    }

    /// The largest first; of several faults the first in the archive is told.
    fn all_in_parallel<'p>(
        &self,
        parts: &[&PlannedMember<'p>],
    ) -> Result<WeakHashes<'p>, WheelError> {
        let mut largest_first: Vec<(usize, &&PlannedMember<'p>)> =
            parts.iter().enumerate().collect();
        largest_first.sort_by_key(|(_, part)| {
            std::cmp::Reverse(part.member.map_or(0, ZipMember::size_bytes))
        });
        let found = largest_first.into_iter().par_bridge();
        let mut found: Vec<_> = found
            .filter_map(|(place, part)| Some((place, self.one(part).transpose()?)))
            .collect();
        found.sort_by_key(|(place, _)| *place);
        found.into_iter().map(|(_, one)| one).collect()
    }

    /// The member, where it has no hash and may get one.
    fn one<'p>(&self, part: &PlannedMember<'p>) -> Result<Option<(&'p str, WeakHash)>, WheelError> {
        let Some(member) = part.member else {
            return Ok(None);
        };
        let refused = match compare_with_record(self.archive, member, part.row, self.meter)? {
            None => return Ok(None),
            Some(RecordMismatch::WeakHash { listed, actual })
                if self.rehash != RecordCheck::ChangedMembers =>
            {
                let row = part.row.filter(|row| !row.size.is_empty());
                match row.and_then(|row| size_mismatch(member, row)) {
                    None => {
                        let weak = WeakHash {
                            listed,
                            actual,
                            size_bytes: member.size_bytes(),
                        };
                        return Ok(Some((member.name(), weak)));
                    }
                    Some(other) => other,
                }
            }
            Some(doubt) => doubt,
        };
        Err(refused.into_error(member))
    }
}

/// Writes all but RECORD; new rows by name.
fn write(
    parts: &[PlannedMember<'_>],
    archive: &ZipArchive<'_>,
    options: &RewriteOptions,
    writer: &mut ZipWriter<'_>,
    meter: &ProgressMeter<'_>,
) -> Result<BTreeMap<String, RecordRow>, WheelError> {
    let entries = parts.iter().map(|part| {
        let name = part.name.as_str().into();
        match (part.member, part.content) {
            (Some(member), None) if part.is_copied(options) => {
                let time = options.time.unwrap_or(member.time());
                ZipEntry::Copy {
                    archive,
                    member,
                    name,
                    time,
                }
            }
            (Some(member), content) => {
                let content = content
                    .cloned()
                    .unwrap_or(MemberContent::Member(archive, member));
                ZipEntry::New {
                    name,
                    content,
                    options: member_options(member, options),
                }
            }
            (None, content) => {
                let time = options.time.unwrap_or(DosTime::FIRST);
                let content = content
                    .cloned()
                    .unwrap_or(MemberContent::Bytes(Vec::new().into()));
                ZipEntry::New {
                    name,
                    content,
                    options: MemberOptions {
                        unix_mode: part.unix_mode,
                        time,
                        level: options.level,
                    },
                }
            }
        }
    });
    let mut rows = BTreeMap::new();
    write_entries(writer, entries, |told| match told {
        WriteEvent::BytesDone(bytes) => meter.add(bytes),
        WriteEvent::MemberWritten {
            name,
            sha256,
            size_bytes,
        } => {
            let row = RecordRow::new(&name, sha256, size_bytes);
            rows.insert(name, row);
        }
    })?;
    Ok(rows)
}
