//! The members of the new wheel, in order.

use std::collections::{BTreeMap, BTreeSet};

use super::super::edits::WheelEdits;
use super::super::record::{RecordHasher, RecordRow};
use super::super::zip::check_member_name;
use super::super::{CompressionMethod, MemberContent, MemberOptions, Wheel, WheelError, ZipMember};
use super::record_checker::WeakHashes;
use super::{RecordCheck, RewriteOptions, UnchangedMembers};

/// A member of the new wheel.
pub(super) struct PlannedMember<'p> {
    /// The old member.
    pub(super) member: Option<&'p ZipMember>,
    pub(super) name: String,
    /// The new content, if it changes.
    pub(super) content: Option<&'p MemberContent<'p>>,
    /// Mode of an added member.
    pub(super) unix_mode: u32,
    pub(super) row: Option<&'p RecordRow>,
    /// Whether the old content was verified already.
    is_verified: bool,
}

impl PlannedMember<'_> {
    /// Returns whether the old content must be verified.
    ///
    /// A changed member must have matched RECORD before, or its new row would hide a mismatch.
    pub(super) fn needs_check(&self, options: &RewriteOptions) -> bool {
        let is_selected = self.content.is_some() || options.record_check == RecordCheck::AllMembers;
        is_selected && !self.is_verified && self.member.is_some_and(|member| !member.is_dir())
    }

    /// Returns whether its row has no usable hash.
    pub(super) fn has_weak_row(&self) -> bool {
        self.row
            .is_some_and(|row| RecordHasher::for_hash(&row.hash).is_none())
    }

    /// Returns its row of the new RECORD; directories have none. A member that is only compressed
    /// again keeps its row.
    pub(super) fn new_row(
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

    pub(super) fn is_copied(&self, options: &RewriteOptions) -> bool {
        self.content.is_none()
            && (options.unchanged == UnchangedMembers::Copy
                || self.member.is_some_and(ZipMember::is_dir))
    }

    /// Returns the number of bytes to copy, or to read.
    pub(super) fn work_bytes(&self, options: &RewriteOptions) -> u64 {
        match (self.content, self.member) {
            (Some(content), _) => content.size_bytes(),
            (None, Some(member)) if self.is_copied(options) => member.compressed_bytes(),
            (None, member) => member.map_or(0, ZipMember::size_bytes),
        }
    }
}

/// Plans the members of the new wheel without RECORD, in order.
pub(super) fn plan_members<'p>(
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
    let mut members = Vec::new();
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
        members.push(PlannedMember {
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
        members.push(PlannedMember {
            member: None,
            name,
            content,
            unix_mode: added.unix_mode,
            row: None,
            is_verified: false,
        });
    }
    check_names(&members, &edits.new_name(&unsigned[0]))?;
    let dist_info = edits.new_name(&wheel.dist_info_path(""));
    members.sort_by_key(|member| member.name.starts_with(&dist_info));
    Ok(members)
}

/// Returns the rows of RECORD by path. Equal rows become one in the new RECORD.
///
/// # Errors
/// Fails if two rows of a path differ, because the new RECORD would hide that.
fn rows_by_path<'w>(wheel: &'w Wheel<'_>) -> Result<BTreeMap<&'w str, &'w RecordRow>, WheelError> {
    let mut rows: BTreeMap<&str, &RecordRow> = BTreeMap::new();
    for (line, row) in (1..).zip(&wheel.record().rows) {
        if rows
            .insert(&row.path, row)
            .is_some_and(|other| other != row)
        {
            let reason = format!("another row for `{}` contradicts it", row.path);
            return Err(WheelError::InvalidRecord {
                member: wheel.dist_info_path("RECORD"),
                line,
                reason,
            });
        }
    }
    Ok(rows)
}

/// Checks that names are unique and safe to unpack.
fn check_names(members: &[PlannedMember<'_>], record: &str) -> Result<(), WheelError> {
    let mut names = BTreeSet::from([record]);
    for member in members {
        check_member_name(&member.name)?;
        if !names.insert(&member.name) {
            return Err(WheelError::DuplicateMember {
                member: member.name.clone(),
            });
        }
    }
    Ok(())
}

/// Returns options that keep mode and time. A stored member stays stored, unless all members are
/// compressed again.
pub(super) fn member_options(member: &ZipMember, options: &RewriteOptions) -> MemberOptions {
    let stays_stored =
        member.method() == CompressionMethod::Stored && options.unchanged == UnchangedMembers::Copy;
    MemberOptions {
        unix_mode: member.unix_mode(),
        time: options.time.unwrap_or(member.time()),
        level: if stays_stored { 0 } else { options.level },
    }
}
