//! Checks of members against their headers and RECORD.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::super::error::{REHASH, weak_hash_message};
use super::super::progress::ProgressMeter;
use super::super::record::RecordRow;
use super::super::record_verifier::{RecordMismatch, compare_with_record};
use super::super::{Wheel, WheelError, ZipArchive, ZipMember};
use super::FindingCollector;
use crate::codes::wheel as codes;
use rock_bytes::start_threads;
use rock_diagnostic::{Code, Diagnostic, Location};

/// Checks the records of the archive, and for names that differ only in case.
pub(super) fn check_container(archive: &ZipArchive<'_>, findings: &mut FindingCollector) {
    check_records(archive, findings);
    let mut folded: Vec<(String, &str)> = archive
        .members_by_name()
        .map(|member| (member.name().to_lowercase(), member.name()))
        .collect();
    folded.sort();
    for pair in folded.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        let message = format!("its name differs from `{}` only in case", pair[0].1);
        findings.push(findings.member(&codes::NAMES_DIFFER_IN_CASE, pair[1].1, message));
    }
}

/// Checks headers against rules of installers and PyPI whose violations disappear when the wheel is
/// rewritten.
pub(super) fn check_records(archive: &ZipArchive<'_>, findings: &mut FindingCollector) {
    for violation in archive.removable_violations() {
        findings.push(
            WheelError::from(violation)
                .diagnostic(&findings.wheel)
                .help(REWRITE),
        );
    }
    for member in archive
        .members()
        .iter()
        .filter(|member| member.has_inexact_zip64())
    {
        let message = "its ZIP64 field holds more than the values that need it".to_owned();
        findings.push(
            findings
                .member(&codes::INEXACT_ZIP64_FIELD, member.name(), message)
                .help(REWRITE),
        );
    }
}

/// PyPI refuses wheels that unpack to more bytes than this and to more than [`PYPI_MAX_RATIO`]
/// times their own size (`warehouse/forklift/legacy.py`: `COMPRESSION_RATIO_MIN_SIZE`,
/// `COMPRESSION_RATIO_THRESHOLD`).
const PYPI_RATIO_MIN_BYTES: u64 = 64 << 20;
const PYPI_MAX_RATIO: u64 = 50;

/// Warns about a wheel that PyPI considers a decompression bomb. Uses the sizes in headers, which
/// are claims until the members are read.
pub(super) fn check_ratio(archive: &ZipArchive<'_>, findings: &mut FindingCollector) {
    let packed = archive.source().size_bytes();
    let unpacked = archive
        .members()
        .iter()
        .map(ZipMember::size_bytes)
        .fold(0, u64::saturating_add);
    if exceeds_pypi_ratio(unpacked, packed) {
        let message = format!(
            "the wheel has {packed} bytes and unpacks to {unpacked}, more than {PYPI_MAX_RATIO} times as many"
        );
        findings.push(
            Diagnostic::new(&codes::COMPRESSION_RATIO, message)
                .at(Location::File(findings.wheel.as_str().into()), ""),
        );
    }
}

fn exceeds_pypi_ratio(unpacked: u64, packed: u64) -> bool {
    unpacked > PYPI_RATIO_MIN_BYTES && unpacked > packed.saturating_mul(PYPI_MAX_RATIO)
}

/// Help for findings that disappear when the wheel is rewritten.
const REWRITE: &str = "`rock-matrix wheel repair`, `label` and `retag` write the wheel without it";

/// Reads every member that is not known to match RECORD, and compares it with RECORD.
pub(super) fn check_record(
    wheel: &Wheel<'_>,
    is_known: &(dyn Fn(&ZipMember) -> bool + Sync),
    meter: &ProgressMeter<'_>,
    findings: &mut FindingCollector,
) {
    let rows = check_names(wheel, findings);
    let mut unknown: Vec<&ZipMember> = wheel
        .archive()
        .members()
        .iter()
        .filter(|member| !is_known(member))
        .collect();
    // The largest first, so that no thread starts a large one last.
    unknown.sort_by_key(|member| std::cmp::Reverse(member.size_bytes()));
    start_threads();
    let found: Vec<Diagnostic> = unknown
        .into_iter()
        .par_bridge()
        .filter_map(|member| {
            let row = rows.get(member.name()).copied();
            match check_member(wheel, member, row, meter) {
                Ok(found) => {
                    found.map(|(code, message)| findings.member(code, member.name(), message))
                }
                Err(error) => Some(error.diagnostic(&findings.wheel)),
            }
        })
        .collect();
    findings.extend(group_weak_hashes(found));
}

/// Combines findings about rows without a usable hash that have the same message into one about the
/// first member.
fn group_weak_hashes(found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let (mut weak, mut findings): (Vec<Diagnostic>, Vec<Diagnostic>) = found
        .into_iter()
        .partition(|finding| finding.code == &codes::WEAK_RECORD_HASH);
    weak.sort_by_cached_key(|finding| finding.labels[0].location.to_string());
    let mut groups: BTreeMap<String, Vec<Diagnostic>> = BTreeMap::new();
    for finding in weak {
        let group = groups.entry(finding.message.clone());
        group.or_default().push(finding);
    }
    findings.extend(groups.into_values().filter_map(|group| {
        let mut group = group.into_iter();
        let first = group.next()?.help(REHASH);
        let others = group.flat_map(|other| other.labels);
        Some(first.same_in_other_files(others.map(|label| label.location).collect()))
    }));
    findings
}

