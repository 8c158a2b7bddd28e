//! Whether a wheel is what its name and its RECORD say.

mod copied_members;
mod install_paths;
mod members;
mod metadata;

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::dist_info::find_dist_info;
use super::progress::{ProgressCallback, ProgressMeter};
use super::{HeaderDocument, LabelCheck, Wheel, WheelError, WheelHeaders, ZipArchive, ZipMember};
use crate::codes::wheel as codes;
use rock_bytes::{ReadAt, start_threads};
use rock_diagnostic::{Code, Diagnostic, Place, Severity, Sink};
use rock_names::WheelName;

pub use copied_members::CopiedMembers;
pub(super) use metadata::check_core_metadata;

/// Checks a wheel of this file name: the container, every member against its CRC-32 and RECORD,
/// METADATA and WHEEL against the name. Members are read in parallel, a little of each at a time.
///
/// Reports every finding, unless the container is unreadable.
pub fn verify(source: &dyn ReadAt, name: &WheelName) -> Vec<Diagnostic> {
    verify_with_progress(source, name, &|_| {})
}

/// The same as [`verify`], and tells meanwhile how much of the members' contents was read.
pub fn verify_with_progress(
    source: &dyn ReadAt,
    name: &WheelName,
    watch: &ProgressCallback<'_>,
) -> Vec<Diagnostic> {
    let findings = FindingBuilder {
        wheel: name.to_string(),
    };
    let mut sink = Sink::new();
    match Wheel::open(source) {
        Ok(wheel) => check(&wheel, name, &|_| false, &findings, watch, &mut sink),
        Err(error) => {
            sink.push(error.diagnostic(&findings.wheel));
            if let Ok(archive) = ZipArchive::open(source) {
                check_without_dist_info(
                    &archive,
                    &error,
                    &findings,
                    &meter(&archive, watch),
                    &mut sink,
                );
            }
        }
    }
    truncate_findings(sink.finish(), &findings)
}

/// The same as [`verify`] for a wheel some of whose members are known to be what RECORD says: they
/// are not read.
pub fn verify_except(
    wheel: &Wheel<'_>,
    name: &WheelName,
    is_known: &(dyn Fn(&ZipMember) -> bool + Sync),
) -> Vec<Diagnostic> {
    let findings = FindingBuilder {
        wheel: name.to_string(),
    };
    let mut sink = Sink::new();
    check(wheel, name, is_known, &findings, &|_| {}, &mut sink);
    truncate_findings(sink.finish(), &findings)
}

/// Checks the archive, RECORD and the members that are not known to match it, METADATA, WHEEL,
/// entry points and `.data`.
fn check(
    wheel: &Wheel<'_>,
    name: &WheelName,
    is_known: &(dyn Fn(&ZipMember) -> bool + Sync),
    findings: &FindingBuilder,
    watch: &ProgressCallback<'_>,
    sink: &mut Sink,
) {
    members::check_container(wheel.archive(), findings, sink);
    members::check_record(
        wheel,
        findings,
        is_known,
        &meter(wheel.archive(), watch),
        sink,
    );
    metadata::check(wheel.headers(), name, findings, sink);
    install_paths::check(wheel.headers(), findings, sink);
    if !sink.has_errors() {
        members::check_ratio(wheel.archive(), findings, sink);
    }
}

/// Checks the records of the archive, METADATA and WHEEL against the file name, RECORD against the
/// names of the members, and the sizes that members claim; their contents are not read.
pub fn check_dist_info(wheel: &Wheel<'_>, name: &WheelName) -> Vec<Diagnostic> {
    let findings = FindingBuilder {
        wheel: name.to_string(),
    };
    let mut sink = Sink::new();
    members::check_records(wheel.archive(), &findings, &mut sink);
    members::check_names(wheel, &findings, &mut sink);
    metadata::check(wheel.headers(), name, &findings, &mut sink);
    install_paths::check(wheel.headers(), &findings, &mut sink);
    if !sink.has_errors() {
        members::check_ratio(wheel.archive(), &findings, &mut sink);
    }
    truncate_findings(sink.finish(), &findings)
}

/// Checks what can be checked without RECORD and the contents of members: the records of the
/// archive, METADATA and WHEEL against the file name, entry points, the `.data` folder, and the
/// sizes that members claim.
pub fn verify_headers(wheel: &WheelHeaders<'_>, name: &WheelName) -> Vec<Diagnostic> {
    let findings = FindingBuilder {
        wheel: name.to_string(),
    };
    let mut sink = Sink::new();
    members::check_records(wheel.archive(), &findings, &mut sink);
    metadata::check(wheel, name, &findings, &mut sink);
    install_paths::check(wheel, &findings, &mut sink);
    let member = wheel.dist_info_path("RECORD");
    if wheel.archive().member(&member).is_none() {
        sink.push(WheelError::MissingMember { member }.diagnostic(&findings.wheel));
    }
    if !sink.has_errors() {
        members::check_ratio(wheel.archive(), &findings, &mut sink);
    }
    truncate_findings(sink.finish(), &findings)
}

