//! Verifies wheels against their filename, RECORD, and the rules of installers and PyPI.

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

/// Verifies a wheel: the archive, every member against its CRC-32 and RECORD, and METADATA and
/// WHEEL against the filename. Members are read in parallel, as streams.
///
/// Returns all findings, at most 50 of each kind. If dist-info cannot be read, checks the archive
/// and its members only.
pub fn verify(source: &dyn ReadAt, name: &WheelName) -> Vec<Diagnostic> {
    verify_with_progress(source, name, &|_| {})
}

/// Verifies a wheel like [`verify`], and reports how much of the members' contents was read.
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

/// Verifies a wheel like [`verify`], without reading the members that are already known to match
/// RECORD.
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
/// entry points and the `.data` directory.
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

/// Checks everything except the contents of members: the records of the archive, METADATA and WHEEL
/// against the filename, RECORD against the names of the members, and the sizes that members claim.
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

/// Checks everything except RECORD and the contents of members: the records of the archive,
/// METADATA and WHEEL against the filename, entry points, the `.data` directory, and the sizes that
/// members claim.
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

/// Returns the errors that persist when the wheel is rewritten: those of METADATA, WHEEL, entry
/// points and the `.data` directory for which installers refuse a wheel. Contents of other members
/// are not read.
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

/// Selects the errors of [`persistent_errors`] from the findings of [`check_dist_info`].
pub fn filter_persistent_errors(found: &[Diagnostic], label: LabelCheck) -> Vec<Diagnostic> {
    found
        .iter()
        .filter(|one| one.is_error())
        .filter_map(|one| Some(one.clone().help(help(one.code, label)?)))
        .collect()
}

/// Returns the help for an error that persists, or `None` for other codes.
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
    // A new label renames the directory.
    let is_folder = is(&[&codes::DIST_INFO_FOLDER]) && label == LabelCheck::MustMatch;
    (is_folder || is(&[&codes::BAD_DATA_FOLDER]))
        .then_some("correct the files of the project, and build the wheel again")
}

/// Maximum number of findings per code; the others are counted.
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

/// Checks the archive and members of a wheel whose dist-info cannot be read.
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

/// Creates findings located in one wheel, or another archive.
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

/// Returns the first value of a required header, or a message that it is missing.
pub(super) fn required<'h>(
    headers: &'h HeaderDocument,
    name: &str,
) -> Result<std::borrow::Cow<'h, str>, String> {
    headers
        .get(name)
        .filter(|value| !value.is_empty())
        .ok_or_else(|| format!("`{name}` is missing"))
}

/// Creates a finding about a missing or invalid header.
fn invalid_header(findings: &FindingBuilder, member: &str, message: String) -> Diagnostic {
    findings.member(&codes::BAD_WHEEL_HEADER, member, message)
}