/// Reads every member except `skipped`, and checks size and CRC-32.
pub(super) fn check_contents(
    archive: &ZipArchive<'_>,
    skipped: &str,
    meter: &ProgressMeter<'_>,
    findings: &mut FindingCollector,
) {
    start_threads();
    let errors: Vec<Diagnostic> = archive
        .members()
        .par_iter()
        .filter(|member| member.name() != skipped)
        .filter_map(|member| {
            archive
                .stream(member, &mut |bytes| meter.add(bytes.len() as u64))
                .err()
        })
        .map(|error| error.diagnostic(&findings.wheel))
        .collect();
    findings.extend(errors);
}

/// Compares the names in RECORD with those of the members, which are not read. Returns the rows by
/// path.
pub(super) fn check_names<'w>(
    wheel: &'w Wheel<'_>,
    findings: &mut FindingCollector,
) -> BTreeMap<&'w str, &'w RecordRow> {
    let rows = rows(wheel, findings);
    let archive = wheel.archive();
    for path in rows
        .keys()
        .filter(|path| archive.member(path).is_none() && !is_unhashed(wheel, path))
    {
        let message = format!("RECORD lists `{path}`, but there is no such member");
        findings.push(findings.member(
            &codes::RECORD_NAMES_NO_MEMBER,
            &wheel.dist_info_path("RECORD"),
            message,
        ));
    }
    let is_listed =
        |member: &ZipMember| rows.contains_key(member.name()) || is_unhashed(wheel, member.name());
    for member in archive
        .members()
        .iter()
        .filter(|member| !member.is_dir() && !is_listed(member))
    {
        let message = "RECORD does not list it, so it cannot be verified".to_owned();
        findings.push(findings.member(&codes::MEMBER_NOT_IN_RECORD, member.name(), message));
    }
    rows
}

/// Returns the rows by path, and reports duplicate paths.
fn rows<'w>(
    wheel: &'w Wheel<'_>,
    findings: &mut FindingCollector,
) -> BTreeMap<&'w str, &'w RecordRow> {
    let mut rows = BTreeMap::new();
    for row in &wheel.record().rows {
        if rows.insert(row.path.as_str(), row).is_some() {
            let message = format!("RECORD lists `{}` twice", row.path);
            findings.push(findings.member(
                &codes::BAD_RECORD,
                &wheel.dist_info_path("RECORD"),
                message,
            ));
        }
    }
    rows
}

/// Returns whether a path is RECORD or one of its signatures, which have no hash.
fn is_unhashed(wheel: &Wheel<'_>, path: &str) -> bool {
    ["RECORD", "RECORD.jws", "RECORD.p7s"]
        .iter()
        .any(|file| path == wheel.dist_info_path(file))
}

type MemberFinding = Option<(&'static Code, String)>;

fn check_member(
    wheel: &Wheel<'_>,
    member: &ZipMember,
    row: Option<&RecordRow>,
    meter: &ProgressMeter<'_>,
) -> Result<MemberFinding, WheelError> {
    let is_unhashed = is_unhashed(wheel, member.name());
    Ok(
        match compare_with_record(wheel.archive(), member, row.filter(|_| !is_unhashed), meter)? {
            // `check_names` reports members without a row.
            None | Some(RecordMismatch::NotListed) => None,
            Some(RecordMismatch::WeakHash { listed, .. }) => {
                Some((&codes::WEAK_RECORD_HASH, weak_hash_message(&listed)))
            }
            Some(RecordMismatch::HashMismatch { listed, actual }) => Some((
                &codes::RECORD_MISMATCH,
                format!("RECORD has `{listed}`, but it is `{actual}`"),
            )),
            Some(RecordMismatch::SizeMismatch { listed, actual }) => Some((
                &codes::RECORD_MISMATCH,
                format!("RECORD has `{listed}` bytes, but it has {actual}"),
            )),
        },
    )
}

#[cfg(test)]
mod tests {
    use super::exceeds_pypi_ratio;

    /// Above 64 MiB and above 50 times the size; neither limit alone.
    #[test]
    fn compression_ratios_have_the_limits_of_pypi() {
        let mib = 1 << 20;
        assert!(exceeds_pypi_ratio(64 * mib + 1, mib));
        assert!(
            !exceeds_pypi_ratio(64 * mib, mib),
            "PyPI compares no smaller ones"
        );
        assert!(exceeds_pypi_ratio(100 * mib + 1, 2 * mib));
        assert!(!exceeds_pypi_ratio(100 * mib, 2 * mib));
        assert!(!exceeds_pypi_ratio(u64::MAX, u64::MAX / 2));
    }
}
