//! Verification of wheels without an audit.

use super::audited_libraries::damaged_elf;
use super::findings::{unfit_python_tag, unknown_python_tags};
use super::inspect::{InspectOptions, Inspection, inspect_members, verified_paths};
use super::progress::ProgressReporter;
use crate::codes::rocm as codes;
use rock_bytes::ReadAt;
use rock_diagnostic::{Code, Diagnostic, Location};
use rock_elf::LayoutError;
use rock_names::WheelName;
use rock_wheel::{RecordVerifier, Wheel, verify_except, verify_with_progress};

/// Returns the code of a finding about the layout of an ELF file.
pub fn layout_code(error: &LayoutError) -> &'static Code {
    match error {
        LayoutError::WritableFirstSegment => &codes::WRITABLE_FIRST_SEGMENT,
        _ => &codes::DAMAGED_LAYOUT,
    }
}

/// Verifies the archive of a wheel, all members against RECORD, METADATA and WHEEL against the
/// name, Python tags, and the layout of ELF files. Large libraries are read once for all of that.
pub fn verify_wheel(
    file_name: &str,
    name: &WheelName,
    file: &dyn ReadAt,
    progress: &dyn ProgressReporter,
) -> Vec<Diagnostic> {
    let progress = progress.start(file_name);
    let Ok(wheel) = Wheel::open(file) else {
        return verify_with_progress(file, name, progress.as_ref());
    };
    let options = InspectOptions {
        inspection: Inspection::LAYOUTS,
        keeps_symbol: &|_| false,
        make_scratch: &rock_sys::allocate_scratch,
        record: Some(&RecordVerifier::new(wheel.record())),
        progress: progress.as_ref(),
    };
    let Ok(files) = inspect_members(wheel.archive(), options) else {
        return verify_with_progress(file, name, progress.as_ref());
    };
    let verified = verified_paths(&files);
    let mut findings = verify_except(&wheel, name, &|member| verified.contains(member.name()));
    findings.extend(unknown_python_tags(file_name, name));
    findings.extend(unfit_python_tag(file_name, name));
    for file in &files {
        findings.extend(damaged_elf(file_name, file));
        findings.extend(file.layout_errors.iter().map(|error| {
            let location = Location::Member {
                wheel: file_name.to_owned(),
                member: file.path.clone(),
            };
            Diagnostic::new(layout_code(error), error.to_string()).at(location, "")
        }));
    }
    findings
}
