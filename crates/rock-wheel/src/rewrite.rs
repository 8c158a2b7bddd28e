//! Writing a wheel anew with some members changed and all others copied as they lie.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use super::edits::Edits;
use super::fault::weak_hash_message;
use super::progress::{Meter, Watch};
use super::record::{Hasher, Record, Row};
use super::vouch::{Doubt, doubt, other_size};
use super::zip::{Entry, NewMember, Told, check_name, write_entries};
use super::{Archive, Content, DosTime, Member, Method, Wheel, WheelError, ZipWriter};
use crate::codes::wheel as codes;
use rock_bytes::Target;
use rock_bytes::start_threads;
use rock_diagnostic::{Diagnostic, Place, Severity};

/// Less than this is checked at once: the threads of the pool take longer to start.
const SMALL_BYTES: u64 = 1 << 20;

/// How a wheel is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteOptions {
    /// Compression of changed members: 0 stores, 1 to 9 deflates ever harder.
    pub level: u32,
    /// One time for all members; without it each keeps its own, and new ones have 1980-01-01.
    pub time: Option<DosTime>,
    /// What becomes of members that do not change.
    pub unchanged: Unchanged,
    /// What the rows of RECORD rest on.
    pub rehash: Rehash,
}

/// What becomes of members that do not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unchanged {
    /// Their compressed bytes are copied.
    Copied,
    /// They are compressed anew.
    Recompressed,
}

/// What the rows of RECORD rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rehash {
    /// Every member is read and held against its row. One whose row has no hash, or one that may
    /// not be used, gets a row with SHA-256.
    All,
    /// What changes is held against its row, which must have a hash; all other rows are taken as
    /// they are.
    Changed,
    /// The same, and what changes may have a row without a hash, or with one that may not be used.
    TrustRecord,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            level: 6,
            time: None,
            unchanged: Unchanged::Copied,
            rehash: Rehash::Changed,
        }
    }
}

/// What became of a wheel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    /// The size of the new one.
    pub size_bytes: u64,
    /// Members whose old rows had no hash, or one that may not be used, with that hash; their new
    /// rows have SHA-256.
    pub weak_hashes: BTreeMap<String, String>,
}

impl Rewritten {
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
    edits: &Edits<'_>,
    options: &WriteOptions,
    target: &mut dyn Target,
) -> Result<u64, WheelError> {
    rewrite_watched(wheel, edits, options, target, &|_| {}).map(|written| written.size_bytes)
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
pub fn rewrite_watched(
    wheel: &Wheel<'_>,
    edits: &Edits<'_>,
    options: &WriteOptions,
    target: &mut dyn Target,
    watch: &Watch<'_>,
) -> Result<Rewritten, WheelError> {
    let parts = parts(wheel, edits)?;
    let weak = |error: WheelError| match error {
        WheelError::WeakHash { member, listed, .. } => WheelError::WeakHash {
            member,
            listed,
            members: parts.iter().filter(|part| part.has_weak_row()).count(),
        },
        error => error,
    };
    let doubted: Vec<&Part<'_>> = parts
        .iter()
        .filter(|part| part.is_doubted(options))
        .collect();
    let read_bytes: u64 = doubted
        .iter()
        .filter_map(|part| part.member)
        .map(Member::size_bytes)
        .sum();
    let written_bytes: u64 = parts.iter().map(|part| part.work_bytes(options)).sum();
    let meter = Meter::new(read_bytes + written_bytes, watch);
    let archive = wheel.archive();
    let mut writer = ZipWriter::new(target);
    let checking = Checking {
        archive,
        rehash: options.rehash,
        meter: &meter,
    };
    let (mended, made) = if read_bytes < SMALL_BYTES {
        (
            checking.all(&doubted).map_err(weak)?,
            write(&parts, archive, options, &mut writer, &meter)?,
        )
    } else {
        start_threads();
        let mut mended = Ok(BTreeMap::new());
        let made = rayon::in_place_scope(|scope| {
            scope.spawn(|_| mended = checking.all_in_parallel(&doubted));
            write(&parts, archive, options, &mut writer, &meter)
        });
        (mended.map_err(weak)?, made?)
    };
    let record_name = wheel.dist_info_path("RECORD");
    let member = archive.member(&record_name).ok_or(WheelError::Missing {
        member: record_name.clone(),
    })?;
    let new_name = edits.new_name(&record_name);
    let rows = parts
        .iter()
        .filter_map(|part| part.new_row(&made, &mended))
        .chain([Row::bare(&new_name)])
        .collect();
    writer.add(
        &new_name,
        &Record { rows }.to_bytes(),
        &like(member, options),
    )?;
    let size_bytes = writer.finish()?;
    let weak_hashes = mended
        .into_iter()
        .map(|(name, weak)| (name.to_owned(), weak.listed))
        .collect();
    Ok(Rewritten {
        size_bytes,
        weak_hashes,
    })
}

/// A member of the new wheel.
struct Part<'p> {
    /// The one that it was.
    member: Option<&'p Member>,
    name: String,
    /// What it will hold, where that changes.
    content: Option<&'p Content<'p>>,
    /// The mode of an added one.
    unix_mode: u32,
    row: Option<&'p Row>,
    /// Whether RECORD is known to vouch for its old content.
    is_vouched: bool,
}

