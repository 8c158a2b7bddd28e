//! Verifies wheels against their filename, RECORD, and the rules of installers and PyPI.

mod copied_members;
mod findings;
mod install_paths;
mod members;
mod metadata;

use super::dist_info::find_dist_info;
use super::progress::{ProgressCallback, ProgressMeter};
use super::{HeaderDocument, LabelCheck, Wheel, WheelError, WheelHeaders, ZipArchive, ZipMember};
use crate::codes::wheel as codes;
use rock_bytes::ReadAt;
use rock_diagnostic::{Code, Diagnostic};
use rock_names::WheelName;

pub use copied_members::CopiedMembers;
pub(super) use findings::FindingCollector;
pub use findings::MAX_FINDINGS;
pub(super) use metadata::check_core_metadata;

/// Verifies a wheel: the archive, every member against its CRC-32 and RECORD, and METADATA and
/// WHEEL against the filename. Members are read in parallel, as streams.
///
/// Returns all findings, at most [`MAX_FINDINGS`] of each code. If dist-info cannot be read, checks the archive
/// and its members only.
pub fn verify(source: &dyn ReadAt, name: &WheelName) -> Vec<Diagnostic> {
    verify_with_progress(source, name, &|_| {})
}

/// Verifies a wheel like [`verify`], and reports how much of the members' contents was read.
pub fn verify_with_progress(
    source: &dyn ReadAt,
    name: &WheelName,
    progress: &ProgressCallback<'_>,
) -> Vec<Diagnostic> {
    match Wheel::open(source) {
        Ok(wheel) => check(&wheel, name, &|_| false, progress),
        Err(error) => check_without_dist_info(source, &error, name, progress),
    }
}

/// Verifies a wheel like [`verify`], without reading the members that are already known to match
/// RECORD.
pub fn verify_except(
    wheel: &Wheel<'_>,
    name: &WheelName,
    is_known: &(dyn Fn(&ZipMember) -> bool + Sync),
) -> Vec<Diagnostic> {
    check(wheel, name, is_known, &|_| {})
}

/// Checks the archive, RECORD and the members that are not known to match it, METADATA, WHEEL,
/// entry points and the `.data` directory.
fn check(
    wheel: &Wheel<'_>,
    name: &WheelName,
    is_known: &(dyn Fn(&ZipMember) -> bool + Sync),
    progress: &ProgressCallback<'_>,
) -> Vec<Diagnostic> {
    let mut findings = FindingCollector::new(name.to_string());
    let meter = content_meter(wheel.archive(), progress);
    members::check_container(wheel.archive(), &mut findings);
    members::check_record(wheel, is_known, &meter, &mut findings);
    metadata::check(wheel.headers(), name, &mut findings);
    install_paths::check(wheel.headers(), &mut findings);
    if !findings.has_errors() {
        members::check_ratio(wheel.archive(), &mut findings);
    }
    findings.finish_truncated()
}

/// Checks everything except the contents of members: the records of the archive, METADATA and WHEEL
/// against the filename, RECORD against the names of the members, and the sizes that members claim.
/// The findings are located in `file_name`.
pub fn check_dist_info(wheel: &Wheel<'_>, file_name: &str, name: &WheelName) -> Vec<Diagnostic> {
    let mut findings = FindingCollector::new(file_name.to_owned());
    members::check_records(wheel.archive(), &mut findings);
    members::check_names(wheel, &mut findings);
    metadata::check(wheel.headers(), name, &mut findings);
    install_paths::check(wheel.headers(), &mut findings);
    if !findings.has_errors() {
        members::check_ratio(wheel.archive(), &mut findings);
    }
    findings.finish_truncated()
}

/// Checks everything except RECORD and the contents of members: the records of the archive,
/// METADATA and WHEEL against the filename, entry points, the `.data` directory, and the sizes that
/// members claim.
pub fn verify_headers(wheel: &WheelHeaders<'_>, name: &WheelName) -> Vec<Diagnostic> {
    let mut findings = FindingCollector::new(name.to_string());
    members::check_records(wheel.archive(), &mut findings);
    metadata::check(wheel, name, &mut findings);
    install_paths::check(wheel, &mut findings);
    let member = wheel.dist_info_path("RECORD");
    if wheel.archive().member(&member).is_none() {
        findings.push(WheelError::MissingMember { member }.diagnostic(&findings.wheel));
    }
    if !findings.has_errors() {
        members::check_ratio(wheel.archive(), &mut findings);
    }
    findings.finish_truncated()
}

/// Returns the errors that persist when the wheel is rewritten: those of METADATA, WHEEL, entry
/// points and the `.data` directory for which installers refuse a wheel. Contents of other members
/// are not read.
pub fn persistent_errors(
    wheel: &WheelHeaders<'_>,
    name: &WheelName,
    label: LabelCheck,
) -> Vec<Diagnostic> {
    let mut findings = FindingCollector::new(name.to_string());
    metadata::check(wheel, name, &mut findings);
    install_paths::check(wheel, &mut findings);
    filter_persistent_errors(&findings.finish_truncated(), label)
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

/// Checks the archive and members of a wheel whose dist-info cannot be read, because of `error`.
fn check_without_dist_info(
    source: &dyn ReadAt,
    error: &WheelError,
    name: &WheelName,
    progress: &ProgressCallback<'_>,
) -> Vec<Diagnostic> {
    let mut findings = FindingCollector::new(name.to_string());
    findings.push(error.diagnostic(&findings.wheel));
    if let Ok(archive) = ZipArchive::open(source) {
        let reported = match error {
            WheelError::CorruptMember { member, .. } => member.as_str(),
            _ => "",
        };
        let meter = content_meter(&archive, progress);
        members::check_container(&archive, &mut findings);
        members::check_contents(&archive, reported, &meter, &mut findings);
        if let Ok(dist_info) = find_dist_info(&archive) {
            for file in ["METADATA", "WHEEL", "RECORD"] {
                let member = format!("{dist_info}/{file}");
                if archive.member(&member).is_none() {
                    let error = WheelError::MissingMember { member };
                    findings.push(error.diagnostic(&findings.wheel));
                }
            }
        }
    }
    findings.finish_truncated()
}

/// Creates a meter for reading the contents of all members.
fn content_meter<'w>(
    archive: &ZipArchive<'_>,
    progress: &'w ProgressCallback<'w>,
) -> ProgressMeter<'w> {
    let total_bytes = archive.members().iter().map(ZipMember::size_bytes).sum();
    ProgressMeter::new(total_bytes, progress)
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
