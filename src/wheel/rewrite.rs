//! Writing a wheel anew with some members changed and all others copied as they lie.

use std::collections::{BTreeMap, BTreeSet};

use super::record::{Hasher, Record, Row};
use super::zip::NewMember;
use super::{Archive, DosTime, Member, Method, Target, Wheel, WheelError, ZipWriter};

/// What changes in a wheel; names are those in the old one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Edits {
    /// New names of top-level folders.
    pub renamed_folders: BTreeMap<String, String>,
    /// New contents of members.
    pub replaced: BTreeMap<String, Vec<u8>>,
    /// Members left out.
    pub removed: BTreeSet<String>,
}

impl Edits {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        self.renamed_folders.is_empty() && self.replaced.is_empty() && self.removed.is_empty()
    }

    fn new_name(&self, name: &str) -> String {
        let renamed = name.split_once('/').and_then(|(top, rest)| Some((self.renamed_folders.get(top)?, rest)));
        renamed.map_or_else(|| name.to_owned(), |(top, rest)| format!("{top}/{rest}"))
    }
}

/// How a wheel is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteOptions {
    /// Compression of changed members: 0 stores, 1 to 9 deflates ever harder.
    pub level: u32,
    /// One time for all members; without it each keeps its own.
    pub time: Option<DosTime>,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self { level: 6, time: None }
    }
}

/// Members in the order of the new wheel: as in the old one, with dist-info last.
struct Part<'m> {
    member: &'m Member,
    name: String,
}

/// Writes the wheel with these edits, and tells how many bytes it has.
///
/// Members that do not change keep their compressed bytes, and their rows of RECORD as they were. Signatures of RECORD are left out, since they sign the old one. RECORD is the last member. The same input
/// gives the same bytes.
///
/// # Errors
/// When a member cannot be read or the target not be written, when a renamed folder falls on one that is there, and
/// when RECORD does not list a member or contradicts one that changes: a new RECORD would hide that.
pub fn rewrite(
    wheel: &Wheel<'_>,
    edits: &Edits,
    options: &WriteOptions,
    target: &mut dyn Target,
) -> Result<u64, WheelError> {
    let archive = wheel.archive();
    let record_name = wheel.dist_info_path("RECORD");
    let parts = parts(wheel, edits, &record_name)?;
    let old_rows: BTreeMap<&str, &Row> = wheel.record().rows.iter().rev().map(|row| (row.path.as_str(), row)).collect();
    let mut record = Record::default();
    let mut writer = ZipWriter::new(target);
    for part in &parts {
        let old_row = old_rows.get(part.member.name()).copied();
        if let Some(content) = edits.replaced.get(part.member.name()) {
            check_old(archive, part.member, old_row)?;
            writer.add(&part.name, content, &like(part.member, options))?;
            record.rows.push(Row::of_content(&part.name, content));
            continue;
        }
        writer.copy(archive, part.member, &part.name, options.time.unwrap_or(part.member.time()))?;
        if part.member.is_folder() {
            continue;
        }
        let row = old_row.ok_or_else(|| WheelError::NotInRecord { member: part.member.name().to_owned() })?;
        record.rows.push(Row { path: part.name.clone(), ..row.clone() });
    }
    let record_member = archive.member(&record_name).ok_or(WheelError::Missing { member: record_name.clone() })?;
    let new_name = edits.new_name(&record_name);
    record.rows.push(Row::bare(&new_name));
    writer.add(&new_name, &record.to_bytes(), &like(record_member, options))?;
    writer.finish()
}

fn parts<'m>(wheel: &'m Wheel<'_>, edits: &Edits, record_name: &str) -> Result<Vec<Part<'m>>, WheelError> {
    let signatures = [wheel.dist_info_path("RECORD.jws"), wheel.dist_info_path("RECORD.p7s")];
    let dist_info = wheel.dist_info_path("");
    let is_left_out = |name: &String| name == record_name || signatures.contains(name) || edits.removed.contains(name);
    let mut parts = Vec::new();
    for member in wheel.archive().members() {
        let name = edits.new_name(member.name());
        if name != member.name() && wheel.archive().member(&name).is_some() {
            return Err(WheelError::Duplicate { member: name });
        }
        if !is_left_out(&member.name().to_owned()) {
            parts.push(Part { member, name });
        }
    }
    parts.sort_by_key(|part| part.member.name().starts_with(&dist_info));
    Ok(parts)
}

/// A changed member keeps mode and time, and stays stored where it was.
fn like(member: &Member, options: &WriteOptions) -> NewMember {
    NewMember {
        unix_mode: member.unix_mode(),
        time: options.time.unwrap_or(member.time()),
        level: if member.method() == Method::Stored { 0 } else { options.level },
    }
}

/// What is about to change must be what RECORD says, or its new row would vouch for what nobody vouched for.
fn check_old(archive: &Archive<'_>, member: &Member, row: Option<&Row>) -> Result<(), WheelError> {
    let name = || member.name().to_owned();
    let row = row.ok_or_else(|| WheelError::NotInRecord { member: name() })?;
    let Some(mut hasher) = Hasher::for_hash(&row.hash) else {
        return Err(WheelError::NotInRecord { member: name() });
    };
    archive.reader(member).each(&mut vec![0; 64 << 10], |bytes| hasher.update(bytes))?;
    let actual = hasher.finish();
    if actual == row.hash.trim_end_matches('=') {
        return Ok(());
    }
    Err(WheelError::RecordMismatch { member: name(), listed: row.hash.clone(), actual })
}