impl Part<'_> {
    /// Whether RECORD must vouch for its old content.
    ///
    /// What changes must have been what RECORD says, or its new row would vouch for what nobody
    /// vouched for.
    fn is_doubted(&self, options: &WriteOptions) -> bool {
        let is_asked = self.content.is_some() || options.rehash == Rehash::All;
        is_asked && !self.is_vouched && self.member.is_some_and(|member| !member.is_folder())
    }

    /// Whether it is listed without a hash that may be used.
    fn has_weak_row(&self) -> bool {
        self.row
            .is_some_and(|row| Hasher::for_hash(&row.hash).is_none())
    }

    /// Its row of the new RECORD; folders have none. What is only compressed anew keeps its own.
    fn new_row(&self, made: &BTreeMap<String, Row>, mended: &Mended<'_>) -> Option<Row> {
        let (path, Some(old), None) = (self.name.clone(), self.row, self.content) else {
            return made.get(&self.name).cloned();
        };
        match self.member.and_then(|member| mended.get(member.name())) {
            Some(weak) => Some(Row {
                path,
                hash: weak.actual.clone(),
                size: weak.size_bytes.to_string(),
            }),
            None => Some(Row {
                path,
                ..old.clone()
            }),
        }
    }

    fn is_copied(&self, options: &WriteOptions) -> bool {
        self.content.is_none()
            && (options.unchanged == Unchanged::Copied
                || self.member.is_some_and(Member::is_folder))
    }

    /// How much is copied, or read for it.
    fn work_bytes(&self, options: &WriteOptions) -> u64 {
        match (self.content, self.member) {
            (Some(content), _) => content.size_bytes(),
            (None, Some(member)) if self.is_copied(options) => member.compressed_bytes(),
            (None, member) => member.map_or(0, Member::size_bytes),
        }
    }
}

