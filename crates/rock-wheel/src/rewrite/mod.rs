//! Writes a wheel with edits; unchanged members are copied raw.
//!
//! **Invariant:** a new RECORD never hides a mismatch: a changed member must match its row in the old
//! RECORD.

mod planned_member;
mod record_checker;

use std::collections::BTreeMap;

use super::edits::WheelEdits;
use super::error::weak_hash_message;
use super::progress::{ProgressCallback, ProgressMeter};
use super::record::{Record, RecordRow};
use super::zip::{WriteEvent, ZipEntry, write_entries};
use super::{DosTime, MemberContent, MemberOptions, Wheel, WheelError, ZipMember, ZipWriter};
use crate::codes::wheel as codes;
use planned_member::{PlannedMember, member_options, plan_members};
use record_checker::{RecordChecker, WeakHashes};
use rock_bytes::ByteSink;
use rock_diagnostic::{Diagnostic, Location, Severity};

/// Fewer bytes than this are verified in the calling thread, because starting the pool takes
/// longer.
const SMALL_BYTES: u64 = 1 << 20;

/// Options for rewriting a wheel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RewriteOptions {
    /// Compression level of changed members: 0 stores, 1 (fast) to 9 (small) deflates.
    pub level: u32,
    /// Modification time of all members. If `None`, old members keep theirs, and new ones have
    /// 1980-01-01.
    pub time: Option<DosTime>,
    /// The treatment of unchanged members.
    pub unchanged: UnchangedMembers,
    /// The members that are verified against RECORD.
    pub record_check: RecordCheck,
}

/// The treatment of unchanged members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnchangedMembers {
    /// Copy their compressed bytes.
    Copy,
    /// Compress them again.
    Recompress,
}

/// The members that are verified against RECORD.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecordCheck {
    /// Verify all members. A row without a usable hash is replaced by one with SHA-256.
    AllMembers,
    /// Verify changed members only. Their rows must have a usable hash; other rows are kept.
    ChangedMembers,
    /// Verify changed members only, and accept rows without a usable hash.
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

/// The result of rewriting a wheel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewriteSummary {
    /// Size of the new wheel.
    pub size_bytes: u64,
    /// Members whose old rows had no usable hash, with the old hash. Their new rows have SHA-256.
    pub weak_hashes: BTreeMap<String, String>,
}

impl RewriteSummary {
    /// Returns warnings about the wheel with this name.
    pub fn findings(&self, wheel: &str) -> Vec<Diagnostic> {
        let Some((member, listed)) = self.weak_hashes.first_key_value() else {
            return Vec::new();
        };
        let message = match self.weak_hashes.len() {
            1 => weak_hash_message(listed),
            count => format!(
                "RECORD has no acceptable hash for {count} members, of which this is the first"
            ),
        };
        let place = Location::Member {
            wheel: wheel.to_owned(),
            member: member.clone(),
        };
        let finding =
            Diagnostic::new(&codes::WEAK_RECORD_HASH, message).severity(Severity::Warning);
        vec![finding.at(
            place,
            "the new RECORD has the SHA-256 hash of the current bytes",
        )]
    }
}

/// Writes a wheel with edits, and returns its size. See [`WheelRewriter`].
///
/// # Errors
/// Fails like [`WheelRewriter::write`].
pub fn rewrite(
    wheel: &Wheel<'_>,
    edits: &WheelEdits<'_>,
    options: &RewriteOptions,
    target: &mut dyn ByteSink,
) -> Result<u64, WheelError> {
    let rewriter = WheelRewriter {
        wheel,
        edits,
        options,
    };
    let summary = rewriter.write(target, &|_| {})?;
    Ok(summary.size_bytes)
}

/// Writes a wheel with edits.
///
/// Members keep their order; new members follow, then the dist-info directory with its new files,
/// and RECORD is the last. Unchanged members keep their compressed bytes and their rows of RECORD.
/// Signatures of RECORD are removed, because they sign the old one. The same input gives the same
/// bytes.
#[derive(Debug, Clone, Copy)]
pub struct WheelRewriter<'r> {
    /// The old wheel.
    pub wheel: &'r Wheel<'r>,
    /// The edits to apply.
    pub edits: &'r WheelEdits<'r>,
    /// Compression, times and verification.
    pub options: &'r RewriteOptions,
}