/// Returns the errors of METADATA, WHEEL, entry points and the `.data` folder that installers
/// refuse a wheel for and that a rewritten wheel would have again. Contents of other members are
/// not read.
pub fn persistent_errors(
    wheel: &WheelHeaders<'_>,
    name: &WheelName,
    label: LabelCheck,
) -> Vec<Diagnostic> {
    let findings = FindingBuilder {
        wheel: name.to_string(),
    };
    let mut sink = Sink::new();
    metadata::check(wheel, name, &findings, &mut sink);
    install_paths::check(wheel, &findings, &mut sink);
    filter_persistent_errors(&truncate_findings(sink.finish(), &findings), label)
}

/// Returns the same as [`copied_faults`], where the findings of [`check_dist_info`] are known.
pub fn filter_persistent_errors(found: &[Diagnostic], label: LabelCheck) -> Vec<Diagnostic> {
    found
        .iter()
        .filter(|one| one.is_error())
        .filter_map(|one| Some(one.clone().help(help(one.code, label)?)))
        .collect()
}

/// Returns what to do about a fault that is copied; `None` for other codes.
fn help(code: &'static Code, label: LabelCheck) -> Option<&'static str> {
    let is = |codes: &[&Code]| codes.contains(&code);
    if is(&[
        &codes::BAD_ENTRY_POINT,
        &codes::BAD_REQUIREMENT,
        &codes::MALFORMED_HEADER,
        &codes::BAD_WHEEL_HEADER,
    ]) {
        return Some("correct the metadata of the project, and build the wheel again");
    }
    // A new label renames the folder.
    let is_folder = is(&[&codes::DIST_INFO_FOLDER]) && label == LabelCheck::MustMatch;
    (is_folder || is(&[&codes::BAD_DATA_FOLDER]))
        .then_some("correct the files of the project, and build the wheel again")
}

/// Maximum findings reported per code; the others are counted.
pub(super) const MAX_FINDINGS: usize = 50;

fn truncate_findings(found: Vec<Diagnostic>, findings: &FindingBuilder) -> Vec<Diagnostic> {
    let mut counts: BTreeMap<&str, (usize, &'static Code, Severity)> = BTreeMap::new();
    let mut kept: Vec<Diagnostic> = found
        .into_iter()
        .filter(|one| {
            let (count, ..) = counts
                .entry(one.code.id)
                .or_insert((0, one.code, one.severity));
            *count += 1;
            *count <= MAX_FINDINGS
        })
        .collect();
    for (count, code, severity) in counts
        .into_values()
        .filter(|(count, ..)| *count > MAX_FINDINGS)
    {
        let message = format!("{} more findings of this kind", count - MAX_FINDINGS);
        let place = Place::File(findings.wheel.as_str().into());
        kept.push(
            Diagnostic::new(code, message)
                .severity(severity)
                .at(place, ""),
        );
    }
    kept
}

/// What can be checked of a wheel whose dist-info cannot be read as a whole.
fn check_without_dist_info(
    archive: &ZipArchive<'_>,
    error: &WheelError,
    findings: &FindingBuilder,
    meter: &ProgressMeter<'_>,
    sink: &mut Sink,
) {
    members::check_container(archive, findings, sink);
    let told = match error {
        WheelError::CorruptMember { member, .. } => member.as_str(),
        _ => "",
    };
    start_threads();
    let faults: Vec<Diagnostic> = archive
        .members()
        .par_iter()
        .filter(|member| member.name() != told)
        .filter_map(|member| {
            archive
                .stream(member, &mut |bytes| meter.add(bytes.len() as u64))
                .err()
        })
        .map(|error| error.diagnostic(&findings.wheel))
        .collect();
    sink.extend(faults);
    if let Ok(folder) = find_dist_info(archive) {
        let missing = ["METADATA", "WHEEL", "RECORD"].map(|file| format!("{folder}/{file}"));
        for member in missing
            .into_iter()
            .filter(|name| archive.member(name).is_none())
        {
            sink.push(WheelError::MissingMember { member }.diagnostic(&findings.wheel));
        }
    }
}

fn meter<'w>(archive: &ZipArchive<'_>, watch: &'w ProgressCallback<'w>) -> ProgressMeter<'w> {
    ProgressMeter::new(
        archive.members().iter().map(ZipMember::size_bytes).sum(),
        watch,
    )
}

/// Makes findings placed in one wheel, or another archive.
pub(super) struct FindingBuilder {
    pub(super) wheel: String,
}

impl FindingBuilder {
    pub(super) fn member(&self, code: &'static Code, member: &str, message: String) -> Diagnostic {
        let place = Place::Member {
            wheel: self.wheel.clone(),
            member: member.to_owned(),
        };
        Diagnostic::new(code, message).at(place, "")
    }
}

/// The one value of a header that must be there.
pub(super) fn required<'h>(
    headers: &'h HeaderDocument,
    name: &str,
) -> Result<std::borrow::Cow<'h, str>, String> {
    headers
        .get(name)
        .filter(|value| !value.is_empty())
        .ok_or_else(|| format!("`{name}` is missing"))
}

/// A finding about a header that is missing or cannot be read.
fn invalid_header(findings: &FindingBuilder, member: &str, message: String) -> Diagnostic {
    findings.member(&codes::BAD_WHEEL_HEADER, member, message)
}