/// The members of the new wheel but RECORD, in their order.
fn parts<'p>(wheel: &'p Wheel<'_>, edits: &'p Edits<'_>) -> Result<Vec<Part<'p>>, WheelError> {
    let archive = wheel.archive();
    if let Some(missing) = edits.expected().find(|name| archive.member(name).is_none()) {
        return Err(WheelError::Missing {
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
        if row.is_none() && !member.is_folder() {
            return Err(WheelError::NotInRecord {
                member: name.to_owned(),
            });
        }
        let content = edits.replaced.get(name);
        let is_vouched = edits.vouched.contains(name);
        parts.push(Part {
            member: Some(member),
            name: edits.new_name(name),
            content,
            unix_mode: 0,
            row,
            is_vouched,
        });
    }
    for (name, added) in &edits.added {
        let (name, content) = (edits.in_new_folder(name), Some(&added.content));
        parts.push(Part {
            member: None,
            name,
            content,
            unix_mode: added.unix_mode,
            row: None,
            is_vouched: false,
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
fn rows_by_path<'w>(wheel: &'w Wheel<'_>) -> Result<BTreeMap<&'w str, &'w Row>, WheelError> {
    let mut rows: BTreeMap<&str, &Row> = BTreeMap::new();
    for (line, row) in (1..).zip(&wheel.record().rows) {
        if rows
            .insert(&row.path, row)
            .is_some_and(|other| other != row)
        {
            let reason = format!("another row of `{}` says otherwise", row.path);
            return Err(WheelError::Record {
                member: wheel.dist_info_path("RECORD"),
                line,
                reason,
            });
        }
    }
    Ok(rows)
}

/// No name is given twice, and new ones may be unpacked.
fn check_names(parts: &[Part<'_>], record: &str) -> Result<(), WheelError> {
    let mut names = BTreeSet::from([record]);
    for part in parts {
        check_name(&part.name)?;
        if !names.insert(&part.name) {
            return Err(WheelError::Duplicate {
                member: part.name.clone(),
            });
        }
    }
    Ok(())
}

/// A changed member keeps mode and time, and stays stored where it was unless all are compressed
/// anew.
fn like(member: &Member, options: &WriteOptions) -> NewMember {
    let stays_stored = member.method() == Method::Stored && options.unchanged == Unchanged::Copied;
    NewMember {
        unix_mode: member.unix_mode(),
        time: options.time.unwrap_or(member.time()),
        level: if stays_stored { 0 } else { options.level },
    }
}

/// Members whose rows have no hash that may be used.
type Mended<'p> = BTreeMap<&'p str, Weak>;

struct Weak {
    /// The hash as written.
    listed: String,
    /// The SHA-256 that it should have.
    actual: String,
    size_bytes: u64,
}

/// Holds members against RECORD.
struct Checking<'c> {
    archive: &'c Archive<'c>,
    rehash: Rehash,
    meter: &'c Meter<'c>,
}

impl Checking<'_> {
    fn all<'p>(&self, parts: &[&Part<'p>]) -> Result<Mended<'p>, WheelError> {
        parts
            .iter()
            .filter_map(|part| self.one(part).transpose())
            .collect()
    }

    /// The largest first; of several faults the first in the archive is told.
    fn all_in_parallel<'p>(&self, parts: &[&Part<'p>]) -> Result<Mended<'p>, WheelError> {
        let mut largest_first: Vec<(usize, &&Part<'p>)> = parts.iter().enumerate().collect();
        largest_first
            .sort_by_key(|(_, part)| std::cmp::Reverse(part.member.map_or(0, Member::size_bytes)));
        let found = largest_first.into_iter().par_bridge();
        let mut found: Vec<_> = found
            .filter_map(|(place, part)| Some((place, self.one(part).transpose()?)))
            .collect();
        found.sort_by_key(|(place, _)| *place);
        found.into_iter().map(|(_, one)| one).collect()
    }

    /// The member, where it has no hash and may get one.
    fn one<'p>(&self, part: &Part<'p>) -> Result<Option<(&'p str, Weak)>, WheelError> {
        let Some(member) = part.member else {
            return Ok(None);
        };
        let refused = match doubt(self.archive, member, part.row, self.meter)? {
            None => return Ok(None),
            Some(Doubt::WeakHash { listed, actual }) if self.rehash != Rehash::Changed => {
                let row = part.row.filter(|row| !row.size.is_empty());
                match row.and_then(|row| other_size(member, row)) {
                    None => {
                        let weak = Weak {
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
    parts: &[Part<'_>],
    archive: &Archive<'_>,
    options: &WriteOptions,
    writer: &mut ZipWriter<'_>,
    meter: &Meter<'_>,
) -> Result<BTreeMap<String, Row>, WheelError> {
    let entries = parts.iter().map(|part| {
        let name = part.name.as_str().into();
        match (part.member, part.content) {
            (Some(member), None) if part.is_copied(options) => {
                let time = options.time.unwrap_or(member.time());
                Entry::Copy {
                    archive,
                    member,
                    name,
                    time,
                }
            }
            (Some(member), content) => {
                let content = content.cloned().unwrap_or(Content::Member(archive, member));
                Entry::New {
                    name,
                    content,
                    options: like(member, options),
                }
            }
            (None, content) => {
                let time = options.time.unwrap_or(DosTime::FIRST);
                let content = content
                    .cloned()
                    .unwrap_or(Content::Bytes(Vec::new().into()));
                Entry::New {
                    name,
                    content,
                    options: NewMember {
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
        Told::Done(bytes) => meter.add(bytes),
        Told::New {
            name,
            sha256,
            size_bytes,
        } => {
            let row = Row::of(&name, sha256, size_bytes);
            rows.insert(name, row);
        }
    })?;
    Ok(rows)
}