impl WheelRewriter<'_> {
    /// Writes the new wheel, and reports the progress of reading and writing.
    ///
    /// # Errors
    /// Fails if a member cannot be read or the target cannot be written; if an edit refers to a
    /// missing member, or gives a name that is taken or unsafe; and if RECORD does not list a
    /// member, or contradicts one that is verified: a new RECORD would hide that.
    pub fn write(
        &self,
        target: &mut dyn ByteSink,
        progress: &ProgressCallback<'_>,
    ) -> Result<RewriteSummary, WheelError> {
        let members = plan_members(self.wheel, self.edits)?;
        let unverified: Vec<&PlannedMember<'_>> = members
            .iter()
            .filter(|member| member.needs_check(self.options))
            .collect();
        let read_bytes: u64 = unverified
            .iter()
            .filter_map(|member| member.member)
            .map(ZipMember::size_bytes)
            .sum();
        let written_bytes: u64 = members
            .iter()
            .map(|member| member.work_bytes(self.options))
            .sum();
        let meter = ProgressMeter::new(read_bytes + written_bytes, progress);
        let checker = RecordChecker {
            archive: self.wheel.archive(),
            record_check: self.options.record_check,
            meter: &meter,
        };
        let mut writer = ZipWriter::new(target);
        let (weak_hashes, new_rows) = if read_bytes < SMALL_BYTES {
            let weak_hashes = checker.check_all(&unverified);
            let weak_hashes = weak_hashes.map_err(|error| count_weak_rows(error, &members))?;
            (
                weak_hashes,
                self.write_members(&members, &mut writer, &meter)?,
            )
        } else {
            let (weak_hashes, new_rows) = checker.check_during(&unverified, || {
                self.write_members(&members, &mut writer, &meter)
            });
            let weak_hashes = weak_hashes.map_err(|error| count_weak_rows(error, &members))?;
            (weak_hashes, new_rows?)
        };
        let rows = members
            .iter()
            .filter_map(|member| member.new_row(&new_rows, &weak_hashes))
            .collect();
        self.write_record(rows, &mut writer)?;
        Ok(RewriteSummary {
            size_bytes: writer.finish()?,
            weak_hashes: replaced_hashes(weak_hashes),
        })
    }

    /// Returns the error with which [`Self::write`] refuses rows of changed members that have no
    /// usable hash, without reading a member.
    pub fn weak_hash_error(&self) -> Option<WheelError> {
        if self.options.record_check != RecordCheck::ChangedMembers {
            return None;
        }
        let members = plan_members(self.wheel, self.edits).ok()?;
        let weak = members
            .iter()
            .find(|member| member.needs_check(self.options) && member.has_weak_row())?;
        let error = WheelError::WeakHash {
            member: weak.member?.name().to_owned(),
            listed: weak.row?.hash.clone(),
            members: 1,
        };
        Some(count_weak_rows(error, &members))
    }

    /// Writes all members except RECORD, and returns new rows by name.
    fn write_members(
        &self,
        members: &[PlannedMember<'_>],
        writer: &mut ZipWriter<'_>,
        meter: &ProgressMeter<'_>,
    ) -> Result<BTreeMap<String, RecordRow>, WheelError> {
        let (archive, options) = (self.wheel.archive(), self.options);
        let entries = members.iter().map(|planned| {
            let name = planned.name.as_str().into();
            match (planned.member, planned.content) {
                (Some(member), None) if planned.is_copied(options) => {
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
                            unix_mode: planned.unix_mode,
                            time,
                            level: options.level,
                        },
                    }
                }
            }
        });
        let mut rows = BTreeMap::new();
        write_entries(writer, entries, |event| match event {
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

    /// Writes RECORD with these rows and one for itself.
    fn write_record(
        &self,
        mut rows: Vec<RecordRow>,
        writer: &mut ZipWriter<'_>,
    ) -> Result<(), WheelError> {
        let name = self.wheel.dist_info_path("RECORD");
        let Some(member) = self.wheel.archive().member(&name) else {
            return Err(WheelError::MissingMember { member: name });
        };
        let new_name = self.edits.new_name(&name);
        rows.push(RecordRow::without_hash(&new_name));
        writer.add(
            &new_name,
            &Record { rows }.to_bytes(),
            &member_options(member, self.options),
        )
    }
}

/// Sets the number of members with such a row in [`WheelError::WeakHash`].
fn count_weak_rows(error: WheelError, members: &[PlannedMember<'_>]) -> WheelError {
    match error {
        WheelError::WeakHash { member, listed, .. } => WheelError::WeakHash {
            member,
            listed,
            members: members
                .iter()
                .filter(|member| member.has_weak_row())
                .count(),
        },
        error => error,
    }
}

/// Returns the old hashes by member.
fn replaced_hashes(weak_hashes: WeakHashes<'_>) -> BTreeMap<String, String> {
    weak_hashes
        .into_iter()
        .map(|(name, weak)| (name.to_owned(), weak.listed))
        .collect()
}
